"""Upload of runs that were made elsewhere."""

from typing import Any

from django import forms
from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from apps.accounts.access import user_of
from apps.accounts.models import User
from apps.explorations.importing.batches import Facts, batches
from apps.explorations.importing.imported_run import LogFile, LogWrong
from apps.explorations.importing.recording import Imported, batch_import
from apps.problems.models import Topic
from apps.runs.access import run_may_start

FILE_BYTES = 16 * 1024 * 1024


class SeveralFiles(forms.FileField):
    """Several uploaded files as a list."""

    def clean(self, data: Any, initial: Any = None) -> "list[UploadedFile[Any]]":
        """The files. Raises `ValidationError` without a file, or if they are too large together."""
        given = data if isinstance(data, list | tuple) else [data] if data else []
        found = [super(SeveralFiles, self).clean(one, initial) for one in given] or [super().clean(None, initial)]
        if sum(one.size or 0 for one in found) > FILE_BYTES:
            raise forms.ValidationError(
                "Nothing was imported: the files are larger than 16 MB together. Use the command import_log for larger files."
            )
        return found


class _SeveralInput(forms.FileInput):
    allow_multiple_selected = True

    def value_from_datadict(self, data: Any, files: Any, name: str) -> Any:
        return files.getlist(name)


class ImportForm(forms.Form):
    """Files, and facts that they do not contain."""

    logs = SeveralFiles(
        label="Files",
        help_text="Logs (.log), proof graphs (.json), proof ledgers (.jsonl, or a .json file for each event); 16 MB together.",
        widget=_SeveralInput(attrs={"accept": ".log,.txt,.json,.jsonl", "multiple": True}),
    )
    topic = forms.ChoiceField(
        required=False,
        choices=[("", "as in the library"), *Topic.choices],
        help_text="Needed only for a problem that is not in the library.",
    )
    title = forms.CharField(
        required=False, max_length=200, label="Title of the problem", help_text="Needed only for a new problem."
    )
    source = forms.CharField(required=False, max_length=300, help_text="Source of the files, shown on the run’s page.")
    licence = forms.CharField(required=False, max_length=200, help_text="Licence and credits, shown on the run’s page.")

    def facts(self) -> Facts:
        """The entered facts about the files."""
        data = self.cleaned_data
        return Facts(data["title"].strip(), data["topic"], "", data["source"].strip(), data["licence"].strip())


@require_http_methods(["GET", "HEAD", "POST"])
def run_import(request: HttpRequest) -> HttpResponse:
    """Import uploaded files. Files that cannot be imported are reported; the others are imported."""
    user = user_of(request)
    if not run_may_start(user):
        raise Http404("There is no such page.")
    form = ImportForm(request.POST, request.FILES) if request.method == "POST" else ImportForm()
    if request.method == "POST" and form.is_valid():
        done, wrong = _import(form, user)
        for words in wrong:
            form.add_error("logs", words)
        if done and not wrong:
            return _opened(request, done)
        for one in done:
            messages.success(request, f"{one.run.title} was imported. You find it in the list of runs.")
    return render(request, "explorations/run_import.html", {"form": form}, status=422 if form.errors else 200)


def _import(form: ImportForm, user: User) -> tuple[list[Imported], list[str]]:
    """The imported runs, and an error message for each file that could not be imported."""
    files = [LogFile(str(upload.name), upload.read()) for upload in form.cleaned_data["logs"]]
    found, unknown = batches(files)
    done: list[Imported] = []
    wrong = [f"{name} was not imported: unknown format." for name in unknown]
    for batch in found:
        try:
            done.append(batch_import(batch=batch, user=user, facts=form.facts()))
        except LogWrong as error:
            wrong.append(str(error))
    return done, wrong


def _opened(request: HttpRequest, done: list[Imported]) -> HttpResponse:
    old = [one for one in done if not one.is_new]
    if len(done) == 1:
        if old:
            messages.info(request, "This file was imported before; this is its run.")
        return redirect("explorations:run_detail", run_id=done[0].run.public_id)
    known = f"; {len(old)} of them were imported before" if old else ""
    messages.success(request, f"{len(done)} runs are in the list{known}.")
    return redirect("explorations:run_list")
