"""What a flow test does inside its stack's environment. Reads commands as JSON lists, one a line; answers JSON lines."""

import json
import os
import sys
import uuid
from typing import Any


def main() -> None:
    """Answer one command per line until the input ends. Starting Python for each command took longer than the run."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.config.settings")
    import django
    from django.db import close_old_connections

    django.setup()
    for line in sys.stdin:
        command, *args = json.loads(line)
        print(json.dumps(COMMANDS[command](*args)), flush=True)  # noqa: T201
        close_old_connections()


def start() -> str:
    """Start the worked example as Alice; returns the run's public id."""
    from apps.accounts.models import Role, User
    from apps.explorations.services import worked_example_start

    alice, _ = User.objects.get_or_create(username="alice", defaults={"role": Role.RESEARCHER})
    return str(worked_example_start(user=alice).public_id)


def start_with_tools() -> str:
    """Start AlphaApollo's quick preset as Alice, all roles played by `worked-example`; returns the run's public id."""
    from django.conf import settings

    from apps.accounts.models import Role, User
    from apps.explorations.starting.plans import Plan, plan_spec, problem_text
    from apps.problems.models import Problem, Topic
    from apps.reasoning.inference.aliases import load_aliases
    from apps.runs.services import run_create

    alice, _ = User.objects.get_or_create(username="alice", defaults={"role": Role.RESEARCHER})
    problem, _ = Problem.objects.get_or_create(slug="sums", defaults={"title": "Sums", "topic": Topic.NUMBER_THEORY})
    version, _ = problem.versions.get_or_create(number=1, defaults={"statement": "Prove that $1+2=3$."})
    plan = Plan("alpha_apollo", "quick", role_aliases={"": "worked-example"}, seed=1)
    spec = plan_spec(plan, problem_text(version), load_aliases(settings.MODELS_FILE), authored=True)
    run = run_create(owner=alice, problem_version=version, title="Sums", spec=spec, is_authored=True)
    return str(run.public_id)


def samples() -> None:
    """Sample accounts and library, as `up` makes them."""
    from django.core.management import call_command

    from apps.accounts.services import sample_accounts_ensure

    sample_accounts_ensure()
    call_command("load_samples", verbosity=0)


def glance(run_id: str) -> tuple[str, int, int]:
    """Status, calls and last event: what is asked again and again must not cost the processor what the run needs."""
    from apps.runs.models import Run

    status, calls, last_seq = Run.objects.values_list("status", "calls", "last_seq").get(public_id=run_id)
    return status, calls, last_seq


def dump(run_id: str) -> dict[str, Any]:
    """All that the invariants look at."""
    from apps.runs.journal.texts import texts_get
    from apps.runs.models import Run

    run = Run.objects.get(public_id=run_id)
    events = list(run.events.order_by("seq").values("seq", "key", "kind", "body"))
    steps = list(run.steps.values("key", "kind", "attempt", "failure", "prompt_tokens", "completion_tokens", "text_sha"))
    named = {""} | {sha for step in run.steps.all() for sha in (*step.prompt_shas, step.text_sha, step.reasoning_sha)}
    return {
        "status": run.status,
        "reason": run.status_reason,
        "fence": run.fence,
        "owner": run.lease_owner,
        "last_seq": run.last_seq,
        "calls": run.calls,
        "tokens": run.tokens,
        "outcome": run.outcome,
        "events": events,
        "steps": steps,
        "texts_lost": sorted(named - texts_get(named).keys()),
        "lemmas": list(run.lemmas.order_by("lemma").values("lemma", "status", "passes", "valid")),
    }


def command(run_id: str, name: str) -> None:
    from apps.accounts.models import User
    from apps.runs.models import Run
    from apps.runs.services import command_request

    command_request(
        run=Run.objects.get(public_id=run_id), user=User.objects.get(username="alice"), command_id=uuid.uuid4(), name=name
    )


def manage(*words: str) -> str:
    """A command of `manage.py` in this process, which has imported what it needs; returns what it printed."""
    from io import StringIO

    from django.core.management import call_command

    printed = StringIO()
    call_command(*words, stdout=printed)
    return printed.getvalue()


def active(run_id: str) -> int:
    """How many calls of the run some worker is busy with."""
    from apps.processes.streams import heartbeats, sync_client

    return sum(call["run"] == run_id for beat in heartbeats(sync_client()) for call in beat["active"])


def generating(alias: str) -> list[int]:
    """The processes of the workers whose engine of this alias is loaded and has calls in it; none while Valkey is away."""
    from redis.exceptions import ConnectionError as NoValkey

    from apps.processes.streams import heartbeats, sync_client

    try:
        beats = [beat for beat in heartbeats(sync_client()) if alias in beat["health"]]
    except NoValkey:
        return []
    busy = [beat for beat in beats if beat["health"][alias]["state"] == "ready" and beat["health"][alias]["running"]]
    return [int(beat["worker"].rpartition("/")[2]) for beat in busy]


def writable(run_id: str) -> bool:
    """Can anybody write to the run? A process that was stopped inside a transaction holds the row, or SQLite's one lock."""
    from django.db import OperationalError, connection
    from django.db.models import F

    from apps.runs.models import Run

    try:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA busy_timeout = 300" if connection.vendor == "sqlite" else "SET lock_timeout = '300ms'")
        return Run.objects.filter(public_id=run_id).update(title=F("title")) == 1
    except OperationalError:
        return False


def practise(count: str) -> list[dict[str, str]]:
    """Students who try a problem: the address of each draft, and the key of a session."""
    from django.test import Client
    from django.urls import reverse

    from apps.accounts.models import Role, User
    from apps.practice.attempts import problem_try
    from tests.problems.factory import make_problem

    problem, found = make_problem(), []
    for number in range(int(count)):
        person, client = User.objects.create(username=f"student-{number}", role=Role.STUDENT), Client()
        client.force_login(person)
        row = problem_try(person=person, problem=problem)
        found.append({"path": reverse("submissions:draft", args=[row.public_id]), "session": client.cookies["sessionid"].value})
    return found


def drafts() -> dict[str, tuple[int, str]]:
    """Revision and text of every draft by its address."""
    from django.urls import reverse

    from apps.submissions.models import Submission

    rows = Submission.objects.values_list("problem__public_id", "row_version", "draft")
    return {reverse("submissions:draft", args=[problem]): (version, text) for problem, version, text in rows}


COMMANDS: dict[str, Any] = {
    "start": start,
    "start_with_tools": start_with_tools,
    "samples": samples,
    "glance": glance,
    "dump": dump,
    "command": command,
    "manage": manage,
    "active": active,
    "generating": generating,
    "writable": writable,
    "practise": practise,
    "drafts": drafts,
}

if __name__ == "__main__":
    main()
