"""Faults of a scheme's written form, with their places."""

from pydantic import ValidationError

from apps.reasoning.domain.values import Value


class Fault(Value):
    """One thing that cannot be read. `where`: "line 4", or a path such as "items.2.points"; empty for the whole."""

    where: str
    message: str


class FormWrong(ValueError):
    """A text or a JSON value that is no scheme."""

    def __init__(self, faults: tuple[Fault, ...]) -> None:
        super().__init__("; ".join(f"{fault.where}: {fault.message}" if fault.where else fault.message for fault in faults))
        self.faults = faults


def validation_faults(error: ValidationError) -> tuple[Fault, ...]:
    """The faults that a validation found, each with the field and, where it is short, the value."""
    faults = []
    for one in error.errors(include_url=False, include_context=False):
        where = ".".join(str(part) for part in one["loc"])
        value = f" (it is {one['input']!r})" if isinstance(one["input"], str | int) and len(str(one["input"])) <= 40 else ""
        field = f"{one['loc'][-1]}: " if one["loc"] and isinstance(one["loc"][-1], str) else ""
        faults.append(Fault(where=where, message=f"{field}{one['msg'].removeprefix('Value error, ')}{value}"))
    return tuple(faults)
