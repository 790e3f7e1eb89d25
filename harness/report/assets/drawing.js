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

  arena.board = (game, draw) => { arena.boards[game] = draw; };
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
    svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, class: "board" }, ...children);
}
