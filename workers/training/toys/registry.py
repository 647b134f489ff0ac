"""The toys by the name that a job's configuration gives."""

from collections.abc import Callable

from workers.training.sources import Toy
from workers.training.toys.asking import Asking
from workers.training.toys.copying import Copying
from workers.training.toys.lemmas import Lemmas
from workers.training.toys.trio import Trio

TOYS: dict[str, Callable[..., Toy]] = {"copy": Copying, "ask": Asking, "lemmas": Lemmas, "trio": Trio}
