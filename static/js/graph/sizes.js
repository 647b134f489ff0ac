// Sizes of nodes and distances between them, in pixels at zoom 1. Pure.

/** The vertical distance of two rows. */
export const PITCH_Y = 46;
/** The least free space between neighbours of a row; lines pass through it. */
export const GAP = 6;
export const HEIGHT = 32;
const WIDTH = { lemma: 146, human: 146, problem: 146, proof: 146, cluster: 146, candidate: 64, pair: 58, memory: 112 };

/** Width and height of a node's box. */
export const sizeOf = (node) => [WIDTH[node.kind] ?? WIDTH.lemma, HEIGHT];

/** Half of the horizontal room a node takes. */
export const halfWidth = (node) => (sizeOf(node)[0] + GAP) / 2;
