"""Access to a run through a socket: checked when it opens, every minute while it is open, and when its user signs out."""

import contextlib
import hashlib
from importlib import import_module
from typing import Any

from django.conf import settings
from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.signals import user_logged_out
from django.http import Http404, HttpRequest
from django.utils.crypto import constant_time_compare
from redis.exceptions import RedisError

from apps.accounts.models import User
from apps.processes.streams import SIGNED_OUT, sync_client
from apps.runs.access import run_get_for
from apps.runs.models import Run

NOT_SIGNED_IN, NO_SUCH_RUN = 4401, 4404
_KEPT = 1000


class SocketRefused(Exception):
    """The socket is closed with `code`."""

    def __init__(self, code: int) -> None:
        super().__init__(str(code))
        self.code = code


def admitted(session_key: str | None, public_id: str) -> Run:
    """The run, for the current user of the session in the database. Raises `SocketRefused`."""
    user = _user_of(session_key)
    if user is None:
        raise SocketRefused(NOT_SIGNED_IN)
    try:
        return run_get_for(user, public_id)
    except Http404:
        raise SocketRefused(NO_SUCH_RUN) from None


def session_name(session_key: str | None) -> str:
    """Hash of a session key, for use outside the database: the key itself grants access."""
    return hashlib.sha256((session_key or "").encode()).hexdigest()


def _user_of(session_key: str | None) -> User | None:
    """The active user of a session that has not ended, also not by a new password."""
    session = import_module(settings.SESSION_ENGINE).SessionStore(session_key)
    user = User.objects.filter(pk=session.get(SESSION_KEY, 0), is_active=True).first() if session_key else None
    if user is None or not constant_time_compare(session.get(HASH_SESSION_KEY, ""), user.get_session_auth_hash()):
        return None
    return user


def _publish_sign_out(sender: Any, request: HttpRequest, **_: Any) -> None:
    """Publish a sign-out to all web processes. Without Redis, its sockets close within a minute."""
    with contextlib.suppress(RedisError, OSError):
        sync_client().xadd(SIGNED_OUT, {"session": session_name(request.session.session_key)}, maxlen=_KEPT)


def follow_sign_outs() -> None:
    """Connect to Django's signal, because the accounts app does not depend on runs."""
    user_logged_out.connect(_publish_sign_out, dispatch_uid="runs.signed_out")
