"use strict";
// The table of Gnadenlos!: the road of fame with its zones and hats, the undertaker, the event, the market, the crews.
const { at, back, circle, die, flow, hint, narrow, path, picture, piece, rect, short, svg, text, zone } = arena;

const WIDTH = 620;
const HATS = ["#c0392b", "#2f6db5", "#3c8c4a", "#e0b21b"];
const INKS = ["#fff", "#fff", "#fff", "#1d1a14"];
const ZONES = ["#9ec9a3", "#e7d48a", "#e6ab74", "#d98880", "#c39bd3"];

const hat = (x, y, seat, scale = 1) => svg("g", { transform: `translate(${x} ${y}) scale(${scale})` },
  path("M-13 4Q-7 1 -7 -2Q-7 -10 -3 -9Q0 -7 3 -9Q7 -10 7 -2Q7 1 13 4Q7 8 0 8Q-7 8 -13 4Z", { fill: HATS[seat], class: "edge" }),
  text(0, 5, seat, { class: "middle bold", style: `fill:${INKS[seat]}`, "font-size": 11 / Math.min(1, scale) }));

// The hat of the seat whose table it is stands for the fame that it can buy: with room for a finger.
const ownHat = (scene, x, y, seat) => piece(`hat:${seat}`, scene.seat === seat && "buy", scene.seat === seat && rect(x - 14, y - 16, 28, 28, { fill: "transparent" }), hat(x, y, seat));

// The road snakes from the upper left to the goal: every other row runs back.
const road = (scene, wide, perRow, pitch) => {
  const { view, figures } = scene, fields = figures.road.fields, size = (wide - 26) / perRow, rowOf = (field) => Math.floor((field - 1) / perRow);
  const place = (field) => [13 + (rowOf(field) % 2 ? perRow - 1 - ((field - 1) % perRow) : (field - 1) % perRow) * size, 18 + rowOf(field) * pitch];
  const on = new Map();
  view.fame.forEach((field, seat) => field && on.set(field, [...(on.get(field) || []), seat]));
  let from = 1;
  const zones = figures.zones.map((stretch, k) => {
    const first = from, back = rowOf(from) % 2;
    // A stretch that begins at the end of a row has its words where there is room for them.
    const [x, y] = place(first), room = back ? x + size > 90 : x + 90 < wide;
    from = stretch.last + 1;
    return [Array.from({ length: stretch.last - first + 1 }, (_, step) => {
      const [left, top] = place(first + step);
      return svg("g", {}, rect(left, top, size, 34, { fill: ZONES[k % ZONES.length], class: "edge" }), text(left + 3, top + 11, first + step, { class: "small on-light", opacity: 0.75 }));
    }), text(room ? x + (back ? size - 2 : 2) : back ? 13 : wide - 13, y - 4, `cheat +${stretch.forward} / −${stretch.back}`, { class: room === !back ? "small soft" : "small soft end" })];
  });
  const [x, y] = place(fields);
  const hats = [...on].map(([field, seats]) => {
    const [left, top] = place(field);
    return seats.map((seat, k) => ownHat(scene, left + size / 2 + (k - (seats.length - 1) / 2) * 9, top + 21 + (k % 2) * 5, seat));
  });
  return svg("g", {}, zones, rect(x, y, size, 34, { class: "paper", "stroke-width": 2 }),
    path(`M${x + 11} ${y + 31}v-18l14 5l-14 6`, { fill: "#c0392b", class: "edge" }), text(x + 3, y + 11, fields, { class: "small" }), hats);
};

const coffins = (scene, step) => Array.from({ length: scene.figures.undertaker.steps }, (_, k) => piece(`coffin:${k < scene.view.undertaker}:${k}`, "",
  path(`M${k * step + 5} 16h10l4 7l-3 20h-12l-3 -20Z`, { class: k < scene.view.undertaker ? "dark edge" : "gap" })));
const undertaker = (scene) => at(10, 124, text(0, 10, "undertaker", { class: "soft" }), coffins(scene, 22));

const pictures = {
  "gold rush": () => path("M-9 5L-5 -5L3 -7L9 0L6 6Z", { fill: "#d9a520", class: "edge" }),
  "high noon": () => path("M-13 -5h17l3 3l5 9h-6l-4 -7h-6l-1 3h-3l1 -4h-6Z", { fill: "#555", class: "edge" }),
  cheating: () => svg("g", {}, rect(-9, -8, 10, 15, { rx: 2, fill: "#fff", class: "edge", transform: "rotate(-12)" }), rect(-1, -8, 10, 15, { rx: 2, fill: "#fff", class: "edge", transform: "rotate(12)" }),
    path("M3 3q-4 -4 0 -7q4 3 0 7Z", { fill: "#c0392b" })),
};

const eventCard = (x, card, size = 1, attributes = {}) => piece(`event:${card}`, "", svg("g", { transform: `translate(${x} 0) scale(${size})` },
  rect(0, 0, 62, 44, { rx: 4, class: "paper", ...attributes }), at(31, size < 1 ? 22 : 15, svg("g", { transform: `scale(${1 / Math.max(0.6, size)})` }, pictures[card[0]]())),
  size === 1 && text(31, 38, card[0] === "gold rush" ? `${card[1]} / ${card[2]}` : card[0], { class: "middle small bold" }), hint(card[0] === "gold rush" ? `gold rush ${card[1]} / ${card[2]}` : card[0])));
const current = (scene) => (scene.view.event ? eventCard(0, scene.view.event, 1, { stroke: "#e69f00", "stroke-width": 3 }) : rect(0, 0, 62, 44, { rx: 4, class: "gap" }));
const turn = (view) => (view.number ? `turn ${view.number}` : "auction of pairs");

const events = (scene) => at(175, 124, text(0, 10, "event", { class: "soft" }), at(0, 15, current(scene)),
  text(76, 10, "turned so far", { class: "soft" }), at(0, 18, scene.view.events_seen.map((card, k) => eventCard(76 + k * 42, card, 0.63))),
  piece("turn", "", text(435, 10, turn(scene.view), { class: "end bold" })), text(435, 26, scene.view.cause ? `ending: ${scene.view.cause}` : "", { class: "end bold" }),
  text(435, 42, `${scene.view.pile} in the pile`, { class: "end soft" }), text(435, 56, `${scene.view.discard.length} discarded`, { class: "end soft" }));

// A promise to pay: a torn slip in the colour of the seat that owes it.
const slip = (scene, x, y, iou, width = 30, height = 20, attributes = {}) => (iou ? svg("g", { "data-piece": `iou:${iou}`, ...attributes },
  path(`M${x} ${y}h${width}v${height}l-4 -2l-4 2l-4 -2l-4 2h${16 - width}Z`, { fill: HATS[iou[1]], class: "edge" }),
  text(x + width / 2, y + height * 0.72, iou[0], { class: "middle bold", style: `fill:${INKS[iou[1]]}`, "font-size": Math.max(11, height * 0.62) }), hint(`IOU of ${scene.names[iou[1]]} over ${iou[0]}`))
  : piece("iou:", "", back(x, y, width, height), text(x + width / 2, y + height * 0.72, "?", { class: "middle bold on-colour" })));

// The IOUs in the hand of the seat that bids are picked together; then they stand for a sum, and for themselves in payment of it.
const own = (scene, seat, iou) => (iou && scene.seat === seat && ["bid", "pay"].includes(scene.view.phase) ? { "data-action": "bid pay", "data-pick": JSON.stringify(iou) } : {});
const together = (ious, figures) => {
  if (ious.length > figures.most_ious) return [];
  const total = ious.reduce((sum, [value]) => sum + value, 0), sorted = [...ious].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  return [`bid:${total}`, `pay:${JSON.stringify(sorted)}:${total}`];
};

const adventurer = (x, y, card, { action = "", size = 36, ...attributes } = {}) => piece(`adventurer:${card ?? ""}`, action, card ? at(x, y, svg("g", { transform: `scale(${size / 36})` }, rect(0, 0, 36, 30, { rx: 3, class: "paper", ...attributes }),
  card.map((skill, k) => svg("g", {}, [
    circle(7, 7, 3.5, { fill: "#d9a520", class: "edge" }),
    path("M15 5h7v3h-4l-1 3h-2Z", { fill: "#555", class: "edge" }),
    rect(27, 3.5, 5, 7, { rx: 1, fill: "#c0392b", class: "edge" })][k], text(7 + k * 11.2, 24, skill, { class: "middle bold" })))),
  hint(`gold ${card[0]}, gun ${card[1]}, cards ${card[2]}`)) : back(x, y, size, size * 0.83));

const market = (scene, top, left, step) => {
  const { view, figures } = scene, columns = figures.payday.columns, full = scene.names.length * columns;
  const places = view.market.map((iou) => ({ iou }));
  if (view.theft) view.theft.gaps.forEach((gap) => places.splice(gap, 0, null));
  const rows = Math.max(scene.names.length, Math.ceil(places.length / columns));
  return [at(left, top, piece("market", "steal", rect(-6, 0, columns * step + 8, 24 + rows * 26, { rx: 6, class: "wood" }), Array.from({ length: columns }, (_, k) => die(9 + k * step, 4, 16, k + 1))),
    Array.from({ length: rows * columns }, (_, k) => {
      const x = (k % columns) * step, y = 23 + Math.floor(k / columns) * 26;
      if (places[k]) return slip(scene, x, y, places[k].iou, step - 6, 21);
      return (k < full || k < places.length) && svg("g", {}, rect(x, y, step - 6, 21, { rx: 2, class: "gap" }), k < places.length && hint("stolen from here"));
    })), 30 + rows * 26];
};
const marketWords = (scene) => `market: ${scene.view.market.length} of ${scene.names.length * scene.figures.payday.columns}`;

// The bids are below what one bids for, or `beside` it.
const hiring = (scene, top, x, size, beside = 0) => {
  const { view } = scene, step = size + 4, high = size * 0.83 + 6, pairRows = Math.max(1, Math.ceil(view.pairs.length / 3));
  const pairs = view.pairs.map((pair, k) => piece(`pair:${k}`, `take-pair:${k}`, pair.map((card, n) => adventurer(x + (k % 3) * (2 * step + 4) + n * (size + 2), top + 18 + Math.floor(k / 3) * high, card, { size }))));
  const bids = view.bids.flatMap((ious, seat) => (ious && ious.length ? [[seat, ious]] : [])), [left, under] = beside ? [beside, top + 12] : [x, top + 28 + pairRows * high];
  return svg("g", {}, text(x, top + 12, view.pairs.length ? "pairs to be had" : "for hire", { class: "bold" }), pairs,
    view.offers.map((card, k) => adventurer(x + k * step, top + 18, card, { size, action: `hire:${JSON.stringify(card)}` })),
    !view.offers.length && !view.pairs.length && text(x, top + 34, "none now", { class: "soft" }),
    bids.length > 0 && text(left, under, "bids", { class: "bold" }),
    bids.map(([seat, ious], k) => at(left + (k % 2) * (beside ? 112 : 118), under + 6 + Math.floor(k / 2) * 26, hat(12, 10, seat, 0.9), ious.map((iou, n) => slip(scene, 28 + n * 24, 1, iou, 22, 18)))));
};

// What a thief of a high noon has answered.
const thief = (theft, seat) => {
  const order = theft ? theft.thieves.indexOf(seat) : -1;
  if (order < 0) return "";
  return order < theft.answers.length ? (theft.answers[order] ? "has stolen" : "leaves it") : "may steal";
};

const cardsOf = (scene, seat) => {
  const { view } = scene, own = scene.views[seat], crew = own ? own.crew : view.crews[seat];
  const laid = view.theft ? view.theft.shown[seat] : own && own.my_laid;
  return { crew, hand: own ? own.hand : view.hands[seat], down: laid ? crew.findIndex((card) => card && card.join() === laid.join()) : -1,
    says: view.laid[seat] ? "laid one" : thief(view.theft, seat), mine: scene.seat === seat };
};
const member = (card, x, y, k, { down, mine }, size) => adventurer(x, k === down ? y - 3 : y, card,
  { size, action: mine && card && `lay:${JSON.stringify(card)}`, ...(k === down ? { stroke: "#e69f00", "stroke-width": 3 } : {}) });
const gold = (view, seat, x, y) => [circle(x, y - 4, 6, { fill: "#d9a520", class: "edge" }), piece(`gold:${seat}`, "", text(x + 10, y, `${view.gold[seat]} gold`, { class: "bold" }))];
const fame = (view, seat) => (view.fame[seat] ? `field ${view.fame[seat]}` : "off the road");
const vultures = (scene, seat, x, y, step) => Array.from({ length: scene.figures.payday.vultures_to_lose }, (_, k) => at(x + k * step, y, piece(`vulture:${k < scene.view.vultures[seat]}`, "",
  path("M-11 -3Q-5 -6 0 0Q5 -6 11 -3Q5 -2 2 4L0 6L-2 4Q-5 -2 -11 -3Z", { class: k < scene.view.vultures[seat] ? "dark edge" : "plain", opacity: k < scene.view.vultures[seat] ? 1 : 0.4 })), hint("vulture")));
const revolver = (x, y) => at(x, y, piece("revolver", "", path("M-13 -5h17l3 3l5 9h-6l-4 -7h-6l-1 3h-3l1 -4h-6Z", { fill: "#555", class: "edge" })), hint("holds the revolver"));

const gang = (scene, seat, y) => {
  const { view } = scene, cards = cardsOf(scene, seat);
  const close = Math.min(25, 316 / Math.max(1, cards.hand.length)), tight = Math.min(40, 316 / Math.max(1, cards.crew.length));
  return at(0, y, zone(`seat:${seat}`, {}, rect(6, 0, WIDTH - 12, 68, { rx: 8, class: seat === view.turn ? "turn" : "row" }), hint(scene.names[seat]),
    hat(26, 16, seat), text(44, 20, short(scene.names[seat], 15), { class: "bold" }), seat === view.start && revolver(160, 16), gold(view, seat, 20, 44),
    piece(`fame:${seat}`, "", text(90, 44, fame(view, seat), { class: "soft" })), vultures(scene, seat, 25, 57, 27), text(182, 58, cards.says, { class: "end small bold" }),
    cards.crew.map((card, k) => member(card, 190 + k * tight, 5, k, cards, 36)), cards.hand.map((iou, k) => slip(scene, 190 + k * close, 41, iou, 24, 21, own(scene, seat, iou)))));
};

const wideTable = (scene) => {
  const [stalls, high] = market(scene, 192, 125, 40), top = 192 + Math.max(high, 124) + 6;
  return picture(WIDTH, top + scene.names.length * 73 + 4, scene.label, road(scene, WIDTH, 18, 52), undertaker(scene), events(scene),
    at(10, 192, text(0, 12, marketWords(scene), { class: "bold" }), text(0, 26, "payday when full", { class: "soft" })), stalls, hiring(scene, 192, 372, 36),
    scene.names.map((_, seat) => gang(scene, seat, top + seat * 73)));
};

// The narrow table: one seat large with its gang and IOUs in rows, the others a line each.
const large = (scene, seat, y, wide) => {
  const { view } = scene, cards = cardsOf(scene, seat);
  const crew = flow(cards.crew, [12, y + 52, wide - 20], [49, 42], (card, x, top) => member(card, x, top, cards.crew.indexOf(card), cards, 45));
  const handTop = y + 55 + Math.max(42, crew.height), ious = flow(cards.hand, [12, handTop, wide - 20], [31, 29], (iou, x, top) => slip(scene, x, top, iou, 28, 24, own(scene, seat, iou)));
  const high = handTop - y + Math.max(29, ious.height) + 3;
  return [zone(`seat:${seat}`, {}, rect(6, y, wide - 12, high, { rx: 8, class: seat === view.turn ? "turn" : "row" }), hat(24, y + 17, seat), text(44, y + 21, short(scene.names[seat], 20), { class: "bold", "font-size": 14 }), hint(scene.names[seat]),
    seat === view.start && revolver(wide - 100, y + 17), text(wide - 14, y + 21, cards.says, { class: "end bold" }), gold(view, seat, 20, y + 43), piece(`fame:${seat}`, "", text(92, y + 43, fame(view, seat))), vultures(scene, seat, wide - 84, y + 39, 27),
    crew.nodes, !cards.crew.length && text(14, y + 74, "no adventurers", { class: "soft" }), ious.nodes, !cards.hand.length && text(14, handTop + 18, "no IOUs", { class: "soft" })), high];
};

const LINE = 48;
const line = (scene, seat, y, wide) => {
  const { view } = scene, cards = cardsOf(scene, seat), half = (wide - 30) / 2;
  const tight = Math.min(38, half / Math.max(1, cards.crew.length)), close = Math.min(22, half / Math.max(1, cards.hand.length));
  return zone(`seat:${seat}`, { "data-seat": seat }, rect(6, y, wide - 12, LINE - 4, { rx: 8, class: seat === view.turn ? "turn" : "row" }), hat(22, y + 13, seat), text(40, y + 16, short(scene.names[seat], 12), { class: "bold" }), hint(scene.names[seat]),
    seat === view.start && revolver(140, y + 12), gold(view, seat, 162, y + 16), piece(`fame:${seat}`, "", text(225, y + 16, cards.says || fame(view, seat), { class: "soft" })), vultures(scene, seat, wide - 68, y + 12, 22),
    cards.crew.map((card, k) => (card ? piece(`adventurer:${card}`, "", rect(12 + k * tight, y + 24, 35, 17, { rx: 3, class: "paper" }), text(12 + k * tight + 17.5, y + 37, card.join(" "), { class: "middle" })) : piece("adventurer:", "", back(12 + k * tight, y + 24, 20, 17)))),
    cards.hand.map((iou, k) => slip(scene, wide - 14 - (cards.hand.length - k) * close, y + 24, iou, Math.max(17, Math.min(20, close + 2)), 17)));
};

const narrowTable = (scene, wide) => {
  const { view, figures } = scene, perRow = 12, rows = Math.ceil(figures.road.fields / perRow), top = 6 + rows * 50 + 4, columns = figures.payday.columns;
  const [stalls, marketHigh] = market(scene, top + 72, 12, (wide - 20) / columns), hireTop = top + 72 + marketHigh, bids = view.bids.filter((ious) => ious && ious.length).length;
  const beside = wide >= 380 && !view.pairs.length ? 162 : 0;
  const own = hireTop + (beside ? 72 : 62 + 38 * Math.max(0, Math.ceil(view.pairs.length / 3) - 1) + (bids ? 16 + Math.ceil(bids / 2) * 26 : 0));
  const focus = scene.focus ?? scene.seat ?? Math.max(0, view.turn), rest = scene.names.map((_, seat) => seat).filter((seat) => seat !== focus), [gangs, high] = large(scene, focus, own, wide);
  return picture(wide, own + high + 5 + rest.length * LINE + 2, scene.label, road(scene, wide, perRow, 50),
    at(10, top, current(scene)), at(80, top, text(0, 10, "turned so far", { class: "soft" }), at(0, 15, scene.view.events_seen.map((card, k) => eventCard(k * 26, card, 0.4)))),
    piece("turn", "", text(wide - 10, top + 11, turn(view), { class: "end bold" })), text(wide - 10, top + 26, view.cause ? `ending: ${view.cause}` : "", { class: "end bold" }),
    at(wide - 10 - figures.undertaker.steps * 16, top + 18, svg("g", { transform: "scale(.7)" }, coffins(scene, 22)), hint("undertaker")),
    text(10, top + 66, marketWords(scene), { class: "bold" }), text(128, top + 66, "payday when full", { class: "soft" }), text(wide - 10, top + 66, `pile ${view.pile}, discards ${view.discard.length}`, { class: "end soft" }),
    stalls, hiring(scene, hireTop, 12, 44, beside), gangs, rest.map((seat, k) => line(scene, seat, own + high + 5 + k * LINE, wide)));
};

const legend = () => {
  const scene = { names: HATS.map(() => "a player"), figures: { payday: { vultures_to_lose: 1 }, undertaker: { steps: 1 } }, view: { undertaker: 1, vultures: [1] } };
  return [
    [hat(0, 0, 0), "a player on the road of fame"],
    [text(0, 4, "+5 / −1", { class: "middle" }), "how far hats move here when players cheat"],
    [adventurer(-18, -15, [4, 2, 5]), "an adventurer: skill with gold, gun and cards"],
    [slip(scene, -14, -11, [3, 1], 28, 22), "an IOU, in the colour of the player who owes it"],
    [svg("g", {}, at(0, -6, pictures["gold rush"]()), text(0, 13, "5 / 3", { class: "middle bold" })), "gold rush: gold for the best, and for the second best"],
    [die(-9, -9, 18, 2), "a column of the market: the die of a payday chooses it"],
    [svg("g", { transform: "translate(-8 -24) scale(.8)" }, coffins(scene, 22)), "a step of the undertaker"],
    [vultures(scene, 0, 0, 0, 0), "a vulture: could not pay"],
    [revolver(2, 0), "the start player"],
  ];
};

arena.board("gnadenlos", (scene) => (narrow(scene) ? narrowTable(scene, narrow(scene)) : wideTable(scene)),
  { colours: HATS, together, stepwise: ["payday", "die", "paid", "broke", "vulture", "returned", "lost"], legend });
