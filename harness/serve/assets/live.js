"use strict";
// The live page: takes in news, puts it in place, and keeps what the reader has chosen (tab, order, filter, match).
{
  const by = (id) => document.getElementById(id);
  const element = (tag, properties = {}, ...children) => {
    const node = Object.assign(document.createElement(tag), properties);
    node.append(...children.filter((child) => child !== null && child !== ""));
    return node;
  };
  // A long name is shortened: it must not push figures off the screen.
  const bdi = (words, most = 36) => element("bdi", { textContent: arena.short(words, most), title: words });
  const plural = (count, one, many = `${one}s`) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
  // Whatever cannot be printed, or turns the text around it about, is replaced: as in tables.
  const visible = (words) => words.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "\ufffd");

  // How far it is.
  const STATES = { playing: "live", finished: "finished", stopped: "not being played", reading: "reading", waiting: "waiting", lost: "no connection, trying again" };
  const show = (state) => { by("live").dataset.state = state; by("live").textContent = STATES[state] ?? state; };
  let script = "", state = "waiting";
  const tellProgress = (told) => {
    if (script && told.script && told.script !== script) return location.reload(); // other games, or another arena
    script = told.script ?? script;
    state = told.state;
    show(state);
    by("title").textContent = visible(told.run);
    document.title = `${visible(told.run)} · arena`;
    const notes = [...told.notes];
    const goesOn = told.format === "league" ? "arena league run" : "arena tournament --resume";
    if (state === "stopped") notes.push(`This is not being played now: '${goesOn}' continues it.`);
    by("notes").replaceChildren(...notes.map((words) => element("p", { className: "warn", textContent: visible(words) })));
    if (!told.games) return;
    by("about").textContent = visible([told.games.map((name) => told.titles[name] ?? name).join(", "), told.format, plural(told.bots, "bot"), told.started.replace("T", " ").slice(0, 16)].join(" · "));
    by("progress").hidden = false;
    const meter = by("meter"), ended = state === "finished";
    meter.hidden = !told.total && !ended;
    meter.max = ended ? 1 : told.total || 1;
    meter.value = ended ? 1 : told.matches;
    const of = told.total && !ended ? ` of ${told.most ? "at most " : ""}${told.total.toLocaleString("en")}` : "";
    const share = of && !told.most ? ` (${Math.floor((100 * told.matches) / told.total)}%)` : "";
    by("count").textContent = of ? `${told.matches.toLocaleString("en")}${of} matches${share}` : plural(told.matches, "match", "matches");
    by("left").textContent = told.left ? `${told.left} left` : "";
    by("round").textContent = ended ? "" : told.round;
    by("rate").textContent = told.rate;
    by("progress").dataset.matches = told.matches;
  };

  // Standings: a piece of a page, made by the server; what was chosen in the old one is chosen in the new one.
  const standings = by("standings");
  const orders = new Map(), places = new Map();
  let board = null;
  const choose = (title) => {
    const tabs = [...standings.querySelectorAll("[data-board]")];
    if (!tabs.length) return;
    board = tabs.some((tab) => tab.dataset.board === title) ? title : tabs[0].dataset.board;
    for (const tab of tabs) {
      const on = tab.dataset.board === board;
      tab.setAttribute("aria-selected", on);
      tab.tabIndex = on ? 0 : -1;
    }
    for (const panel of standings.querySelectorAll("[data-panel]")) panel.classList.toggle("put-away", panel.dataset.panel !== board);
  };
  const keyOf = (row, column) => row.cells[column].dataset.key ?? row.cells[column].textContent;
  const compare = (a, b) => {
    const [x, y] = [Number(a), Number(b)];
    return a === "" || b === "" ? (a === "") - (b === "") : Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b) : x - y;
  };
  const sort = (table, header, down) => {
    const heads = [...table.tHead.rows[0].cells], column = heads.findIndex((head) => head.textContent.trim() === header);
    if (column < 0) return;
    for (const head of heads) head.removeAttribute("aria-sort");
    heads[column].setAttribute("aria-sort", down ? "descending" : "ascending");
    const rows = [...table.tBodies[0].rows];
    // What is not known stays below, whichever way the rest is sorted.
    const known = rows.filter((row) => keyOf(row, column) !== "").sort((a, b) => compare(keyOf(a, column), keyOf(b, column)));
    const unknown = rows.filter((row) => keyOf(row, column) === "");
    table.tBodies[0].append(...(down ? known.reverse() : known), ...unknown);
  };
  const panelOf = (node) => node.closest("[data-panel]").dataset.panel;
  const filter = () => {
    const wanted = by("filter").value.trim().toLowerCase();
    for (const row of document.querySelectorAll("[data-bot]")) row.hidden = !row.dataset.bot.toLowerCase().includes(wanted);
    const left = standings.querySelectorAll("table.sortable [data-bot]:not([hidden])").length;
    by("filter-note").textContent = wanted && !left ? "No bot has that in its name." : "";
  };
  const tellMoves = () => {
    for (const row of standings.querySelectorAll("table.sortable [data-bot]")) {
      const key = `${panelOf(row)}\n${row.dataset.bot}`, place = Number(keyOf(row, 0)), before = places.get(key);
      places.set(key, place);
      if (before === undefined || before === place) continue;
      row.classList.add("moved");
      row.cells[0].classList.add(place < before ? "rise" : "fall");
    }
  };
  // A table shows what matters; its other columns are behind a tap, and stay where the reader wanted them.
  const whole = new Set();
  const unfold = (table) => {
    if (!table.querySelector("th.rest")) return;
    const key = panelOf(table), button = element("button", { type: "button", className: `unfold screen-only ${table.querySelector("th.extra") ? "" : "narrow-only"}` });
    const show = () => {
      table.classList.toggle("whole", whole.has(key));
      button.setAttribute("aria-expanded", whole.has(key));
      button.textContent = whole.has(key) ? "Fewer columns" : "All columns";
    };
    button.addEventListener("click", () => { if (!whole.delete(key)) whole.add(key); show(); });
    table.closest(".wide").after(button);
    show();
  };
  const tellStandings = (told) => {
    const open = [...standings.querySelectorAll("details")].map((one) => one.open);
    const scrolled = new Map([...standings.querySelectorAll(".wide")].map((one) => [one.ariaLabel, one.scrollLeft]));
    const focused = standings.contains(document.activeElement) ? document.activeElement.id : "";
    standings.innerHTML = told.html; // names are escaped there, and no script but ours may run here
    standings.dataset.matches = told.matches;
    for (const [place, one] of [...standings.querySelectorAll("details")].entries()) one.open = open[place] ?? false;
    choose(board);
    for (const table of standings.querySelectorAll("table.sortable")) {
      const order = orders.get(panelOf(table));
      if (order) sort(table, ...order);
    }
    for (const table of standings.querySelectorAll("table.brief")) unfold(table);
    tellMoves();
    filter();
    for (const one of standings.querySelectorAll(".wide")) one.scrollLeft = scrolled.get(one.ariaLabel) ?? 0;
    if (focused) by(focused)?.focus();
    by("filter-bar").hidden = ![...standings.querySelectorAll("table.sortable tbody")].some((one) => one.rows.length > 9);
  };
  standings.addEventListener("click", (event) => {
    const tab = event.target.closest("[data-board]"), head = event.target.closest("table.sortable th");
    if (tab) choose(tab.dataset.board);
    if (!head) return;
    const down = head.getAttribute("aria-sort") === "ascending";
    orders.set(panelOf(head), [head.textContent.trim(), down]);
    sort(head.closest("table"), head.textContent.trim(), down);
  });
  standings.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key], tab = event.target.closest("[data-board]");
    if (!step || !tab) return;
    const tabs = [...standings.querySelectorAll("[data-board]")];
    const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length];
    choose(next.dataset.board);
    next.focus();
  });
  by("filter").addEventListener("input", filter);

  // Results and faults.
  const watchButton = (match, words = "Watch", decision = null) => {
    const button = element("button", { type: "button", textContent: words });
    button.dataset.watch = match;
    if (decision !== null) button.dataset.decision = decision;
    button.setAttribute("aria-label", `watch ${match}`);
    return button;
  };
  const resultLine = (one) => {
    const seats = one.seats.map((seat, place) => ({ ...seat, place })).sort((a, b) => a.rank - b.rank || a.place - b.place);
    const who = seats.map((seat) => element("span", { className: seat.rank === 1 ? "first" : "" },
      `${seat.rank}. `, bdi(visible(seat.bot)), " ", element("span", { className: "points", textContent: seat.told })));
    const failed = one.faults.map((fault) => element("span", { className: "failed" },
      bdi(visible(fault.bot)), fault.kind === "disqualified" ? " is disqualified" : `: ${visible(fault.cause)} at decision ${fault.decision}`));
    const line = element("li", {}, element("span", { className: "id", textContent: one.match }), element("span", { className: "who" }, ...who),
      one.replay ? watchButton(one.match) : element("span", { className: "secret", textContent: one.why.includes("deal") ? "deal still secret" : "no replay", title: one.why }), ...failed);
    line.dataset.number = one.number;
    return line;
  };
  let last = 0;
  const results = by("results");
  const tellResults = (told) => {
    by("results-part").hidden = by("replay-part").hidden = !told.matches.length;
    if (told.last < last) results.replaceChildren(); // the records are others now
    const numbers = new Set(told.matches.map((one) => String(one.number)));
    const kept = [...results.children].filter((line) => !numbers.has(line.dataset.number));
    const fresh = told.matches.map((one) => {
      const line = resultLine(one);
      if (last && one.number > last) line.classList.add("new");
      return line;
    });
    // Earlier ones that somebody has asked for stay; of those that nobody has, the newest are shown.
    const oldest = Math.min(...told.matches.map((one) => one.number));
    const asked = results.dataset.asked ? kept.filter((line) => Number(line.dataset.number) < oldest) : [];
    results.replaceChildren(...fresh, ...asked);
    last = told.last;
    tellEarlier();
    tellFaults(told.failed);
  };
  const firstShown = () => Number(results.lastElementChild?.dataset.number ?? 1);
  const tellEarlier = () => { by("earlier").hidden = firstShown() <= 1; };
  by("earlier").addEventListener("click", async () => {
    const first = firstShown(), after = Math.max(0, first - 51);
    const answer = await fetch(`api/matches?after=${after}&limit=${first - 1 - after}`);
    if (!answer.ok) return;
    const told = await answer.json();
    results.dataset.asked = "yes";
    results.append(...told.matches.reverse().map(resultLine));
    tellEarlier();
  });
  const tellFaults = (failed) => {
    by("faults-part").hidden = !failed.faults && !failed.disqualified.length;
    const causes = failed.causes.map((one) => {
      const line = element("div", { className: "fault" }, element("b", {}, bdi(visible(one.bot))),
        `: ${visible(one.cause)} in ${one.game}, ${plural(one.count, "time")}. `,
        ...one.examples.flatMap((example) => [watchButton(example.match, example.match, example.decision), ` at decision ${example.decision} `]));
      line.dataset.bot = visible(one.bot);
      return line;
    });
    const out = failed.disqualified.map((one) => element("p", {}, element("b", {}, bdi(visible(one.bot))),
      ` was ${visible(one.why)}; it lost ${plural(one.lost, "match", "matches")} without playing.`));
    const more = failed.more ? [element("p", { textContent: `${plural(failed.more, "more fault")} of other causes.` })] : [];
    by("faults").replaceChildren(...causes, ...more, ...out);
  };

  // Matches are fetched when somebody wants to see them, and handed to the viewer as if they had been in the page.
  const viewer = by("viewer"), list = viewer.querySelector('[data-part="match"]'), trouble = viewer.querySelector('[data-part="trouble"]');
  const KEPT = 12;
  trouble.textContent = "Choose a match: by its name above, or from the list below.";
  // `where`: the step, the decision or the seat to open it at.
  const watch = async (match, where = { step: 1 }) => {
    trouble.textContent = `Fetching ${match} ...`;
    let told = null, why = "";
    try {
      const answer = await fetch(`api/match/${encodeURIComponent(match)}`);
      told = answer.ok ? await answer.json() : null;
      why = told === null ? `${visible(match)}: ${await answer.text()}` : told.scene === null ? `${match} cannot be watched: ${told.why}.` : "";
    } catch {
      why = "The server cannot be reached; it may be back soon.";
    }
    if (why) { trouble.textContent = why; return; }
    by(`scene-${match}`)?.remove();
    [...list.options].filter((option) => ["", match].includes(option.value)).forEach((option) => option.remove());
    const scene = element("div", { id: `scene-${match}`, hidden: true, textContent: JSON.stringify(told.scene) });
    viewer.after(scene);
    list.prepend(new Option(match, match));
    for (const old of [...list.options].slice(KEPT)) { by(`scene-${old.value}`)?.remove(); old.remove(); }
    list.value = match;
    const place = `#${new URLSearchParams({ match, ...where })}`;
    if (location.hash === place) dispatchEvent(new Event("hashchange"));
    else location.hash = place; // the viewer follows it
  };
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-watch]");
    if (!button) return;
    watch(button.dataset.watch, button.dataset.decision === undefined ? { step: 1 } : { decision: button.dataset.decision });
  });
  by("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    const wanted = by("wanted").value.trim();
    if (wanted) watch(wanted);
  });
  const linked = new URLSearchParams(location.hash.slice(1));
  if (linked.get("match")) watch(linked.get("match"), Object.fromEntries([...linked].filter(([key]) => ["step", "seat", "decision"].includes(key))));

  // News. The browser comes back by itself when the server does; where it gives up, we begin again.
  // A page that nobody looks at lets go of its connection: browsers have few for each server.
  let source = null;
  const listen = () => {
    source?.close();
    source = new EventSource("events");
    const hear = (kind, tell) => source.addEventListener(kind, (event) => tell(JSON.parse(event.data)));
    hear("progress", tellProgress);
    hear("standings", tellStandings);
    hear("results", tellResults);
    source.addEventListener("open", () => show(state));
    source.addEventListener("error", (event) => {
      if (event.target !== source) return;
      show("lost");
      if (source.readyState === EventSource.CLOSED) setTimeout(() => { if (event.target === source && !document.hidden) listen(); }, 1000);
    });
  };
  document.addEventListener("visibilitychange", () => (document.hidden ? source?.close() : listen()));
  listen();
}
