"""Shards: rows are read as written, in batches, and a shard appears atomically."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from apps.recipes.mathematics.rows import COLUMNS, Row
from tests.training.factory import row, rows
from workers.training.problems import BadRows
from workers.training.rows.tables import TableRows, read_rows, write_rows


def test_rows_are_read_as_written(tmp_path: Path) -> None:
    given = [*rows(5), row(logprobs=None, reward=None, verdict_k=3, verdict_n=4, lemma_ids=["a"], token_advantages=[0.5])]
    assert write_rows(tmp_path / "0.parquet", given, batch=2) == 6
    found = list(read_rows(tmp_path / "0.parquet"))
    for one, other in zip(given, found, strict=True):
        left, right = asdict(one), asdict(other)
        for name in ("logprobs", "advantage", "reward", "token_advantages"):
            if left[name] is None:
                assert right.pop(name) is left.pop(name)
            else:
                np.testing.assert_allclose(right.pop(name), left.pop(name), rtol=1e-6)
        assert {name: list(value) if isinstance(value, tuple) else value for name, value in left.items()} == right


def test_shards_have_the_documented_columns(tmp_path: Path) -> None:
    write_rows(tmp_path / "0.parquet", rows(2))
    assert pq.read_schema(tmp_path / "0.parquet").names == [name for name, _ in COLUMNS]
    assert pq.ParquetFile(tmp_path / "0.parquet").metadata.row_group(0).column(0).compression == "ZSTD"


def test_a_failed_write_leaves_no_files(tmp_path: Path) -> None:
    def some() -> Iterator[Row]:
        yield from rows(3)
        raise RuntimeError("the source broke")

    with pytest.raises(RuntimeError, match="broke"):
        write_rows(tmp_path / "0.parquet", some(), batch=1)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    write_rows(tmp_path / "0.parquet", rows(2))
    pq.write_table(pq.read_table(tmp_path / "0.parquet").drop_columns(["loss_mask"]), tmp_path / "0.parquet")
    with pytest.raises(BadRows, match="loss_mask"):
        list(read_rows(tmp_path / "0.parquet"))


def test_rows_of_a_folder_are_in_the_order_of_its_shards(tmp_path: Path) -> None:
    write_rows(tmp_path / "b.parquet", [row(group_id="2")])
    write_rows(tmp_path / "a.parquet", [row(group_id="0"), row(group_id="1")])
    found = TableRows(tmp_path)
    assert [one.group_id for one in found] == ["0", "1", "2"]
    assert found[1:][0].group_id == "1"
    with pytest.raises(BadRows, match="no Parquet file"):
        TableRows(tmp_path / "nothing")
