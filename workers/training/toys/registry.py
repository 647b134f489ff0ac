"""Toys by their names in a job's configuration."""

from collections.abc import Callable
from typing import Any

from workers.training.rows.sources import Toy
from workers.training.toys.asking import AskToy
from workers.training.toys.copying import CopyToy
from workers.training.toys.lemmas import LemmaToy
from workers.training.toys.notes import NoteToy
from workers.training.toys.trio import TrioToy


def _proving(**options: Any) -> Toy:
    """The toy of arithmetic proofs. Only it imports scaffolds and the computational verifier."""
    from workers.training.toys.proving import ProvingToy

    return ProvingToy(**options)


TOYS: dict[str, Callable[..., Toy]] = {
    "copy": CopyToy,
    "ask": AskToy,
    "lemmas": LemmaToy,
    "trio": TrioToy,
    "notes": NoteToy,
    "arithmetic": _proving,
}
