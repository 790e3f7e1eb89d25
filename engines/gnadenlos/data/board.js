"use strict";
// The table of Gnadenlos!: the road of fame with its zones and hats, the undertaker, the event, the market, the crews.
const { at, back, circle, die, hint, path, picture, rect, short, svg, text } = arena;

const WIDTH = 620, PER_ROW = 18, FIELD = 33;
const HATS = ["#c0392b", "#2f6db5", "#3c8c4a", "#e0b21b"];
const INKS = ["#fff", "#fff", "#fff", "#1d1a14"];
const ZONES = ["#9ec9a3", "#e7d48a", "#e6ab74", "#d98880", "#c39bd3"];

const hat = (x, y, seat, scale = 1) => svg("g", { transform: `translate(${x} ${y}) scale(${scale})` },
  path("M-13 4Q-7 1 -7 -2Q-7 -10 -3 -9Q0 -7 3 -9Q7 -10 7 -2Q7 1 13 4Q7 8 0 8Q-7 8 -13 4Z", { fill: HATS[seat], class: "edge" }),
  text(0, 5, seat, { class: "middle small bold", style: `fill:${INKS[seat]}` }));

// Snakes from the lower left to the goal: odd rows run back.
const place = (field) => {
  const row = Math.floor((field - 1) / PER_ROW), along = (field - 1) % PER_ROW;
  return [13 + (row % 2 ? PER_ROW - 1 - along : along) * FIELD, 18 + row * 52];
};

const road = (scene) => {
  const { view, figures } = scene, fields = figures.road.fields;
  const on = new Map();
  view.fame.forEach((field, seat) => field && on.set(field, [...(on.get(field) || []), seat]));
  let from = 1;
  const zones = figures.zones.map((zone, k) => {
    const [x, y] = place(from);
    const words = text(x + 2 + (Math.floor((from - 1) / PER_ROW) % 2 ? FIELD - 4 : 0), y - 4, `cheat +${zone.forward} / −${zone.back}`,
      { class: `small soft${Math.floor((from - 1) / PER_ROW) % 2 ? " end" : ""}` });
    const first = from;
    from = zone.last + 1;
    return [Array.from({ length: zone.last - first + 1 }, (_, step) => {
      const [left, top] = place(first + step);
      return svg("g", {}, rect(left, top, FIELD, 34, { fill: ZONES[k % ZONES.length], class: "edge" }), text(left + 3, top + 10, first + step, { class: "small on-light", opacity: 0.7 }));
    }), words];
  });
  const [x, y] = place(fields);
  const hats = [...on].map(([field, seats]) => {
    const [left, top] = place(field);
    return seats.map((seat, k) => hat(left + FIELD / 2 + (k - (seats.length - 1) / 2) * 9, top + 21 + (k % 2) * 5, seat, 0.85));
  });
  return svg("g", {}, zones, rect(x, y, FIELD, 34, { class: "paper", "stroke-width": 2 }),
    path(`M${x + 11} ${y + 31}v-18l14 5l-14 6`, { fill: "#c0392b", class: "edge" }), text(x + 3, y + 10, fields, { class: "small" }), hats);
};

const undertaker = (scene) => at(10, 124,
  text(0, 10, "undertaker", { class: "soft" }),
  Array.from({ length: scene.figures.undertaker.steps }, (_, step) => svg("g", {},
    path(`M${step * 22 + 5} 16h10l4 7l-3 20h-12l-3 -20Z`, { class: step < scene.view.undertaker ? "dark edge" : "gap" }))));

const pictures = {
  "gold rush": () => path("M-9 5L-5 -5L3 -7L9 0L6 6Z", { fill: "#d9a520", class: "edge" }),
  "high noon": () => path("M-13 -5h17l3 3l5 9h-6l-4 -7h-6l-1 3h-3l1 -4h-6Z", { fill: "#555", class: "edge" }),
  cheating: () => svg("g", {}, rect(-9, -8, 10, 15, { rx: 2, fill: "#fff", class: "edge", transform: "rotate(-12)" }), rect(-1, -8, 10, 15, { rx: 2, fill: "#fff", class: "edge", transform: "rotate(12)" }),
    path("M3 3q-4 -4 0 -7q4 3 0 7Z", { fill: "#c0392b" })),
};

const eventCard = (x, card, size = 1, attributes = {}) => svg("g", { transform: `translate(${x} 0) scale(${size})` },
  rect(0, 0, 62, 44, { rx: 4, class: "paper", ...attributes }), at(31, 15, pictures[card[0]]()), text(31, 38, card[0] === "gold rush" ? `${card[1]} / ${card[2]}` : card[0], { class: "middle small bold" }), hint(card[0]));

const events = (scene) => at(175, 124, text(0, 10, "event", { class: "soft" }),
  at(0, 15, scene.view.event ? eventCard(0, scene.view.event, 1, { stroke: "#e69f00", "stroke-width": 3 }) : rect(0, 0, 62, 44, { rx: 4, class: "gap" })),
  text(76, 10, "turned so far", { class: "soft" }), at(0, 18, scene.view.events_seen.map((card, k) => eventCard(76 + k * 42, card, 0.63))),
  text(435, 10, scene.view.number ? `turn ${scene.view.number}` : "auction of pairs", { class: "end bold" }),
  text(435, 26, scene.view.cause ? `ending: ${scene.view.cause}` : "", { class: "end bold" }),
  text(435, 42, `${scene.view.pile} in the pile`, { class: "end soft" }), text(435, 56, `${scene.view.discard.length} discarded`, { class: "end soft" }));

// A promise to pay: a torn slip in the colour of whoever owes it.
const slip = (x, y, iou, width = 30, height = 20) => (iou ? svg("g", {},
  path(`M${x} ${y}h${width}v${height}l-4 -2l-4 2l-4 -2l-4 2h-${width - 16}Z`, { fill: HATS[iou[1]], class: "edge" }),
  text(x + width / 2, y + height * 0.68, iou[0], { class: "middle bold", style: `fill:${INKS[iou[1]]}`, "font-size": height * 0.62 }), hint(`IOU of seat ${iou[1]} over ${iou[0]}`))
  : svg("g", {}, back(x, y, width, height), text(x + width / 2, y + height * 0.7, "?", { class: "middle bold on-colour" })));

const adventurer = (x, y, card, attributes = {}) => (card ? svg("g", {}, rect(x, y, 36, 30, { rx: 3, class: "paper", ...attributes }),
  card.map((skill, k) => svg("g", {}, [
    circle(x + 7, y + 7, 3.5, { fill: "#d9a520", class: "edge" }),
    path(`M${x + 15} ${y + 5}h7v3h-4l-1 3h-2Z`, { fill: "#555", class: "edge" }),
    rect(x + 27, y + 3.5, 5, 7, { rx: 1, fill: "#c0392b", class: "edge" })][k], text(x + 7 + k * 11.2, y + 24, skill, { class: "middle bold" }))),
  hint(`gold ${card[0]}, gun ${card[1]}, cards ${card[2]}`)) : back(x, y, 36, 30));

const market = (scene, top) => {
  const { view, figures } = scene, columns = figures.payday.columns, full = scene.names.length * columns;
  const places = view.market.map((iou) => ({ iou }));
  if (view.theft) view.theft.gaps.forEach((gap) => places.splice(gap, 0, null));
  const rows = Math.max(scene.names.length, Math.ceil(places.length / columns));
  return [at(10, top, text(0, 12, `market: ${view.market.length} of ${full}`, { class: "bold" }), text(0, 26, "payday when full", { class: "soft" }),
    rect(104, 0, columns * 40 + 8, 24 + rows * 26, { rx: 6, class: "wood" }),
    Array.from({ length: columns }, (_, k) => die(119 + k * 40, 4, 16, k + 1)),
    Array.from({ length: rows * columns }, (_, k) => {
      const x = 110 + (k % columns) * 40, y = 23 + Math.floor(k / columns) * 26;
      if (places[k]) return slip(x, y, places[k].iou, 34, 21);
      return (k < full || k < places.length) && svg("g", {}, rect(x, y, 34, 21, { rx: 2, class: "gap" }), k < places.length && hint("stolen from here"));
    })), 30 + rows * 26];
};

const hiring = (scene, top) => {
  const { view } = scene, x = 372;
  const pairs = view.pairs.map((pair, k) => at(0, 0, pair.map((card, n) => adventurer(x + (k % 3) * 80 + n * 38, top + 18 + Math.floor(k / 3) * 36, card))));
  const bids = view.bids.flatMap((ious, seat) => (ious && ious.length ? [[seat, ious]] : []));
  return svg("g", {}, text(x, top + 12, view.pairs.length ? "pairs to be had" : "for hire", { class: "bold" }), pairs,
    view.offers.map((card, k) => adventurer(x + k * 40, top + 18, card)),
    !view.offers.length && !view.pairs.length && text(x, top + 34, "nobody now", { class: "soft" }),
    bids.length > 0 && text(x, top + (view.pairs.length > 3 ? 100 : 64), "bids", { class: "bold" }),
    bids.map(([seat, ious], k) => at(x + (k % 2) * 120, top + (view.pairs.length > 3 ? 106 : 70) + Math.floor(k / 2) * 26, hat(12, 10, seat, 0.8), ious.map((iou, n) => slip(28 + n * 24, 1, iou, 22, 17)))));
};

// What a thief of a high noon has answered.
const thief = (theft, seat) => {
  const order = theft ? theft.thieves.indexOf(seat) : -1;
  if (order < 0) return "";
  return order < theft.answers.length ? (theft.answers[order] ? "has stolen" : "leaves it") : "may steal";
};

const gang = (scene, seat, y) => {
  const { view, figures } = scene, own = scene.views[seat];
  const crew = own ? own.crew : view.crews[seat], hand = own ? own.hand : view.hands[seat];
  const laid = view.theft ? view.theft.shown[seat] : own && own.my_laid;
  const down = laid ? crew.findIndex((card) => card && card.join() === laid.join()) : -1;
  const close = Math.min(25, 316 / Math.max(1, hand.length)), tight = Math.min(40, 316 / Math.max(1, crew.length));
  return at(0, y, rect(6, 0, WIDTH - 12, 68, { rx: 8, class: seat === view.turn ? "turn" : "row" }), hint(scene.names[seat]),
    hat(26, 16, seat), text(44, 20, short(scene.names[seat], 15), { class: "bold" }),
    seat === view.start && at(160, 16, path("M-13 -5h17l3 3l5 9h-6l-4 -7h-6l-1 3h-3l1 -4h-6Z", { fill: "#555", class: "edge" }), hint("holds the revolver")),
    circle(20, 40, 6, { fill: "#d9a520", class: "edge" }), text(30, 44, `${view.gold[seat]} gold`, { class: "bold" }),
    text(90, 44, view.fame[seat] ? `field ${view.fame[seat]}` : "off the road", { class: "soft" }),
    Array.from({ length: figures.payday.vultures_to_lose }, (_, k) => at(20 + k * 27, 58,
      path("M-11 -3Q-5 -6 0 0Q5 -6 11 -3Q5 -2 2 4L0 6L-2 4Q-5 -2 -11 -3Z", { class: k < view.vultures[seat] ? "dark edge" : "plain", opacity: k < view.vultures[seat] ? 1 : 0.4 }), hint("vulture"))),
    text(182, 58, view.laid[seat] ? "laid one" : thief(view.theft, seat), { class: "end small bold" }),
    crew.map((card, k) => adventurer(190 + k * tight, k === down ? 2 : 5, card, k === down ? { stroke: "#e69f00", "stroke-width": 3 } : {})),
    hand.map((iou, k) => slip(190 + k * close, 42, iou, 23, 18)));
};

arena.board("gnadenlos", (scene) => {
  const [stalls, high] = market(scene, 192), top = 192 + Math.max(high, 118) + 6;
  const rows = scene.names.map((_, seat) => gang(scene, seat, top + seat * 73));
  return picture(WIDTH, top + rows.length * 73 + 4, scene.label, road(scene), undertaker(scene), events(scene), stalls, hiring(scene, 192), rows);
});
