"""dolium.info, stats and verify: whatever is at a location."""

import pytest

import dolium
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


def test_nothing(tmp_path):
    for function in (dolium.info, dolium.stats, dolium.verify):
        with pytest.raises(FileNotFoundError):
            function(tmp_path / "none")
