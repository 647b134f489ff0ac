"""Checks a text sentence by sentence: conditions go into the scope, claims are tested under it."""

import re
import time
from collections.abc import Iterable, Iterator

from workers.mathcheck.alarm import TookTooLong, within
from workers.mathcheck.claims import Claim, Link, decimals, is_bare_link, letters, links, read_link
from workers.mathcheck.conditions import add_condition, add_conditions, condition_places
from workers.mathcheck.counting import WordClaim, counted_claims
from workers.mathcheck.curves import curve_claims
from workers.mathcheck.deciding import Evidence, Verdict, decide
from workers.mathcheck.declarations import read_declarations
from workers.mathcheck.divisibility import Divided, divided_in_words
from workers.mathcheck.excuses import Around, excuse_for_count, excuse_for_formula, is_reasoned, said_afterwards
from workers.mathcheck.findings import NOT_UNDERSTOOD, REFUTED, Anchor, Finding
from workers.mathcheck.notation import NotUnderstood
from workers.mathcheck.quantifiers import bound_names, speaks_of_some, supposes
from workers.mathcheck.reading import Line, read_line
from workers.mathcheck.restrictions import (
    goes_on_about_names,
    hides_condition,
    redefined_operations,
)
from workers.mathcheck.scope import Scope
from workers.mathcheck.texts import Sentence, sentences
from workers.mathcheck.tree import has
from workers.mathcheck.vocabulary import is_read, is_restricted, is_universal, named_inequality

SECONDS_PER_CLAIM = 0.5
WARMING = r"Let $x>0$ be real, $f(x)=\ln x$. Then $(x+1)^2=x^2$, $f'(x)=\frac2x$ and $\sqrt{x+1}\le\sin x$ for all real $x$."
AFTERWARDS = "it fails for some values, but may be meant under conditions that are said after it"
_SERIOUS = re.compile(
    r"\b(?:have|sum|summing|series|summation|equals?|is|get|formula|obtain|gives|identity|hence|so|thus|therefore|since|as|then|induction)\b",
    re.I,
)


def check_text(text: str, assumptions: Iterable[str] = (), text_id: str = "", seconds: float = 2.0) -> list[Finding]:
    """Findings in order of their places; after `seconds` the rest is not understood for want of time."""
    return Checker(text, assumptions, text_id, seconds).findings()


def warm() -> None:
    """Do once what is slow the first time (SymPy's and mpmath's caches), so that no claim pays for it."""
    check_text(WARMING, seconds=60)


class Checker:
    """One text under its assumptions."""

    def __init__(self, text: str, assumptions: Iterable[str], text_id: str, seconds: float) -> None:
        self.text, self.text_id = text, text_id
        self.deadline = time.monotonic() + seconds
        self.scope = Scope()
        #: What was said outside sentences that say "for all", and what this sentence says alone where it binds `bound` anew.
        self.standing, self.own = Scope(), Scope()
        self.bound: frozenset[str] = frozenset()
        #: Whether the text is that of the problem, whose conditions hold for good.
        self.outside = False
        self.read = True
        #: Operations with a meaning of their own: "define $a*b=…$".
        self.operations: set[tuple[str, object]] = set()
        self.totient = "Euler" in text or "totient" in text
        for assumption in assumptions:
            spelled = assumption if re.search(r"\$|\\\(|\\\[", assumption) else _dollars(assumption)
            for sentence in sentences(spelled):
                line = read_line(spelled, sentence)
                self._prepare(line, given=True)

    def findings(self) -> list[Finding]:
        """All findings of the text."""
        found: list[Finding] = []
        for sentence in sentences(self.text):
            found += self.of_sentence(sentence)
        return sorted(found, key=lambda finding: (finding.anchor.start, finding.anchor.end))

    def _prepare(self, line: Line, given: bool = False) -> tuple[set[int], set[str], list[Divided]]:
        divided = [] if given else list(divided_in_words(line))
        self.bound = frozenset() if given else bound_names(line)
        self.operations |= redefined_operations(line)
        if self.bound:
            self.own = self.scope.beside()
            self._enter(self.own, line, given, divided)
        if given or self.outside or not self.bound:
            self._enter(self.standing, line, given, divided)
        conditions, declared = self._enter(self.scope, line, given, divided)
        return conditions, declared, divided

    def _enter(self, scope: Scope, line: Line, given: bool, divided: list[Divided]) -> tuple[set[int], set[str]]:
        """Read what a sentence supposes into a scope."""
        declared, rest = read_declarations(scope, line.flat, line.statements)
        for claim in divided:
            rest = rest[: claim.start] + " " * (claim.end - claim.start) + rest[claim.end :]
        conditions = condition_places(line, scope, given)
        add_conditions(scope, line, conditions)
        self.read = is_read(line.words) and not is_restricted(rest) and not hides_condition(line)
        if not self.read:
            named = {letter for statement in line.statements for letter in letters(statement.tokens)} | declared
            if conditions or declared:
                scope.unread |= named
            if given or supposes(line.words, bool(conditions or declared)):
                scope.supposed |= named
        if (line.statements and not self.read) or goes_on_about_names(line):
            scope.readable = False
        return conditions, declared

    def _add(self, link: Link) -> None:
        scopes = [self.scope, self.own] if self.bound else [self.scope, self.standing]
        for scope in scopes:
            add_condition(scope, link)

    def of_sentence(self, sentence: Sentence) -> Iterator[Finding]:
        """The findings of the next sentence; its conditions go into the scope."""
        line = read_line(self.text, sentence)
        readable_before, unread_before = self.scope.readable, frozenset(self.scope.unread)
        conditions, declared, divided = self._prepare(line)
        for place, statement in enumerate(line.statements):
            if place in conditions or not statement.relations:
                continue
            for link in links(statement):
                if is_bare_link(link, self.scope):
                    self._add(link)
                    continue
                claim, verdict = self._checked(line, place, link, sentence, declared, readable_before)
                yield self._finding(line, place, link, claim, verdict)
        for one in divided:
            _, verdict = self._checked(line, one.place, one.link, sentence, declared, readable_before)
            yield self._in_words("divisibility", line.span(one.start, one.end), verdict)
        for worded in (*counted_claims(line, self.scope), *curve_claims(line, self.scope, unread_before)):
            if all(worded.start != one.start for one in divided):
                yield self._worded(worded, line, sentence)

    def _worded(self, claim: WordClaim, line: Line, sentence: Sentence) -> Finding:
        try:
            if time.monotonic() > self.deadline:
                raise NotUnderstood("no time was left")
            with within(SECONDS_PER_CLAIM):
                verdict = claim.test()
        except NotUnderstood as refusal:
            verdict = Verdict(NOT_UNDERSTOOD, str(refusal))
        except (TookTooLong, RecursionError):
            verdict = Verdict(NOT_UNDERSTOOD, "it took too long")
        if verdict.outcome == REFUTED:
            excuse = excuse_for_count(Around(self.text, sentence, line), claim.kind, claim.start, claim.end)
            verdict = Verdict(NOT_UNDERSTOOD, excuse) if excuse else verdict
        return self._in_words(claim.kind, line.span(claim.start, claim.end), verdict)

    def _in_words(self, kind: str, span: tuple[int, int], verdict: Verdict) -> Finding:
        anchor = Anchor(*span, self.text[span[0] : span[1]])
        return Finding(self.text_id, anchor, kind, verdict.outcome, verdict.reason, verdict.tests, verdict.counterexample)

    def _checked(
        self, line: Line, place: int, link: Link, sentence: Sentence, declared: set[str], readable_before: bool
    ) -> tuple[Claim | None, Verdict]:
        statement, claim = line.statements[place], None
        try:
            if time.monotonic() > self.deadline:
                raise NotUnderstood("no time was left")
            if statement.foreign:
                raise NotUnderstood(f"`{statement.foreign}` is not tested")
            with within(SECONDS_PER_CLAIM):
                claim, scope = self._read(link)
                evidence = self._evidence(claim, scope, line, place, link, sentence, declared, readable_before)
                verdict = self._decided(claim, scope, evidence)
                if scope is self.own and verdict.outcome == REFUTED:
                    verdict = self._despite_what_stands(verdict, line, link, evidence)
                if claim.names and verdict.outcome == REFUTED:
                    verdict = self._despite_what_follows(
                        verdict, Around(self.text, sentence, line), place, link, scope, evidence
                    )
        except NotUnderstood as refusal:
            verdict = Verdict(NOT_UNDERSTOOD, str(refusal))
        except (TookTooLong, RecursionError):
            verdict = Verdict(NOT_UNDERSTOOD, "it took too long")
        if verdict.outcome == NOT_UNDERSTOOD:
            self._add(link)
        return claim, verdict

    def _read(self, link: Link) -> tuple[Claim, Scope]:
        """The claim, and what it is tested under: the sentence alone where that binds all its names anew."""
        if self.bound:
            claim = read_link(link, self.own, self.totient)
            closed = bool(claim.names) and claim.names <= self.bound and not claim.opaque
            if closed and not claim.names & self.own.supposed:
                return claim, self.own
        return read_link(link, self.scope, self.totient), self.scope

    def _decided(self, claim: Claim, scope: Scope, evidence: Evidence) -> Verdict:
        began = time.process_time()

        def is_over(share: float) -> bool:
            return time.process_time() > began + share * SECONDS_PER_CLAIM or time.monotonic() > self.deadline

        return decide(claim, scope, evidence, lambda: is_over(0.5), lambda: is_over(0.7))

    def _despite_what_stands(self, verdict: Verdict, line: Line, link: Link, evidence: Evidence) -> Verdict:
        """The refutation, unless what was said before without "for all" saves the claim: the author may still mean it."""
        scope = self.standing.copied()
        self._enter(scope, line, False, list(divided_in_words(line)))
        again = self._decided(read_link(link, scope, self.totient), scope, evidence)
        if again.outcome == REFUTED:
            return verdict
        return Verdict(NOT_UNDERSTOOD, "it fails for some values, but may be meant under conditions that were said before")

    def _despite_what_follows(
        self, verdict: Verdict, around: Around, place: int, link: Link, scope: Scope, evidence: Evidence
    ) -> Verdict:
        """The refutation, unless a relation that is said behind the claim saves it."""
        scope, known = scope.copied(), len(scope.conditions)
        for later in said_afterwards(around, place):
            add_condition(scope, later)
        if len(scope.conditions) == known:
            return verdict
        again = self._decided(read_link(link, scope, self.totient), scope, evidence)
        return verdict if again.outcome == REFUTED else Verdict(NOT_UNDERSTOOD, AFTERWARDS)

    def _finding(self, line: Line, place: int, link: Link, claim: Claim | None, verdict: Verdict) -> Finding:
        inner = line.formulas[place].inner
        start, end = inner + link.start, inner + link.end
        if sized := _SIZED.search(self.text, inner, start):
            start = sized.start()
        kind = claim.kind if claim is not None else "identity" if link.relation == "=" else "inequality"
        anchor = Anchor(start, end, self.text[start:end])
        return Finding(self.text_id, anchor, kind, verdict.outcome, verdict.reason, verdict.tests, verdict.counterexample)

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
        some = speaks_of_some(words) and not names <= _under_conditions(scope)
        universal = read and not some and is_universal(words) and (scope is self.own or not self.bound)
        quantified = universal and names <= declared and not names & scope.unread
        around = Around(self.text, sentence, line)
        blocked, moduli = excuse_for_formula(around, claim, place, link, self.operations)
        return Evidence(
            blocked=blocked,
            moduli=moduli,
            quantified=quantified,
            declared=scope is self.scope
            and read
            and readable_before
            and not (some and names & declared)
            and all(scope.is_declared(name) for name in names),
            reasoned=claim.relation == "=" and bool(names) and is_reasoned(around, place),
            inequality_by_name=cited,
            asserted_sum=summed and read and len(names) == 1 and _SERIOUS.search(words) is not None,
            decimals=decimals(link),
        )


def _under_conditions(scope: Scope) -> set[str]:
    """The names that conditions which were read speak of: "such" may mean those."""
    return {name for condition in scope.conditions for name in condition.names}


#: What stands before the first sign of a formula, and belongs to it.
_SIZED = re.compile(r"(?:\\(?:left|[bB]igg?l?)\s*)+\Z")
_MATHS = re.compile(
    r"(?<![A-Za-z\\])(?:[b-zB-Z](?![A-Za-z])|a(?=\s*[,+\-*/^=<>]|$))(?:[^A-Za-z.;]|(?<![A-Za-z])[a-zA-Z](?![A-Za-z])|\\[a-z]+)*"
)


def _dollars(words: str) -> str:
    """Bare assumptions, "positive integers a, b", with dollars around what looks like mathematics."""

    def wrapped(found: re.Match[str]) -> str:
        core = found[0].rstrip(" ,")
        return f"${core}${found[0][len(core) :]}"

    return _MATHS.sub(wrapped, words)
