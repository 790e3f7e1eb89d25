// Python in the page: loads its files, starts it in a sandboxed frame, and calls it.

/**
 * @typedef {{ arena: string, files: Record<string, number>, boards: string[], bots: Record<string, Record<string, string>>, site: boolean }} Manifest
 * @typedef {{ resolve: (value: any) => void, reject: (error: Error) => void, progress?: (done: number) => void }} Waiting
 */

/** What Python raised, with the line of a typed bot to look at (0: none). */
export class PythonError extends Error {
  /** @param {string} message @param {number} line */
  constructor(message, line) {
    super(message);
    this.line = line;
  }
}

/** Why this browser cannot run the page; "" if it can. */
export const obstacle = () => {
  if (location.protocol === "file:") return "A page that was opened from disk may not load its files. Serve the folder: python -m http.server, or arena play GAME --browser.";
  if (typeof WebAssembly !== "object" || typeof DecompressionStream !== "function") return "This browser is too old to run Python: it lacks WebAssembly or DecompressionStream. Any browser since 2023 has both.";
  return "";
};

/** @type {Promise<Manifest> | null} */
let manifest = null;

/** What the site has for this page. @returns {Promise<Manifest>} */
export const siteFiles = () => (manifest ||= fetch("files.json").then((answer) => {
  if (!answer.ok) throw new Error(`files.json: ${answer.status}`);
  return answer.json();
}));

/**
 * @param {string} name
 * @param {(bytes: number) => void} progress
 * @returns {Promise<ArrayBuffer>}
 */
const load = async (name, progress) => {
  const answer = await fetch(name);
  if (!answer.ok || !answer.body) throw new Error(`${name} could not be loaded (${answer.status}).`);
  const chunks = [];
  const reader = answer.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    progress(value.length);
  }
  return new Blob(chunks).arrayBuffer();
};

/** A Python that plays: started at the first call, ended by `stop`. */
export class Python {
  /** @param {(stage: string, share: number | null) => void} say */
  constructor(say) {
    this.say = say;
    /** @type {Promise<void> | null} */
    this.started = null;
    /** @type {HTMLIFrameElement | null} */
    this.frame = null;
    /** @type {MessagePort | null} */
    this.port = null;
    /** @type {Map<number, Waiting>} */
    this.waiting = new Map();
    this.calls = 0;
    // A browser keeps pages that were left for its back button, each with a Python of 60 MB.
    addEventListener("pagehide", () => this.stop());
    addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
  }

  /** Start Python if it was not started; the page may do so before it is needed. */
  start() {
    return (this.started ||= this.#start());
  }

  async #start() {
    const why = obstacle();
    if (why) throw new Error(why);
    const began = performance.now();
    const { files } = await siteFiles();
    const total = Object.values(files).reduce((sum, size) => sum + size, 0);
    let loaded = 0;
    const progress = (/** @type {number} */ bytes) => this.say("loading Python", Math.min(1, (loaded += bytes) / total));
    const names = Object.keys(files);
    const [script, ...contents] = await Promise.all([
      fetch("worker.js").then((answer) => answer.text()), ...names.map((name) => load(name, progress))]);
    const bytes = Object.fromEntries(names.map((name, at) => [name, contents[at]]));
    const channel = new MessageChannel();
    const frame = Object.assign(document.createElement("iframe"), { src: "sandbox.html", hidden: true, title: "Python" });
    frame.setAttribute("sandbox", "allow-scripts");
    this.frame = frame;
    this.port = channel.port1;
    await new Promise((resolve, reject) => {
      // Only the frame itself sends to the page, never the worker with the bots, which has the port alone.
      const onFrame = (/** @type {MessageEvent} */ event) => {
        if (event.source !== frame.contentWindow) return;
        if (event.data.ready) frame.contentWindow?.postMessage({ script, port: channel.port2, files: bytes }, "*", [channel.port2, ...contents]);
        else if (event.data.failed) reject(new Error(`Python did not start: ${event.data.failed}`));
      };
      addEventListener("message", onFrame);
      channel.port1.onmessage = ({ data }) => {
        if (typeof data?.stage === "string") this.say(data.stage, null);
        else if (typeof data?.failed === "string") reject(new Error(`Python did not start: ${data.failed}`));
        else if (data?.started) {
          removeEventListener("message", onFrame);
          resolve(undefined);
        }
      };
      document.body.append(frame);
    });
    channel.port1.onmessage = ({ data }) => this.#answered(data);
    const { bots } = await siteFiles();
    if (Object.keys(bots).length) await this.#ask("add_bots", [bots]);
    document.documentElement.dataset.started = String(Math.round(performance.now() - began));
    this.say("", null);
  }

  /** @param {any} data */
  #answered(data) {
    const waits = this.waiting.get(data?.id);
    if (!waits) return;
    if (typeof data.done === "number") return waits.progress?.(data.done);
    this.waiting.delete(data.id);
    if (typeof data.answer !== "string") return waits.reject(new Error(String(data.failed)));
    const answer = JSON.parse(data.answer);
    if (typeof answer.error === "string") waits.reject(new PythonError(answer.error, Number(answer.line) || 0));
    else waits.resolve(answer.result);
  }

  /**
   * Call a function of harness/browser/entry.py.
   * @param {string} call @param {unknown[]} args @param {(done: number) => void} [progress] @returns {Promise<any>}
   */
  async call(call, args = [], progress) {
    await this.start();
    return this.#ask(call, args, progress);
  }

  /** @param {string} call @param {unknown[]} args @param {(done: number) => void} [progress] @returns {Promise<any>} */
  #ask(call, args, progress) {
    return new Promise((resolve, reject) => {
      const id = ++this.calls;
      this.waiting.set(id, { resolve, reject, progress });
      this.port?.postMessage({ id, call, args: JSON.stringify(args) });
    });
  }

  /** End it, whatever it is doing; the next call starts it again. */
  stop() {
    this.frame?.remove(); // ends its worker, endless loops too
    this.port?.close();
    for (const waits of this.waiting.values()) waits.reject(new Error("It was stopped."));
    this.waiting.clear();
    this.started = this.frame = this.port = null;
  }
}
