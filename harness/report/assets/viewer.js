"use strict";
// The replay viewer: unpacks a match, plays it from mark to mark, and shows the table as one seat or the referee sees it.
{
  const viewer = document.getElementById("viewer");
  const part = (name) => viewer.querySelector(`[data-part="${name}"]`);
  const element = (tag, properties = {}, ...children) => {
    const node = Object.assign(document.createElement(tag), properties);
    node.append(...children);
    return node;
  };
  const still = matchMedia("(prefers-reduced-motion: reduce)");

  // What is in a page is compressed; a live page hands over plain JSON.
  const unpack = async (packed) => {
    if (packed.startsWith("{")) return JSON.parse(packed);
    if (typeof DecompressionStream === "undefined") throw new Error("This browser is too old to unpack replays.");
    const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  };

  // A difference is a new value in a list, or an object with the differences of items; what it leaves out is unchanged.
  const patch = (old, difference) => {
    if (Array.isArray(difference)) return difference[0];
    const copy = Array.isArray(old) ? [...old] : { ...old };
    for (const [key, found] of Object.entries(difference)) copy[key] = patch(copy[key], found);
    return copy;
  };
  // The views of all seats at each step. Unchanged parts are shared.
  const grow = (frames, seats) => {
    let known = { all: {}, own: {} };
    return frames.map((frame) => {
      known = patch(known, frame);
      return seats.map((_, seat) => ({ ...known.all, ...known.own[seat] }));
    });
  };

  const REFEREE = "referee", ON_TURN = "turn";
  let match = null, views = [], stops = [], at = 0, before = -1, furthest = 0, focus = 0, timer = null, width = 0;

  const called = (seat) => match.names[seat];
  const colour = (seat) => {
    const colours = arena.boards[match.game]?.colours ?? arena.seatColours;
    return colours[seat % colours.length];
  };
  const observer = () => {
    const wanted = part("observer").value;
    if (wanted === REFEREE) return null;
    return wanted === ON_TURN ? Math.max(0, views[at][0].turn) : Number(wanted);
  };

  // Stops: where a chapter begins, the match turns, a bot fails, and the end.
  const stopsOf = () => {
    const found = match.marks.map(([step, text]) => ({ step, text, kind: "chapter" }));
    for (const [step, seat, change] of match.turning) {
      const by = match.expected ? `${change > 0 ? "+" : "−"}${Math.round(100 * Math.abs(change))}%` : "takes the lead";
      found.push({ step, text: "turning point", more: `${called(seat)} ${by}`, kind: "turn", seat });
    }
    for (const [seat, kind, decision] of match.end.faults) {
      found.push({ step: stepOf(decision, seat), text: `fault: ${kind}`, more: called(seat), kind: "fault", seat });
    }
    found.push({ step: views.length - 1, text: "the end", kind: "end" });
    return found.sort((a, b) => a.step - b.step);
  };
  // The step of a numbered decision; after the last one it is the end.
  const stepOf = (decision) => {
    const found = match.steps.findIndex((step) => step.decision === decision);
    return found < 0 ? match.steps.length - 1 : found;
  };

  // The table. A step is shown by what has changed since the one shown before.
  const scene = (step, seat) => {
    const seen = views[step].map((view, place) => (seat === null || seat === place ? view : null));
    const who = seat === null ? "the referee, all hands open" : called(seat);
    return { view: seen[seat ?? 0], views: seen, seat, focus: seat ?? focus, width, figures: match.figures, names: match.names,
      label: `The table at step ${step + 1} of ${views.length}, as seen by ${who}` };
  };
  const drawTable = (seat, slide) => {
    const table = part("table"), draw = match.drawn && arena.boards[match.game], shown = scene(at, seat);
    width = table.clientWidth;
    if (!draw) {
      const texts = shown.views.flatMap((view, place) => (view ? [(seat === null ? `As ${called(place)} sees it:\n` : "") + view.text] : []));
      table.replaceChildren(element("pre", { className: "text-table", textContent: texts.join("\n\n") }));
      table.firstChild.setAttribute("aria-label", shown.label);
      return;
    }
    // The last step is drawn, too: only then is it known where each piece was.
    let old = null;
    if (before >= 0 && before !== at) {
      table.replaceChildren(draw({ ...scene(before, seat), width }));
      old = arena.pieces(table.firstChild);
    }
    table.replaceChildren(draw({ ...shown, width }));
    if (old) arena.showChanges(table.firstChild, old, slide && !still.matches);
  };

  const showPlayers = () => {
    const chosen = part("observer").value, last = at === views.length - 1;
    // A score that is shown in words of the game alone, as one number for two things, is left to the table.
    const plain = match.end.results.every((words, seat) => words.startsWith(match.end.scores[seat].toLocaleString("en")));
    part("players").replaceChildren(...match.names.map((name, seat) => {
      const figure = last ? ["1st", "2nd", "3rd"][match.end.ranks[seat] - 1] ?? `${match.end.ranks[seat]}th` : match.expected ? `${Math.round(100 * match.expected[at][seat])}%` : "";
      const button = element("button", { type: "button", title: last ? `${name}: its place` : figure ? `${name}: its score, and the share of the others that it can expect to finish ahead of` : name },
        element("i", { textContent: seat }), arena.face(match.seats[seat]), element("bdi", { textContent: arena.short(name, 22) }), " ", element("b", { textContent: plain ? match.scores[at][seat] : "" }), figure);
      button.firstChild.style.background = colour(seat);
      button.setAttribute("aria-pressed", chosen === String(seat));
      button.classList.toggle("on-turn", match.steps[at].seat === seat);
      button.addEventListener("click", () => { part("observer").value = chosen === String(seat) ? REFEREE : seat; showAll(); });
      return element("li", {}, button);
    }));
  };

  const WHY = { bot: "chooses among", rules: "has no choice:", "stand-in": "has failed; a stand-in takes at random among" };
  const showChoice = (seat) => {
    const step = match.steps[at], box = part("choice");
    if (step.seat === undefined) {
      const order = match.seats.map((_, place) => place).sort((a, b) => match.end.ranks[a] - match.end.ranks[b]);
      box.replaceChildren(
        element("h4", { textContent: `The end: ${match.end.ending}` }),
        element("ol", { className: "final" }, ...order.map((place) => {
          const failed = match.end.faults.find((fault) => fault[0] === place);
          const row = element("li", { value: match.end.ranks[place] }, element("bdi", { textContent: called(place) }),
            ": ", element("b", { textContent: match.end.results[place] }), failed ? ` — ${failed[1]} at decision ${failed[2]}` : "");
          row.dataset.seat = place;
          row.dataset.score = match.end.scores[place];
          return row;
        })));
      return;
    }
    const head = element("h4", {}, "Next, ", element("bdi", { textContent: called(step.seat) }), `: ${step.kind}`);
    if (seat !== null && seat !== step.seat) {
      box.replaceChildren(head, element("p", { className: "soft", textContent: "What it can choose, and what it chooses, is hidden from this seat for now." }));
      return;
    }
    const list = element("ul", { className: "legal" }, ...step.legal.map((code) =>
      element("li", { textContent: match.texts[code], className: code === step.taken ? "taken" : "" })));
    list.querySelector(".taken").setAttribute("aria-current", "true");
    const notes = (step.notes ?? []).map((words) => element("blockquote", { className: "note", textContent: words }));
    box.replaceChildren(head, element("p", { textContent: `It ${WHY[step.by]}${step.legal.length > 1 ? ` ${step.legal.length}:` : ""}` }), list, ...notes);
    list.scrollTop = list.querySelector(".taken").offsetTop - list.offsetTop - 40;
  };

  const showEvents = (seat) => {
    const from = before < at ? before + 1 : at;
    const heard = match.steps.slice(from, at + 1).flatMap((step) => step.events).filter(([to]) => seat === null || to === "all" || to.includes(seat));
    const here = stops.filter((stop) => stop.step === at && stop.kind !== "end");
    part("since").replaceChildren(here.length ? here.map((stop) => [stop.text, stop.more].filter(Boolean).join(": ")).join(" · ") : at - from > 0 ? `Since step ${from}` : "Since the last step");
    // A choice without an event, as one of several tiles: it is shown to those who may see it.
    const last = match.steps[at - 1];
    if (!heard.length && last && (seat === null || seat === last.seat)) heard.push([[last.seat], `${called(last.seat)}: ${match.texts[last.taken]}.`]);
    part("events").replaceChildren(...heard.map(([to, words]) => element("li", { textContent: words, className: to === "all" ? "" : "secret" })));
    for (const box of [part("events"), part("events").parentNode]) box.scrollTop = box.scrollHeight; // on a phone the second one scrolls
    part("no-events").hidden = heard.length > 0;
  };

  // The course: a line for each bot, up to the furthest step that was seen unless the reader wants to know the rest.
  const measure = () => (match.expected ? part("measure").value : "scores");
  const EDGE = 8; // half of the slider's thumb: so the line is above it
  const drawCourse = () => {
    const wide = part("course").clientWidth, high = wide < 560 ? 56 : 76, top = 15, values = match[measure()], last = Math.max(1, views.length - 1);
    if (!wide) return;
    const least = Math.min(0, ...values.flat()), most = measure() === "expected" ? 1 : Math.max(1, ...values.flat());
    const x = (step) => EDGE + (step / last) * (wide - 2 * EDGE), y = (value) => high - 3 - ((value - least) / (most - least)) * (high - top - 6);
    const known = part("ahead").checked ? last : furthest;
    const { svg, path, text, circle, hint } = arena;
    let free = -1;
    const chapters = stops.filter((stop) => stop.kind === "chapter").map((stop) => {
      const left = x(stop.step), words = stop.text, room = left >= free && left + words.length * 6.4 < wide;
      if (room) free = left + words.length * 6.4 + 8;
      return svg("g", {}, path(`M${left} ${room ? 0 : top}V${high}`, { class: "chapter" }), room && text(left + 3, 10, words), hint(words));
    });
    const lines = match.names.map((_, seat) => path(values.slice(0, known + 1).map((one, step) => `${step ? "L" : "M"}${x(step).toFixed(1)} ${y(one[seat]).toFixed(1)}`).join(""),
      { stroke: colour(seat), class: "line" }));
    const signs = stops.filter((stop) => ["turn", "fault"].includes(stop.kind) && stop.step <= known).map((stop) => svg("g", {},
      stop.kind === "fault" ? path(`M${x(stop.step) - 4} ${high - 11}l8 8m0 -8l-8 8`, { class: "fault-sign" }) : circle(x(stop.step), y(values[stop.step][stop.seat]), 4, { fill: colour(stop.seat), class: "turn-sign" }),
      hint(`${stop.text}: ${stop.more}`)));
    part("course").replaceChildren(svg("svg", { viewBox: `0 0 ${wide} ${high}`, width: wide, height: high, "aria-hidden": true },
      measure() === "expected" && path(`M${EDGE} ${y(0.5)}H${wide - EDGE}`, { class: "half" }), chapters, lines, signs, path(`M${x(at)} ${top - 3}V${high}`, { class: "now" }),
      match.names.map((_, seat) => circle(x(at), y(values[at][seat]), 3, { fill: colour(seat) }))));
  };
  const seek = (event) => {
    const box = part("course").getBoundingClientRect(), share = (event.clientX - box.left - EDGE) / (box.width - 2 * EDGE);
    pause();
    go(Math.round(share * (views.length - 1)));
  };

  const place = () => {
    const wanted = part("observer").value;
    return new URLSearchParams({ ...(viewer.dataset.page === "match" ? {} : { match: match.id }), step: at + 1, ...(wanted === REFEREE ? {} : { seat: wanted }) });
  };
  const showAll = (slide = false) => {
    const seat = observer();
    furthest = Math.max(furthest, at);
    drawTable(seat, slide);
    showPlayers();
    showChoice(seat);
    showEvents(seat);
    drawCourse();
    part("slider").value = at;
    part("slider").setAttribute("aria-valuetext", `step ${at + 1} of ${views.length}`);
    part("place").textContent = `${at + 1} / ${views.length}`;
    part("link").href = `#${place()}`;
    for (const name of ["mark-back", "back"]) part(name).disabled = at === 0;
    for (const name of ["next", "mark-next"]) part(name).disabled = at === views.length - 1;
    part("jump").value = stops.findLastIndex((stop) => stop.step <= at);
  };
  const go = (to, from = null) => {
    if (!match) return;
    const old = at;
    at = Math.min(views.length - 1, Math.max(0, to));
    before = from ?? at - 1;
    showAll(Math.abs(at - old) === 1 || from !== null);
  };
  const nextStop = (way) => (way > 0 ? stops.find((stop) => stop.step > at) : stops.findLast((stop) => stop.step < at))?.step ?? (way > 0 ? views.length - 1 : 0);

  // Playing: at the pace of a whole match in so many seconds, choices that the rules force are skipped, and so many short ones are
  // taken together that each picture stays for a while. Stops are always shown, and for longer.
  const SHORTEST_MS = 420, LONGEST_MS = 1600, SLOW_MS = 1500;
  const beats = () => {
    const seconds = Number(part("speed").value), stopped = new Set(stops.map((stop) => stop.step));
    const free = match.steps.flatMap((step, k) => (k === 0 || step.by !== "rules" || stopped.has(k) ? [k] : []));
    if (!seconds) return [free, SLOW_MS];
    const most = (seconds * 1000) / SHORTEST_MS;
    // In a round in which one seat after the other chooses, only its end is shown where there are too many.
    const ends = free.length > most ? free.filter((k) => stopped.has(k) || match.steps[k].kind !== match.steps[k - 1]?.kind) : free;
    const every = Math.ceil(ends.length / most), shown = ends.filter((k, n) => stopped.has(k) || n % every === 0);
    return [shown, Math.min(LONGEST_MS, (seconds * 1000) / shown.length)];
  };
  const pause = () => {
    clearTimeout(timer);
    timer = null;
    part("play").textContent = "▶ Play";
  };
  const tick = (shown, pace) => {
    const next = shown.find((step) => step > at);
    if (next === undefined) return pause();
    go(next, at);
    timer = setTimeout(() => tick(shown, pace), stops.some((stop) => stop.step === at) ? Math.max(1.8 * pace, 900) : pace);
  };
  const play = () => {
    if (!match) return;
    if (timer !== null) return pause();
    if (at === views.length - 1) go(0);
    part("play").replaceChildren(element("span", { className: "pause-sign" }), "Pause"); // not every font has U+23F8
    timer = setTimeout(() => tick(...beats()), 250);
  };

  // Opens a match at a step, or at a decision of a bot.
  const open = async (id, { step = 1, decision = null, seat = REFEREE } = {}) => {
    pause();
    const data = document.getElementById(`scene-${id}`);
    part("trouble").textContent = data.dataset.trouble || "";
    part("stage").hidden = Boolean(data.dataset.trouble);
    match = null;
    if (data.dataset.trouble) return;
    try {
      const unpacked = await unpack(data.textContent);
      if (part("match").value !== id) return; // another match was chosen meanwhile
      match = unpacked;
      views = grow(match.frames, match.seats);
    } catch (error) {
      part("trouble").textContent = `This match cannot be shown: ${error.message}`;
      part("stage").hidden = true;
      return;
    }
    stops = stopsOf();
    furthest = focus = 0;
    at = -1;
    viewer.dataset.open = match.id;
    part("observer").replaceChildren(new Option("referee", REFEREE), new Option("the bot on turn", ON_TURN),
      ...match.names.map((name, place) => new Option(arena.short(name, 40), place)));
    part("observer").value = [ON_TURN, ...match.names.keys()].map(String).includes(seat) ? seat : REFEREE;
    part("jump").replaceChildren(...stops.map((stop, k) => new Option(`${stop.text} (${stop.step + 1})`, k)));
    part("slider").max = views.length - 1;
    part("measure").parentNode.hidden = !match.expected;
    go(decision === null ? step - 1 : stepOf(decision));
  };

  const bring = () => {
    viewer.scrollIntoView({ block: "start" });
    viewer.focus({ preventScroll: true });
  };
  // A link: #match=ID&step=N&seat=S; on the page of one match without its id. The id is looked up in the list.
  const follow = () => {
    const wanted = new URLSearchParams(location.hash.slice(1)), list = part("match");
    const id = viewer.dataset.page === "match" ? location.hash.length > 1 && list.options[0]?.value : wanted.get("match");
    if (!id || ![...list.options].some((option) => option.value === id)) return false;
    const target = { step: Number(wanted.get("step")) || 1, seat: wanted.get("seat") ?? REFEREE, decision: wanted.has("decision") ? Number(wanted.get("decision")) : null };
    list.value = id;
    open(id, target).then(bring);
    return true;
  };

  if (viewer) {
    const moves = { "mark-back": () => nextStop(-1), back: () => at - 1, next: () => at + 1, "mark-next": () => nextStop(1) };
    for (const [name, target] of Object.entries(moves)) part(name).addEventListener("click", () => { pause(); go(target()); });
    part("play").addEventListener("click", play);
    part("speed").addEventListener("change", () => { if (timer !== null) { pause(); play(); } });
    part("slider").addEventListener("input", (event) => { pause(); go(Number(event.target.value)); });
    part("jump").addEventListener("change", (event) => { pause(); go(stops[event.target.value].step); });
    for (const name of ["observer", "measure", "ahead"]) part(name).addEventListener("change", () => match && showAll());
    part("match").addEventListener("change", (event) => open(event.target.value));
    part("course").addEventListener("pointerdown", (event) => { part("course").setPointerCapture(event.pointerId); seek(event); });
    part("course").addEventListener("pointermove", (event) => { if (event.buttons) seek(event); });
    part("table").addEventListener("click", (event) => {
      const row = event.target.closest("[data-seat]"); // a rival's line: on a narrow screen it is shown large
      if (row && observer() === null) { focus = Number(row.dataset.seat); showAll(); }
    });
    const keys = { ArrowLeft: "back", ArrowRight: "next", PageUp: "mark-back", PageDown: "mark-next", " ": "play" };
    // On the page of one match keys work wherever the focus is; elsewhere they may belong to another part of the page.
    (viewer.dataset.page === "match" ? document : viewer).addEventListener("keydown", (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || event.target.closest("select, input, textarea") || (event.key === " " && event.target.closest("a, button, summary"))) return;
      if (keys[event.key]) part(keys[event.key]).click();
      else if (event.key === "Home" || event.key === "End") { pause(); go(event.key === "Home" ? 0 : Infinity); }
      else return;
      event.preventDefault();
    });
    document.addEventListener("click", (event) => {
      const button = event.target.closest("[data-replay]");
      if (!button) return;
      part("match").value = button.dataset.replay;
      open(button.dataset.replay, { decision: button.dataset.decision === undefined ? null : Number(button.dataset.decision) }).then(bring);
    });
    new ResizeObserver(() => { if (match && part("table").clientWidth !== width) showAll(); }).observe(part("table"));
    addEventListener("hashchange", follow);
    const covered = () => part("table").getBoundingClientRect().bottom > viewer.querySelector(".deck").getBoundingClientRect().top;
    if (!follow() && part("match").options.length) open(part("match").value).then(() => { if (viewer.dataset.page === "match" && covered()) viewer.scrollIntoView({ block: "start" }); });
  }
}
