"""Forms: the editor of a problem with its reference solutions and hints, and the upload of a file."""

from typing import Any

from django import forms
from django.http import QueryDict

from apps.files.upload_fields import TableField
from apps.problems import drafts
from apps.problems.drafts import HINTS_AT_MOST, ProblemDraft, SolutionDraft
from apps.problems.hints import hint_leaks
from apps.problems.importing.shapes import SHAPES
from apps.problems.levels import level_spelled
from apps.problems.models import Topic
from apps.reasoning.feedback.ladder import RUNGS, Track
from apps.ui.sent import whole_number


class TextField(forms.CharField):
    """A Markdown text. CR LF line ends from browsers become LF, so that an unchanged text stays unchanged."""

    def __init__(self, *, rows: int, help_text: str = "", **options: Any) -> None:
        widget = forms.Textarea(attrs={"rows": rows, "class": "mono", "spellcheck": "false"})
        super().__init__(widget=widget, help_text=help_text, **options)

    def to_python(self, value: Any) -> str:
        text = super().to_python(value) or ""
        return text.replace("\r\n", "\n").replace("\r", "\n")


class ProblemForm(forms.Form):
    """Fields of a problem except its reference solutions."""

    title = forms.CharField(max_length=drafts.TITLE_LENGTH)
    topic = forms.ChoiceField(choices=[("", "Choose a topic"), *Topic.choices])
    subtopic = forms.CharField(max_length=drafts.SUBTOPIC_LENGTH, required=False, help_text="For example: functional equations")
    source = forms.CharField(max_length=drafts.SOURCE_LENGTH, required=False, help_text="For example: IMO 1988, Problem 6")
    year = forms.IntegerField(min_value=drafts.YEARS.start, max_value=drafts.YEARS.stop - 1, required=False)
    level = forms.CharField(max_length=drafts.LEVEL_LENGTH, required=False, help_text="For example: IMO medium")
    statement = TextField(
        rows=9,
        max_length=drafts.STATEMENT_LENGTH,
        help_text="Markdown with formulas: <code>$a^2$</code> or <code>$$…$$</code>.",
    )
    answer = TextField(
        rows=2,
        max_length=drafts.ANSWER_LENGTH,
        required=False,
        help_text="Leave empty for a problem that only asks for a proof.",
    )
    scheme_text = TextField(rows=8, max_length=drafts.SCHEME_LENGTH, required=False, label="Marking scheme")

    def clean_level(self) -> str:
        return level_spelled(self.cleaned_data["level"])


class SolutionForm(forms.Form):
    """One reference solution. An empty form is ignored."""

    approach = forms.CharField(
        max_length=drafts.APPROACH_LENGTH, required=False, help_text="A short name. For example: Vieta jumping"
    )
    text = TextField(rows=10, max_length=drafts.SOLUTION_LENGTH, required=False)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("approach") and not cleaned.get("text") and "text" not in self.errors:
            self.add_error(
                "text",
                "This solution has an approach but no text. Write the text, or clear the approach.",
            )
        return cleaned


_solutions = forms.formset_factory(
    SolutionForm, extra=0, max_num=drafts.SOLUTIONS_AT_MOST, absolute_max=drafts.SOLUTIONS_AT_MOST + 1, validate_max=True
)


class HintsForm(forms.Form):
    """The hints in the order in which a student can open them. Later ones may be empty."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for rung in RUNGS[Track.STUCK][:HINTS_AT_MOST]:
            self.fields[f"hint_{rung.level + 1}"] = TextField(
                rows=3, max_length=drafts.HINT_LENGTH, required=False, help_text=rung.title, label=f"Hint {rung.level + 1}"
            )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        texts = [cleaned.get(name, "") for name in self.fields]
        for number, name in enumerate(self.fields, 1):
            if name in cleaned and not cleaned[name] and any(texts[number:]):
                self.add_error(
                    name, "A later hint has a text. Hints open in their order: write this one, or clear the later ones."
                )
        return cleaned

    def texts(self) -> list[str]:
        """The texts, valid or not, up to the last that is not empty."""
        texts = [str(self[name].value() or "").strip() for name in self.fields]
        while texts and not texts[-1]:
            texts.pop()
        return texts


class ProblemEditor:
    """The forms of a problem, its solutions and its hints: empty, filled from a draft, or posted."""

    def __init__(self, data: QueryDict | None = None, *, draft: ProblemDraft | None = None) -> None:
        self.posted = data
        if data is None:
            self.form = ProblemForm(initial=_form_values(draft) if draft else None)
            rows = [{"approach": row.approach, "text": row.text} for row in draft.solutions] if draft else []
            self.solutions = _solutions(initial=[*rows] or [{}], prefix="solutions")
            texts = enumerate(draft.hints, 1) if draft else ()
            self.hints = HintsForm(initial={f"hint_{number}": text for number, text in texts})
        else:
            self.form = ProblemForm(data)
            self.hints = HintsForm(data)
            self.solutions = _solutions(_with_one_more(data) if "add" in data.getlist("action") else data, prefix="solutions")

    @property
    def asks_to_save(self) -> bool:
        """Whether the request saves, instead of asking for a preview or another solution form."""
        return self.posted is not None and not {"preview", "add"} & set(self.posted.getlist("action"))

    def forget_errors(self) -> None:
        """Clear all errors for a request that does not save."""
        self.form.errors.clear()
        self.hints.errors.clear()
        for row in self.solutions:
            row.errors.clear()

    def is_valid(self) -> bool:
        """Validate all forms, so that all errors are shown together."""
        return all([self.form.is_valid(), self.solutions.is_valid(), self.hints.is_valid()])

    def draft(self) -> ProblemDraft:
        """The draft from the validated forms."""
        solutions = [
            SolutionDraft(row.cleaned_data["text"], row.cleaned_data["approach"])
            for row in self.solutions
            if row.cleaned_data.get("text")
        ]
        hints = tuple(text for text in self.hints.cleaned_data.values() if text)
        return ProblemDraft(**self.form.cleaned_data, solutions=tuple(solutions), hints=hints)

    def preview(self) -> dict[str, Any]:
        """The current texts, valid or not, for the preview, and what hints reveal too early."""
        names = ("title", "statement", "answer", "scheme_text")
        shown: dict[str, Any] = {name: str(self.form[name].value() or "") for name in names}
        rows = [{name: str(row[name].value() or "") for name in ("approach", "text")} for row in self.solutions]
        solutions, hints = [row for row in rows if row["text"].strip()], self.hints.texts()
        return {**shown, "solutions": solutions, "hints": hints, "leaks": _leaks(shown, solutions, hints)}


def _leaks(shown: dict[str, Any], solutions: list[dict[str, str]], hints: list[str]) -> list[dict[str, Any]]:
    """What hints reveal too early; empty if a text is too long to be saved."""
    texts = [(row["text"], drafts.SOLUTION_LENGTH) for row in solutions] + [(text, drafts.HINT_LENGTH) for text in hints]
    texts.append((shown["scheme_text"], drafts.SCHEME_LENGTH))
    if not hints or any(len(text) > most for text, most in texts):
        return []
    draft = ProblemDraft(topic="", solutions=tuple(SolutionDraft(**row) for row in solutions), hints=tuple(hints), **shown)
    return [{"number": level + 1, "words": leak.words} for level, leak in hint_leaks(draft)]


def _form_values(draft: ProblemDraft) -> dict[str, Any]:
    return {name: getattr(draft, name) for name in ProblemForm.base_fields}


def _with_one_more(data: QueryDict) -> QueryDict:
    """The posted data with one more solution form, up to the limit."""
    changed = data.copy()
    count = whole_number(changed.get("solutions-TOTAL_FORMS", ""), 3)
    if count is not None:
        changed["solutions-TOTAL_FORMS"] = str(min(count + 1, drafts.SOLUTIONS_AT_MOST))
    return changed


class ImportForm(forms.Form):
    """A file and its format."""

    file = TableField(help_text="CSV or JSONL in UTF-8, at most 16 MB", accept=".csv,.tsv,.jsonl,.ndjson")
    shape = forms.ChoiceField(
        label="Format", choices=[("auto", "Detect automatically"), *((shape.name, shape.title) for shape in SHAPES.values())]
    )
