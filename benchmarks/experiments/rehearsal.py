"""A rehearsal of all scaffolds: 60 problems × 12 methods × 4 repeats with the presets of the papers, on two processes."""

from time import perf_counter

from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.rehearsal.matrix import Line, Matrix, RehearsedProblem
from apps.reasoning.rehearsal.playing import rehearse
from apps.reasoning.rehearsal.skills import Skills
from benchmarks.figures import Figure

PROBLEMS, REPEATS, PROCESSES = 60, 4, 2
#: Presets of the papers; Intern-S1-MO's `contest` is left out.
PRESETS = ("paper", "qed_nano")
TARGET_S = 300


def figures(quick: bool = False) -> list[Figure]:
    """Seconds and calls of the whole matrix."""
    lines = [Line(name=name, scaffold=name, preset=preset_of(name)) for name in SCAFFOLDS]
    problems = [RehearsedProblem(name=f"p{number}", statement="Find the sum. " * 25) for number in range(PROBLEMS)]
    matrix = Matrix(lines=lines, problems=problems[: 2 if quick else PROBLEMS], repeats=1 if quick else REPEATS)
    began = perf_counter()
    cells = rehearse(matrix, Skills(), processes=PROCESSES)
    seconds = perf_counter() - began
    calls = sum(cell.calls for cell in cells)
    return [
        Figure(f"{len(cells):,} cells on {PROCESSES} processes", seconds, "s", None if quick else TARGET_S),
        Figure("their calls", calls),
        Figure("time per call", 1000 * seconds / calls, "ms"),
    ]


def preset_of(name: str) -> str:
    """The preset of a scaffold's paper, else its first one."""
    presets = SCAFFOLDS[name].presets
    return next((one for one in PRESETS if one in presets), SCAFFOLDS[name].first_preset)
