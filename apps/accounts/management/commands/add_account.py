"""`manage.py add_account NAME --role ROLE`: create an account and print its password once."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.accounts.models import Role
from apps.accounts.services import AccountRefused, account_create


class Command(BaseCommand):
    help = "Create an account and print its password. The owner can change the password under Profile."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="user name")
        parser.add_argument("--role", choices=Role.values, default=Role.STUDENT.value, help="role (default: student)")
        parser.add_argument("--staff", action="store_true", help="allow access to operations pages")

    def handle(self, **options: Any) -> None:
        try:
            user, password = account_create(username=options["name"], role=Role(options["role"]), is_staff=options["staff"])
        except AccountRefused as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{user.username}  {password}  {user.role}{' (staff)' if user.is_staff else ''}")
