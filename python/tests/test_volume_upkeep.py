"""Pyramids after edits, scales that go, arrays that become volumes, damage, broken infos."""

import io
import json
import os
import pty
import re
import shutil

import numpy as np
import pytest

import dolium
from dolium._progress import ProgressBar
from volume_makers import random_array

SIZE = (70, 50, 30)


@pytest.fixture
def pyramid(tmp_path):
    volume = dolium.Volume.from_array(
        tmp_path / "v",
        random_array(SIZE, "uint32"),
        resolution=(8, 8, 40),
        chunk_size=(16, 16, 16),
        shard_size=1 << 16,
    )
    dolium.volume.downsample(volume, scales=3)
    return dolium.Volume.open(tmp_path / "v")


def test_from_array(tmp_path):
    array = random_array((40, 30, 20), "int16")
    volume = dolium.Volume.from_array(
        tmp_path / "v", array, offset=(5, -7, 2), resolution=(4, 4, 40), chunk_size=(16, 8, 8),
        shard_size=1 << 14,
    )
    np.testing.assert_array_equal(volume[...], array)
    assert volume.offset == (5, -7, 2) and volume.dtype == np.int16
    assert volume.verify().errors == 0
    assert not list((tmp_path / "v").rglob(".dolium*"))
    with pytest.raises(FileExistsError):
        dolium.Volume.from_array(tmp_path / "v", array)
    np.testing.assert_array_equal(dolium.Volume.open(tmp_path / "v")[...], array)
    other = dolium.Volume.from_array(tmp_path / "v", array[..., np.newaxis] * 0, force=True)
    assert not other[...].any() and other.ndim == 3

    many = random_array((10, 11, 12, 3), "float32")
    calls = []
    volume = dolium.Volume.from_array(
        tmp_path / "many", many, progress=lambda *call: calls.append(call), gzip_files=True
    )
    np.testing.assert_array_equal(volume[...], many)
    assert calls[-1] == (many.size, many.size, many.nbytes)
    with pytest.raises(ValueError, match="dimensions"):
        dolium.Volume.from_array(tmp_path / "x", np.zeros(3))
    with pytest.raises(ValueError, match=r"found shape \(0, 4, 4\), expected at least one voxel"):
        dolium.Volume.from_array(tmp_path / "x", np.zeros((0, 4, 4), "u1"))
    with pytest.raises(TypeError, match="shape"):
        dolium.Volume.from_array(tmp_path / "x", many, shape=(1, 1, 1))
    bad = np.zeros((2, 2, 2), "int64")
    volume = dolium.Volume.from_array(tmp_path / "bytes", np.ones((2, 2, 2), "u1"), dtype="u2")
    assert volume.dtype == np.uint16 and volume[...].all()
    with pytest.raises((TypeError, ValueError)):
        dolium.Volume.from_array(tmp_path / "x", bad)


def test_an_array_that_was_not_written_to_its_end_is_unfinished(tmp_path):
    def stop(*_):
        raise KeyboardInterrupt

    array = np.ones((8, 8, 8), "u1")
    with pytest.raises(KeyboardInterrupt):
        dolium.Volume.from_array(tmp_path / "v", array, progress=stop)
    with pytest.raises(OSError, match="unfinished"):
        dolium.Volume.open(tmp_path / "v")
    with pytest.raises(FileExistsError, match="force=True"):
        dolium.Volume.from_array(tmp_path / "v", array)
    assert dolium.Volume.from_array(tmp_path / "v", array, force=True)[...].all()


def test_new_volumes_are_such_that_verify_calls_good(tmp_path):
    with pytest.raises(ValueError, match="a segmentation has one channel"):
        dolium.Volume.create(tmp_path / "a", shape=(8, 8, 8, 3), dtype="u8", type="segmentation")
    with pytest.raises(ValueError, match="the labels of a segmentation are integers"):
        dolium.Volume.create(tmp_path / "a", shape=(8, 8, 8), dtype="f4", type="segmentation")
    assert not (tmp_path / "a").exists()
    volume = dolium.Volume.create(tmp_path / "a", shape=(8, 8, 8, 3), dtype="u8")
    assert volume.info["type"] == "image"
    volume[...] = 1
    assert volume.verify().warnings == 0


def test_scale_by_resolution(pyramid):
    assert pyramid.scale(resolution=(8, 8, 40)).scale_index == 0
    assert pyramid.scale(resolution=(16, 16, 40)).scale_index == 1
    assert pyramid.scale(resolution=np.array([32.0, 32, 40])).scale_index == 2
    with pytest.raises(IndexError, match=r"no scales with a resolution of \(9.0, 9.0, 9.0\)"):
        pyramid.scale(resolution=(9, 9, 9))
    with pytest.raises(TypeError):
        pyramid.scale()
    with pytest.raises(TypeError):
        pyramid.scale(0, resolution=(8, 8, 40))


def test_scales_are_counted_in_all(pyramid):
    assert pyramid.num_scales == 3
    report = dolium.volume.downsample(pyramid, scales=3)
    assert report.parts == 0
    assert dolium.Volume.open(pyramid.location).num_scales == 3
    dolium.volume.downsample(pyramid, from_scale=0, scales=4)
    assert [s["key"] for s in dolium.Volume.open(pyramid.location).info["scales"]] == [
        "8_8_40", "16_16_40", "32_32_40", "64_64_80",
    ]  # fmt: skip


def test_rebuild(pyramid, tmp_path):
    stale = pyramid.scale(1)[...]
    pyramid[10:40, 5:30, 3:20] = 123456
    np.testing.assert_array_equal(pyramid.scale(1)[...], stale)
    info = (tmp_path / "v" / "info").read_bytes()
    plan = dolium.volume.plan_downsample(pyramid, rebuild=True)
    assert len(plan.stages) == 2
    report = plan.run()
    assert report.written.entries > 0
    # Who had it open reads the new data, too.
    expected = dolium.Volume.from_array(
        tmp_path / "w", pyramid[...], resolution=(8, 8, 40), chunk_size=(16, 16, 16)
    )
    dolium.volume.downsample(expected, scales=3)
    expected = dolium.Volume.open(tmp_path / "w")
    for scale in (1, 2):
        np.testing.assert_array_equal(pyramid.scale(scale)[...], expected.scale(scale)[...])
    assert (pyramid.scale(1)[...] == 123456).any()
    assert (tmp_path / "v" / "info").read_bytes() == info
    assert not list((tmp_path / "v").rglob(".dolium*"))
    assert pyramid.verify().errors == 0
    with pytest.raises(ValueError, match="chunk_size: contradicts rebuild"):
        dolium.volume.plan_downsample(pyramid, rebuild=True, chunk_size=(8, 8, 8))
    with pytest.raises(ValueError, match="scales: contradicts rebuild"):
        dolium.volume.plan_downsample(pyramid, rebuild=True, scales=2)


def test_drop_scale(pyramid):
    with pytest.raises(ValueError, match="force=True drops it"):
        dolium.volume.drop_scale(pyramid, 0)
    assert dolium.volume.drop_scale(pyramid, (16, 16, 40)) == ["16_16_40"]
    left = dolium.Volume.open(pyramid.location)
    assert [s["key"] for s in left.info["scales"]] == ["8_8_40", "32_32_40"]
    assert not os.path.exists(os.path.join(left.location, "16_16_40"))
    assert left.verify().errors == 0
    assert dolium.volume.drop_scale(left, 0, force=True) == ["8_8_40"]
    with pytest.raises(ValueError, match="at least one"):
        dolium.volume.drop_scale(left, 0, force=True)
    with pytest.raises(ValueError, match="no scale has a resolution"):
        dolium.volume.drop_scale(left, (1, 2, 3))


def test_damage_is_left_out_and_named(tmp_path):
    volume = dolium.Volume.from_array(
        tmp_path / "v", random_array(SIZE, "uint16"), sharded=False, chunk_size=(32, 32, 32)
    )
    array = volume[...]
    (tmp_path / "v" / "1_1_1" / "0-32_0-32_0-30").write_bytes(b"not so many voxels")
    with pytest.raises(dolium.CorruptError, match="voxels 0:32,0:32,0:30"):
        volume[...]
    assert volume.skipped == []
    opened = dolium.Volume.open(tmp_path / "v", skip_damaged=True)
    array[:32, :32] = 0
    np.testing.assert_array_equal(opened[...], array)
    np.testing.assert_array_equal(opened.read_many([np.s_[:40, :, :]])[0], array[:40])
    [finding] = opened.skipped
    assert "voxels 0:32,0:32,0:30" in finding.message
    assert finding.object.endswith("0-32_0-32_0-30")

    with pytest.raises(dolium.CorruptError):
        dolium.volume.transcode(tmp_path / "v", tmp_path / "w", chunk_size=(16, 16, 16))
    report = dolium.volume.transcode(
        tmp_path / "v", tmp_path / "x", chunk_size=(16, 16, 16), skip_damaged=True
    )
    assert [f.message for f in report.skipped] == [finding.message]
    np.testing.assert_array_equal(dolium.Volume.open(tmp_path / "x")[...], array)
    report = dolium.volume.downsample(tmp_path / "v", scales=2, skip_damaged=True)
    assert len(report.skipped) == 1
    assert not dolium.Volume.open(tmp_path / "v", scale=1)[:16, :16].any()


BROKEN = [
    b"",
    b"{",
    b"no JSON at all",
    b"[]",
    b'{"type": "image", "data_type": "uint8", "num_channels": "one", "scales": []}',
    b'{"type": "image", "data_type": 8, "num_channels": 1, "scales": [{"key": 5}]}',
    b'{"scales": 7}',
]


@pytest.mark.parametrize("text", BROKEN, ids=range(len(BROKEN)))
def test_a_broken_info_is_corrupt(pyramid, tmp_path, text):
    folder = tmp_path / "v"
    (folder / "info").write_bytes(text)
    calls = [
        lambda: dolium.Volume.open(folder),
        lambda: pyramid.verify(),
        lambda: dolium.open(folder),
        lambda: dolium.info(folder),
        lambda: dolium.verify(folder),
        lambda: dolium.stats(folder),
        lambda: dolium.volume.downsample(folder),
        lambda: dolium.volume.downsample(folder, rebuild=True),
        lambda: dolium.volume.drop_scale(folder, 1),
        lambda: dolium.volume.transcode(folder, tmp_path / "x"),
        lambda: dolium.convert(folder, tmp_path / "x"),
    ]
    for call in calls:
        with pytest.raises(dolium.CorruptError, match="info"):
            call()
    assert not (tmp_path / "x").exists()


def test_an_info_of_something_else_is_not_broken(tmp_path):
    (tmp_path / "info").write_text(json.dumps({"@type": "neuroglancer_skeletons"}))
    with pytest.raises(ValueError, match="that is skeletons"):
        dolium.Volume.open(tmp_path)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_bar_says_how_far_it_is(monkeypatch):
    monkeypatch.setattr(shutil, "get_terminal_size", lambda: os.terminal_size((80, 24)))
    stream = Terminal()
    bar = ProgressBar("ingest", stream)
    line = bar.line(25, 100, 50_000_000, 10.0)
    assert re.fullmatch(r"ingest: \[#+\.+\]  25% 25/100, 5 MB/s, 0:30 left", line)
    assert len(line) == 79
    assert bar.line(100, 100, 10, 1.0).count(".") == 0
    assert bar.line(7, 0, 5_000_000, 1.0) == "ingest: 7, 5.0 MB, 5 MB/s"
    bar(1, 2, 3)
    bar(2, 2, 6)
    bar.close()
    assert stream.getvalue().endswith("\r" + " " * 79 + "\r")
    silent = io.StringIO()
    ProgressBar("ingest", silent)(1, 1, 1)
    assert silent.getvalue() == ""


def test_progress_true_shows_a_bar_on_a_terminal(pyramid, tmp_path, monkeypatch):
    np.save(tmp_path / "a.npy", random_array(SIZE, "uint8"))
    runs = {
        "from_array": lambda: dolium.Volume.from_array(
            tmp_path / "f", random_array(SIZE, "uint8"), progress=True
        ),
        "volume": lambda: dolium.volume.ingest(tmp_path / "a.npy", tmp_path / "i", progress=True),
        "verify": lambda: pyramid.verify(progress=True),
    }
    for label, run in runs.items():
        stream = Terminal()
        monkeypatch.setattr("sys.stderr", stream)
        run()
        assert f"\r{label}: " in stream.getvalue(), label
        assert stream.getvalue().endswith(" \r")
    monkeypatch.setattr("sys.stderr", io.StringIO())
    dolium.volume.downsample(tmp_path / "i", rebuild=True, progress=True)
    assert pyramid.verify(progress=False).errors == 0


def test_a_bar_is_drawn_on_a_real_terminal(tmp_path, monkeypatch):
    controller, terminal = pty.openpty()
    with open(terminal, "w") as stream:
        monkeypatch.setattr("sys.stderr", stream)
        dolium.Volume.from_array(tmp_path / "v", np.ones((8, 8, 8), "u1"), progress=True)
    drawn = os.read(controller, 4096).decode()
    os.close(controller)
    assert "100% 512/512" in drawn
