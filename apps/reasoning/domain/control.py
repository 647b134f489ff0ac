"""Commands of people to a running exploration. A command takes effect at a control point and is recorded there."""

from typing import Any

from apps.reasoning.domain.control_events import CommandName
from apps.reasoning.domain.values import Value


class Command(Value):
    """A recorded intent. `id` comes from the client, so that a repeated click is one command.

    `args` by name: hint `{text}`; accept_lemma, reject_lemma `{lemma, reason}`; inject_lemma `{statement, proof}`;
    extend_budget `{tokens?, calls?, seconds?}` (amounts to add); the others none.
    """

    id: str
    name: CommandName
    by: str
    args: dict[str, Any] = {}
