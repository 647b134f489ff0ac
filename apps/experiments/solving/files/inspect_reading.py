"""Read an Inspect log (`.eval`, schema version 2) of others. Sizes are measured, not taken from the archive.

Its members are deflated, or compressed by Zstandard, as inspect-ai writes since 2026. Python 3.13 has no Zstandard.
"""

import io
import json
import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO, Any, BinaryIO, TypeVar

import zstandard
from pydantic import BaseModel, Field, ValidationError

from apps.experiments.refusals import CELLS_AT_MOST

SCHEMA = 2
MEMBER_BYTES = 64 * 1024 * 1024
TOTAL_BYTES = 1024 * 1024 * 1024
#: Characters of a question, and of the end of an answer, that are read.
TEXT_AT_MOST = 200_000
ZSTANDARD = 93
_LOCAL_HEAD = 30
_MOST = 10**12
_WINDOW = 2**27
_ATTACHMENT = "attachment://"
_DAMAGED = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, zstandard.ZstdError, EOFError, OSError, struct.error)

CUT_OFF = "The file is cut off, or it is no Inspect log (.eval). Copy it again from its log folder."
IS_JSON = "This is a log in JSON. Convert it first: inspect log convert FILE.json --to eval --output-dir FOLDER."
UNFINISHED = "The log is unfinished: it has no {name}. Finish it with inspect eval-retry, then import the new log."
NO_SAMPLES = "The log has no samples. Run the evaluation without --no-log-samples, then import the new log."
TOO_LARGE = "The log is too large when unpacked: {name} exceeds the limit. Import a log with fewer samples."
TOO_MANY = f"The log has too many samples; an experiment has at most {CELLS_AT_MOST:,} cells. Import a log with fewer samples."
NEWER = (
    "The log has schema version {version}, and this version of Lemmascope reads version 2. Write the log with inspect-ai "
    "0.3.285, or update Lemmascope."
)
COMPRESSED = "The log is encrypted, or compressed by an unknown method. Convert it: inspect log convert FILE --to eval."
WRONG = "The log is damaged: {name} is not as expected ({where}). Copy it again from its log folder."


Kind = TypeVar("Kind", bound=BaseModel)


class LogWrong(ValueError):
    """The log cannot be imported; the message says why and what to do."""


class _Config(BaseModel):
    epochs: int | None = None
    token_limit: int | None = None


class _Eval(BaseModel):
    task: str
    model: str
    solver: str | None = None
    eval_id: str = ""
    created: str = ""
    config: _Config = _Config()


class _Header(BaseModel):
    version: int
    eval: _Eval


class Score(BaseModel):
    """A score of a sample: a letter (C, P, I, N), a number, or a value of several parts."""

    value: Any
    explanation: str | None = None


class _Usage(BaseModel):
    input_tokens: int = Field(default=0, ge=0, le=_MOST)
    output_tokens: int = Field(default=0, ge=0, le=_MOST)
    input_tokens_cache_read: int | None = Field(default=0, ge=0, le=_MOST)
    input_tokens_cache_write: int | None = Field(default=0, ge=0, le=_MOST)


class Summary(BaseModel):
    """A sample as `summaries.json` has it. `epoch` begins at 1; times are in seconds."""

    id: int | str
    epoch: int = Field(ge=1)
    scores: dict[str, Score] | None = None
    model_usage: dict[str, _Usage] = {}
    total_time: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    working_time: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    turn_count: int | None = Field(default=None, ge=0, le=2**31 - 1)
    error: str | None = None

    @property
    def prompt_tokens(self) -> int:
        """Tokens read, also those from a cache."""
        read = ((u.input_tokens, u.input_tokens_cache_read, u.input_tokens_cache_write) for u in self.model_usage.values())
        return sum(tokens or 0 for used in read for tokens in used)

    @property
    def completion_tokens(self) -> int:
        return sum(used.output_tokens for used in self.model_usage.values())

    @property
    def seconds(self) -> float:
        return self.working_time or self.total_time or 0.0


class LogReader:
    """An open log: `header`, `summaries`, and the texts of samples. Raises `LogWrong`; use `with`."""

    def __init__(self, file: BinaryIO) -> None:
        self._left = TOTAL_BYTES
        head = file.read(1)
        file.seek(0)
        if head == b"{":
            raise LogWrong(IS_JSON)
        try:
            self._archive = zipfile.ZipFile(file)
        except _DAMAGED as error:
            raise LogWrong(CUT_OFF) from error
        self._members = {member.filename: member for member in self._archive.infolist()}
        if len(self._members) > 3 * CELLS_AT_MOST:
            raise LogWrong(TOO_MANY)
        version = self._json("header.json").get("version") if "header.json" in self._members else None
        if isinstance(version, int) and version > SCHEMA:
            raise LogWrong(NEWER.format(version=version))
        self.header = self._model("header.json", _Header)
        rows = self._parsed("summaries.json")
        if not isinstance(rows, list):
            raise LogWrong(WRONG.format(name="summaries.json", where="a list"))
        if not rows:
            raise LogWrong(NO_SAMPLES)
        if len(rows) > CELLS_AT_MOST:
            raise LogWrong(TOO_MANY)
        self.summaries = [_checked("summaries.json", Summary, row) for row in rows]

    def __enter__(self) -> "LogReader":
        return self

    def __exit__(self, *_: object) -> None:
        self._archive.close()

    def texts(self, summary: Summary) -> tuple[str, str]:
        """What a sample was asked, and what it answered; "" for what its file lacks."""
        name = f"samples/{summary.id}_epoch_{summary.epoch}.json"
        if name not in self._members:
            raise LogWrong(UNFINISHED.format(name=name))
        sample = self._json(name)
        kept = sample.get("attachments")
        attachments = kept if isinstance(kept, dict) else {}
        asked, output = sample.get("input"), sample.get("output")
        answer = _answer_of(output if isinstance(output, dict) else {}, attachments)
        return _text_of(asked, attachments)[:TEXT_AT_MOST], answer[-TEXT_AT_MOST:]

    def _json(self, name: str) -> dict[str, Any]:
        value = self._parsed(name)
        if not isinstance(value, dict):
            raise LogWrong(WRONG.format(name=name, where="an object"))
        return value

    def _model(self, name: str, kind: type[_Header]) -> _Header:
        return _checked(name, kind, self._json(name))

    def _parsed(self, name: str) -> Any:
        if name not in self._members:
            raise LogWrong(UNFINISHED.format(name=name))
        try:
            return json.loads(self._content(self._members[name]))
        except _DAMAGED as error:
            raise LogWrong(CUT_OFF) from error
        except (NotImplementedError, RuntimeError) as error:
            if isinstance(error, RecursionError):
                raise LogWrong(WRONG.format(name=name, where="too deep")) from error
            raise LogWrong(COMPRESSED) from error
        except ValueError as error:
            if isinstance(error, LogWrong):
                raise
            raise LogWrong(WRONG.format(name=name, where="JSON")) from error

    def _content(self, member: zipfile.ZipInfo) -> bytes:
        """The bytes of a member. Raises `LogWrong` as soon as a limit is exceeded."""
        most = min(MEMBER_BYTES, self._left)
        with self._opened(member) as stream:
            found = stream.read(most + 1)
        if len(found) > most:
            raise LogWrong(TOO_LARGE.format(name=member.filename))
        self._left -= len(found)
        return found

    def _opened(self, member: zipfile.ZipInfo) -> IO[bytes]:
        if member.compress_type != ZSTANDARD:
            return self._archive.open(member)
        if member.flag_bits & 1:
            raise NotImplementedError("encrypted")
        file = self._archive.fp
        if file is None or member.compress_size > MEMBER_BYTES:
            raise LogWrong(TOO_LARGE.format(name=member.filename))
        file.seek(member.header_offset)
        head = file.read(_LOCAL_HEAD)
        file.seek(sum(struct.unpack("<HH", head[26:30])), io.SEEK_CUR)
        data = file.read(member.compress_size)
        if len(data) < member.compress_size:
            raise EOFError
        return zstandard.ZstdDecompressor(max_window_size=_WINDOW).stream_reader(data, read_across_frames=True)


def _checked(name: str, kind: type[Kind], value: object) -> Kind:
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise LogWrong(WRONG.format(name=name, where=where)) from error


def _answer_of(output: dict[str, Any], attachments: dict[str, Any]) -> str:
    choices = output.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    said = _text_of([message], attachments, roles=("assistant",)) if message else ""
    return said or _text_of(output.get("completion"), attachments)


def _text_of(value: object, attachments: dict[str, Any], roles: tuple[str, ...] = ("user",)) -> str:
    """The text of an input: itself, or the texts of its messages of these roles."""
    if isinstance(value, str):
        found = attachments.get(value.removeprefix(_ATTACHMENT), "") if value.startswith(_ATTACHMENT) else value
        return found if isinstance(found, str) else ""
    if not isinstance(value, list):
        return ""
    messages = [one for one in value if isinstance(one, dict) and one.get("role") in roles]
    return "\n\n".join(text for one in messages for text in _parts(one.get("content"), attachments))


def _parts(content: object, attachments: dict[str, Any]) -> Iterator[str]:
    """The texts of a message's content."""
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
    for part in parts:
        if isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str):
            yield _text_of(part["text"], attachments)
