// Apply the reader's theme before the first paint (a classic script in <head>), and handle the theme switch.
(() => {
  const KEY = "lemmascope.theme";
  const root = document.documentElement;

  const stored = () => {
    try {
      const choice = localStorage.getItem(KEY);
      return choice === "light" || choice === "dark" ? choice : "system";
    } catch {
      return "system"; // Storage may be forbidden; then the system's theme applies.
    }
  };

  const apply = (choice) => {
    if (choice === "system") root.removeAttribute("data-theme");
    else root.dataset.theme = choice;
    for (const button of document.querySelectorAll("[data-theme-choice]")) {
      button.setAttribute("aria-pressed", String(button.dataset.themeChoice === choice));
    }
    document.dispatchEvent(new CustomEvent("themechange", { detail: choice }));
  };

  apply(stored());
  document.addEventListener("DOMContentLoaded", () => {
    for (const element of document.querySelectorAll("[data-theme-switch]")) element.hidden = false;
    apply(stored());
  });
  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("[data-theme-choice]") : null;
    if (!button) return;
    try {
      localStorage.setItem(KEY, button.dataset.themeChoice);
    } catch {
      // Without storage the choice applies to this page only.
    }
    apply(button.dataset.themeChoice);
  });
  addEventListener("storage", (event) => {
    if (event.key === KEY) apply(stored());
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    document.dispatchEvent(new CustomEvent("themechange", { detail: stored() }));
  });
})();
