"use strict";
// What drawings of tables are made with. A game's board.js calls arena.board(name, draw); docs/report.md tells more.
const arena = { boards: {} };
{
  const NAMESPACE = "http://www.w3.org/2000/svg";

  // Nodes are built, never parsed from text: whatever a bot is called, it stays a name.
  arena.svg = (tag, attributes = {}, ...children) => {
    const node = document.createElementNS(NAMESPACE, tag);
    for (const [name, value] of Object.entries(attributes)) if (value !== null && value !== undefined) node.setAttribute(name, value);
    for (const child of children.flat(3)) if (child !== null && child !== undefined && child !== false) node.append(child);
    return node;
  };
  const svg = arena.svg;

  // What a game may say besides how its table is drawn: `colours` of its seats; `together(picks, figures)`, the keys of the actions that pieces
  // with a data-pick (JSON) stand for when they are picked together, of the choice that is due and of one that may follow it; `stepwise`, the
  // kinds of events that a page shows one at a time to a person who plays; `legend()`, pairs of a thing drawn around the middle of 56 by 32 units
  // and a few words on what it is.
  const USUAL = { together: null, stepwise: [], legend: () => [] };
  arena.board = (game, draw, special = {}) => { arena.boards[game] = Object.assign(draw, { ...USUAL, colours: arena.seatColours, ...special }); };
  arena.at = (x, y, ...children) => svg("g", { transform: `translate(${x} ${y})` }, ...children);
  arena.rect = (x, y, width, height, attributes = {}) => svg("rect", { x, y, width, height, ...attributes });
  arena.text = (x, y, words, attributes = {}) => svg("text", { x, y, ...attributes }, String(words));
  arena.path = (d, attributes = {}) => svg("path", { d, ...attributes });
  arena.circle = (cx, cy, r, attributes = {}) => svg("circle", { cx, cy, r, ...attributes });
  arena.hint = (words) => svg("title", {}, String(words));
  // A long name keeps its two ends, since options come last.
  arena.short = (words, most) => {
    const letters = [...words], head = Math.floor(((most - 1) * 2) / 3);
    return letters.length > most ? [...letters.slice(0, head), "…", ...letters.slice(head + 1 - most)].join("") : words;
  };

  // One colour a seat, distinguishable with any kind of colour vision; the number says it too.
  arena.seatColours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];
  arena.badge = (x, y, seat, colour = arena.seatColours[seat]) => [
    arena.circle(x, y, 9, { fill: colour, class: "edge" }),
    arena.text(x, y + 4, seat, { class: "on-colour middle bold" }),
  ];

  const PIPS = { 1: [4], 2: [0, 8], 3: [0, 4, 8], 4: [0, 2, 6, 8], 5: [0, 2, 4, 6, 8], 6: [0, 2, 3, 5, 6, 8] };
  arena.die = (x, y, size, face, attributes = {}) => svg("g", { transform: `translate(${x} ${y})` },
    arena.rect(0, 0, size, size, { rx: size / 5, class: "die", ...attributes }),
    (PIPS[face] || []).map((place) =>
      arena.circle(size * (0.25 + 0.25 * (place % 3)), size * (0.25 + 0.25 * Math.floor(place / 3)), size / 10, { class: "pip" })));

  // A card that nobody here can see the face of.
  arena.back = (x, y, width, height) => svg("g", {},
    arena.rect(x, y, width, height, { rx: 2, class: "back" }),
    arena.path(`M${x + 2} ${y + height / 2}h${width - 4}M${x + width / 2} ${y + 2}v${height - 4}`, { class: "back-line" }));

  arena.picture = (width, height, label, ...children) =>
    svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, class: width > WIDEST ? "board" : "board narrow" }, ...children);

  // Where a table has less room than a wide drawing needs, it is drawn in another way: in units of one pixel, so 11 units are legible.
  const WIDEST = 480, ROOM = 660;
  arena.narrow = (scene) => (scene.width && scene.width < ROOM ? Math.min(WIDEST, Math.max(320, scene.width)) : 0);
  // Items in rows, as many in each as fit; `draw(item, x, y)`. Returns the nodes and the height.
  arena.flow = (items, [x, y, width], [across, down], draw) => {
    const most = Math.max(1, Math.floor(width / across));
    return { nodes: items.map((item, k) => draw(item, x + (k % most) * across, y + Math.floor(k / most) * down)), height: Math.ceil(items.length / most) * down };
  };

  // A thing that moves or changes. Things with the same key are alike; `actions` are the keys of the actions that it stands for.
  arena.piece = (key, actions, ...children) => svg("g", { "data-piece": key, "data-action": actions || null }, ...children);
  // A part of the table whose pieces keep their places in it, such as a player's row.
  arena.zone = (key, attributes, ...children) => svg("g", { "data-zone": key, ...attributes }, ...children);
  // The key of an action: its kind and its fields, e.g. "play:2:5". On a piece it may end early: "found:7" is any founding of card 7; with "?" after it a page asks first.
  arena.actionKey = ({ code, kind, text, ...fields }) =>
    [kind.replaceAll(" ", "-"), ...Object.values(fields).map((value) => (typeof value === "object" ? JSON.stringify(value) : value))].join(":");

  // What has changed between two drawings of a table.
  arena.pieces = (board) => {
    const origin = board.getBoundingClientRect(), scale = board.viewBox.baseVal.width / (origin.width || 1), zones = new Map();
    return [...board.querySelectorAll("[data-piece]")].map((node) => {
      const zone = node.closest("[data-zone]") ?? board, box = node.getBoundingClientRect();
      if (!zones.has(zone)) zones.set(zone, zone.getBoundingClientRect());
      const around = zones.get(zone), x = box.x + box.width / 2, y = box.y + box.height / 2;
      return { node, key: node.dataset.piece, words: node.textContent, zone: zone.dataset.zone,
        x: (x - origin.x) * scale, y: (y - origin.y) * scale, inner: [(x - around.x) * scale, (y - around.y) * scale] };
    });
  };
  const SAME = 2, NEAR = 30, SLIDE_MS = 320;
  const apart = (one, other) => (one.zone === other.zone ? Math.hypot(one.inner[0] - other.inner[0], one.inner[1] - other.inner[1]) : Infinity);
  // Marks what is new, elsewhere or otherwise than in the old drawing, and lets it slide from where it was.
  arena.showChanges = (board, old, slide) => {
    const left = new Map(), fresh = [];
    for (const piece of old) left.set(piece.key, [...(left.get(piece.key) ?? []), piece]);
    const mark = (piece) => piece.node.classList.add("changed");
    for (const piece of arena.pieces(board)) {
      const alike = left.get(piece.key) ?? [], same = alike.findIndex((other) => apart(piece, other) < SAME);
      if (same < 0) fresh.push(piece);
      else if (alike.splice(same, 1)[0].words !== piece.words) mark(piece);
    }
    for (const piece of fresh) {
      const alike = left.get(piece.key) ?? [];
      alike.sort((a, b) => apart(piece, a) - apart(piece, b));
      const was = alike.shift();
      if (!was || was.words !== piece.words || apart(piece, was) > NEAR) mark(piece);
      if (!slide) continue;
      const from = was ? { transform: `translate(${was.x - piece.x}px, ${was.y - piece.y}px)` } : { opacity: 0 };
      piece.node.animate([from, was ? { transform: "none" } : { opacity: 1 }], { duration: SLIDE_MS, easing: "ease-out" });
    }
  };
}
