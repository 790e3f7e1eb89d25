"""Arena in a web browser: play against bots, check recorded matches, write bots, by Python in WebAssembly (Pyodide)."""
