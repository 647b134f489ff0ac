// Keys of the tray: the label of a problem chooses it, Enter assigns, letters press buttons. The size of the picture stays for
// the next page.

const WHOLE = "tray-whole";
const form = document.querySelector("form[data-tray]");
const size = document.querySelector("[data-whole]");

function sizeShow() {
  const isWhole = sessionStorage.getItem(WHOLE) === "1";
  size.setAttribute("aria-pressed", isWhole);
  document.querySelector("[data-tray-page]").classList.toggle("tray--whole", isWhole);
}

if (size) {
  size.hidden = false;
  sizeShow();
  size.addEventListener("click", () => {
    sessionStorage.setItem(WHOLE, size.getAttribute("aria-pressed") === "true" ? "0" : "1");
    sizeShow();
  });
}

document.addEventListener("keydown", (event) => {
  if (!form || event.ctrlKey || event.metaKey || event.altKey) return;
  const inSelect = event.target instanceof HTMLSelectElement;
  if (event.key === "Enter" && !(event.target instanceof HTMLButtonElement || event.target instanceof HTMLAnchorElement)) {
    event.preventDefault();
    form.requestSubmit();
    return;
  }
  if (inSelect) return; // Letters search the student's name.
  const key = event.key.toLowerCase();
  const found = [...document.querySelectorAll("[data-key]")].find((element) => element.dataset.key === key);
  if (found) {
    event.preventDefault();
    found.click();
  } else if (key === "s") {
    event.preventDefault();
    document.getElementById("paper").focus();
  }
});
