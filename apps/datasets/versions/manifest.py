"""Manifest of a dataset version: everything needed to reproduce, judge and credit it."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.utils import timezone

from apps.datasets.models import DatasetBuild, TokenShard
from apps.datasets.rewards import JUDGES
from apps.datasets.versions.choosing import Chosen
from apps.reasoning.domain.event_base import Kind
from apps.reasoning.domain.tools import scope_of
from apps.recipes.registry import TRAININGS
from apps.runs.models import Run

FORMAT = 1


def manifest_of(build: DatasetBuild, number: int, chosen: Chosen, summary: dict[str, Any], *, commit: str) -> dict[str, Any]:
    """Manifest of a version. `files`: SHA-256 hashes by path; `left`: items left out, by reason."""
    recipe, options = TRAININGS[build.recipe], dict(build.options)
    judge = options.pop("judge", "verifiers")
    origin = _origin(chosen.runs)
    return {
        "format": FORMAT,
        "name": build.name,
        "version": number,
        "recipe": recipe.name,
        "title": recipe.title,
        "source": recipe.source,
        "options": options,
        "rewards": dict(JUDGES)[judge],
        "has_tokens": summary["has_tokens"],
        "has_logprobs": summary["has_logprobs"] and summary["has_tokens"],
        "counts": summary["counts"],
        "left": chosen.left.rows + summary["left"],
        **origin,
        "sampling": _sampling(chosen.runs),
        "runs": [_run(run) for run in chosen.runs],
        "notes": _notes(summary, origin, chosen.runs),
        "code": {"version": settings.VERSION, "commit": commit},
        "made": {"at": timezone.now().isoformat(), "by": build.started_by.username if build.started_by else "command line"},
        "files": summary["files"],
    }


UNSCORABLE = (
    "Its log-probabilities are of the sampled distribution, at several temperatures, at 0 or with top_p below 1, so a trainer "
    "cannot reproduce them. Record runs at one temperature; recorded runs have top_p 1."
)


def _origin(runs: list[Run]) -> dict[str, Any]:
    """Tokenizer, chat templates, policies and distributions of the log-probabilities; null where only texts were recorded."""
    shards = TokenShard.objects.filter(run__in=[run.pk for run in runs])

    def distinct(name: str) -> list[str]:
        return sorted(set(shards.values_list(name, flat=True).order_by()))

    tokenizers = distinct("tokenizer")
    templates = distinct("chat_template")
    return {
        "tokenizer": tokenizers[0] if tokenizers else None,
        "chat_template": templates[0] if len(templates) == 1 else None,
        "chat_templates": templates,
        "policies": distinct("policy"),
        "logprobs_of": distinct("logprobs_of"),
    }


def _sampling(runs: list[Run]) -> list[dict[str, Any]]:
    """Distinct sampling settings, by alias and role."""
    found = {
        (role["alias"], name, role["sampling"]["temperature"], role["sampling"]["top_p"])
        for run in runs
        for name, role in run.spec.get("roles", {}).items()
    }
    return [dict(zip(("alias", "role", "temperature", "top_p"), one, strict=True)) for one in sorted(found)]


def scored_at(manifest: Mapping[str, Any]) -> float | None:
    """Temperature at which a trainer must score the rows of a version; None where no single temperature is right.

    The model's own log-probabilities (`raw`) are those at 1. Those of the sampled distribution (`sampled`) can be reproduced
    only at the sampling temperature, and not with top_p below 1 or at temperature 0 (design of learning, section 3). At
    temperature 1 both are the same.
    """
    if "sampled" not in manifest.get("logprobs_of", ()):
        return 1.0
    learned = set(manifest.get("counts", {}).get("roles", {}))
    drawn = [one for one in manifest["sampling"] if one["role"].replace("_", "") in learned or not learned]
    temperatures = {float(one["temperature"]) for one in drawn}
    is_cut = any(float(one["top_p"]) < 1 for one in drawn)
    if is_cut or len(temperatures) != 1 or (len(manifest["logprobs_of"]) > 1 and temperatures != {1.0}):
        return None
    return temperatures.pop() or None


def _run(run: Run) -> dict[str, Any]:
    version = run.problem_version
    return {
        "id": str(run.public_id),
        "problem": f"{version.problem.public_id}@{version.number}",
        "title": version.problem.title,
        "scaffold": run.scaffold,
        "preset": run.preset,
        "seed": run.spec.get("seed"),
        "aliases": sorted({role["alias"] for role in run.spec.get("roles", {}).values()}),
        "is_assisted": run.is_assisted,
        **_earlier_lemmas(run),
    }


def _earlier_lemmas(run: Run) -> dict[str, Any]:
    """For a run that could search lemmas of earlier runs: its scope, and the lemmas that it found."""
    scope = scope_of(run.spec.get("params") or {})
    if scope == "none":
        return {}
    turns = run.events.filter(kind=Kind.TURN_TAKEN).order_by("seq").values_list("body", flat=True)
    found = [one for body in turns for one in (body.get("lookup") or {}).get("lemmas", ())]
    lemmas = {(one["run"], one["lemma"]): {"run": one["run"], "lemma": one["lemma"]} for one in found}
    return {"earlier_lemmas": scope, "found_lemmas": list(lemmas.values())}


def _notes(summary: dict[str, Any], origin: dict[str, Any], runs: list[Run]) -> list[str]:
    """Warnings for users who train on the version."""
    found = []
    if not summary["has_tokens"]:
        found.append(
            "Texts only: no tokens were recorded, so only supervised recipes can use this version. A job tokenises the texts "
            "with the base model's tokenizer; python -m workers.training.tokenise does so by hand (docs/datasets.md)."
        )
    sampled = {(one["temperature"], one["top_p"]) for one in _sampling(runs)}
    if summary["has_tokens"] and "raw" in origin["logprobs_of"] and sampled - {(1.0, 1.0)}:
        found.append(
            "Some calls were sampled at a temperature other than 1 or with top_p below 1, but their log-probabilities are the "
            "model's own: ratios to them are not ratios to the sampled distribution."
        )
    if summary["has_tokens"] and scored_at({**origin, "sampling": _sampling(runs), "counts": summary["counts"]}) is None:
        found.append(f"Only supervised recipes can use this version. {UNSCORABLE}")
    if len(origin["policies"]) > 1:
        found.append(f"Written by {len(origin['policies'])} policies; all rows have policy version 0.")
    if any(run.is_assisted for run in runs):
        found.append("Users intervened in some runs; their hints are in the prompts.")
    if any(scope_of(run.spec.get("params") or {}) != "none" for run in runs):
        found.append("Some runs could search lemmas of earlier runs; what they found is in the prompts (found_lemmas).")
    return found
