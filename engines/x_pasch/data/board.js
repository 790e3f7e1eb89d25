"use strict";
// The table of X-Pasch: the dice, the companies with the members on their boards, and a row for each player.
const { at, back, badge, circle, die, flow, hint, narrow, path, picture, piece, rect, seatColours, short, svg, text, zone } = arena;

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
    const one = (left) => (company.pair === "x" ? svg("g", {}, die(left, y, size, 0), text(left + size / 2, y + size * 0.76, "x", { class: "middle bold on-light", "font-size": Math.max(11, size * 0.75) }))
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

// Members of each seat on a company: pawns, and how many.
const member = (place, x, y, seat, count, pawns, strong) => piece(`member:${place}:${seat}`, "", Array.from({ length: Math.min(count, pawns) }, (_, n) => pawn(x + n * 6, y, seat)),
  text(x + pawns * 6 + 1, y + 5, count, { class: strong ? "bold" : "" }));

// A company that was founded, with what a spectator wants to know about it.
const company = (scene, number, place, x, y, inside, wide, high) => {
  const { view, figures } = scene, it = figures.companies[number], board = view.members[place], collects = leader(board);
  const seats = board.flatMap((count, seat) => (count ? [[seat, count]] : [])), words = seats.map(([seat, count]) => `${scene.names[seat]}: ${count}`).join(", ");
  return piece(`company:${number}`, `place:${number} move:${number}?`, at(x, y,
    rect(0, 0, wide, high, { rx: 6, class: "paper", ...(collects >= 0 ? { style: `stroke:${seatColours[collects]};stroke-width:3` } : {}) }),
    inside(it, seats, collects, place >= view.table.length - view.fresh),
    hint(`company #${number}: income ${it.income}, members ${words || "none"}; ${collects < 0 ? "no one collects" : `${scene.names[collects]} collects`}`)));
};

const wideCompany = (scene, number, place, k) => company(scene, number, place, 8 + (k % ACROSS) * (CARD + 4), 66 + Math.floor(k / ACROSS) * (HIGH + 5), (it, seats, collects, fresh) => [
  text(6, 13, `#${number}`, { class: "small soft" }), fresh && text(CARD - 6, 13, "new", { class: "small bold end" }),
  requirement(CARD / 2 + 8, 6, it, 16), coin(15, 36, it.income), text(CARD - 6, 40, `founds ${it.founding}`, { class: "small soft end" }),
  rect(4, 48, CARD - 8, HIGH - 52, { rx: 4, class: "wood" }),
  seats.map(([seat, count], row) => member(number, 12 + (row % 2) * 54, 55 + Math.floor(row / 2) * 13, seat, count, 5, seat === collects))], CARD, HIGH);

const NARROW_HIGH = 72;
const narrowCompany = (scene, number, place, x, y, wide) => company(scene, number, place, x, y, (it, seats, collects) => [
  requirement(wide / 2, 5, it, 15), text(5, 35, `#${number}`, { class: "soft" }), coin(wide - 14, 31, it.income, 9.5),
  rect(4, 42, wide - 8, NARROW_HIGH - 46, { rx: 4, class: "wood" }),
  seats.map(([seat, count], row) => {
    const across = seats.length < 5 && seats.some((own) => own[1] > 9) ? 2 : 3; // two digits need room
    return member(number, 11 + (row % across) * (wide - 8) / across, 48 + Math.floor(row / across) * 12, seat, count, 1, seat === collects);
  })], wide, NARROW_HIGH);

const diceOf = (view, x, y, size) => view.dice.map((face, k) => piece(`die:${face}`, `reroll:${face}`, die(x + k * (size + 6), y, size, face)));
const pileOf = (view, x, y, wide, high) => [view.pile > 0 ? piece("pile-top", "draw", back(x, y, wide, high)) : rect(x, y, wide, high, { rx: 2, class: "gap" }),
  piece("pile", "", text(x + wide + 5, y + high / 2 + 5, `×${view.pile}`, { class: "bold" }))];

const heading = (scene) => {
  const { view, figures } = scene;
  return svg("g", {}, rect(6, 6, WIDTH - 12, 52, { rx: 8, class: "row" }),
    piece("round", "", text(16, 26, `round ${view.round}`, { class: "big" })), text(16, 46, `to ${figures.target} euro`, { class: "soft" }),
    view.turn >= 0 && [badge(150, 32, view.turn), text(166, 29, "dice", { class: "bold" }), text(166, 43, view.phase === "dice" ? `from: ${view.stage}` : view.phase, { class: "soft" })],
    diceOf(view, 240, 13, 38), view.second_chance >= 0 && text(390, 29, `second chance: ${short(scene.names[view.second_chance], 12)}`, { class: "soft" }), pileOf(view, 556, 12, 26, 38));
};

const handCard = (scene, card, x, y, wide, mine) => {
  const it = scene.figures.companies[card];
  return piece(`hand:${card}`, mine && `found:${card} swap:${card}`, at(x, y, rect(0, 0, wide, 42, { rx: 4, class: "paper" }), requirement(wide / 2, 4, it, wide > 70 ? 16 : 14),
    coin(wide > 70 ? 13 : 9, 32, it.income, wide > 70 ? 9.5 : 7), text(wide - (wide > 70 ? 5 : 2), 36, `founds ${it.founding}`, { class: "small soft end" })));
};

const hand = (scene, seat) => {
  const own = scene.views[seat];
  if (!own) return Array.from({ length: scene.view.hand_sizes[seat] }, (_, k) => piece("hand:", "", back(262 + k * 32, 7, 26, 38)));
  const tight = Math.min(70, 346 / Math.max(1, own.hand.length));
  return own.hand.map((card, k) => handCard(scene, card, 262 + k * tight, 5, 66, scene.seat === seat));
};

const euros = (scene, seat, x, y, wide) => {
  const share = Math.min(1, scene.view.euros[seat] / scene.figures.target);
  return [rect(x, y, wide, 12, { rx: 6, class: "plain" }), rect(x, y, wide * share, 12, { rx: 6, fill: seatColours[seat] }),
    piece(`euros:${seat}`, "", text(x + wide + 8, y + 10, `${scene.view.euros[seat]} euro`, { class: "bold" }))];
};
const income = (view, seat, x, y) => piece(`income:${seat}`, "", text(x, y, `+${view.income[seat]} a turn`, { class: "soft end" }));
const supply = (view, seat, x, y) => [pawn(x, y - 7, seat), piece(`supply:${seat}`, "", text(x + 8, y, `×${view.supply[seat]}`, { class: "soft" }))];

const owner = (scene, seat, y) => at(0, y, zone(`seat:${seat}`, {}, rect(6, 0, WIDTH - 12, 52, { rx: 8, class: seat === scene.view.turn ? "turn" : "row" }), hint(scene.names[seat]),
  badge(20, 15, seat), text(34, 19, short(scene.names[seat], 16), { class: "bold" }), euros(scene, seat, 14, 32, 120), income(scene.view, seat, 196, 18), supply(scene.view, seat, 210, 19), hand(scene, seat)));

const founded = (scene) => scene.view.table.map((number, place) => [number, place]).sort((a, b) => a[0] - b[0]);

const wideTable = (scene) => {
  const order = founded(scene), rows = Math.max(1, Math.ceil(order.length / ACROSS)), top = 66 + rows * (HIGH + 5) + 4;
  return picture(WIDTH, top + scene.names.length * 57 + 4, scene.label, heading(scene),
    order.length ? order.map(([number, place], k) => wideCompany(scene, number, place, k)) : text(WIDTH / 2, 116, "no company founded yet", { class: "middle soft" }),
    scene.names.map((_, seat) => owner(scene, seat, top + seat * 57)));
};

// The narrow table: one seat large with its hand, the others a line each.
const large = (scene, seat, y, wide) => {
  const { view } = scene, own = scene.views[seat], across = (wide - 20) / 4, turn = seat === view.turn ? "turn" : "row";
  const cards = own ? flow(own.hand, [12, y + 50, wide - 20], [across, 47], (card, x, top) => handCard(scene, card, x, top, across - 4, scene.seat === seat))
    : flow(Array.from({ length: view.hand_sizes[seat] }), [12, y + 50, wide - 20], [32, 47], (_, x, top) => piece("hand:", "", back(x, top, 28, 40)));
  const high = 54 + Math.max(47, cards.height);
  return [zone(`seat:${seat}`, {}, rect(6, y, wide - 12, high, { rx: 8, class: turn }), badge(22, y + 17, seat), text(36, y + 21, short(scene.names[seat], 20), { class: "bold", "font-size": 14 }), hint(scene.names[seat]),
    supply(view, seat, wide - 46, y + 21), euros(scene, seat, 14, y + 32, 150), income(view, seat, wide - 14, y + 42), !cards.height && text(14, y + 74, "no cards", { class: "soft" }), cards.nodes), high];
};

const LINE = 44;
const line = (scene, seat, y, wide) => zone(`seat:${seat}`, { "data-seat": seat }, rect(6, y, wide - 12, LINE - 4, { rx: 8, class: seat === scene.view.turn ? "turn" : "row" }), badge(20, y + 13, seat),
  text(33, y + 17, short(scene.names[seat], 18), { class: "bold" }), hint(scene.names[seat]), supply(scene.view, seat, wide - 46, y + 17), euros(scene, seat, 14, y + 24, 110), income(scene.view, seat, wide - 70, y + 34),
  back(wide - 49, y + 22, 11, 15), piece(`cards:${seat}`, "", text(wide - 34, y + 34, `×${scene.view.hand_sizes[seat]}`, { class: "soft" })));

const narrowTable = (scene, wide) => {
  const { view, figures } = scene, order = founded(scene), most = wide < 350 ? 4 : 5, across = (wide - 12) / most, rows = Math.max(1, Math.ceil(order.length / most)), top = 100 + rows * (NARROW_HIGH + 4) + 2;
  const focus = scene.focus ?? scene.seat ?? Math.max(0, view.turn), rest = scene.names.map((_, seat) => seat).filter((seat) => seat !== focus), [own, high] = large(scene, focus, top, wide);
  return picture(wide, top + high + 5 + rest.length * LINE + 2, scene.label, rect(6, 6, wide - 12, 88, { rx: 8, class: "row" }),
    piece("round", "", text(14, 26, `round ${view.round}`, { class: "big" })), text(wide - 14, 26, `to ${figures.target} euro`, { class: "soft end" }),
    view.turn >= 0 && [badge(110, 21, view.turn), text(125, 25, view.phase === "dice" ? `dice, from: ${view.stage}` : view.phase)],
    diceOf(view, 14, 42, 44), view.second_chance >= 0 && text(Math.min(176, wide - 158), 54, "second chance:", { class: "soft" }), view.second_chance >= 0 && text(Math.min(176, wide - 158), 70, short(scene.names[view.second_chance], 12)), pileOf(view, wide - 70, 42, 32, 44),
    order.length ? order.map(([number, place], k) => narrowCompany(scene, number, place, 6 + (k % most) * across, 100 + Math.floor(k / most) * (NARROW_HIGH + 4), across - 4)) : text(wide / 2, 140, "no company founded yet", { class: "middle soft" }),
    own, rest.map((seat, k) => line(scene, seat, top + high + 5 + k * LINE, wide)));
};

const legend = () => [
  [svg("g", {}, requirement(0, -9, { number: 8, pair: null })), "dice that add up to this number"],
  [svg("g", {}, requirement(0, -9, { number: null, pair: "6" })), "two dice that both show this face"],
  [svg("g", {}, requirement(0, -9, { number: null, pair: "x" })), "two or three equal dice of any face"],
  [coin(0, 0, 5), "income of the company in euro"],
  [svg("g", {}, pawn(-8, 0, 0), text(0, 5, 3, { class: "bold" })), "members of a player on the board"],
  [rect(-18, -12, 36, 24, { rx: 6, class: "paper", style: `stroke:${seatColours[1]};stroke-width:3` }), "a company, in the colour of the player who collects"],
  [text(0, 4, "founds 2", { class: "middle" }), "members that its founder puts on it"],
  [svg("g", {}, pawn(-14, 0, 0), text(-5, 5, "×20", { class: "soft" })), "members left in a player's supply"],
];

arena.board("x-pasch", (scene) => (narrow(scene) ? narrowTable(scene, narrow(scene)) : wideTable(scene)), { legend });
