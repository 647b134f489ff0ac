// The solutions of a run as they stood at an event of its replay: what was not told yet is hidden, counts are those of then.

/** Show of the cards, pairs, turns, checks and counts under `page` what `fold` (replay_fold.js) was told; all, where it is over. */
export function drawCards(page, fold) {
  const { told, isOver } = fold;
  const hide = (place, name) => { place.hidden = !isOver && !told.has(name); };
  for (const card of page.querySelectorAll(".solution[id]")) {
    hide(card, card.id);
    card.classList.toggle("solution--before-check", !isOver && !told.has(`check ${card.id}`));
  }
  for (const row of page.querySelectorAll("[data-pair]")) hide(row, row.dataset.pair);
  for (const place of page.querySelectorAll("[data-told]")) hide(place, place.dataset.told);
  for (const details of page.querySelectorAll(".solution [data-keep^='opinion ']")) hide(details.closest("li"), details.dataset.keep.slice("opinion ".length));
  for (const place of page.querySelectorAll("[data-count]")) count(place, isOver ? null : fold.counts.get(place.dataset.count) ?? "0");
  for (const section of page.querySelectorAll("#run-solutions > .section")) {
    const items = [...section.querySelectorAll(".solution[id], [data-pair], [data-told]")];
    section.hidden = items.length > 0 && items.every((item) => item.hidden);
  }
  page.classList.toggle("run--before-end", !isOver);
}

/** Words of then, or with null those that the page came with. */
function count(place, words) {
  place.dataset.whole ??= place.textContent;
  place.textContent = words ?? place.dataset.whole;
}
