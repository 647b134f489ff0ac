// Tags that a prompt asks a model to write (`<claim>`, `</step>`, `<check step="1" sound="yes">`) stand in its text like any
// word. They stay where they are, but are drawn quietly; one that
// begins a line begins a line. apps/ui/protocol.py finds the same ones.

const TAG = /<\/?[a-z][a-z_-]{1,30}(?:\s+[a-z-]{1,30}="[^"<>]{0,80}")*\s*\/?>/g;

/** The same inline nodes with the tags in their texts as nodes `tag` of their own. */
export function withTags(nodes) {
  return nodes.flatMap((node) => (node.t === "text" ? pieces(node.v) : [node.c ? { ...node, c: withTags(node.c) } : node]));
}

function pieces(text) {
  const out = [];
  let at = 0;
  for (const { 0: tag, index } of text.matchAll(TAG)) {
    const before = text.slice(at, index);
    const isOnItsLine = before.endsWith("\n");
    if (before.length > Number(isOnItsLine)) out.push({ t: "text", v: isOnItsLine ? before.slice(0, -1) : before });
    if (isOnItsLine) out.push({ t: "br" });
    out.push({ t: "tag", v: tag });
    at = index + tag.length;
  }
  if (at < text.length || !out.length) out.push({ t: "text", v: text.slice(at) });
  return out;
}
