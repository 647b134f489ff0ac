"""Skills fitted to what was observed: finished cells of an experiment, and trials of its models.

What cannot be fitted is guessed. A note says of each number where it comes from.
"""

import math
import statistics
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Any

from apps.accounts.models import User
from apps.experiments.models import Experiment
from apps.experiments.solving.manifest import Manifest
from apps.experiments.solving.rehearsal.observing import Count, Key, Lengths, Observed, observed_in, pooled, smoothed
from apps.reasoning.rehearsal.chances import log_odds, logistic
from apps.reasoning.rehearsal.skills import JUDGES, Part, Skill, Skills
from apps.trials.rates import RoleRates
from apps.trials.selectors import trials_of

#: Fewest observations for a rate.
ENOUGH = 10
#: Rates are kept this far from 0 and 1, which no sample shows.
EDGE = 0.005
#: Beginning of the source of skills that come from a trial.
OF_A_TRIAL = "fitted to a trial of"
_GUESS = Skill()
#: What a judge does, and with which solutions, by the name of its rate.
_VERBS = {"spots": ("reject", "wrong"), "passes": ("accept", "right")}


def fitted(experiment: Experiment) -> Skills:
    """Skills of the models of an experiment from its runs."""
    return skills_of_runs(observed_in(experiment), experiment.title)


def tried(manifest: Manifest, user: User | None) -> Skills:
    """Skills of the models of a manifest from trials that the user may see (None: all)."""
    models = dict.fromkeys(alias for team in manifest.teams for alias in team.roles.values())
    return joined([skills_of_trial(alias, user) for alias in models])


def joined(found: Sequence[Skills]) -> Skills:
    """One set of skills, in which later ones count over earlier ones."""
    return Skills(
        parts=tuple(part for one in found for part in one.parts),
        difficulties={name: value for one in found for name, value in one.difficulties.items()},
        notes=tuple(dict.fromkeys(note for one in found for note in one.notes)),
    )


def skills_of_runs(observed: Observed, title: str) -> Skills:
    """Skills from recorded runs. Solve rates by problem are drawn to the model's mean by one trial."""
    source = f"fitted to {observed.runs} run{'s' * (observed.runs != 1)} of “{title}”"
    parts, notes, difficulties = list[Part](), list[str](), dict[str, list[float]]()
    for alias in observed.models:
        solved = observed.solved[alias]
        total = Count(sum(one.hits for one in solved.values()), sum(one.of for one in solved.values()))
        values: dict[str, Any] = {}
        if total.of >= ENOUGH:
            mean = (total.hits + 0.5) / (total.of + 1)
            odds = {problem: smoothed(count, mean) for problem, count in solved.items()}
            values["ability"] = statistics.fmean(odds.values())
            values["solves"] = {problem: round(logistic(one), 4) for problem, one in odds.items()}
            for problem, one in odds.items():
                difficulties.setdefault(problem, []).append(values["ability"] - one)
            notes.append(f"{alias} solved {total.hits} of {total.of} fresh solutions ({source}).")
        else:
            notes.append(f"{alias}: chances to solve are guessed, because {_few(total.of, 'fresh solution')}.")
        values |= _rewriting(observed, alias, values.get("solves", {}), notes)
        if values:
            parts.append(Part(models=(alias,), skills=values, source=source))
        calls = sum(one.calls for (name, _), one in observed.lengths.items() if name == alias)
        notes.append(f"{alias}: lengths and unreadable answers are those of {calls:,} calls.")
    parts += [*_judging(observed, source, notes), *_lengths(observed.lengths, source)]
    means = {problem: round(statistics.fmean(all_), 3) for problem, all_ in difficulties.items()}
    return Skills(parts=tuple(parts), difficulties=means, notes=tuple(notes))


def _few(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)} with a known truth {'is' if count == 1 else 'are'} fewer than {ENOUGH}"


def _rewriting(observed: Observed, alias: str, solves: dict[str, float], notes: list[str]) -> dict[str, Any]:
    """How often a model fixes wrong solutions and keeps right ones."""
    values: dict[str, Any] = {}
    fixed, kept = observed.fixed[alias], observed.kept[alias]
    if len(fixed) >= ENOUGH:
        values["fixes"] = _fixes(fixed, solves)
        notes.append(f"{alias} corrected {sum(hit for _, hit in fixed)} of {len(fixed)} wrong solutions.")
    else:
        guess = f"{_GUESS.fixes:g} (on a problem solved by half)"
        notes.append(f"{alias}: that it fixes {guess} is guessed, because {_few(len(fixed), 'wrong solution')} to correct.")
    if kept.of >= ENOUGH:
        values["keeps"] = _inside(kept)
        notes.append(f"{alias} kept {kept.hits} of {kept.of} right solutions right.")
    else:
        notes.append(
            f"{alias}: that it keeps {_GUESS.keeps:g} is guessed, because {_few(kept.of, 'right solution')} to rewrite."
        )
    return values


def _fixes(fixed: Sequence[tuple[str, bool]], solves: dict[str, float]) -> float:
    """The rate on a problem solved by half that gives the observed number of corrections on these problems, by bisection."""
    eases = [log_odds(solves.get(problem, 0.5)) for problem, _ in fixed]
    wanted = min(len(fixed) - 0.5, max(0.5, sum(hit for _, hit in fixed)))
    low, high = -20.0, 20.0
    for _ in range(50):
        middle = (low + high) / 2
        enough = sum(logistic(middle + ease) for ease in eases) >= wanted
        low, high = (low, middle) if enough else (middle, high)
    return round(min(1 - EDGE, max(EDGE, logistic(high))), 4)


def _judging(observed: Observed, source: str, notes: list[str]) -> list[Part]:
    """Rates of judges by model; those of a role are drawn to the model's rate by the weight of `ENOUGH` judgements."""
    parts = []
    for alias in observed.models:
        of_roles = {
            "spots": {role: count for (one, role), count in observed.rejected.items() if one == alias},
            "passes": {role: count for (one, role), count in observed.passed.items() if one == alias},
        }
        for name, (verb, kind) in _VERBS.items():
            all_ = _sum(of_roles[name].values())
            if all_.of < ENOUGH:
                guess = f"{verb}s {getattr(_GUESS, name):g} of {kind} solutions"
                notes.append(f"{alias}: that it {guess} is guessed, because {_few(all_.of, 'judgement')}.")
                continue
            notes.append(f"{alias} as a judge: it {verb}ed {all_.hits} of {all_.of} {kind} solutions.")
            rate = _inside(all_)
            parts.append(Part(models=(alias,), roles=JUDGES, skills={name: rate}, source=source))
            for role, count in of_roles[name].items():
                own = round((count.hits + ENOUGH * rate) / (count.of + ENOUGH), 4)
                parts.append(Part(models=(alias,), roles=(role,), skills={name: own}, source=source))
        parts += _same_again(observed, alias, Skills(parts=tuple(parts)).of(alias, "verifier"), source, notes)
    return parts


def _same_again(observed: Observed, alias: str, judge: Skill, source: str, notes: list[str]) -> list[Part]:
    """How often a model repeats its judgement of a text: the agreement of two judgements beyond that of independent ones.

    Both are drawn for the text with chance `same_again` each, so its square is the part of pairs that must agree.
    """
    pairs = observed.again[alias]
    passes = [judge.passes if is_right else 1 - judge.spots for is_right, _, _ in pairs]
    expected = [chance if first else 1 - chance for chance, (_, first, _) in zip(passes, pairs, strict=True)]
    if len(pairs) < ENOUGH:
        guess = f"{_GUESS.same_again:g} of its judgements"
        notes.append(f"{alias}: that it repeats {guess} is guessed, because {_few(len(pairs), 'second judgement')}.")
        return []
    agreed = sum(first == second for _, first, second in pairs)
    part = (agreed - sum(expected)) / max(EDGE, len(pairs) - sum(expected))
    same = round(math.sqrt(min(1.0, max(0.0, part))), 3)
    notes.append(f"{alias} as a judge: two judgements of a solution agreed in {agreed} of {len(pairs)} pairs.")
    return [Part(models=(alias,), skills={"same_again": same}, source=source)]


def _lengths(lengths: dict[Key, Lengths], source: str) -> list[Part]:
    """Lengths and unreadable answers: of a model, of it as a judge, and of each role. Roles without calls have the former."""
    parts = []
    for alias in dict.fromkeys(alias for alias, _ in lengths):
        own = {role: found for (one, role), found in lengths.items() if one == alias}
        judging = {role for role in own if any(fnmatchcase(role, one) for one in JUDGES)}
        judges = [found for role, found in own.items() if role in judging]
        others = [found for role, found in own.items() if role not in judging]
        groups = [(("*",), pooled(others or judges)), *([(JUDGES, pooled(judges))] if judges else [])]
        groups += [((role,), found) for role, found in own.items()]
        parts += [Part(models=(alias,), roles=roles, skills=_of_lengths(found), source=source) for roles, found in groups]
    return parts


def _of_lengths(found: Lengths) -> dict[str, float]:
    spread = statistics.stdev(found.logs) if found.calls > 1 else _GUESS.spread
    return {
        "answer_tokens": max(1.0, round(found.said / found.calls, 1)),
        "thinking_tokens": max(1.0, round(found.thought / found.calls, 1)),
        "spread": min(3.0, round(spread, 3)),
        "unreadable": round(found.unread / found.calls, 4),
    }


def skills_of_trial(alias: str, user: User | None) -> Skills:
    """Skills from the newest trial of a model: judges' rates, lengths, unreadable answers. A trial has no solve rate."""
    trial = next((one for one in trials_of(user, alias) if one.answers), None)
    if trial is None:
        return Skills(notes=(f"{alias} has no trial (manage.py try_model {alias}); without runs its skills are guessed.",))
    source = f"{OF_A_TRIAL} {alias} ({len(trial.answers)} answers)"
    rights = _sum(Count(one.specificity.count, one.specificity.of) for one in trial.roles)
    wrongs = _sum(Count(one.sensitivity.count, one.sensitivity.of) for one in trial.roles)
    rates = {name: _inside(count) for name, count in (("passes", rights), ("spots", wrongs)) if count.of >= ENOUGH}
    parts = [Part(models=(alias,), roles=JUDGES, skills=rates, source=source)] if rates else []
    by_role: dict[str, list[RoleRates]] = {}
    for one in trial.roles:
        by_role.setdefault(one.role, []).append(one)
    parts += [Part(models=(alias,), roles=(role,), skills=_of_trial(rows), source=source) for role, rows in by_role.items()]
    judged = f"rejected {wrongs.hits} of {wrongs.of} wrong solutions and accepted {rights.hits} of {rights.of} right ones"
    notes = [f"{alias} in its trial {judged}; a trial shows no chance to solve a problem."]
    if min(wrongs.of, rights.of) < ENOUGH:
        notes.append(f"{alias}: its trial has too few of these for a rate, which needs {ENOUGH}. Try it on more problems.")
    return Skills(parts=tuple(parts), notes=tuple(notes))


def _of_trial(rows: Sequence[RoleRates]) -> dict[str, float]:
    """Lengths and unreadable answers of a role over all programs. A trial does not part thinking from answers."""
    answers, given = sum(len(one.answers) for one in rows), sum(one.given for one in rows)
    tokens = sum(one.tokens * len(one.answers) for one in rows) / answers if answers else 0.0
    unread = 1 - sum(one.count("at once") for one in rows) / given if given else _GUESS.unreadable
    return {"answer_tokens": max(1.0, round(tokens, 1)), "thinking_tokens": 1.0, "unreadable": round(max(0.0, unread), 4)}


def _sum(counts: Iterable[Count]) -> Count:
    total = Count()
    for one in counts:
        total.hits, total.of = total.hits + one.hits, total.of + one.of
    return total


def _inside(count: Count) -> float:
    return round(min(1 - EDGE, max(EDGE, count.hits / count.of)), 4)
