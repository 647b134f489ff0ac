"""No wrong translation slips in: at points, Coq computes the same truth for a translated claim as our own evaluation."""

import random
from fractions import Fraction
from pathlib import Path

import pytest

from apps.mathcheck.kernel import coq_checker
from apps.mathcheck.kernel.coq import HEADER, relation_text
from apps.mathcheck.kernel.coq_checker import CoqChecker
from apps.mathcheck.kernel.reading import check_read, claims_of
from apps.mathcheck.kernel.running import run_in
from apps.mathcheck.kernel.statement import theorem_of
from apps.mathcheck.kernel.terms import NotExpressible, Relation, number, replaced
from apps.mathcheck.proving.facts import Facts
from apps.mathcheck.scope import Condition, Domain
from apps.mathcheck.tex.tree import Node, name
from apps.mathcheck.tex.tree import number as literal

pytestmark = pytest.mark.coq
CLAIMS, NAMES = 300, ("a", "b", "n")
RELATIONS = ("=", "<", ">", r"\le", r"\ge", r"\ne", r"\mid", r"\nmid", r"\equiv")
#: A claim as a truth value that Coq computes.
DECIDED = {
    "=": "Z.eqb",
    "<>": "(fun x y => negb (Z.eqb x y))",
    "<": "Z.ltb",
    "<=": "Z.leb",
    "divides": "(fun x y => Z.eqb (y mod x) 0)",
    "not divides": "(fun x y => negb (Z.eqb (y mod x) 0))",
}


def expression(rng: random.Random, depth: int) -> Node:
    """A random expression over the whole numbers; n is not negative."""
    if depth == 0:
        return name(rng.choice(NAMES)) if rng.random() < 0.6 else literal(rng.randint(0, 9))
    kind = rng.choice(["add", "mul", "neg", "pow", "symbolic", "abs", "min", "max", "gcd", "floor"])
    one, two = expression(rng, depth - 1), expression(rng, depth - 1)
    if kind == "neg":
        return Node("neg", (one,))
    if kind == "pow":
        return Node("pow", (one, literal(rng.randint(1, 3))))
    if kind == "symbolic":
        return Node("pow", (literal(rng.randint(2, 5)), Node("add", (name("n"), literal(rng.randint(0, 2))))))
    if kind == "floor":
        return Node("fn", (Node("div", (one, literal(rng.randint(2, 5)))),), "floor")
    if kind == "abs":
        return Node("fn", (one,), "abs")
    return Node(kind, (one, two)) if kind in ("add", "mul") else Node("fn", (one, two), kind)


def claim(rng: random.Random) -> Condition:
    relation = rng.choice(RELATIONS)
    left, right = expression(rng, rng.randint(0, 2)), expression(rng, rng.randint(0, 2))
    if relation in (r"\mid", r"\nmid"):
        left = literal(rng.randint(2, 9))
    modulus = literal(rng.randint(2, 9)) if relation == r"\equiv" else None
    return Condition("=" if modulus is not None else relation, left, right, modulus)


def decided(one: Relation, point: dict[str, int]) -> str:
    """The relation at a point as a Boolean in Coq."""
    left, right = one.left, one.right
    for key, value in point.items():
        left, right = (replaced(side, key, number(value, "Z")) for side in (left, right))
    sides = [relation_text(Relation("=", side, number(0, "Z"))).removesuffix(" = 0)%Z") + ")%Z" for side in (left, right)]
    return f"{DECIDED[one.sign]} {sides[0]} {sides[1]}"


def test_random_claims_have_the_same_truth_in_coq_at_points(tmp_path: Path) -> None:
    rng = random.Random(20261128)
    domains = {key: Domain("integer", "nonnegative" if key == "n" else "", declared=True) for key in NAMES}
    lines, expected = [], list[bool]()
    while len(expected) < CLAIMS:
        condition = claim(rng)
        try:
            theorem = theorem_of(Facts(condition, domains, ()))
        except NotExpressible:
            continue
        point = {key: rng.randint(0, 6) if key == "n" else rng.randint(-9, 9) for key in NAMES}
        ours = condition.at({key: Fraction(value) for key, value in point.items()})
        if ours is None or theorem.required:
            continue
        assert theorem.sort == "Z"
        lines.append(f"Compute ({decided(theorem.conclusion, point)})%Z.")
        expected.append(ours)
    (tmp_path / "points.v").write_text(HEADER + "Open Scope Z_scope.\n" + "\n".join(lines), encoding="utf-8")
    ran = run_in(tmp_path, ["coqc", "-q", "points.v"], 60.0)
    found = [line.strip() == "= true" for line in ran.output.splitlines() if line.strip() in ("= true", "= false")]
    assert ran.code == 0, ran.output[-500:]
    assert found == expected
    assert 50 < sum(expected) < CLAIMS - 50


TRUE = [
    r"Let $n$ be an odd integer. Then $8 \mid n^2-1$.",
    r"Let $m$ be a positive integer. Then $7\mid 8^m-1$.",
    r"For all positive reals $a,b$ we have $\frac{a}{b}+\frac{b}{a}\ge 2$.",
    r"Let $p>3$ be a prime. Then $24\mid p^2-1$.",
    r"We have $\sqrt2<1.5$.",
    r"For all real $x,y,z$ we have $x^2+y^2+z^2\ge xy+yz+zx$.",
    r"Let $a,b$ be real with $a+b=1$. Then $a^2+b^2\ge\frac12$.",
]
FALSE = [
    r"For all real $x$ we have $\frac{x^2+x}{x}=x+1$.",
    r"Let $n$ be an integer. Then $8 \mid n^2-1$.",
    r"For all reals $a,b$ we have $a^3+b^3\ge 2ab$.",
    r"We have $\sqrt2<1.4$.",
    r"Let $x>1$ and $x<0$. Then $x^2=-1$.",
]


@pytest.mark.parametrize("text", TRUE)
def test_coq_checks_true_claims_of_each_kind(text: str) -> None:
    result = check_read(claims_of([("text", text)])[-1], CoqChecker())
    assert result.outcome == "checked", result.statement


@pytest.mark.parametrize("text", FALSE)
def test_coq_checks_no_false_claim(text: str) -> None:
    for read in claims_of([("text", text)]):
        assert check_read(read, CoqChecker()).outcome in ("not_found", "stopped")


def test_an_axiom_of_ones_own_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    theorem = claims_of([("text", FALSE[1])])[0].theorems[0]
    monkeypatch.setattr(coq_checker, "header", lambda _: HEADER + "Axiom wrong : forall P : Prop, P.\n")
    monkeypatch.setattr(coq_checker, "proofs", lambda *_: [("wrong", "apply wrong")])
    assert CoqChecker().check(theorem).outcome == "not_found"
