"""Statements of imported claims as Markdown, with the names that claims have on pages."""

import re
from collections.abc import Mapping

from apps.reasoning.texts.latex import macros_shown, outside_formulas

_REFERENCE = re.compile(r"(?<![\w:]):(\d[\w.-]*\w)")
_SIGNS = {r"\checkmark": "✓"}


def claim_text(text: str, names: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """The text with macros for words as Markdown and `:id` as the claim's name; the cited ids with these names.

    `names` are the names of all claims of the file by id. Other references and everything inside formulas are unchanged.
    """
    cited: dict[str, str] = {}

    def named(found: re.Match[str]) -> str:
        if found[1] not in names:
            return found[0]
        cited[found[1]] = names[found[1]]
        return names[found[1]]

    def shown(words: str) -> str:
        for sign, character in _SIGNS.items():
            words = words.replace(sign, character)
        return _REFERENCE.sub(named, words)

    return outside_formulas(macros_shown(text.strip()), shown), cited
