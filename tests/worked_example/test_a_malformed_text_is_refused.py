"""The authored files have a form, and a file without it is refused by name instead of being read by half."""

from pathlib import Path

import pytest

from apps.explorations.worked_example import authored
from apps.explorations.worked_example.authored import AuthoredTextError, Remark, read_lemmas, read_proof, read_work

LEMMA = (
    "Opening.\n\n# Lemma 1\nSo.\n\n## Steps\n1. One.\n2. Two.\n\n"
    "## Vote 1: first wrong step 2\nA word.\n1. Yes.\n2. [gap] No.\n"
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(authored, "HERE", tmp_path)
    return tmp_path


def test_a_lemma_with_its_votes_is_read(folder: Path) -> None:
    (folder / "s0.r1.lemmas.md").write_text(LEMMA, encoding="utf-8")
    opening, (lemma,) = read_lemmas(0, 1)
    assert opening == "Opening."
    assert (lemma.label, lemma.statement, lemma.steps) == ("1", "So.", ("One.", "Two."))
    (vote,) = lemma.votes
    assert (vote.opening, vote.first_fault) == ("A word.", 2)
    assert vote.remarks[1] == Remark(step=2, sound=False, severity="gap", text="No.")


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("## Steps\n", "", "followed by `## Steps`"),
        ("So.\n\n", "", "followed by `## Steps`"),
        ("2. Two.", "3. Two.", "numbered from 1 without gaps"),
        ("Vote 1: first", "Vote 2: first", "`## Vote 1: holds`"),
        ("first wrong step 2", "maybe", "`## Vote 1: holds`"),
    ],
)
def test_a_lemma_out_of_form_is_refused(folder: Path, before: str, after: str, words: str) -> None:
    (folder / "s0.r1.lemmas.md").write_text(LEMMA.replace(before, after), encoding="utf-8")
    with pytest.raises(AuthoredTextError, match=r"s0\.r1\.lemmas\.md, lemma 1") as caught:
        read_lemmas(0, 1)
    assert words in str(caught.value)


def test_a_proof_without_steps_is_refused(folder: Path) -> None:
    (folder / "proof.1.md").write_text("Only words.", encoding="utf-8")
    with pytest.raises(AuthoredTextError, match=r"proof\.1\.md"):
        read_proof(1)


def test_a_round_that_claims_nothing_is_refused(folder: Path) -> None:
    (folder / "s0.r1.reason.md").write_text("I tried.\n\nClaim: maybe\n", encoding="utf-8")
    with pytest.raises(AuthoredTextError, match="Claim: complete"):
        read_work(0, 1)
