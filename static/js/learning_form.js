// Shows the chosen recipe's defaults as placeholders of empty fields, the temperatures of the chosen rows, and the fields of a
// grader only where it gives the rewards. Without scripts all fields are shown.

const form = document.querySelector(".training-form");
const defaults = JSON.parse(document.getElementById("recipe-defaults").textContent);
const names = new Set(Object.values(defaults).flatMap((values) => Object.keys(values)));
const fields = [...form.elements].filter((field) => names.has(field.name));

form.elements.recipe.addEventListener("change", () => {
  const values = defaults[form.elements.recipe.value] ?? {};
  for (const field of fields) field.placeholder = values[field.name] ?? "";
});

const temperatures = JSON.parse(document.getElementById("temperatures").textContent);
const both = document.querySelector("[data-both]");
const other = document.querySelector("[data-other]");

/** Both temperatures in words, and a warning where they differ: of the chosen dataset, or of the runs that the job makes. */
function sentences() {
  const { recipe, source, player, temperature } = form.elements;
  if (temperatures.unused.includes(recipe.value)) return ["", ""];
  if (source.value !== "rollouts") return temperatures.datasets[source.value] ?? ["", ""];
  const drawn = temperature?.value || temperature?.placeholder;
  if (!drawn) return ["", ""];
  const isRaw = temperatures.raw[player.value];
  const filled = (text) => text.replaceAll("{drawn}", drawn).replaceAll("{scored}", isRaw ? "1" : drawn);
  return [filled(temperatures.words.both), isRaw && Number(drawn) !== 1 ? filled(temperatures.words.other) : ""];
}

function showTemperatures() {
  const [text, warning] = sentences();
  both.textContent = text;
  other.firstElementChild.textContent = warning;
  other.hidden = !warning;
}

form.addEventListener("input", showTemperatures);
form.addEventListener("change", showTemperatures);
showTemperatures();

const ofGrader = ["reward_workflow", "reward_alias", "reward_within"].map((name) => form.elements[name]).filter(Boolean);

function showGrader() {
  for (const field of ofGrader) field.closest(".field").hidden = form.elements.judge.value !== "grader";
}

form.elements.judge?.addEventListener("change", showGrader);
showGrader();
