"""The durable journal alone: acknowledged commits per second, database growth, load and replay of 20,000 records."""

import asyncio
import random
import resource
import time
from typing import Any

from benchmarks.figures import Figure

CALLS, QUICK_CALLS = 20_000, 3_000
AT_ONCE = 256


def figures(quick: bool = False) -> list[Figure]:
    """Append calls of about 3 kB with two events each, `AT_ONCE` at a time. Then open the run again and replay it."""
    from benchmarks import stage

    folder = stage.set_up()
    from apps.runs.journal.run_journal import JournalWriter, RunJournal
    from apps.runs.owners.execution import event_sinks
    from apps.runs.owners.leases import lease_take

    calls = QUICK_CALLS if quick else CALLS
    owned = lease_take(stage.a_run().pk, "benchmark/0/x")
    if owned is None:
        raise SystemExit("the benchmark run could not be taken")
    writer = JournalWriter(sinks=event_sinks())
    journal = RunJournal(owned, writer)
    began, cpu = time.perf_counter(), time.process_time()
    asyncio.run(_append(journal, calls))
    took, used = time.perf_counter() - began, time.process_time() - cpu
    size = sum(path.stat().st_size for path in folder.glob("lemmascope.sqlite3*"))

    began = time.perf_counter()
    again = RunJournal(owned, writer)
    loaded = time.perf_counter() - began
    for number in range(calls):
        if again.recorded(f"s0/r1/verify/{number}") is None:
            raise SystemExit(f"call {number} is not in the journal")
    replayed = time.perf_counter() - began
    writer.close()
    return [
        Figure("calls acknowledged after COMMIT, SQLite", calls / took, "/s", 3000, "at least"),
        Figure("CPU per call", 1000 * used / calls, "ms"),
        Figure("database per call", size / calls / 1000, "kB"),
        Figure(f"load of {calls:,} records", loaded, "s"),
        Figure(f"load and replay of {calls:,} records", replayed, "s", 5, "under"),
        Figure("greatest memory", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "MB"),
    ]


async def _append(journal: Any, calls: int) -> None:
    from apps.reasoning.domain.events import CallBegan, CallEnded
    from apps.reasoning.domain.generation import Final, Place, Usage
    from apps.reasoning.domain.records import StepRecord
    from apps.reasoning.journal.keys import sha_of

    rng = random.Random(1)
    words = [rng.choice(("lemma", "prime", "divides", "hence", "$x^2+y^2$", "suppose", "therefore")) for _ in range(4000)]
    shared = " ".join(words[:800])
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(number: int) -> None:
        key = f"s0/r1/verify/{number}"
        async with gate:
            began = CallBegan(call=key, role="theorem_verifier", alias="bench", rollout=0, round=1)
            journal.emit(f"{key}/began", began)
            start = rng.randrange(3000)
            text = f"{number} " + " ".join(words[start : start + 450])
            usage = Usage(prompt=1200, completion=600)
            final = Final(text=text, finish_reason="stop", usage=usage, ttft_s=0.1, duration_s=1.0, model_revision="bench")
            record = StepRecord(
                key=key, request_hash="0" * 64, role="theorem_verifier", alias="bench", place=Place(round=1),
                prompt_shas=(sha_of(shared), sha_of(str(number))), final=final,
            )  # fmt: skip
            ended = CallEnded(
                call=key, attempt=1, finish_reason="stop", usage=usage, ttft_s=0.1, duration_s=1.0, text_sha=sha_of(text)
            )
            await journal.append(record, [(f"{key}/ended", ended)], [shared, str(number)])

    await asyncio.gather(*(one(number) for number in range(calls)))
