"""The verbs `export` and `import` of `manage.py experiment`."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, OutputWrapper

from apps.experiments.models import Experiment, ExperimentKind
from apps.experiments.solving.files.downloads import files_of
from apps.experiments.solving.files.importing import log_import
from apps.experiments.solving.files.inspect_reading import LogWrong
from apps.experiments.solving.services import manifest_stored

#: The files of each format; those of "eval" are all logs.
FORMATS = {
    "csv": ("cells.csv", "scores.csv"),
    "parquet": ("cells.parquet", "scores.parquet"),
    "latex": ("methods.tex",),
    "markdown": ("methods.md",),
    "manifest": ("manifest.toml",),
    "eval": (),
}


def arguments_add(verbs: Any) -> None:
    """Add the verbs to a parser."""
    export: ArgumentParser = verbs.add_parser("export", help="write files of an experiment to a folder")
    export.add_argument("title", help="title of the experiment")
    export.add_argument("--format", required=True, choices=FORMATS)
    export.add_argument("--scorer", default="", help="scorer of a table of methods (default: the first)")
    export.add_argument("--none-as-0", action="store_true", help="a table: count cells that gave no answer as 0")
    export.add_argument("--calls", action="store_true", help="eval: with the texts of all model calls")
    export.add_argument("out", type=Path, help="a folder; made if it is missing")
    imported: ArgumentParser = verbs.add_parser("import", help="add the samples of an Inspect log as an external method")
    imported.add_argument("title", help="title of the experiment")
    imported.add_argument("file", type=Path, help="the log (.eval)")
    imported.add_argument("--method", required=True, help="name of the method")
    imported.add_argument("--full", type=float, default=1.0, help="the value of a full score (default: 1)")


def experiment_import(options: dict[str, Any], stdout: OutputWrapper) -> None:
    """Import a log and print what was matched."""
    experiment = experiment_titled(options["title"])
    try:
        with options["file"].open("rb") as file:
            report = log_import(experiment=experiment, file=file, method=options["method"], full=options["full"])
    except OSError as error:
        raise CommandError(f"{options['file']} cannot be read: {error.strerror}.") from error
    except LogWrong as error:
        raise CommandError(str(error)) from error
    stdout.write(report.text)


def experiment_export(options: dict[str, Any], stdout: OutputWrapper) -> None:
    """Write the files of a format, also of held-back problems: who runs commands sees the database."""
    experiment = experiment_titled(options["title"])
    names = [one.name for one in manifest_stored(experiment).scorers]
    scorer = options["scorer"] or next(iter(names), "")
    if options["scorer"] and scorer not in names:
        raise CommandError(f"It has no scorer {scorer}. Its scorers: {', '.join(names) or 'none'}.")
    files = files_of(experiment, set(), scorer, calls=options["calls"], counts_none=options["none_as_0"])
    asked = FORMATS[options["format"]]
    try:
        options["out"].mkdir(parents=True, exist_ok=True)
        for file in files:
            if file.name in asked or (not asked and file.name.endswith(".eval")):
                with (options["out"] / file.name).open("wb") as out:
                    file.write(out)
                stdout.write(str(options["out"] / file.name))
    except OSError as error:
        raise CommandError(f"{options['out']} cannot be written: {error.strerror}. Name a folder.") from error


def experiment_titled(title: str) -> Experiment:
    """The newest experiment on solving of this title. Raises `CommandError`."""
    found = Experiment.objects.filter(title=title, kind=ExperimentKind.SOLVING).order_by("-pk")
    experiment = found.select_related("problem_set__problem_set", "owner").first()
    if experiment is None:
        raise CommandError(f"There is no experiment “{title}”.")
    return experiment
