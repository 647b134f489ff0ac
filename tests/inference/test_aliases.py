"""Reading models.toml: its content, and the message for each mistake."""

import re
from pathlib import Path
from typing import get_args

import pytest

from apps.reasoning.domain.errors import AliasError
from apps.reasoning.inference.aliases import HttpOptions, OpenVinoOptions, ScriptedOptions, load_aliases, parse_aliases
from apps.reasoning.inference.options import OPTIONS_OF, BackendName

SHIPPED = Path(__file__).resolve().parents[2] / "apps" / "config" / "models.toml"
DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "models.md"
#: The backends of models; the sandbox is no model.
BACKENDS = [name for name in get_args(BackendName) if name != "sandbox"]
HTTP = '[served]\nbackend = "openai_http"\nmodel = "m"\nbase_url = "http://localhost:8000/v1/"\n'


def test_the_shipped_file_has_the_embedded_model_and_the_worked_example() -> None:
    aliases = load_aliases(SHIPPED)
    assert list(aliases) == ["smollm2", "worked-example"]
    assert isinstance(aliases["smollm2"].options, OpenVinoOptions)
    assert isinstance(aliases["worked-example"].options, ScriptedOptions)
    assert aliases["worked-example"].is_authored
    assert not aliases["smollm2"].is_authored


def test_every_commented_example_of_the_shipped_file_is_valid() -> None:
    lines = SHIPPED.read_text(encoding="utf-8").splitlines()
    code = [line[2:] for line in lines if line.startswith("# ") and (" = " in line or line.startswith("# ["))]
    aliases = parse_aliases("\n".join(code))
    assert list(aliases) == [line[3:-1] for line in lines if re.fullmatch(r"# \[[\w-]+\]", line)]
    assert len(aliases) > 5
    assert aliases["qwen3-8b-prover"].queue == "inference.qwen3-8b"
    assert aliases["ollama-qwen3"].reasoning_tags == ("<think>", "</think>")


def test_the_sandbox_is_not_offered_as_a_backend() -> None:
    with pytest.raises(AliasError, match="' or '") as error:
        parse_aliases('[a]\nbackend = "magic"\n')
    assert "sandbox" not in str(error.value)


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_backend_and_its_options_are_explained(backend: BackendName) -> None:
    document = DOCUMENT.read_text(encoding="utf-8")
    (row,) = [line for line in document.splitlines() if line.startswith("| `backend` |")]
    assert f"`{backend}`" in row, "add the backend to “Keys of an alias” in docs/models.md"
    section = document.partition(f"### Options of `{backend}`\n")[2].partition("\n#")[0]
    missing = [key for key in OPTIONS_OF[backend].model_fields if f"`{key}`" not in section]
    assert missing == [], f"add rows to “Options of `{backend}`” in docs/models.md"


def test_an_alias_has_defaults_a_queue_and_a_normalised_url() -> None:
    alias = parse_aliases(HTTP)["served"]
    assert alias.title == "served"
    assert alias.queue == "inference.served"
    assert alias.base_url == "http://localhost:8000/v1"
    assert alias.enabled
    assert (alias.prompts, parse_aliases(HTTP + 'prompts = "small"\n')["served"].prompts) == ("full", "small")
    assert isinstance(alias.options, HttpOptions)


@pytest.mark.parametrize(
    ("keys", "closes_by"),
    [
        ("", "schema"),
        ('closing = "text"\n', "text"),
        ('closing = "grammar"\n', "grammar"),
        ('[served.options]\nstructured_output = "none"\n', "text"),
    ],
)
def test_closings_depend_on_the_engine_and_use_a_grammar_only_if_the_alias_says_so(keys: str, closes_by: str) -> None:
    assert parse_aliases(HTTP + keys)["served"].closes_by == closes_by


def test_a_disabled_alias_is_kept_but_one_must_be_enabled() -> None:
    two = HTTP + 'enabled = false\n[own]\nbackend = "openvino"\nmodel = "/m.gguf"\n'
    assert [alias.enabled for alias in parse_aliases(two).values()] == [False, True]
    with pytest.raises(AliasError, match="no enabled alias"):
        parse_aliases(HTTP + "enabled = false\n")


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("title = 'x'\n", 1, "outside a table"),
        ('[a]\nbackend = "magic"\n', 2, "'scripted', 'openvino', 'vllm'"),
        ('[a]\ntitle = "A"\n', 1, "backend: this key is missing"),
        ('[sandbox]\nbackend = "scripted"\n', 1, "the sandbox is no model"),
        ('[a]\nbackend = "sandbox"\n', 1, "the sandbox is no model"),
        ('[a]\nbackend = "openvino"\n', 1, "needs the key model"),
        ('[a]\nbackend = "scripted"\n', 1, "needs options.script"),
        (HTTP + 'api_key = "sk-1"\n', 5, "keys do not belong in this file"),
        (HTTP + 'api_key_env = "sk-proj-1234"\n', 5, "never the key itself"),
        (HTTP + 'prompts = "tiny"\n', 5, "'full' or 'small'"),
        (HTTP + "temprature = 1\n", 5, "there is no such key"),
        (HTTP + "concurrency = 0\n", 5, "write a number of at least 1"),
        (HTTP + "\n[served.options]\nretrys = 3\n", 7, "retrys: there is no such key"),
        (HTTP + "\n[served.options]\nretries = 'many'\n", 7, "write a whole number"),
        ('[a]\nbackend = "openai_http"\nmodel = "m"\nbase_url = "http://me:secret@host/v1"\n', 4, "without user name or key"),
        ('[a]\nbackend = "openai_http"\nmodel = "m"\nbase_url = "file:///etc/passwd"\n', 4, "write an address like"),
        (HTTP + 'structured = true\n[served.options]\nstructured_output = "none"\n', 1, "sends none"),
        (HTTP + 'closing = "grammar"\n[served.options]\nstructured_output = "none"\n', 1, "keeps to a JSON Schema"),
        (HTTP + 'closing = "grammar"\nreasoning_tags = ["<think>", "</think>"]\n', 1, "thought between reasoning_tags"),
        (HTTP + 'closing = "force"\n', 5, "'text', 'schema' or 'grammar'"),
        ('["Big Model"]\nbackend = "openvino"\nmodel = "m"\n', 1, "small letters"),
    ],
)
def test_a_mistake_is_named_with_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(AliasError) as caught:
        parse_aliases(text, where="models.toml")
    assert words in str(caught.value)
    assert f"models.toml, line {line}" in str(caught.value)


def test_broken_toml_is_named_with_its_place() -> None:
    with pytest.raises(AliasError, match=r"not valid TOML.*line 2"):
        parse_aliases("[a]\nbackend = \n[b]\n")


def test_a_missing_file_and_a_binary_file_are_reported(tmp_path: Path) -> None:
    with pytest.raises(AliasError, match=r"cannot be read.*MODELS_FILE"):
        load_aliases(tmp_path / "none.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(AliasError, match="UTF-8"):
        load_aliases(tmp_path / "binary.toml")
