// The solutions of a run as of an event of its replay: later parts are hidden, and counts are those of that event.

/** Show the cards, pairs, turns, checks and counts under `page` that `story` (story.js) has reached; all after its end. */
export function drawCards(page, story) {
  const { reached, isOver } = story;
  const hide = (place, name) => { place.hidden = !isOver && !reached.has(name); };
  for (const card of page.querySelectorAll(".solution[id]")) {
    hide(card, card.id);
    card.classList.toggle("solution--before-check", !isOver && !reached.has(`check ${card.id}`));
  }
  for (const row of page.querySelectorAll("[data-pair]")) hide(row, row.dataset.pair);
  for (const place of page.querySelectorAll("[data-moment]")) hide(place, place.dataset.moment);
  for (const details of page.querySelectorAll(".solution [data-keep^='opinion ']")) hide(details.closest("li"), details.dataset.keep.slice("opinion ".length));
  for (const place of page.querySelectorAll("[data-count]")) count(place, isOver ? null : story.counts.get(place.dataset.count) ?? "0");
  for (const section of page.querySelectorAll("#run-solutions > .section")) {
    const items = [...section.querySelectorAll(".solution[id], [data-pair], [data-moment]")];
    section.hidden = items.length > 0 && items.every((item) => item.hidden);
  }
  page.classList.toggle("run--before-end", !isOver);
}

/** Set the count of an element; null restores the text of the loaded page. */
function count(place, words) {
  place.dataset.whole ??= place.textContent;
  place.textContent = words ?? place.dataset.whole;
}
