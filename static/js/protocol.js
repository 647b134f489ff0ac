// Tags of the answer format that a prompt requests (`<claim>`, `</step>`, `<check step="1" sound="yes">`). They stay in the text,
// but are drawn quietly, and keep their place at the start of a line. apps/ui/protocol.py finds the same tags.

const TAG = /<\/?[a-z][a-z_-]{1,30}(?:\s+[a-z-]{1,30}="[^"<>]{0,80}")*\s*\/?>/g;

/** The inline nodes with tags in texts split off as separate nodes `tag`. */
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
