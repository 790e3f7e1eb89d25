"use strict";
// The replay viewer: unpacks a match, steps through it, and shows the table as one seat or as the referee sees it.
{
  const viewer = document.getElementById("viewer");
  const part = (name) => viewer.querySelector(`[data-part="${name}"]`);
  const element = (tag, properties = {}, ...children) => {
    const node = Object.assign(document.createElement(tag), properties);
    node.append(...children);
    return node;
  };

  const unpack = async (packed) => {
    if (packed.startsWith("{")) return JSON.parse(packed); // from a live page, which asks for one match at a time
    if (typeof DecompressionStream === "undefined") throw new Error("This browser is too old to unpack replays.");
    const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).json();
  };

  // Frames hold what changed; the viewer goes to and fro, so it keeps all views whole. Unchanged fields are shared.
  const grow = (frames) => {
    let views = frames[0].map(() => ({}));
    return frames.map((frame) => (views = frame.map((changes, seat) => ({ ...views[seat], ...changes }))));
  };

  const REFEREE = "referee", ON_TURN = "turn";
  let match = null, views = [], at = 0, timer = null;

  const called = (seat) => `seat ${seat} (${match.seats[seat]})`;
  const observer = () => {
    const wanted = part("observer").value;
    if (wanted === REFEREE) return null;
    if (wanted !== ON_TURN) return Number(wanted);
    return Math.max(0, views[at][0].turn);
  };

  const drawTable = (seat) => {
    const who = seat === null ? "the referee, all hands open" : called(seat);
    const label = `The table at step ${at + 1} of ${views.length}, as seen by ${who}`;
    const seen = views[at].map((view, place) => (seat === null || seat === place ? view : null));
    const draw = arena.boards[match.game];
    if (match.drawn && draw) {
      part("table").replaceChildren(draw({ view: seen[seat ?? 0], views: seen, seat, label, figures: match.figures, names: match.seats }));
      return;
    }
    const texts = seen.flatMap((view, place) => (view ? [(seat === null ? `As ${called(place)} sees it:\n` : "") + view.text] : []));
    part("table").replaceChildren(element("pre", { className: "text-table", textContent: texts.join("\n\n") }));
    part("table").firstChild.setAttribute("aria-label", label);
  };

  const tellChoice = (seat) => {
    const step = match.steps[at], box = part("choice");
    if (step.seat === undefined) {
      const order = match.seats.map((_, place) => place).sort((a, b) => match.end.ranks[a] - match.end.ranks[b]);
      box.replaceChildren(
        element("h4", { textContent: `The end: ${match.end.ending}` }),
        element("ol", { className: "final" }, ...order.map((place) => {
          const failed = match.end.faults.find((fault) => fault[0] === place);
          const row = element("li", { value: match.end.ranks[place] }, element("bdi", { textContent: match.seats[place] }),
            ` (seat ${place}): `, element("b", { textContent: match.end.scores[place] }), failed ? ` — ${failed[1]} at decision ${failed[2]}` : "");
          row.dataset.seat = place;
          row.dataset.score = match.end.scores[place];
          return row;
        })));
      return;
    }
    const covered = seat !== null && seat !== step.seat;
    const head = element("h4", {}, `Seat ${step.seat} (`, element("bdi", { textContent: match.seats[step.seat] }), `): ${step.kind}`);
    if (covered) {
      box.replaceChildren(head, element("p", { textContent: "What it could choose, and what it chose, is not for this seat to see yet." }));
      return;
    }
    const why = { bot: `chose among ${step.legal.length}:`, rules: "had no choice:", "stand-in": "had failed; its stand-in took at random:" };
    const list = element("ul", { className: "legal" }, ...step.legal.map((code) =>
      element("li", { textContent: match.texts[code], className: code === step.taken ? "taken" : "" })));
    list.querySelector(".taken").setAttribute("aria-current", "true");
    box.replaceChildren(head, element("p", { textContent: why[step.by] }), list);
  };

  const tellEvents = (seat) => {
    const heard = match.steps[at].events.filter(([to]) => seat === null || to === "all" || to.includes(seat));
    part("events").replaceChildren(...heard.map(([to, words]) =>
      element("li", { textContent: words, className: to === "all" ? "" : "secret" })));
    part("no-events").hidden = heard.length > 0;
  };

  const show = () => {
    const seat = observer();
    drawTable(seat);
    tellChoice(seat);
    tellEvents(seat);
    part("slider").value = at;
    part("slider").setAttribute("aria-valuetext", `step ${at + 1} of ${views.length}`);
    part("place").textContent = `${at + 1} / ${views.length}`;
    part("link").href = `#${new URLSearchParams({ match: match.id, step: at + 1 })}`;
    for (const back of ["first", "back"]) part(back).disabled = at === 0;
    for (const on of ["next", "last"]) part(on).disabled = at === views.length - 1;
    const chosen = part("choice").querySelector(".taken");
    if (chosen) chosen.parentNode.scrollTop = chosen.offsetTop - chosen.parentNode.offsetTop - 40;
  };
  const go = (to) => {
    if (!match) return;
    at = Math.min(views.length - 1, Math.max(0, to));
    show();
  };
  const stop = () => {
    clearInterval(timer);
    timer = null;
    part("play").textContent = "▶ play";
  };
  const play = () => {
    if (timer !== null) return stop();
    if (at === views.length - 1) go(0);
    part("play").textContent = "⏸ pause";
    timer = setInterval(() => { go(at + 1); if (at === views.length - 1) stop(); }, Number(part("speed").value));
  };

  const open = async (id, step = 1) => {
    stop();
    const data = document.getElementById(`scene-${id}`);
    part("trouble").textContent = data.dataset.trouble || "";
    part("stage").hidden = Boolean(data.dataset.trouble);
    match = null;
    if (data.dataset.trouble) return;
    try {
      const unpacked = await unpack(data.textContent);
      if (part("match").value !== id) return; // another match was chosen meanwhile
      match = unpacked;
    } catch (error) {
      part("trouble").textContent = `This match cannot be shown: ${error.message}`;
      part("stage").hidden = true;
      return;
    }
    views = grow(match.frames);
    at = 0;
    viewer.dataset.open = match.id;
    part("observer").replaceChildren(new Option("the referee: all hands open", REFEREE), new Option("whoever is on turn", ON_TURN),
      ...match.seats.map((name, seat) => new Option(`seat ${seat}: ${arena.short(name, 40)}`, seat)));
    part("slider").max = views.length - 1;
    go(step - 1);
  };

  // A link to a step: #match=ID&step=N.
  const follow = () => {
    const wanted = new URLSearchParams(location.hash.slice(1)), list = part("match");
    if (![...list.options].some((option) => option.value === wanted.get("match"))) return false;
    list.value = wanted.get("match");
    open(list.value, Number(wanted.get("step")) || 1);
    return true;
  };

  if (viewer) {
    const moves = { first: () => -Infinity, back: () => at - 1, next: () => at + 1, last: () => Infinity };
    for (const [name, target] of Object.entries(moves)) part(name).addEventListener("click", () => { stop(); go(target()); });
    part("play").addEventListener("click", play);
    part("speed").addEventListener("change", () => { if (timer !== null) { stop(); play(); } });
    part("slider").addEventListener("input", (event) => { stop(); go(Number(event.target.value)); });
    part("observer").addEventListener("change", show);
    part("match").addEventListener("change", (event) => open(event.target.value));
    viewer.addEventListener("keydown", (event) => {
      if (event.target.matches("select, input, button")) return;
      const keys = { ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last", " ": "play" };
      if (!keys[event.key]) return;
      event.preventDefault();
      part(keys[event.key]).click();
    });
    for (const button of document.querySelectorAll("[data-replay]")) {
      button.addEventListener("click", () => {
        part("match").value = button.dataset.replay;
        viewer.scrollIntoView();
        open(button.dataset.replay);
      });
    }
    addEventListener("hashchange", follow);
    if (!follow()) open(part("match").value);
  }
}
