"""The Python API: everything that the command line does, for scripts and notebooks. `import harness` exports it."""
