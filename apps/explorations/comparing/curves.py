"""Plotly figures of compared runs: lemmas proposed and votes cast over tokens."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import plotly.graph_objects as go
from django.db.models.fields.json import KT

from apps.explorations.comparing.asking import Side
from apps.lemmas.models import Lemma, Verdict
from apps.reasoning.domain.event_base import Kind
from apps.runs.models import Run, RunEvent
from apps.ui.figures import add_line, count_axis, plain

MOST_POINTS = 300
_TITLES = {"lemmas": "lemmas proposed", "votes": "votes cast"}


def curve_figures(sides: Sequence[Side]) -> dict[str, Any]:
    """The figures `lemmas` and `votes`, one line per run. A run without known tokens has no line (`without_tokens`).

    A figure in which every run would stay at 0 is left out: scaffolds that compare whole solutions have neither.
    """
    clocks = {side.letter: _clock(side.run) for side in sides}
    seqs = {"lemmas": _seqs(Lemma, "first_seq", sides), "votes": _seqs(Verdict, "seq", sides)}
    figures: dict[str, Any] = {}
    for name, title in _TITLES.items():
        if not any(seqs[name].values()):
            continue
        figure = go.Figure()
        for index, side in enumerate(sides):
            if clocks[side.letter][1][-1]:
                x, y = _steps(clocks[side.letter], seqs[name][side.run.pk])
                add_line(
                    figure,
                    index,
                    x=x,
                    y=y,
                    name=side.letter,
                    line={"shape": "hv"},
                    meta={"line": index},
                    hovertemplate=f"%{{y:,}} {title} after %{{x:,}} tokens<extra>run {side.letter}</extra>",
                )
        figure.update_layout(
            showlegend=True,
            xaxis={"title": "tokens", "rangemode": "tozero"},
            yaxis=count_axis(title, (count for line in figure.data for count in line.y)),
        )
        figures[name] = plain(figure)
    return figures


def without_tokens(figures: dict[str, Any], sides: Sequence[Side]) -> list[str]:
    """The letters of the runs that have no line, because no call of theirs reports tokens."""
    drawn = {line["name"] for figure in figures.values() for line in figure["data"]}
    return [side.letter for side in sides if side.letter not in drawn]


def _seqs(model: type[Lemma] | type[Verdict], field: str, sides: Sequence[Side]) -> dict[int, list[int]]:
    """Event numbers of rows by run, ascending."""
    found: dict[int, list[int]] = {side.run.pk: [] for side in sides}
    for pk, seq in model._default_manager.filter(run__in=list(found)).order_by(field).values_list("run", field):
        found[pk].append(seq)
    return found


def _clock(run: Run) -> tuple[list[int], list[int]]:
    """Event numbers at which calls ended, and the prompt and answer tokens up to each; both begin with 0.

    Calls that a fork took over count, so that a fork and its parent share the beginning of their curves.
    """
    ended = RunEvent.objects.filter(run=run, kind=Kind.CALL_ENDED).order_by("seq")
    rows = ended.annotate(prompt=KT("body__usage__prompt"), answer=KT("body__usage__completion"))
    seqs, tokens = [0], [0]
    for seq, prompt, answer in rows.values_list("seq", "prompt", "answer"):
        seqs.append(seq)
        tokens.append(int(prompt or 0) + int(answer or 0))
    return seqs, list(accumulate(tokens))


def _steps(clock: tuple[list[int], list[int]], seqs: Sequence[int]) -> tuple[list[int], list[int]]:
    """Tokens and number of the events `seqs` by then, thinned to `MOST_POINTS`; the line ends with the last token."""
    ends, tokens = clock
    points = [(tokens[bisect_right(ends, seq) - 1], number) for number, seq in enumerate(seqs, 1)]
    last = dict(points)  # Only the last of several events at one number of tokens.
    kept = [(0, 0), *last.items(), (tokens[-1], len(seqs))]
    step = -(-len(kept) // MOST_POINTS)
    kept = [*kept[:-1:step], kept[-1]]
    return [x for x, _ in kept], [y for _, y in kept]
