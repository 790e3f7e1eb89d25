"use strict";
// Tabs, sorting and filtering. Without it everything is still there to read, one below the other.
{
  const tabs = [...document.querySelectorAll("[data-tab]")];
  const choose = (chosen) => {
    for (const tab of tabs) {
      const on = tab.dataset.tab === chosen;
      tab.setAttribute("aria-selected", on);
      tab.tabIndex = on ? 0 : -1;
      document.getElementById(tab.dataset.tab).classList.toggle("put-away", !on);
    }
  };
  for (const [place, tab] of tabs.entries()) {
    tab.addEventListener("click", () => choose(tab.dataset.tab));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      const next = tabs[(place + step + tabs.length) % tabs.length];
      next.focus();
      choose(next.dataset.tab);
    });
  }
  if (tabs.length) choose(tabs[0].dataset.tab);

  const keyOf = (row, column) => row.cells[column].dataset.key ?? row.cells[column].textContent;
  const compare = (a, b) => {
    const [x, y] = [Number(a), Number(b)];
    return a === "" || b === "" ? (a === "") - (b === "") : Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b) : x - y;
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    for (const [column, head] of heads.entries()) {
      head.querySelector("button").addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        table.classList.toggle("as-ranked", column === 0 && !down);
        const rows = [...table.tBodies[0].rows];
        // What is not known stays below, whichever way the rest is sorted.
        const known = rows.filter((row) => keyOf(row, column) !== "").sort((a, b) => compare(keyOf(a, column), keyOf(b, column)));
        const unknown = rows.filter((row) => keyOf(row, column) === "");
        table.tBodies[0].append(...(down ? known.reverse() : known), ...unknown);
      });
    }
  }

  for (const field of document.querySelectorAll("input[data-filter]")) {
    field.addEventListener("input", () => {
      const wanted = field.value.trim().toLowerCase();
      for (const lines of document.querySelectorAll(".folded")) lines.classList.toggle("searched", wanted !== "");
      for (const row of document.querySelectorAll("[data-bot]")) row.hidden = !row.dataset.bot.toLowerCase().includes(wanted);
      const left = document.querySelectorAll("[data-lines] [data-bot]:not([hidden])").length;
      document.getElementById("filter-note").textContent = wanted && !left ? "No bot has that in its name." : "";
    });
  }

  // On a narrow screen tables show what matters; the rest is behind a tap.
  for (const table of document.querySelectorAll("table.brief")) {
    if (!table.querySelector("th.rest")) continue;
    const button = Object.assign(document.createElement("button"), { type: "button", className: `unfold screen-only ${table.querySelector("th.extra") ? "" : "narrow-only"}`, textContent: "All columns" });
    button.setAttribute("aria-expanded", "false");
    button.addEventListener("click", () => {
      const whole = table.classList.toggle("whole");
      button.setAttribute("aria-expanded", whole);
      button.textContent = whole ? "Fewer columns" : "All columns";
    });
    table.closest(".wide").after(button);
  }

  // A long table or list starts with its first lines.
  const LINES = 25;
  for (const lines of document.querySelectorAll("[data-lines]")) {
    const hidden = lines.children.length - LINES;
    if (hidden <= 5) continue;
    lines.classList.add("folded");
    const button = Object.assign(document.createElement("button"), { type: "button", className: "unfold screen-only", textContent: `All ${hidden + LINES} ${lines.dataset.lines}` });
    button.addEventListener("click", () => { lines.classList.remove("folded"); button.remove(); });
    (lines.closest(".wide") ?? lines).after(button);
  }

  // Who won? The result of a match appears after a guess, or on a second tap.
  document.addEventListener("toggle", (event) => {
    const box = event.target;
    if (!(box instanceof HTMLDetailsElement) || !box.matches(".result") || !box.open || box.dataset.guessed) return;
    box.dataset.guessed = "asked";
    const rows = [...box.querySelectorAll("li")], rest = [...box.children].filter((child) => child.localName !== "summary");
    const winners = rows.filter((row) => row.value === 1);
    if (rows.length < 2 || !winners.length) return;
    for (const child of rest) child.hidden = true;
    const label = (row) => row.querySelector("bdi").textContent;
    const ask = document.createElement("div");
    ask.className = "guess";
    const reveal = (words) => {
      for (const child of rest) child.hidden = false;
      ask.replaceChildren(words);
    };
    const buttons = [...rows].sort((a, b) => label(a).localeCompare(label(b))).map((row) => {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: label(row) });
      button.addEventListener("click", () => reveal(winners.includes(row) ? "Right!" : `No, ${winners.map(label).join(" and ")} won.`));
      return button;
    });
    const tell = Object.assign(document.createElement("button"), { type: "button", textContent: "Just show it" });
    tell.addEventListener("click", () => reveal(""));
    ask.append("Guess who wins: ", ...buttons, tell);
    box.append(ask);
  }, true);

  addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((one) => { one.open = true; }));
}
