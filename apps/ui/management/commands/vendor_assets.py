"""`manage.py vendor_assets`: copy the front-end packages from node_modules/ to static/vendor/."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from apps.ui.vendor import VendorError, vendor_clear, vendor_copy


class Command(BaseCommand):
    help = "Copy the browser files of the front-end packages from node_modules/ to static/vendor/."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--clear", action="store_true", help="remove static/vendor/ first")

    def handle(self, *args: Any, **options: Any) -> None:
        target = settings.BASE_DIR / "static" / "vendor"
        try:
            if options["clear"]:
                vendor_clear(target)
            written, kept = vendor_copy(settings.BASE_DIR / "node_modules", target)
        except VendorError as missing:
            raise CommandError(str(missing)) from missing
        except OSError as failure:
            raise CommandError(
                f"Could not write static/vendor/: {failure}. Check the folder's permissions and the disk."
            ) from failure
        self.stdout.write(f"static/vendor: {written} files written, {kept} unchanged.")
