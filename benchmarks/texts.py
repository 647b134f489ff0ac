"""Text of any length that looks like mathematics."""

from itertools import cycle, islice

WORDS = ("Suppose", "that", "$p$", "divides", "$x^2 + y^2$,", "hence", "by", "Lemma", "2", "the", "set", "$S$", "is", "finite.")


def text_of(words: int) -> str:
    """A text of `words` words, about 5.4 characters each including the space."""
    return " ".join(islice(cycle(WORDS), words))
