"""dolium.info, stats and verify: whatever is at a location."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

import dolium
import pack_makers  # noqa: F401  (where the tests' servers are)
import shardpack
from conftest import flip_byte
from range_server import RangeServer


def test_a_set(location, values):
    assert dolium.info(location)["kind"] == "sharded set"
    assert dolium.stats(location).stored_size.count == len(values)
    report = dolium.verify(location)
    assert report.ok and report.entries_read == len(values)


def test_a_plain_folder(folder):
    info = dolium.info(folder)
    assert (info["kind"], info["format"], info["finished"]) == ("folder of files", "files", True)
    assert dolium.verify(folder, quick=True).entries == 3


def test_a_volume(filled):
    volume, _ = filled
    info = dolium.info(volume.location)
    assert info["kind"] == "volume"
    assert info["properties"]["data_type"] == "uint16"
    count = dolium.stats(volume.location).stored_size.count
    assert count > 0
    report = volume.verify()
    assert report.ok and report.entries == count
    assert report == dolium.verify(volume.location)


def test_open_shows_the_entries_of_a_volume(filled):
    volume, _ = filled
    entries = dolium.open(volume.location)
    assert entries.format == "precomputed"
    assert len(list(entries.keys())) == dolium.stats(volume.location).stored_size.count
    with pytest.raises(NotImplementedError, match="cannot be changed"):
        entries["mine"] = b"x"


def test_open_shows_the_entries_of_a_cas_store(tmp_path):
    store = dolium.cas.Store.init(tmp_path / "store")
    (tmp_path / "file").write_bytes(b"text")
    store.put(tmp_path / "file", name="file")
    entries = dolium.open(tmp_path / "store")
    assert dict(entries.items()) == {"file@1": b"text"}
    with pytest.raises(NotImplementedError, match="cannot be changed"):
        del entries["file@1"]


def test_a_cas_store(tmp_path):
    store = dolium.cas.Store.init(tmp_path / "store")
    (tmp_path / "file").write_bytes(bytes(range(256)) * 1000)
    store.put(tmp_path / "file")
    assert dolium.info(tmp_path / "store")["kind"] == "cas store"
    assert dolium.stats(tmp_path / "store").stored_size.count == 1
    assert dolium.verify(tmp_path / "store").ok
    [xorb] = (tmp_path / "store" / "xorbs").rglob("*.xorb")
    xorb.chmod(0o644)
    flip_byte(xorb, 20)
    report = dolium.verify(tmp_path / "store")
    assert not report.ok
    assert "damaged_file" in [finding.kind for finding in report.findings]


def test_every_verify_gives_the_same_report(location, filled, tmp_path):
    store = dolium.cas.Store.init(tmp_path / "store")
    store.put_bytes(b"text" * 1000, "n")
    shard = tmp_path / "one.shardpack"
    with shardpack.Writer(shard) as writer:
        writer.write("a", {"x": b"value", "y": b"other"})
    samples = shardpack.verify(shard, jobs=1)
    for report in (
        dolium.verify(location, jobs=1),
        dolium.open(location).verify(jobs=1),
        filled[0].verify(jobs=1),
        store.verify(jobs=1),
        samples,
    ):
        assert type(report) is dolium.VerifyReport
        assert report and report.ok and report.findings == []
    assert (samples.records, samples.entries, samples.size) == (1, 2, shard.stat().st_size)
    assert shardpack.verify(shard, quick=True) == shardpack.verify(shard, contents=False)
    assert shardpack.VerifyReport is dolium.VerifyReport
    assert shardpack.Finding is dolium.cas.Damage is dolium.Finding


def test_findings_are_the_same_everywhere(tmp_path):
    shard = tmp_path / "one.shardpack"
    with shardpack.Writer(shard) as writer:
        writer.write("a", {"x": bytes(10_000)})
    flip_byte(shard, shard.stat().st_size // 2)
    report = shardpack.verify(shard)
    assert not report and report.errors == len(report.findings) > 0
    finding = report.findings[0]
    assert type(finding) is dolium.Finding and finding.severity == "error"
    begin, end = finding.range
    assert 0 <= begin < end <= shard.stat().st_size


def test_dolium_needs_no_shardpack():
    script = "import sys, dolium; sys.exit('shardpack' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_nothing(tmp_path):
    for function in (dolium.info, dolium.stats, dolium.verify):
        with pytest.raises(FileNotFoundError):
            function(tmp_path / "none")


def test_a_container_verifies_what_its_location_holds(tmp_path):
    """The mapping and the function see the same damage, and count the same."""
    volume = dolium.Volume.create(
        tmp_path / "v", dtype="uint8", shape=(8, 8, 8), chunk_size=(8, 8, 8),
        encoding="png", sharded=False,
    )  # fmt: skip
    volume[:, :, :] = np.arange(512, dtype=np.uint8).reshape(8, 8, 8)
    chunk = next(path for path in (tmp_path / "v").rglob("0-8_0-8_0-8*"))
    chunk.write_bytes(b"no picture")
    by_function = dolium.verify(tmp_path / "v")
    by_mapping = dolium.open(tmp_path / "v").verify()
    assert by_function.errors == 1
    assert by_mapping == by_function
    for options in ({}, {"skip_damaged": True}):
        opened = dolium.Volume.open(tmp_path / "v", **options)
        assert opened.verify() == pickle.loads(pickle.dumps(opened)).verify() == by_function
    assert dolium.open(tmp_path / "v").stats() == dolium.stats(tmp_path / "v")

    store = dolium.cas.Store.init(tmp_path / "store")
    (tmp_path / "a").write_bytes(bytes(range(256)) * 100)
    store.put(tmp_path / "a", name="a")
    shard = next((tmp_path / "store" / "shards").rglob("*.mdb"))
    data = bytearray(shard.read_bytes())
    data[60] ^= 0xFF
    shard.write_bytes(data)
    by_function = dolium.verify(tmp_path / "store")
    assert by_function.errors > 1
    assert dolium.open(tmp_path / "store").verify() == by_function
    assert dolium.open(tmp_path / "store").stats() == dolium.stats(tmp_path / "store")


def test_chunks_that_a_volume_lacks_are_warnings_if_asked(tmp_path):
    volume = dolium.Volume.create(
        tmp_path / "v", dtype="uint8", shape=(16, 8, 8), chunk_size=(8, 8, 8), sharded=False
    )
    volume[:8, :, :] = 1
    assert volume.verify().warnings == dolium.verify(tmp_path / "v").warnings == 0
    for word in ("strict", "missing"):
        assert volume.verify(**{word: True}).warnings == 1
        assert dolium.verify(tmp_path / "v", **{word: True}).warnings == 1
    assert dolium.open(tmp_path / "v").verify(strict=True).warnings == 1


def test_a_set_without_an_info_is_opened_by_its_spec(location, values):
    spec = dolium.open(location).sharding
    (location / "info").unlink()
    functions = (dolium.info, dolium.stats, dolium.verify, dolium.open, dolium.Container)
    for function in functions:
        with pytest.raises(FileNotFoundError, match="; give the spec with spec=$"):
            function(location)
        for word in ("spec", "sharding"):
            assert function(location, **{word: spec})
        with pytest.raises(TypeError, match="spec and sharding are the same thing"):
            function(location, spec=spec, sharding=spec)
    assert dolium.verify(location, spec=spec).entries == len(values)
    again = pickle.loads(pickle.dumps(dolium.open(location, spec=spec)))
    assert len(again) == len(values)


@pytest.fixture
def export(tmp_path):
    """A DVID export without a spec beside it, the spec, and how many blocks it has."""
    labels = np.arange(128 * 64 * 64, dtype=np.uint64).reshape(128, 64, 64) // 5000
    volume = dolium.Volume.create(tmp_path / "seg", shape=labels.shape, dtype="uint64")
    volume[...] = labels
    dolium.dvid.write(tmp_path / "seg", tmp_path / "export", shard_side=64)
    spec = (tmp_path / "export" / "spec.json").rename(tmp_path / "made_with.json")
    return tmp_path / "export", spec, 2


def test_an_export_is_checked_as_it_was_opened(export):
    """Its spec is no sharding spec of a set, by which nothing would be found and checked."""
    folder, spec, blocks = export
    volume = dolium.Volume.open(folder, spec=spec, coordinates="block", supervoxels=True)
    report = volume.verify()
    assert report.entries == report.entries_read == blocks
    assert report == dolium.verify(folder, spec=spec, coordinates="block")
    assert dolium.info(folder, spec=spec)["kind"] == "DVID export"
    assert dolium.stats(folder, spec=spec).stored_size.count == blocks


def test_exports_are_opened_with_the_options_of_volumes(export):
    folder, _, blocks = export
    # Block 0,0,0 is under a name that says that it begins at 64: one of another place.
    for suffix in (".arrow", ".csv"):
        (folder / "s0" / f"0_0_0{suffix}").rename(folder / "s0" / f"192_0_0{suffix}")
    with pytest.raises(dolium.CorruptError, match="skip_damaged=True"):
        dolium.Volume.open(folder)
    for function in (dolium.stats, dolium.verify, dolium.info):
        with pytest.raises(ValueError, match="auto, block or voxel"):
            function(folder, coordinates="metres")
    volume = dolium.Volume.open(folder, skip_damaged=True)
    report = volume.verify()
    assert report.entries == blocks and report == dolium.verify(folder, skip_damaged=True)


def test_what_is_read_remotely_is_kept(location, tmp_path):
    cache = tmp_path / "cache"
    with RangeServer(tmp_path) as server:
        url = f"{server.url}/{location.name}"
        expected = [dolium.info(url, cache=cache), dolium.stats(url, cache=cache)]
        expected.append(dolium.verify(url, cache=cache))
        server.take_log()
        offline = dolium.Cache(cache, offline=True)
        functions = (dolium.info, dolium.stats, dolium.verify)
        assert [function(url, cache=offline) for function in functions] == expected
        assert not server.take_log()


def test_a_remote_volume_is_verified_by_its_cache(filled, tmp_path):
    folder = filled[0].location
    with RangeServer(folder) as server:
        dolium.verify(server.url, cache=tmp_path / "cache")
        server.take_log()
        offline = dolium.Cache(tmp_path / "cache", offline=True)
        assert dolium.Volume.open(server.url, cache=offline).verify().ok
        assert not server.take_log()
