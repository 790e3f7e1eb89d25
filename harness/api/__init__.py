"""The Python door: what the command line does, from a script or a notebook. `import harness` has all of it."""
