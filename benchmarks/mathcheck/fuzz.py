"""Random formulas of the verifier's grammar, and random text that only looks like TeX: no crash, no hang, no lost formula.

`python -m benchmarks fuzz` checks 100,000 inputs. `python -m benchmarks.mathcheck.fuzz COUNT [SEED]` checks COUNT of them, and
prints every input that fails. A seed gives the same inputs everywhere.
"""

import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from apps.mathcheck.checking import check_text, warm
from apps.mathcheck.findings import STOPPED, Finding
from benchmarks.figures import Figure

INPUTS, QUICK_INPUTS = 100_000, 2_000
#: Seconds of processor time that one input may take.
SLOWEST_S = 10.0
Maker = Callable[[random.Random], str]
BROKEN = "its check broke off"
RELATIONS = ("=", r"\le", r"\ge", "<", ">", r"\ne", r"\equiv", r"\mid", r"\nmid")
DECLARATIONS = (
    "",
    "Let $a,b,c$ be positive reals. ",
    "Let $n$ be a positive integer. ",
    "Let $x$ be real and $k>2$ an integer. ",
    "Let $p$ be an odd prime. ",
    "Let $f(x)=x^2-1$ and $a_1=1$, $a_{n+1}=2a_n+1$. ",
    "Suppose that $a+b=3$ and $ab=1$. ",
)
OPENINGS = ("Then ", "We have ", "Hence ", "For all reals $x,a$, ", "It follows that ", "Show that ", "If $x>1$, then ")
_COMMANDS = r"""
    \frac \sqrt \sum_{k=1}^n \prod \binom \left( \right) \lfloor \rfloor \lceil \rceil \cdot \dots \pmod \sin \log \infty
    \begin{align} \end{align} \text{if} \unknown \mathbb{R} \in \pm \not\equiv \gcd(a,b) \overline{ab} \frac12 \sqrt[3]
    { } ( ) [ ] | ^ _ ^{ _{ & \\ \ $ $$ ! ' , . ; : = < > + - * / 0 1 2 7 10 x y n a_n f(x) 9^{9^{9^9}} 2^{100000}
    let if for all integers odd prime then because sum of divisible by é ∑ ≤ ² 𝔸
"""
PIECES = (*_COMMANDS.split(), "", "\n\n", "\t", "\u00a0", "\x00", "\u200b")


@dataclass
class Fuzzed:
    """What the inputs came to. `failed` has the inputs that raised, broke off, were stopped, or took too long."""

    inputs: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    failed: list[tuple[str, str]] = field(default_factory=list)
    slowest: float = 0.0

    def of_kind(self, kind: str) -> int:
        """The number of failures of a kind."""
        return sum(one == kind for one, _ in self.failed)


def figures(quick: bool = False) -> list[Figure]:
    """Failures over many inputs."""
    found = fuzzed(QUICK_INPUTS if quick else INPUTS)
    for kind, text in found.failed:
        sys.stderr.write(f"{kind}: {text!r}\n")
    named = f"{found.inputs:,} random inputs: "
    return [
        Figure(named + "uncaught errors", found.of_kind("raised"), target=0),
        Figure(named + "checks that broke off", found.of_kind("broke off"), target=0),
        Figure(named + "findings whose place is wrong", found.of_kind("misplaced"), target=0),
        Figure(named + "findings that the last guard stopped", found.of_kind("stopped"), target=0),
        Figure("slowest input, processor time", found.slowest, "s", target=SLOWEST_S),
    ]


def fuzzed(count: int, seed: int = 2026, kinds: Sequence[Maker] = ()) -> Fuzzed:
    """Check random inputs, of the given kinds or of all."""
    warm()
    source, found = random.Random(seed), Fuzzed(count)
    for _ in range(count):
        text = source.choice(list(kinds or KINDS))(source)
        began = time.process_time()
        try:
            findings = check_text(text)
        except Exception as error:
            found.failed.append(("raised", f"{error!r} {text}"))
            continue
        seconds = time.process_time() - began
        found.slowest = max(found.slowest, seconds)
        found.outcomes.update(finding.outcome for finding in findings)
        found.failed += [(kind, text) for kind in _faults(findings, text)]
        if seconds > SLOWEST_S:
            found.failed.append(("slow", text))
    return found


def _faults(findings: list[Finding], text: str) -> set[str]:
    faults = set()
    for finding in findings:
        if finding.reason.startswith(BROKEN):
            faults.add("broke off")
        if finding.outcome == STOPPED:
            faults.add("stopped")
        if text[finding.anchor.start : finding.anchor.end] != finding.anchor.quote:
            faults.add("misplaced")
    return faults


def _sentence(source: random.Random) -> str:
    links = source.choice([1, 1, 1, 2, 3])
    sides = [formula(source, source.randint(0, 4)) for _ in range(links + 1)]
    relations = [source.choice(RELATIONS) for _ in range(links)]
    chain = sides[0] + "".join(f" {relation} {side}" for relation, side in zip(relations, sides[1:], strict=True))
    modulus = rf" \pmod{{{source.choice(['2', '3', '7', '12', 'p', 'n'])}}}" if r"\equiv" in chain else ""
    return f"{source.choice(DECLARATIONS)}{source.choice(OPENINGS)}${chain}{modulus}$."


def _noise(source: random.Random) -> str:
    pieces = (source.choice(PIECES) for _ in range(source.randint(1, 40)))
    return "".join(piece + source.choice(["", " "]) for piece in ("$", *pieces, "$"))


def _damaged(source: random.Random) -> str:
    """A sentence with characters left out, doubled or moved."""
    letters = list(_sentence(source))
    for _ in range(source.randint(1, 6)):
        place = source.randrange(len(letters))
        letters[place] = source.choice(["", letters[place] * 2, source.choice(letters), source.choice(PIECES)])
    return "".join(letters)


def _extreme(source: random.Random) -> str:
    size = source.choice([30, 100, 400, 3_000])
    made: list[Callable[[], str]] = [
        lambda: "$" + r"\frac{1}{1+" * size + "1" + "}" * size + "=2$.",
        lambda: "$" + "{" * size + "x" + "}" * source.choice([0, size - 1, size]) + "=x$.",
        lambda: "We have $x" + " " * (10 * size) + "=1$.",
        lambda: "$" + "+".join("x" for _ in range(size)) + f"={size}x$.",
        lambda: f"$2^{{{'9' * min(size, 400)}}}=1$ and $x^{{{size}}}\\ge0$.",
        lambda: "$" + "^{2" * size + "}" * size + "=1$.",
        lambda: "$" + "((" * size + ")" * size + r"\ge1$.",
        lambda: f"$(x+y+1)^{{{size}}}=x^{{{size}}}$ for all reals $x,y$.",
        lambda: "$" * size,
        lambda: r"\begin{align}" + r"a&=b\\" * min(size, 400) + r"\end{align}",
        lambda: f"$\\sum_{{k=1}}^{{{'9' * min(size, 60)}}}k={size}!$.",
        lambda: f"$\\sqrt[{size}]{{{size}!}}\\equiv{size}^{{{size}}}\\pmod{{{size + 1}}}$.",
    ]
    return source.choice(made)()


def formula(source: random.Random, depth: int) -> str:
    """A formula of the verifier's grammar."""
    if depth <= 0:
        return source.choice(["x", "a", "b", "c", "n", "k", "p", "1", "2", "3", "10", "0", r"\pi", "a_n", "f(x)", "0.5"])

    def inner() -> str:
        return formula(source, depth - 1 - source.randint(0, 1))

    return source.choice(_SHAPES)(inner, source)


_TERMS = ("k", "k^2", "2^k", r"\frac{1}{k(k+1)}", r"\binom{n}{k}", "k!", "(-1)^k")
_SHAPES: tuple[Callable[[Callable[[], str], random.Random], str], ...] = (
    lambda inner, _: f"{inner()}+{inner()}",
    lambda inner, _: f"{inner()}-{inner()}",
    lambda inner, _: rf"{inner()}\cdot {inner()}",
    lambda inner, _: f"({inner()})({inner()})",
    lambda inner, _: rf"\frac{{{inner()}}}{{{inner()}}}",
    lambda inner, source: f"({inner()})^{{{source.choice(['2', '3', '-1', '10', 'n', '2n+1', '1/2', '100'])}}}",
    lambda inner, _: f"{{{inner()}}}^{{{inner()}}}",
    lambda inner, _: rf"\sqrt{{{inner()}}}",
    lambda inner, _: rf"\sqrt[3]{{{inner()}}}",
    lambda inner, source: rf"\{source.choice(['sin', 'cos', 'ln', 'log', 'exp', 'tan', 'arctan'])}({inner()})",
    lambda inner, _: rf"\left|{inner()}\right|",
    lambda inner, _: rf"\lfloor {inner()}\rfloor",
    lambda inner, _: rf"\lceil {inner()}\rceil",
    lambda inner, _: rf"\binom{{{inner()}}}{{{inner()}}}",
    lambda inner, _: f"({inner()})!",
    lambda inner, source: rf"\{source.choice(['gcd', 'max', 'min'])}({inner()},{inner()})",
    lambda inner, source: rf"\{source.choice(['sum', 'prod'])}_{{j={source.choice('012')}}}^{{{inner()}}} ({inner()}+j)",
    lambda _, source: r"\sum_{k=1}^{n} " + source.choice(_TERMS),
    lambda inner, _: r"1+2+\dots+n",
)


#: The kinds of inputs, the frequent ones several times.
KINDS: tuple[Maker, ...] = (*[_sentence] * 12, *[_noise] * 6, *[_damaged] * 4, _extreme)


if __name__ == "__main__":
    result = fuzzed(int(sys.argv[1]), int((sys.argv[2:] or ["2026"])[0]))
    for fault, shown in result.failed:
        sys.stdout.write(f"{fault}: {shown[:400]!r}\n")
    sys.stdout.write(
        f"{result.inputs:,} inputs · {dict(result.outcomes)} · {len(result.failed)} failed · {result.slowest:.2f} s\n"
    )
