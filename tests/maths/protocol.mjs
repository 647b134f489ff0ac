// Reads texts from stdin and prints, for each, the tags that a stream draws quietly and its whole text.
import { readFileSync } from "node:fs";
import { blockTree, splitBlocks } from "../../static/js/blocks.js";

const texts = JSON.parse(readFileSync(0, "utf8"));
const flat = (nodes) => nodes.flatMap((node) => (node.c ? flat(node.c) : [node]));
console.log(JSON.stringify(texts.map((text) => {
  const nodes = flat(splitBlocks(`${text}\n\n`).flatMap((block) => blockTree(`${text}\n\n`, block)));
  return { tags: nodes.filter((node) => node.t === "tag").map((node) => node.v), breaks: nodes.filter((node) => node.t === "br").length, text: nodes.map((node) => node.v ?? "").join("") };
})));
