"""Aliases: the names under which models are used, read from models.toml (docs/models.md explains every key).

One table of the file is one alias; tools have aliases too, which are in no file (`TOOLS`). Wrong files raise
`AliasError` with the file, the line and the table to change.
"""

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from apps.reasoning.domain.errors import AliasError
from apps.reasoning.domain.generation import Closing, PromptSet, ToolProtocol
from apps.reasoning.domain.tools import SANDBOX
from apps.reasoning.domain.values import Value
from apps.reasoning.inference.abilities import CAPTURING
from apps.reasoning.inference.alias_mistakes import explained, line_of
from apps.reasoning.inference.followed import mistake_in_weights
from apps.reasoning.inference.options import (
    OPTIONS_OF,
    BackendName,
    HttpOptions,
    OpenVinoOptions,
    Options,
    SandboxOptions,
    ScriptedOptions,
    VllmOptions,
)
from apps.reasoning.inference.trained import trained_tables, with_trained

__all__ = [
    "Adapter",
    "Alias",
    "HttpOptions",
    "OpenVinoOptions",
    "ScriptedOptions",
    "VllmOptions",
    "load_aliases",
    "load_served",
    "parse_aliases",
]

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,59}\Z")
#: The alias that is in no file: a program gave its address (apps/reasoning/library).
GIVEN = "given"
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*\Z")


class Adapter(Value):
    """A LoRA adapter that an engine serves in addition to its own weights, as the alias `name`. `path` is a folder."""

    name: str
    path: str
    revision: str = ""


class Alias(Value):
    """One model as runs name it. `revision` is recorded with every call; `api_key_env` names a variable, never a key.

    `context_tokens` is the length of prompt and completion together; `concurrency` the most calls at a time, and
    `tokens_in_flight` the most tokens that those may need together, estimated from above (0: no limit). `prompts`: the set of
    forms that scaffolds ask it for. `vision`: its model looks at pictures. `structured`: graders ask it for JSON with a schema.
    `closing`: how closings of its answers are requested (None: as its engine supports, without a grammar). `candidate`: trained
    here and not offered yet. `knowledge_until`: year or month in which its training texts end (`2025-06`), empty if unknown.
    An alias with `adapter_of` is the LoRA adapter in the folder `adapter`, served by the engine of that alias, which lists it
    in `adapters`; all fields except title, revision, enabled and candidate are those of the other. `weights`: the folder of a
    training job, whose newest whole weights replace those of `model`.
    """

    name: str
    backend: BackendName
    title: str
    model: str = ""
    revision: str = ""
    context_tokens: int = Field(default=4096, ge=16)
    concurrency: int = Field(default=16, ge=1, le=4096)
    tokens_in_flight: int = Field(default=0, ge=0)
    base_url: str = ""
    api_key_env: str = ""
    reasoning_tags: tuple[str, str] | None = None
    tools: ToolProtocol = "text"
    prompts: PromptSet = "full"
    vision: bool = False
    structured: bool = False
    closing: Closing | None = None
    adapter_of: str = ""
    adapter: str = ""
    adapters: tuple[Adapter, ...] = ()
    weights: str = ""
    enabled: bool = True
    candidate: bool = False
    knowledge_until: str = Field(default="", pattern=r"^(\d{4}(-(0[1-9]|1[0-2]))?)?$")
    options: Options

    @property
    def queue(self) -> str:
        """The Celery queue whose workers serve this alias."""
        return f"inference.{self.engine}"

    @property
    def engine(self) -> str:
        """The alias whose engine generates: its own, or the one it is an adapter of."""
        return self.adapter_of or self.name

    @property
    def is_tool(self) -> bool:
        """True where something runs what a model wrote, and no role can be given to it."""
        return self.backend == "sandbox"

    @property
    def captures(self) -> bool:
        """True where its engine can keep the tokens of a call as drawn, to be learned from."""
        return self.backend in CAPTURING

    @property
    def keeps_to_schemas(self) -> bool:
        """True where its engine holds an answer to a JSON Schema; an HTTP server where its options do not say otherwise."""
        return self.backend in ("openvino", "vllm") or getattr(self.options, "structured_output", "") == "json_schema"

    @property
    def closes_by(self) -> Closing:
        """How the closing of an answer is had; by a grammar only where the alias says so."""
        return self.closing or ("schema" if self.keeps_to_schemas else "text")

    @property
    def is_authored(self) -> bool:
        """True where people wrote the texts and no model is asked."""
        return self.backend == "scripted"

    @model_validator(mode="before")
    @classmethod
    def _options_of_the_backend(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("backend") in OPTIONS_OF and isinstance(data.get("options", {}), dict):
            return data | {"options": OPTIONS_OF[data["backend"]].model_validate(data.get("options", {}))}
        return data

    @field_validator("name")
    @classmethod
    def _name_fits_a_queue(cls, name: str) -> str:
        if not NAME.match(name):
            raise ValueError("a name has small letters, digits, '-' and '_', and starts with a letter or digit")
        return name

    @field_validator("api_key_env")
    @classmethod
    def _a_variable_not_a_key(cls, variable: str) -> str:
        if variable and not _VARIABLE.match(variable):
            raise ValueError("name an environment variable here (capitals, digits and '_'), never the key itself")
        return variable

    @field_validator("base_url")
    @classmethod
    def _plain_address(cls, url: str) -> str:
        if url and not re.match(r"https?://[^/@\s]+(/[^@\s]*)?\Z", url):
            raise ValueError("write an address like http://localhost:8000/v1, without user name or key in it")
        return url.rstrip("/")

    @model_validator(mode="after")
    def _has_what_its_backend_needs(self) -> Self:
        for key in self.options.NEEDS:
            if not getattr(self, key):
                raise ValueError(f"the backend {self.backend} needs the key {key}")
        if isinstance(self.options, ScriptedOptions) and not self.options.script:
            raise ValueError("the backend scripted needs options.script")
        if self.vision and self.backend not in ("openai_http", "scripted"):
            raise ValueError("pictures go to model servers only: serve this model and use the backend openai_http")
        if self.structured and getattr(self.options, "structured_output", "") == "none":
            raise ValueError('structured = true sends schemas, and options.structured_output = "none" sends none')
        if self.closing in ("schema", "grammar") and not self.keeps_to_schemas:
            raise ValueError(f'closing = "{self.closing}" needs an engine that keeps to a JSON Schema; leave it out')
        if self.closing == "grammar" and self.reasoning_tags:
            raise ValueError('closing = "grammar" would bind what is thought between reasoning_tags as well; leave it out')
        if self.tools == "native" and isinstance(self.options, VllmOptions) and not self.options.tool_parser:
            raise ValueError('tools = "native" needs options.tool_parser, which reads the calls of this family of models')
        if (
            self.adapters
            and isinstance(self.options, VllmOptions)
            and self.options.sleep_after_s
            and self.options.sleep_level == 2
        ):
            raise ValueError("options.sleep_level = 2 crashes engines with adapters (vllm-project/vllm#39934); use 1")
        if self.weights and (mistake := mistake_in_weights(self)):
            raise ValueError(mistake)
        return self


TOOLS: dict[str, Alias] = {
    SANDBOX: Alias(
        name=SANDBOX,
        backend="sandbox",
        title="Python sandbox",
        concurrency=max(2, os.cpu_count() or 2),
        options=SandboxOptions(),
    )
}
"""The aliases of tools, the same in every installation."""


def load_served(path: Path) -> dict[str, Alias]:
    """All that workers may serve: the file's aliases, then the tools'. Raises `AliasError`."""
    return load_aliases(path) | TOOLS


def load_usable(path: Path) -> dict[str, Alias]:
    """The aliases that people may choose: enabled, and answered by a model. Raises `AliasError`."""
    return {name: one for name, one in load_measurable(path).items() if not one.candidate}


def load_measurable(path: Path) -> dict[str, Alias]:
    """As `load_usable`, with trained models that are not promoted yet: experiments measure them. Raises `AliasError`."""
    return {name: one for name, one in load_aliases(path).items() if one.enabled and not (one.is_authored or one.is_tool)}


def load_aliases(path: Path) -> dict[str, Alias]:
    """The aliases of the file by name, in the file's order, disabled ones too. Raises `AliasError`."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise AliasError(f"{path} cannot be read ({error.strerror}). Set MODELS_FILE to a readable models.toml.") from error
    except UnicodeDecodeError as error:
        raise AliasError(f"{path} is not a UTF-8 text file.") from error
    return parse_aliases(text, where=str(path), trained=trained_tables())


def parse_aliases(text: str, *, where: str = "models.toml", trained: Mapping[str, Any] | None = None) -> dict[str, Alias]:
    """As `load_aliases`, from the text of a file that messages call `where`, and tables of models that were trained here."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise AliasError(f"{where} is not valid TOML: {error}.") from error
    aliases: dict[str, Alias] = {}
    tables = with_trained(tables, trained or {})
    for name, table in tables.items():
        if not isinstance(table, dict):
            line = line_of(text, None, name)
            raise AliasError(f"{where}, line {line}: `{name}` is outside a table; every key belongs to an alias [name].")
        if name in TOOLS or table.get("backend") == SANDBOX:
            line = line_of(text, name, "")
            raise AliasError(
                f"{where}, line {line}: the sandbox is no model and needs no table; see SANDBOX in docs/settings.md."
            )
        try:
            aliases[name] = Alias.model_validate({"title": name} | _with_its_base(name, table, tables) | {"name": name})
        except _WrongTable as wrong:
            raise AliasError(f"{where}, line {line_of(text, name, wrong.key)}, [{name}] {wrong.key}: {wrong}.") from wrong
        except ValidationError as error:
            raise AliasError(explained(error, text, name, where)) from error
    if not any(alias.enabled for alias in aliases.values()):
        raise AliasError(f"{where} has no enabled alias; add a table such as [smollm2] (docs/models.md).")
    return aliases


class _WrongTable(Exception):
    """A table that does not fit with the others; `key` is what to change."""

    def __init__(self, key: str, reason: str) -> None:
        super().__init__(reason)
        self.key = key


_OWN_KEYS_OF_AN_ADAPTER = frozenset({"adapter_of", "adapter", "title", "revision", "enabled", "candidate"})


def _with_its_base(name: str, table: dict[str, Any], tables: dict[str, Any]) -> dict[str, Any]:
    """The table of an adapter filled up from the alias it belongs to; the table of such an alias with its adapters."""
    if "adapters" in table:
        raise _WrongTable("adapters", "write a table of its own for each adapter, with adapter_of and adapter")
    if "adapter_of" not in table:
        if "adapter" in table:
            raise _WrongTable("adapter", "adapter_of must name the alias whose engine loads the adapter")
        mine = {other: each for other, each in tables.items() if isinstance(each, dict) and each.get("adapter_of") == name}
        adapters = [_adapter(other, each) for other, each in mine.items() if each.get("enabled", True)]
        return table | {"adapters": adapters} if adapters and "weights" not in table else table
    base = tables.get(table["adapter_of"]) if isinstance(table["adapter_of"], str) else None
    if not isinstance(base, dict) or base.get("backend") != "vllm":
        raise _WrongTable("adapter_of", "name an alias of the backend vllm that has no adapter_of itself")
    if base.get("weights"):
        raise _WrongTable("adapter_of", f"{table['adapter_of']} follows whole weights and serves no adapters")
    if table.get("enabled", True) and not base.get("enabled", True):
        raise _WrongTable("adapter_of", f"{table['adapter_of']} is not enabled")
    if not table.get("adapter"):
        raise _WrongTable("adapter", "name the folder of the adapter")
    for key in table:
        if key not in _OWN_KEYS_OF_AN_ADAPTER:
            raise _WrongTable(key, f"an adapter takes this from {table['adapter_of']}")
    return {key: value for key, value in base.items() if key not in {"title", "revision"}} | table


def _adapter(name: str, table: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "path": table.get("adapter", ""), "revision": table.get("revision", "")}
