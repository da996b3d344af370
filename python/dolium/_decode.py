"""From bytes of samples to Python objects: decoders by content type, metadata, arrays.

No decoder runs code from data: arrays of objects and pickles are refused.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from ._core import PackEntry

Decoder = Callable[[bytes], Any]

JSON, MSGPACK, OPAQUE, CBOR = 1, 2, 3, 4

_decoders: dict[str, Decoder] = {}


def register_decoder(content_type: str, decoder: Decoder) -> None:
    """Has `entry.decode()` call `decoder(data)` for contents of this type.

    `content_type` may end with `/*`: that is asked where no decoder of the exact type is there.
    """
    _decoders[content_type.lower()] = decoder


def _npy(data: bytes) -> np.ndarray:
    return np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)


def _npz(data: bytes) -> dict[str, np.ndarray]:
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        return dict(arrays)


def _msgpack(data: bytes) -> Any:
    import msgpack  # type: ignore[import-not-found,import-untyped]

    return msgpack.unpackb(data)


def _cbor(data: bytes) -> Any:
    import cbor2  # type: ignore[import-not-found,import-untyped]

    return cbor2.loads(data)


def _image(data: bytes) -> np.ndarray:
    from PIL import Image  # type: ignore[import-not-found,import-untyped]

    return np.asarray(Image.open(io.BytesIO(data)))


def _text(data: bytes) -> str:
    return data.decode("utf-8")


_known: dict[str, Decoder] = {
    "application/json": json.loads,
    "application/msgpack": _msgpack,
    "application/x-msgpack": _msgpack,
    "application/cbor": _cbor,
    "application/x-npy": _npy,
    "application/x-npz": _npz,
    "image/*": _image,
    "text/*": _text,
}
for _type, _decoder in _known.items():
    register_decoder(_type, _decoder)


def decode(entry: PackEntry) -> Any:
    """What the decoder of the entry's content type makes of it; the bytes, if there is none."""
    if entry.array is not None:
        return array(entry)
    content_type = entry.content_type.partition(";")[0].strip().lower()
    decoder = _decoders.get(content_type) or _decoders.get(content_type.partition("/")[0] + "/*")
    return entry.data if decoder is None else decoder(entry.data)


def array(entry: PackEntry) -> np.ndarray:
    """The content as an array: by the shape that is stored with it, as .npy, or as bytes.

    Without a copy where the content is stored as it is; read-only then.
    """
    shape = entry.array
    if shape is not None:
        dtype, lengths = np.dtype(shape[0]), shape[1]
        if dtype.hasobject:
            raise ValueError(f'entry "{entry.name}": arrays of objects are not read')
        return np.frombuffer(entry.view(), dtype).reshape(lengths)
    if entry.content_type == "application/x-npy":
        return _mapped_npy(entry)
    return np.frombuffer(entry.view(), np.uint8)


def _mapped_npy(entry: PackEntry) -> np.ndarray:
    view = entry.view()
    head = io.BytesIO(bytes(view[: 1 << 16]))
    version = np.lib.format.read_magic(head)
    read_header = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }.get(version)
    if read_header is None:
        return _npy(entry.data)
    lengths, is_fortran, dtype = read_header(head)
    if dtype.hasobject:
        raise ValueError(f'entry "{entry.name}": arrays of objects are not read')
    count = int(np.prod(lengths, dtype=np.uint64))
    flat = np.frombuffer(view, dtype, count, head.tell())
    return flat.reshape(lengths, order="F" if is_fortran else "C")


def metadata(format: int, data: bytes) -> Any:
    """Metadata of a record or entry: parsed, if its format is JSON, MsgPack or CBOR and the package
    for that is installed; else the bytes."""
    parsers: dict[int, Decoder] = {JSON: json.loads, MSGPACK: _msgpack, CBOR: _cbor}
    parser = parsers.get(format)
    if parser is None:
        return data
    try:
        return parser(data)
    except ImportError:
        return data


_FORMATS = {"json": JSON, "msgpack": MSGPACK, "opaque": OPAQUE, "cbor": CBOR}


class Metadata(NamedTuple):
    """Metadata that are encoded already, for a writer, and what they are: "json", "msgpack", "cbor" or
    "opaque" (bytes that readers get as they are)."""

    data: bytes
    format: Literal["json", "msgpack", "cbor", "opaque"]


def metadata_bytes(value: Any) -> tuple[int, bytes] | None:
    """The way back: bytes stay as they are, Metadata say what they are, everything else becomes
    JSON."""
    if value is None:
        return None
    if isinstance(value, Metadata):
        if value.format not in _FORMATS:
            raise ValueError(f'metadata of format "{value.format}", not one of {", ".join(_FORMATS)}')
        return _FORMATS[value.format], bytes(value.data)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return OPAQUE, bytes(value)
    return JSON, json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
