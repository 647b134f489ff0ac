"""Names of groups: answers to the same prompt, or to the same question with other delimiters."""

import hashlib
import re

from apps.datasets.recorded.recorded import Recorded
from apps.runs.journal.texts import texts_get

_DELIMITER = re.compile(r"<<<(?:CONTENT|END) [0-9a-f]{16}>>>")


def problem_id(recorded: Recorded) -> str:
    """Id of the problem with its version number: another statement is another problem."""
    version = recorded.run.problem_version
    return f"{version.problem.public_id}@{version.number}"


def prompt_of(recorded: Recorded, key: str) -> str:
    """Short hash of a call's prompt; empty where the call was not recorded."""
    call = recorded.calls.get(key)
    return hashlib.sha256("|".join(call.prompt_shas).encode()).hexdigest()[:16] if call else ""


def group_of(recorded: Recorded, key: str) -> str:
    """Group of the answers to a call's question."""
    return f"{problem_id(recorded)}/{_question_of(recorded, key)}"


def _question_of(recorded: Recorded, key: str) -> str:
    """Short hash of a call's prompt without its delimiters, which are random in every run."""
    call = recorded.calls.get(key)
    texts = texts_get(call.prompt_shas) if call else {}
    asked = "|".join(_DELIMITER.sub("", texts.get(sha, sha)) for sha in (call.prompt_shas if call else ()))
    return hashlib.sha256(asked.encode()).hexdigest()[:16]
