"""Prose that contradicts its verdict: objections with a pass, praise of the whole text with a fault."""

import re

from apps.reasoning.reading.answers import plain
from apps.reasoning.reading.said_values import Severity, severity

_SEVERITY = re.compile(r"\bseverity\b[ \t*_`\"”]*[:–—-]+[ \t*_`\"“]*([^\n]*)", re.IGNORECASE)
_LABELLED = re.compile(
    r"^[\s#*_`>+\-\d.)]*(critical|gaps?)(?:[ \t]+(?:errors?|issues?|points?))?[*_`]*[ \t]*:[*_`\s]*([^\n]*)$",
    re.IGNORECASE | re.MULTILINE,
)
#: "Issue: Justification Gap - …", as verifiers of olympiad proofs write it.
_ISSUE = re.compile(
    r"^[\s#*_`>+\-\d.)]*issue[*_`]*[ \t]*:[*_`\s]*(?:an?[ \t]+)?(critical[ \t]+error|(?:justification[ \t]+)?gap)\b",
    re.IGNORECASE | re.MULTILINE,
)
#: A heading that is only the severity, with what is wrong below it.
_HEADING = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]*\**|\*\*)[ \t]*(critical[ \t]+error|gap)s?[ \t]*\**[ \t]*\n+([^\n]+)$", re.IGNORECASE | re.MULTILINE
)
_NONE = re.compile(r"(?:none|no|nothing|0|n/a|-)?(?![\w-])", re.IGNORECASE)
_NOTES = re.compile(r"(?:minor|low|trivial|cosmetic|none|n/a|no\b)", re.IGNORECASE)
_DENIED = re.compile(
    r"\b(?:no|not|n't|without|any|free of|nothing|never|neither)\s+(?:\w+\s+){0,4}?"
    r"(?:errors?|gaps?|issues?|faults?|mistakes?|wrong|incorrect|invalid|missing|false|flaws?|flawed)\b",
    re.IGNORECASE,
)
_WRONG = re.compile(
    r"\b(?:step\s+\d+|the\s+(?:proof|solution|argument|answer))\s+(?:is|are|was)\s+(?:\w+\s+)?(?:wrong|incorrect|invalid|false|flawed)\b"
    r"|\bthe\s+answer\s+is\s+fail\b"
    r"|\bthe\s+(?:proof|solution|argument)(?:\s+provided)?\s+(?:has|contains)\s+(?:(?!(?:no|nor|not|any|neither)\b)[\w-]+\s+){0,2}?(?:critical\s+errors?|gaps?)\b",
    re.IGNORECASE,
)
#: "The solution is complete and rigorous", "all steps are correct", "the proof holds"; not "if", "up to step 3" or "not".
_RIGHT = re.compile(
    r"(?<!if )(?<!whether )\b(?:"
    r"the\s+(?:proof|solution|lemma|argument)(?:\s+provided)?\s+(?:holds\b"
    r"|is\s+(?:indeed\s+)?(?:an?\s+)?(?:correct|complete|rigorous|valid|sound)\b(?:\s+and\s+(?:\w+-)?\w+)?(?:\s+proof)?)"
    r"|(?:all|every)\s+(?:of\s+the\s+)?steps?\s+(?:are|is)\s+(?:correct|sound|valid)\b"
    r")(?!\s*,?\s*(?:up\s+to|until|except|apart|for|in|only|if|but|once|when|as\s+far)\b)",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"“[^”]*”|\"[^\"\n]*\"|<quote>.*?</quote>", re.DOTALL | re.IGNORECASE)
_BUT = re.compile(r"\b(?:but|however|except|although|though|unless|first\s+(?:error|fault|thing))\b", re.IGNORECASE)


def severities_in_lines(log: str) -> list[Severity | None]:
    """The severities that lines name (`Severity: gap`, `Critical: it divides by zero`); None for one that cannot be read."""
    found: list[Severity | None] = []
    for match in _SEVERITY.finditer(log):
        said = plain(match[1])
        found.append("note" if not said or _NOTES.match(said) else _alone(said))
    labelled = (*_LABELLED.finditer(log), *_HEADING.finditer(log))
    named = (match for match in labelled if not _NONE.fullmatch(plain(match[2]).partition(" ")[0]))
    all_named = [*named, *_ISSUE.finditer(log)]
    found.extend("critical" if match[1].lower().startswith("critical") else "gap" for match in all_named)
    return found


def _alone(said: str) -> Severity | None:
    """A severity, unless the following text says that there is none."""
    value = severity(said)
    return None if value and re.search(r"\b(?:none|no)\b", said, re.IGNORECASE) else value


def objects(log: str) -> bool:
    """Does prose call a step, or the whole, wrong?"""
    return bool(_WRONG.search(_DENIED.sub("", log)))


def approves(log: str) -> bool:
    """Does prose call the whole text right, in its own words, without a word that takes it back anywhere?"""
    own = _QUOTED.sub("", log)
    return bool(_RIGHT.search(own)) and not _BUT.search(own) and not objects(own)
