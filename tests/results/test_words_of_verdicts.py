"""The role of an error in a result agrees with the other verdicts of the sheet."""

from django.template.loader import render_to_string

from apps.reasoning.marking.sheets.sheet import Fallacy, MarkSheet, Role, StepVerdict
from apps.results.shown import verdict_shown

ROOT = StepVerdict(id="v1", step=2, fallacy=Fallacy.GAP, role=Role.ROOT, words="")
CONSEQUENCE = StepVerdict(id="v2", step=3, fallacy=Fallacy.CONCLUSION, role=Role.CONSEQUENCE, root="v1", words="")


def test_a_root_mentions_consequences_only_if_it_has_some() -> None:
    assert verdict_shown(ROOT, MarkSheet(verdicts=(ROOT, CONSEQUENCE))).role == "other errors follow from it"
    assert verdict_shown(ROOT, MarkSheet(verdicts=(ROOT,))).role == "independent of other errors"


def test_findings_of_a_model_are_labelled_and_words_of_a_marker_are_not() -> None:
    found = ROOT.model_copy(update={"origin": "model"})
    shown = verdict_shown(found, MarkSheet(verdicts=(found,)))
    assert shown.origin.startswith("AI: found and worded by a model")
    assert shown.origin in render_to_string("results/_verdict.html", {"one": shown, "text_format": "markdown"})
    own = verdict_shown(ROOT, MarkSheet(verdicts=(ROOT,)))
    assert own.origin == ""
    assert "AI" not in render_to_string("results/_verdict.html", {"one": own, "text_format": "markdown"})
