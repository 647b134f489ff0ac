"""Real outputs in the shared data, family by family: read as the files, or people, say; nothing else is read in them."""

import pytest

from benchmarks.reading.measured import Measured, by_source, tallied
from benchmarks.reading.shared import FOLDER, shared_measured

pytestmark = [
    pytest.mark.shared_data,
    pytest.mark.skipif(not (FOLDER / "imo25-logs").is_dir(), reason="SHARED_DATA has no outputs of models"),
]
LEAST = 0.97
#: Outputs of each family that are there to be read.
ANSWERS = {
    "judges: grade": 5,
    "judges: judgement": 5,
    "judges: points": 5,
    "DeepSeekMath-V2: proofs": 36,
    "IMO 2025: solutions": 41,
    "IMO 2025: reports": 61,
    "QED-Nano: comments": 38,
    "Qwen2.5-Coder-1.5B: two runs": 12,
}


@pytest.fixture(scope="module")
def measured() -> list[Measured]:
    return shared_measured()


def test_every_family_is_measured_whole(measured: list[Measured]) -> None:
    assert {one.source: one.of for one in by_source(measured)} == ANSWERS


def test_nothing_else_is_read_than_what_is_to_be_read(measured: list[Measured]) -> None:
    assert [one for one in measured if one.outcome == "wrong"] == []


def test_nearly_all_is_read(measured: list[Measured]) -> None:
    assert tallied("all", measured).share >= LEAST
