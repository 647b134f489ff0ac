"""Mending the Python that a model wrote, by rule: what a copy out of a text leaves behind, never what the code says.

Source: AlphaApollo App. B.1, F.1 (rule-based correction of SyntaxError and IndentationError). Every repair is named, so that
people see what was run. Code that parses is left as it is, but for a fence around it.
"""

import ast
import re
import textwrap

from apps.reasoning.domain.values import Value

#: Longer code is not parsed here; it runs as it is.
LONGEST = 20_000
_FENCE = re.compile(
    r"^[ \t]*```[ \t]*(?:python3?|py)?[ \t]*\n(.*?)(?:^[ \t]*```[ \t]*$|\Z)", re.DOTALL | re.MULTILINE | re.IGNORECASE
)
_PROMPT = re.compile(r"^(?:>>>|\.\.\.)(?: |$)", re.MULTILINE)
_TYPOGRAPHIC = str.maketrans(
    {"“": '"', "”": '"', "„": '"', "‟": '"', "‘": "'", "’": "'", "‚": "'", "−": "-", "–": "-", "\u00a0": " ", "\u200b": ""}
)
_MOST_LINES = 50

FENCE = "took the code out of its Markdown fence"
PROMPTS = "removed the prompts of an interactive session"
DEDENT = "removed the indentation of the whole"
QUOTES = "replaced typographic characters"
STRAY = "moved lines with stray indentation"


class Repaired(Value):
    """Code to run, and what was mended in it."""

    code: str
    repairs: tuple[str, ...] = ()


def repaired(written: str) -> Repaired:
    """The code with what could be mended; as it was written where nothing helps. Pure."""
    code, repairs = written, []
    if blocks := _FENCE.findall(code):
        code, repairs = "\n".join(block.rstrip("\n") for block in blocks), [FENCE]
    if len(code) > LONGEST or _parses(code):
        return Repaired(code=code, repairs=tuple(repairs))
    tried, done = code, list(repairs)
    for name, mend in ((PROMPTS, _without_prompts), (DEDENT, textwrap.dedent), (QUOTES, _plain), (STRAY, _straightened)):
        mended = mend(tried)
        if mended != tried:
            tried = mended
            done.append(name)
        if _parses(tried):
            return Repaired(code=tried, repairs=tuple(done))
    return Repaired(code=code, repairs=tuple(repairs))


def _parses(code: str) -> bool:
    return _fault(code) is None


def _fault(code: str) -> Exception | None:
    try:
        ast.parse(code)
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        return error
    return None


def _without_prompts(code: str) -> str:
    return _PROMPT.sub("", code) if code.lstrip().startswith(">>>") else code


def _plain(code: str) -> str:
    return code.translate(_TYPOGRAPHIC)


def _straightened(code: str) -> str:
    """Lines that are deeper, or less deep, than their surroundings allow, moved to where the line before them stands."""
    lines = code.expandtabs(4).split("\n")
    for _ in range(_MOST_LINES):
        fault = _fault("\n".join(lines))
        if not isinstance(fault, IndentationError) or fault.lineno is None or not 0 < fault.lineno <= len(lines):
            break
        at = fault.lineno - 1
        before = next((line for line in reversed(lines[:at]) if line.strip()), "")
        wanted, there = _depth(before), _depth(lines[at])
        if before.rstrip().endswith(":") or wanted == there:
            break
        while at < len(lines) and (not lines[at].strip() or _depth(lines[at]) >= there):
            lines[at] = " " * max(0, _depth(lines[at]) - there + wanted) + lines[at].lstrip()
            at += 1
    return "\n".join(lines)


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())
