"""The page of a user's keys, a plain form. The workspace sends its switch for single keys as JSON."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from apps.accounts.access import run_reader_of
from apps.marks.workspace.keymaps import COMMANDS, KeysRefused, keys_of, keys_save
from apps.ui.sent import BodyWrong, json_object


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def keys(request: HttpRequest) -> HttpResponse:
    """Show and change the keys of the workspace."""
    user = run_reader_of(request)
    back = request.POST.get("back_to") or request.GET.get("next") or ""
    back = back if url_has_allowed_host_and_scheme(back, allowed_hosts={request.get_host()}) else ""
    now = keys_of(user)
    shown, single_keys, fault = now.keys, now.single_keys, ""
    if request.method == "POST":
        wanted = {} if "reset" in request.POST else {one.name: request.POST.get(one.name, "") for one in COMMANDS}
        single_keys = "single_keys" in request.POST
        try:
            keys_save(user=user, keys=wanted, single_keys=single_keys)
        except KeysRefused as refused:
            shown, fault = wanted, str(refused)
        else:
            messages.success(request, "Your keys are saved.")
            return redirect(back or "marks:keys")
    rows = [(one, shown.get(one.name, one.key)) for one in COMMANDS]
    context = {"rows": rows, "single_keys": single_keys, "fault": fault, "back": back}
    return render(request, "marks/keys.html", context, status=422 if fault else 200)


@require_POST
def single_keys(request: HttpRequest) -> JsonResponse:
    """Switch single keys on or off: `{"on": bool}`; returns the keys."""
    user = run_reader_of(request)
    try:
        on = json_object(request).get("on")
    except BodyWrong as wrong:
        return JsonResponse({"message": str(wrong)}, status=422)
    if not isinstance(on, bool):
        return JsonResponse({"message": "`on` must be true or false; nothing was changed."}, status=422)
    kept = keys_save(user=user, keys=keys_of(user).keys, single_keys=on)
    return JsonResponse(kept.as_json())
