"""Answers the waiting requests to proof assistants, one at a time, each in a process with limits."""

import json
import logging
import os
import signal
import subprocess
import sys
from threading import Lock
from typing import Any

from django.conf import settings
from django.utils import timezone

from apps.lemmas.kernel.models import KernelCheck, KernelState
from apps.lemmas.kernel.tools import program_of
from apps.lemmas.models import Lemma, ProofVersion
from apps.runs.models import Run

logger = logging.getLogger(__name__)
#: The last guard on one request, in seconds; the job's own limits on processor time are far below.
WALL_S = 420
_AT_WORK = Lock()


def kernel_work() -> None:
    """Answer requests until none waits; the body of the task. Returns at once if this process is already at it."""
    while KernelCheck.objects.filter(state=KernelState.QUEUED).exists():
        if not _AT_WORK.acquire(blocking=False):
            return
        try:
            while (row := KernelCheck.objects.filter(state=KernelState.QUEUED).first()) is not None:
                _answer(row)
        finally:
            _AT_WORK.release()


def _answer(row: KernelCheck) -> None:
    waiting = KernelCheck.objects.filter(pk=row.pk, state=KernelState.QUEUED)
    if not waiting.update(state=KernelState.RUNNING, asked_at=timezone.now()):
        return
    try:
        result = _asked(_job(row))
    except Exception:
        logger.exception("kernel check %s", row.pk)
        result = {"outcome": "failed", "reason": "The check failed; the server log has the error."}
    KernelCheck.objects.filter(pk=row.pk).update(state=KernelState.DONE, result=result)


def _job(row: KernelCheck) -> dict[str, Any]:
    place = {"text_id": row.text_id, "start": row.start, "end": row.end}
    context = row.run.problem_version.statement
    asked = {"tool": row.tool, "program": program_of(row.tool), "places": [place]}
    return {**asked, "parts": parts_of(row.run, row.subject), "context": context}


def parts_of(run: Run, subject: str) -> list[tuple[str, str]]:
    """The texts of the lemma or proof, named as in the formula check."""
    lemma = Lemma.objects.filter(run=run, lemma=subject).first()
    if lemma is not None:
        return [("statement", lemma.statement), *_steps(lemma.steps)]
    proof = ProofVersion.objects.get(run=run, proof=subject)
    return _steps(proof.steps or [proof.text])


def _steps(steps: list[str]) -> list[tuple[str, str]]:
    return [(f"step {number}", text) for number, text in enumerate(steps, 1)]


def _asked(job: dict[str, Any]) -> dict[str, Any]:
    """The answer of a child process to the only place of a job."""
    with subprocess.Popen(
        [sys.executable, "-m", "apps.mathcheck.kernel"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        cwd=settings.BASE_DIR,
        start_new_session=True,
    ) as child:
        try:
            output, errors = child.communicate(json.dumps(job), timeout=WALL_S)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            return {"outcome": "stopped", "reason": "the last guard on time ended the check"}
    if child.returncode != 0:
        raise RuntimeError(errors[-2000:])
    found: dict[str, Any] = json.loads(output)["results"][0]
    return found
