// An El Paso bot for arena: weighs what it may win in the next round against what the sheriffs may take.
//   arena tournament --game el-paso --bot "cmd:node docs/examples/bots/elpaso.js" --bot diehard --bot skittish
"use strict";
const lines = require("node:readline").createInterface({ input: process.stdin });
const say = (message) => process.stdout.write(JSON.stringify(message) + "\n");
const NEEDS = { saloon: "six", cattle: "brand" }; // loot there needs this face in the roll
let figures, seat, players;

const handlers = {
  hello: () => say({ type: "hello", protocol: 1, name: "elpaso-js", version: "1", games: ["el-paso"], wants: ["actions", "components"] }),
  "new-game": (m) => {
    ({ components: figures, seat, players } = m);
    say({ type: "ready", id: m.id });
  },
  choose: (m) => {
    const scored = m.actions.map((action) => [worth(action, m.view, m.actions), action.code]);
    say({ type: "choice", id: m.id, code: scored.reduce((a, b) => (b[0] > a[0] ? b : a))[1] });
  },
  "game-over": (m) => say({ type: "ready", id: m.id }),
  bye: () => process.exit(0),
};
lines.on("line", (line) => {
  const message = JSON.parse(line);
  handlers[message.type](message);
});

// An action has the fields of docs/games/el-paso.md: { code: 57, kind: "play", site: 2, value: 5 }
function worth(action, view, actions) {
  switch (action.kind) {
    case "stay": return staying(view);
    case "leave": return 0;
    case "play": return loot(view, action.site, action.value);
    case "draw": return soon(view.town, action.site) / (1 + view.hand[action.site].length);
    case "carry": return resale(view, action) === bestResale(view, actions) ? resale(view, action) : -1;
    default: return 0.01; // sell the rest, unless carrying brings more
  }
}

const chance = (face) => figures.dice.faces.filter((f) => f === face).length / figures.dice.faces.length;
const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
const has = (town, site) => figures.towns[town] !== undefined && figures.towns[town].sites.includes(figures.sites[site]);
// What a value of one brings when it is sold in a town; after the last one everything sells at its value.
const price = (town, site) => (has(town, site) ? 1 / figures.towns[town].rate : 1);

// Staying against leaving: another tile, and perhaps another tile to carry, against all that I hold.
function staying(view) {
  const held = sum(view.tiles[seat].flatMap((values, site) => values.map((v) => v * price(view.town, site))));
  const sheriffs = chance("star") ** (figures.dice.count - view.stars);
  const cards = view.hand.flatMap((values, site) => values.map((value) => loot(view, site, value)));
  return (1 - sheriffs) * Math.max(0, ...cards) - 1.3 * sheriffs * held;
}

// What a card brings on average: the tiles it may win, by how many rivals may lay a higher card there.
function loot(view, site, value) {
  const stack = view.stacks[site];
  if (!stack.length) return 0;
  const rivals = view.left.filter((group, other) => !group && other !== seat && view.hands[other][site].length).length;
  const here = 1 / Math.max(2, view.stacks.filter((s) => s.length).length); // how likely a rival picks this site
  const higher = ((8 - value) / 8) * here * rivals;
  const face = NEEDS[figures.sites[site]];
  const open = face ? 1 - (1 - chance(face)) ** (figures.dice.count - view.stars) : 1;
  const tile = stack[Math.min(stack.length - 1, Math.round(higher))];
  return open * tile * Math.max(price(view.town, site), 0.7 * price(view.town + 1, site)) * (stack.length > higher ? 1 : 0.3);
}

// What carrying a tile to the next town adds to selling it now.
const resale = (view, o) => o.value * (0.8 * price(view.town + 1, o.site) - price(view.town, o.site));
const bestResale = (view, actions) => Math.max(...actions.filter((o) => o.kind === "carry").map((o) => resale(view, o)));
// How much a card of this site is worth having: the site's tiles here and in the next town.
const soon = (town, site) => (has(town, site) ? 2 : 0.5) + (has(town + 1, site) ? 1 : 0);
