"""Two workers on one queue, and a PostgreSQL server that is killed too: nothing lost, nothing doubled, every token counted."""

import random
import re
import time
from typing import Any

import pytest

from tests.flows.conftest import assert_nothing_finished_was_generated_again, assert_sound, rounds
from tests.flows.database import PostgresServer, server_programs
from tests.flows.stack import Stack

WORKERS = ("inference", "inference2")
ALL = ("valkey", "orchestrator", *WORKERS)
pytestmark = [pytest.mark.kill]
Undisturbed = dict[str, tuple[str, Any]]


def test_two_workers_share_the_calls_of_one_run(stack: Stack, undisturbed: Undisturbed) -> None:
    stack.env["WORKED_EXAMPLE_TOKENS_PER_S"] = "900"
    stack.start(*ALL)
    run = stack.agent("start")
    assert_sound(stack.wait_until_ended(run, keep=ALL), undisturbed)
    shares = [set(re.findall(r"answered (\S+)#", stack.log_text(worker))) for worker in WORKERS]
    assert all(shares)
    assert not shares[0] & shares[1]
    assert_nothing_finished_was_generated_again(stack, WORKERS)


def test_the_other_worker_takes_over_the_calls_of_one_that_is_stopped(stack: Stack, undisturbed: Undisturbed) -> None:
    """SIGTERM: calls may end for `DRAIN_S`, the rest is given back and goes to the other worker."""
    stack.env["WORKED_EXAMPLE_TOKENS_PER_S"] = "150"
    stack.start(*ALL)
    run = stack.agent("start")
    stack.wait_for(run, lambda dump: dump["calls"] >= 2)
    stack.running["inference"].terminate()
    assert stack.running["inference"].wait(timeout=20) == 0
    assert "gave back" in stack.log_text("inference")
    dump = stack.wait_until_ended(run, keep=("valkey", "orchestrator", "inference2"), within_s=90)
    assert_sound(dump, undisturbed)
    assert_nothing_finished_was_generated_again(stack, WORKERS)


@pytest.mark.skipif(server_programs() is None, reason="PostgreSQL is not installed")
@pytest.mark.xdist_group("postgres that dies")
@pytest.mark.parametrize("seed", rounds(range(102, 132), sampled=3))
def test_random_kills_with_two_workers_and_the_database(
    on_postgres: Stack, server: PostgresServer, undisturbed: Undisturbed, seed: int
) -> None:
    rng = random.Random(seed)
    stack = on_postgres
    stack.env["WORKED_EXAMPLE_TOKENS_PER_S"] = "1500"
    stack.start(*ALL)
    run = stack.agent("start")
    stack.wait_for(run, lambda dump: dump["status"] == "running")
    for _ in range(3):
        time.sleep(rng.uniform(0.0, 0.8))
        victim = rng.choice([*ALL, "database"])
        if victim == "database":
            server.kill()
            time.sleep(rng.uniform(0.0, 0.5))
            server.start()
        else:
            stack.kill(victim)
            time.sleep(rng.uniform(0.0, 0.3))
        stack.keep_up(ALL)
    dump = stack.wait_until_ended(run, keep=ALL, within_s=90)
    assert_sound(dump, undisturbed)
    assert_nothing_finished_was_generated_again(stack, WORKERS)
