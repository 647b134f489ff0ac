// Seeded lemma graphs in the shape of docs/graph_data.md, for layout, browser tests and benchmarks.

function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export function generate(count, { seed = 1, rollouts = 4, perRound = 6 } = {}) {
  const next = random(seed);
  const nodes = [node("problem", "problem", 0, 0, 0)];
  const edges = [];
  for (let i = 1; i <= count; i += 1) {
    const batch = Math.floor((i - 1) / perRound);
    const [rollout, round] = [batch % rollouts, 1 + Math.floor(batch / rollouts)];
    const id = `s${rollout}.${i}`;
    nodes.push({ ...node(id, "lemma", rollout, round, i), number: i, label: String(i), call: `s${rollout}/r${round}` });
    const older = nodes.slice(1, -1).filter((other) => other.round < round || other.rollout === rollout);
    const uses = round === 1 ? Math.floor(next() * 2) : 1 + Math.floor(next() * 2.4);
    for (let k = 0; k < uses && older.length; k += 1) {
      const used = older[Math.floor(next() ** 0.6 * older.length)];
      const edge = { id: `uses:${used.id}>${id}`, source: used.id, target: id, kind: "uses", seq: i };
      if (!edges.some((other) => other.id === edge.id)) edges.push({ ...edge, evidence: [], redundant: false, contributes: false });
    }
  }
  return { seq: count, after: 0, live: true, base: "/runs/x/", selected_proof: "", rounds: nodes.at(-1).round, rollouts,
    nodes, edges, contributing: [], redundant: [], frontier: [] };
}

function node(id, kind, rollout, round, seq) {
  const votes = kind === "lemma" ? seq % 5 : 0;
  return { id, kind, label: id, number: null, version: 1, rollout, round, call: "", status: votes ? "verified" : "proposed",
    confidence: votes ? votes / 4 : null, low: null, high: null, passes: votes, valid: votes ? 4 : 0, total: votes ? 4 : 0,
    expected: 4, unscored: "", human: "", found_by: 1, supersedes: "", merged_into: "", statement: `Statement ${id}`,
    contributes: false, first_seq: seq, seq };
}
