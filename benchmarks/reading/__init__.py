"""How often what is read of real answers is what a careful person reads in them.

Recorded answers of our local models (`corpus.py`) are given to their programs again on the stage of a trial. What is read is
compared with labels made by hand (`labels.py`). Outputs of other models are in `SHARED_DATA` (`shared.py`); they are left out
where it is absent. A table of all sources is printed to stderr:

* *equal*: what is read is what the label says, or nothing where the label says so;
* *unread*: nothing was read, though there is something to read; a program then asks again, or does without;
* *wrong*: something else was read than is there;
* *either*: the answer talks and solves nothing; it may be read or not. Not counted in shares;
* *not recorded*: the program asks again, rightly, and the second answer was not recorded. Not counted in shares;
* *lost*: a whole proof in a first answer that is unread, or of which something else is read.
"""

import sys

from benchmarks.figures import Figure

EQUAL_OF_CORPUS, EQUAL_OF_SHARED = 0.99, 0.97


def figures(quick: bool = False) -> list[Figure]:
    """Shares of the corpus and of the shared data with what was lost or wrong; one table of all sources goes to stderr."""
    from benchmarks import stage

    stage.set_up(SANDBOX="off")
    from benchmarks.reading.corpus import answers_read
    from benchmarks.reading.measured import tallied
    from benchmarks.reading.recorded import corpus_measured
    from benchmarks.reading.shared import shared_measured
    from benchmarks.reading.table import show

    recorded, shared = corpus_measured(), shared_measured()
    show([*recorded, *shared], sys.stderr)
    corpus, others = tallied("corpus", recorded), tallied("shared data", shared)
    answers = answers_read()
    found = [
        Figure(
            "recorded answers, each in every role that it was given in",
            sum(len(one.asked) for one in answers),
            "",
            600,
            "at least",
        ),
        Figure("different texts among them", len(answers)),
        Figure("texts labelled by hand", len(recorded), "", 200, "at least"),
        Figure("corpus: equal to the label", corpus.share, "", EQUAL_OF_CORPUS, "at least"),
        Figure("corpus: wrong readings", corpus.wrong, "", 0),
        Figure("corpus: whole proofs in first answers that were lost", corpus.lost, "", 0),
    ]
    if others.of:
        found.append(Figure("shared data: equal to what is to be read", others.share, "", EQUAL_OF_SHARED, "at least"))
        found.append(Figure("shared data: wrong readings", others.wrong, "", 0))
    return found
