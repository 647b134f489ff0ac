"""`python -m apps.config.probe web|orchestrator|inference|trainer`: whether the process of this machine is alive.

Exit status 0 means yes. It is meant for health checks inside the process's container, and light because they repeat for ever. A
worker is alive if Redis has its heartbeat under its machine's name.
"""

import http.client
import os
import socket
import sys
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.config.settings")

from django.conf import settings

WITHIN_S = 5.0
#: Keys of the heartbeats by kind of process; `*` is the process id.
HEARTBEATS = {"orchestrator": "pulse:orchestrator:{host}/*", "inference": "hb:{host}/*", "trainer": "pulse:trainer:{host}/*"}


def main(arguments: list[str]) -> int:
    """Print the result. Returns 0 if the process is alive, 1 if not, 2 for an unknown kind."""
    kind = arguments[0] if len(arguments) == 1 else ""
    if kind == "web":
        is_alive, found = web_answers("127.0.0.1", settings.PORT)
    elif kind in HEARTBEATS:
        is_alive, found = has_heartbeat(kind)
    else:
        print("usage: python -m apps.config.probe web|orchestrator|inference|trainer", file=sys.stderr)  # noqa: T201
        return 2
    print(found)  # noqa: T201
    return 0 if is_alive else 1


def web_answers(address: str, port: int) -> tuple[bool, str]:
    """Whether /healthz answers 200 to a request like the proxy's: with a served host name, and as if over TLS."""
    name = next((host.lstrip(".") for host in settings.ALLOWED_HOSTS if host != "*"), "localhost")
    connection = http.client.HTTPConnection(address, port, timeout=WITHIN_S)
    try:
        connection.request("GET", "/healthz", headers={"Host": name, "X-Forwarded-Proto": "https"})
        answer = connection.getresponse()
    except (OSError, http.client.HTTPException) as error:
        return False, f"The web process does not answer ({error})."
    else:
        return answer.status == http.client.OK, f"The web process answers {answer.status}."
    finally:
        connection.close()


def has_heartbeat(kind: str, client: Any = None) -> tuple[bool, str]:
    """Whether Redis has a heartbeat of a process of this kind on this machine."""
    from redis.exceptions import RedisError

    from apps.processes.streams import sync_client

    pattern = HEARTBEATS[kind].format(host=socket.gethostname())
    try:
        found = next(iter((client or sync_client()).scan_iter(match=pattern, count=1000)), None)
    except (RedisError, OSError) as error:
        return False, f"Redis does not answer ({error})."
    if found is None:
        return False, f"No heartbeat of an {kind} process on {socket.gethostname()}."
    return True, f"Heartbeat found: {found}."


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
