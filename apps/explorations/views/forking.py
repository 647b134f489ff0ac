"""Fork from an event, a call or a lemma: the form with what is taken over, and its start."""

import uuid
from typing import cast

from django import forms
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from apps.accounts.access import user_of
from apps.explorations.forking.making import Wanted, fork_from
from apps.explorations.forking.offers import Offers, offers_of
from apps.explorations.forking.places import Place
from apps.explorations.views.shared import run_of
from apps.reasoning.domain.control import Change
from apps.runs.access import run_may_start
from apps.ui.sent import whole_number

LONGEST = 20_000


def _text(rows: int) -> forms.Textarea:
    return forms.Textarea(attrs={"rows": rows})


class ForkForm(forms.Form):
    """The change and its texts. `change` lists the changes that are possible at the place."""

    start_id = forms.UUIDField(required=False, widget=forms.HiddenInput, initial=uuid.uuid4)
    change = forms.ChoiceField(widget=forms.RadioSelect)
    statement = forms.CharField(label="Corrected statement", required=False, max_length=LONGEST, widget=_text(4))
    proof = forms.CharField(
        label="Its proof",
        required=False,
        max_length=LONGEST,
        widget=_text(6),
        help_text="An empty line separates steps. Verifiers vote on it.",
    )
    accepted = forms.BooleanField(label="Accept the statement without votes", required=False)
    text = forms.CharField(label="Hint", required=False, max_length=LONGEST, widget=_text(4))

    def wanted(self) -> Wanted:
        """The valid form's values."""
        sent = {name: self.cleaned_data[name] for name in ("text", "statement", "proof", "accepted")}
        return Wanted(change=cast(Change, self.cleaned_data["change"]), **sent)


@require_http_methods(["GET", "HEAD", "POST"])
def fork_here(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """The form of a fork from the place in the address. A valid form starts the fork and opens its page."""
    run, user = run_of(request, run_id), user_of(request)
    if not run_may_start(user) or not (run.is_attempt or run.is_imported):
        raise Http404("This run cannot be forked.")
    place = _place(request.GET)
    offers = offers_of(run, place, user)
    form = _form(request, offers)
    if request.method == "POST" and form.is_valid():
        start_id = form.cleaned_data["start_id"]
        try:
            made = fork_from(user=user, run=run, place=place, offers=offers, wanted=form.wanted(), start_id=start_id)
        except ValidationError as error:
            form.add_error(None, error)
        else:
            return redirect("explorations:run_detail", run_id=made.public_id)
    context = {"run": run, "place": place, "offers": offers, "form": form, "rows": _rows(form, offers)}
    status = 422 if form.is_bound and form.errors else 200
    return render(request, "explorations/fork_here.html", context, status=status)


def _place(sent: QueryDict) -> Place:
    lemma, call = (sent.get(name, "").replace("\0", "")[:180] for name in ("lemma", "call"))
    return Place(seq=0 if lemma or call else whole_number(sent.get("event", "")) or 0, call="" if lemma else call, lemma=lemma)


def _form(request: HttpRequest, offers: Offers) -> ForkForm:
    initial: dict[str, object] = {}
    if offers.possible:
        initial["change"] = offers.possible[0].change
    if offers.lemma is not None:
        initial |= {"statement": offers.lemma.statement, "proof": "\n\n".join(offers.lemma.steps)}
    form = ForkForm(request.POST or None, initial=initial)
    cast(forms.ChoiceField, form.fields["change"]).choices = [(one.change, one.title) for one in offers.possible]
    return form


def _rows(form: ForkForm, offers: Offers) -> list[tuple[object, object]]:
    """Each offer with its radio button; None for one that is impossible."""
    buttons = {str(radio.data["value"]): radio for radio in form["change"]}
    return [(one, buttons.get(one.change)) for one in offers.offers]
