"""A process that puts tokens on the token stream of a run as workers/publisher.py does: `python -m benchmarks.publishing`.

    python -m benchmarks.publishing RUN CALL TOKENS TOKENS_PER_S

It says `ready`, waits for a line and then writes on a steady beat; every token is the moment at which it was due.
"""

import sys
import time

import django


def main(run: str, call: str, tokens: int, tokens_per_s: float) -> None:
    django.setup()
    from apps.runs.streams import TOKENS_KEPT, sync_client, tokens_key

    client = sync_client()
    client.ping()
    print("ready", flush=True)
    sys.stdin.readline()
    began, offset = time.time_ns(), 0
    for number in range(tokens):
        due = began + int(number * 1e9 / tokens_per_s)
        time.sleep(max(0.0, (due - time.time_ns()) / 1e9))
        text = f"t{due} "
        entry = {"call": call, "attempt": 1, "ch": "text", "off": offset, "text": text, "n": number + 1}
        client.xadd(tokens_key(run), entry, maxlen=TOKENS_KEPT, approximate=True)
        offset += len(text)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))
