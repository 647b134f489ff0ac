"""Hostile and broken code behind each fence: nothing escapes, nothing outside changes, and the next code runs normally."""

import pytest

from tests.sandbox.attempts import ATTEMPTS, PRELUDE, Attempt
from tests.sandbox.conftest import SECRET, Surroundings
from workers.sandbox.sandbox import Sandbox


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda attempt: attempt.sentence)
async def test_an_attempt_fails_and_the_next_code_runs(
    sandbox: Sandbox, surroundings: Surroundings, attempt: Attempt, monkeypatch: pytest.MonkeyPatch
) -> None:
    if attempt.fence not in ("", sandbox.options.level):
        return
    monkeypatch.setenv(SECRET, "a secret")
    done = await sandbox.run(PRELUDE.format(facts=surroundings.facts) + attempt.code, wall_s=attempt.wall_s)
    assert "ESCAPED" not in done.stdout
    assert "a secret" not in done.stdout
    assert done.error in attempt.ends, done.stderr[-2000:]
    assert surroundings.damage() == []
    after = await sandbox.run("print(6 * 7)")
    assert (after.stdout, after.error) == ("42\n", "")


def test_the_corpus_has_at_least_sixty_different_attempts() -> None:
    sentences = [attempt.sentence for attempt in ATTEMPTS]
    assert len(set(sentences)) == len(sentences) >= 60
