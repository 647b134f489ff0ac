// The legend of the drawing. graph.css gives its swatches the tokens that style.js and marks.js draw with.

export const LEGEND = [
  ["Confidence (stripe; from far away the fill)", [
    ["ramp ramp--0", "0–20 %"], ["ramp ramp--1", "20–40 %"], ["ramp ramp--2", "40–60 %"], ["ramp ramp--3", "60–80 %"],
    ["ramp ramp--4", "80–100 %"], ["ramp ramp--none", "not yet verified"], ["key key--unread", "votes could not be read"],
  ]],
  ["Votes (bar)", [["key key--votes", "passed, failed, unread; the gap is still to come"]]],
  ["A person's verdict (border)", [
    ["key key--accepted", "accepted"], ["key key--rejected", "rejected"], ["key key--disputed", "disputed"],
  ]],
  ["Signs", [["key key--rejected-sign", "rejected by the verifiers"], ["key key--refuted", "a formula in it is refuted; not part of the confidence"]]],
  ["Kind (shape)", [
    ["key key--lemma", "lemma; 1.7: lemma 7 of rollout 1; ×2: found by two rollouts; 7′: a correction"], ["key key--human", "lemma a person put in"],
    ["key key--box", "problem"], ["key key--proof", "proof version"], ["key key--faded", "retired or merged"],
  ]],
  ["Lines", [
    ["key key--uses", "is used by"], ["key key--path", "the selected proof rests on it"],
    ["key key--corrects", "corrected or revised to"], ["key key--merges", "merged into"],
  ]],
];

const FILL = LEGEND[0][1].slice(0, 5);
const LINEAGE_LEGEND = [
  ["Mean score, or share of passed checks (stripe)", [...FILL, ["ramp ramp--none", "not yet judged"], ["key key--unread", "could not be read"]]],
  ["Reports and checks (bar)", [["key key--votes", "full score or passed, less or failed, unread; the gap is still to come"]]],
  ["Kind (shape)", [["key key--lemma", "solution; 2.5: the fifth of round 2"], ["key key--pair", "pair of the knock-out, with its winner"], ["key key--box", "problem"], ["key key--proof", "what is remembered after a round of evolution"]]],
  ["Lines", [["key key--uses", "went into, or was shown to"], ["key key--path", "the result comes from it"], ["key key--merges", "lost the pair"]]],
];

/** Fill `element` with the legend of a graph of lemmas, or of solutions. */
export function drawLegend(element, noun = "lemma") {
  const groups = (noun === "solution" ? LINEAGE_LEGEND : LEGEND).map(([title, entries]) => {
    const group = document.createElement("div");
    const heading = document.createElement("p");
    heading.className = "legend__title";
    heading.textContent = title;
    const list = document.createElement("ul");
    for (const [swatch, words] of entries) {
      const item = document.createElement("li");
      const mark = document.createElement("span");
      mark.className = swatch;
      item.append(mark, ` ${words}`);
      list.append(item);
    }
    group.append(heading, list);
    return group;
  });
  element.replaceChildren(...groups);
}
