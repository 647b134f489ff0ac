"""Whether a solution ends with the problem's answer: its last boxed expression, else its last line, in normal form."""

import re

from apps.reasoning.graph.statements import normalise_statement

_BOXED = re.compile(r"\\boxed\s*\{")
_LEAD = re.compile(r"^.*?(?:answer|result)\s*(?:is|:)\s*", re.IGNORECASE)


def final_answer(text: str) -> str:
    """The last boxed expression of a text with its braces closed, else its last line after “answer is” or “answer:”."""
    for match in reversed(list(_BOXED.finditer(text))):
        depth, start = 1, match.end()
        for place in range(start, len(text)):
            depth += {"{": 1, "}": -1}.get(text[place], 0)
            if not depth:
                return text[start:place]
    last = next((line for line in reversed(text.splitlines()) if line.strip()), "")
    return _LEAD.sub("", last)


def answers_agree(text: str, expected: str) -> bool:
    """Equal word for word in normal form; nothing is computed, so 1/2 and 0.5 differ."""
    return bool(expected.strip()) and _normal(final_answer(text)) == _normal(expected)


def _normal(text: str) -> str:
    bare = text.strip().strip("$").rstrip(".").strip()
    return normalise_statement(f"${bare}$")
