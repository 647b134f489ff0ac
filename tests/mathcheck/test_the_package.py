r"""The package `mathcheck`: its function, its command, and its wheel, which needs neither Django nor the rest of Lemmascope."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from apps.mathcheck.findings import PROVED, REFUTED
from apps.mathcheck.library import check, main
from tests.library.test_the_wheel import ROOT, _imports, _pip, _setuptools

PROOF = "Let $n$ be an integer. Then $n^3-n$ is divisible by $6$. So $2+2=5$."
DOCUMENT = (
    "\\documentclass{article}\n\\title{$1=2$ for once}\n\\begin{document}\n% $3=4$\nWe have $2+2=4$.\n\\end{document}\n$5=6$"
)
_PROGRAM = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("apps", "django", "channels", "celery", "numpy", "pydantic"):
            raise ImportError(f"{name} is not needed")
sys.meta_path.insert(0, Refuse())
import runpy
sys.argv = ["mathcheck", sys.argv[1], "--json"]
runpy.run_module("mathcheck", run_name="__main__")
"""


def test_a_text_is_checked_under_assumptions() -> None:
    claim = r"We have $\sqrt{x^2}=x$."
    assert [finding.outcome for finding in check(claim, assume=["$x$ is a positive real number"])] == [PROVED]
    assert [finding.outcome for finding in check(claim)] != [PROVED]
    assert check(PROOF) == check(PROOF)


def test_only_the_body_of_a_latex_document_is_read() -> None:
    (finding,) = check(DOCUMENT)
    assert (finding.outcome, finding.anchor.quote) == (PROVED, "2+2=4")
    assert DOCUMENT[finding.anchor.start : finding.anchor.end] == "2+2=4"


@pytest.mark.parametrize(("text", "code"), [(PROOF, 1), ("So $2+2=4$.", 0), ("No formulas.", 0)])
def test_the_exit_code_says_whether_something_is_refuted(
    text: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "proof.md").write_text(text)
    assert main([str(tmp_path / "proof.md")]) == code
    assert f"{int(code == 1)} refuted" in capsys.readouterr().out
    assert main([str(tmp_path / "missing.md")]) == 2
    assert "cannot be read" in capsys.readouterr().err


@pytest.mark.skipif(_setuptools() < 80, reason="setuptools 80 or newer builds the wheel: docker/requirements/wheel.txt")
def test_the_wheel_checks_a_file_without_django(tmp_path: Path) -> None:
    source = _copied(tmp_path / "source")
    _pip("wheel", "--no-deps", "--no-build-isolation", "--no-index", "-w", str(tmp_path), str(source))
    (wheel,) = tmp_path.glob("lemmascope_mathcheck-*.whl")
    site = tmp_path / "site"
    _pip("install", "--no-deps", "--no-index", "--target", str(site), str(wheel))
    assert {path.name for path in site.iterdir()} == {"mathcheck", wheel.name.replace("-py3-none-any.whl", ".dist-info")}
    (tmp_path / "proof.md").write_text(PROOF)
    program = f"import sys; sys.path.insert(0, {str(site)!r})\n{_PROGRAM}"
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "proof.md")], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stderr
    assert [one["outcome"] for one in json.loads(done.stdout)] == [PROVED, REFUTED]
    assert json.loads(done.stdout) == json.loads(json.dumps([finding.as_json() for finding in check(PROOF)]))
    package = site / "mathcheck"
    assert len(list(package.glob("corpus/*.toml"))) == len(list((ROOT / "tests/mathcheck/corpus").glob("*.toml")))
    assert all((package / name).exists() for name in ("py.typed", "LICENSE", "docs/mathcheck_proofs.md"))
    imported = {name for path in package.rglob("*.py") for name in _imports(ast.parse(path.read_text()))}
    assert imported - set(sys.stdlib_module_names) == {"mathcheck", "mpmath", "sympy", "z3"}


def _copied(into: Path) -> Path:
    """The part of the checkout that the wheel is made of; a build writes next to its sources."""
    folders = ("clients/mathcheck", "apps/mathcheck", "tests/mathcheck/corpus", "docs")
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file() and "build" not in path.parts]
    for path in [ROOT / "LICENSE", *paths]:
        copy = into / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    return into / "clients/mathcheck"
