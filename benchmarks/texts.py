"""Text that looks like mathematics, as much as is wanted."""

from itertools import cycle, islice

WORDS = ("Suppose", "that", "$p$", "divides", "$x^2 + y^2$,", "hence", "by", "Lemma", "2", "the", "set", "$S$", "is", "finite.")


def text_of(words: int) -> str:
    """So many words, about 5.4 characters each with the space."""
    return " ".join(islice(cycle(WORDS), words))
