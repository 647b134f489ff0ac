"""Names bound by a sentence's own quantifier: in "for all real $x$", earlier conditions on $x$ do not apply."""

import re

from apps.mathcheck.words.declarations import GROUP, KIND, plain_name
from apps.mathcheck.words.reading import Line

_FOR_ALL = r"\bfor\s+(?:all|any|every|each|arbitrary)\s+"
_WITH_KIND = re.compile(rf"{_FOR_ALL}{KIND}\s+{GROUP}", re.IGNORECASE)
_WITH_ADJECTIVES = re.compile(rf"{_FOR_ALL}(?:(?:positive|negative|non-?negative|non-?zero|real|odd|even)\s+)+{GROUP}", re.I)
_WITH_SET = re.compile(rf"{_FOR_ALL}{GROUP}", re.IGNORECASE)
#: Words that refer to earlier text: "for all such n", "on this interval".
_LOOKS_BACK = re.compile(
    r"\b(?:such|these|those|this|that|same|above|our|said|again|previous|earlier|case|here|given|fixed|both|interval|remaining"
    r"|other|its|their|satisfy\w*)\b",
    re.IGNORECASE,
)
#: Words about some values only: "for both numbers $x$", "for three integers $a,b,c$".
_SOME = re.compile(
    r"\b(?:such(?!\s+(?:that|as))|these|those|both(?!\s+sides)|previous|earlier|remaining|certain|some)\b"
    r"|\bfor\s+(?:the|this|that|our|its|their|an?|one|two|three|four|five|exactly)\b(?!\s+sake)",
    re.IGNORECASE,
)
_FOR_SOME = re.compile(
    r"\bfor\s+(?:some|certain|infinitely|suitable|at\s+least|many|most|several|an?)\b|\bexists?\b|\binfinitely\b|\b(?:some|often)times?\b",
    re.IGNORECASE,
)
_OPENS_CASE = re.compile(r"(?<!\bbase )\b(?:cases?|subcases?|suppose|assume|assuming)\b(?!-)", re.IGNORECASE)
_SUPPOSES = re.compile(r"\b(?:if|when|whenever|otherwise)\b", re.IGNORECASE)


def bound_names(line: Line) -> frozenset[str]:
    """The names under a "for all" of the sentence; none if the sentence refers to earlier text."""
    if _LOOKS_BACK.search(line.words):
        return frozenset()
    found: set[str] = set()
    for pattern in (_WITH_KIND, _WITH_ADJECTIVES, _WITH_SET):
        for match in pattern.finditer(line.flat):
            listed = _listed(line, [int(place) for place in re.findall(r"\d+", match["group"])])
            if pattern is not _WITH_SET or any(line.statements[place].foreign == r"\in" for place in listed):
                found |= {name for place in listed if (name := _name(line, place))}
    return frozenset(found)


def is_about_some_values(words: str) -> bool:
    """Whether the sentence may be about some values only, or about values found before."""
    return _SOME.search(words) is not None


def is_for_some(after: str) -> bool:
    """Whether the words after a formula say that it holds for some values: "for some $n$"."""
    return _FOR_SOME.search(after) is not None


def supposes(words: str, has_conditions: bool) -> bool:
    """Whether the words open a case or a supposition that may still apply to later sentences."""
    return _OPENS_CASE.search(words) is not None or (has_conditions and _SUPPOSES.search(words) is not None)


def _listed(line: Line, places: list[int]) -> list[int]:
    """The places that belong to the list. A relation in a later formula is the claim, not part of the list."""
    kept = places[:1]
    for place in places[1:]:
        statement = line.statements[place]
        if (statement.relations or statement.foreign) and line.formulas[place] is not line.formulas[kept[0]]:
            break
        kept.append(place)
    return kept


def _name(line: Line, place: int) -> str | None:
    statement = line.statements[place]
    if statement.foreign == r"\in":
        tokens = statement.parts[0]
        return tokens[0].text if len(tokens) > 1 and tokens[0].kind == "letter" and tokens[1].text == r"\in" else None
    return plain_name(statement) if not statement.foreign else None
