"""Loading and filling prompt files.

A file `<method>/<role>.md` has a section `# System` and, except for the fragments in `forms/`, a section `# User`.
Placeholders are written `{{name}}`; filling is strict both ways and happens once, so a filled-in text cannot open a
placeholder. Foreign text (from models or people) goes through `fence` first.
"""

import functools
import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from apps.reasoning.domain.errors import PromptError
from apps.reasoning.domain.generation import Message
from apps.reasoning.domain.values import Value

ROOT = Path(__file__).parent
_PLACEHOLDER = re.compile(r"\{\{([a-z_]+)\}\}")
_SECTION = re.compile(r"^# (System|User)$", re.MULTILINE)


class Prompt(Value):
    """A prompt file. `sha` is the SHA-256 of its bytes; it is frozen into a run's specification."""

    name: str
    sha: str
    system: str
    user: str = ""

    @functools.cached_property
    def placeholders(self) -> frozenset[str]:
        return frozenset(_PLACEHOLDER.findall(self.system + self.user))


class Fit(Value):
    """What a prompt lacks so that it fits its model's context (fitting.py).

    `left_out` names passages, `shortened` says of others how many characters are left out. `kept` gives for every growing part
    the places of the passages that stayed.
    """

    left_out: tuple[str, ...] = ()
    shortened: dict[str, int] = {}
    kept: dict[str, tuple[int, ...]] = {}


class RenderedPrompt(Value):
    """Messages ready to send. `parts`, joined, are the messages' contents, joined: the system text first, then one part per
    placeholder of the user text with the text before it, so that calls which share a problem or library share parts.

    `fit` is None where nothing was left out of it.
    """

    messages: tuple[Message, ...]
    parts: tuple[str, ...]
    fit: Fit | None = None

    @property
    def text(self) -> str:
        """All of it as one text."""
        return "\n\n".join(message.content for message in self.messages)


def load(name: str) -> Prompt:
    """The prompt `name`, such as `intern_s1_mo/reasoner`. Raises `PromptError`."""
    return _load(name)


@functools.cache
def _load(name: str) -> Prompt:
    path = ROOT / f"{name}.md"
    try:
        raw = path.read_bytes()
    except OSError:
        raise PromptError(f"There is no prompt file {name}.md.") from None
    text = raw.decode()
    heads = list(_SECTION.finditer(text))
    if [head.group(1) for head in heads] not in (["System"], ["System", "User"]):
        raise PromptError(f"{name}.md must have the sections '# System' and '# User', once each and in this order.")
    bounds = [*(head.start() for head in heads), len(text)]
    bodies = [text[head.end() : end].strip() for head, end in zip(heads, bounds[1:], strict=True)]
    return Prompt(name=name, sha=hashlib.sha256(raw).hexdigest(), system=bodies[0], user=bodies[1] if len(bodies) > 1 else "")


@functools.cache
def names(method: str) -> tuple[str, ...]:
    """All prompts of a method, fragments included, in order."""
    files = sorted((ROOT / method).rglob("*.md"))
    return tuple(path.relative_to(ROOT).with_suffix("").as_posix() for path in files)


def hashes(method: str) -> dict[str, str]:
    """Name to SHA-256 of every prompt of a method, for a run's frozen specification."""
    return {name: load(name).sha for name in names(method)}


def fence(text: str, nonce: str) -> str:
    """`text` between delimiters that it cannot contain. Raises `PromptError` where it does contain the nonce."""
    if nonce in text:
        raise PromptError("A text contains the delimiter that was to fence it.")
    return f"<<<CONTENT {nonce}>>>\n{text.strip()}\n<<<END {nonce}>>>"


def render(prompt: Prompt, values: Mapping[str, str], *, closing: str = "", ending: str = "") -> RenderedPrompt:
    """Fill every placeholder; `closing` is put after the system text, `ending` after all.

    Raises `PromptError` for a missing value as for one the prompt does not ask for.
    """
    if missing := prompt.placeholders - values.keys():
        raise PromptError(f"{prompt.name}.md asks for {', '.join(sorted(missing))}.")
    if unknown := values.keys() - prompt.placeholders:
        raise PromptError(f"{prompt.name}.md has no place for {', '.join(sorted(unknown))}.")
    system = _PLACEHOLDER.sub(lambda match: values[match.group(1)], prompt.system)
    system = f"{system}\n\n{closing}" if closing else system
    pieces = [*_pieces(prompt.user, values), *([f"\n\n{ending}"] if ending else [])]
    messages = [Message(role="system", content=system)]
    if pieces:
        messages.append(Message(role="user", content="".join(pieces)))
    return RenderedPrompt(messages=tuple(messages), parts=(system, *pieces))


def _pieces(template: str, values: Mapping[str, str]) -> list[str]:
    pieces, start = [], 0
    for match in _PLACEHOLDER.finditer(template):
        pieces.append(template[start : match.start()] + values[match.group(1)])
        start = match.end()
    if start < len(template):
        pieces.append(template[start:])
    return pieces
