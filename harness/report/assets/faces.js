"use strict";
// A face for a name: the same name has the same face everywhere. harness/report/faces.py draws the same from the same parts.
{
  const NAMESPACE = "http://www.w3.org/2000/svg";
  const node = (tag, attributes, ...children) => {
    const made = document.createElementNS(NAMESPACE, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };
  const digest = (name) => {
    let hash = 0x811c9dc5;
    for (const byte of new TextEncoder().encode(name)) hash = Math.imul(hash ^ byte, 0x01000193);
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    return (hash ^ (hash >>> 16)) >>> 0;
  };
  const shapeOf = ([kind, ...figures], fill) => {
    if (kind === "rect") return node("rect", { x: figures[0], y: figures[1], width: figures[2], height: figures[3], rx: figures[4], fill });
    if (kind === "circle") return node("circle", { cx: figures[0], cy: figures[1], r: figures[2], fill });
    return node("polygon", { points: figures[0].join(" "), fill });
  };

  arena.face = (name) => {
    let left = digest(name);
    const choose = (list) => {
      const chosen = list[left % list.length];
      left = Math.floor(left / list.length);
      return chosen;
    };
    const colour = choose(FACES.colours), fills = { colour, light: choose(FACES.lights), ink: "#1d2330", white: "#ffffff", dark: "#1d2330" };
    const shapes = FACES.parts.map(choose).flat();
    return node("svg", { viewBox: "0 0 32 32", class: "face", "aria-hidden": "true" },
      node("rect", { width: 32, height: 32, rx: 7, fill: colour }), ...shapes.map((shape) => shapeOf(shape, fills[shape.at(-1)])));
  };
}
