// The page that plays a recorded match again by the rules.
import { Python, obstacle } from "./python.js";
import { readRecord } from "./records.js";
import { aroundSite, element, part, showProgress, showTrouble, unzipped } from "./page.js";

const python = new Python(showProgress);
const MAX_RECORDS = 1000;

/** @param {string} line */
const check = async (line) => {
  const found = await python.call("verify", [line]);
  const who = Array.isArray(found.seats) ? `${found.id} (${found.seats.join(", ")})` : "";
  const text = found.true ? `${who}: played again by the rules, ${found.decisions} decisions, the result is as recorded.` : [who, found.why].filter(Boolean).join(": ");
  part("findings").append(element("li", { textContent: text, className: found.true ? "true" : found.true === false ? "false" : "" }));
};

/** @param {string} text */
const checkAll = async (text) => {
  showTrouble("");
  part("findings").replaceChildren();
  const lines = text.split("\n").map((line) => line.trim()).filter(Boolean);
  if (!lines[0]?.startsWith("{")) return showTrouble("There is no record: paste a line of games.jsonl, or choose that file or the archive that the page saved.");
  try {
    for (const line of lines.slice(0, MAX_RECORDS)) await check(line);
    if (lines.length > MAX_RECORDS) part("findings").append(element("li", { textContent: `The other ${lines.length - MAX_RECORDS} were not checked here; arena verify checks whole runs.` }));
  } catch (error) {
    showTrouble(error);
  }
  document.body.dataset.ready = String(Number(document.body.dataset.ready || 0) + 1);
};

/** @param {File | undefined} file */
const checkFile = async (file) => {
  if (file) await checkAll(unzipped(await file.arrayBuffer(), "games.jsonl") ?? await file.text());
};

/** A match that a page of the site names: its run and its id are looked up in what the site lists. */
const linked = async () => {
  const wanted = new URLSearchParams(location.hash.slice(1));
  const run = wanted.get("run"), match = wanted.get("match");
  if (!run || !match) return;
  const line = await readRecord(run, match);
  /** @type {HTMLTextAreaElement} */ (part("record")).value = line;
  await checkAll(line);
};

const main = async () => {
  const why = obstacle();
  if (why) return showTrouble(why);
  const box = /** @type {HTMLTextAreaElement} */ (part("record")), input = /** @type {HTMLInputElement} */ (part("file"));
  part("check").addEventListener("click", () => checkAll(box.value));
  input.addEventListener("change", () => checkFile(input.files?.[0]));
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => {
    event.preventDefault();
    checkFile(event.dataTransfer?.files[0]);
  });
  part("checking").hidden = false;
  try {
    await aroundSite();
    await python.start();
    await linked();
  } catch (error) {
    showTrouble(error);
  }
  document.body.dataset.ready = String(Number(document.body.dataset.ready || 0) + 1);
};

main();
