// The worker in the sandboxed frame: Python, the games and the bots. It answers calls that come over a port.
//
// It is bundled on its own, since the frame gets it as text. Nothing here is trusted by the page: a bot can replace it.

/** @typedef {{ port: MessagePort, files: Record<string, ArrayBuffer> }} Start */
/** @typedef {{ id: number, call: string, args: string }} Call */

const NOWHERE = "https://files.invalid/";

/** @param {ArrayBuffer} bytes @param {string} type */
const address = (bytes, type) => URL.createObjectURL(new Blob([bytes], { type }));

/** @param {ArrayBuffer} bytes @returns {Promise<ArrayBuffer>} */
const unpacked = (bytes) =>
  new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();

/** @param {Record<string, ArrayBuffer>} files @param {(stage: string) => void} say */
const start = async (files, say) => {
  /** @type {Record<string, ArrayBuffer>} */
  const byName = {};
  for (const [name, bytes] of Object.entries(files)) byName[name.slice(name.lastIndexOf("/") + 1)] = bytes;
  byName["pyodide.asm.wasm"] = await unpacked(byName["pyodide.asm.wasm.gz"]);
  const types = { wasm: "application/wasm" };
  // Pyodide fetches its files; here they come from memory, as the frame has no network.
  self.fetch = async (input) => {
    const name = String(input instanceof Request ? input.url : input).split("/").pop() || "";
    const bytes = byName[name];
    if (!bytes) throw new TypeError("This page has no network.");
    return new Response(bytes, { headers: { "Content-Type": name.endsWith("wasm") ? types.wasm : "" } });
  };
  say("starting Python");
  const { loadPyodide } = await import(address(byName["pyodide.mjs"], "text/javascript"));
  const { default: createPyodideModule } = await import(address(byName["pyodide.asm.mjs"], "text/javascript"));
  const python = await loadPyodide({
    indexURL: NOWHERE,
    createPyodideModule,
    lockFileContents: new TextDecoder().decode(byName["pyodide-lock.json"]),
  });
  say("loading the games");
  for (const [name, bytes] of Object.entries(byName)) if (name.endsWith(".whl")) python.unpackArchive(bytes, "wheel");
  const entry = python.pyimport("harness.browser.entry");
  const page = entry.opened();
  return (/** @type {string} */ name, /** @type {string} */ args, /** @type {(done: number) => void} */ report) =>
    String(entry.call(page, name, args, report));
};

self.onmessage = async ({ data }) => {
  const { port, files } = /** @type {Start} */ (data);
  try {
    const call = await start(files, (stage) => port.postMessage({ stage }));
    port.onmessage = (event) => {
      const asked = /** @type {Call} */ (event.data);
      try {
        const answer = call(asked.call, asked.args, (done) => port.postMessage({ id: asked.id, done }));
        port.postMessage({ id: asked.id, answer });
      } catch (error) {
        port.postMessage({ id: asked.id, failed: String(error).slice(-2000) });
      }
    };
    port.postMessage({ started: true });
  } catch (error) {
    port.postMessage({ failed: String(error).slice(-2000) });
  }
};
