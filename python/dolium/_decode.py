"""From bytes of samples to Python objects: decoders by content type, metadata, arrays.

No decoder runs code from data: arrays of objects and pickles are refused.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from . import _core

if TYPE_CHECKING:
    from ._core import PackEntry

Decoder = Callable[[bytes], Any]

JSON, MSGPACK, OPAQUE, CBOR = 1, 2, 3, 4

# What register_decoder() was given: asked first.
_decoders: dict[str, Decoder] = {}


def register_decoder(content_type: str, decoder: Decoder) -> None:
    """Has `entry.decode()` call `decoder(data)` for contents of this type.

    `content_type` may end with `/*`: that is asked where no decoder of the exact type was given.
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
    try:
        from PIL import Image  # type: ignore[import-not-found,import-untyped]
    except ImportError as error:
        raise ImportError(
            "images that are no JPEG are decoded by Pillow, which is not installed: "
            "pip install pillow, or give another decoder to register_decoder()"
        ) from error
    try:
        with Image.open(io.BytesIO(data)) as image:
            return np.asarray(image)
    except (OSError, SyntaxError) as error:  # what Pillow says of damage
        raise _core.CorruptError(f"image: {error}") from error


def _jpeg(data: bytes) -> np.ndarray:
    return _raised(_with_jpegs([(_jpeg, data)], 1)[0])


def _is_jpeg(data: bytes) -> bool:
    # Some sets have images of other kinds under names that say JPEG.
    return data[:3] == b"\xff\xd8\xff"


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
    "image/jpeg": _jpeg,
    "image/jpg": _jpeg,
    "text/*": _text,
}


def _decoder_of(content_type: str) -> Decoder | None:
    name = content_type.partition(";")[0].strip().lower()
    family = name.partition("/")[0] + "/*"
    for decoders in (_decoders, _known):
        found = decoders.get(name) or decoders.get(family)
        if found is not None:
            return found
    return None


def _raised(value: Any) -> Any:
    if isinstance(value, BaseException):
        raise value
    return value


def _within(error: Exception, name: str) -> Exception:
    """The same error, which names the entry if it is of ours."""
    if isinstance(error, _core.Error):
        return type(error)(f'entry "{name}": {error}')
    return error


def _with_jpegs(contents: Sequence[tuple[Decoder | None, Any]], jobs: int) -> list[Any]:
    """The value of each content, or an exception. JPEG images are decoded on up to `jobs` threads
    (0: one per core), the others by this one."""
    values: list[Any] = []
    jpegs = []
    for place, (decoder, data) in enumerate(contents):
        try:
            if isinstance(data, Exception) or decoder is None:
                values.append(data)
            elif decoder is not _jpeg:
                values.append(decoder(data))
            elif not _is_jpeg(data):
                values.append(_image(data))
            else:
                values.append(None)
                jpegs.append(place)
        except Exception as error:
            values.append(error)
    if jpegs:
        found = _core.decode_jpegs([contents[place][1] for place in jpegs], jobs)
        for place, value in zip(jpegs, found):
            values[place] = value
    return values


def decode(entry: PackEntry) -> Any:
    """What the decoder of the entry's content type makes of it; the bytes, if there is none."""
    return _raised(decode_all([entry], 1)[0])


def decode_all(entries: Iterable[PackEntry], jobs: int = 0) -> list[Any]:
    """The same for many; an exception in place of each that cannot be decoded."""
    names: list[str] = []
    contents: list[tuple[Decoder | None, Any]] = []
    for entry in entries:
        content: tuple[Decoder | None, Any]
        try:
            names.append(entry.name)
            if entry.array is not None:
                content = None, array(entry)
            else:
                content = _decoder_of(entry.content_type), entry.data
        except Exception as error:
            content = None, error
        contents.append(content)
    values = _with_jpegs(contents, jobs)
    return [
        _within(value, name) if isinstance(value, Exception) and value is not content[1] else value
        for name, content, value in zip(names, contents, values)
    ]


def decode_or_raise(
    contents: Iterable[tuple[str, str, tuple[str, tuple[int, ...]] | None, bytes]],
) -> list[Any]:
    """Values of contents, each with its name, type, and shape if it has one."""
    names = []
    pairs: list[tuple[Decoder | None, Any]] = []
    for name, content_type, shape, data in contents:
        names.append(name)
        if shape is not None:
            pairs.append((None, _shaped(name, shape, data)))
        else:
            pairs.append((_decoder_of(content_type), data))
    values = _with_jpegs(pairs, 0)
    for name, value in zip(names, values):
        if isinstance(value, Exception):
            raise _within(value, name)
    return values


def _shaped(name: str, shape: tuple[str, tuple[int, ...]], data: Any) -> np.ndarray:
    dtype, lengths = np.dtype(shape[0]), shape[1]
    if dtype.hasobject:
        raise ValueError(f'entry "{name}": arrays of objects are not read')
    return np.frombuffer(data, dtype).reshape(lengths)


def array(entry: PackEntry) -> np.ndarray:
    """The content as an array: by the shape that is stored with it, as .npy, or as bytes.

    Without a copy where the content is stored as it is; read-only then.
    """
    shape = entry.array
    if shape is not None:
        return _shaped(entry.name, shape, entry.view())
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
