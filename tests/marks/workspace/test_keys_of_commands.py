"""A person's keys: the choice of a person wins over the keys of commands that were added later."""

import pytest

from apps.accounts.models import User
from apps.marks.models import KeyMap
from apps.marks.workspace.keymaps import KeysRefused, keys_of, keys_save

pytestmark = pytest.mark.django_db


def test_a_key_chosen_earlier_is_not_taken_by_a_newer_command(bob: User) -> None:
    KeyMap.objects.create(person=bob, keys={"undo": "z"}, single_keys=True)
    keys = keys_of(bob).keys
    assert (keys["undo"], keys["page_larger"]) == ("z", "")
    saved = keys_save(user=bob, keys=keys, single_keys=True)
    assert (saved.keys["undo"], saved.keys["page_larger"]) == ("z", "")


def test_two_commands_cannot_share_a_key(bob: User) -> None:
    with pytest.raises(KeysRefused, match="z is used twice"):
        keys_save(user=bob, keys={"undo": "z", "page_larger": "z"}, single_keys=True)
