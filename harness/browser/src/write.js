// The page on which a person writes a bot.
import { python as pythonLanguage } from "@codemirror/lang-python";
import { setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { basicSetup } from "codemirror";
import { Python, PythonError, obstacle } from "./python.js";
import { aroundSite, download, element, part, percent, showProgress, showTrouble, zipped } from "./page.js";

/**
 * @typedef {{ bot: string, matches: number, share: number, low: number, high: number }} Share
 * @typedef {{ match: string, decision: number, kind: string, detail: string, line: number }} Fault
 * @typedef {{ bot: string, matches: number, won: number, shares: Share[], faults: Fault[] }} Outcome
 */

const python = new Python(showProgress);
/** @type {EditorView} */
let editor;
let game = "";
/** @type {Record<string, string>} */
const examples = {};

/** Local storage may be switched off; then the text is not kept. @param {string} which */
const stored = (which) => {
  try {
    return localStorage.getItem(`arena-bot-${which}`);
  } catch {
    return null;
  }
};

const keep = () => {
  try {
    localStorage.setItem(`arena-bot-${game}`, editor.state.doc.toString());
  } catch { /* not kept */ }
};

/** @param {string} text */
const setText = (text) => editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: text } });

/** Mark a line with what went wrong there; 0 clears it. @param {number} line @param {string} message */
const markLine = (line, message) => {
  const doc = editor.state.doc;
  if (line < 1 || line > doc.lines) return editor.dispatch(setDiagnostics(editor.state, []));
  const at = doc.line(line), start = at.from + (at.text.length - at.text.trimStart().length);
  editor.dispatch(setDiagnostics(editor.state, [{ from: start, to: Math.max(at.to, start), severity: "error", message }]));
  editor.dispatch({ selection: { anchor: start }, effects: EditorView.scrollIntoView(at.from, { y: "center" }) });
};

const openGame = async () => {
  game = /** @type {HTMLSelectElement} */ (part("game")).value;
  const about = await python.call("reference", [game]);
  examples[game] = about.example;
  setText(stored(game) || about.example);
  markLine(0, "");
  part("outcome").replaceChildren();
  const item = (/** @type {[string, string, string]} */ [name, type, text]) => [element("dt", { textContent: `${name}: ${type}` }), element("dd", { textContent: text })];
  part("view").replaceChildren(
    element("p", { textContent: `view (${about.view_type}) is everything that this seat may know.` }),
    element("dl", {}, ...about.view.flatMap(item)));
  part("actions").replaceChildren(
    element("p", { textContent: "choose returns one of actions, which are objects of these classes." }),
    element("dl", {}, ...about.actions.flatMap((/** @type {any} */ each) => [
      element("dt", { textContent: `${each.class}(${each.fields.map((/** @type {string[]} */ [name, type]) => `${name}: ${type}`).join(", ")})` }),
      element("dd", { textContent: `${each.about} kind "${each.kind}"; for example: ${each.example}` })])));
};

/** @param {boolean} running */
const setRunning = (running) => {
  for (const id of ["run", "package", "game", "reset"]) /** @type {HTMLButtonElement} */ (part(id)).disabled = running;
  part("stop").hidden = !running;
  part("played").hidden = !running;
  if (!running) document.body.dataset.ready = String(Number(document.body.dataset.ready || 0) + 1);
};

/** @param {unknown} error */
const showFailure = (error) => {
  const line = error instanceof PythonError ? error.line : 0;
  const message = error instanceof Error ? error.message : String(error);
  part("outcome").replaceChildren(element("pre", { className: "traceback", textContent: message }));
  markLine(line, message);
};

const run = async () => {
  const matches = Number(/** @type {HTMLSelectElement} */ (part("matches")).value);
  const bar = /** @type {HTMLProgressElement} */ (part("played"));
  bar.max = matches;
  bar.value = 0;
  setRunning(true);
  markLine(0, "");
  part("outcome").replaceChildren();
  part("count").textContent = "starting";
  const seed = crypto.getRandomValues(new Uint32Array(1))[0];
  try {
    /** @type {Outcome} */
    const outcome = await python.call("try_bot", [game, editor.state.doc.toString(), matches, seed, []], (done) => {
      bar.value = done;
      part("count").textContent = `${done} of ${matches} matches`;
    });
    part("count").textContent = "";
    showOutcome(outcome);
  } catch (error) {
    part("count").textContent = "";
    showFailure(error);
  } finally {
    setRunning(false);
  }
};

/** @param {Outcome} outcome */
const showOutcome = (outcome) => {
  const rows = outcome.shares.map((each) => element("tr", {},
    element("th", { textContent: each.bot, scope: "row" }),
    element("td", { textContent: percent(each.share) }),
    element("td", { textContent: `${percent(each.low)} to ${percent(each.high)}` }),
    element("td", {}, element("meter", { className: "share-bar", min: 0, max: 1, value: each.share, "aria-label": `ahead of ${each.bot}` })),
    element("td", { textContent: String(each.matches) })));
  const head = element("tr", {}, ...["opponent", "ahead of it", "95% interval", "", "matches"].map((text) => element("th", { textContent: text, scope: "col" })));
  // A bot that fails alike in several matches is shown once.
  const different = outcome.faults.filter((fault, at) => outcome.faults.findIndex((other) => other.detail === fault.detail) === at);
  const faults = different.map((fault) => element("pre", { className: "traceback", textContent: `${fault.match}, decision ${fault.decision}: ${fault.kind}\n${fault.detail}` }));
  part("outcome").replaceChildren(
    element("p", { textContent: `${outcome.bot} won ${outcome.won} of ${outcome.matches} matches.` }),
    ...(faults.length ? [element("p", { className: "trouble", textContent: `It failed in ${outcome.faults.length} of ${outcome.matches} matches. The seat of a bot that failed is played at random and ranked last.` }), ...faults] : []),
    element("div", { className: "wide", tabIndex: 0, role: "region", "aria-label": "results" }, element("table", { className: "shares" }, element("thead", {}, head), element("tbody", {}, ...rows))));
  const at = outcome.faults.find((fault) => fault.line);
  if (at) markLine(at.line, at.detail);
};

const stop = () => {
  python.stop();
  showTrouble("");
  python.start().catch(showTrouble); // ready for the next matches
};

const takeHome = async () => {
  setRunning(true);
  markLine(0, "");
  try {
    /** @type {[string, Record<string, string>]} */
    const [name, files] = await python.call("package", [game, editor.state.doc.toString()]);
    download(`${name}.zip`, zipped(name, files));
    part("outcome").replaceChildren(element("p", {}, "Downloaded. With Arena installed: ", element("code", { textContent: `unzip ${name}.zip; pip install -e ./${name}; arena check ${name}` })));
  } catch (error) {
    showFailure(error);
  } finally {
    setRunning(false);
  }
};

const main = async () => {
  const why = obstacle();
  if (why) return showTrouble(why);
  editor = new EditorView({
    parent: part("editor"),
    state: EditorState.create({
      doc: "",
      extensions: [
        basicSetup, pythonLanguage(), EditorState.tabSize.of(4), EditorView.lineWrapping,
        EditorView.contentAttributes.of({ "aria-label": "your bot" }),
        EditorView.updateListener.of((update) => { if (update.docChanged && game) keep(); }),
      ],
    }),
  });
  editor.scrollDOM.tabIndex = 0; // a keyboard can scroll it
  part("run").addEventListener("click", run);
  part("stop").addEventListener("click", stop);
  part("package").addEventListener("click", takeHome);
  part("game").addEventListener("change", () => openGame().catch(showTrouble));
  part("reset").addEventListener("click", () => setText(examples[game]));
  try {
    const [about] = await Promise.all([python.call("about"), aroundSite()]);
    part("game").replaceChildren(...about.games.map((/** @type {any} */ each) => new Option(each.title, each.name)));
    const wanted = new URLSearchParams(location.hash.slice(1)).get("game");
    if (about.games.some((/** @type {any} */ each) => each.name === wanted)) /** @type {HTMLSelectElement} */ (part("game")).value = wanted || "";
    part("workshop").hidden = false;
    await openGame();
    setRunning(false);
  } catch (error) {
    showTrouble(error);
  }
};

main();
