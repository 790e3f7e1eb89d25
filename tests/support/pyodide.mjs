// Runs a module under Pyodide, a Python in WebAssembly: node pyodide.mjs RUNTIME MODULE "ARGUMENTS" FOLDER...
// RUNTIME is a folder made by .ci/pyodide; the folders become the path of imports, after the packages of the runtime.
import { readdirSync, readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [runtime, module, args, ...folders] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${runtime}/node_modules/pyodide/pyodide.mjs`));
const python = await loadPyodide();
for (const wheel of readdirSync(`${runtime}/wheels`)) {
  python.unpackArchive(readFileSync(`${runtime}/wheels/${wheel}`).buffer, "wheel");
}
folders.forEach((folder, at) => python.mountNodeFS(`/mnt/${at}`, folder));
python.globals.set("ARGV", python.toPy([module, ...args.split(" ")]));
python.globals.set("FOLDERS", python.toPy(folders.map((_, at) => `/mnt/${at}`)));
try {
  python.runPython(`
import runpy, sys
sys.dont_write_bytecode = True
sys.path += FOLDERS
sys.argv = ARGV
runpy.run_module(ARGV[0], run_name="__main__")
`);
} catch (error) {
  console.error(error.message); // node would print the source of Pyodide with it
  process.exitCode = 1;
}
