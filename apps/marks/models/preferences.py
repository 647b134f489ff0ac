"""A user's preferences for the workspace: their keys."""

from django.db import models

from apps.accounts.models import User


class KeyMap(models.Model):
    """A user's keys. `keys`: command name → key, only if it differs from `keymaps.COMMANDS`.

    `single_keys`: whether keys without Ctrl or Alt work (WCAG 2.1.4); buttons, palette and claim line always do.
    """

    person = models.OneToOneField(User, on_delete=models.CASCADE, related_name="key_map")
    single_keys = models.BooleanField(default=True)
    keys = models.JSONField(default=dict)
