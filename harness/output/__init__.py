"""What people and programs read: tables in every format, progress, sentences."""
