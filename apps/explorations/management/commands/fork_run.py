"""`manage.py fork_run RUN --lemma s0.7 --without`: fork a run from an event, a call or a lemma, as the form does."""

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import PermissionDenied, ValidationError
from django.core.management.base import BaseCommand, CommandError

from apps.accounts.models import User
from apps.explorations.driving import check_local, drive_in_thread, is_stack_up
from apps.explorations.forking.making import Wanted, fork_from
from apps.explorations.forking.offers import Offer, Offers, offers_of
from apps.explorations.forking.places import Place
from apps.explorations.starting.plans import usable_aliases
from apps.reasoning.domain.control import Change
from apps.reasoning.domain.errors import AliasError
from apps.runs.access import run_visible_to
from apps.runs.models import Run


class Command(BaseCommand):
    """Fork a run, or show what a fork would take over."""

    help = "Fork a run from an event, a call or a lemma. Without a change, all later calls are made again with other seeds."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("run", help="id of the run, from the address of its page")
        parser.add_argument("--user", required=True, help="name of the owner of the fork")
        place = parser.add_mutually_exclusive_group(required=True)
        place.add_argument("--event", type=int, default=0, help="number of an event")
        place.add_argument("--call", default="", help="key of a call, such as s0/r2/reason")
        place.add_argument("--lemma", default="", help="id of a lemma, such as s0.7")
        change = parser.add_mutually_exclusive_group()
        change.add_argument("--without", action="store_true", help="leave the lemma out")
        change.add_argument("--statement", default="", help="corrected statement of the lemma; needs --proof or --accept")
        change.add_argument("--hint", default="", help="text for the next prompt that reads hints")
        parser.add_argument("--proof", default="", help="proof of the corrected statement; empty lines separate steps")
        parser.add_argument("--accept", action="store_true", help="accept the corrected statement without votes")
        parser.add_argument("--dry-run", action="store_true", help="only print where it begins and what it takes over")

    def handle(self, **options: Any) -> None:
        user, run = _user_and_run(options)
        place = Place(options["event"], options["call"], options["lemma"])
        wanted = _wanted(options)
        offers = offers_of(run, place, user)
        self.stdout.write(_summary(offers, wanted.change))
        if options["dry_run"]:
            return
        here = not is_stack_up()
        try:
            if here:
                aliases = usable_aliases()
                check_local(aliases[role["alias"]] for role in run.spec["roles"].values())
            made = fork_from(user=user, run=run, place=place, offers=offers, wanted=wanted, start=not here)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        except (AliasError, PermissionDenied) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(str(made.public_id))
        if here:
            drive_in_thread(made).join()


def _user_and_run(options: dict[str, Any]) -> tuple[User, Run]:
    user = User.objects.filter(username=options["user"]).first()
    if user is None:
        raise CommandError(f"There is no account {options['user']}.")
    try:
        return user, run_visible_to(user).get(public_id=options["run"])
    except (Run.DoesNotExist, ValidationError) as error:
        raise CommandError(f"There is no run {options['run']} that {user.username} may see.") from error


def _wanted(options: dict[str, Any]) -> Wanted:
    changes: dict[Change, bool] = {
        "without": options["without"],
        "corrected": bool(options["statement"]),
        "hint": bool(options["hint"]),
    }
    change: Change = next((name for name, chosen in changes.items() if chosen), "unchanged")
    return Wanted(change, options["hint"], options["statement"], options["proof"], options["accept"])


def _summary(offers: Offers, change: Change) -> str:
    """Where the fork begins and what it takes over. Raises `CommandError` with the reason if it is impossible."""
    offer: Offer | None = offers.of(change)
    if offer is None:
        raise CommandError(next((one.refusal for one in offers.offers if one.change == change), offers.trouble))
    sums = offer.totals
    return (
        f"Beginning: {offer.begins}. Taken over: {sums['taken_calls']:,} calls, {sums['taken_tokens']:,} tokens. "
        f"Made again: at most {sums['again_calls']:,} of the recorded calls, {sums['again_tokens']:,} tokens."
    )
