"""Chunks that cloud-volume keeps as `.gz`, `.br` and `.zstd`: read, changed, served."""

import shutil

import dolium
import numpy as np
import pytest

import program
import volumes
from range_server import RangeServer
from volumes import CloudVolumeVolume

BLOCK = {"compressed_segmentation_block_size": [8, 8, 8]}
SUFFIXES = {"gzip": ".gz", "br": ".br", "zstd": ".zstd"}
KEY = "4_4_40"
# In voxels from the offset: a part of many chunks, and whole ones.
BOX = (slice(10, 35), slice(10, 33), slice(2, 25))


def absolute(box):
    return tuple(slice(o + s.start, o + s.stop) for o, s in zip(volumes.OFFSET, box))


def names(folder):
    return sorted(path.name for path in (folder / KEY).iterdir())


@pytest.fixture(params=SUFFIXES)
def compress(request):
    return request.param


def test_an_assignment_keeps_the_form_and_changes_nothing_else(compress, tmp_path):
    array = volumes.labels("uint64")
    CloudVolumeVolume(tmp_path / "both", array, "compressed_segmentation", compress, **BLOCK)
    before = names(tmp_path / "both")
    assert all(name.endswith(SUFFIXES[compress]) for name in before)
    ours = dolium.Volume.open(tmp_path / "both")
    ours[absolute(BOX)] = 77
    array[BOX] = 77
    assert names(tmp_path / "both") == before
    np.testing.assert_array_equal(CloudVolumeVolume(tmp_path / "both").read(), array)
    ours[...] = array[..., 0] + 1  # Whole chunks, whose old voxels are not read.
    assert names(tmp_path / "both") == before
    np.testing.assert_array_equal(CloudVolumeVolume(tmp_path / "both").read(), array + 1)


def test_chunks_of_several_forms_are_one_volume(tmp_path):
    array = volumes.labels("uint64")
    folder = tmp_path / "both"
    CloudVolumeVolume(folder, array, "compressed_segmentation", "zstd", **BLOCK)
    theirs = CloudVolumeVolume(folder, compress="br").volume
    # Beside its `.zstd`, which it does not remove and no longer reads.
    first = tuple(slice(o, o + n) for o, n in zip(volumes.OFFSET, volumes.CHUNK))
    theirs[first] = np.full((*volumes.CHUNK, 1), 5, "uint64")
    array[tuple(slice(0, n) for n in volumes.CHUNK)] = 5
    stems = [name.rsplit(".", 1)[0] for name in names(folder)]
    assert len(stems) == len(set(stems)) + 1
    ours = dolium.Volume.open(folder)
    np.testing.assert_array_equal(ours[...], array[..., 0])
    ours[...] = array[..., 0] + 1
    stems = [name.rsplit(".", 1)[0] for name in names(folder)]
    assert len(stems) == len(set(stems))
    np.testing.assert_array_equal(CloudVolumeVolume(folder).read(), array + 1)


def test_copies_and_transcoded_volumes_have_the_same_voxels(compress, tmp_path):
    array = volumes.labels("uint64")
    CloudVolumeVolume(tmp_path / "v", array, "compressed_segmentation", compress, **BLOCK)
    program.run("convert", tmp_path / "v", tmp_path / "copy")
    assert names(tmp_path / "copy") == names(tmp_path / "v")
    program.run("volume", "transcode", tmp_path / "v", tmp_path / "sharded")
    program.run("volume", "downsample", "--scales", "2", tmp_path / "v")
    for folder in ("copy", "sharded", "v"):
        np.testing.assert_array_equal(dolium.Volume.open(tmp_path / folder)[...], array[..., 0])
        assert program.json_lines("verify", tmp_path / folder)[-1]["errors"] == 0


def test_a_damaged_chunk_is_found(compress, tmp_path):
    array = volumes.labels("uint64")
    CloudVolumeVolume(tmp_path / "v", array, "compressed_segmentation", compress, **BLOCK)
    chunk = tmp_path / "v" / KEY / names(tmp_path / "v")[0]
    chunk.write_bytes(chunk.read_bytes()[:-9])
    findings = program.json_lines("verify", tmp_path / "v", status=1)
    assert findings[-1]["errors"] == 1
    with pytest.raises(dolium.CorruptError):
        dolium.Volume.open(tmp_path / "v")[...]


@pytest.mark.parametrize("as_objects", [False, True], ids=["as files", "as objects"])
def test_it_reads_the_same_from_a_server(compress, as_objects, tmp_path):
    array = volumes.labels("uint64")
    CloudVolumeVolume(tmp_path / "v", array, "compressed_segmentation", compress, **BLOCK)
    encodings = {SUFFIXES[compress]: compress} if as_objects else None
    with RangeServer(tmp_path, encodings=encodings) as server:
        there = dolium.Volume.open(f"{server.url}/v")
        np.testing.assert_array_equal(there[...], array[..., 0])
        assert program.json_lines("verify", f"{server.url}/v")[-1]["errors"] == 0


def test_an_ending_that_is_not_known_is_an_error_before_anything_is_written(tmp_path):
    array = volumes.labels("uint64")
    folder = tmp_path / "v"
    CloudVolumeVolume(folder, array, "compressed_segmentation", "br", **BLOCK)
    foreign = sorted((folder / KEY).iterdir())[-1]
    foreign = foreign.rename(foreign.with_suffix(".xz"))
    before = {path.name: path.read_bytes() for path in (folder / KEY).iterdir()}
    ours = dolium.Volume.open(folder)
    with pytest.raises(NotImplementedError, match=r"\.xz"):
        ours[...] = 1
    with pytest.raises(NotImplementedError, match=r"\.xz"):
        ours[...]
    assert {path.name: path.read_bytes() for path in (folder / KEY).iterdir()} == before
    shutil.copy(foreign, foreign.with_suffix(".unheard-of"))
    foreign.unlink()
    with pytest.raises(NotImplementedError, match=r"\.unheard-of"):
        dolium.Volume.open(folder)[...] = 1
    assert len(list((folder / KEY).iterdir())) == len(before)
