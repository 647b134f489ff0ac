"""Authentication of programs: a bearer token; for writing, a token that may write, within the limit of requests."""

from django.http import HttpRequest
from ninja.security import HttpBearer

from apps.accounts.models import ApiToken, User
from apps.accounts.selectors import token_find
from apps.accounts.services import token_note_use
from apps.accounts.throttle import WINDOW_S, WRITES, write_take
from apps.config.api.refusals import ApiRefused


class TokenAuth(HttpBearer):
    """`Authorization: Bearer lsc_…`."""

    def authenticate(self, request: HttpRequest, token: str) -> User | None:
        found = token_find(token)
        if found is None:
            return None
        self.require(found)
        token_note_use(token=found)
        request.user = found.user
        return found.user

    def require(self, token: ApiToken) -> None:
        """Raise `ApiRefused` if the token does not suffice."""


class WritingTokenAuth(TokenAuth):
    """`Authorization: Bearer lsc_…` with a token that may write. A session does not suffice: pages have forms of their own."""

    def require(self, token: ApiToken) -> None:
        if not token.may_write:
            raise ApiRefused(
                403, f"The token “{token.name}” may only read. Create one with “May write” on your profile page and send that."
            )
        if wait := write_take(token.user_id):
            raise ApiRefused(
                429,
                f"You sent more than {WRITES} writing requests in {WINDOW_S // 60} minutes. Nothing was changed. "
                f"Send this one again in {int(wait) + 1} seconds.",
                wait,
            )


def token_given(request: HttpRequest) -> str:
    """The text of the bearer token of a request; "" if it was authenticated by a session."""
    scheme, _, text = request.headers.get("Authorization", "").partition(" ")
    return text if scheme.lower() == "bearer" else ""
