"""Pages of marking by people: progress with the corrected table, and one answer at a time without a trace of its method."""

import uuid
from typing import Any

from django import forms
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from apps.accounts.access import user_of
from apps.experiments.access import experiment_may_steer, items_hidden, solving_get_for
from apps.experiments.models import Experiment, ExperimentState, PersonMark
from apps.experiments.refusals import ExperimentRefused
from apps.experiments.solving.manifest import Scorer
from apps.experiments.solving.people.answers import answers_marked, answers_of, cell_of, mark_save, next_open
from apps.experiments.solving.people.corrected import corrected_lines
from apps.experiments.solving.people.sampling import people_in
from apps.experiments.solving.scoring import handed_in
from apps.experiments.solving.services import manifest_stored

PAGE = 100
COMMENT_LENGTH = 4_000
NO_ANSWER = "There is no such answer to mark, or its problem is held back from you."


class MarkForm(forms.Form):
    """A mark from 0 to the scorer's points, with a comment."""

    def __init__(self, *args: Any, most: int, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        widget = forms.NumberInput(attrs={"step": "any"})
        label = f"Points, 0 to {most}"
        self.fields["points"] = forms.DecimalField(
            label=label, min_value=0, max_value=most, max_digits=6, decimal_places=2, widget=widget
        )
        self.fields["comment"] = forms.CharField(
            label="Comment", required=False, max_length=COMMENT_LENGTH, widget=forms.Textarea(attrs={"rows": 3})
        )


@never_cache
@require_GET
def mark_list(request: HttpRequest, experiment_id: uuid.UUID) -> HttpResponse:
    """Progress of the person's marks, their marks, and the means of other scorers corrected by all marks."""
    user = user_of(request)
    experiment = solving_get_for(user_of(request), experiment_id)
    manifest = manifest_stored(experiment)
    scorers = people_in(manifest)
    name = request.GET.get("scorer", "")
    scorer = scorers.get(name) or next(iter(scorers.values()), None)
    may_mark = experiment_may_steer(user, experiment)
    context: dict[str, Any] = {"experiment": experiment, "may_mark": may_mark, "scorers": list(scorers), "query": ""}
    context["hidden"] = len(items_hidden(user, experiment))
    if scorer is not None:
        answers = answers_of(user, experiment, scorer) if may_mark else []
        own = [one for one in answers if not one.is_open]
        context |= {"scorer": scorer.name, "most": scorer.points, "total": len(answers), "own": len(own)}
        context |= {"next": next_open(answers), "page": Paginator(own, PAGE).get_page(request.GET.get("page"))}
        context |= {"lines": corrected_lines(experiment, manifest, scorer.name), "query": urlencode({"scorer": scorer.name})}
        context |= {"marked": answers_marked(experiment, manifest)}
    return render(request, "experiments/marks.html", context)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def mark_page(request: HttpRequest, experiment_id: uuid.UUID, answer: str) -> HttpResponse:
    """One answer and its problem. A POST saves the mark and leads to the next answer."""
    user = user_of(request)
    experiment = solving_get_for(user_of(request), experiment_id)
    if not experiment_may_steer(user, experiment):
        raise Http404(NO_ANSWER)
    scorer, answers, number = _place_of(request, experiment, answer)
    cell = cell_of(experiment, answer)
    if cell is None:
        raise Http404(NO_ANSWER)
    following = next_open(answers, answer)
    known = PersonMark.objects.filter(experiment=experiment, digest=answer, by=user).first()
    initial = {"points": f"{known.points.normalize():f}" if known else None, "comment": known.comment if known else ""}
    form = MarkForm(request.POST if request.method == "POST" else None, most=scorer.points, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            mark_save(user=user, experiment=experiment, scorer=scorer, digest=answer, **form.cleaned_data)
            return redirect(_url_of(experiment, following.digest if following else "", scorer.name))
        except ExperimentRefused as error:
            form.add_error(None, str(error))
    context = {
        "experiment": experiment,
        "form": form,
        "is_changed": known is not None,
        "is_over": experiment.state == ExperimentState.CANCELLED,
        "problem": cell.item.problem,
        "name": cell.item.name,
        "text": handed_in(cell, cell.answer),
        "number": number,
        "own": sum(not one.is_open for one in answers),
        "total": len(answers),
        "skip": _url_of(experiment, following.digest, scorer.name) if following else "",
        "list": _url_of(experiment, "", scorer.name),
    }
    return render(request, "experiments/mark.html", context, status=422 if form.errors else 200)


def _place_of(request: HttpRequest, experiment: Experiment, digest: str) -> tuple[Scorer, list[Any], int]:
    """The scorer of an answer, the answers that the person may mark for it, and its number among these. Raises `Http404`."""
    for scorer in people_in(manifest_stored(experiment)).values():
        answers = answers_of(user_of(request), experiment, scorer)
        number = next((number for number, one in enumerate(answers, 1) if one.digest == digest), 0)
        if number:
            return scorer, answers, number
    raise Http404(NO_ANSWER)


def _url_of(experiment: Experiment, digest: str, scorer: str) -> str:
    if digest:
        return reverse("experiments:mark", args=[experiment.public_id, digest])
    return f"{reverse('experiments:marks', args=[experiment.public_id])}?{urlencode({'scorer': scorer})}"
