"""A theorem in the language of Coq, and proofs to try, cheapest first."""

from fractions import Fraction

from apps.mathcheck.kernel.terms import Relation, Term, Theorem, parts

#: A prime is not divisible by a smaller number.
PRIMES = """Lemma prime_mod (p q : Z) : prime p -> (1 < q < p)%Z -> (p mod q <> 0)%Z.
Proof. intros H L E. apply Z.mod_divide in E; [| lia]. destruct (prime_divisors p H q E); lia. Qed.
"""
HEADER = """Require Import ZArith Znumtheory Reals Lia Lra Psatz Nsatz.
Ltac Zify.zify_post_hook ::= Z.to_euclidean_division_equations.
"""
DEFINITIONS = """Fixpoint factorial_nat (n : nat) : Z := match n with O => 1%Z | S m => (Z.of_nat n * factorial_nat m)%Z end.
Definition factorial (n : Z) : Z := factorial_nat (Z.to_nat n).
Definition binomial (n k : Z) : Z := (factorial n / (factorial k * factorial (n - k)))%Z.
"""
_ADD, _MUL, _NEG, _POW, _APPLY, _ATOM = 1, 2, 3, 4, 5, 6
_CALLS = {
    "Z": {"abs": "Z.abs", "min": "Z.min", "max": "Z.max", "gcd": "Z.gcd", "lcm": "Z.lcm", "factorial": "factorial"}
    | {"binomial": "binomial"},
    "R": {"abs": "Rabs", "min": "Rmin", "max": "Rmax"} | {one: one for one in ("sqrt", "exp", "ln", "sin", "cos", "atan")},
}
_SIGNS = {"=": "=", "<>": "<>", "<": "<", "<=": "<="}


def term_text(term: Term) -> str:
    """The term in the scope of its sort."""
    return _term(term)[0]


def relation_text(one: Relation) -> str:
    """The proposition with its scope: `(0 < n)%Z`."""
    left, right = term_text(one.left), term_text(one.right)
    if one.sign == "prime":
        return f"prime {_in(one.left, _ATOM)}"
    if one.sign == "parity":
        return f"({_in(one.left, _APPLY)} mod 2 = {right})%Z"
    if one.sign == "divides":
        return f"({left} | {right})%Z"
    if one.sign == "not divides":
        return f"(~ ({left} | {right}))%Z"
    return f"({left} {_SIGNS[one.sign]} {right})%{one.left.sort}"


def statement_text(theorem: Theorem) -> str:
    """The theorem's statement: `Theorem claim : forall …, … -> ….`"""
    return _statement(theorem, "claim", theorem.conclusion)


def required_texts(theorem: Theorem) -> list[str]:
    """The statements of theorems on which the claim's value rests."""
    return [_statement(theorem, f"value_{place}", one) for place, one in enumerate(theorem.required, 1)]


def _statement(theorem: Theorem, name: str, conclusion: Relation) -> str:
    lines = [f"Theorem {name} :"]
    if theorem.names:
        lines.append("  forall " + " ".join(f"({key} : {sort})" for key, sort in theorem.names) + ",")
    lines += [f"  {relation_text(one)} ->" for one in theorem.hypotheses]
    return "\n".join([*lines, f"  {relation_text(conclusion)}."])


def header(theorem: Theorem) -> str:
    """What comes before the theorem: libraries, and definitions of what occurs in it."""
    relations = [*theorem.hypotheses, theorem.conclusion]
    primes = PRIMES if any(one.sign == "prime" for one in relations) else ""
    return HEADER + primes + (DEFINITIONS if _needs_definitions(relations) else "")


def _needs_definitions(relations: list[Relation]) -> bool:
    return any(
        part.op in ("factorial", "binomial") for one in relations for side in (one.left, one.right) for part in parts(side)
    )


def _term(term: Term) -> tuple[str, int]:
    if term.op == "num":
        return _number(Fraction(term.value), term.sort)
    if term.op == "name":
        return str(term.value), _ATOM
    if term.op == "pi":
        return "PI", _ATOM
    if term.op == "cast":
        return f"IZR ({term_text(term.args[0])})%Z" if term.args[0].op != "name" else f"IZR {term.args[0].value}", _APPLY
    if term.op == "add":
        first, *rest = term.args
        text = _in(first, _ADD)
        for one in rest:
            text += f" - {_in(one.args[0], _MUL)}" if one.op == "neg" else f" + {_in(one, _MUL)}"
        return text, _ADD
    if term.op == "neg":
        return f"- {_in(term.args[0], _NEG)}", _NEG
    if term.op == "mul":
        return " * ".join(_in(one, _MUL if not place else _NEG) for place, one in enumerate(term.args)), _MUL
    if term.op in ("div", "quot"):
        return f"{_in(term.args[0], _MUL)} / {_in(term.args[1], _NEG)}", _MUL
    if term.op == "pow":
        exponent = _in(term.args[1], _ATOM) if len(term.args) > 1 else str(term.value)
        return f"{_in(term.args[0], _APPLY)} ^ {exponent}", _POW
    return f"{_CALLS[term.sort][term.op]} {' '.join(_in(one, _ATOM) for one in term.args)}", _APPLY


def _number(value: Fraction, sort: str) -> tuple[str, int]:
    if value.denominator != 1:
        return f"{value.numerator} / {value.denominator}", _MUL if value > 0 else _ADD
    return (str(value), _ATOM) if value >= 0 else (f"- {-value}", _NEG)


def _in(term: Term, least: int) -> str:
    text, level = _term(term)
    return text if level >= least else f"({text})"
