"""dolium.cas: names of files, chunks and xorbs."""

import hashlib
import os
import random
import threading

import pytest

import dolium
from dolium import cas

HELLO = b"Hello World!"
HELLO_CHUNK = "d8d408e608fb9ca213b9909a65d86d725f2de4d8d540324be8a363e7a6e228cb"
HELLO_FILE = "a9dae0ad88b060bdd7e7c87abdcf95b132c95a0414b06d4f6beb68d287b87165"


def test_a_file_has_its_name(tmp_path):
    path = tmp_path / "hello"
    path.write_bytes(HELLO)
    assert cas.file_hash(path) == HELLO_FILE
    assert cas.file_hash(str(path), jobs=1) == HELLO_FILE
    (tmp_path / "constant").write_bytes(b"\x3b" * 1_000_000)
    assert (
        cas.file_hash(tmp_path / "constant")
        == "53f845640fcd1c7440befff65bd93434c83a30c6559a705597d61f2ef64e2f88"
    )
    (tmp_path / "empty").touch()
    assert cas.file_hash(tmp_path / "empty") == "0" * 64


def test_many_files_are_hashed_in_order(tmp_path):
    source = random.Random(1)
    contents = [source.randbytes(source.choice((0, 1, 5000, 300_000))) for _ in range(50)]
    contents.append(source.randbytes(10_000_000))
    paths = []
    for number, content in enumerate(contents):
        paths.append(tmp_path / str(number))
        paths[-1].write_bytes(content)
    hashed = cas.hash_files(iter(paths), sha256=True)
    assert [file.hash for file in hashed] == [cas.file_hash(path, jobs=1) for path in paths]
    assert [file.size for file in hashed] == [len(content) for content in contents]
    assert [file.sha256 for file in hashed] == [
        hashlib.sha256(content).hexdigest() for content in contents
    ]
    assert cas.hash_files(paths[:1])[0].sha256 is None
    assert cas.hash_files([]) == []


def test_a_file_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match="absent"):
        cas.file_hash(tmp_path / "absent")
    with pytest.raises(OSError):
        cas.file_hash(tmp_path)


def test_hashing_lets_other_threads_run(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    # Opening the pipe waits for the other end: with the GIL held, both would wait for ever.
    writer = threading.Thread(target=lambda: path.write_bytes(HELLO))
    writer.start()
    assert cas.file_hash(path) == HELLO_FILE
    writer.join()


def test_chunks_are_cut_by_content():
    data = random.Random(2).randbytes(2_000_000)
    chunks = cas.chunks(data)
    assert chunks == cas.chunks(memoryview(data), jobs=1)
    assert sum(chunk.size for chunk in chunks) == len(data)
    at = 0
    for chunk in chunks:
        assert cas.chunk_hash(data[at : at + chunk.size]) == chunk.hash
        at += chunk.size
    later = cas.chunks(data[:1_000_000] + b"something new" + data[1_000_000:])
    assert len(set(chunks) - set(later)) <= 3
    assert cas.chunks(b"") == []


def test_a_xorb_is_read_back():
    assert cas.chunk_hash(HELLO) == HELLO_CHUNK
    pieces = [HELLO, bytes(5000), random.Random(3).randbytes(100_000)]
    for compression in ("auto", "none", "lz4", "bg4-lz4"):
        for footer in (True, False):
            name, data = cas.make_xorb(pieces, compression=compression, footer=footer)
            xorb = cas.read_xorb(data, name)
            assert xorb.hash == name == cas.xorb_hash(xorb.chunks)
            assert [chunk.size for chunk in xorb.chunks] == [len(piece) for piece in pieces]
            assert [chunk.hash for chunk in xorb.chunks] == [
                cas.chunk_hash(piece) for piece in pieces
            ]
    damaged = bytearray(data)
    damaged[20] ^= 1
    with pytest.raises(dolium.CorruptError):
        cas.read_xorb(damaged, name)
    with pytest.raises(dolium.CorruptError):
        cas.read_xorb(data, HELLO_CHUNK)
    assert cas.make_xorb([HELLO])[0] == HELLO_CHUNK


def test_senseless_arguments_are_refused():
    with pytest.raises(ValueError, match="compression"):
        cas.make_xorb([HELLO], compression="zip")
    with pytest.raises(ValueError, match="131072"):
        cas.make_xorb([bytes(131_073)])
    with pytest.raises(ValueError, match="at least one"):
        cas.make_xorb([])
    with pytest.raises(ValueError, match="64"):
        cas.xorb_hash([("abc", 5)])
