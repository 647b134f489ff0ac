"""A trial as a Markdown table, for the terminal and for docs/models_tried.md."""

from apps.trials.rates import RoleRates, Share
from apps.trials.selectors import Trial

_HEAD = (
    "| program | role | answers | read | interval | at once | asked again | unread | cut off | tokens | seconds "
    "| wrong ones rejected | right ones accepted |\n|---|---|--:|--:|---|--:|--:|--:|--:|--:|--:|---|---|"
)


def trial_table(trial: Trial) -> str:
    """A summary line and a table of all roles of a trial."""
    problems = f"{trial.problems} problem{'s' * (trial.problems != 1)}"
    parts = [f"{_of(trial.read)} answers read, {problems}", *trial.stopped_words]
    whole = f"{trial.alias} ({trial.revision}): {'; '.join(parts)}."
    return "\n".join((whole, "", _HEAD, *(_row(one) for one in trial.roles)))


def _row(one: RoleRates) -> str:
    interval = one.read.interval
    cells = (
        one.method,
        one.role,
        one.given,
        f"{one.read.value:.2f}" if one.read.value is not None else "–",
        f"{interval[0]:.2f} to {interval[1]:.2f}" if interval else "–",
        one.at_once,
        one.again,
        one.unread,
        one.cut,
        f"{one.tokens:.0f}",
        f"{one.seconds:.1f}",
        _of(one.sensitivity),
        _of(one.specificity),
    )
    return f"| {' | '.join(str(cell) for cell in cells)} |"


def _of(share: Share) -> str:
    return f"{share.count} of {share.of}" if share.of else "–"
