"""The measurement of model remarks, with scripted models: one that knows the places, one that sees errors everywhere."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from apps.reasoning.domain.generation import GenerationRequest
from apps.reasoning.inference.aliases import Alias, ScriptedOptions
from apps.reasoning.inference.local import LocalDispatcher
from apps.reasoning.inference.scripted import ScriptedBackend
from benchmarks.remarks.measured import Case, Measured, cases, kept, measured, table

WORDS = "<remark><kind>gap</kind><question>Why?</question><reason>The reason is missing here.</reason></remark>"
ALIAS = Alias(name="m", title="M", backend="scripted", options=ScriptedOptions(script="none"))


def results(place: Callable[[Case], str], given: list[Case], target: Path | None = None) -> list[Measured]:
    by_run = {f"{case.slug}-{case.kind}": case for case in given}

    def answer(request: GenerationRequest) -> str:
        return WORDS if request.role == "writer" else place(by_run[request.run])

    dispatcher = LocalDispatcher({"m": ScriptedBackend(answer)})
    return asyncio.run(measured(dispatcher, ALIAS, given, tokens=300, votes=3, target=target))


def test_every_attempt_has_sentences_and_the_broken_one_is_among_them() -> None:
    given = cases()
    assert len(given) == 36
    assert all((case.kind == "right") == (case.broken == 0) for case in given)
    assert all(case.broken <= len(case.material.steps) > 1 for case in given)


def test_a_model_that_knows_the_places_finds_them_all_and_raises_no_false_alarm(tmp_path: Path) -> None:
    found = table(results(lambda case: f"<verdict>{case.broken or -1}</verdict>", cases(), tmp_path / "answers.jsonl"))
    assert "| first broken sentence found, wrong attempts | 12 | 12 | 1.00 | 0.76 to 1.00 |" in found
    assert "| false alarm on a right attempt | 0 | 12 | 0.00 | 0.00 to 0.24 |" in found
    assert "| silent: every vote found nothing | 12 | 36 | 0.33 |" in found
    assert table(kept(tmp_path / "answers.jsonl")) == found
    rows = [json.loads(line) for line in (tmp_path / "answers.jsonl").read_text().splitlines()]
    assert len(rows) == 36
    assert {row["remark"].get("question") for row in rows if row["kind"] != "right"} == {"Why?"}


@pytest.mark.parametrize(
    ("said", "row"),
    [
        ("<verdict>1</verdict>", "| false alarm on a right attempt | 1 | 1 | 1.00 |"),
        ("<verdict>1</verdict>", "| remark at another sentence, wrong or gap | 2 | 2 | 1.00 |"),
        ("nothing", "| silent: too few votes can be read | 3 | 3 | 1.00 |"),
        ("nothing", "| single votes that find nothing in a right attempt | 0 | 0 | – | – |"),
    ],
)
def test_a_model_that_knows_nothing_is_shown_as_it_is(said: str, row: str) -> None:
    assert row in table(results(lambda _: said, [case for case in cases() if case.slug == "handshakes"]))
