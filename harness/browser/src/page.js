// What the three pages share: building elements, downloads, the bar that shows how far Python is.
import { siteFiles } from "./python.js";

/** @param {string} id @returns {HTMLElement} */
export const part = (id) => {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no element ${id}.`);
  return found;
};

/**
 * Texts come from bots and games, so they are never parsed as HTML.
 * @param {string} tag @param {Record<string, any>} [properties] @param {...(Node | string)} children
 */
export const element = (tag, properties = {}, ...children) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("data-") || name.startsWith("aria-") || name === "role" || name === "for") node.setAttribute(name, value);
    else Object.assign(node, { [name]: value });
  }
  node.append(...children);
  return node;
};

/** Links the page with the site around it, if there is one; returns the site's list of runs. */
export const aroundSite = async () => {
  if (!(await siteFiles()).site) return null;
  part("pages").prepend(element("a", { href: "../index.html", textContent: "results" }));
  const answer = await fetch("../site.json");
  return answer.ok ? answer.json() : null;
};

/** @param {string} stage @param {number | null} share */
export const showProgress = (stage, share) => {
  const bar = /** @type {HTMLProgressElement} */ (part("progress"));
  part("loading").hidden = !stage;
  part("stage").textContent = stage ? `${stage}${share === null ? "" : `: ${Math.round(100 * share)}%`}` : "";
  if (share === null) bar.removeAttribute("value");
  else bar.value = share;
};

/** @param {unknown} error */
export const showTrouble = (error) => {
  part("loading").hidden = true;
  const box = part("trouble");
  box.textContent = error instanceof Error ? error.message : String(error);
  box.hidden = !box.textContent;
};

/** @param {string} script @returns {Promise<void>} */
export const loadScript = (script) => new Promise((resolve, reject) => {
  const node = Object.assign(document.createElement("script"), { src: script });
  node.addEventListener("load", () => resolve());
  node.addEventListener("error", () => reject(new Error(`${script} could not be loaded.`)));
  document.head.append(node);
});

/** @param {number} share */
export const percent = (share) => `${Math.round(100 * share)}%`;

const CRC = Array.from({ length: 256 }, (_, n) => {
  let value = n;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value >>> 0;
});

/** @param {Uint8Array} bytes */
const crc32 = (bytes) => ~bytes.reduce((sum, byte) => CRC[(sum ^ byte) & 255] ^ (sum >>> 8), -1) >>> 0;

/**
 * A zip archive with these files, not compressed.
 * @param {string} folder @param {Record<string, string>} files
 */
export const zipped = (folder, files) => {
  /** @type {Uint8Array<ArrayBuffer>[]} */
  const parts = [];
  /** @type {Uint8Array<ArrayBuffer>[]} */
  const directory = [];
  let offset = 0;
  const fields = (/** @type {[number, number][]} */ values) => {
    const view = new DataView(new ArrayBuffer(values.reduce((sum, [size]) => sum + size, 0)));
    let at = 0;
    for (const [size, value] of values) {
      if (size === 2) view.setUint16(at, value, true);
      else view.setUint32(at, value, true);
      at += size;
    }
    return new Uint8Array(view.buffer);
  };
  for (const [path, text] of Object.entries(files)) {
    const name = new TextEncoder().encode(`${folder}/${path}`), content = new TextEncoder().encode(text);
    /** @type {[number, number][]} */ // version, UTF-8 names, stored, 1980-01-01, checksum, sizes, length of the name
    const about = [[2, 20], [2, 0x800], [2, 0], [2, 0], [2, 0x21], [4, crc32(content)], [4, content.length], [4, content.length], [2, name.length], [2, 0]];
    const local = fields([[4, 0x04034b50], ...about]);
    parts.push(local, name, content);
    directory.push(fields([[4, 0x02014b50], [2, 20], ...about, [2, 0], [2, 0], [2, 0], [4, 0], [4, offset]]), name);
    offset += local.length + name.length + content.length;
  }
  const size = directory.reduce((sum, each) => sum + each.length, 0), count = Object.keys(files).length;
  const end = fields([[4, 0x06054b50], [2, 0], [2, 0], [2, count], [2, count], [4, size], [4, offset], [2, 0]]);
  return new Blob([...parts, ...directory, end], { type: "application/zip" });
};

/**
 * The text of a file in an archive that `zipped` made; null if these bytes are no such archive or lack the file.
 * @param {ArrayBuffer} archive @param {string} wanted
 */
export const unzipped = (archive, wanted) => {
  const view = new DataView(archive), text = new TextDecoder();
  for (let at = 0; at + 30 <= archive.byteLength && view.getUint32(at, true) === 0x04034b50;) {
    const [stored, size, name, extra] = [view.getUint16(at + 8, true) === 0, view.getUint32(at + 18, true), view.getUint16(at + 26, true), view.getUint16(at + 28, true)];
    const start = at + 30 + name + extra;
    if (stored && start + size <= archive.byteLength && text.decode(new Uint8Array(archive, at + 30, name)).endsWith(`/${wanted}`)) {
      return text.decode(new Uint8Array(archive, start, size));
    }
    at = start + size;
  }
  return null;
};

/** @param {string} name @param {Blob} content */
export const download = (name, content) => {
  const link = element("a", { href: URL.createObjectURL(content), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(/** @type {HTMLAnchorElement} */ (link).href), 60_000);
};
