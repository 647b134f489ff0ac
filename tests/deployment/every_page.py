"""`python -m tests.deployment.every_page`: migrate the database of `DATA_DIR`, open its pages, print the answers as JSON.

Each user follows the links of their pages. At most `EACH` addresses of one URL pattern are opened.
"""

import json
import re
import sys
from collections import Counter, deque
from html import unescape
from urllib.parse import urldefrag, urlsplit

import django

EACH = 2
USERS = ("researcher", "coach", "student", "admin")
_LINKS = re.compile(r'(?:href|hx-get|data-url|src)="(/[^"]*)"')


def pages_of(username: str) -> dict[str, tuple[str, int]]:
    """What a user finds: by address, the name of its URL pattern and the status of the answer."""
    from django.test import Client
    from django.urls import Resolver404, resolve

    from apps.accounts.models import User

    client = Client(raise_request_exception=False, HTTP_HOST="127.0.0.1")
    client.force_login(User.objects.get(username=username))
    found: dict[str, tuple[str, int]] = {}
    opened: Counter[str] = Counter()
    waiting = deque(["/"])
    while waiting:
        address = urldefrag(unescape(waiting.popleft())).url
        if address in found or address.startswith(("/static/", "/accounts/logout")):
            continue
        try:
            name = resolve(urlsplit(address).path).view_name
        except Resolver404:
            found[address] = ("", 404)
            continue
        if opened[name] >= EACH:
            continue
        opened[name] += 1
        answer = client.get(address)
        found[address] = (name, answer.status_code)
        if answer.status_code in (301, 302):
            waiting.append(urlsplit(answer.headers["Location"]).path)
        elif not answer.streaming and "html" in answer.headers.get("Content-Type", ""):
            waiting.extend(_LINKS.findall(answer.content.decode()))
    return found


def main() -> None:
    django.setup()
    from django.core.management import call_command
    from django.db import connection

    call_command("migrate", verbosity=0, interactive=False)
    with connection.cursor() as cursor:
        tables = connection.introspection.table_names(cursor)
        rows = {table: cursor.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0] for table in tables}
    json.dump({"rows": rows, "pages": {user: pages_of(user) for user in USERS}}, sys.stdout)


if __name__ == "__main__":
    main()
