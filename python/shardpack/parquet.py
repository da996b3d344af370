"""Parquet in and out. Needs pyarrow: pip install dolium[parquet].

    shardpack.parquet.import_parquet("train.parquet", "train-000000.shardpack", key_column="id")
    shardpack.parquet.export_parquet("train-{000000..000007}.shardpack", "train.parquet")

A row becomes a sample. Columns of bytes and text become files of the same name; a struct of `bytes`
and `path`, as image columns of Hugging Face are, a file with the extension of that path. An image
without bytes is read from its path, which must lie in the folder of the Parquet file, or in the one
that is given. Tensors of a fixed shape become .npy files. All other values go into the file
`row.json`. Nulls are left out. The way back restores the columns, if the shards were made here; of
others it makes a column for each file name. Arrays become the bytes of .npy files.
"""

from __future__ import annotations

import base64
import datetime
import decimal
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-not-found,import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-not-found,import-untyped]

from ._contents import npy_bytes
from ._dataset import Dataset, Reference, open
from ._writer import ShardReport, Writer

__all__ = ["export_parquet", "import_parquet"]

ROW = "row.json"
_SCHEMA = "parquet_schema"


def import_parquet(
    source: Reference,
    target: str | os.PathLike[str],
    *,
    key_column: str | None = None,
    columns: list[str] | None = None,
    images: str | os.PathLike[str] | None = None,
    metadata: dict[str, Any] | None = None,
    batch_rows: int = 1024,
    **options: Any,
) -> list[ShardReport]:
    """Writes the rows of Parquet files (a file, several, or a folder of them) as samples.

    Keys are the values of `key_column`, or the numbers of rows. `columns` says which are taken.
    `images` is the folder in which the paths of images without bytes lie (else: of each Parquet
    file). ValueError for a path that leads out of it, FileNotFoundError if there is no such file.
    `options` are those of Writer.
    """
    files = _parquet_files(source)
    schema = _schema_of(files, columns)
    if key_column is not None and key_column not in schema.names:
        raise ValueError(f'{files[0]}: no column "{key_column}"; there are {schema.names}')
    plan = {field.name: (_kind(field), field.type) for field in schema}
    stored = {_SCHEMA: base64.b64encode(schema.serialize().to_pybytes()).decode()}
    with Writer(target, metadata={**(metadata or {}), **stored}, **options) as writer:
        for number, (file, row) in enumerate(_rows(files, schema, batch_rows)):
            key = f"{number:09}" if key_column is None else row[key_column]
            if key is None:
                raise ValueError(f'{file}: row {number} has no key: its "{key_column}" is null')
            writer.write(str(key), **_sample(row, plan, Path(images or file.parent)))
    return writer.shards


def export_parquet(
    source: Dataset | Reference,
    target: str | os.PathLike[str],
    *,
    key_column: str = "key",
    batch_rows: int = 1024,
    compression: str = "zstd",
) -> int:
    """Writes samples as the rows of one Parquet file, which appears whole. Returns their number.

    Names and types of files are looked at first, unless the shards were made by import_parquet.
    """
    dataset = source if isinstance(source, Dataset) else open(source)
    columns = _columns_of(dataset, key_column)
    target = Path(target)
    part = target.with_name(f".{target.name}.part")
    try:
        schema = pa.schema([(name, column.type) for name, column in columns.items()])
        with pq.ParquetWriter(part, schema, compression=compression) as writer:
            for begin in range(0, len(dataset), batch_rows):
                records = dataset[begin : begin + batch_rows]
                arrays = [column.array(records) for column in columns.values()]
                writer.write_batch(pa.record_batch(arrays, schema=schema))
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)
    return len(dataset)


# --- in


def _parquet_files(source: Reference) -> list[Path]:
    if isinstance(source, (list, tuple)):
        return [file for one in source for file in _parquet_files(one)]
    path = Path(source)  # type: ignore[arg-type]
    if not path.is_dir():
        return [path]
    files = sorted(path.glob("*.parquet"))
    if not files:
        raise FileNotFoundError(f"{path}: has no *.parquet in it")
    return files


def _schema_of(files: list[Path], columns: list[str] | None) -> pa.Schema:
    schema = pq.read_schema(files[0]).remove_metadata()
    if columns is not None:
        schema = pa.schema([schema.field(name) for name in columns])
    for file in files[1:]:
        other = pq.read_schema(file)
        for field in schema:
            if field.name not in other.names or other.field(field.name).type != field.type:
                raise ValueError(f'{file}: no column "{field.name}" of {field.type}')
    return schema


def _rows(
    files: list[Path], schema: pa.Schema, batch_rows: int
) -> Iterator[tuple[Path, dict[str, Any]]]:
    for file in files:
        with pq.ParquetFile(file) as parquet:
            for batch in parquet.iter_batches(batch_rows, columns=schema.names):
                for row in batch.to_pylist():
                    yield file, row


def _kind(field: pa.Field) -> str:
    kind = field.type
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return "bytes"
    if pa.types.is_fixed_size_binary(kind):
        return "bytes"
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return "text"
    if pa.types.is_struct(kind) and {child.name for child in kind} == {"bytes", "path"}:
        return "image"
    if isinstance(kind, pa.FixedShapeTensorType):
        if kind.permutation not in (None, list(range(len(kind.shape)))):
            raise ValueError(f'column "{field.name}": tensors of another order of dimensions')
        return "tensor"
    return "value"


def _sample(
    row: dict[str, Any], plan: dict[str, tuple[str, pa.DataType]], images: Path
) -> dict[str, Any]:
    files: dict[str, Any] = {}
    types: dict[str, str] = {}
    values = {}
    for name, value in row.items():
        kind, type = plan[name]
        if value is None:
            continue
        if kind == "value":
            values[name] = value
        elif kind == "tensor":
            numbers = np.asarray(value, type.value_type.to_pandas_dtype())
            files[name] = numbers.reshape(type.shape)
        elif kind == "image":
            path = value["path"] or ""
            if value["bytes"] is not None or path:
                data = value["bytes"] if value["bytes"] is not None else _image(images, path)
                files[name + PurePosixPath(path).suffix] = data
        else:
            files[name] = value
            if kind == "text":
                types[name] = "text/plain"
    if values or not files:
        files[ROW] = json.dumps(values, default=_json_value, ensure_ascii=False)
    return {"files": files, "content_types": types}


def _image(folder: Path, path: str) -> bytes:
    """The image that a row has only the path of."""
    place = (folder / path).resolve()
    if not place.is_relative_to(folder.resolve()):
        raise ValueError(f'an image without bytes, whose path "{path}" is not in {folder}')
    return place.read_bytes()


def _json_value(value: Any) -> Any:
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return str(value)
    raise ValueError(f"a value of {type(value).__name__} within a list or struct cannot be stored")


# --- out


class _Column:
    """One column of the export: what to write, and where in a sample it is."""

    def __init__(self, type: pa.DataType, name: str, kind: str) -> None:
        self.type = type
        self._name = name
        self._kind = kind

    def array(self, records: Iterable[Any]) -> pa.Array:
        values = [self._value(record) for record in records]
        if self._kind == "tensor":
            flat = [None if value is None else value.ravel() for value in values]
            storage = pa.array(flat, self.type.storage_type)
            return pa.ExtensionArray.from_storage(self.type, storage)
        try:
            return pa.array(values, self.type)
        except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError, AttributeError):
            if self._kind != "value":
                raise
            return pa.array(values, pa.string()).cast(self.type)  # dates and decimals

    def _value(self, record: Any) -> Any:
        if self._kind == "key":
            return record.key
        if self._kind == "value":
            row = record.get(ROW)
            if row is None:
                return None
            return _of_type(json.loads(row.data).get(self._name), self.type)
        if self._kind == "image":
            return self._image(record)
        entry = record.get(self._name)
        if entry is None:
            return None
        if self._kind == "text":
            return entry.data.decode("utf-8")
        if self._kind == "tensor":
            return entry.numpy()
        return entry.data if entry.array is None else npy_bytes(entry.numpy())

    def _image(self, record: Any) -> Any:
        for entry in record.file_entries():
            if entry.name == self._name or entry.name.startswith(f"{self._name}."):
                return {"bytes": entry.data, "path": entry.name}
        return None


def _of_type(value: Any, type: pa.DataType) -> Any:
    """What JSON made of a value, as pyarrow takes it: maps are lists of pairs there."""
    if value is None:
        return None
    if pa.types.is_map(type):
        sides = type.key_type, type.item_type
        return [tuple(map(_of_type, pair, sides)) for pair in value]
    if pa.types.is_struct(type):
        return {child.name: _of_type(value.get(child.name), child.type) for child in type}
    if isinstance(value, list) and pa.types.is_nested(type):
        return [_of_type(item, type.value_type) for item in value]
    return value


def _columns_of(dataset: Dataset, key_column: str) -> dict[str, _Column]:
    columns = {}
    stored = dataset.metadata.get(_SCHEMA)
    if stored is not None:
        schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(stored)))
        columns = {field.name: _Column(field.type, field.name, _kind(field)) for field in schema}
    else:
        for name, is_text in _files_of(dataset).items():
            kind = "text" if is_text else "bytes"
            columns[name] = _Column(pa.string() if is_text else pa.binary(), name, kind)
    if key_column not in columns:
        columns = {key_column: _Column(pa.string(), key_column, "key"), **columns}
    return columns


def _files_of(dataset: Dataset) -> dict[str, bool]:
    """The names of all files, and whether all of a name are text."""
    names: dict[str, bool] = {}
    for record in dataset.records():
        for entry in record.file_entries():
            content_type = entry.content_type
            is_text = content_type.startswith("text/") or content_type == "application/json"
            names[entry.name] = names.get(entry.name, True) and is_text
    return names
