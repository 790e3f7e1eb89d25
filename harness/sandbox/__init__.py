"""What confines a stranger's process. It needs no more than the standard library, so that a process starts quickly."""
