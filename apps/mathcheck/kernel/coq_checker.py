"""Coq as a checker: search with tactics, then a file with the one that worked, compiled and searched for axioms."""

import re
import tempfile
from functools import cache
from pathlib import Path

from apps.mathcheck.kernel.checker import KernelResult, Outcome, comment_line, program
from apps.mathcheck.kernel.coq import header, required_texts, statement_text
from apps.mathcheck.kernel.hints import difference, multiple
from apps.mathcheck.kernel.running import Ran, run_in
from apps.mathcheck.kernel.tactics import VALUE, proofs
from apps.mathcheck.kernel.terms import Theorem

INSTALL = "apt-get install --no-install-recommends coq coinor-csdp"
#: Seconds of processor time for the search and for the final check, and of the clock for one tactic.
SEARCH_S, FINAL_S, TACTIC_S = 30.0, 20.0, 8
#: The axioms of Coq's real numbers; a proof with any other is not accepted.
AXIOMS = frozenset(
    [
        "ClassicalDedekindReals.sig_forall_dec",
        "ClassicalDedekindReals.sig_not_dec",
        "FunctionalExtensionality.functional_extensionality_dep",
        "Classical_Prop.classic",
    ]
)
_FOUND = re.compile(r"^found (\d+)\s*$", re.MULTILINE)
_AXIOM = re.compile(r"^([A-Za-z_][\w.']*)\s*(?::|$)", re.MULTILINE)
_FORBIDDEN = re.compile(r"\b(?:Admitted|admit|Axiom|Parameter|Hypothesis|Variable|Conjecture|bypass_check|Unset)\b")


class CoqChecker:
    """Coq: the program at `path`, else by `COQ_BIN`, else `coqc` in PATH. Without the program csdp, psatz finds nothing."""

    tool = "Coq"

    def __init__(self, path: str = "") -> None:
        self._coqc = program(path, "COQ_BIN", "coqc")

    def version(self) -> str:
        return _version(self._coqc) if self._coqc else ""

    def check(self, theorem: Theorem, comment: str = "") -> KernelResult:
        version, statement = self.version(), statement_text(theorem)
        if not version:
            return KernelResult("absent", self.tool, statement=statement, reason=f"Coq is not installed: {INSTALL}")
        divides = theorem.conclusion.sign == "divides"
        tried = proofs(theorem, None if divides else difference(theorem), multiple(theorem) if divides else "")
        values = [f"{text}\nProof.\n  intros.\n  {VALUE}.\nQed.\n" for text in required_texts(theorem)]
        head = "\n".join([header(theorem), *values])
        with tempfile.TemporaryDirectory(prefix="kernel-") as folder:
            searched = self._run(Path(folder), "search", _search(head, statement, [text for _, text in tried]), SEARCH_S)
            found = _FOUND.search(searched.output)
            if found is None or searched.code != 0:
                outcome: Outcome = "stopped" if searched.stopped else "not_found"
                reason = "the limit on processor time ended the search" if searched.stopped else "no tactic proved it"
                return KernelResult(outcome, self.tool, version, statement, cpu_s=searched.cpu_s, reason=reason)
            name, text = tried[int(found[1])]
            file = _file(head, statement, text, comment, version)
            checked = self._run(Path(folder), "claim", file, FINAL_S)
        spent = round(searched.cpu_s + checked.cpu_s, 2)
        axioms, problem = _axioms(checked)
        if problem or _FORBIDDEN.search(head + statement + text):
            return KernelResult("not_found", self.tool, version, statement, name, cpu_s=spent, axioms=axioms, reason=problem)
        return KernelResult("checked", self.tool, version, statement, name, file, "claim.v", spent, axioms)

    def _run(self, folder: Path, name: str, text: str, cpu_s: float) -> Ran:
        (folder / f"{name}.v").write_text(text, encoding="utf-8")
        return run_in(folder, [str(self._coqc), "-q", f"{name}.v"], cpu_s)


def _search(head: str, statement: str, tried: list[str]) -> str:
    ways = "\n  | ".join(f'timeout {TACTIC_S} (solve [{text}]); idtac "found {at}"' for at, text in enumerate(tried))
    return f"{head}{statement}\nProof.\n  intros.\n  first [\n    {ways}\n  ].\nQed.\n"


def _file(head: str, statement: str, tactic: str, comment: str, version: str) -> str:
    shown = f"(* Formula: {comment_line(comment)} *)\n" if comment else ""
    shown += f"(* Checked with Coq {version}: coqc claim.v *)\n"
    return f"{shown}{head}\n{statement}\nProof.\n  intros.\n  {tactic}.\nQed.\n\nPrint Assumptions claim.\n"


def _axioms(checked: Ran) -> tuple[tuple[str, ...], str]:
    """The axioms of the final check, and why it does not count; empty if it does."""
    if checked.code != 0 or checked.stopped:
        return (), "the proof that was found did not pass the final check"
    if "Closed under the global context" in checked.output:
        return (), ""
    if "Axioms:" not in checked.output:
        return (), "Coq did not list the axioms"
    used = tuple(sorted(set(_AXIOM.findall(checked.output.split("Axioms:", 1)[1]))))
    foreign = [one for one in used if one not in AXIOMS]
    return used, f"it uses the axiom {foreign[0]}" if foreign else ""


@cache
def _version(coqc: str) -> str:
    with tempfile.TemporaryDirectory(prefix="kernel-") as folder:
        found = re.search(r"version (\d[\w.+-]*)", run_in(Path(folder), [coqc, "--version"], 10.0).output)
    return found[1] if found else ""
