"""Inspect logs as others would write them, good and bad."""

import io
import json
import zipfile
from typing import Any

import zstandard

from apps.experiments.models import Experiment, SolvingCell
from apps.experiments.solving.files import inspect_reading
from apps.experiments.solving.services import manifest_stored


def sample(number: int, epoch: int = 1, value: Any = "C", **changes: Any) -> dict[str, Any]:
    """A sample on the sum of this number, whose answer is 2."""
    values: dict[str, Any] = {
        "id": f"sum-{number}",
        "epoch": epoch,
        "input": f"Find the sum number {number}.",
        "target": str(number),
        "output": {"choices": [{"message": {"role": "assistant", "content": "It is so.\nAnswer: 2"}}]},
        "scores": {"match": {"value": value}},
        "model_usage": {"big": {"input_tokens": 10, "input_tokens_cache_read": 5, "output_tokens": 7}},
        "working_time": 1.5,
        "turn_count": 2,
    }
    return values | changes


def parts_of(*samples: dict[str, Any], version: int = 2, limit: int | None = None) -> dict[str, Any]:
    spec = {"task": "sums", "model": "lab/big", "solver": "agent", "config": {"epochs": 1, "token_limit": limit}}
    summaries = [{key: value for key, value in one.items() if key != "output"} for one in samples]
    files = {f"samples/{one['id']}_epoch_{one['epoch']}.json": one for one in samples}
    return {"header.json": {"version": version, "eval": spec}, "summaries.json": summaries, **files}


def log(parts: dict[str, Any], compression: int = zipfile.ZIP_DEFLATED) -> io.BytesIO:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for name, value in parts.items():
            archive.writestr(name, json.dumps(value))
    out.seek(0)
    return out


def with_zstandard(parts: dict[str, Any]) -> io.BytesIO:
    """A log whose members have method 93, which `zipfile` cannot write."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, value in parts.items():
            archive.writestr(name, zstandard.compress(json.dumps(value).encode()))
        heads = [member.header_offset + 8 for member in archive.infolist()]
        at = archive.start_dir
    data = bytearray(out.getvalue())
    for head in heads:
        data[head] = inspect_reading.ZSTANDARD
    while (at := data.find(b"PK\x01\x02", at)) != -1:
        data[at + 10] = inspect_reading.ZSTANDARD
        at += 4
    return io.BytesIO(bytes(data))


def nothing_was_imported(experiment: Experiment) -> bool:
    known = {one.name for one in manifest_stored(Experiment.objects.get(pk=experiment.pk)).methods}
    return known == {"single"} and not SolvingCell.objects.exclude(method="single").exists()


def cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def bad_logs() -> dict[str, tuple[bytes, str]]:
    """Bytes, and what the refusal advises."""
    whole = log(parts_of(sample(1))).getvalue()
    without = {name: value for name, value in parts_of(sample(1)).items() if name != "summaries.json"}
    lost = {name: value for name, value in parts_of(sample(1)).items() if not name.startswith("samples/")}
    unknown = bytearray(log(parts_of(sample(1)), zipfile.ZIP_STORED).getvalue())
    at = 0
    while (at := unknown.find(b"PK\x01\x02", at)) != -1:
        unknown[at + 10] = 97
        at += 4
    empty = log(parts_of()).getvalue()
    return {
        "cut off": (cut(whole), "Copy it again"),
        "cut zstandard": (cut(with_zstandard(parts_of(sample(1))).getvalue()), "Copy it again"),
        "text": (b"a text", "no Inspect log"),
        "empty": (b"", "no Inspect log"),
        "json": (b'{"version": 2}', "inspect log convert"),
        "later version": (log(parts_of(sample(1), version=3)).getvalue(), "schema version 3"),
        "no samples": (empty, "no samples"),
        "unfinished": (log(without).getvalue(), "inspect eval-retry"),
        "no sample file": (log(lost).getvalue(), "inspect eval-retry"),
        "wrong epoch": (log(parts_of(sample(1, epoch=0))).getvalue(), "epoch"),
        "wrong header": (log(parts_of(sample(1)) | {"header.json": []}).getvalue(), "header.json is not as expected"),
        "unknown compression": (bytes(unknown), "unknown method"),
        "strangers": (log(parts_of(sample(9, input="Other?"))).getvalue(), "no sample fits a cell"),
    }  # fmt: skip
