// A checkbox above a table that selects all rows, with a count of the selected ones. Without scripts it stays hidden.

for (const bar of document.querySelectorAll("[data-choose]")) {
  const rows = [...document.querySelectorAll(`${bar.dataset.choose} tbody input[type=checkbox]`)];
  const all = bar.querySelector("input");
  const count = bar.querySelector("[role=status]");

  const update = () => {
    const ticked = rows.filter((row) => row.checked).length;
    all.checked = ticked === rows.length;
    all.indeterminate = ticked > 0 && !all.checked;
    count.textContent = ticked ? `${ticked} chosen` : "";
  };

  all.addEventListener("change", () => {
    for (const row of rows) row.checked = all.checked;
    update();
  });
  for (const row of rows) row.addEventListener("change", update);
  update();
  bar.hidden = false;
}
