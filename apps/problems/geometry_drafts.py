"""Statements of geometry that a model drafts: who may ask, and the orchestrator's part.

The caller supplies functions to send and stop calls, because this app is below the one that knows the broker.
"""

import asyncio
import logging
import uuid
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from functools import cache

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.http import Http404
from django.utils import timezone

from apps.accounts.models import User
from apps.geometry.constructions import CONSTRUCTIONS
from apps.geometry.predicates import PREDICATES
from apps.geometry.statement import StatementError, read
from apps.problems.models import DraftState, GeometryDraft
from apps.reasoning.domain.errors import AliasError, BackendError, RunHalted
from apps.reasoning.formal.asking import FormalModel, Unread
from apps.reasoning.formal.geometry import Drafted, draft_statement, statement_schema
from apps.reasoning.inference.aliases import Alias, load_usable
from apps.reasoning.ports import Dispatcher

logger = logging.getLogger(__name__)
LONGEST_WORDS, KEPT = 4_000, 20
#: The most tokens of a statement.
STATEMENT_TOKENS = 600
FAILED = "The draft failed; the server log has the error."

DispatcherFor = Callable[[str, Sequence[Alias]], AbstractAsyncContextManager[Dispatcher]]


def drafting_models(user: User) -> list[Alias]:
    """The models that a user may ask for a draft; none for students, and none without a readable models file."""
    if not user.may_see_runs:
        return []
    try:
        return list(load_usable(settings.MODELS_FILE).values())
    except AliasError:
        return []


def draft_get_for(user: User, public_id: str) -> GeometryDraft:
    """A draft of this user, or `Http404`."""
    try:
        return GeometryDraft.objects.get(owner=user, public_id=uuid.UUID(public_id))
    except (ValueError, GeometryDraft.DoesNotExist):
        raise Http404("There is no such draft, or it is another user's.") from None


@transaction.atomic
def draft_ask(user: User, words: str, alias: str) -> GeometryDraft:
    """Ask a model for a statement. Older drafts of the user beyond `KEPT` are deleted. Raises `ValidationError`."""
    words = words.strip()
    if not words or len(words) > LONGEST_WORDS or "\x00" in words:
        raise ValidationError(f"Write the problem in words, with at most {LONGEST_WORDS:,} characters.")
    if alias not in [one.name for one in drafting_models(user)]:
        raise ValidationError("There is no such model, or it is turned off. Choose another one.")
    if waiting := GeometryDraft.objects.filter(owner=user, words=words, alias=alias, state=DraftState.QUEUED).first():
        return waiting
    draft = GeometryDraft.objects.create(owner=user, words=words, alias=alias)
    old = GeometryDraft.objects.filter(owner=user).order_by("-asked_at", "-pk").values_list("pk", flat=True)[KEPT:]
    GeometryDraft.objects.filter(pk__in=list(old)).delete()
    return draft


def drafts_work(dispatcher_for: DispatcherFor, calls_stop: Callable[[str], None]) -> int:
    """Answer all waiting requests, one after another; returns their number."""
    count = 0
    while (draft := _claimed()) is not None:
        written, reason = None, FAILED
        try:
            written, reason = _answer(draft, dispatcher_for, calls_stop)
        except Exception:
            logger.exception("draft %s", draft.pk)
        values = {"text": written.text, "refusal": written.refusal} if written is not None else {}
        state = DraftState.DONE if written is not None and written.text else DraftState.FAILED
        GeometryDraft.objects.filter(pk=draft.pk).update(state=state, reason=reason[:500], **values)
        count += 1
    return count


def _claimed() -> GeometryDraft | None:
    """The oldest waiting or lost request, claimed for this process."""
    lost = Q(state=DraftState.RUNNING, started_at__lt=timezone.now() - timedelta(seconds=2 * settings.HINT_WITHIN_S))
    waiting = GeometryDraft.objects.filter(Q(state=DraftState.QUEUED) | lost)
    for draft in waiting[:8]:
        if waiting.filter(pk=draft.pk).update(state=DraftState.RUNNING, started_at=timezone.now()):
            return draft
    return None


def _answer(
    draft: GeometryDraft, dispatcher_for: DispatcherFor, calls_stop: Callable[[str], None]
) -> tuple[Drafted | None, str]:
    """What the model wrote, or None and the reason."""
    try:
        alias = load_usable(settings.MODELS_FILE)[draft.alias]
    except (AliasError, KeyError):
        return None, f"models.toml has no model {draft.alias}, or it is turned off."
    run, within = f"geometry-{uuid.uuid4()}", settings.HINT_WITHIN_S
    try:
        written = asyncio.run(_written(draft.words, alias, run, within, dispatcher_for))
    except TimeoutError:
        calls_stop(run)
        return None, f"Nothing came back within {within:g} s. Does an inference worker serve {alias.name}?"
    except (Unread, BackendError, RunHalted) as error:
        return None, str(error)
    return written, "" if written.text else written.refusal


async def _written(words: str, alias: Alias, run: str, within: float, dispatcher_for: DispatcherFor) -> Drafted:
    async with asyncio.timeout(within), dispatcher_for(run, [alias]) as dispatcher:
        model = FormalModel(dispatcher, run, alias.name, STATEMENT_TOKENS, within, alias.closes_by, alias.context_tokens)
        schema = statement_schema(list(CONSTRUCTIONS), list(PREDICATES))
        return await draft_statement(model, words, language(), schema, refusal_of)


def refusal_of(text: str) -> str:
    """Why a statement cannot be read; "" if it can."""
    try:
        read(text)
    except StatementError as error:
        return str(error)
    return ""


@cache
def language() -> str:
    """The constructions and goals with their meaning, a line each."""
    made = [f"{' '.join(one.new)} = {one.usage}: {one.meaning}" for one in CONSTRUCTIONS.values()]
    goals = [f"{one.usage}: {one.meaning}" for one in PREDICATES.values()]
    return "\n".join([*made, "", "Goals, with their meaning", *goals])
