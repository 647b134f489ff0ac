"""Lean 4 with Mathlib as a checker: `LEAN_BIN` names a program that checks the file that is its only argument.

For a Lake project with Mathlib that is a script with `cd PROJECT && exec lake env lean "$1"`.
"""

import re
import tempfile
from fractions import Fraction
from pathlib import Path

from apps.mathcheck.kernel.checker import KernelResult, comment_line, program
from apps.mathcheck.kernel.running import run_in
from apps.mathcheck.kernel.terms import NotExpressible, Relation, Term, Theorem

CHECK_S = 120.0
#: The axioms of Mathlib's mathematics; `sorryAx` and compiled evaluation are not among them.
AXIOMS = frozenset(["propext", "Classical.choice", "Quot.sound"])
_SORTS = {"Z": "ℤ", "R": "ℝ"}
_CALLS = {
    "min": "min", "max": "max", "gcd": "Int.gcd", "lcm": "Int.lcm", "sqrt": "Real.sqrt", "exp": "Real.exp", "ln": "Real.log",
    "sin": "Real.sin", "cos": "Real.cos", "atan": "Real.arctan",
}  # fmt: skip
_SIGNS = {"=": "=", "<>": "≠", "<": "<", "<=": "≤", "divides": "∣"}
_TACTICS = "norm_num|ring|omega|positivity|(field_simp; ring)|nlinarith|(push_cast; nlinarith)|decide"


class LeanChecker:
    """Lean: the program at `path`, else by `LEAN_BIN`."""

    tool = "Lean"

    def __init__(self, path: str = "") -> None:
        self._lean = program(path, "LEAN_BIN", "")

    def version(self) -> str:
        if self._lean is None:
            return ""
        with tempfile.TemporaryDirectory(prefix="kernel-") as folder:
            found = re.search(r"version (\d[\w.+-]*)", run_in(Path(folder), [self._lean, "--version"], 20.0).output)
        return found[1].rstrip(",") if found else ""

    def check(self, theorem: Theorem, comment: str = "") -> KernelResult:
        version = self.version()
        if not version:
            return KernelResult("absent", self.tool, reason="Lean is not configured: set LEAN_BIN (docs/mathcheck_kernel.md)")
        try:
            statement = statement_text(theorem)
        except NotExpressible as error:
            return KernelResult("not_expressible", self.tool, version, reason=str(error))
        file = _file(theorem, statement, comment, version)
        with tempfile.TemporaryDirectory(prefix="kernel-") as folder:
            (Path(folder) / "claim.lean").write_text(file, encoding="utf-8")
            # Lean reserves far more memory than it uses.
            ran = run_in(Path(folder), [str(self._lean), "claim.lean"], CHECK_S, memory_bytes=None)
        if ran.stopped:
            return KernelResult("stopped", self.tool, version, statement, cpu_s=ran.cpu_s, reason="a limit ended the check")
        axioms = _axioms(ran.output) if ran.code == 0 and "error:" not in ran.output else None
        if axioms is None:
            return KernelResult("not_found", self.tool, version, statement, cpu_s=ran.cpu_s, reason="no tactic proved it")
        if foreign := [one for one in axioms if one not in AXIOMS]:
            reason = f"it uses the axiom {foreign[0]}"
            return KernelResult("not_found", self.tool, version, statement, cpu_s=ran.cpu_s, axioms=axioms, reason=reason)
        return KernelResult("checked", self.tool, version, statement, "", file, "claim.lean", ran.cpu_s, axioms)


def statement_text(theorem: Theorem) -> str:
    """The statement in Lean: `theorem claim (n : ℤ) (h1 : 0 < n) : …`. Raises NotExpressible."""
    return _statement(theorem, "claim", theorem.conclusion)


def _statement(theorem: Theorem, name: str, conclusion: Relation) -> str:
    names = [f"({key} : {_SORTS[sort]})" for key, sort in theorem.names]
    known = [f"(h{place} : {_relation(one)})" for place, one in enumerate(theorem.hypotheses, 1)]
    return f"theorem {name} {' '.join([*names, *known])} :\n    {_relation(conclusion)}"


def _file(theorem: Theorem, statement: str, comment: str, version: str) -> str:
    required = [_statement(theorem, f"value_{place}", one) for place, one in enumerate(theorem.required, 1)]
    proof = " := by\n  first\n" + "\n".join(f"  | {one}" for one in _TACTICS.split("|"))
    shown = f"/- Formula: {comment_line(comment)} -/\n" if comment else ""
    theorems = "\n\n".join(f"{one}{proof}" for one in [*required, statement])
    return f"import Mathlib\n\n{shown}/- For Lean {version} -/\n{theorems}\n\n#print axioms claim\n"


def _axioms(output: str) -> tuple[str, ...] | None:
    """The axioms that Lean lists for the claim; None if it lists nothing."""
    if re.search(r"'claim' does not depend on any axioms", output):
        return ()
    found = re.search(r"'claim' depends on axioms: \[([^\]]*)\]", output)
    return tuple(sorted(one.strip() for one in found[1].split(","))) if found else None


def _relation(one: Relation) -> str:
    if one.sign == "prime":
        return f"Prime {_term(one.left)}"
    if one.sign == "parity":
        return f"{_term(one.left)} % 2 = {_term(one.right)}"
    if one.sign == "not divides":
        return f"¬ ({_term(one.left)} ∣ {_term(one.right)})"
    return f"{_term(one.left)} {_SIGNS[one.sign]} {_term(one.right)}"


def _term(term: Term) -> str:
    """The term in brackets, unless it is a name."""
    if term.op == "num":
        value, sort = Fraction(term.value), _SORTS[term.sort]
        return (
            f"({value.numerator} : {sort})" if value.denominator == 1 else f"({value.numerator} / {value.denominator} : {sort})"
        )
    if term.op == "name":
        return str(term.value)
    if term.op == "pi":
        return "Real.pi"
    inner = [_term(one) for one in term.args]
    if term.op in ("add", "mul", "div"):
        return f"({ {'add': ' + ', 'mul': ' * ', 'div': ' / '}[term.op].join(inner) })"
    if term.op == "neg":
        return f"(-{inner[0]})"
    if term.op == "cast":
        return f"(({inner[0]} : ℤ) : ℝ)"
    if term.op == "abs":
        return f"|{inner[0]}|"
    if term.op == "quot":
        return f"(Int.fdiv {inner[0]} {inner[1]})"
    if term.op == "pow":
        if len(inner) == 1:
            return f"({inner[0]} ^ {term.value})"
        return f"({inner[0]} ^ (Int.toNat {inner[1]}))"
    if term.op not in _CALLS:
        raise NotExpressible(f"{term.op} in Lean")
    call = f"({_CALLS[term.op]} {' '.join(inner)})"
    return f"({call} : ℤ)" if term.op in ("gcd", "lcm") else call
