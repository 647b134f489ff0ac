"""The references of a problem for graders: the library's solutions, then the posts added by people."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils import timezone

from apps.accounts.models import User
from apps.graders.models import ORIGIN_LENGTH, ReferencePost
from apps.problems.models import Problem
from apps.reasoning.graders.material import REFERENCES_AT_MOST, SCRIPT_LENGTH


class ReferenceWrong(ValueError):
    """An invalid reference; the message says why."""


@dataclass(frozen=True)
class Reference:
    """One reference. `post` is set for an added post; other references are edited with the problem."""

    number: int
    text: str
    title: str
    post: ReferencePost | None = None


def references_of(problem: Problem) -> list[Reference]:
    """All non-empty references, in the numbering of graders."""
    library = [(one.text, one.approach or "Library solution", None) for one in problem.reference_solutions.all()]
    posts = [(one.text, one.origin or "Pasted", one) for one in problem.posts.all() if one.removed_at is None]
    given = [one for one in (*library, *posts) if one[0].strip()]
    return [Reference(number, *one) for number, one in enumerate(given[:REFERENCES_AT_MOST], 1)]


def posts_add(*, problem: Problem, texts: Iterable[str], origin: str, by: User) -> int:
    """Add posts that do not exist yet; return their number. Raises `ReferenceWrong`."""
    known = {one.text for one in references_of(problem)}
    fresh = [text for text in dict.fromkeys(text.strip() for text in texts) if text and text not in known]
    if any("\x00" in text or len(text) > SCRIPT_LENGTH for text in fresh):
        raise ReferenceWrong(f"A reference must be plain text of at most {SCRIPT_LENGTH:,} characters.")
    if len(known) + len(fresh) > REFERENCES_AT_MOST:
        raise ReferenceWrong(
            f"A problem has at most {REFERENCES_AT_MOST} references, and this one already has {len(known)}. Remove some first."
        )
    posts = [ReferencePost(problem=problem, text=text, origin=origin[:ORIGIN_LENGTH], added_by=by) for text in fresh]
    ReferencePost.objects.bulk_create(posts)
    return len(fresh)


def post_remove(*, post: ReferencePost) -> None:
    """Remove a post from the references."""
    ReferencePost.objects.filter(pk=post.pk, removed_at=None).update(removed_at=timezone.now())
