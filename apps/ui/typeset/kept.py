"""A short-lived, size-limited cache of created files in this process."""

import threading
import time
from collections import OrderedDict


class FileCache:
    """LRU cache of files by the digest of their source."""

    def __init__(self, bytes_at_most: int, seconds: float) -> None:
        self._bytes_at_most, self._seconds = bytes_at_most, seconds
        self._lock = threading.Lock()
        self._files: OrderedDict[str, tuple[float, bytes]] = OrderedDict()

    def get(self, digest: str) -> bytes | None:
        """The file, or None if it is not in the cache or has expired."""
        with self._lock:
            self._forget()
            if digest not in self._files:
                return None
            self._files.move_to_end(digest)
            return self._files[digest][1]

    def put(self, digest: str, data: bytes) -> None:
        """Store a file unless it exceeds the size of the cache."""
        with self._lock:
            if len(data) <= self._bytes_at_most:
                self._files[digest] = (time.monotonic(), data)
                self._files.move_to_end(digest)
            self._forget()

    def clear(self) -> None:
        """Empty the cache."""
        with self._lock:
            self._files.clear()

    def _forget(self) -> None:
        eldest = time.monotonic() - self._seconds
        for digest in [digest for digest, (at, _) in self._files.items() if at < eldest]:
            del self._files[digest]
        while sum(len(data) for _, data in self._files.values()) > self._bytes_at_most:
            self._files.popitem(last=False)
