"""Results that came before their call was asked for: at the start of a drive, and after a call was given up."""

Fields = dict[str, str]


class EarlyResults:
    """One entry of the result stream by call. `delete` gets the ids of entries that nobody will read."""

    def __init__(self, delete: dict[str, str]) -> None:
        self._entries: dict[str, tuple[str, Fields]] = {}
        self._delete = delete

    def keep(self, entry_id: str, fields: Fields) -> None:
        """The newest counts, but for an answer: what failed beside it does not undo it."""
        known = self._entries.get(fields["key"])
        if known is not None and known[1]["fp"] == fields["fp"] and "final" in known[1] and "final" not in fields:
            self._delete[entry_id] = ""
            return
        if known is not None:
            self._delete[known[0]] = ""
        self._entries[fields["key"]] = (entry_id, fields)

    def take(self, key: str, fingerprint: str) -> tuple[str, Fields] | None:
        """The entry of this call, which is kept no longer; one of another request of that key is forgotten."""
        found = self._entries.pop(key, None)
        if found is not None and found[1]["fp"] != fingerprint:
            self._delete[found[0]] = ""
            return None
        return found

    def entries(self) -> list[tuple[str, str]]:
        """Keys of calls with the ids of their entries."""
        return [(key, entry_id) for key, (entry_id, _) in self._entries.items()]

    def forget(self, key: str) -> None:
        """Keep the call's entry no longer."""
        del self._entries[key]
