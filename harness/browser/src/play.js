// The page on which a person plays against bots.
import { asksFirst, meant } from "./choices.js";
import { Python, PythonError, obstacle, siteFiles } from "./python.js";
import { aroundSite, download, element, loadScript, part, showProgress, showTrouble, zipped } from "./page.js";

/**
 * @typedef {import("./choices.js").Action} Action
 * @typedef {{ name: string, typed: string, about: string, for_any_game: boolean, quick: boolean }} BotInfo
 * @typedef {{ name: string, title: string, about: string, introduction: string, choices: string[], players: [number, number], bots: BotInfo[], house: string[], adviser: string }} GameInfo
 * @typedef {{ game: string, bots: string[], seat: number, seed: number }} Setting
 * @typedef {{ setting: Setting, choices: number[], when: string }} Saved
 */

const python = new Python(showProgress);
/** @type {GameInfo[]} */
let games = [];
/** @type {any} */
let table = null;
/** @type {Saved | null} */
let match = null;
let busy = false;
/** What the site's newest table of each game says of a bot. @type {Record<string, Record<string, string>>} */
let strengths = {};

// Local storage may be switched off: then nothing is kept.

/** @param {string} name @param {string | null} text */
const remember = (name, text) => {
  try {
    if (text === null) localStorage.removeItem(`arena-${name}`);
    else localStorage.setItem(`arena-${name}`, text);
  } catch { /* not kept */ }
};

/** @param {string} name */
const remembered = (name) => {
  try {
    return localStorage.getItem(`arena-${name}`);
  } catch {
    return null;
  }
};

/** One match of each game is kept. @param {string} game @param {Saved | null} what */
const save = (game, what) => remember(`match-${game}`, what && JSON.stringify(what));

/** @param {string} game @returns {Saved | null} */
const saved = (game) => {
  try {
    const found = JSON.parse(remembered(`match-${game}`) || "null");
    return found?.setting?.game === game && Array.isArray(found.choices) ? found : null;
  } catch {
    return null;
  }
};

// Setting up.

const chosenGame = () => {
  const name = /** @type {HTMLSelectElement} */ (part("game")).value;
  return games.find((game) => game.name === name) || games[0];
};

/** @param {GameInfo} game @param {BotInfo} bot */
const strengthOf = (game, bot) => {
  if (bot.name === "random") return "plays at random";
  const place = strengths[game.name]?.[bot.name];
  if (place) return place;
  if (!bot.quick) return "searches, takes its time";
  return bot.name === game.adviser ? "expert, gives the hints" : "";
};

/**
 * Places and skills in the newest run of each game.
 * @param {{ boards: Record<string, { bot: string, place: number, skill: number | null }[]> }[]} runs
 */
const strengthsIn = (runs) => {
  /** @type {Record<string, Record<string, string>>} */
  const found = {};
  for (const run of runs) {
    for (const [game, rows] of Object.entries(run.boards)) {
      found[game] ||= Object.fromEntries(rows.map((row) => [row.bot, `place ${row.place} of ${rows.length}${row.skill === null ? "" : `, skill ${row.skill.toFixed(1)}`}`]));
    }
  }
  return found;
};

const showOpponents = () => {
  const game = chosenGame(), [least, most] = game.players;
  const order = [...game.bots].sort((a, b) => Number(a.for_any_game) - Number(b.for_any_game));
  const usual = game.house.filter((name) => name !== "random");
  part("opponents").replaceChildren(...Array.from({ length: most - 1 }, (_, at) => {
    const list = element("select", { id: `opponent-${at}`, "aria-label": `Opponent ${at + 1}` });
    if (at >= least - 1) list.append(new Option("no one", ""));
    for (const bot of order) {
      const strength = strengthOf(game, bot);
      const option = new Option(strength ? `${bot.name} (${strength})` : bot.name, bot.typed);
      option.title = bot.about;
      list.append(option);
    }
    /** @type {HTMLSelectElement} */ (list).value = at < Math.max(least - 1, 1) ? order.find((bot) => bot.name === usual[at])?.typed ?? order[0].typed : "";
    return list;
  }));
  explain(part("about-game"));
  part("seat").replaceChildren(...Array.from({ length: most }, (_, seat) => new Option(`seat ${seat}`, String(seat))));
  aboutBot();
};

const aboutBot = () => {
  const game = chosenGame();
  part("about-game").textContent = game.about;
  const named = chosenBots().map((typed) => game.bots.find((bot) => bot.typed === typed)).filter((bot) => bot !== undefined);
  part("about-bots").replaceChildren(...[...new Set(named)].map((bot) => element("li", {}, element("b", { textContent: bot.name }), `: ${bot.about}`)));
};

const chosenBots = () =>
  /** @type {HTMLSelectElement[]} */ ([...part("opponents").querySelectorAll("select")]).map((list) => list.value).filter(Boolean);

/** Two seats of one bot have different names. @param {string[]} typed */
const entered = (typed) => typed.map((bot, at) => {
  const before = typed.slice(0, at).filter((other) => other === bot).length;
  const [name, what] = bot.includes("=") ? bot.split(/=(.*)/s) : [bot, bot];
  return before ? `${name}-${before + 1}=${what}` : bot;
});

/** The game that is chosen or played. */
const gameShown = () => (part("match").hidden ? chosenGame() : games.find((game) => game.name === table.game) || chosenGame());

/** What the game is about, what a player chooses, and what is drawn. */
const showIntroduction = async () => {
  const { name, introduction, choices } = gameShown();
  part("introduced").textContent = introduction;
  part("kinds-of-choices").replaceChildren(...choices.map((textContent) => element("li", { textContent })));
  part("legend").replaceChildren();
  await drawing(name);
  if (gameShown().name !== name) return;
  part("legend").replaceChildren(...(arena.boards[name]?.legend() ?? []).map(([thing, words]) => element("div", {},
    arena.svg("svg", { viewBox: "-28 -16 56 32", class: "board", "aria-hidden": "true" }, thing), element("span", { textContent: words }))));
};

/** Put what explains the game below something: open before the first match of a game. @param {HTMLElement} above */
const explain = (above) => {
  above.after(part("explained"));
  const first = part("match").hidden && remembered(`played-${chosenGame().name}`) === null;
  /** @type {HTMLDetailsElement} */ (part("introduction")).open = first;
  /** @type {HTMLDetailsElement} */ (part("all-rules")).open = false;
  if (first) showIntroduction();
};

/** The numbered rules, read only when they are wanted. */
const showAllRules = async () => {
  const box = /** @type {HTMLDetailsElement} */ (part("all-rules")), game = gameShown().name;
  if (!box.open || busy || box.dataset.game === game) return;
  await working(async () => {
    listRules("all-rule-list", await python.call("all_rules", [game]), "This game has no numbered rules.");
    box.dataset.game = game;
  });
};

/** @param {string} list @param {[string, string][]} rules @param {string} none */
const listRules = (list, rules, none) => part(list).replaceChildren(
  ...(rules.length ? rules : [["", none]]).map(([number, text]) => element("li", {}, element("b", { textContent: number }), ` ${text}`)));

const begin = async () => {
  const bots = chosenBots(), seat = Number(/** @type {HTMLSelectElement} */ (part("seat")).value);
  const typed = /** @type {HTMLInputElement} */ (part("seed")).value;
  const seed = typed ? Number(typed) : crypto.getRandomValues(new Uint32Array(1))[0];
  await open({ setting: { game: chosenGame().name, bots: entered(bots), seat: Math.min(seat, bots.length), seed }, choices: [], when: "" });
};

/** @param {Saved} wanted */
const open = async (wanted) => {
  showTrouble("");
  await working(async () => {
    table = await python.call("start", [wanted.setting, wanted.choices]);
    match = wanted;
    part("setup").hidden = true;
    part("match").hidden = false;
    remember(`played-${table.game}`, "true");
    explain(part("rules"));
    timesShown.clear();
    document.body.classList.add("playing");
    part("news").replaceChildren();
    if (table.drawn) await drawing(table.game);
    await show();
  });
};

/** @type {Map<string, Promise<void>>} */
const drawings = new Map();

/** @param {string} game */
const drawing = async (game) => {
  const { boards } = await siteFiles();
  if (boards.includes(game) && !drawings.has(game)) drawings.set(game, loadScript(`boards/${encodeURIComponent(game)}.js`));
  await drawings.get(game);
};

// One thing at a time: while Python thinks, nothing reacts.

/** @param {() => Promise<void>} work */
const working = async (work) => {
  if (busy) return;
  busy = true;
  document.body.classList.add("busy");
  part("thinking").hidden = false;
  try {
    await work();
  } catch (error) {
    showTrouble(error);
    if (!(error instanceof PythonError)) console.warn(error);
  } finally {
    busy = false;
    document.body.classList.remove("busy");
    part("thinking").hidden = true;
    document.body.dataset.ready = String(Number(document.body.dataset.ready || 0) + 1);
  }
};

/** @param {Action} action @param {string[]} then keys of an action that was chosen with it, if it is legal next */
const choose = (action, then = []) => working(async () => {
  if (!match) return;
  const before = table;
  /** @type {[string, string][]} */
  let news = [];
  for (let next = /** @type {Action | undefined} */ (action); next;) {
    table = { ...table, ...await python.call("choose", [next.code]) };
    news = [...news, ...table.news];
    match.choices.push(next.code);
    next = next === action ? table.legal.find((/** @type {Action} */ each) => then.includes(arena.actionKey(each))) : undefined;
  }
  table.news = news;
  match.when = new Date().toISOString();
  save(table.game, table.over ? null : match);
  const stepwise = arena.boards[table.game]?.stepwise ?? [], steps = news.filter(([kind]) => stepwise.includes(kind)).map(([, text]) => text);
  if (!steps.length) return show();
  const after = table;
  table = before; // its drawing stays until all is shown, and nothing on it can be tapped
  drawBoard();
  table = after;
  showSteps(steps);
});

const STEP_MS = 900;
let stepping = 0;

/** Show what matters one sentence at a time, then show the table after it. @param {string[]} texts */
const showSteps = (texts) => {
  const list = element("ol", { id: "steps", tabIndex: 0, "aria-label": "what happened", "aria-live": "polite" });
  const go = element("button", { textContent: "go on", type: "button", className: "main" });
  go.addEventListener("click", () => working(show));
  part("asked").textContent = "";
  part("hint").hidden = part("all-choices").hidden = part("rules").hidden = true;
  document.body.classList.add("stepping");
  part("turn").classList.add("asking");
  part("choices").replaceChildren(list, go);
  part("every-choice").replaceChildren();
  const next = () => {
    const text = texts[list.children.length];
    list.append(element("li", { textContent: text, className: text.includes(table.names[table.seat]) ? "own" : "" }));
    list.scrollTop = list.scrollHeight;
    if (list.children.length === texts.length) clearInterval(stepping);
  };
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  clearInterval(stepping);
  if (!still) stepping = setInterval(next, STEP_MS);
  do next(); while (still && list.children.length < texts.length);
};

// Showing.

const show = async () => {
  drawBoard();
  showChoices();
  const list = part("news"), texts = table.news.map((/** @type {[string, string]} */ [, text]) => text);
  for (const old of list.children) old.classList.remove("fresh");
  list.prepend(...texts.map((/** @type {string} */ text) => element("li", { textContent: text, className: "fresh" })));
  const own = table.names[table.seat];
  part("latest").replaceChildren(...texts.map((/** @type {string} */ text) => element("p", { textContent: text, className: text.includes(own) ? "own" : "" })));
  part("latest").scrollTop = 0; // oldest first: what followed from the last choice
  part("result").hidden = !table.over;
  if (table.over) await showResult();
};

const drawBoard = () => {
  const draw = table.drawn && arena.boards[table.game];
  const place = part("table");
  if (!draw) {
    place.replaceChildren(element("pre", { className: "text-table", textContent: table.text }));
    return;
  }
  const views = table.names.map((/** @type {string} */ _name, /** @type {number} */ seat) => (seat === table.seat ? table.view : null));
  const board = draw({
    view: table.view, views, seat: table.seat, label: `The table of ${table.title} as you see it`, figures: table.figures,
    names: table.names, width: place.clientWidth,
  });
  board.setAttribute("role", "group"); // not a picture: things on it can be chosen
  place.replaceChildren(board);
};

const MAX_BUTTONS = 8;
const MAX_EXPLAINED = 4;
/** How often each kind of choice was explained in this match: later there is more room for the table. @type {Map<string, number>} */
const timesShown = new Map();

/** A ring in two colours around what can be tapped: it is seen on any colour, and owners keep their outlines. @param {SVGElement} piece */
const ring = (piece) => {
  const shape = /** @type {SVGGraphicsElement | null} */ (piece.querySelector("rect, circle, path, polygon"));
  if (!shape) return;
  const { x, y, width, height } = shape.getBBox(), transform = shape.getAttribute("transform") || "";
  shape.after(...["ring-under", "ring"].map((name) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    const around = { class: name, transform, x: x - 2, y: y - 2, width: width + 4, height: height + 4, rx: 5 };
    for (const [key, value] of Object.entries(around)) made.setAttribute(key, String(value));
    return made;
  }));
};

/** What was tapped and is asked about: a second tap confirms it. @type {SVGElement | null} */
let asked = null;
/** Whether a tap on the table asks first: a finger easily hits what is beside, and no choice can be taken back. */
const askFirst = /** @type {HTMLInputElement} */ (part("ask-first"));

const showChoices = () => {
  asked = null;
  clearInterval(stepping);
  document.body.classList.remove("stepping");
  /** @type {Action[]} */
  const legal = table.legal;
  const byKey = new Map(legal.map((action) => [arena.actionKey(action), action]));
  /** @type {Set<Action>} */
  const drawn = new Set(), exact = new Set();
  let picking = false;
  for (const piece of /** @type {NodeListOf<SVGElement>} */ (part("table").querySelectorAll("[data-action]"))) {
    const actions = meant(piece.dataset.action || "", byKey);
    if (!actions.length) continue;
    actions.forEach((action) => drawn.add(action));
    const asks = actions.length > 1 || asksFirst(piece.dataset.action || "", arena.actionKey(actions[0]));
    if (!asks) exact.add(actions[0]);
    piece.classList.add("can");
    ring(piece);
    const several = piece.dataset.pick !== undefined;
    picking ||= several;
    piece.setAttribute("role", "button");
    piece.setAttribute("tabindex", "0");
    // What can be read on it comes first, so that one can say it to a voice control.
    const seen = [...piece.querySelectorAll("text")].map((text) => text.textContent).join("");
    const action = actions.length === 1 ? actions[0].text : `${actions[0].text}, or ${actions.length - 1} more`;
    piece.setAttribute("aria-label", several ? `${seen}: ${piece.querySelector("title")?.textContent}` : seen ? `${seen}: ${action}` : action);
    if (several) piece.setAttribute("aria-pressed", "false");
    const act = () => {
      if (several) {
        piece.setAttribute("aria-pressed", String(piece.classList.toggle("picked")));
        return offerTogether(byKey);
      }
      if (!asks && (asked === piece || !askFirst.checked)) return choose(actions[0]);
      offer(actions);
      asked = piece;
      piece.classList.add("advised");
    };
    piece.addEventListener("click", act);
    piece.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        act();
      }
    });
  }
  part("turn").classList.remove("asking");
  // One tap a decision: what is drawn together with others is a button as well, as long as there are few.
  const alone = legal.filter((action) => !exact.has(action));
  const others = alone.length > MAX_BUTTONS ? legal.filter((action) => !drawn.has(action)) : alone;
  part("asked").textContent = table.over ? "" : table.kinds.length ? "Your turn" : `Your turn: ${table.phase}`;
  // Several kinds of choices are a list of first sentences: there is little room on a phone.
  const unfamiliar = table.kinds.some((/** @type {string} */ text) => (timesShown.get(text) ?? 0) < MAX_EXPLAINED), kinds = unfamiliar ? table.kinds : [];
  for (const text of table.kinds) timesShown.set(text, (timesShown.get(text) ?? 0) + 1);
  part("kinds").replaceChildren(...(table.kinds.length < 2 ? table.kinds : [element("ul", {},
    ...kinds.map((/** @type {string} */ text) => element("li", { textContent: text.split(/(?<=\.) /)[0] })))]));
  part("on-board").hidden = !drawn.size;
  const tap = picking ? "Tap one thing or several on the table" : "Tap what is outlined on the table";
  part("on-board").textContent = others.length ? `${tap}, or choose here:` : `${tap}.`;
  part("choices").replaceChildren(...others.map((action) => button(action)));
  part("all-choices").hidden = !drawn.size;
  part("every-choice").replaceChildren(...(drawn.size ? legal.map((action) => button(action)) : []));
  part("hint").hidden = table.over || !table.adviser;
  part("advice").replaceChildren();
  part("rules").hidden = table.over;
  part("rule-list").replaceChildren();
  /** @type {HTMLDetailsElement} */ (part("rules")).open = false;
};

/** @param {Action} action @param {string[]} [then] */
const button = (action, then) => {
  const note = /** @type {SVGElement | null} */ (part("table").querySelector(`[data-about="${CSS.escape(arena.actionKey(action))}"]`))?.dataset.note;
  const made = element("button", { textContent: note ? `${action.text}: ${note}` : action.text, type: "button", "data-code": action.code });
  made.addEventListener("click", () => choose(action, then));
  return made;
};

/** Several actions are meant by what was tapped: ask which, where the choices are. @param {Action[]} actions */
const offer = (actions) => {
  unmark();
  ask(actions.length > 1 ? "Which of these?" : "Do this?", actions.map((action) => button(action)));
  /** @type {HTMLElement | null} */ (part("choices").querySelector("button"))?.focus({ preventScroll: true });
};

/** The table and the choices without what was tapped. */
const showAgain = () => {
  drawBoard();
  showChoices();
};

/** @param {string} question @param {HTMLElement[]} answers */
const ask = (question, answers) => {
  const cancel = element("button", { textContent: "cancel", type: "button" });
  cancel.addEventListener("click", showAgain);
  part("turn").classList.add("asking"); // leaves out the other texts, so that the board stays in view
  part("choices").replaceChildren(element("p", { textContent: question }), ...answers, cancel);
};

/** Ask about what was picked on the table, which makes up one choice together. @param {Map<string, Action>} byKey */
const offerTogether = (byKey) => {
  const picked = /** @type {SVGElement[]} */ ([...part("table").querySelectorAll(".picked")]);
  const keys = arena.boards[table.game].together?.(picked.map((piece) => JSON.parse(piece.dataset.pick || "")), table.figures) ?? [];
  const action = keys.map((key) => byKey.get(key)).find((each) => each !== undefined);
  const seen = picked.map((piece) => piece.querySelector("text")?.textContent).join(" and ");
  if (!picked.length) showAgain();
  else ask(action ? `With ${seen}?` : `With ${seen} there is no choice now.`, action ? [button(action, keys)] : []);
};

const unmark = () => {
  for (const piece of part("table").querySelectorAll(".advised")) piece.classList.remove("advised");
};

const hint = () => working(async () => {
  const advice = await python.call("hint");
  const key = arena.actionKey(advice.action);
  const take = button(advice.action);
  part("advice").replaceChildren(
    element("p", {}, element("b", { textContent: advice.bot }), ` would choose: ${advice.action.text}`),
    element("ul", {}, ...advice.reasons.map((/** @type {string} */ text) => element("li", { textContent: text }))), take);
  take.textContent = `do that: ${advice.action.text}`;
  for (const piece of /** @type {NodeListOf<SVGElement>} */ (part("table").querySelectorAll("[data-action]"))) {
    const keys = (piece.dataset.action || "").replaceAll("?", "").split(" ");
    piece.classList.toggle("advised", piece.dataset.pick === undefined && keys.some((each) => each === key || key.startsWith(`${each}:`)));
  }
  part("table").querySelector(".advised")?.scrollIntoView({ block: "nearest" });
});

const showRules = async () => {
  if (part("rule-list").children.length || busy) return;
  await working(async () => {
    listRules("rule-list", await python.call("rules"), "This game has no numbered rules for this choice.");
  });
};

const showResult = async () => {
  const order = table.names.map((/** @type {string} */ _name, /** @type {number} */ seat) => seat);
  order.sort((/** @type {number} */ a, /** @type {number} */ b) => table.ranks[a] - table.ranks[b]);
  part("standing").replaceChildren(...order.map((/** @type {number} */ seat) =>
    element("li", { value: table.ranks[seat], className: seat === table.seat ? "own" : "" }, element("bdi", { textContent: table.names[seat] }), ": ", element("b", { textContent: table.scores[seat] }))));
  const place = table.ranks[table.seat], shared = table.ranks.filter((/** @type {number} */ rank) => rank === place).length > 1;
  part("won").textContent = place === 1 && !shared ? "You won." : `You came ${["first", "second", "third", "fourth", "fifth", "last"][place - 1]} of ${table.names.length}${shared ? ", with another" : ""}.`;
  part("checked").textContent = "";
  const files = await python.call("run_files");
  const checked = await python.call("verify", [files["games.jsonl"]]);
  part("checked").textContent = checked.true ? "The record was checked: it is true to the rules." : `Played again by the rules, it differs: ${checked.why}`;
  const name = `${table.game}-${match?.setting.seed}`;
  part("download").textContent = "save the record";
  part("download").onclick = () => {
    download(`${name}.zip`, zipped(name, files));
    part("download").textContent = `saved as ${name}.zip`;
  };
  scrollTo(0, 0); // where the result is
  part("how").textContent = `unzip ${name}.zip; arena replay ${name} ${table.id}; arena verify ${name} --bots`;
};

// Starting.

const main = async () => {
  const why = obstacle();
  if (why) return showTrouble(why);
  part("game").addEventListener("change", showOpponents);
  part("introduction").addEventListener("toggle", showIntroduction);
  part("all-rules").addEventListener("toggle", showAllRules);
  part("opponents").addEventListener("change", aboutBot);
  part("begin").addEventListener("click", begin);
  part("hint").addEventListener("click", hint);
  askFirst.checked = remembered("ask-first") === "true";
  askFirst.addEventListener("change", () => remember("ask-first", String(askFirst.checked)));
  part("rules").addEventListener("toggle", () => { if (/** @type {HTMLDetailsElement} */ (part("rules")).open) showRules(); });
  for (const id of ["leave", "another"]) {
    part(id).addEventListener("click", () => {
      if (busy) {
        python.stop(); // a bot that never answers
        if (match) save(match.setting.game, match.choices.length ? match : null);
      }
      part("match").hidden = true;
      explain(part("about-game"));
      document.body.classList.remove("playing");
      part("setup").hidden = false;
      offerSaved();
    });
  }
  let drawnAt = innerWidth;
  addEventListener("resize", () => {
    if (table && !part("match").hidden && !document.body.classList.contains("stepping") && drawnAt !== innerWidth) {
      drawnAt = innerWidth;
      showAgain();
    }
  });
  await working(async () => {
    const [about, site] = await Promise.all([python.call("about"), aroundSite()]);
    strengths = site ? strengthsIn(site.runs) : {};
    games = about.games;
    const wanted = new URLSearchParams(location.hash.slice(1));
    part("game").replaceChildren(...games.map((game) => new Option(game.title, game.name)));
    if (games.some((game) => game.name === wanted.get("game"))) /** @type {HTMLSelectElement} */ (part("game")).value = wanted.get("game") || "";
    showOpponents();
    const bot = wanted.get("bot"), first = /** @type {HTMLSelectElement | null} */ (document.getElementById("opponent-0"));
    if (bot && first && [...first.options].some((option) => option.value === bot)) {
      first.value = bot;
      aboutBot();
    }
    part("problems").replaceChildren(...about.problems.map((/** @type {string} */ text) => element("li", { textContent: text })));
    offerSaved();
    part("setup").hidden = false;
  });
};

/** The matches that were left, one of each game. */
const offerSaved = () => {
  const found = games.map((game) => ({ game, left: saved(game.name) }));
  part("saved").replaceChildren(...found.flatMap(({ game, left }) => {
    if (!left) return [];
    const text = `You left a match of ${game.title} against ${left.setting.bots.join(", ")} after ${left.choices.length} choices.`;
    const resume = element("button", { textContent: "continue it", type: "button", className: "main" });
    resume.addEventListener("click", () => open(left));
    const forget = element("button", { textContent: "forget it", type: "button" });
    forget.addEventListener("click", () => {
      if (!confirm(`Forget this match of ${game.title}?`)) return;
      save(game.name, null);
      offerSaved();
    });
    return [element("p", { textContent: text }), element("p", {}, resume, " ", forget)];
  }));
  part("saved").hidden = !part("saved").children.length;
};

main();
