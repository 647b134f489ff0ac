"""Account pages: sign-in and sign-out, profile with API tokens, password."""

import uuid
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.views import LoginView, LogoutView, PasswordChangeView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from apps.accounts import selectors, services
from apps.accounts.access import token_get_for, user_of
from apps.accounts.forms import LimitedForm, PasswordForm, SignInForm, TokenForm


def _limited(form: LimitedForm, answer: HttpResponse) -> HttpResponse:
    """The response to a refused form: 429 or 503 with `Retry-After` if no password was checked."""
    if form.retry_after_s is not None:
        answer.status_code = form.status
        answer["Retry-After"] = str(form.retry_after_s)
    return answer


class SignIn(LoginView):
    """Sign in."""

    authentication_form = SignInForm

    def form_invalid(self, form: Any) -> HttpResponse:
        return _limited(form, super().form_invalid(form))


account_login = SignIn.as_view(
    template_name="accounts/account_login.html",
    redirect_authenticated_user=True,
    extra_context={"is_embedded": settings.EMBEDDED},
)
account_logout = LogoutView.as_view()


class PasswordChange(PasswordChangeView):
    """Change one's own password; other sessions of the user end."""

    form_class = PasswordForm
    template_name = "accounts/account_password.html"
    success_url = reverse_lazy("accounts:profile")

    def form_invalid(self, form: Any) -> HttpResponse:
        return _limited(form, super().form_invalid(form))

    def get_success_url(self) -> str:
        messages.success(self.request, "Your password was changed. Other browsers are signed out.")
        return super().get_success_url()


account_password = PasswordChange.as_view()


@require_GET
def account_profile(request: HttpRequest) -> HttpResponse:
    """Name, role and tokens of the user."""
    return _profile(request, TokenForm())


@never_cache
@require_POST
def token_create(request: HttpRequest) -> HttpResponse:
    """Issue a token and show it in the response itself. It is not stored, so a redirect could not show it."""
    form = TokenForm(request.POST)
    if not form.is_valid():
        return _profile(request, form, status=422)
    try:
        token, text = services.token_issue(user=user_of(request), **form.cleaned_data)
    except services.TooManyTokens as refusal:
        form.add_error("name", str(refusal))
        return _profile(request, form, status=422)
    return _profile(request, TokenForm(), new_token=text, new_token_name=token.name)


@require_POST
def token_revoke(request: HttpRequest, public_id: uuid.UUID) -> HttpResponse:
    """Revoke one of one's own tokens."""
    token = token_get_for(user_of(request), public_id)
    services.token_revoke(token=token)
    messages.success(request, f"“{token.name}” was revoked.")
    return redirect("accounts:profile")


def _profile(request: HttpRequest, form: TokenForm, status: int = 200, **extra: str) -> HttpResponse:
    user = user_of(request)
    context = {"tokens": selectors.token_list(user), "form": form, "role_explained": selectors.role_explained(user), **extra}
    return render(request, "accounts/account_profile.html", context, status=status)
