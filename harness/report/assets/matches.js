"use strict";
// The list of all matches of a run. Its columns are in compressed files, which are fetched as they are needed.
{
  const { index, stored, folder, checkable } = JSON.parse(document.getElementById("index").textContent);
  const form = document.getElementById("filters"), list = document.getElementById("list"), more = document.getElementById("more");
  const count = document.getElementById("count"), PAGE = 25, VERY_CLOSE = 0.05, CLOSE = 0.1, CLEAR = 0.3;
  const element = (tag, properties = {}, ...children) => {
    const node = Object.assign(document.createElement(tag), properties);
    node.append(...children);
    return node;
  };
  const short = (words) => (words.length > 24 ? `${words.slice(0, 15)}…${words.slice(-8)}` : words);
  const disk = location.protocol === "file:";

  // Matches, from columns or from the stored replays in the page: [{ id, game, seats, scores, ranks, length, failed }].
  const margin = (scores) => {
    if (scores.length < 2) return 1;
    const [first, second] = [...scores].sort((a, b) => b - a);
    return (first - second) / Math.max(1, Math.abs(first));
  };
  const words = (share) => (share <= VERY_CLOSE ? "very close" : share <= CLOSE ? "close" : share <= CLEAR ? "clear" : "one-sided");
  const unpack = async (response) => {
    if (!response.ok) throw new Error(`${response.url}: ${response.status}`);
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return JSON.parse(new TextDecoder().decode(bytes)); // the server unpacked it
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  };
  const chunks = new Map();
  const matchesOf = (game, number) => {
    const path = game.chunks[number];
    if (!chunks.has(path)) {
      chunks.set(path, fetch(path).then(unpack).then((columns) => columns.ids.map((id, at) => ({
        id, game: game.name, seats: columns.tables[columns.table[at]].map((bot) => index.bots[bot]), scores: columns.scores[at],
        ranks: [...columns.ranks[at]].map((letter) => letter.charCodeAt(0) - 96), length: columns.length[at], failed: columns.faults[at] || [],
      }))));
    }
    return chunks.get(path);
  };
  const watchable = new Map(stored.map((one) => [one.id, one]));

  const chosen = () => Object.fromEntries(new FormData(form));
  const games = () => index.games.filter((game) => !form.elements.game.value || game.name === form.elements.game.value);
  const fits = (one, wanted, typical) => {
    const share = margin(one.scores), last = Math.max(...one.ranks);
    const own = one.seats.flatMap((bot, seat) => (bot === wanted.bot ? [one.ranks[seat]] : []));
    if (wanted.bot && !own.length) return false;
    if (wanted.place === "won" && !(wanted.bot ? own.includes(1) : true)) return false;
    if (wanted.place === "lost" && !(wanted.bot ? own.includes(last) : true)) return false;
    const closeness = { very: share <= VERY_CLOSE, close: share <= CLOSE, clear: share > CLOSE && share <= CLEAR, far: share > CLEAR };
    if (wanted.close && !closeness[wanted.close]) return false;
    if (wanted.length && (wanted.length === "long") !== one.length > typical) return false;
    return !wanted.faults || (wanted.faults === "some") === one.failed.length > 0;
  };

  const row = (one, open) => {
    const replay = watchable.get(one.id), texts = replay ? replay.texts : one.scores.map(String);
    const order = one.seats.map((_, seat) => seat).sort((a, b) => one.ranks[a] - one.ranks[b] || a - b);
    const named = (bot) => element("span", { className: "bot-name" }, arena.face(bot), element("bdi", { textContent: short(bot), title: bot }));
    const title = index.games.length > 1 ? [element("b", { textContent: index.games.find((game) => game.name === one.game)?.title ?? one.game }), " · "] : [];
    const tags = element("p", { className: "tags" }, ...title, `${words(margin(one.scores))} · ${one.length} decisions`, one.failed.length ? " · a bot failed" : "", " · ", element("span", { className: "id", textContent: one.id }));
    const result = element("details", { className: "result", open }, element("summary", { textContent: "Result" }),
      element("ol", {}, ...order.map((seat) => element("li", { value: one.ranks[seat] }, named(one.seats[seat]), " ", element("b", { textContent: texts[seat] })))));
    if (!replay) result.append(element("p", { className: "soft" }, "No replay is stored here. In the run's folder: "), element("pre", { textContent: `arena replay ${index.run} ${one.id}` }));
    if (checkable) result.append(element("p", {}, element("a", { href: `../../play/verify.html#${new URLSearchParams({ run: folder, match: one.id })}`, textContent: "Check this match by the rules" })));
    const watch = replay ? [element("a", { href: `matches/${replay.file}.html`, textContent: "▶ Watch" })] : [element("span", { className: "soft", textContent: "no replay stored" })];
    const made = element("li", { className: "match" }, element("p", { className: "seats" }, ...one.seats.map(named)), tags,
      element("div", { className: "go" }, ...watch, result));
    made.dataset.match = one.id;
    return made;
  };

  // One search at a time: a newer one makes the older one stop.
  let search = 0, shown = 0, found = [], source = null;
  const order = { close: (a, b) => margin(a.scores) - margin(b.scores), long: (a, b) => b.length - a.length };

  const all = async function* (wanted, games) {
    const whole = wanted.which === "all" && !disk;
    // The newest of each game in turn: the files of different games do not say which match was before which.
    for (let back = 1; back <= (whole ? Math.max(...games.map((game) => game.chunks.length)) : 1); back += 1) {
      const rows = await Promise.all(games.map(async (game) => {
        if (!whole) return stored.filter((one) => one.game === game.name);
        return back <= game.chunks.length ? [...(await matchesOf(game, game.chunks.length - back))].reverse() : [];
      }));
      const longest = Math.max(...rows.map((row) => row.length));
      yield Array.from({ length: longest }, (_, place) => rows.flatMap((row) => row.slice(place, place + 1))).flat();
    }
  };
  const show = () => {
    list.append(...found.slice(shown, shown + PAGE).map((one) => row(one, false)));
    shown = Math.min(found.length, shown + PAGE);
  };
  const say = (done, searched) => {
    const bots = chosen().bot && !index.bots.includes(chosen().bot) ? " There is no bot of that name." : "";
    const number = (value) => value.toLocaleString("en"), total = games().reduce((sum, game) => sum + game.matches, 0);
    if (done) count.textContent = found.length === searched ? `${number(searched)} matches` : `${number(found.length)} of ${number(searched)} matches.${bots}`;
    else count.textContent = found.length === searched && searched ? `${number(total)} matches` : `${number(found.length)} found among the newest ${number(searched)} of ${number(total)} matches …`;
    more.hidden = done && shown >= found.length;
  };
  const advance = async (mine, target) => {
    try {
      while (found.length < target && !source.done) {
        const { value, done } = await source.chunks.next();
        if (mine !== search) return;
        if (done) source.done = true;
        else {
          source.searched += value.length;
          const typical = Object.fromEntries(games().map(({ name }) => {
            const lengths = value.filter((one) => one.game === name).map((one) => one.length).sort((a, b) => a - b);
            return [name, lengths[lengths.length >> 1]];
          }));
          found.push(...value.filter((one) => fits(one, source.wanted, typical[one.game])));
        }
        if (source.sort) found.sort(source.sort);
        say(source.done, source.searched);
      }
      show();
      say(source.done, source.searched);
      list.dataset.ready = source.done ? "all" : "some";
    } catch (error) {
      count.textContent = `The list cannot be read: ${error.message}`;
    }
  };
  const start = () => {
    search += 1;
    const wanted = chosen();
    list.replaceChildren();
    delete list.dataset.ready;
    [shown, found] = [0, []];
    source = { chunks: all(wanted, games()), wanted, done: false, searched: 0, sort: order[wanted.order] };
    // A sorted list needs all chunks; one in the order of the schedule needs those that fill the page.
    advance(search, source.sort ? Infinity : PAGE);
    const kept = Object.entries(wanted).filter(([name, value]) => value && value !== form.elements[name].options?.[0]?.value);
    history.replaceState(null, "", kept.length ? `#${new URLSearchParams(kept)}` : location.pathname + location.search);
  };

  // A link to a match: its id is looked up in the list.
  const find = async (id) => {
    const known = watchable.get(id);
    const open = (one) => { list.replaceChildren(row(one, false)); list.dataset.ready = "one"; count.replaceChildren(`Match ${one.id} · `, element("a", { href: location.pathname, textContent: "all matches" })); list.firstChild.scrollIntoView({ block: "nearest" }); };
    if (known) return open(known);
    for (const game of disk ? [] : index.games) {
      for (let number = 0; number < game.chunks.length; number += 1) {
        const one = (await matchesOf(game, number)).find((each) => each.id === id);
        if (one) return open(one);
      }
    }
    count.textContent = disk ? "That match has no replay here, and a page opened from disk has no full list." : "There is no match of that name in this run.";
  };

  const fill = () => {
    const wanted = new URLSearchParams(location.hash.slice(1));
    if (wanted.has("match")) return find(wanted.get("match"));
    for (const field of form.elements) {
      const value = wanted.get(field.name);
      if (value !== null && (!field.options || [...field.options].some((option) => option.value === value))) field.value = value;
    }
    start();
  };
  form.elements.game.append(...(index.games.length > 1 ? [new Option("all games", "")] : []), ...index.games.map((game) => new Option(`${game.title} (${game.matches.toLocaleString("en")})`, game.name)));
  document.getElementById("bots").append(...index.bots.map((bot) => new Option(bot)));
  document.getElementById("disk").hidden = !disk;
  if (disk) form.elements.which.value = "stored";
  form.elements.which.closest("label").hidden = disk;
  form.hidden = false;
  form.addEventListener("change", start);
  form.addEventListener("submit", (event) => event.preventDefault());
  more.addEventListener("click", () => (shown < found.length && source.done ? (show(), say(true, source.searched)) : advance(search, shown + PAGE)));
  addEventListener("hashchange", fill);
  fill();
}
