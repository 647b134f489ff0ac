"""Read an answer: words, conditions and lists; `part_reading.py` reads the parts, `term_reading.py` expressions."""

import itertools
from collections.abc import Sequence

from apps.reasoning.answers.reading.lexing import tokens
from apps.reasoning.answers.reading.lists import MOST_ITEMS, set_of, together, union
from apps.reasoning.answers.reading.part_reading import PartReader
from apps.reasoning.answers.reading.remarks import unread_words, without_remark
from apps.reasoning.answers.reading.slicing import AND, OR, Tokens, at_depth_zero, is_free, split, trimmed
from apps.reasoning.answers.reading.term_reading import MOST_NESTED
from apps.reasoning.answers.values.equality import terms_equal
from apps.reasoning.answers.values.shapes import Class, Conditioned, Many, Ordered, Run, Scalar, Shape, Words
from apps.reasoning.answers.values.terms import add, minus, number
from apps.reasoning.answers.vocabulary import CONDITIONS, FILLERS, NOTHING, NUMBERS, class_of, words
from apps.reasoning.answers.work import Unreadable, Work

MOST_PERMUTED = 6


class AnswerReader(PartReader):
    """Reads one answer in one mode. `met` names the spellings in it that have another reading; `doubt` says which words in it
    were not read."""

    def __init__(self, text: str, work: Work, modes: frozenset[str] = frozenset()) -> None:
        super().__init__(work, modes)
        self.text = text
        self.depth = 0
        self.doubt = ""

    def read(self) -> Shape:
        """The answer; what cannot be read becomes `Words` with the reason."""
        try:
            found, met = tokens(self.text, grouped="grouped" not in self.modes, decimal_comma="decimal_comma" in self.modes)
            self.met |= met
            bare, cut = without_remark(trimmed(found))
            self.doubt = cut or unread_words(trimmed(bare))
            return self._whole(trimmed(bare))
        except Unreadable as problem:
            return Words(self.text, str(problem))

    # --- the whole: words, conditions, lists -------------------------------------------------------------------------

    def _whole(self, given: Tokens) -> Shape:
        if not given:
            raise Unreadable("it is empty")
        self.depth += 1
        if self.depth > MOST_NESTED:
            raise Unreadable(f"it is nested deeper than {MOST_NESTED}")
        try:
            return self._in_words(given) or self._conditioned(given) or self._listed(given)
        finally:
            self.depth -= 1

    def _in_words(self, given: Tokens) -> Shape | None:
        said = [one.text for one in given if one.kind in ("word", "name")]
        is_alone = len(given) == 1 or (given[1].text in (",", ".") and all(one.kind in ("word", "sign") for one in given))
        if given[0].text in ("yes", "no") and is_alone:
            return Class(given[0].text, "")
        if len(said) < len(given):
            return None
        if " ".join(said).lower() in NOTHING:
            return Many(())
        if any(one.kind == "word" for one in given):
            if (found := class_of(said)) is not None:
                return found
            rest = [word for word in said if word not in FILLERS]
            if len(rest) == 1 and rest[0] in NUMBERS:
                return Scalar(number(NUMBERS[rest[0]]))
            if all(one.kind == "word" for one in given):
                raise Unreadable("it is in words")
        return None

    def _conditioned(self, given: Tokens) -> Shape | None:
        for place in at_depth_zero(given):
            if place and given[place].kind == "word" and given[place].text in CONDITIONS:
                shape, condition = self._whole(trimmed(given[:place])), given[place:]
                return shape if is_free(condition) else Conditioned(shape, " ".join(one.text for one in condition))
        return None

    def _listed(self, given: Tokens) -> Shape:
        if given[-1].text == "permutations":
            return self._permuted(given)
        alternatives = split(given, OR)
        if len(alternatives) > 1:
            return union([self._whole(trimmed(part)) for part in alternatives if trimmed(part)], self.work)
        parts = [part for part in map(trimmed, split(given, AND)) if part]
        if len(parts) > MOST_ITEMS:
            raise Unreadable(f"it lists more than {MOST_ITEMS} values")
        if any(len(part) == 1 and part[0].text == r"\ldots" for part in parts):
            return self._run(parts)
        if len(parts) == 1:
            return self._single(parts[0])
        has_and = any(one.text == "and" for one in given)
        return together([self._single(part) for part in parts], self.work, has_and=has_and)

    def _run(self, parts: Sequence[Tokens]) -> Shape:
        """`1, 2, …, 10` and `2, 4, 6, …`."""
        place = next(number for number, part in enumerate(parts) if part[0].text == r"\ldots")
        terms = [self._term(part) for number, part in enumerate(parts) if number != place]
        before, after = terms[:place], terms[place:]
        if len(before) < 2 or len(after) > 2:
            raise Unreadable("it is not clear which values the dots replace")
        steps = [add(two, minus(one)) for one, two in itertools.pairwise(before)]
        if len(after) == 2:
            steps.append(add(after[1], minus(after[0])))
        if any(terms_equal(steps[0], one, self.work).outcome != "equal" for one in steps[1:]):
            raise Unreadable("it is not clear which values the dots replace")
        return Run(before[0], steps[0], after[-1] if after else None)

    def _permuted(self, given: Tokens) -> Shape:
        """`(1, 2, 3) and permutations`."""
        said = {one.text for one in given if one.kind == "word"}
        if not said <= words("and all its their permutations the of any"):
            raise Unreadable("it is in words")
        shape = self._whole([one for one in given if one.kind != "word"])
        items = shape.items if isinstance(shape, Many) else (shape,)
        found: list[Shape] = []
        for one in items:
            if not isinstance(one, Ordered) or len(one.items) > MOST_PERMUTED:
                raise Unreadable("what is permuted is not a short tuple")
            found += [Ordered(each) for each in dict.fromkeys(itertools.permutations(one.items))]
        return set_of(found)
