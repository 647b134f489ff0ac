"""Charts of jobs: which curves each shows, and the displayed names of curves. `drawing` makes the figures."""

import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Chart:
    """One chart. `curves` is a pattern for names of metrics.

    `kind`: `lines`, `stack` (stacked shares) or `bars` (values of the last line). Shares of several jobs cannot be stacked;
    their `overlay` curves are drawn as lines instead. A curve with its bounds (`x/score`, `x/low`, `x/high`) has a band.
    """

    name: str
    title: str
    about: str
    curves: str
    kind: str = "lines"
    share: bool = False
    from_zero: bool = False
    overlay: str = ""


CHARTS = (
    Chart("reward", "Reward", "Mean reward of the rows of a step.", r"reward|role/[^/]+/reward"),
    Chart("solved", "Toy score", "Shares by the toy’s own rule.", r"toy/(solved|single|tool_rate|verifier1)", share=True),
    Chart(
        "held_out",
        "Held out",
        "Problems held out from training: share of a toy’s problems solved, or nats per token of texts; with a 95 % interval.",
        r"held_out/.+",
    ),
    Chart(
        "passrate",
        "Groups by pass rate",
        "Shares of groups by mean reward (the pass rate where rewards are 0 or 1). Groups at 0 and 1 give no signal.",
        r"passrate/.+",
        "stack",
        share=True,
        overlay=r"passrate/[01]",
    ),
    Chart("components", "Parts of the reward", "Mean per turn, over all turns played.", r"reward/.+"),
    Chart(
        "tools",
        "Tools",
        "Shares of turns that called a tool or were unreadable, and of failed calls.",
        r"tool_calls|tool_errors|unread",
        share=True,
    ),
    Chart(
        "silent",
        "Silent groups",
        "Share of groups whose rewards are all equal.",
        r"silent|role/[^/]+/silent",
        share=True,
    ),
    Chart(
        "rates",
        "Verifiers’ rates",
        "Wrong answers rejected (TPR) and right answers accepted (TNR), by role.",
        r"role/[^/]+/(found|spared)",
        share=True,
    ),
    Chart(
        "votes",
        "Votes k of n",
        "Share of rows by number of passing votes, in the last step.",
        r"votes/\d+",
        "bars",
        share=True,
    ),
    Chart(
        "lemmas",
        "Lemmas",
        "Mean value v(l) of lemmas, and share of rounds without a new lemma.",
        r"(toy/)?(mean_value|masked_rounds)",
    ),
    Chart("loss", "Loss", "Objective of the optimiser.", r"loss|value_loss|token_rm_loss"),
    Chart("entropy", "Entropy", "Entropy of the policy at its own tokens, in nats.", r"entropy"),
    Chart("kl", "KL to the reference", "KL divergence, in nats per token.", r"kl"),
    Chart(
        "drift",
        "KL to the rows’ policy",
        "KL divergence from the policy that wrote the rows, in nats per token.",
        r"kl_behaviour",
    ),
    Chart("clip", "Clipped", "Share of tokens with a clipped ratio.", r"clip_low|clip_high|mastered", share=True),
    Chart(
        "ess",
        "Effective sample size",
        "Share of the tokens; 1 where each token is as probable as when it was sampled.",
        r"ess",
        share=True,
    ),
    Chart("ratio", "Highest ratio", "Highest ratio of a token’s probability now and at sampling.", r"ratio_max"),
    Chart(
        "others",
        "Rows of other policies",
        "Share of tokens at the cap of their correction, and of rows left out as too far from the model.",
        r"capped|masked_rows",
        share=True,
    ),
    Chart(
        "lengths",
        "Lengths",
        "Tokens per completion: mean and longest.",
        r"completion_length|longest_completion",
        from_zero=True,
    ),
    Chart(
        "truncated",
        "Cut off",
        "Share of completions that reached the limit, and of tool tokens.",
        r"truncated|masked_tokens",
        share=True,
    ),
    Chart("gradient", "Gradient", "Norm before clipping.", r"grad_norm", from_zero=True),
    Chart("rate", "Learning rate", "Scheduled learning rate.", r"learning_rate", from_zero=True),
    Chart(
        "time",
        "Time",
        "Shares of the trainer’s time: learning, playing, waiting for runs, and measuring held-out problems.",
        r"time/.+",
        "stack",
        share=True,
        overlay=r"time/train",
    ),
    Chart("speed", "Speed", "Tokens trained per second.", r"tokens_per_second", from_zero=True),
    Chart("useful", "Useful tokens", "Share of the computed tokens that are not padding.", r"useful_tokens", share=True),
    Chart(
        "stale",
        "Staleness",
        "Age of rows in policy versions, and rows dropped as too old.",
        r"lag|lag_tokens|dropped",
        from_zero=True,
    ),
)
_WORDS = {
    "tool_rate": "asks the tool",
    "verifier1": "Verifier 1 right",
    "found": "TPR",
    "spared": "TNR",
    "mean_value": "mean v(l)",
    "masked_rounds": "rounds without a lemma",
    "held_out/score": "score",
    "kl": "KL to the reference",
    "kl_behaviour": "KL to the rows’ policy",
    "passrate/0": "none",
    "passrate/0-25": "up to 25 %",
    "passrate/25-50": "up to 50 %",
    "passrate/50-75": "up to 75 %",
    "passrate/75-99": "up to 99 %",
    "passrate/1": "all",
    "clip_low": "below",
    "clip_high": "above",
    "capped": "tokens at the cap",
    "masked_rows": "rows left out",
    "silent": "all",
    "token_rm_loss": "token reward model",
    "time/train": "learning",
    "time/rollout": "playing",
    "time/idle": "waiting for runs",
    "time/held_out": "measuring",
    "reward/episode": "episode",
    "reward/unread": "unreadable actions",
    "reward/length": "length",
    "tool_calls": "turns with a tool",
    "tool_errors": "failed calls",
    "unread": "unreadable turns",
}


def word_of(curve: str) -> str:
    """Displayed name of a curve."""
    role = re.fullmatch(r"role/([^/]+)/(\w+)", curve)
    if role:
        return f"{role[1]} {_WORDS[role[2]]}" if role[2] in ("found", "spared") else role[1]
    plain = curve.removeprefix("toy/")
    return _WORDS.get(plain) or plain.replace("_", " ").replace("votes/", "k = ")


def stack_order(names: Sequence[str]) -> list[str]:
    """Curves of a stack from the bottom up."""
    return [name for name in _WORDS if name in names]
