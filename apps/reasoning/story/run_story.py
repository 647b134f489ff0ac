"""The whole story, and the fold that makes it."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, fields

from apps.reasoning.domain.event_base import Event, Kind
from apps.reasoning.story.calls import Calls
from apps.reasoning.story.candidates import Candidates
from apps.reasoning.story.checks import Checks
from apps.reasoning.story.course import Course
from apps.reasoning.story.gradings import Gradings
from apps.reasoning.story.lemmas import Lemmas
from apps.reasoning.story.parts import Numbered, Part
from apps.reasoning.story.talks import Talks


@dataclass
class RunStory:
    """A run as of event `seq`. A reader that needs some parts may add only the events of their kinds."""

    seq: int = 0
    course: Course = field(default_factory=Course)
    calls: Calls = field(default_factory=Calls)
    lemmas: Lemmas = field(default_factory=Lemmas)
    candidates: Candidates = field(default_factory=Candidates)
    talks: Talks = field(default_factory=Talks)
    checks: Checks = field(default_factory=Checks)
    gradings: Gradings = field(default_factory=Gradings)

    def __post_init__(self) -> None:
        self._readers: dict[Kind, list[Part]] = defaultdict(list)
        for part in (getattr(self, one.name) for one in fields(self) if one.name != "seq"):
            for kind in part.KINDS:
                self._readers[kind].append(part)

    def add(self, seq: int, event: Event) -> None:
        """Take the next event."""
        self.seq = seq
        for part in self._readers.get(event.kind, ()):
            part.add(seq, event)


def fold(events: Iterable[Numbered[Event]]) -> RunStory:
    """The story of `events`, ascending by number."""
    story = RunStory()
    for seq, event in events:
        story.add(seq, event)
    return story
