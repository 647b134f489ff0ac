// Prints facts about the places of the nodes of a difference as JSON; tests/explorations asserts on them.
import { PITCH_X, positionsOf } from "../../static/js/comparing/rows.js";

const node = (id, round) => ({ id, round });
const many = Array.from({ length: 40 }, (_, place) => node(`m${place}`, 2));
const nodes = [node("problem", 0), node("a", 1), node("b", 1), node("c", 1), ...many, node("x", 3), node("y", 3), node("proof/1", 4)];
const edges = [["c", "x"], ["a", "y"], ["x", "proof/1"], ["gone", "x"]].map(([source, target]) => ({ source, target }));
const at = positionsOf({ nodes, edges });
const all = nodes.map(({ id }) => at[id]);
const overlaps = all.flatMap((one, place) => all.slice(place + 1).filter((other) => one.y === other.y && Math.abs(one.x - other.x) < PITCH_X));
console.log(JSON.stringify({
  rows_in_order: at.problem.y < at.a.y && at.a.y < at.m0.y && Math.max(...many.map(({ id }) => at[id].y)) < at.x.y && at.x.y < at["proof/1"].y,
  overlaps: overlaps.length, near: at.y.x < at.x.x, lines_of_forty: new Set(many.map(({ id }) => at[id].y)).size,
}));
