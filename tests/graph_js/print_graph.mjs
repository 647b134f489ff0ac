// Prints a seeded graph as JSON: node print_graph.mjs SIZE [AFTER]. With AFTER only what came after that many lemmas.
import { generate } from "./generator.mjs";

const [size, after = 0] = process.argv.slice(2).map(Number);
const graph = generate(size);
const late = (row) => !after || row.seq > after;
console.log(JSON.stringify({ ...graph, after, nodes: graph.nodes.filter(late), edges: graph.edges.filter(late) }));
