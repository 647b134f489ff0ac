"""Checks a text sentence by sentence: conditions go into the scope; claims are tested under it."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from apps.mathcheck.claims import Claim, Link, decimals, is_bare_link, letters, links, read_link
from apps.mathcheck.findings import NOT_UNDERSTOOD, REFUTED, STOPPED, Anchor, Finding
from apps.mathcheck.proving.verdicts import about_a_recurrence, counted_in_full, may_be_proved, or_proved
from apps.mathcheck.scope import Scope
from apps.mathcheck.testing.alarm import PER_CLAIM_S, PER_TEXT_S, Guard, TookTooLong, within
from apps.mathcheck.testing.counting import WordClaim, counted_claims
from apps.mathcheck.testing.curves import curve_claims
from apps.mathcheck.testing.deciding import Evidence, Verdict, decide
from apps.mathcheck.testing.work import METER, ONE_AT_A_TIME, PER_CLAIM, allowance
from apps.mathcheck.tex.notation import NotUnderstood
from apps.mathcheck.tex.tree import TOO_DEEP, has
from apps.mathcheck.words.background import Background
from apps.mathcheck.words.conditions import add_condition, concludes
from apps.mathcheck.words.divisibility import divided_in_words
from apps.mathcheck.words.excuses import (
    Around,
    excuse_for_count,
    excuse_for_formula,
    excuse_for_words,
    has_reason,
    later_relations,
    says,
)
from apps.mathcheck.words.quantifiers import is_about_some_values, is_for_some
from apps.mathcheck.words.reading import Line, read_line
from apps.mathcheck.words.stance import is_about_cases, may_be_hypothesis
from apps.mathcheck.words.texts import Sentence, sentences
from apps.mathcheck.words.vocabulary import is_universal, named_inequality

GIVEN_TWICE = "the text gives a name in two ways, perhaps in two cases"
NO_WORK = "earlier formulas used up the computation that one text or step may use"
GUARDED = "the last guard on time ended its test; another check may complete it"
#: Limits on the characters and formulas of a sentence. The longest of 12,000 in foreign proofs has 339 and 13.
LONGEST_SENTENCE, MOST_STATEMENTS = 3_000, 200
WARM_UP = r"Let $x>0$ be real, $f(x)=\ln x$. Then $(x+1)^2=x^2$, $f'(x)=\frac2x$ and $\sqrt{x+1}\le\sin x$ for all real $x$."
BARE = "a name alone on one side: a definition, or a claim that was not tested"
AFTERWARDS = "it fails for some values, but may be meant under conditions that follow it"
_DRAWN = re.compile(r"^\W*(?:so|hence|thus|therefore|consequently|it\s+follows)\b", re.I)
_SERIOUS = re.compile(
    r"\b(?:have|sum|summing|series|summation|equals?|is|get|formula|obtain|gives|identity|hence|so|thus|therefore|since|as|then|induction)\b",
    re.I,
)


def check_text(text: str, assumptions: Iterable[str] = (), text_id: str = "", seconds: float = PER_TEXT_S) -> list[Finding]:
    """Findings ordered by place. Claims left after `seconds` of processor time, the last guard, are stopped."""
    with ONE_AT_A_TIME:
        return Checker(text, assumptions, text_id, seconds).findings()


def warm() -> None:
    """Fill the caches of SymPy and mpmath, so that no claim pays for it."""
    check_text(WARM_UP)


def in_order(found: Iterable[Finding]) -> list[Finding]:
    """The findings sorted by place."""
    return sorted(found, key=lambda finding: (finding.anchor.start, finding.anchor.end))


class Checker(Background):
    """One text under its assumptions."""

    def __init__(self, text: str, assumptions: Iterable[str], text_id: str, seconds: float) -> None:
        super().__init__(text, assumptions)
        self.text_id = text_id
        self.guard = Guard(seconds)
        self.totient = "Euler" in text or "totient" in text

    def findings(self) -> list[Finding]:
        """All findings of the text."""
        return in_order(finding for sentence in sentences(self.text) for finding in self.of_sentence(sentence))

    def of_sentence(self, sentence: Sentence) -> Iterator[Finding]:
        """Yield the findings of the next sentence. Adds its conditions to the scope."""
        readable_before, unread_before = self.scope.readable, frozenset(self.scope.unread)
        try:
            with within(PER_CLAIM_S):
                line = read_line(self.text, sentence)
                if len(line.flat) > LONGEST_SENTENCE or len(line.statements) > MOST_STATEMENTS:
                    raise NotUnderstood("its sentence is too long to be read")
                conditions, declared, divided = self.prepare(line)
                worded = [*counted_claims(line, self.scope), *curve_claims(line, self.scope, unread_before)]
        except Exception as error:
            yield from self._unreadable(sentence, error)
            return
        for place, statement in enumerate(line.statements):
            if place in conditions or not statement.relations:
                continue
            yield from self._of_chain(line, place, sentence, declared, readable_before)
        for one in divided:
            _, verdict = self._checked(line, one.place, one.link, sentence, declared, readable_before)
            yield self._in_words("divisibility", line.span(one.start, one.end), verdict)
        for claimed in worded:
            if all(claimed.start != one.start for one in divided):
                yield self._worded(claimed, line, sentence)

    def _of_chain(
        self, line: Line, place: int, sentence: Sentence, declared: set[str], readable_before: bool
    ) -> Iterator[Finding]:
        """Yield the findings of a statement. If one of its relations has no result, the others say so."""
        found: list[Finding] = []
        for link in links(line.statements[place]):
            bare, claim, verdict = is_bare_link(link, self.scope), None, Verdict(NOT_UNDERSTOOD, BARE)
            if not bare or concludes(line, place, self.scope):
                claim, verdict = self._checked(line, place, link, sentence, declared, readable_before)
            if bare and (not verdict.is_decided or (verdict.outcome == REFUTED and not (claim and claim.names <= self.bound))):
                self.add(link)
                if len(line.statements[place].relations) > 1:
                    found.append(self._finding(line, place, link, None, Verdict(NOT_UNDERSTOOD, BARE)))
                continue
            found.append(self._finding(line, place, link, claim, verdict))
        partial = any(one.outcome in (NOT_UNDERSTOOD, STOPPED) for one in found)
        yield from (replace(one, partial=partial) for one in found if one.reason != BARE or partial)

    def _unreadable(self, sentence: Sentence, error: Exception) -> Iterator[Finding]:
        """Yield findings of a sentence that could not be read. It may have restricted any of its letters."""
        named = {letter for formula in sentence.formulas for letter in re.findall(r"[A-Za-z]", formula.tex)}
        self.scope.readable = False
        self.restrained.everything = True
        self.scope.unread |= named
        self.scope.supposed |= named
        verdict = _verdict_of_error(error)
        for formula in filter(lambda one: _RELATES.search(one.tex), sentence.formulas):
            anchor = Anchor(formula.start, formula.end, self.text[formula.start : formula.end])
            yield Finding(self.text_id, anchor, "identity", verdict.outcome, verdict.reason)

    def _guarded(self, test: Callable[[], Verdict]) -> Verdict:
        """The verdict of a test. An error of the test affects only its own claim."""
        if self.guard.is_over or METER.is_over:
            return Verdict(STOPPED, GUARDED) if self.guard.is_over else Verdict(NOT_UNDERSTOOD, NO_WORK)
        try:
            with within(PER_CLAIM_S):
                return test()
        except Exception as error:
            return _verdict_of_error(error)

    def _worded(self, claim: WordClaim, line: Line, sentence: Sentence) -> Finding:
        def tested() -> Verdict:
            with allowance(PER_CLAIM):
                verdict = claim.test()
            if verdict.outcome != REFUTED:
                return counted_in_full(verdict)
            excuse = excuse_for_count(Around(self.text, sentence, line), claim.kind, claim.start, claim.end)
            return Verdict(NOT_UNDERSTOOD, excuse) if excuse else verdict

        return self._in_words(claim.kind, line.span(claim.start, claim.end), self._guarded(tested))

    def _in_words(self, kind: str, span: tuple[int, int], verdict: Verdict) -> Finding:
        anchor = Anchor(*span, self.text[span[0] : span[1]])
        return self._of_verdict(anchor, kind, verdict)

    def _of_verdict(self, anchor: Anchor, kind: str, verdict: Verdict) -> Finding:
        outcome, reason, tests, tried = verdict.outcome, verdict.reason, verdict.tests, verdict.tried
        example, certificate = verdict.counterexample, verdict.certificate
        return Finding(self.text_id, anchor, kind, outcome, reason, tests, tried, example, certificate)

    def _checked(
        self, line: Line, place: int, link: Link, sentence: Sentence, declared: set[str], readable_before: bool
    ) -> tuple[Claim | None, Verdict]:
        statement, claim = line.statements[place], None

        def tested() -> Verdict:
            nonlocal claim
            if statement.foreign:
                raise NotUnderstood(f"`{statement.foreign}` is not tested")
            claim, scope = self._read(link)
            evidence = self._evidence(claim, scope, line, place, link, sentence, declared, readable_before)
            verdict = self._decided(claim, scope, evidence)
            if scope is self.own and verdict.outcome == REFUTED:
                verdict = self._unless_saved_before(verdict, line, link, evidence)
            around = Around(self.text, sentence, line)
            asserted = not excuse_for_words(around, place) and not is_for_some(line.after(place))
            verdict = about_a_recurrence(verdict, claim, self.provable, self.now(line), asserted)
            if verdict.outcome == REFUTED and letters([*link.left, *link.right]) & self.given_twice:
                verdict = Verdict(NOT_UNDERSTOOD, GIVEN_TWICE)
            if claim.names and verdict.outcome == REFUTED:
                verdict = self._unless_saved_after(verdict, around, place, link, scope, evidence)
            return self._or_proved(verdict, link, line.words)

        verdict = self._guarded(tested)
        if verdict.outcome in (NOT_UNDERSTOOD, STOPPED):
            self.add(link)
        return claim, verdict

    def _or_proved(self, verdict: Verdict, link: Link, words: str) -> Verdict:
        if not may_be_proved(verdict) or is_about_cases(words) or letters([*link.left, *link.right]) & self.given_twice:
            return verdict
        claim = read_link(link, self.provable, self.totient)
        return or_proved(verdict, claim, self.provable, self.text, self.operations)

    def _read(self, link: Link) -> tuple[Claim, Scope]:
        """The claim and its scope: the sentence alone if it binds all names of the claim, else everything said so far."""
        if self.bound:
            claim = read_link(link, self.own, self.totient)
            closed = bool(claim.names) and claim.names <= self.bound and not claim.opaque
            if closed and not claim.names & self.own.supposed:
                return claim, self.own
        return read_link(link, self.scope, self.totient), self.scope

    def _decided(self, claim: Claim, scope: Scope, evidence: Evidence) -> Verdict:
        with allowance(PER_CLAIM):
            return decide(claim, scope, evidence)

    def _unless_saved_before(self, verdict: Verdict, line: Line, link: Link, evidence: Evidence) -> Verdict:
        """The refutation, unless earlier conditions outside "for all" save the claim: they may still apply."""
        scope = self.unquantified.copied()
        self.enter(scope, line, False, list(divided_in_words(line)))
        again = self._decided(read_link(link, scope, self.totient), scope, evidence)
        if again.outcome == REFUTED:
            return verdict
        return Verdict(NOT_UNDERSTOOD, "it fails for some values, but may be meant under earlier conditions")

    def _unless_saved_after(
        self, verdict: Verdict, around: Around, place: int, link: Link, scope: Scope, evidence: Evidence
    ) -> Verdict:
        """The refutation, unless a relation after the claim saves it."""
        scope, known = scope.copied(), len(scope.conditions)
        for later in later_relations(around, place):
            add_condition(scope, later)
        if len(scope.conditions) == known:
            return verdict
        again = self._decided(read_link(link, scope, self.totient), scope, evidence)
        return verdict if again.outcome == REFUTED else Verdict(NOT_UNDERSTOOD, AFTERWARDS)

    def _is_complete(self, names: frozenset[str], scope: Scope) -> bool:
        reached = names.union(*(one.names for one in scope.relevant(names)))
        return bool(names) and self.restrained.is_complete(names, reached)

    def _finding(self, line: Line, place: int, link: Link, claim: Claim | None, verdict: Verdict) -> Finding:
        inner = line.formulas[place].inner
        start, end = inner + link.start, inner + link.end
        if sized := _SIZED.search(self.text, inner, start):
            start = sized.start()
        kind = claim.kind if claim is not None else "identity" if link.relation == "=" else "inequality"
        anchor = Anchor(start, end, self.text[start:end])
        return self._of_verdict(anchor, kind, verdict)

    def _evidence(
        self,
        claim: Claim,
        scope: Scope,
        line: Line,
        place: int,
        link: Link,
        sentence: Sentence,
        declared: set[str],
        readable_before: bool,
    ) -> Evidence:
        words, read = line.words, self.read
        names = claim.names - claim.opaque
        cited = named_inequality(words) if claim.relation in ("<", ">", r"\le", r"\ge") else ""
        summed = any(has(side, "sum", "prod") for variant in claim.variants for side in (variant.left, variant.right))
        some = is_about_some_values(words) and not names <= scope.conditioned
        universal = read and not some and is_universal(words) and (scope is self.own or not self.bound)
        asserts = not may_be_hypothesis(line.before(place), line.after(place))
        quantified = asserts and universal and names <= declared and not names & scope.unread
        around = Around(self.text, sentence, line)
        operations = self.operations
        return Evidence(
            excuse=lambda: excuse_for_formula(around, claim, place, link, operations),
            has_reason=lambda: bool(names) and has_reason(around, place),
            quantified=quantified,
            declared=asserts
            and scope is self.scope
            and read
            and readable_before
            and not (some and names & declared)
            and all(scope.is_declared(name) for name in names),
            inequality_by_name=cited,
            asserted_sum=summed and read and len(names) == 1 and _SERIOUS.search(words) is not None,
            decimals=decimals(link),
            complete=(names <= self.bound or claim.relation == "=")
            and self._is_complete(names, scope)
            and says(line.before(place), line.after(place), names <= self.scope.settled),
            fully_conditioned=read and _DRAWN.search(words) is not None and scope.is_fully_conditioned(names),
        )


def _verdict_of_error(error: Exception) -> Verdict:
    """The verdict on a claim whose check raised `error`."""
    if isinstance(error, TookTooLong):
        return Verdict(STOPPED, GUARDED)
    if isinstance(error, NotUnderstood):
        return Verdict(NOT_UNDERSTOOD, str(error))
    broke_off = f"its check broke off ({type(error).__name__})"
    return Verdict(NOT_UNDERSTOOD, TOO_DEEP if isinstance(error, RecursionError) else broke_off)


_RELATES = re.compile(r"[=<>≤≥≠≡]|\\(?:l|g|n)e(?:q|qslant)?(?![a-z])|\\(?:equiv|n?mid|lt|gt)(?![a-z])")
#: Sizing commands before the first sign of a formula, which belong to it.
_SIZED = re.compile(r"(?:\\(?:left|[bB]igg?l?)\s*)+\Z")
