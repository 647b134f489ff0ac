"""`manage.py experiment run FILE.toml | rehearse FILE.toml | table | curves | export | import | delete TITLE`.

`rehearse-gradings TITLE` is about an experiment on grading, `delete` about both kinds, all others about those on solving.
"""

import json
import sys
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from apps.accounts.models import User
from apps.experiments.models import Experiment, ExperimentKind, ExperimentState
from apps.experiments.refusals import ExperimentRefused
from apps.experiments.rehearsing import gradings_rehearsed
from apps.experiments.services import experiment_delete, experiment_resume
from apps.experiments.solving.checks import forecast_added, require_runnable
from apps.experiments.solving.estimate import Forecast, forecast_of
from apps.experiments.solving.files import commands as files
from apps.experiments.solving.manifest import Manifest, ManifestWrong, manifest_read
from apps.experiments.solving.people.corrected import corrected_lines
from apps.experiments.solving.people.sampling import people_in
from apps.experiments.solving.planning import Planner
from apps.experiments.solving.rehearsal.terminal import rehearsed_lines
from apps.experiments.solving.services import items_chosen, manifest_stored, solving_begin, solving_extend, solving_start
from apps.experiments.solving.terminal import curve_lines, table_lines
from apps.reasoning.domain.errors import AliasError
from apps.reasoning.inference.aliases import load_measurable
from apps.reasoning.rehearsal.skills import SkillsWrong, skills_read


class Command(BaseCommand):
    """Start an experiment of a manifest or continue it, print its table, or rehearse it without a model."""

    help = "Start or continue an experiment of a TOML manifest, print the table of one, or rehearse one."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        run = verbs.add_parser("run", help="start the experiment of this title, or add what its manifest adds")
        run.add_argument("file", type=Path, help="the manifest, or - for standard input")
        run.add_argument("--owner", default="", help="user name of the owner (default: none)")
        run.add_argument("--wait", action="store_true", help="print its progress until it is over")
        table = verbs.add_parser("table", help="print the scores of each method")
        table.add_argument("title", help="title of the experiment")
        table.add_argument("--scorer", default="", help="name of a scorer (default: the first)")
        table.add_argument("--none-as-0", action="store_true", help="count cells that gave no answer as 0, as the papers do")
        table.add_argument("--corrected", action="store_true", help="print the means of scorers corrected by marks of people")
        curves = verbs.add_parser("curves", help="print the scores at smaller budgets")
        curves.add_argument("title", help="title of the experiment")
        curves.add_argument("--scorer", default="", help="name of a scorer by answer or grader (default: the first)")
        curves.add_argument("--unit", default="", help="written (default), tokens, calls, seconds or money")
        files.arguments_add(verbs)
        delete = verbs.add_parser("delete", help="delete an experiment with its cells, scores and marks; its runs stay")
        delete.add_argument("title", help="title of the experiment")
        delete.add_argument("--owner", help="user name of its owner, where several have this title")
        delete.add_argument("--yes", action="store_true", help="delete; without it only what would be deleted is printed")
        rehearse = verbs.add_parser("rehearse", help="predict the table with simulated agents, without a model")
        rehearse.add_argument("file", type=Path, help="the manifest, or - for standard input")
        rehearse.add_argument("--skills", type=Path, help="skills in TOML, which count over all others")
        rehearse.add_argument("--like", default="", help="title of an experiment to whose runs skills are fitted")
        rehearse.add_argument("--processes", type=int, default=2, help="processes that play (default: 2; 0: this one)")
        graders = verbs.add_parser("rehearse-gradings", help="predict the points of graders with simulated ones, as JSONL")
        graders.add_argument("title", help="title of an experiment on grading a set")
        graders.add_argument("--skills", type=Path, help="skills in TOML (default: guessed)")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self._verb(options)
        except (AliasError, ExperimentRefused, ManifestWrong, SkillsWrong) as error:
            raise CommandError(str(error)) from error

    def _verb(self, options: dict[str, Any]) -> None:
        ours = {"run": self._run, "table": self._table, "rehearse": self._rehearse, "rehearse-gradings": self._gradings}
        ours |= {"curves": self._curves, "delete": self._delete}
        if options["verb"] in ours:
            ours[options["verb"]](options)
        else:
            getattr(files, f"experiment_{options['verb']}")(options, self.stdout)

    def _text(self, path: Path) -> str:
        try:
            return sys.stdin.read() if str(path) == "-" else path.read_text(encoding="utf-8")
        except OSError as error:
            raise CommandError(f"{path} cannot be read: {error.strerror}.") from error
        except UnicodeDecodeError as error:
            raise CommandError(f"{path} is not a UTF-8 text file.") from error

    def _rehearse(self, options: dict[str, Any]) -> None:
        manifest = manifest_read(self._text(options["file"]))
        stated = self._text(options["skills"]) if options["skills"] else ""
        like = self._named(options["like"]) if options["like"] else None
        for line in rehearsed_lines(manifest, stated, like, options["processes"]):
            self.stdout.write(line)

    def _gradings(self, options: dict[str, Any]) -> None:
        skills = skills_read(self._text(options["skills"]) if options["skills"] else "")
        for row in gradings_rehearsed(self._named(options["title"], ExperimentKind.GRADING), skills):
            self.stdout.write(json.dumps(row, ensure_ascii=False))

    def _named(self, title: str, kind: str = ExperimentKind.SOLVING) -> Experiment:
        found = Experiment.objects.filter(title=title, kind=kind).order_by("-pk").first()
        if found is None:
            raise CommandError(f"There is no experiment “{title}”.")
        return found

    def _run(self, options: dict[str, Any]) -> None:
        manifest = manifest_read(self._text(options["file"]))
        owner = User.objects.filter(username=options["owner"]).first() if options["owner"] else None
        if options["owner"] and owner is None:
            raise CommandError(f"There is no user {options['owner']}.")
        experiment = self._begun(manifest, owner)
        while options["wait"] and experiment.state == ExperimentState.RUNNING:
            time.sleep(2)
            experiment.refresh_from_db()
            ended = experiment.solving_cells.filter(ended_at__isnull=False).count()
            self.stdout.write(f"{ended:,} of {experiment.solving_cells.count():,} cells ended")
        if options["wait"]:
            self.stdout.write(f"{experiment.get_state_display()} {experiment.state_reason}".strip())

    def _begun(self, manifest: Manifest, owner: User | None) -> Experiment:
        found = Experiment.objects.filter(title=manifest.title, kind=ExperimentKind.SOLVING)
        if found.count() > 1:
            raise CommandError(f"There are {found.count()} experiments “{manifest.title}”. Give this one another title.")
        known, aliases = found.first(), load_measurable(settings.MODELS_FILE)
        if known is None:
            require_runnable(manifest, aliases)
            self._conflicts(forecast_of(manifest, items_chosen(manifest, names_all=True), Planner(manifest, aliases, owner)))
            experiment = solving_start(owner=owner, manifest=manifest)
            self.stdout.write(f"{experiment.title}: {experiment.solving_cells.count():,} cells")
            return experiment
        if known.owner_id != (owner.pk if owner else None):
            raise CommandError(f"“{known.title}” belongs to another user. Give this one another title, or name its --owner.")
        if manifest != manifest_stored(known):
            require_runnable(manifest, aliases, known)
            self._conflicts(forecast_added(known, manifest, aliases))
        added = solving_extend(experiment=known, manifest=manifest)
        known.refresh_from_db()
        if known.state == ExperimentState.PAUSED:
            experiment_resume(experiment=known)
        if known.state == ExperimentState.PLANNED:
            solving_begin(known)
            self.stdout.write(f"{known.title} was planned and is started now")
        known.refresh_from_db()
        self.stdout.write(f"{known.title}: {added:,} cells added to {known.solving_cells.count() - added:,}")
        return known

    def _conflicts(self, forecast: Forecast) -> None:
        """Print what could be changed before the start, such as a budget that is too small."""
        for words in forecast.conflicts:
            self.stdout.write(f"conflict: {words}")

    def _delete(self, options: dict[str, Any]) -> None:
        found = Experiment.objects.filter(title=options["title"])
        if options["owner"] is not None:
            found = found.filter(owner__username=options["owner"])
        if found.count() > 1:
            owners = ", ".join(one.owner.username if one.owner else "none" for one in found.select_related("owner"))
            raise CommandError(f"There are {found.count()} experiments “{options['title']}” of {owners}. Name one --owner.")
        experiment = found.first()
        if experiment is None:
            raise CommandError(f"There is no experiment “{options['title']}”{' of this owner' if options['owner'] else ''}.")
        count = experiment.cells.count() + experiment.solving_cells.count()
        if not options["yes"]:
            raise CommandError(f"This deletes {count:,} cells with their scores and marks. Their runs stay. Add --yes.")
        experiment_delete(experiment)
        self.stdout.write(f"{options['title']} was deleted with {count:,} cells. Their runs stay.")

    def _table(self, options: dict[str, Any]) -> None:
        scorer, experiment = options["scorer"], self._named(options["title"])
        if options["corrected"]:
            self._corrected(experiment, scorer)
            return
        for line in table_lines(experiment, scorer, counts_none=options["none_as_0"]):
            self.stdout.write(line)

    def _curves(self, options: dict[str, Any]) -> None:
        for line in curve_lines(self._named(options["title"]), options["scorer"], options["unit"]):
            self.stdout.write(line)

    def _corrected(self, experiment: Experiment, scorer: str) -> None:
        """Print the corrected means; `scorer`: one by people (default: the first)."""
        manifest = manifest_stored(experiment)
        names = list(people_in(manifest))
        if not names or (scorer and scorer not in names):
            raise CommandError(f"It has no scorer {scorer} by people. Its scorers by people: {', '.join(names) or 'none'}.")
        self.stdout.write(f"{experiment.title}: means corrected by {scorer or names[0]}")
        for line in corrected_lines(experiment, manifest, scorer or names[0]):
            raw = f"{line.raw or '–'} ({line.raw_interval or 'no interval'})"
            corrected = f"{line.corrected} ({line.corrected_interval})" if line.corrected else f"– ({line.why})"
            given = f"people {line.people or '–'} of {line.marked} marked, difference {line.apart or '–'}"
            self.stdout.write(f"{line.name} · {line.scorer}: raw {raw}, corrected {corrected}, {given}")
