"use strict";
// Tables of games as pictures: the data is in the page, the drawing is the game's.
for (const place of document.querySelectorAll("[data-tile]")) {
  const scene = JSON.parse(document.getElementById(`tile-${place.dataset.tile}`).textContent);
  const draw = arena.boards[scene.game];
  if (!draw) continue;
  const board = draw({ ...scene, view: scene.views[0], seat: null, width: place.clientWidth });
  // A tile shows a part of the table in a readable size, from its top.
  if (!place.classList.contains("game-table")) board.setAttribute("preserveAspectRatio", "xMidYMin slice");
  place.replaceChildren(board);
}
