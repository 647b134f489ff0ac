"""Results that arrive before their call is dispatched: at the start of a drive, and after a call was given up."""

Fields = dict[str, str]


class EarlyResults:
    """One entry of the result stream by call. `delete` gets the ids of entries that are no longer needed."""

    def __init__(self, delete: dict[str, str]) -> None:
        self._entries: dict[str, tuple[str, Fields]] = {}
        self._delete = delete

    def keep(self, entry_id: str, fields: Fields) -> None:
        """Keep the newest entry, but never replace an answer by a failure."""
        known = self._entries.get(fields["key"])
        if known is not None and known[1]["fp"] == fields["fp"] and "final" in known[1] and "final" not in fields:
            self._delete[entry_id] = ""
            return
        if known is not None:
            self._delete[known[0]] = ""
        self._entries[fields["key"]] = (entry_id, fields)

    def take(self, key: str, fingerprint: str) -> tuple[str, Fields] | None:
        """Remove and return the entry of this call; forget an entry of another request with the same key."""
        found = self._entries.pop(key, None)
        if found is not None and found[1]["fp"] != fingerprint:
            self._delete[found[0]] = ""
            return None
        return found

    def entries(self) -> list[tuple[str, str]]:
        """Keys of calls with the ids of their entries."""
        return [(key, entry_id) for key, (entry_id, _) in self._entries.items()]

    def forget(self, key: str) -> None:
        """Remove the entry of a call."""
        del self._entries[key]
