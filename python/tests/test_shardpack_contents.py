"""Values that a Writer takes, and what a reader decodes of them."""

import array
import contextlib
import io
import sys
import types

import numpy as np
import pytest
import shardpack


def written(path, files, **options):
    with shardpack.Writer(path, **options) as writer:
        writer.write("key", files)
    return shardpack.open(path)["key"]


ARRAYS = {
    "plain": np.arange(24, dtype=np.float32).reshape(2, 3, 4),
    "big.npy": np.arange(24, dtype=">f4").reshape(2, 3, 4),
    "fortran": np.asfortranarray(np.arange(6, dtype=np.int16).reshape(2, 3)),
    "strided": np.arange(20)[::3],
    "scalar": np.array(1.5),
    "time": np.array(["2026-01-01"], "datetime64[ns]"),
    "text": np.array(["a", "bc"]),
    "void": np.zeros(2, "V12"),
    "float16": np.arange(3, dtype=np.float16),
    "complex": np.ones(2, np.complex64),
    "bool": np.array([True, False]),
    "nothing": np.zeros((0, 3), ">i8"),
    "fields": np.array([(1, 2.5)], [("a", "<i4"), ("b", "<f8")]),
    "number": np.float32(0.25),
    "flag": np.bool_(True),
}


def test_arrays_and_scalars_are_npy_files(tmp_path):
    record = written(tmp_path / "a.shardpack", ARRAYS, align=64)
    for name, value in ARRAYS.items():
        entry = record[name]
        assert entry.content_type == "application/x-npy"
        for found in (entry.numpy(), entry.decode(), np.load(io.BytesIO(entry.data))):
            assert (found.dtype, found.shape) == (value.dtype, value.shape), name
            assert found.tolist() == value.tolist(), name
    assert record["plain"].numpy().ctypes.data % 64 == 0


def test_npz_files_are_read(tmp_path):
    npz = io.BytesIO()
    np.savez(npz, first=np.arange(3), second=np.ones(2))
    record = written(tmp_path / "a.shardpack", {"b.npz": npz.getvalue()})
    assert record["b.npz"].decode()["second"].tolist() == [1, 1]


def test_plain_values_are_json(tmp_path):
    values = {
        "int": -3,
        "label.cls": 7,
        "float": 0.1,
        "true.txt": True,
        "dict": {"ü": [1, None, {"x": 2.5}]},
        "list": [1, "two", [3]],
    }
    record = written(tmp_path / "v.shardpack", {**values, "tuple": (1, 2)})
    for name, value in values.items():
        assert record[name].content_type == "application/json"
        found = record[name].decode()
        assert found == value and type(found) is type(value), name
    assert record["tuple"].decode() == [1, 2]
    assert record["dict"].data == '{"ü":[1,null,{"x":2.5}]}'.encode()


def test_buffers_of_bytes_are_bytes_and_others_arrays(tmp_path):
    record = written(
        tmp_path / "b.shardpack",
        {
            "a.bin": bytearray(b"abc"),
            "b.bin": memoryview(b"abcd")[1:3],
            "c": array.array("d", [1.5, 2]),
            "d": memoryview(np.arange(6, dtype="<u2").reshape(2, 3)),
        },
    )
    assert (record["a.bin"].data, record["b.bin"].data) == (b"abc", b"bc")
    assert record["c"].decode().tolist() == [1.5, 2]
    assert record["d"].decode().dtype == np.uint16 and record["d"].decode().shape == (2, 3)


def test_a_given_content_type_wins(tmp_path):
    with shardpack.Writer(tmp_path / "t.shardpack") as writer:
        writer.write("key", {"x": 5}, content_types={"x": "text/plain"})
    assert shardpack.open(tmp_path / "t.shardpack")["key"]["x"].decode() == "5"


def test_what_would_lose_its_type_is_refused(tmp_path):
    refused = [
        (np.array([object()]), ValueError, "arrays of objects are not written"),
        (float("nan"), ValueError, "not JSON compliant"),
        ({"x": np.arange(2)}, TypeError, "ndarray is not JSON serializable"),
        (None, TypeError, "a NoneType is neither bytes, text, a number, "),
        ({1, 2}, TypeError, "a set is neither"),
        ("\ud800", ValueError, "surrogates not allowed"),
    ]
    with contextlib.suppress(ImportError):
        import ml_dtypes

        bfloat16 = np.zeros(3, ml_dtypes.bfloat16)
        refused.append((bfloat16, ValueError, "have no name for the type bfloat16"))
    with shardpack.Writer(tmp_path / "r.shardpack") as writer:
        writer.write("good", {"x": 1})
        for value, error, message in refused:
            with pytest.raises(error, match=f'^"bad": entry "x": .*{message}'):
                writer.write("bad", {"x": value})
    assert shardpack.open(tmp_path / "r.shardpack").keys() == ["good"]


def test_samples_by_key(tmp_path):
    with shardpack.Writer(tmp_path / "k.shardpack") as writer:
        for number in range(3):
            writer.write(f"k{number}", {"n": number})
    dataset = shardpack.open(tmp_path / "k.shardpack")
    assert dataset["k2"]["n"].decode() == 2 == dataset[2]["n"].decode()
    with pytest.raises(KeyError, match="k3"):
        dataset["k3"]


METADATA = {
    "json": (b'{"a":1}', {"a": 1}),
    "msgpack": (b"\x81\xa1a\x01", {"a": 1}),
    "cbor": (b"\xa1aa\x01", {"a": 1}),
    "opaque": (b"\x00any", b"\x00any"),
}


@pytest.mark.parametrize("format", METADATA)
@pytest.mark.parametrize("is_installed", [True, False], ids=["with packages", "without"])
def test_metadata_say_what_they_are_encoded_as(tmp_path, monkeypatch, format, is_installed):
    data, value = METADATA[format]
    with shardpack.Writer(tmp_path / "m.shardpack") as writer:
        metadata = shardpack.Metadata(data, format)
        writer.write("key", {"x": b"", "y": b""}, metadata=metadata, file_metadata={"x": metadata})
    record = shardpack.open(tmp_path / "m.shardpack")["key"]
    # Stand-ins, as the packages need not be there.
    for name, function in (("msgpack", "unpackb"), ("cbor2", "loads")):
        package = types.SimpleNamespace(**{function: lambda found: {"a": found[-1]}})
        monkeypatch.setitem(sys.modules, name, package if is_installed else None)
    expected = data if format in ("msgpack", "cbor") and not is_installed else value
    for one in (record, record["x"]):
        assert (one.metadata_format, one.metadata) == (format, expected)
    assert (record["y"].metadata_format, record["y"].metadata) == (None, None)
