"use strict";
// The table of X-Pasch: the dice, the companies with the members on their boards, and a row for each player.
const { at, back, badge, circle, die, hint, path, picture, rect, seatColours, short, svg, text } = arena;

const WIDTH = 620, ACROSS = 5, CARD = 118, HIGH = 92;

const leader = (board) => {
  const most = Math.max(...board);
  return board.filter((count) => count === most).length === 1 ? board.indexOf(most) : -1;
};

const coin = (x, y, value, r = 9) => svg("g", {}, circle(x, y, r, { fill: "#d9a520", class: "edge" }), text(x, y + r * 0.42, value, { class: "middle bold on-light", "font-size": r * 1.2 }));

const pawn = (x, y, seat) => path(`M${x - 3} ${y + 6}q1 -5 1 -6a3 3 0 1 1 4 0q0 1 1 6Z`, { fill: seatColours[seat], stroke: "#0006" });

// What the dice have to show: a sum, a pair of one face, or any pair.
const requirement = (x, y, company, size = 18) => {
  const parts = [];
  if (company.number !== null) parts.push([size * 1.3, (left) => text(left + size * 0.65, y + size * 0.85, company.number, { class: "middle bold", "font-size": size })]);
  if (company.number !== null && company.pair !== null) parts.push([8, (left) => text(left + 4, y + size * 0.8, "/", { class: "middle soft" })]);
  if (company.pair !== null) {
    const one = (left) => (company.pair === "x" ? svg("g", {}, die(left, y, size, 0), text(left + size / 2, y + size * 0.76, "x", { class: "middle bold on-light", "font-size": size * 0.75 }))
      : die(left, y, size, Number(company.pair)));
    parts.push([size * 2 + 2, (left) => svg("g", {}, one(left), one(left + size + 2))]);
  }
  const wide = parts.reduce((sum, [width]) => sum + width, 0);
  let left = x - wide / 2;
  return parts.map(([width, draw]) => {
    left += width;
    return draw(left - width);
  });
};

const company = (scene, number, place, k) => {
  const { view, figures } = scene, it = figures.companies[number], board = view.members[place], collects = leader(board);
  const x = 8 + (k % ACROSS) * (CARD + 4), y = 66 + Math.floor(k / ACROSS) * (HIGH + 5), fresh = place >= view.table.length - view.fresh;
  const seats = board.flatMap((count, seat) => (count ? [[seat, count]] : []));
  return at(x, y, rect(0, 0, CARD, HIGH, { rx: 6, class: "paper", ...(collects >= 0 ? { style: `stroke:${seatColours[collects]};stroke-width:3` } : {}) }),
    text(6, 13, `#${number}`, { class: "small soft" }), fresh && text(CARD - 6, 13, "new", { class: "small bold end" }),
    requirement(CARD / 2 + 8, 6, it, 16), coin(15, 36, it.income), text(CARD - 6, 40, `founds ${it.founding}`, { class: "small soft end" }),
    rect(4, 48, CARD - 8, HIGH - 52, { rx: 4, class: "wood" }),
    seats.map(([seat, count], row) => at(8 + (row % 2) * 54, 51 + Math.floor(row / 2) * 13,
      Array.from({ length: Math.min(count, 5) }, (_, n) => pawn(4 + n * 6, 4, seat)), text(35, 10, count, { class: seat === collects ? "bold" : "" }))),
    hint(`company #${number}: income ${it.income}, members ${seats.map(([seat, count]) => `seat ${seat}: ${count}`).join(", ") || "none"}; ${collects < 0 ? "nobody collects" : `seat ${collects} collects`}`));
};

const heading = (scene) => {
  const { view, figures } = scene;
  return svg("g", {}, rect(6, 6, WIDTH - 12, 52, { rx: 8, class: "row" }),
    text(16, 26, `round ${view.round}`, { class: "big" }), text(16, 46, `to ${figures.target} euro`, { class: "soft" }),
    view.turn >= 0 && [badge(150, 32, view.turn), text(166, 29, "dice", { class: "bold" }), text(166, 43, view.phase === "dice" ? `from: ${view.stage}` : view.phase, { class: "soft" })],
    view.dice.map((face, k) => die(240 + k * 44, 13, 38, face)),
    view.second_chance >= 0 && text(390, 29, `second chance: seat ${view.second_chance}`, { class: "soft" }),
    view.pile > 0 ? [back(556, 12, 26, 38), text(590, 36, `×${view.pile}`, { class: "bold" })] : rect(556, 12, 26, 38, { rx: 2, class: "gap" }));
};

const hand = (scene, seat) => {
  const own = scene.views[seat];
  if (!own) return Array.from({ length: scene.view.hand_sizes[seat] }, (_, k) => back(262 + k * 32, 7, 26, 38));
  const tight = Math.min(70, 346 / Math.max(1, own.hand.length));
  return own.hand.map((card, k) => {
    const it = scene.figures.companies[card];
    return at(262 + k * tight, 5, rect(0, 0, 66, 42, { rx: 4, class: "paper" }), requirement(33, 4, it, 14), coin(12, 32, it.income, 7), text(61, 36, `founds ${it.founding}`, { class: "small soft end" }));
  });
};

const owner = (scene, seat, y) => {
  const { view, figures } = scene, share = Math.min(1, view.euros[seat] / figures.target);
  return at(0, y, rect(6, 0, WIDTH - 12, 52, { rx: 8, class: seat === view.turn ? "turn" : "row" }), hint(scene.names[seat]),
    badge(20, 15, seat), text(34, 19, short(scene.names[seat], 16), { class: "bold" }),
    rect(14, 32, 120, 12, { rx: 6, class: "plain" }), rect(14, 32, 120 * share, 12, { rx: 6, fill: seatColours[seat] }),
    text(142, 42, `${view.euros[seat]} euro`, { class: "bold" }), text(196, 18, `+${view.income[seat]} a turn`, { class: "soft end" }),
    pawn(210, 12, seat), text(218, 19, `×${view.supply[seat]}`, { class: "soft" }), hand(scene, seat));
};

arena.board("x-pasch", (scene) => {
  const { view } = scene, order = view.table.map((number, place) => [number, place]).sort((a, b) => a[0] - b[0]);
  const rows = Math.max(1, Math.ceil(order.length / ACROSS)), top = 66 + rows * (HIGH + 5) + 4;
  return picture(WIDTH, top + scene.names.length * 57 + 4, scene.label, heading(scene),
    order.length ? order.map(([number, place], k) => company(scene, number, place, k)) : text(WIDTH / 2, 116, "no company founded yet", { class: "middle soft" }),
    scene.names.map((_, seat) => owner(scene, seat, top + seat * 57)));
});
