// Cards over the boxes that are seen from near: statement, votes and verdicts.
import { announce } from "../announce.js";
import { drawText } from "../proof_diff.js";
import { NEAR } from "./labels.js";
import { nodeName, nodeState } from "./nouns.js";

const MOST = 40;
/** The bar of the votes at the lower edge of a box stays uncovered. */
const VOTES = 4;

/** Draw the cards of `view` into `layer`. Returns a function that draws them again. */
export function mountCards(view, layer) {
  const cards = new Map();
  return function draw() {
    const zoom = view.cy.zoom();
    const seen = zoom < NEAR ? [] : inSight(view);
    const wanted = new Set(seen.map((node) => node.id()));
    for (const [id, { element }] of cards) {
      if (wanted.has(id)) continue;
      element.remove();
      cards.delete(id);
    }
    for (const node of seen) {
      const card = cardOf(view.graph.nodes.get(node.id()));
      const { x, y } = node.renderedPosition();
      Object.assign(card.style, {
        translate: `${x}px ${y - (VOTES / 2) * zoom}px`, width: `${node.width() * zoom}px`, height: `${(node.height() - VOTES) * zoom}px`,
      });
    }
  };

  function cardOf(node) {
    const state = [nodeState(node), node.status, node.human, node.check, node.title].join();
    const known = cards.get(node.id);
    if (known?.state === state) return known.element;
    known?.element.remove();
    const element = document.createElement("div");
    element.className = `graph__card graph__card--${node.human || node.status || "none"}`;
    const head = document.createElement("p");
    head.className = "graph__card-head";
    const signs = [node.status === "rejected" ? "✕ rejected" : node.status === "refuted" ? "no votes" : "", ["merged", "retired"].includes(node.status) ? node.status : "", node.check === "refuted" ? "≠ a formula refuted" : "", node.human ? `${node.human} by people` : ""];
    head.textContent = [nodeName(node, view.rollouts), nodeState(node), ...signs].filter((said, at, all) => said && all.indexOf(said) === at).join(" · ");
    const text = document.createElement("p");
    text.className = "graph__card-text";
    drawText(text, node.statement);
    element.append(head, text);
    layer.append(element);
    cards.set(node.id, { element, state });
    announce(text);
    return element;
  }
}

function inSight(view) {
  const [width, height] = [view.cy.width(), view.cy.height()];
  const isSeen = (node) => {
    const box = node.renderedBoundingBox();
    return box.x2 > 0 && box.y2 > 0 && box.x1 < width && box.y1 < height && view.graph.nodes.has(node.id());
  };
  return view.cy.nodes(":visible").filter(isSeen).toArray().slice(0, MOST);
}
