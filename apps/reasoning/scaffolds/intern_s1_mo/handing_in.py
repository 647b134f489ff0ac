"""The anytime answer of Intern-S1-MO: the version of the proof that it would select from the events so far."""

from collections import defaultdict
from collections.abc import Iterable

from apps.reasoning.domain.event_base import Kind
from apps.reasoning.scaffolds.intern_s1_mo.final import rank
from apps.reasoning.scaffolds.intern_s1_mo.params import Params
from apps.reasoning.story.lemmas import Lemmas, PersonVerdict
from apps.reasoning.story.run_story import RunStory

AFTER = frozenset({Kind.PROOF_DRAFTED, Kind.VERDICT_REACHED, Kind.CONTROL_APPLIED, Kind.LEMMA_RETIRED, Kind.LEMMA_RESTORED})


def hands_in(story: RunStory, params: Params) -> str:
    """The accepted version of the proof, else the one with the best pass share; ties go to the newest version. A version that
    rests on a lemma that a person rejected later is not accepted."""
    found = story.lemmas
    if not found.proofs:
        return ""
    objected = _objected(found, params)

    def order(proof: str) -> tuple[bool, float, int, int]:
        version = found.proofs[proof]
        share = -1.0 if version.confidence is None else version.confidence
        return rank(proof, accepted=version.status == "accepted" and proof not in objected, share=share)

    return max(found.proofs, key=order)


def _objected(found: Lemmas, params: Params) -> set[str]:
    """The proofs that rest on a lemma that a person rejected after they were drafted."""
    rejections = [one for one in found.people.values() if one.applied_seq and not one.accepted]
    if not rejections:
        return set()
    uses: dict[str, list[str]] = defaultdict(list)
    for _, edge in found.uses:
        uses[edge.user].append(edge.used)
    return {
        name
        for name, proof in found.proofs.items()
        if (later := [one for one in rejections if _is_after(one, proof.first_seq)])
        and {_chief(found, one.lemma) for one in later} & _support(found, params, uses, uses[name])
    }


def _is_after(rejection: PersonVerdict, seq: int) -> bool:
    return rejection.applied_seq is not None and rejection.applied_seq > seq


def _support(found: Lemmas, params: Params, uses: dict[str, list[str]], roots: Iterable[str]) -> set[str]:
    """The nodes of these lemmas and of all their dependencies. As `Lemmas.support` of the library: a merged lemma has the
    dependencies of its node while that is in the library, else its own."""
    seen: set[str] = set()
    todo = list(roots)
    while todo:
        name = todo.pop()
        chief = _chief(found, name)
        name = chief if _is_in_library(found, chief, params) else name
        if name not in seen:
            seen.add(name)
            todo += uses.get(name, ())
    return {_chief(found, name) for name in seen}


def _chief(found: Lemmas, name: str) -> str:
    """The lemma into which this one is merged, or itself."""
    while name in found.versions and (into := found.versions[name].merged_into):
        name = into
    return name


def _is_in_library(found: Lemmas, name: str, params: Params) -> bool:
    lemma = found.versions.get(name)
    if lemma is None or lemma.is_retired:
        return False
    return lemma.judged == "verified" or not params.theorem_verifier or found.people_words.get(name) == "accepted"
