// Shows the chosen recipe's defaults as placeholders of empty fields.

const form = document.querySelector(".training-form");
const defaults = JSON.parse(document.getElementById("recipe-defaults").textContent);
const names = new Set(Object.values(defaults).flatMap((values) => Object.keys(values)));
const fields = [...form.elements].filter((field) => names.has(field.name));

form.elements.recipe.addEventListener("change", () => {
  const values = defaults[form.elements.recipe.value] ?? {};
  for (const field of fields) field.placeholder = values[field.name] ?? "";
});
