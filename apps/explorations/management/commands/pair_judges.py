"""`manage.py pair_judges`: over all runs with a knock-out, how far each judge follows the order, and how it treats its own."""

from collections import defaultdict
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from apps.reasoning.scaffolds.candidates.judges import Comparison, Share, order_report, own_reports
from apps.runs.models import Run, RunEvent, Step

NOTHING = "nothing to count"


class Command(BaseCommand):
    """A judge is a model alias. Authored runs are left out."""

    help = "Order effects and self-preference of the models that judged pairs of solutions."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--run", action="append", default=[], help="only this run (its id); may be given again")

    def handle(self, *args: Any, **options: Any) -> None:
        runs = Run.objects.filter(events__kind="pair.judged", is_authored=False).distinct()
        if options["run"]:
            runs = runs.filter(public_id__in=options["run"])
        rows = [one for run in runs for one in comparisons_of(run)]
        if not rows:
            self.stdout.write("No pair was judged.")
            return
        by_judge: dict[str, list[Comparison]] = defaultdict(list)
        for one in rows:
            by_judge[one.judge].append(one)
        own = {report.judge: report for report in own_reports(rows)}
        for judge, mine in sorted(by_judge.items()):
            report = order_report(mine)
            led = "; it follows the order" if report.is_led else ""
            self.stdout.write(f"{judge}: {report.comparisons} comparisons, {report.unread} not read")
            self.stdout.write(f"  both orders named the same: {_told(report.agreed)}")
            self.stdout.write(f"  the one shown first was better: {_told(report.first_won)}{led}")
            found = own.get(judge)
            self.stdout.write(f"  its own model's text was better: {_told(found.own_won if found else None)}")
            if found and found.others:
                self.stdout.write(f"  the same pairs as other models judged them: {_told(found.others)}")


def comparisons_of(run: Run) -> list[Comparison]:
    """The judged pairs of a run, with the models that judged and wrote."""
    models = dict(Step.objects.filter(run=run).values_list("key", "alias"))
    authors: dict[str, str] = {}
    found = []
    for event in RunEvent.objects.filter(run=run, kind__in=("candidate.drafted", "pair.judged")).order_by("seq"):
        body = event.body
        if event.kind == "candidate.drafted":
            authors[body["candidate"]] = models.get(body["call"], "")
        else:
            pair = f"{run.pk}/{body['round']}/{'-'.join(sorted((body['first'], body['second'])))}"
            written = (authors.get(body["first"], ""), authors.get(body["second"], ""))
            judge = models.get(body["call"], "")
            found.append(Comparison(pair, judge, body["first"], body["second"], body.get("better", ""), written))
    return found


def _told(share: Share | None) -> str:
    return share.words if share else NOTHING
