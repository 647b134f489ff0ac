"""What a proof of a formula rests on, in words that a reader can follow."""

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Certificate:
    """A proof of one claim in one reading.

    `method` names the prover. `steps` are the lines of the proof. `assumptions` are the declarations and conditions that it
    uses, as read. `where` restricts it to points at which both sides have a value: "n ≠ 0"; it is empty if there are no others.
    """

    method: str
    steps: tuple[str, ...]
    assumptions: tuple[str, ...] = ()
    where: str = ""

    def after(self, *steps: str) -> "Certificate":
        """The certificate with lines before its own."""
        return replace(self, steps=(*steps, *self.steps))

    @property
    def in_one_line(self) -> str:
        """All lines as one; a line that ends in a colon introduces the next."""
        return "; ".join(self.steps).replace(":; ", ": ")
