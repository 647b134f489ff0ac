"""Repair a model's Python by rule: traces of copying out of a text, never the meaning of the code.

Source: AlphaApollo App. B.1, F.1 (rule-based correction of SyntaxError and IndentationError). Every repair is named, so that
people see what was run. Code that parses is left unchanged; only other code is searched for a fence.
"""

import ast
import re
import textwrap

from apps.reasoning.domain.values import Value

#: Longer code is not parsed here; it runs as it is.
LONGEST = 20_000
_FENCE = re.compile(r"^[ \t]*```[ \t]*([\w.+-]*)[^\n`]*\n(.*?)(?:^[ \t]*```[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_ONE_FENCE = re.compile(r"\A\s*```[ \t]*(?:i?py[\w.]*)?[ \t]*\n(.*)^[ \t]*```\s*\Z", re.DOTALL | re.MULTILINE | re.IGNORECASE)
_PROMPT = re.compile(r"^(?:>>>|\.\.\.)(?: |$)", re.MULTILINE)
_TYPOGRAPHIC = str.maketrans(
    {"“": '"', "”": '"', "„": '"', "‟": '"', "‘": "'", "’": "'", "‚": "'", "−": "-", "–": "-", "\u00a0": " ", "\u200b": ""}
)
_PYTHON = ("py", "ipy")
_MOST_LINES = 50

FENCE = "took the code out of its Markdown fence"
PROMPTS = "removed the prompts of an interactive session"
DEDENT = "removed the indentation of the whole"
QUOTES = "replaced typographic characters"
STRAY = "moved lines with stray indentation"


class Repaired(Value):
    """Code to run, with the repairs made."""

    code: str
    repairs: tuple[str, ...] = ()


def repaired(written: str) -> Repaired:
    """The repaired code; the code as written if no repair helps. Pure."""
    if _runs(written):
        return Repaired(code=written)
    code = _unfenced(written)
    repairs = [FENCE] if code != written else []
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


def _unfenced(text: str) -> str:
    """The code inside the fences of a text that is no code; the text itself if it has no fence.

    One fence around all is removed as a whole if the rest parses: fences inside it are parts of strings. Otherwise blocks of
    Python count, and unlabelled blocks that do something; output and other languages do not.
    """
    if (one := _ONE_FENCE.match(text)) and _runs(one[1]):
        return one[1].rstrip("\n")
    found = [(word.lower(), block.rstrip("\n")) for word, block in _FENCE.findall(text)]
    named = any(word.startswith(_PYTHON) for word, _ in found)
    first = next((place for place, (word, _) in enumerate(found) if not word and not named), -1)
    code = [
        block
        for place, (word, block) in enumerate(found)
        if word.startswith(_PYTHON) or place == first or (not word and _acts(block))
    ]
    return "\n".join(code) if code else text


def fenced_code(text: str) -> list[str]:
    """The Python in the fences of a prose text: labelled blocks, and unlabelled blocks that parse and do something."""
    found = [(word.lower(), block.strip("\n")) for word, block in _FENCE.findall(text)]
    return [block for word, block in found if block.strip() and (word.startswith(_PYTHON) or (not word and _acts(block)))]


def _acts(block: str) -> bool:
    """Does the block do anything, if it is code? Output that happens to parse is names and numbers."""
    if not _runs(block):
        return False
    return any(not isinstance(one, ast.Expr) or isinstance(one.value, ast.Call) for one in ast.parse(block).body)


def _runs(code: str) -> bool:
    return len(code) <= LONGEST and _parses(code)


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
    """Lines that are deeper, or less deep, than their surroundings allow, moved to the depth of the line before them."""
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
