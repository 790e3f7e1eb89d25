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
      for (const row of document.querySelectorAll("[data-bot]")) row.hidden = !row.dataset.bot.toLowerCase().includes(wanted);
      const left = document.querySelectorAll("table.sortable [data-bot]:not([hidden])").length;
      document.getElementById("filter-note").textContent = wanted && !left ? "No bot has that in its name." : "";
    });
  }

  addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((one) => { one.open = true; }));
}
