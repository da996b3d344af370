"""From Python values to what files of a sample hold: bytes, and the content type that says what they
are, so that `entry.decode()` gives the value again."""

from __future__ import annotations

import io
import json
import sys
from typing import Any

import numpy as np

NPY = "application/x-npy"
JSON = "application/json"
_BYTE_FORMATS = ("B", "b", "c")


def content_of(value: Any) -> tuple[str | None, Any]:
    """The content type, if the value says it, and the bytes. TypeError or ValueError for what
    cannot be stored without loss."""
    if isinstance(value, str):
        return None, value.encode()
    if isinstance(value, (np.ndarray, np.generic)):
        return NPY, npy_bytes(value)
    if isinstance(value, (bool, int, float, dict, list, tuple)):
        text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        return JSON, text.encode()
    torch = sys.modules.get("torch")  # What is not loaded made no tensor.
    if torch is not None and isinstance(value, torch.Tensor):
        return NPY, npy_bytes(_array_of_tensor(value))
    try:
        view = memoryview(value)
    except TypeError:
        raise TypeError(
            f"a {type(value).__name__} is neither bytes, text, a number, a dict, a list nor an array"
        ) from None
    if view.ndim == 1 and view.format in _BYTE_FORMATS:
        return None, value
    return NPY, npy_bytes(np.asarray(view))


def npy_bytes(array: Any) -> bytes:
    """The array as a file of numpy. ValueError for types that such a file has no name for."""
    array = np.asanyarray(array)
    dtype = array.dtype
    if dtype.hasobject:
        raise ValueError("arrays of objects are not written")
    try:
        described = np.lib.format.descr_to_dtype(np.lib.format.dtype_to_descr(dtype))
    except (TypeError, ValueError):
        described = None
    if described != dtype:
        raise ValueError(
            f"numpy's files have no name for the type {dtype} of the array; view it as another type"
        )
    out = io.BytesIO()
    np.lib.format.write_array(out, np.asarray(array), allow_pickle=False)
    return out.getvalue()


def _array_of_tensor(tensor: Any) -> np.ndarray:
    try:
        return tensor.detach().cpu().resolve_conj().resolve_neg().numpy()
    except TypeError as error:
        raise ValueError(f"numpy has no type for the tensor's {tensor.dtype}: {error}") from None
