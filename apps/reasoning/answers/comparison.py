"""Whether two answers say the same: equal, different, or undecided with the reason. Never a guess, never an exception.

Nothing is evaluated as code. The work is counted in operations, so the same two texts have the same outcome everywhere.
"""

from functools import lru_cache

from apps.reasoning.answers.final import FinalAnswer, final_answer
from apps.reasoning.answers.outcomes import Comparison, equal, undecided
from apps.reasoning.answers.reading.lexing import MOST_CHARACTERS
from apps.reasoning.answers.reading.reading import AnswerReader
from apps.reasoning.answers.values.shape_equality import shapes_equal, short
from apps.reasoning.answers.values.shapes import letters_of
from apps.reasoning.answers.work import GivenUp, Work
from apps.reasoning.graph.statements import normalise_statement

MOST_REASON = 240
#: Numbers that few problems have as their answer.
_PLAINLY_OTHERS = ("12345", "77777")
WITHOUT = "The solution ends without an answer."
UNSTATED = "The solution states no answer"
#: Spellings whose usual reading is certain enough to decide equality.
_FIRM = frozenset(("grouped", "mixed", "decimal_comma"))


def answer_compared(text: str, expected: str) -> Comparison:
    """The final answer of a solution compared with the problem's answer.

    Where the solution states none (no line `Answer:`, no box, no “the answer is”), the end of its last line counts only if
    it is equal: a formula at the end of a proof need not be the answer.
    """
    found = final_answer(text)
    if not found.text:
        return undecided(WITHOUT)
    result = answers_compared(found.text, expected)
    return result if result.outcome == "equal" or found.is_stated else undecided(unstated(found))


def unstated(found: FinalAnswer) -> str:
    """The reason why a final answer that no words call the answer does not count."""
    return f"{UNSTATED}; its last line ends with “{short(found.text)}”."


@lru_cache(maxsize=2_048)
def answers_compared(given: str, expected: str) -> Comparison:
    """Compare the given answer with the expected one, each as a person or a model wrote it."""
    if not expected.strip() or not given.strip():
        return undecided("One of the answers is empty.")
    if given.split() == expected.split() or _is_same_text(given, expected):
        return equal("Word for word the same.")
    work = Work()
    try:
        found = _by_readings(given, expected, work)
    except GivenUp as problem:
        found = undecided(str(problem))
    except (ArithmeticError, LookupError, ValueError, RecursionError) as problem:  # A run must not end on an answer.
        found = undecided(f"a value in them could not be computed ({type(problem).__name__})")
    reason = short(found.reason.rstrip("."), MOST_REASON)
    return found.model_copy(update={"reason": f"{reason[:1].upper()}{reason[1:]}."})


def key_trouble(expected: str) -> str:
    """Why a plain wrong answer could not be refused, so that only right ones would count; "" if it can be.

    A key such as “all powers of 2” is equal to itself and decided about nothing else.
    """
    found = (answers_compared(given, expected) for given in _PLAINLY_OTHERS)
    return next((one.reason for one in found if one.outcome == "undecided"), "")


def _by_readings(given: str, expected: str, work: Work) -> Comparison:
    one, two = AnswerReader(given, work), AnswerReader(expected, work)
    first = _by_reading(one, two, work)
    for mode in sorted(one.met | two.met):
        modes = frozenset((mode,))
        other = _by_reading(AnswerReader(given, work, modes), AnswerReader(expected, work, modes), work)
        if other.outcome == first.outcome or first.outcome == "undecided" or (first.outcome == "equal" and mode in _FIRM):
            continue
        if mode in _FIRM and other.outcome == "undecided":
            continue
        return undecided(_TWO_WAYS[mode])
    return first


def _by_reading(one: AnswerReader, two: AnswerReader, work: Work) -> Comparison:
    given, expected = one.read(), two.read()
    found = shapes_equal(given, expected, work)
    if found.outcome == "different" and (doubt := one.doubt or two.doubt):
        return undecided(doubt)
    letters = letters_of(given) - letters_of(expected)
    if found.outcome != "different" or not letters:
        return found
    # `N − 1` compared with 2025: the problem may give N.
    return undecided(f"the meaning of {', '.join(sorted(letters))} in the given answer is unknown")


_TWO_WAYS = {
    "grouped": "a comma between digits may divide thousands or a list",
    "decimal_comma": "a comma between digits may be a decimal comma or divide a list",
    "mixed": "a number before a fraction may be a mixed number or a product",
    "slash": "the denominator after a slash is ambiguous",
    "log": "the base of a logarithm is not given",
}


def _is_same_text(one: str, two: str) -> bool:
    return max(len(one), len(two)) <= MOST_CHARACTERS and _normal(one) == _normal(two)


def _normal(text: str) -> str:
    bare = text.strip().strip("$").rstrip(".").strip()
    return normalise_statement(f"${bare}$")
