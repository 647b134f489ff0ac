"""`manage.py pair_judges`: order effects and self-preference of judges over all runs with a knock-out."""

from collections import defaultdict
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from apps.reasoning.domain.event_base import Kind
from apps.reasoning.scaffolds.candidates.judges import Comparison, Share, order_report, own_reports
from apps.runs.models import Run, Step
from apps.runs.selectors import run_story

NOTHING = "nothing to count"


class Command(BaseCommand):
    """Report each judge, a model alias. Authored runs are left out."""

    help = "Order effects and self-preference of the models that judged pairs of solutions."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--run", action="append", default=[], help="id of a run to include; may be given several times")

    def handle(self, *args: Any, **options: Any) -> None:
        runs = Run.objects.filter(events__kind=Kind.PAIR_JUDGED, is_authored=False).distinct()
        if options["run"]:
            runs = runs.filter(public_id__in=options["run"])
        rows = [one for run in runs for one in comparisons_of(run)]
        if not rows:
            self.stdout.write("No judged pairs.")
            return
        by_judge: dict[str, list[Comparison]] = defaultdict(list)
        for one in rows:
            by_judge[one.judge].append(one)
        own = {report.judge: report for report in own_reports(rows)}
        for judge, mine in sorted(by_judge.items()):
            report = order_report(mine)
            led = "; it follows the order" if report.is_led else ""
            self.stdout.write(f"{judge}: {report.comparisons} comparisons, {report.unread} not read")
            self.stdout.write(f"  same winner in both orders: {_share_words(report.agreed)}")
            self.stdout.write(f"  the solution shown first won: {_share_words(report.first_won)}{led}")
            found = own.get(judge)
            self.stdout.write(f"  its own model's text won: {_share_words(found.own_won if found else None)}")
            if found and found.others:
                self.stdout.write(f"  the same pairs judged by other models: {_share_words(found.others)}")


def comparisons_of(run: Run) -> list[Comparison]:
    """The judged pairs of a run, with the models of judge and authors."""
    models = dict(Step.objects.filter(run=run).values_list("key", "alias"))
    candidates = run_story(run, {Kind.CANDIDATE_DRAFTED, Kind.PAIR_JUDGED}).candidates
    authors = {name: models.get(one.call, "") for name, one in candidates.by_id.items()}
    found = []
    for one in candidates.comparisons:
        pair = f"{run.pk}/{one.round}/{'-'.join(sorted((one.first, one.second)))}"
        written = (authors.get(one.first, ""), authors.get(one.second, ""))
        found.append(Comparison(pair, models.get(one.call, ""), one.first, one.second, one.better, written))
    return found


def _share_words(share: Share | None) -> str:
    return share.words if share else NOTHING
