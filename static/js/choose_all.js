// A box above a table that ticks all its rows, beside a line that says how many are ticked. Without scripts it stays hidden.

for (const bar of document.querySelectorAll("[data-choose]")) {
  const rows = [...document.querySelectorAll(`${bar.dataset.choose} tbody input[type=checkbox]`)];
  const all = bar.querySelector("input");
  const told = bar.querySelector("[role=status]");

  const tell = () => {
    const ticked = rows.filter((row) => row.checked).length;
    all.checked = ticked === rows.length;
    all.indeterminate = ticked > 0 && !all.checked;
    told.textContent = ticked ? `${ticked} chosen` : "";
  };

  all.addEventListener("change", () => {
    for (const row of rows) row.checked = all.checked;
    tell();
  });
  for (const row of rows) row.addEventListener("change", tell);
  tell();
  bar.hidden = false;
}
