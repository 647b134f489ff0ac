"""What a run has established so far: the lemmas that hold, the strongest first, and the weakest link of its proof."""

from collections import Counter
from dataclasses import dataclass

from django.db.models import Sum

from apps.lemmas.models import Lemma, LemmaState
from apps.lemmas.network import RunGraph
from apps.lemmas.rows import rows_of
from apps.lemmas.words import confidence_words
from apps.reasoning.graph.lemma_graph import proof_closure
from apps.runs.models import Run
from apps.runs.selectors import steps_until

MOST = 60


@dataclass(frozen=True)
class Established:
    """A lemma that holds. `used_by` counts the lemmas and proofs that use it or a lemma merged into it.

    `tokens` were written for it: by its votes, and its share of the call that gave it. None without recorded calls.
    """

    lemma: Lemma
    confidence: str
    used_by: int
    tokens: int | None


@dataclass(frozen=True)
class Believed:
    """Why the selected proof is believed: the number of lemmas it rests on, the weakest, and those that do not hold."""

    lemmas: int
    weakest: Lemma | None
    confidence: str
    unverified: list[Lemma]


def established(run: Run, until: int | None = None) -> list[Established]:
    """The lemmas that hold by lower end of the interval, then by use; at most `MOST`. With `until`, as of that event."""
    rows = rows_of(run, until)
    lemmas = rows.lemmas()
    held = [lemma for lemma in lemmas if lemma.status == LemmaState.VERIFIED]
    into = rows.representatives()
    users = {(edge.user, into.get(edge.used, edge.used)) for edge in rows.edges_of({lemma.lemma for lemma in lemmas})}
    uses = Counter(used for _user, used in users)
    tokens = _tokens(run, lemmas, until)
    held.sort(key=lambda lemma: (-(lemma.low or 0.0), -uses[lemma.lemma], lemma.first_seq))
    return [Established(one, confidence_words(one), uses[one.lemma], tokens.get(one.lemma)) for one in held[:MOST]]


def believed(graph: RunGraph) -> Believed | None:
    """For the selected proof; None without one, or if it rests on no lemma."""
    closure = proof_closure(graph.network)
    resting = [lemma for lemma in graph.lemmas if lemma.lemma in closure]
    if not resting:
        return None
    judged = [lemma for lemma in resting if lemma.confidence is not None]
    weakest = min(judged, key=lambda lemma: (lemma.low or 0.0, lemma.confidence or 0.0), default=None)
    unverified = [lemma for lemma in resting if lemma.status != LemmaState.VERIFIED]
    return Believed(len(resting), weakest, confidence_words(weakest) if weakest else "", unverified)


def _tokens(run: Run, lemmas: list[Lemma], until: int | None) -> dict[str, int]:
    """Tokens written for each lemma, as far as calls are recorded."""
    calls = steps_until(run, until).filter(kind="call", failure="")
    votes = calls.exclude(subject="").values_list("subject").annotate(Sum("completion_tokens"))
    found = Counter({subject: tokens or 0 for subject, tokens in votes})
    origins = Counter(lemma.call for lemma in lemmas if lemma.call)
    written = dict(calls.filter(key__in=list(origins)).values_list("key", "completion_tokens"))
    for lemma in lemmas:
        if lemma.call in written:
            found[lemma.lemma] += written[lemma.call] // origins[lemma.call]
    return dict(found)
