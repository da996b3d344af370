"""dolium.dvid: shards, blocks, exports as volumes."""

import hashlib
import pickle

import numpy as np
import pytest

import dolium
from dolium import dvid


def labels_of(shape, seed=1):
    rng = np.random.default_rng(seed)
    coarse = rng.integers(0, 50, [-(-side // 9) for side in shape], np.uint64)
    array = coarse.repeat(9, 0).repeat(9, 1).repeat(9, 2)
    array = array[: shape[0], : shape[1], : shape[2]] * np.uint64(2**40 + 7)
    array[3, 5, 7] = 2**63 + 5
    return array


@pytest.fixture
def volume(tmp_path):
    """A volume of labels, and its voxels."""
    voxels = labels_of((150, 100, 70))
    v = dolium.Volume.create(
        tmp_path / "seg", shape=voxels.shape, dtype="uint64", resolution=(4, 4, 40)
    )
    v[...] = voxels
    return tmp_path / "seg", voxels


@pytest.mark.parametrize("shape", [(64, 64, 64), (16, 24, 32)])
def test_blocks_round_trip(shape):
    voxels = labels_of(shape)
    block = dvid.encode_block(voxels)
    assert np.array_equal(dvid.decode_block(block), voxels)
    assert dvid.encode_block(np.full(shape, 7)) == (
        np.array([side // 8 for side in shape] + [1, 7, 0], "<u4").tobytes()
    )


def test_blocks_decode_to_other_labels():
    voxels = np.zeros((16, 16, 16), np.uint64)
    voxels[0, 0, 0] = 9
    mapped = dvid.decode_block(dvid.encode_block(voxels), labels=[100, 200])
    assert mapped[0, 0, 0] == 100
    assert mapped[1, 0, 0] == 200
    with pytest.raises(dolium.CorruptError, match="1 labels for a block with a list of 2"):
        dvid.decode_block(dvid.encode_block(voxels), labels=[1])


def test_bad_blocks_and_arrays_are_refused():
    with pytest.raises(dolium.CorruptError):
        dvid.decode_block(b"no block")
    with pytest.raises(ValueError, match="multiples of 8"):
        dvid.encode_block(np.zeros((16, 16, 15), np.uint64))
    with pytest.raises(ValueError, match="expected three of integers"):
        dvid.encode_block(np.zeros((16, 16)))


@pytest.mark.parametrize("layout", ["stream", "seed"])
def test_an_export_is_read_by_block(volume, tmp_path, layout):
    source, voxels = volume
    done = dvid.write(source, tmp_path / "export", layout=layout, shard_side=128)
    assert isinstance(done, dolium.JobReport)
    assert (done.parts, done.written.entries) == (2, 12)
    assert done.written.objects == (2 if layout == "seed" else 4)
    reader = dvid.ArrowShardReader(tmp_path / "export" / "s0" / "128_0_0.arrow")
    scale = 64 if layout == "seed" else 1
    assert reader.in_voxels == (layout == "seed")
    assert sorted(reader.list_chunks()) == sorted(
        (2 * scale, y * scale, z * scale) for y in (0, 1) for z in (0, 1)
    )
    chunk = reader.get_chunk(2 * scale, 0, 0)
    assert chunk["coordinates"] == (2 * scale, 0, 0)
    assert chunk["labels"] == chunk["supervoxels"]
    assert chunk["labels"] == reader.get_labels_for_chunk(2 * scale, 0, 0)
    expected = np.zeros((64, 64, 64), np.uint64)
    expected[:22] = voxels[128:, :64, :64]
    assert np.array_equal(reader.voxels(2 * scale, 0, 0), expected)
    assert np.array_equal(reader.voxels(2 * scale, 0, 0, labels=False), expected)
    assert np.array_equal(dvid.decode_block(reader.block(2 * scale, 0, 0)), expected)
    for missing in (reader.get_chunk, reader.get_labels_for_chunk, reader.voxels, reader.block):
        for far in (99, -1, 2**31, 2**40, -(2**70)):
            assert missing(far, 0, 0) is None
            assert missing(0, 0, far) is None
    assert (2 * scale, 0, 0) in reader
    for other in ((99, 0, 0), (2**40, 0, 0), (0, 0), ("x", 0, 0), "2_0_0"):
        assert other not in reader
    assert reader.chunk_index[f"{2 * scale}_0_0"] in range(4)
    again = pickle.loads(pickle.dumps(reader))
    assert again.list_chunks() == reader.list_chunks()


def test_an_export_is_a_volume(volume, tmp_path):
    source, voxels = volume
    dvid.write(source, tmp_path / "export", shard_side=64)
    kept = dolium.Volume.open(tmp_path / "export")
    assert kept.shape == (150, 100, 70)
    assert kept.resolution == (4, 4, 40)
    assert np.array_equal(kept[...], voxels)
    (tmp_path / "export" / "spec.json").unlink()
    exported = dolium.Volume.open(tmp_path / "export", resolution=(8, 8, 4))
    assert exported.shape == (192, 128, 128), "without a spec, whole blocks"
    assert exported.resolution == (8, 8, 4)
    assert pickle.loads(pickle.dumps(exported)).resolution == (8, 8, 4)
    assert np.array_equal(exported[:150, :100, :70], voxels)
    assert not exported[150:].any()
    with pytest.raises(NotImplementedError, match="cannot be changed"):
        exported[0, 0, 0] = 1
    spec = {
        "@type": "neuroglancer_multiscale_volume",
        "type": "segmentation",
        "data_type": "uint64",
        "num_channels": 1,
        "scales": [
            {
                "key": "8_8_8",
                "size": [150, 100, 70],
                "resolution": [8, 8, 8],
                "chunk_sizes": [[64, 64, 64]],
                "encoding": "compressed_segmentation",
                "compressed_segmentation_block_size": [8, 8, 8],
            }
        ],
    }
    sized = dolium.Volume.open(tmp_path / "export", spec=spec, supervoxels=True)
    assert sized.shape == (150, 100, 70)
    assert np.array_equal(sized[...], voxels)
    assert np.array_equal(pickle.loads(pickle.dumps(sized))[140:, 3, 5:9], voxels[140:, 3, 5:9])
    dolium.volume.transcode(tmp_path / "export", tmp_path / "back", spec=spec)
    assert np.array_equal(dolium.Volume.open(tmp_path / "back")[...], voxels)


def test_an_export_is_not_overwritten(volume, tmp_path):
    source, _ = volume
    dvid.write(source, tmp_path / "export")
    with pytest.raises(FileExistsError):
        dvid.write(source, tmp_path / "export")
    assert dvid.write(source, tmp_path / "export", force=True).parts == 1


def test_a_stream_has_the_bytes_that_dvid_writes(tmp_path):
    """Hashes of the constant parts, taken from files of DVID."""
    frame = bytes.fromhex(
        "28b52ffd0400c10000080000000800000008000000010000000700000000000000fe612587"
    )
    dvid.write_shard(tmp_path / "a.arrow", [((0, 0, 0), [7], [7], frame, 24)])
    data = (tmp_path / "a.arrow").read_bytes()
    hashes = {
        "schema": hashlib.sha256(data[:688]).hexdigest(),
        "batch": hashlib.sha256(data[688 : 688 + 656]).hexdigest(),
    }
    assert hashes == {
        "schema": "54d1e928092dfcbfeb32d9a83e933fde342dc815542b79f419669214ecab8d88",
        "batch": "780fa72ee55117418d67565102ea288cf8543f69cf5cbce3530b5278a27e1b2d",
    }
    assert data[688 + 656 :] == bytes.fromhex("ffffffff00000000")
    assert (dvid.ArrowShardReader(tmp_path / "a.arrow").voxels(0, 0, 0) == 7).all()


def test_coordinates_say_what_keys_count(tmp_path):
    block = dvid.encode_block(np.full((64, 64, 64), 7))
    row = ((64, 0, 0), [7], [7], block, len(block))
    dvid.write_shard(tmp_path / "blocks.arrow", [row])
    opened = dolium.Volume.open(tmp_path / "blocks.arrow")
    assert opened.shape == (65 * 64, 64, 64)
    opened = dolium.Volume.open(tmp_path / "blocks.arrow", coordinates="voxel")
    assert opened.shape == (128, 64, 64)
    assert pickle.loads(pickle.dumps(opened)).shape == (128, 64, 64)
    with pytest.raises(ValueError, match="coordinates"):
        dolium.Volume.open(tmp_path / "blocks.arrow", coordinates="miles")
    dolium.volume.transcode(
        tmp_path / "blocks.arrow", tmp_path / "v", coordinates="voxel", resolution=(8, 8, 8)
    )
    made = dolium.Volume.open(tmp_path / "v")
    assert made.shape == (128, 64, 64)
    assert made.resolution == (8, 8, 8)
    dvid.write(tmp_path / "blocks.arrow", tmp_path / "x", coordinates="voxel", resolution=(2, 2, 2))
    written = dolium.Volume.open(tmp_path / "x")
    assert written.shape == (128, 64, 64)
    assert written.resolution == (2, 2, 2)
    assert (written[64:] == 7).all()
    assert not written[:64].any()


def test_lists_that_are_not_the_blocks_are_refused(tmp_path):
    voxels = np.full((64, 64, 64), 5, np.uint64)
    voxels[0, 0, 0] = 9
    block = dvid.encode_block(voxels)
    good = ((0, 0, 0), [9, 5], [9, 5], block, len(block))
    bad = ((1, 0, 0), [5, 9], [5, 9], block, len(block))
    dvid.write_shard(tmp_path / "e" / "s0" / "0_0_0.arrow", [good, bad])
    volume = dolium.Volume.open(tmp_path / "e")
    assert np.array_equal(volume[:64], voxels)
    with pytest.raises(dolium.CorruptError, match="0_0_0.arrow: 1_0_0: the supervoxels of its row"):
        volume[64:]
    with pytest.raises(dolium.CorruptError, match="0_0_0.arrow: 1_0_0: the supervoxels of its row"):
        dvid.write(tmp_path / "e", tmp_path / "copy")
    for name in ("skip_damaged", "salvage"):  # The second is the older name.
        saved = dolium.Volume.open(tmp_path / "e", **{name: True})
        assert np.array_equal(saved[:64], voxels)
        assert not saved[64:].any()


def test_errors_name_the_block(tmp_path):
    path = tmp_path / "0_0_0.arrow"
    block = dvid.encode_block(labels_of((64, 64, 64)))
    zstandard = pytest.importorskip("zstandard")
    frame = zstandard.ZstdCompressor(write_checksum=True).compress(block)
    own = np.frombuffer(block, "<u8", int.from_bytes(block[12:16], "little"), 16)
    dvid.write_shard(path, [((1, 0, 1), own, own, frame[:-1] + b"?", len(block))])
    reader = dvid.ArrowShardReader(path)
    for read in (reader.voxels, reader.block):
        with pytest.raises(dolium.CorruptError, match=r"0_0_0.arrow: 1_0_1: "):
            read(1, 0, 1)


def test_errors_name_the_shard(tmp_path):
    with pytest.raises(FileNotFoundError):
        dvid.ArrowShardReader(tmp_path / "none.arrow")
    (tmp_path / "bad.arrow").write_bytes(b"no Arrow data at all")
    with pytest.raises(dolium.CorruptError, match="bad.arrow"):
        dvid.ArrowShardReader(tmp_path / "bad.arrow")
    with pytest.raises(ValueError, match="coordinates"):
        dvid.ArrowShardReader(tmp_path / "bad.arrow", coordinates="miles")


def test_an_export_is_planned(volume, tmp_path):
    source, voxels = volume
    dvid.write(source, tmp_path / "whole", shard_side=64)
    for force in (False, True):
        options = {"shard_side": 64, "force": force}
        plan = dvid.plan_write(source, tmp_path / "export", **options)
        assert (plan.kind, plan.target) == ("dvid", str(tmp_path / "export"))
        assert plan.parts == len(plan.tasks()) == 12
        dolium.run_task(plan.tasks()[3])
        plan = dvid.plan_write(source, tmp_path / "export", **options)
        assert (plan.parts, plan.parts_done) == (12, 1)
        report = plan.run()
        assert (report.parts_done_before, report.target) == (1, plan.target)
        assert np.array_equal(dolium.Volume.open(tmp_path / "export"), voxels)
        names = [
            sorted(str(path.relative_to(root)) for path in root.rglob("*"))
            for root in (tmp_path / "whole", tmp_path / "export")
        ]
        assert names[0] == names[1]
