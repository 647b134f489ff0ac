"""KaTeX typesets every formula of the sample library without complaint."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.problems_sample.library import FILES

ROOT = Path(__file__).resolve().parents[2]
KATEX = ROOT / "node_modules" / "katex" / "dist" / "katex.mjs"
SCRIPT = Path(__file__).with_name("typeset.mjs")
NODE = shutil.which("node")

pytestmark = pytest.mark.skipif(NODE is None or not KATEX.exists(), reason="needs Node.js and the npm packages")


def typeset(*files: Path) -> subprocess.CompletedProcess[str]:
    """Run the checker; its exit status is 1 if some formula is wrong."""
    return subprocess.run([NODE or "node", SCRIPT, KATEX, *files], capture_output=True, text=True, check=False, timeout=120)


def test_every_formula_of_the_library_can_be_typeset() -> None:
    result = typeset(*FILES)
    assert result.returncode == 0, result.stderr
    assert int(result.stdout.split()[0]) > 1000


@pytest.mark.parametrize(
    "text", [r"An unknown command: $\nosuchcommand{x}$.", r"Bare: \frac12.", "One dollar: $x.", "Space: $ x $."]
)
def test_a_wrong_formula_is_found(tmp_path: Path, text: str) -> None:
    path = tmp_path / "wrong.md"
    path.write_text(text, encoding="utf-8")
    assert typeset(path).returncode == 1
