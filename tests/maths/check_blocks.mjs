// Reads { exhaustive: [text], sampled: [text] } from stdin and prints where a streamed text differs from the whole one.
import { blockTree, splitBlocks } from "../../static/js/blocks.js";

const whole = (text) => splitBlocks(text).flatMap((block) => blockTree(text, block));

/** What StreamText does with trees in place of nodes. */
class Stream {
  sealed = [];
  tail = "";
  trees = [];

  append(text) {
    this.tail += text;
    let rest = 0;
    this.trees = [];
    for (const block of splitBlocks(this.tail)) {
      const trees = blockTree(this.tail, block);
      if (!block.closed) {
        this.trees = trees;
        break;
      }
      this.sealed.push(...trees);
      rest = block.next;
    }
    this.tail = this.tail.slice(rest);
  }

  get tree() {
    return [...this.sealed, ...this.trees];
  }
}

let state = 12345;
const random = (below) => {
  state = (state * 1103515245 + 12345) % 2147483648;
  return state % below;
};

function differences(text, sizeOf) {
  const stream = new Stream();
  for (let at = 0; at < text.length; ) {
    const end = Math.min(text.length, at + sizeOf());
    stream.append(text.slice(at, end));
    at = end;
    const expected = JSON.stringify(whole(text.slice(0, end)));
    const got = JSON.stringify(stream.tree);
    if (expected !== got) return [{ text, prefix: text.slice(Math.max(0, end - 60), end), end, expected: expected.slice(-400), got: got.slice(-400) }];
  }
  return [];
}

let input = "";
for await (const piece of process.stdin) input += piece;
const { exhaustive, sampled } = JSON.parse(input);
const found = [];
let longestTail = 0;
for (const text of exhaustive) found.push(...differences(text, () => 1));
for (const text of sampled) {
  found.push(...differences(text, () => 1 + random(Math.max(7, text.length / 40))));
  const stream = new Stream();
  for (let at = 0; at < text.length; at += 50) {
    stream.append(text.slice(at, at + 50));
    longestTail = Math.max(longestTail, stream.tail.length);
  }
}
console.log(JSON.stringify({ found, longestTail }));
