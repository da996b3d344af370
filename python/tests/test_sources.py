"""dolium.info, stats and verify: whatever is at a location."""

import subprocess
import sys

import numpy as np
import pytest

import dolium
import shardpack
from conftest import flip_byte


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
