// The card for the node under the pointer. It is shown in the corner that is farthest from the node, so it covers no neighbour.
import { announce } from "../announce.js";
import { drawText } from "../proof_diff.js";
import { nodeName, nodeState } from "./nouns.js";

/** Fill and place `tip` within `area`; without a node it is hidden. `box` is the node's place in the drawing. */
export function showTip(tip, area, node, box, rollouts) {
  tip.hidden = !node;
  if (!node) return;
  const name = document.createElement("strong");
  name.textContent = nodeName(node, rollouts);
  const words = document.createElement("span");
  words.className = "muted";
  words.textContent = [nodeState(node), node.check === "refuted" ? "a formula refuted" : ""].filter(Boolean).map((said) => ` · ${said}`).join("");
  const statement = document.createElement("p");
  drawText(statement, node.statement);
  tip.replaceChildren(name, words, statement);
  announce(statement);
  tip.classList.toggle("graph__tip--right", box.x1 + box.x2 < area.clientWidth);
  tip.classList.toggle("graph__tip--top", box.y1 + box.y2 > area.clientHeight);
}
