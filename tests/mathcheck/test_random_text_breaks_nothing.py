"""Random formulas, and random text that looks like TeX: every check ends with findings. `benchmarks fuzz` checks 100,000."""

from collections import Counter

import pytest

from apps.mathcheck.findings import Finding
from benchmarks.mathcheck import fuzz


@pytest.mark.parametrize(
    ("kind", "inputs"), [(fuzz._noise, 2_500), (fuzz._damaged, 250), (fuzz._sentence, 80), (fuzz._extreme, 40)]
)
def test_no_input_breaks_the_check(kind: fuzz.Maker, inputs: int) -> None:
    found = fuzz.fuzzed(inputs, seed=7, kinds=[kind])
    assert found.failed == []
    assert found.slowest < fuzz.SLOWEST_S


def test_the_fuzz_notices_what_breaks(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(text: str) -> list[Finding]:
        raise IndexError(text)

    monkeypatch.setattr(fuzz, "check_text", broken)
    assert Counter(kind for kind, _ in fuzz.fuzzed(20).failed) == {"raised": 20}
