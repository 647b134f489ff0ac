#!/usr/bin/env python
"""The command line of the project: `manage.py up`, `manage.py explore`, and Django's own commands."""

import os
import sys


def main() -> None:
    """Run one management command."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.config.settings")
    from apps.config.private import umask_set

    umask_set(sys.argv[1] if len(sys.argv) > 1 else "")
    try:
        from django.core.management import execute_from_command_line
        from environs import EnvError
    except ImportError:
        sys.exit("Django is not installed in this Python. Run `make setup`, then `.venv/bin/python manage.py ...`.")
    try:
        execute_from_command_line(sys.argv)
    except EnvError as error:
        sys.exit(f"{error} docs/settings.md describes every setting.")


if __name__ == "__main__":
    main()
