"""The comparison of four runs of 500 lemmas each: server time of the page and of the difference of two graphs.

Half of the statements of a run are in the first one too: word for word, with other variables, or with other words. Every lemma
has four votes, and every call its events.
"""

import random
import statistics
import time
from typing import TYPE_CHECKING, Any

from benchmarks.figures import Figure
from benchmarks.stage import set_up

if TYPE_CHECKING:
    from apps.runs.models import Run

RUNS, LEMMAS, QUICK_LEMMAS = 4, 500, 60
VOTES, ROUNDS, AGAIN = 4, 8, 5
_NOUNS = (
    "integer",
    "prime",
    "divisor",
    "sequence",
    "polynomial",
    "graph",
    "vertex",
    "triangle",
    "circle",
    "function",
    "subset",
    "root",
)
_CLAIMS = (
    "for every {0} ${a}$ with ${a} > {n}$ the {1} of ${a}^{m} + {n}$ is divisible by ${m}$",
    "if ${a} \\mid {b} + {n}$, then each {0} has a {1} with ${a}^{m} \\le {b} + {n}$",
    "the {0} contains no {1} such that ${a} + {b} = {n}$ and ${a} \\equiv {m} \\pmod {{{n}}}$",
    "there is a {0} whose {1} satisfies ${a}_{{{n}}} - {b}_{{{m}}} < {n}$ for all ${a}, {b} \\ge {m}$",
)


def figures(quick: bool = False) -> list[Figure]:
    """Seconds of the page, of each list of lemmas, and of the difference. The first answer of a process is not counted."""
    set_up(ALLOWED_HOSTS="testserver")
    from django.test import Client
    from django.test.utils import setup_test_environment

    from apps.accounts.models import Role, User

    setup_test_environment()
    lemmas = QUICK_LEMMAS if quick else LEMMAS
    runs = [_run(number, lemmas) for number in range(RUNS)]
    client = Client()
    client.force_login(User.objects.create(username="reader", role=Role.RESEARCHER))
    page = "/runs/compare/?" + "&".join(f"run={run.public_id}" for run in runs)
    difference = f"/runs/compare/difference.json?run={runs[0].public_id}&run={runs[1].public_id}"
    what = f"{RUNS} runs of {lemmas:,} lemmas"
    seconds = {name: _seconds(client, page + f"&lemmas={name}") for name in ("same", "disagree", "single")}
    drawn = _seconds(client, difference)
    rows = client.get(page).context["common"]
    return [
        Figure(f"Comparison of {what}, lemmas in several runs", seconds["same"][0], "s", 1, "at most"),
        Figure("… of it processor time", seconds["same"][1], "s"),
        Figure("… verdicts that disagree", seconds["disagree"][0], "s", 1, "at most"),
        Figure("… lemmas in one run", seconds["single"][0], "s", 1, "at most"),
        Figure("… rows in several runs", len(rows.same) + len(rows.disagree)),
        Figure("… rows in one run", len(rows.single)),
        Figure("Difference of two of the graphs", drawn[0], "s", 1, "at most"),
        Figure("… of it processor time", drawn[1], "s"),
    ]


def _seconds(client: Any, address: str) -> tuple[float, float]:
    """The median time of an answer, and the median processor time."""
    taken = []
    for _ in range(AGAIN + 1):
        began, used = time.perf_counter(), time.process_time()
        answer = client.get(address)
        taken.append((time.perf_counter() - began, time.process_time() - used))
        if answer.status_code != 200:
            raise SystemExit(f"{address} answered {answer.status_code}")
    return statistics.median(one for one, _ in taken[1:]), statistics.median(used for _, used in taken[1:])


def _claim(rng: random.Random, letters: str) -> str:
    one, other = rng.sample(_NOUNS, 2)
    values = {"a": letters[0], "b": letters[1], "n": rng.randrange(2, 60), "m": rng.randrange(2, 9)}
    return rng.choice(_CLAIMS).format(one, other, **values)


def _statement(number: int, place: int) -> str:
    """The statement of a lemma: its own, or that of the first run in one of three wordings."""
    shared = random.Random(place)
    rng = random.Random(1000 * (number + 1) + place)
    if number and rng.random() < 0.5:
        return f"We have shown that {_claim(rng, 'xy')}."
    wording = rng.randrange(3) if number else 0
    claim = _claim(shared, "ab" if wording != 1 else "uv")
    return f"We see: {claim}." if wording == 2 else f"{claim[0].upper()}{claim[1:]}."


def _run(number: int, lemmas: int) -> "Run":
    """A finished run whose events are projected as the journal does it."""
    from django.utils import timezone

    from apps.reasoning.domain.generation import Usage
    from apps.runs.models import Run, RunStatus, Step
    from benchmarks.stage import a_run
    from tests.lemmas.factory import stored, write_events
    from tests.lemmas.story import KeyedEvent

    first = Run.objects.order_by("pk").first()
    run = a_run() if first is None else Run.objects.create(
        title=first.title, problem_version=first.problem_version, scaffold=first.scaffold, spec=first.spec,
        forked_from=first if number == 1 else None,
    )  # fmt: skip
    run.events.all().delete()
    run.status, run.outcome = RunStatus.FINISHED, {"accepted": False}
    run.save()
    events: list[KeyedEvent] = []
    rng = random.Random(number)
    for place in range(lemmas):
        events += _lemma(place, _statement(number, place), lemmas, rng)
    write_events(run, stored(events), batch=2000)
    now, usage = timezone.now(), Usage(prompt=900, completion=300)
    began = run.events.filter(kind="call.began").values_list("body", flat=True)
    Step.objects.bulk_create(
        Step(run=run, key=body["call"], role=body["role"], alias="small", round=body["round"], prompt_tokens=usage.prompt,
             completion_tokens=usage.completion, duration_s=3, recorded_at=now)
        for body in began
    )  # fmt: skip
    return run


def _lemma(place: int, statement: str, lemmas: int, rng: random.Random) -> "list[Any]":
    """The events of one lemma: its call, its uses, four votes with their calls, its verdict."""
    from apps.reasoning.domain import events as ev
    from apps.reasoning.domain.generation import Usage

    name, round_ = f"s0.{place + 1}", 1 + place * ROUNDS // lemmas
    calls = [
        (f"s0/r{round_}/{name}", "summarizer"),
        *((f"v/{name}/{vote}", "theorem_verifier") for vote in range(1, VOTES + 1)),
    ]
    found: list[Any] = []
    for call, role in calls:
        found.append((f"{call}/began", ev.CallBegan(call=call, role=role, alias="small", rollout=0, round=round_)))
        ended = ev.CallEnded(call=call, attempt=1, finish_reason="stop", usage=Usage(prompt=900, completion=300), ttft_s=None,
                             duration_s=3.0, text_sha="0" * 64)  # fmt: skip
        found.append((f"{call}/ended", ended))
    steps = tuple(f"Step {number} of the proof, in some words." for number in range(1, 5))
    proposed = ev.LemmaProposed(
        lemma=name, number=place + 1, rollout=0, round=round_, statement=statement, steps=steps, call=calls[0][0]
    )
    found.insert(2, (f"{name}/lemma", proposed))
    for used in {rng.randrange(place) for _ in range(2) if place}:
        anchor = ev.TextAnchor(where="step 1", start=0, end=4, quote="Step")
        found.append((f"{name}/uses/{used}", ev.EdgeAdded(user=name, used=f"s0.{used + 1}", evidence=anchor)))
    faults = [rng.choice((-1, -1, -1, 2)) for _ in range(VOTES)]
    for number, fault in enumerate(faults, 1):
        vote = ev.VoteCast(subject=name, index=number, of=VOTES, call=calls[number][0], first_fault=fault, summary="Read.")
        found.append((f"{name}/vote/{number}", vote))
    share = faults.count(-1) / VOTES
    found.append((f"{name}/verdict", ev.VerdictReached(
        subject=name, passes=faults.count(-1), valid=VOTES, total=VOTES, confidence=share, low=0.1, high=0.9,
        status="verified" if share > 0.5 else "rejected")))  # fmt: skip
    return found
