"""What the person who imports a table decides besides the meanings of its columns."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from django.db import models


class Unknown(models.TextChoices):
    """What happens to people without an account."""

    NAME = "name", "Enter them by name, without an account"
    ACCOUNT = "account", "Create accounts for them"
    LEAVE = "leave", "Leave them out"


class Origin(models.TextChoices):
    """Where the meanings of columns come from."""

    GUESSED = "guessed", "Guessed from the header and the cells. Correct them where they are wrong."
    REMEMBERED = "remembered", "Filled in as you chose it for the last table with this header."
    CHOSEN = "chosen", "As you chose it. This is remembered for the next table with this header."


#: The choice for a person who is none of the accounts of that name.
NOT_THE_SAME = "none"


@dataclass(frozen=True)
class Choices:
    """`people`: the id of the chosen account, or `NOT_THE_SAME`, by token of a person. `out_of`, `marker`: for rows without."""

    unknown: str = Unknown.NAME
    out_of: str = ""
    marker: str = ""
    people: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Self:
        """The stored choices."""
        return cls(**{name: stored[name] for name in ("unknown", "out_of", "marker", "people") if name in stored})

    def stored(self) -> dict[str, Any]:
        """The form in which choices are stored."""
        return {"unknown": str(self.unknown), "out_of": self.out_of, "marker": self.marker, "people": dict(self.people)}
