"""The references of a problem as graders are given them: the library's solutions, then the posts that people added."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils import timezone

from apps.accounts.models import User
from apps.grading.preparing_models import ORIGIN_LENGTH, ReferencePost
from apps.problems.models import Problem
from apps.reasoning.graders.material import REFERENCES_AT_MOST, SCRIPT_LENGTH


class ReferenceWrong(ValueError):
    """A text that cannot be a reference; the message says why."""


@dataclass(frozen=True)
class Reference:
    """One reference. `post` is set where somebody added it here; the others are edited with the problem."""

    number: int
    text: str
    title: str
    post: ReferencePost | None = None


def references_of(problem: Problem) -> list[Reference]:
    """All that hold anything, in the order in which graders number them."""
    library = [(one.text, one.approach or "Solution of the library", None) for one in problem.reference_solutions.all()]
    posts = [(one.text, one.origin or "Pasted", one) for one in problem.posts.filter(removed_at=None)]
    given = [one for one in (*library, *posts) if one[0].strip()]
    return [Reference(number, *one) for number, one in enumerate(given[:REFERENCES_AT_MOST], 1)]


def posts_add(*, problem: Problem, texts: Iterable[str], origin: str, by: User) -> int:
    """Add posts; how many are new. One that is there already is not added twice. Raises `ReferenceWrong`."""
    known = {one.text for one in references_of(problem)}
    fresh = [text for text in dict.fromkeys(text.strip() for text in texts) if text and text not in known]
    if any("\x00" in text or len(text) > SCRIPT_LENGTH for text in fresh):
        raise ReferenceWrong(f"A reference is plain text of at most {SCRIPT_LENGTH:,} characters.")
    if len(known) + len(fresh) > REFERENCES_AT_MOST:
        raise ReferenceWrong(f"A problem has at most {REFERENCES_AT_MOST} references; {len(known)} are there.")
    posts = [ReferencePost(problem=problem, text=text, origin=origin[:ORIGIN_LENGTH], added_by=by) for text in fresh]
    ReferencePost.objects.bulk_create(posts)
    return len(fresh)


def post_remove(*, post: ReferencePost) -> None:
    """Take a post away from what graders are given."""
    ReferencePost.objects.filter(pk=post.pk, removed_at=None).update(removed_at=timezone.now())
