"""The commands of the workspace with their keys, and each user's changes to them.

Digits always enter points. Keys in `also` work whatever the user chooses. static/js/marking/keys.js uses the same key names:
`j`, `?`, `Alt+j`, `Ctrl+Enter`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from apps.accounts.models import User
from apps.marks.models import KeyMap
from apps.reasoning.marking.sheets.sheet import Fallacy

_KEY = re.compile(r"(?:Ctrl\+)?(?:Alt\+)?(?:[^\s\d]|Enter|Space|Backspace|Delete|Home|End|Arrow(?:Up|Down|Left|Right)|F[2-9])")
#: Keys that browsers or the page itself use.
RESERVED = frozenset(
    {"Tab", "Escape", "Ctrl+c", "Ctrl+v", "Ctrl+x", "Ctrl+a", "Ctrl+f", "Ctrl+p", "Ctrl+t", "Ctrl+w", "Ctrl+n"}
)
#: The letter of each kind of error in the menu opened with `e`.
FALLACY_KEYS = {
    Fallacy.GAP: "g",
    Fallacy.CALCULATION: "a",
    Fallacy.CONCLUSION: "w",
    Fallacy.CASE: "m",
    Fallacy.UNVERIFIED: "v",
    Fallacy.INVENTED: "f",
    Fallacy.EXAMPLE: "e",
    Fallacy.CIRCULAR: "c",
    Fallacy.TRIAL: "t",
    Fallacy.UNCLEAR: "u",
}


class KeysRefused(ValueError):
    """Keys that cannot be saved; the message is one sentence."""


@dataclass(frozen=True)
class Command:
    """A command: its name, key and description, and fixed keys with the same effect."""

    name: str
    key: str
    words: str
    also: tuple[str, ...] = ()


COMMANDS = (
    Command("seal", "Enter", "Seal the mark and open the next script", ("Ctrl+Enter",)),
    Command("half", ".", "Half a point more, or less"),
    Command("band_solution", "-", "Essentially a solution (7−)"),
    Command("band_beginning", "+", "No solution, perhaps a beginning (0+)"),
    Command("items", "i", "Tick items of the scheme by their letters"),
    Command("claim", "c", "Type the claim line"),
    Command("step_next", "j", "Next step"),
    Command("step_previous", "k", "Previous step"),
    Command("noted_next", "Alt+j", "Next step with a verdict or comment"),
    Command("noted_previous", "Alt+k", "Previous step with a verdict or comment"),
    Command("error", "e", "Say what is wrong with the step"),
    Command("role_root", "r", "The last error is a root error"),
    Command("role_consequence", "q", "The last error follows from the last root error"),
    Command("role_harmless", "h", "The last error is harmless"),
    Command("grant", "g", "Grant this step: would the rest hold?"),
    Command("comment", "m", "Comment at the step"),
    Command("phrases", "/", "Search comments to use again"),
    Command("next", "n", "Next script without sealing this one"),
    Command("back", "b", "Back to the script sealed last"),
    Command("ask", "a", "Ask the captain"),
    Command("undo", "u", "Undo; just after sealing, open the mark again", ("Ctrl+z",)),
    Command("redo", "", "Redo", ("Ctrl+y", "Ctrl+Z")),
    Command("reveal", "v", "Show the next stage of the comparison (after sealing)"),
    Command("accept", "y", "Accept the finding in focus (after sealing)"),
    Command("reject", "x", "Reject the finding in focus (after sealing)"),
    Command("page_mark", "l", "Mark a place on the scanned page; arrow keys move it, with Shift they change its size"),
    Command("page_larger", "z", "Scanned pages larger"),
    Command("page_smaller", "Z", "Scanned pages smaller"),
    Command("page_whole", "w", "The whole scanned page, or its whole width"),
    Command("page_turn", "o", "Turn the scanned page"),
    Command("page_pair", "d", "Two scanned pages next to each other"),
    Command("pane_scheme", "s", "The marking scheme"),
    Command("pane_source", "t", "The script letter by letter, or set in type"),
    Command("pane_problem", "p", "The problem"),
    Command("help", "?", "All keys"),
    Command("palette", "", "Find a command by its name", ("Ctrl+k",)),
)
_BY_NAME = {command.name: command for command in COMMANDS}


@dataclass(frozen=True)
class Keys:
    """A user's keys by command name; "" for a command without a key."""

    single_keys: bool
    keys: dict[str, str]

    def as_json(self) -> dict[str, Any]:
        """For the browser: every command in order, with its key, description and fixed keys."""
        commands = [
            {"name": one.name, "key": self.keys[one.name], "words": one.words, "also": list(one.also)} for one in COMMANDS
        ]
        return {
            "single_keys": self.single_keys,
            "commands": commands,
            "fallacies": {fallacy.value: key for fallacy, key in FALLACY_KEYS.items()},
        }


def keys_of(user: User) -> Keys:
    """The keys of a user; unchanged ones are those of the table."""
    kept = KeyMap.objects.filter(person=user).first()
    changed = kept.keys if kept else {}
    # A key that the user chose for another command is not also the key of a command that was added later.
    taken = set(changed.values())
    keys = {one.name: str(changed.get(one.name, "" if one.key in taken else one.key)) for one in COMMANDS}
    return Keys(single_keys=kept.single_keys if kept else True, keys=keys)


def keys_save(*, user: User, keys: Mapping[str, str], single_keys: bool) -> Keys:
    """Save the keys that differ from the table; missing names keep its keys. Raises `KeysRefused`."""
    wanted = {one.name: " ".join(str(keys.get(one.name, one.key)).split()) for one in COMMANDS}
    if unknown := [name for name in keys if name not in _BY_NAME]:
        raise KeysRefused(f"There is no command “{unknown[0][:30]}”.")
    for fault in _faults(wanted):
        raise KeysRefused(fault)
    changed = {name: key for name, key in wanted.items() if key != _BY_NAME[name].key}
    KeyMap.objects.update_or_create(person=user, defaults={"keys": changed, "single_keys": single_keys})
    return keys_of(user)


def _faults(wanted: Mapping[str, str]) -> Iterator[str]:
    taken = {key: one.words for one in COMMANDS for key in one.also}
    for name, key in wanted.items():
        words = _BY_NAME[name].words
        if not key:
            continue
        if key.isdigit():
            yield f"“{words}”: digits enter points and cannot be used as keys."
        elif key in RESERVED or not _KEY.fullmatch(key):
            yield f"“{words}”: {key[:20]} cannot be used as a key. Write keys as j, Alt+j or Enter."
        elif key in taken:
            yield f"{key} is used twice: for “{taken[key]}” and for “{words}”."
        taken[key] = words
