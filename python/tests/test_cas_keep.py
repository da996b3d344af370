"""dolium.cas.Store: what versions keep, which are kept, and shards in and out."""

import hashlib
import os
import random

import pytest

from dolium import cas


@pytest.fixture
def store(tmp_path):
    return cas.Store.init(tmp_path / "store")


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "source"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.txt").write_text("text")
    os.link(folder / "a.txt", folder / "sub" / "b.txt")
    (folder / "sub" / "c.tmp").write_text("rest")
    os.mkfifo(folder / "pipe")
    return folder


def test_put_excludes_and_tags(store, source):
    version = store.put(source, name="set", exclude=["*.tmp"], tags=["b", "a"], host="box")
    assert (version.tags, version.host, version.skipped) == (("a", "b"), "box", ())
    entries = {entry.path: entry for entry in store.ls("set")}
    assert set(entries) == {".", "a.txt", "pipe", "sub", "sub/b.txt"}
    assert entries["a.txt"].inode == entries["sub/b.txt"].inode != 0
    assert entries["a.txt"].owner == (os.getuid(), os.getgid())
    assert entries["pipe"].type == "fifo"
    assert store.put(source, name="set", owners=False).host == os.uname().nodename
    assert [version.sequence for version in store.log("set", tags=["a"])] == [1]
    assert store.ls("set")[0].owner is None
    for wrong in ({"exclude": ["!x"]}, {"tags": ["a,b"]}, {"host": ""}):
        with pytest.raises(ValueError):
            store.put(source, name="set", **wrong)
    for slip in ({"exclude": "*.tmp"}, {"tags": "a"}):
        with pytest.raises(TypeError):
            store.put(source, name="set", **slip)


def test_get_a_path(store, source, tmp_path):
    store.put(source, name="set")
    files, size = store.get("set", tmp_path / "sub", path="sub/")
    assert (files, size) == (2, 8)
    assert (tmp_path / "sub" / "b.txt").read_text() == "text"
    restored = store.get("set", tmp_path / "file", path="a.txt")
    assert (restored.files, restored.bytes, restored.skipped) == (1, 4, ())
    with pytest.raises(KeyError):
        store.get("set", tmp_path / "none", path="none")


def test_get_skips_damaged_files(store, tmp_path):
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(3):
        (folder / str(number)).write_bytes(random.Random(number).randbytes(200_000))
    store.put(folder)
    (xorb,) = (tmp_path / "store" / "xorbs").rglob("*.xorb")
    data = bytearray(xorb.read_bytes())
    data[250_000] ^= 1
    xorb.chmod(0o644)
    xorb.write_bytes(data)
    store = cas.Store(tmp_path / "store")
    with pytest.raises(Exception, match="chunk"):
        store.get("many", tmp_path / "out")
    restored = store.get("many", tmp_path / "rest", skip_damaged=True)
    assert restored.files == 2
    ((path, reason),) = restored.skipped
    assert path == str(tmp_path / "rest" / "1")
    assert "chunk" in reason


def test_forget(store):
    for number in range(5):
        store.put_bytes(bytes([number]), "n")
    with pytest.raises(ValueError):
        store.forget()
    dry = store.forget("n", keep_last=2, dry_run=True)
    assert [(choice.version.sequence, choice.kept) for choice in dry] == [
        (5, True),
        (4, True),
        (3, False),
        (2, False),
        (1, False),
    ]
    assert len(store.log("n")) == 5
    store.forget(keep_last=2)
    assert [version.sequence for version in store.log("n")] == [4, 5]
    store.forget("n", keep_yearly=1, tags=["none"])
    assert len(store.log("n")) == 2
    with pytest.raises(KeyError):
        store.forget("other", keep_last=1)


def test_gc_says_that_it_repacked(store):
    assert store.gc(grace=0)["not_repacked"] == ""


@pytest.fixture
def upload(store, tmp_path):
    """An upload of one file of a store, and the file's bytes."""
    data = random.Random(1).randbytes(300_000)
    (tmp_path / "file").write_bytes(data)
    store.put(tmp_path / "file")
    report = store.export(tmp_path / "up.mdb", "file", xorbs=tmp_path / "xorbs", upload=True)
    assert report == {"files": 1, "bytes": 300_000, "xorbs": 1, "copied_xorbs": 1}
    return (tmp_path / "up.mdb").read_bytes(), data


def test_a_shard_is_read(upload, tmp_path):
    shard, data = upload
    read = cas.read_shard(shard)
    assert read.footer is None
    (file,) = read.files
    (xorb,) = read.xorbs
    chunks = cas.chunks(data)
    assert file.hash == cas.file_hash(tmp_path / "file")
    assert file.size == xorb.raw_bytes == 300_000
    assert file.sha256 == hashlib.sha256(data).hexdigest()
    assert file.terms == [(xorb.hash, 0, len(chunks), 300_000)]
    assert [(chunk.hash, chunk.size) for chunk in xorb.chunks] == chunks
    assert [chunk.eligible for chunk in xorb.chunks] == [True] + [False] * (len(chunks) - 1)
    assert xorb.chunks[1].offset == chunks[0].size
    assert len(file.range_hashes) == 1
    # With footer and tables, and without range hashes.
    (full,) = cas.unite_shards([shard], created=5, expiry=7)
    assert cas.read_shard(full).footer[:3] == (None, 5, 7)
    assert cas.read_shard(full).footer[-3:] == (1, 1, len(chunks))
    assert cas.read_shard(cas.unite_shards([shard])[0]).footer.expiry is None
    assert cas.read_shard(cas.unite_shards([shard], expiry=0)[0]).footer.expiry is None
    assert cas.unite_shards([full], footer=False) == [shard]
    keyed = cas.read_shard(cas.key_shard(shard, "1" * 64, expiry=0))
    assert (keyed.files, keyed.footer.key) == ([], "1" * 64)
    assert keyed.xorbs[0].chunks[0].hash != chunks[0].hash


def test_a_key_without_expiry_does_not_expire(upload):
    shard, data = upload
    keyed = cas.key_shard(shard, "1" * 64, expiry=0)
    assert cas.find_run(keyed, [cas.chunks(data)[0].hash]) is not None


def test_what_is_wrong_with_a_shard_is_found_on_request(upload):
    shard = bytearray(upload[0])
    at = len(shard) - 2 * 48  # the hash of the last chunk
    shard[at] ^= 1
    with pytest.raises(Exception, match="chunks give the hash"):
        cas.read_shard(shard)
    assert len(cas.read_shard(shard, check=False).files) == 1
    with pytest.raises(Exception, match="remain|bookend"):
        cas.read_shard(shard[:-48], check=False)


def test_an_upload_whose_header_announces_a_footer_is_read_and_imported(upload, tmp_path):
    shard, data = upload
    old = shard[:40] + (200).to_bytes(8, "little") + shard[48:]
    assert cas.read_shard(old) == cas.read_shard(shard)
    (tmp_path / "old.mdb").write_bytes(old)
    other = cas.Store.init(tmp_path / "other")
    version = other.import_shard(tmp_path / "old.mdb", "in", xorbs=tmp_path / "xorbs")
    assert version.files == 1
    assert other.read(cas.file_hash(tmp_path / "file")) == data
    with pytest.raises(Exception, match="is it complete"):
        cas.read_shard(old[:-48])
