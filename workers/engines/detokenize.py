"""Token ids to text, piece by piece: whole characters only, and nothing from a stop string on.

At 64 calls a batch, calling the tokeniser for each token costs more than the token itself. A table of bytes is cheap.
"""

import codecs
from collections.abc import Collection, Mapping, Sequence


class TokenTable:
    """The bytes of every token id. Special tokens (`<|im_end|>`) have none."""

    def __init__(self, vocabulary: Mapping[bytes, int], special: Collection[int] = ()) -> None:
        self._bytes = [b""] * (max(vocabulary.values(), default=-1) + 1)
        for piece, token in vocabulary.items():
            if token not in special:
                self._bytes[token] = piece

    def join(self, tokens: Sequence[int]) -> bytes:
        table = self._bytes
        return b"".join([table[token] for token in tokens if token < len(table)])


class TextStream:
    """The text of one call. `push` returns the text that is final; `stopped` is True after a stop string.

    A tail that may become a stop string or a whole character is held back until that is decided. `close` returns the rest.
    """

    def __init__(self, table: TokenTable, stop: Sequence[str] = ()) -> None:
        self._table = table
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._stop = tuple(text for text in stop if text)
        self._held = ""
        self.stopped = False

    def push(self, tokens: Sequence[int]) -> str:
        if self.stopped:
            return ""
        text = self._decoder.decode(self._table.join(tokens))
        return self._released(text) if self._stop else text

    def close(self) -> str:
        """The text held back. A broken last character becomes U+FFFD."""
        if self.stopped:
            return ""
        text = self._decoder.decode(b"", final=True)
        rest = self._released(text) + self._held if self._stop else text
        self._held = ""
        return rest

    def _released(self, text: str) -> str:
        seen = self._held + text
        places = [place for place in (seen.find(stop) for stop in self._stop) if place >= 0]
        if places:
            self.stopped, self._held = True, ""
            return seen[: min(places)]
        keep = self._open_tail(seen)
        self._held = seen[len(seen) - keep :]
        return seen[: len(seen) - keep]

    def _open_tail(self, seen: str) -> int:
        """Length of the longest suffix of `seen` that is a prefix of a stop string."""
        longest = max(len(stop) for stop in self._stop) - 1
        for size in range(min(longest, len(seen)), 0, -1):
            tail = seen[len(seen) - size :]
            if any(stop.startswith(tail) for stop in self._stop):
                return size
        return 0
