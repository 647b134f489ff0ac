"""A lemma or proof is checked as one text in parts: earlier declarations apply, and every part has its own limit on work."""

import pytest

from apps.mathcheck import parts
from apps.mathcheck.__main__ import findings_of
from apps.mathcheck.checking import NO_WORK
from apps.mathcheck.findings import NOT_UNDERSTOOD, PROVED, REFUTED
from apps.mathcheck.parts import check_groups, check_parts


def test_what_a_step_declares_holds_in_later_steps() -> None:
    steps = [("step 1", r"Let $a,b$ be positive real numbers."), ("step 2", r"Then $a+b\ge 3\sqrt{ab}$.")]
    (finding,) = check_parts(steps)
    assert (finding.text_id, finding.outcome) == ("step 2", REFUTED)
    assert [one.outcome for one in check_parts(steps[1:])] == [NOT_UNDERSTOOD]


def test_anchors_count_from_the_beginning_of_their_part() -> None:
    steps = [("step 1", "First, $1+1=2$."), ("step 2", "Größe: $2+2=5$, and so on.")]
    found = check_parts(steps, "Show that $n^2=1$.")
    assert [(one.text_id, one.outcome) for one in found] == [("step 1", PROVED), ("step 2", REFUTED)]
    texts = dict(steps)
    assert [texts[one.text_id][one.anchor.start : one.anchor.end] for one in found] == ["1+1=2", "2+2=5"]


def test_the_conditions_of_the_problem_hold_in_its_proof() -> None:
    step = [("step 1", r"Since $a,b,c$ are positive real numbers, $a+b+c\ge 3$.")]
    problem = r"Let $a,b,c$ be positive real numbers with $abc=1$. Prove that $a^2+b^2+c^2\ge a+b+c$."
    assert [one.outcome for one in check_parts(step)] == [REFUTED]
    assert REFUTED not in [one.outcome for one in check_parts(step, problem)]


def test_nothing_in_the_context_is_reported() -> None:
    assert check_parts([], "We have $1+1=3$.") == []
    assert check_parts([("step 1", "It is clear.")], "We have $1+1=3$.") == []


def test_a_formula_left_open_ends_with_its_part() -> None:
    found = check_parts([("step 1", "Now $$x = "), ("step 2", "But $2+2=5$, a sum.")])
    assert [(one.text_id, one.outcome) for one in found] == [("step 2", REFUTED)]


def test_a_part_that_exhausts_its_work_leaves_the_others_theirs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "PER_PART", 2)
    found = check_parts([("step 1", "We have $1+1=2$ and $1+2=3$."), ("step 2", "We have $2+2=4$.")])
    assert [(one.text_id, one.outcome) for one in found] == [
        ("step 1", PROVED),
        ("step 1", NOT_UNDERSTOOD),
        ("step 2", PROVED),
    ]
    assert found[1].reason == NO_WORK


def test_a_job_with_a_context_is_one_text_in_parts() -> None:
    texts = [{"id": "step 1", "text": "Let $n$ be an odd integer."}, {"id": "step 2", "text": r"Then $n^2\equiv 3\pmod 8$."}]
    (finding,) = findings_of({"texts": texts, "context": "", "time_s": 2})["findings"]
    assert (finding["text_id"], finding["outcome"]) == ("step 2", REFUTED)


def test_groups_are_independent() -> None:
    declared = [("step 1", r"Let $a,b$ be positive real numbers.")]
    claimed = [("step 1", r"Then $a+b\ge 3\sqrt{ab}$.")]
    groups = {"one": declared, "two": claimed, "all": [*declared, ("step 2", claimed[0][1])]}
    found = check_groups(groups)
    assert {name: [one.outcome for one in findings] for name, findings in found.items()} == {
        "one": [],
        "two": [NOT_UNDERSTOOD],
        "all": [REFUTED],
    }
    assert found == {name: check_parts(texts) for name, texts in groups.items()}


@pytest.mark.parametrize("job", [{"context": ""}, {"texts": [{"text": "x"}], "context": ""}, {"texts": 3, "context": ""}])
def test_a_job_of_another_format_is_refused(job: dict[str, object]) -> None:
    with pytest.raises((KeyError, TypeError)):
        findings_of(job)
