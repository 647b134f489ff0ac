// Reads runs as rows of replay.json from stdin and prints facts of the replay's story, after some of its events.
import { readFileSync } from "node:fs";
import { RunStory } from "../../static/js/run/story.js";

const plain = (map) => Object.fromEntries([...map].sort(([one], [other]) => (one < other ? -1 : 1)));

function facts(story) {
  const subjects = new Map([...story.subjects].map(([id, row]) => [id, [row.passes, row.valid, row.total, row.expected, row.confidence, row.low, row.high, row.unscored, row.status]]));
  const people = new Map([...story.people.keys()].map((lemma) => [lemma, story.wordOfPeople(lemma)]));
  return {
    seq: story.seq, subjects: plain(subjects), open: [...story.open.keys()], tools: plain(story.tools), merged: plain(story.merged),
    retired: [...story.retired].sort(), finders: plain(new Map([...story.finders].map(([id, found]) => [id, [...found].sort()]))),
    people: plain(people), checks: plain(story.checks), kept: [...story.kept].sort(), remembered: plain(story.remembered),
    votes: plain(new Map([...story.votes].filter(([id]) => !id.startsWith("pair/")).map(([id, cast]) => [id, cast.map(({ index, mark }) => [index, mark])]))),
    judgements: { ...story.judgements }, tools_used: [story.worked, story.wanted], selected: story.selected, over: story.isOver,
  };
}

const { rows, after } = JSON.parse(readFileSync(0, "utf8"));
const story = new RunStory();
const found = [];
rows.forEach((row, place) => {
  story.take(row, place);
  if (after.includes(place + 1)) found.push(facts(story));
});
const sums = { calls: story.calls, tokens: story.tokens, bars: [...story.bars].filter(([name]) => /^\d/.test(name)) };
console.log(JSON.stringify({ found, sums: { ...sums, bars: plain(new Map(sums.bars)) } }));
