"""How `reasoning_cache` is played in the tests of all scaffolds."""

from apps.reasoning.scaffolds import reasoning_cache
from tests.reasoning.candidates import named, score
from tests.reasoning.plays import Course, Golden, Plays

COURSE: Course = (
    reasoning_cache.Params(turns=3),
    {"turn/2/solve": "nothing", "turn/*/solve": named, "turn/*/summarise": "<state>We know $x$.</state>"},
)

PLAYS = Plays(
    course=COURSE,
    most=(
        reasoning_cache.Params(turns=2, states=2, attempts=3, marks=True),
        {"turn/*/summarise": lambda request: f"<state>State after {request.key}.</state>", "mark/*": score(3), "*": named},
    ),
    # All turns are made, and no summary follows the last.
    golden=Golden(
        reasoning_cache.Params(turns=3),
        {"*/solve": named, "*": "<state>So far.</state>"},
        "turn/1/solve turn/1/summarise turn/2/solve turn/2/summarise turn/3/solve",
        "exhausted",
        None,
        "It was not judged",
    ),
)
