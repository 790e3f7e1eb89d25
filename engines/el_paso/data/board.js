"use strict";
// El Paso's table: the trail of towns, the sheriff field, the town's sites with their stacks, and a row for each outlaw.
const { at, badge, back, circle, die, hint, path, picture, rect, short, svg, text } = arena;

const WIDTH = 620, LEFT = 122, COLUMN = 82;
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

const face = (x, y, size, what) => svg("g", {}, die(x, y, size, what === "six" ? 6 : 0),
  what === "star" && star(x + size / 2, y + size / 2, size * 0.38, { fill: "#b8860b" }),
  what === "brand" && path(`M${x + size * 0.25} ${y + size * 0.8}v-${size * 0.55}h${size * 0.3}q${size * 0.3} ${size * 0.28} 0 ${size * 0.5}Z`,
    { fill: "none", stroke: "#a83f39", "stroke-width": 2.5 }),
  hint(what));

const trail = (scene) => {
  const towns = scene.figures.towns, step = (WIDTH - 76) / Math.max(1, towns.length - 1);
  return svg("g", {},
    path(`M38 24H${WIDTH - 38}`, { class: "ink-line", "stroke-dasharray": "2 6", "stroke-width": 2 }),
    towns.map((town, place) => {
      const x = 38 + place * step, here = place === scene.view.town && scene.view.phase !== "over";
      return svg("g", {}, circle(x, 24, here ? 12 : 9, { class: here ? "turn" : "paper" }),
        text(x, 28, `${town.rate}`, { class: place < scene.view.town ? "middle soft" : "middle bold" }), text(x, 50, short(town.name, 11), { class: here ? "middle bold" : "middle soft" }),
        hint(`${town.name}: ${town.rate} nuggets of tiles for one of money`));
    }));
};

const sheriff = (scene) => {
  const { view, figures } = scene, dice = figures.dice.count;
  return at(0, 62,
    rect(10, 0, 58 + dice * 38, 46, { rx: 8, class: "wood" }),
    star(36, 23, 19, { fill: "#d9a520", class: "edge" }), text(36, 27, "sheriff", { class: "middle small on-light bold" }),
    Array.from({ length: dice }, (_, place) => (place < view.stars ? face(62 + place * 38, 7, 32, "star")
      : rect(62 + place * 38, 7, 32, 32, { rx: 6, class: "gap" }))),
    text(86 + dice * 38, 14, "last roll", { class: "soft" }),
    view.roll.length ? view.roll.map((what, place) => face(86 + dice * 38 + place * 29, 20, 25, what))
      : text(86 + dice * 38, 34, "none yet", { class: "soft" }),
    text(WIDTH - 10, 14, view.round ? `round ${view.round}` : "", { class: "end bold" }),
    text(WIDTH - 10, 30, view.limit ? `leavers carry ${view.limit}` : `next leavers carry ${view.groups + 1}`, { class: "end soft" }));
};

// The town: its name on a sign, and each site as a false front with its stack of tiles in the street.
const town = (scene) => {
  const { view, figures } = scene, here = figures.towns[view.town];
  return at(0, 118,
    rect(6, 0, WIDTH - 12, 136, { rx: 8, class: "row" }),
    at(10, 22, path("M0 0h80l10 13l-10 13h-80Z", { class: "wood" }), text(42, 18, short(here.name, 12), { class: "middle bold" })),
    text(14, 66, "top tile of", { class: "soft" }), text(14, 79, "each stack", { class: "soft" }), text(14, 92, "is taken first", { class: "soft" }),
    figures.sites.map((site, place) => {
      const x = column(place), open = here.sites.includes(site), stack = view.stacks[place];
      if (!open) return svg("g", { opacity: 0.6 }, rect(x, 12, COLUMN - 8, 44, { class: "gap" }),
        path(`M${x} 12l${COLUMN - 8} 44M${x} 56l${COLUMN - 8} -44`, { class: "gap" }), text(x + 38, 76, `no ${label(site)}`, { class: "middle soft" }));
      return svg("g", {}, path(`M${x} 56v-38h8v-8h${COLUMN - 24}v8h8v38Z`, { fill: COLOURS[place], class: "edge" }),
        at(x + 38, 30, SIGNS[site]()), text(x + 38, 53, label(site), { class: "middle small on-colour bold" }),
        stack.length ? stack.slice().reverse().map((value, depth) => tile(x + 4 + (stack.length - 1 - depth) * Math.min(9, 42 / stack.length), 64 + depth * 5, 32, place, value))
          : text(x + 38, 92, "empty", { class: "middle soft" }),
        stack.length > 0 && text(x + 38, 132, `${stack.length} left`, { class: "middle small soft" }));
    }));
};

const tile = (x, y, size, site, value) => svg("g", {},
  rect(x, y, size, size * 0.86, { rx: 4, fill: "#f7e7b6", stroke: COLOURS[site], "stroke-width": 2 }),
  text(x + size / 2, y + size * 0.62, value, { class: "middle bold on-light", "font-size": size * 0.5 }));

const card = (x, y, site, value, attributes = {}) => (value ? svg("g", {},
  rect(x, y, 17, 24, { rx: 2, fill: COLOURS[site], class: "edge", ...attributes }), text(x + 8.5, y + 16, value, { class: "middle bold on-colour" }))
  : back(x, y, 17, 24));

const piles = (scene) => at(0, 262,
  text(14, 13, "piles,", { class: "soft" }), text(14, 26, "discards", { class: "soft" }),
  scene.figures.sites.map((_, place) => {
    const pile = scene.view.piles[place], discard = scene.view.discards[place], x = column(place);
    return svg("g", {}, pile.length ? card(x, 0, place, pile[0]) : rect(x, 0, 17, 24, { rx: 2, class: "gap" }), text(x + 20, 16, `×${pile.length}`, { class: "small" }),
      discard.length ? card(x + 40, 0, place, discard[discard.length - 1]) : rect(x + 40, 0, 17, 24, { rx: 2, class: "gap" }), text(x + 60, 16, `×${discard.length}`, { class: "small" }));
  }));

const where = (view, seat) => (view.leaving.includes(seat) ? "is leaving" : view.left[seat] ? `left, group ${view.left[seat]}` : "in town");

const outlaw = (scene, seat, y) => {
  const { view } = scene, own = scene.views[seat];
  const hand = own ? own.hand : view.hands[seat], laid = own ? own.laid : null, played = view.played[seat];
  return at(0, y,
    rect(6, 0, WIDTH - 12, 70, { rx: 8, class: seat === view.turn ? "turn" : "row" }),
    badge(20, 15, seat), text(33, 19, short(scene.names[seat], 11), { class: "bold" }), hint(scene.names[seat]),
    circle(19, 36, 6, { fill: "#d9a520", class: "edge" }), text(30, 40, view.money[seat], { class: "bold" }),
    seat === view.lookout && at(80, 36, path("M-9 3l12 -6l3 6l-12 6ZM6 -6l6 -2l3 6l-6 2Z", { class: "dark edge" }), hint("lookout")),
    text(14, 60, where(view, seat), { class: "soft" }),
    scene.figures.sites.map((_, place) => {
      const x = column(place), values = hand[place], tight = Math.min(19, 74 / Math.max(1, values.length));
      const tiles = view.tiles[seat][place], close = Math.min(19, 58 / Math.max(1, tiles.length));
      const down = laid && laid[0] === place ? values.lastIndexOf(laid[1]) : -1;
      return svg("g", {}, values.map((value, k) => card(x + k * tight, 5 - (k === down ? 4 : 0), place, value, k === down ? { stroke: "#e69f00", "stroke-width": 3 } : {})),
        tiles.map((value, k) => tile(x + k * close, 40, 24, place, value)),
        played && played[0] === place && !laid && at(x + COLUMN - 26, 38, card(0, 0, place, played[1], { stroke: "#e69f00", "stroke-width": 2 }), hint("played last")));
    }));
};

arena.board("el-paso", (scene) => {
  const top = 296, rows = scene.names.map((_, seat) => outlaw(scene, seat, top + seat * 75));
  return picture(WIDTH, top + rows.length * 75 + 4, scene.label, trail(scene), sheriff(scene), town(scene), piles(scene), rows);
});
