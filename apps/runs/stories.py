"""Stories of stored runs. A reader names the kinds of events that it needs; only those are loaded."""

from collections.abc import Collection

from django.db.models import Q

from apps.reasoning.domain.kinds import Kind
from apps.reasoning.domain.vocabulary import event_from
from apps.reasoning.story.run_story import RunStory, fold
from apps.runs.models import Run, RunEvent

_AT_ONCE = 2_000


def run_story(run: Run, of: Collection[Kind] | Q) -> RunStory:
    """The story of `run` from its events of these kinds, or from those that match the condition."""
    wanted = of if isinstance(of, Q) else Q(kind__in=of)
    rows = RunEvent.objects.filter(wanted, run=run).order_by("seq").values_list("seq", "kind", "body")
    return fold((seq, event_from(kind, body)) for seq, kind, body in rows.iterator(chunk_size=_AT_ONCE))
