"""Random submissions: prose, formulas, lists, code, tables, letters beyond the first plane, marks, all line ends."""

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

PIECES = (
    "Let $x\\in\\mathbb{N}$.",
    "Then\n$$a^2\n\n+b$$\nso",
    "we have",
    "\\[ x = y.\\]",
    "\\begin{align}a&=b\\\\\n\nc&=d\\end{align}",
    "Case 1: $n$ is even.",
    "- first",
    "1. One",
    "# Head",
    "**Claim.**",
    "| a | b |\n|---|---|",
    "```\ncode $x$\n\nmore\n```",
    "`a$b`",
    "$a `b`\n- c$",
    "$x\n`y$ and z`",
    "𝔽_p is a field.",
    "e\u0301tude",
    "\u1100\u1161\u11a8",
    "a\u0302\u0323",
    "\U0001f469\u200d\U0001f469\u200d\U0001f467 ok.",
    "costs $5 and $6",
    "\\text{if $n$ is odd}",
    "$\\text{if $n$ is odd}$",
    "Done. ∎",
    "\\end{proof}",
    ">",
    "> quoted. Next one.",
    "x < y & z",
    "\ufeff",
    "\u0000",
    "\u2028",
    "\x85",
    "Similarly, for $y$ the claim holds.",
    "Similarly, for $z$ the claim holds.",
    "A" * 300 + ". Next.",
)
GAPS = ("\n", "\r\n", "\r", "\n\n", "\r\n\r\n", " ", " \n \n", "\t", "")
RAW = st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(GAPS)), max_size=14).map(
    lambda parts: "".join(piece + gap for piece, gap in parts)
)
#: Anything at all, halves of pairs apart, which no browser sends.
ANYTHING = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


def examples(count: int) -> settings:
    """A number of examples, without a time limit."""
    return settings(max_examples=count, deadline=None, suppress_health_check=[HealthCheck.too_slow])
