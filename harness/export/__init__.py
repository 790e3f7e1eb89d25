"""Runs as tables for data analysis and learning: arena export, harness.export_run."""
