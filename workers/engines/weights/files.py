"""What a folder of safetensors holds, read from the files' headers only, and whether an engine could load it."""

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

#: The name under which vLLM's processes know our way of exchanging weights (in_vllm.py).
BACKEND = "lemmascope_folder"
#: The module that its processes import for it.
WORKERS = "workers.engines.weights.in_vllm"
_INDEX = "model.safetensors.index.json"
_TIED = "lm_head.weight"
_LONGEST_HEADER = 100_000_000
Shapes = Mapping[str, tuple[int, ...]]


class WrongWeightsError(Exception):
    """Weights that the engine cannot take, with the reason in words."""


def weight_files(folder: Path) -> list[Path]:
    """The files with a model's weights: those that its index names, else all. Raises `WrongWeightsError` for missing ones."""
    index = folder / _INDEX
    if index.is_file():
        names = sorted(set(_json(index).get("weight_map", {}).values()))
        if missing := [name for name in names if not (folder / str(name)).is_file()]:
            raise WrongWeightsError(f"{missing[0]} is missing")
        return [folder / str(name) for name in names]
    if found := sorted(folder.glob("*.safetensors")):
        return found
    raise WrongWeightsError("it holds no safetensors")


def shapes_in(folder: Path) -> Shapes:
    """The shape of each weight by name. Raises `WrongWeightsError` for files that are damaged or not whole."""
    return {name: shape for path in weight_files(folder) for name, shape in _shapes(path).items()}


def check_weights(folder: Path, own: Path | None) -> None:
    """Raises `WrongWeightsError` unless the folder holds whole weights of the model in the folder `own` (None: unknown)."""
    if (folder / "adapter_config.json").exists():
        raise WrongWeightsError("it holds a LoRA adapter, and this engine takes whole weights")
    found = shapes_in(folder)
    if own is None:
        return
    is_tied = bool(_json(own / "config.json").get("tie_word_embeddings"))
    expected = shapes_in(own)
    for name in sorted(expected.keys() | found.keys()):
        if name == _TIED and is_tied:
            continue
        if name not in found:
            raise WrongWeightsError(f"the weight {name} is missing")
        if name not in expected:
            raise WrongWeightsError(f"the model has no weight {name}")
        if found[name] != expected[name]:
            raise WrongWeightsError(f"the weight {name} has the shape {_words(found[name])}, not {_words(expected[name])}")


def own_folder(model: str) -> Path | None:
    """The folder of an alias' `model`, also where it was fetched from the hub; None if it is not known or has other files."""
    path = Path(model).expanduser()
    try:
        if not path.is_dir():
            from huggingface_hub import snapshot_download

            path = Path(snapshot_download(model, local_files_only=True))
        shapes_in(path)
        _json(path / "config.json")
    except Exception:  # Then vLLM alone compares the weights.
        return None
    return path


def _shapes(path: Path) -> dict[str, tuple[int, ...]]:
    """See `shapes_in`; of one file."""
    try:
        with path.open("rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            header = json.loads(file.read(length)) if length <= _LONGEST_HEADER else None
        size = path.stat().st_size
        tensors = {name: one for name, one in header.items() if name != "__metadata__"}  # type: ignore[union-attr]
        end = 8 + length + max((one["data_offsets"][1] for one in tensors.values()), default=0)
        shapes = {name: tuple(one["shape"]) for name, one in tensors.items()}
    except FileNotFoundError as error:
        raise WrongWeightsError(f"{path.name} is missing") from error
    except OSError as error:
        raise WrongWeightsError(f"{path.name} cannot be read ({error.strerror})") from error
    except (ValueError, struct.error, AttributeError, KeyError, TypeError, IndexError) as error:
        raise WrongWeightsError(f"{path.name} is not a whole file of safetensors") from error
    if size != end:
        raise WrongWeightsError(f"{path.name} has {size:,} bytes, not {end:,}")
    return shapes


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise WrongWeightsError(f"{path.name} cannot be read") from error
    return found if isinstance(found, dict) else {}


def _words(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape))
