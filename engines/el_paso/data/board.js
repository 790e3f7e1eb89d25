"use strict";
// El Paso's table: the trail of towns, the sheriff field, the town's sites with their stacks, and a row for each outlaw.
const { at, badge, back, circle, die, flow, hint, narrow, path, picture, piece, rect, short, svg, text, zone } = arena;

const WIDTH = 620, LEFT = 122, COLUMN = 82;
const CARD = 20; // 24 pixels in a window of 1280: large enough to be tapped
const COLOURS = ["#3d7a57", "#a83f39", "#b8860b", "#7b5230", "#3f6ea5", "#775a9a"];
const column = (site) => LEFT + site * COLUMN;
const label = (site) => site.replace("_", " ");

const star = (x, y, r, attributes) => {
  const points = Array.from({ length: 12 }, (_, k) => {
    const reach = k % 2 ? r * 0.5 : r, angle = (Math.PI * k) / 6 - Math.PI / 2;
    return `${(x + reach * Math.cos(angle)).toFixed(1)},${(y + reach * Math.sin(angle)).toFixed(1)}`;
  });
  return svg("polygon", { points: points.join(" "), ...attributes });
};

// What stands above each site's door.
const SIGNS = {
  bank: () => path("M-11 -3L0 -11L11 -3ZM-9 -1h4v9h-4ZM-2 -1h4v9h-4ZM5 -1h4v9h-4ZM-11 9h22v3h-22Z", { fill: "#fff" }),
  saloon: () => path("M-8 -10h16l-2 9q-6 5 -12 0ZM-1 2h2v7h-2ZM-6 9h12v3h-12Z", { fill: "#fff" }),
  gold_mine: () => path("M-12 -5Q0 -14 12 -5L10 -2Q0 -9 -10 -2ZM-2 -7h4v19h-4Z", { fill: "#fff" }),
  cattle: () => path("M-13 -10Q-10 -2 -5 -3L5 -3Q10 -2 13 -10Q12 1 6 2L4 10Q0 13 -4 10L-6 2Q-12 1 -13 -10Z", { fill: "#fff" }),
  hotel: () => path("M-12 -8h3v9h21v10h-3v-4h-18v4h-3ZM-7 -5h7v5h-7Z", { fill: "#fff" }),
  horses: () => path("M-9 -10Q-14 10 -4 12l2 -4Q-7 4 -5 -10ZM9 -10Q14 10 4 12l-2 -4Q7 4 5 -10Z", { fill: "#fff" }),
};

const face = (x, y, size, what) => piece(`die:${what}`, "", die(x, y, size, what === "six" ? 6 : 0),
  what === "star" && star(x + size / 2, y + size / 2, size * 0.38, { fill: "#b8860b" }),
  what === "brand" && path(`M${x + size * 0.25} ${y + size * 0.8}v-${size * 0.55}h${size * 0.3}q${size * 0.3} ${size * 0.28} 0 ${size * 0.5}Z`,
    { fill: "none", stroke: "#a83f39", "stroke-width": 2.5 }),
  hint(what));

const trail = (scene, wide, names) => {
  const towns = scene.figures.towns, edge = names ? 38 : 20, step = (wide - 2 * edge) / Math.max(1, towns.length - 1);
  return svg("g", {},
    path(`M${edge} 24H${wide - edge}`, { class: "ink-line", "stroke-dasharray": "2 6", "stroke-width": 2 }),
    towns.map((town, place) => {
      const x = edge + place * step, here = place === scene.view.town && scene.view.phase !== "over";
      return svg("g", {}, circle(x, 24, here ? 12 : 9, { class: here ? "turn" : "paper" }),
        text(x, 28, `${town.rate}`, { class: place < scene.view.town ? "middle soft" : "middle bold" }),
        names && text(x, 50, short(town.name, 11), { class: here ? "middle bold" : "middle soft" }),
        hint(`${town.name}: ${town.rate} nuggets of tiles for one of money`));
    }));
};

const groups = (view) => (view.limit ? `leavers carry ${view.limit}` : `next leavers carry ${view.groups + 1}`);
// The dice that show a star stay on the sheriff field.
const field = (scene, x, y, size) => Array.from({ length: scene.figures.dice.count }, (_, place) =>
  (place < scene.view.stars ? face(x + place * (size + 6), y, size, "star") : rect(x + place * (size + 6), y, size, size, { rx: 6, class: "gap" })));

const sheriff = (scene) => {
  const { view, figures } = scene, dice = figures.dice.count;
  return at(0, 62,
    rect(10, 0, 58 + dice * 38, 46, { rx: 8, class: "wood" }),
    star(36, 23, 19, { fill: "#d9a520", class: "edge" }), text(36, 27, "sheriff", { class: "middle small on-light bold" }), field(scene, 62, 7, 32),
    text(86 + dice * 38, 14, "last roll", { class: "soft" }),
    view.roll.length ? view.roll.map((what, place) => face(86 + dice * 38 + place * 29, 20, 25, what))
      : text(86 + dice * 38, 34, "none yet", { class: "soft" }),
    piece("round", "", text(WIDTH - 10, 14, view.round ? `round ${view.round}` : "", { class: "end bold" })),
    text(WIDTH - 10, 30, groups(view), { class: "end soft" }));
};

// A site: a false front, with its stack of tiles in the street before it.
const site = (scene, place, x, wide) => {
  const name = scene.figures.sites[place], stack = scene.view.stacks[place], middle = x + (wide - 8) / 2;
  if (!scene.figures.towns[scene.view.town].sites.includes(name)) {
    return svg("g", { opacity: 0.6 }, rect(x, 12, wide - 8, 44, { class: "gap" }),
      path(`M${x} 12l${wide - 8} 44M${x} 56l${wide - 8} -44`, { class: "gap" }), text(middle, 76, wide < 70 ? "none" : `no ${label(name)}`, { class: "middle soft" }));
  }
  const size = 32, close = Math.min(9, (wide - 16 - size) / stack.length);
  return svg("g", {}, path(`M${x} 56v-38h8v-8h${wide - 24}v8h8v38Z`, { fill: COLOURS[place], class: "edge" }),
    at(middle, 30, SIGNS[name]()), text(middle, 53, label(name), { class: `middle small on-colour${wide < 70 ? "" : " bold"}`, ...(6 * name.length > wide - 10 ? { textLength: wide - 10, lengthAdjust: "spacingAndGlyphs" } : {}) }),
    stack.length ? stack.slice().reverse().map((value, depth) => tile(x + 4 + (stack.length - 1 - depth) * close, 64 + depth * Math.min(5, 22 / stack.length), size, place, value))
      : text(middle, 92, "empty", { class: "middle soft" }),
    stack.length > 0 && text(middle, 128, `${stack.length} left`, { class: "middle small soft" }));
};

const town = (scene) => at(0, 118,
  rect(6, 0, WIDTH - 12, 134, { rx: 8, class: "row" }),
  at(10, 22, path("M0 0h80l10 13l-10 13h-80Z", { class: "wood" }), text(42, 18, short(scene.figures.towns[scene.view.town].name, 12), { class: "middle bold" })),
  text(14, 66, "top tile of", { class: "soft" }), text(14, 79, "each stack", { class: "soft" }), text(14, 92, "is taken first", { class: "soft" }),
  scene.figures.sites.map((_, place) => site(scene, place, column(place), COLUMN)));

// `own`: whether the player whose table this is may choose it.
const tile = (x, y, size, site, value, own = false) => piece(`tile:${site}:${value}`, own && `carry:${site}:${value}`,
  rect(x, y, size, size * 0.86, { rx: 4, fill: "#f7e7b6", stroke: COLOURS[site], "stroke-width": 2 }),
  text(x + size / 2, y + size * 0.62, value, { class: "middle bold on-light", "font-size": Math.max(11, size * 0.5) }));

// Of a card that the next one covers, `room` pixels are seen: its value is in the middle of these.
const card = (x, y, site, value, { action = "", size = 17, room = size, ...attributes } = {}) => piece(`card:${site}:${value}`, action, value ? [
  rect(x, y, size, size * 1.4, { rx: 2, fill: COLOURS[site], class: "edge", ...attributes }),
  text(x + Math.min(size, room) / 2, y + size * 0.94, value, { class: "middle bold on-colour", "font-size": Math.max(11, size * 0.55) })] : [
  back(x, y, size, size * 1.4), path(`M${x} ${y + size * 1.4}h${size}`, { stroke: COLOURS[site], "stroke-width": 3 })]);

// A pile with the number of its cards, and the discard beside it.
const pile = (scene, place, x, y, size, gap) => {
  const cards = scene.view.piles[place], discard = scene.view.discards[place], high = size * 1.4, empty = (left) => rect(left, y, size, high, { rx: 2, class: "gap" });
  const count = (left, number, key) => piece(`${key}:${place}`, "", text(gap ? left + size + 3 : left + size / 2, gap ? y + size * 0.94 : y + high + 12, `×${number}`, { class: gap ? "small" : "middle" }));
  const beside = x + size + (gap || 3);
  return svg("g", {}, cards.length ? card(x, y, place, cards[0], { action: `draw:${place}`, size }) : empty(x), count(x, cards.length, "pile"),
    discard.length ? card(beside, y, place, discard[discard.length - 1], { size }) : empty(beside), count(beside, discard.length, "discard"));
};

const piles = (scene) => at(0, 260,
  text(14, 13, "piles,", { class: "soft" }), text(14, 26, "discards", { class: "soft" }),
  scene.figures.sites.map((_, place) => pile(scene, place, column(place), 0, CARD, 20)));

const where = (view, seat) => (view.leaving.includes(seat) ? "is leaving" : view.left[seat] ? `left, group ${view.left[seat]}` : "in town");
const lookout = (x, y) => at(x, y, piece("lookout", "", path("M-9 3l12 -6l3 6l-12 6ZM6 -6l6 -2l3 6l-6 2Z", { class: "dark edge" })), hint("lookout"));
// What a player's tiles sell for in this town, without those that a leaver has chosen to carry (EP-20).
const sale = ({ view, figures }, seat) => {
  const { rate, sites } = figures.towns[view.town], leaver = view.phase === "carry" && seat === view.turn;
  const sums = [0, 0]; // of sites that are here, and of others
  view.tiles[seat].forEach((values, place) => {
    const carried = leaver ? view.carried[place] : [], add = (sum, value) => sum + value;
    sums[sites.includes(figures.sites[place]) ? 0 : 1] += values.reduce(add, 0) - carried.reduce(add, 0);
  });
  return Math.floor(sums[0] / rate) + sums[1];
};
const money = (scene, seat, x, y) => {
  const { view } = scene, owned = view.money[seat], paid = sale(scene, seat), about = scene.seat === seat ? { "data-about": "sell", "data-note": `+${paid}` } : {};
  return [circle(x, y - 4, 6, { fill: "#d9a520", class: "edge" }), piece(`money:${seat}`, "", text(x + 11, y, owned, { class: "bold" })),
    view.tiles[seat].some((values) => values.length) && svg("g", { "data-piece": `sale:${seat}`, ...about }, text(x + 15 + 7 * `${owned}`.length, y, `(+${paid})`, { class: "soft" }), hint("what these tiles sell for here"))];
};
const MARKED = { stroke: "#e69f00", "stroke-width": 3 };
// What a seat has laid face down in this round, and played in the last one.
const cardsOf = (scene, seat) => {
  const { view } = scene, own = scene.views[seat];
  return { hand: own ? own.hand : view.hands[seat], laid: own ? own.laid : null, played: view.played[seat], mine: scene.seat === seat };
};

const outlaw = (scene, seat, y) => {
  const { view } = scene, { hand, laid, played, mine } = cardsOf(scene, seat);
  return at(0, y, zone(`seat:${seat}`, {},
    rect(6, 0, WIDTH - 12, 70, { rx: 8, class: seat === view.turn ? "turn" : "row" }),
    badge(20, 15, seat), text(33, 19, short(scene.names[seat], 11), { class: "bold" }), hint(scene.names[seat]),
    money(scene, seat, 19, 40), seat === view.lookout && lookout(92, 36), piece(`where:${seat}`, "", text(14, 60, where(view, seat), { class: "soft" })),
    scene.figures.sites.map((_, place) => {
      const x = column(place), values = hand[place], tight = Math.min(22, 74 / Math.max(1, values.length));
      const tiles = view.tiles[seat][place], close = Math.min(19, 58 / Math.max(1, tiles.length));
      const down = laid && laid[0] === place ? values.lastIndexOf(laid[1]) : -1;
      return svg("g", {}, values.map((value, k) => card(x + k * tight, 5 - (k === down ? 4 : 0), place, value, { size: CARD, room: k < values.length - 1 ? tight : CARD, action: mine && `play:${place}:${value}`, ...(k === down ? MARKED : {}) })),
        tiles.map((value, k) => tile(x + k * close, 40, 24, place, value, mine)),
        played && played[0] === place && !laid && at(x + COLUMN - 26, 38, card(0, 0, place, played[1], MARKED), hint("played last")));
    })));
};

const wideTable = (scene) => {
  const top = 294, rows = scene.names.map((_, seat) => outlaw(scene, seat, top + seat * 75));
  return picture(WIDTH, top + rows.length * 75 + 4, scene.label, trail(scene, WIDTH, true), sheriff(scene), town(scene), piles(scene), rows);
};

// The narrow table: one seat large with its cards and tiles in rows, the others a line each.
const bySite = (sites) => sites.flatMap((values, place) => values.map((value) => [place, value]));

const large = (scene, seat, y, wide) => {
  const { view } = scene, { hand, laid, played, mine } = cardsOf(scene, seat), inside = [14, wide - 26];
  let down = laid;
  const cards = flow(bySite(hand), [inside[0], y + 34, inside[1]], [32, 44], ([place, value], x, top) => {
    const raised = down && down[0] === place && down[1] === value;
    if (raised) down = null;
    return card(x, top - (raised ? 4 : 0), place, value, { size: 28, action: mine && `play:${place}:${value}`, ...(raised ? MARKED : {}) });
  });
  const tilesTop = y + 40 + Math.max(44, cards.height);
  const tiles = flow(bySite(view.tiles[seat]), [inside[0], tilesTop, inside[1]], [34, 30], ([place, value], x, top) => tile(x, top, 30, place, value, mine));
  const high = tilesTop - y + Math.max(30, tiles.height) + 6;
  return [zone(`seat:${seat}`, {}, rect(6, y, wide - 12, high, { rx: 8, class: seat === view.turn ? "turn" : "row" }), badge(22, y + 17, seat),
    text(36, y + 21, short(scene.names[seat], 18), { class: "bold", "font-size": 14 }), hint(scene.names[seat]), money(scene, seat, wide - 150, y + 21),
    seat === view.lookout && lookout(wide - 170, y + 17), piece(`where:${seat}`, "", text(wide - 14, y + 21, where(view, seat), { class: "end" })),
    !cards.height && text(14, y + 58, "no cards", { class: "soft" }), cards.nodes, !tiles.height && text(14, tilesTop + 18, "no tiles", { class: "soft" }), tiles.nodes,
    played && !laid && at(wide - 42, tilesTop - 4, card(0, 0, played[0], played[1], { size: 24, ...MARKED }), hint("played last"))), high];
};

const LINE = 46;
const line = (scene, seat, y, wide) => {
  const { view } = scene, { hand, laid, played } = cardsOf(scene, seat), tiles = bySite(view.tiles[seat]), count = hand.flat().length;
  const close = Math.min(24, (wide - 96) / Math.max(1, tiles.length));
  return zone(`seat:${seat}`, { "data-seat": seat }, rect(6, y, wide - 12, LINE - 4, { rx: 8, class: seat === view.turn ? "turn" : "row" }), badge(20, y + 13, seat),
    text(33, y + 16, short(scene.names[seat], 12), { class: "bold" }), hint(scene.names[seat]), money(scene, seat, 146, y + 16),
    seat === view.lookout && lookout(120, y + 13), piece(`where:${seat}`, "", text(wide - 14, y + 16, where(view, seat), { class: "end soft" })),
    piece(`cards:${seat}`, "", text(14, y + 35, `${count} card${count === 1 ? "" : "s"}`, { class: "soft" })),
    tiles.map(([place, value], k) => tile(64 + k * close, y + 21, 22, place, value)),
    played && !laid && at(wide - 30, y + 19, card(0, 0, played[0], played[1], { size: 15, ...MARKED }), hint("played last")));
};

const narrowTable = (scene, wide) => {
  const { view, figures } = scene, columns = (wide - 8) / figures.sites.length, dice = Math.min(32, (wide - 44) / figures.dice.count / 2 - 4);
  const here = figures.towns[view.town], focus = scene.focus ?? scene.seat ?? Math.max(0, view.turn), rest = scene.names.map((_, seat) => seat).filter((seat) => seat !== focus);
  const [own, high] = large(scene, focus, 308, wide), top = 308 + high + 5;
  return picture(wide, top + rest.length * LINE + 2, scene.label, trail(scene, wide, false),
    text(10, 56, short(here.name, 16), { "font-size": 16, class: "bold" }), text(wide / 2, 56, `${here.rate} for 1`, { class: "middle soft" }),
    piece("round", "", text(wide - 10, 50, view.round ? `round ${view.round}` : "", { class: "end bold" })), text(wide - 10, 64, groups(view), { class: "end soft" }),
    at(0, 70, rect(6, 0, wide - 12, dice + 10, { rx: 8, class: "wood" }), star(22, 5 + dice / 2, 12, { fill: "#d9a520", class: "edge" }), hint("sheriff field, and the last roll"), field(scene, 38, 5, dice)),
    view.roll.map((what, place) => face(wide - 10 - (view.roll.length - place) * (dice + 2), 75, dice, what)),
    at(0, 112, rect(6, 0, wide - 12, 134, { rx: 8, class: "row" }), figures.sites.map((_, place) => site(scene, place, 8 + place * columns, columns))),
    figures.sites.map((_, place) => pile(scene, place, 6 + place * columns, 250, Math.min(27, (columns - 5) / 2), 0)), own,
    rest.map((seat, k) => line(scene, seat, top + k * LINE, wide)));
};

const legend = () => [
  [svg("g", {}, circle(0, 0, 12, { class: "turn" }), text(0, 4, 4, { class: "middle bold" })), "a town, with its exchange rate"],
  [tile(-15, -13, 30, 0, 4), "loot, in the colour of its site"],
  [card(-10, -14, 1, 6, { size: 20 }), "a raid card, in the colour of its site"],
  [card(-10, -14, 2, 0, { size: 20 }), "a covered card or pile"],
  [face(-13, -13, 26, "star"), "star: goes to the sheriff field"],
  [face(-13, -13, 26, "six"), "six: the saloon needs one"],
  [face(-13, -13, 26, "brand"), "brand: the cattle need one"],
  [svg("g", {}, circle(-19, 0, 6, { fill: "#d9a520", class: "edge" }), text(-9, 4, "7 (+2)")), "nuggets, and what the tiles sell for here"],
  [lookout(0, 0), "the lookout: asked first, rolls the dice"],
];

arena.board("el-paso", (scene) => (narrow(scene) ? narrowTable(scene, narrow(scene)) : wideTable(scene)), { stepwise: ["sheriffs"], legend });
