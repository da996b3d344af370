"""dolium.dvid: shards, blocks, exports as volumes."""

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
    v = dolium.Volume.create(tmp_path / "seg", shape=voxels.shape, dtype="uint64")
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
    assert done["shards"] == 2
    assert done["blocks"] == 12
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
        assert missing(99, 0, 0) is None
    assert (99, 0, 0) not in reader
    assert reader.chunk_index[f"{2 * scale}_0_0"] in range(4)
    again = pickle.loads(pickle.dumps(reader))
    assert again.list_chunks() == reader.list_chunks()


def test_an_export_is_a_volume(volume, tmp_path):
    source, voxels = volume
    dvid.write(source, tmp_path / "export", shard_side=64)
    exported = dolium.Volume.open(tmp_path / "export")
    assert exported.shape == (192, 128, 128), "without a spec, whole blocks"
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
    assert dvid.write(source, tmp_path / "export", force=True)["shards"] == 1


def test_errors_name_the_shard(tmp_path):
    with pytest.raises(FileNotFoundError):
        dvid.ArrowShardReader(tmp_path / "none.arrow")
    (tmp_path / "bad.arrow").write_bytes(b"no Arrow data at all")
    with pytest.raises(dolium.CorruptError, match="bad.arrow"):
        dvid.ArrowShardReader(tmp_path / "bad.arrow")
    with pytest.raises(ValueError, match="coordinates"):
        dvid.ArrowShardReader(tmp_path / "bad.arrow", coordinates="miles")
