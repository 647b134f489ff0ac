"""What a text certainly says about the names of a formal reading: a reading that lacks it does not count."""

from collections.abc import Mapping, Sequence
from typing import Any

from apps.mathcheck.formal import Formal, NotFormal, conditions_of, formal_of, scope_of
from apps.mathcheck.parts import BETWEEN, Part, moved
from apps.mathcheck.proving.facts import Bound, Facts
from apps.mathcheck.scope import Condition, Domain, Scope
from apps.mathcheck.testing.evaluating import constant
from apps.mathcheck.testing.work import ONE_AT_A_TIME, PER_PART, allowance
from apps.mathcheck.tex.notation import NotUnderstood
from apps.mathcheck.tex.tree import name, number
from apps.mathcheck.tex.written import related, written
from apps.mathcheck.words.background import Background
from apps.mathcheck.words.reading import read_line

_KINDS = ("real", "rational", "integer")
#: In place of a claim where only domains and conditions are of interest.
_NO_CLAIM = Condition("=", number(0), number(0))


def formal_at(value: Mapping[str, Any], parts: Sequence[Part], context: str, place: tuple[str, int, int]) -> Formal | None:
    """The reading in a JSON object of the formula at a place of a text in parts; as `formal_of`. Raises `NotFormal`."""
    text_id, start, end = place
    formal = formal_of(value, dict(parts)[text_id][start:end])
    if formal is not None and (missing := _missing(formal, _known_at(parts, context, text_id, start))):
        raise NotFormal(f"the text says {missing}, and the reading does not")
    return formal


def _known_at(parts: Sequence[Part], context: str, text_id: str, start: int) -> Scope:
    """What certainly holds in the sentence at a place, as for our proofs."""
    whole, at = (("", context), *parts), 0
    with ONE_AT_A_TIME:
        reader = Background(BETWEEN.join(text for _, text in whole), ())
        for part, text in whole:
            reader.outside = not part
            with allowance(PER_PART):
                for sentence in moved(text, at):
                    try:
                        reader.prepare(read_line(reader.text, sentence))
                    except (NotUnderstood, RecursionError):
                        continue
                    if part == text_id and sentence.start <= at + start < sentence.end:
                        return reader.provable
            at += len(text) + len(BETWEEN)
    return reader.provable


def _missing(formal: Formal, said: Scope) -> str:
    """A domain, condition or definition of the reading's names that the reading lacks, in words; "" if it has all."""
    names, own, given = [one for one, _ in formal.names], scope_of(formal), conditions_of(formal)
    about = tuple(one for one in said.conditions if one.names and one.names <= set(names))
    text = Facts(_NO_CLAIM, {one: said.domain(one) for one in names}, about)
    reading = Facts(_NO_CLAIM, {one: own.domain(one) for one in names}, tuple(given))
    for one in names:
        if _is_wider(own.domain(one), said.domain(one)) or _reaches(reading.bound(one), text.bound(one)):
            return f"that {', '.join(text.shown(frozenset([one])))}"
        if one in said.definitions and Condition("=", name(one), said.definitions[one]) not in given:
            return f"that {one} is {written(said.definitions[one])}"
    for condition in about:
        if condition not in given and not _is_bound(condition):
            return related(condition.left, condition.relation, condition.right, condition.modulus)
    return ""


def _is_wider(own: Domain, said: Domain) -> bool:
    """Whether a domain has values that a declared one has not, apart from its bounds."""
    if not said.declared:
        return False
    parity = said.parity is not None and own.parity != said.parity
    zero = said.sign == "nonzero" and own.sign not in ("nonzero", "positive", "negative")
    return _KINDS.index(own.kind) < _KINDS.index(said.kind) or parity or zero or (said.prime and not own.prime)


def _reaches(own: Bound, said: Bound) -> bool:
    """Whether a range goes beyond another one."""
    if said.low is not None:
        low = own.low is None or (own.start < said.start if own.whole else own.low < said.low)
        if low or (not own.whole and own.low == said.low and said.low_strict and not own.low_strict):
            return True
    if said.high is not None:
        high = own.high is None or (own.end > said.end if own.whole else own.high > said.high)
        return high or (not own.whole and own.high == said.high and said.high_strict and not own.high_strict)
    return False


def _is_bound(condition: Condition) -> bool:
    """Whether a condition compares a name with a number, so that bounds have it."""
    if condition.modulus is not None or condition.relation not in ("<", ">", r"\le", r"\ge", "="):
        return False
    sides = (condition.left, condition.right)
    return {"name"} == {side.op for side in sides if constant(side) is None} and any(
        constant(side) is not None for side in sides
    )
