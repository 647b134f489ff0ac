"""Toys by their names in a job's configuration."""

from collections.abc import Callable

from workers.training.rows.sources import Toy
from workers.training.toys.asking import AskToy
from workers.training.toys.copying import CopyToy
from workers.training.toys.lemmas import LemmaToy
from workers.training.toys.trio import TrioToy

TOYS: dict[str, Callable[..., Toy]] = {"copy": CopyToy, "ask": AskToy, "lemmas": LemmaToy, "trio": TrioToy}
