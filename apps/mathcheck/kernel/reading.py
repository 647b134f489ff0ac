"""The claims of a text with what a proof may assume at their place: the reading that our provers use."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from apps.mathcheck.claims import Claim, Link, is_bare_link, links, read_link
from apps.mathcheck.kernel.checker import KernelChecker, KernelResult
from apps.mathcheck.kernel.statement import theorem_of
from apps.mathcheck.kernel.terms import NotExpressible, Theorem
from apps.mathcheck.parts import BETWEEN, Part, moved
from apps.mathcheck.proving.prove import facts_of
from apps.mathcheck.proving.verdicts import may_mean_other
from apps.mathcheck.scope import Scope
from apps.mathcheck.testing.work import ONE_AT_A_TIME, PER_PART, allowance
from apps.mathcheck.tex.notation import NotUnderstood
from apps.mathcheck.words.background import Background
from apps.mathcheck.words.reading import read_line
from apps.mathcheck.words.texts import Sentence

IN_WORDS = "the claim is made in words"


@dataclass(frozen=True, slots=True)
class Place:
    """A formula: its part of the text, and `start` and `end` in it."""

    text_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Read:
    """A claim as theorems: with the domains alone, then with conditions. Without any, `reason` says why."""

    place: Place
    quote: str
    theorems: tuple[Theorem, ...]
    reason: str = ""


def claims_of(parts: Sequence[Part], context: str = "", assumptions: Sequence[str] = ()) -> list[Read]:
    """The claims in the parts of a text, in order. `context` and `assumptions` hold in all of them."""
    whole = (("", context), *parts)
    found: list[Read] = []
    with ONE_AT_A_TIME:
        reader = _Reader(BETWEEN.join(text for _, text in whole), assumptions)
        start = 0
        for name, text in whole:
            reader.outside = not name
            with allowance(PER_PART):
                new = [one for sentence in moved(text, start) for one in reader.of_sentence(sentence)]
            found += [_placed(one, name, start) for one in new if name]
            start += len(text) + len(BETWEEN)
    return found


def check_place(place: Place, claims: Sequence[Read], checker: KernelChecker) -> KernelResult:
    """The answer of a proof assistant on the formula at a place."""
    read = claim_at(place, claims)
    if read is None:
        return KernelResult("not_expressible", checker.tool, reason=IN_WORDS)
    return check_read(read, checker)


def check_read(read: Read, checker: KernelChecker) -> KernelResult:
    """The answer on a claim: from the domains alone, else under the conditions."""
    result = KernelResult("not_expressible", checker.tool, checker.version(), reason=read.reason)
    for theorem in read.theorems:
        result = checker.check(theorem, read.quote)
        if result.outcome not in ("not_found", "stopped"):
            break
    return result


def claim_at(place: Place, claims: Sequence[Read]) -> Read | None:
    """The claim that ends where the formula ends."""
    same = (one for one in claims if (one.place.text_id, one.place.end) == (place.text_id, place.end))
    return next((one for one in same if place.start <= one.place.start < place.end), None)


class _Reader(Background):
    """Reads claims without testing them."""

    def of_sentence(self, sentence: Sentence) -> Iterator[Read]:
        """Yield the claims of the next sentence. Adds its conditions to the scopes."""
        try:
            line = read_line(self.text, sentence)
            conditions, _, divided = self.prepare(line)
        except (NotUnderstood, RecursionError):
            return
        for at, statement in enumerate(line.statements):
            if at in conditions or statement.foreign:
                continue
            inner = line.formulas[at].inner
            for link in links(statement):
                if not is_bare_link(link, self.scope):
                    yield self._read(link, inner + link.start, inner + link.end)
        for one in divided:
            yield self._read(one.link, *line.span(one.start, one.end))

    def _read(self, link: Link, start: int, end: int) -> Read:
        place, quote = Place("", start, end), self.text[start:end]
        try:
            claim = read_link(link, self.provable, "Euler" in self.text or "totient" in self.text)
            if may_mean_other(claim, self.provable, self.text, self.operations):
                raise NotExpressible("its letters or operations may mean something else in this text")
            return Read(place, quote, _theorems(claim, self.provable))
        except (NotExpressible, NotUnderstood) as error:
            return Read(place, quote, (), str(error))
        except (RecursionError, ArithmeticError, ValueError) as error:
            return Read(place, quote, (), f"it could not be translated ({type(error).__name__})")


def _theorems(claim: Claim, scope: Scope) -> tuple[Theorem, ...]:
    if len(claim.variants) > 1:
        raise NotExpressible("its notation has more than one reading")
    if claim.by_derivative or claim.differentiated:
        raise NotExpressible("a derivative")
    return tuple(dict.fromkeys(theorem_of(facts) for facts in facts_of(claim.variants[0], scope)))


def _placed(one: Read, name: str, start: int) -> Read:
    return replace(one, place=Place(name, one.place.start - start, one.place.end - start))
