"""Function calls as text: one neutral form for the protocols of all engines.

A call is written as the block that `reading.turns.tool_calls` reads, so it is streamed, stored, shown and replayed
like any text. Arguments are as the model wrote them, even if they are no JSON:

    <tool_call>
    {"name": "python_code", "arguments": {"code": "print(1)"}}
    </tool_call>
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

_BEGIN = "<tool_call>\n"
_END = "}\n</tool_call>"


class _Called:
    """One call so far."""

    def __init__(self) -> None:
        self.id = ""
        self.name = ""
        self.arguments = ""


class ToolText:
    """Writes the pieces of calls, as chat completions stream them, into a text that only grows.

    The first call is written as it comes; others, and text that follows a call, when the answer ends: what is written cannot be
    taken back, and pieces of several calls may come in turns.
    """

    def __init__(self) -> None:
        self._calls: list[_Called] = []
        self._by_index: dict[int, _Called] = {}
        self._written = 0
        self._has_begun = False
        self._later: list[str] = []

    @property
    def is_open(self) -> bool:
        """True once a call has begun: text from now on comes after it."""
        return bool(self._calls)

    def push(self, pieces: Sequence[Any], *, follows_text: bool) -> str:
        """What `pieces` (the `tool_calls` of a chunk or of a whole message) add to the text; often nothing."""
        for place, piece in enumerate(pieces):
            if isinstance(piece, Mapping):
                self._take(piece, place)
        return self._new_of_the_first(follows_text) if self._calls else ""

    def after(self, text: str) -> None:
        """Keep text that came when a call had begun, for the end."""
        self._later.append(text)

    def close(self, *, follows_text: bool) -> str:
        """The rest: the end of the first call, all others, and the text that came between them. Once."""
        if not self._calls:
            return ""
        first, *others = self._calls
        begun = "" if self._has_begun else _head(first, follows_text)
        whole = "".join(f"\n{_head(call, False)}{call.arguments}{_END}" for call in others)
        later = "".join(self._later).strip()
        rest = f"{begun}{first.arguments[self._written :]}{_END}{whole}" + (f"\n{later}" if later else "")
        self._calls, self._later = [], []
        return rest

    def _take(self, piece: Mapping[str, Any], place: int) -> None:
        found = piece.get("index")
        index = found if isinstance(found, int) else place
        function = piece.get("function")
        function = function if isinstance(function, Mapping) else {}
        said_id, name = str(piece.get("id") or ""), str(function.get("name") or "")
        call = self._by_index.get(index)
        # Some servers send every call whole and give all of them the same index.
        if call is None or (name and said_id and call.id and said_id != call.id):
            call = self._by_index[index] = _Called()
            self._calls.append(call)
        call.id = call.id or said_id
        call.name = call.name or name
        arguments = function.get("arguments")
        if arguments is not None:
            call.arguments += arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)

    def _new_of_the_first(self, follows_text: bool) -> str:
        first = self._calls[0]
        if not first.name:
            return ""
        begun = "" if self._has_begun else _head(first, follows_text)
        self._has_begun = True
        new, self._written = first.arguments[self._written :], len(first.arguments)
        return begun + new


def _head(call: _Called, follows_text: bool) -> str:
    line = "\n" if follows_text else ""
    return f'{line}{_BEGIN}{{"name": {json.dumps(call.name, ensure_ascii=False)}, "arguments": '
