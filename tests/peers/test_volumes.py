"""TensorStore and cloud-volume read the volumes that we write, and we read theirs."""

import json
import pathlib

import dolium
import numpy as np
import pytest

import program
import volumes
from range_server import RangeServer
from volumes import CloudVolumeVolume, TensorStoreVolume

SHARDED = volumes.sharding()
TYPES = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "float32")
BLOCK = {"compressed_segmentation_block_size": [8, 8, 8]}
SHARED = pathlib.Path(__file__).resolve().parents[3] / "shared" / "data"

# encoding, array, members of the scale; what TensorStore knows of.
EXACT = [("raw", volumes.image(dtype), {}) for dtype in TYPES]
EXACT += [("raw", volumes.image("uint16", 3), {}), ("raw", volumes.image("float32", 2), {})]
EXACT += [
    ("compressed_segmentation", volumes.labels(dtype, channels), scale)
    for dtype in ("uint32", "uint64")
    for channels in (1, 2)
    for scale in (BLOCK, {"compressed_segmentation_block_size": [5, 3, 9]})
]
EXACT += [("png", volumes.image("uint8", channels), {}) for channels in (1, 2, 3, 4)]
EXACT += [("png", volumes.image("uint16"), {})]
LOSSY = [("jpeg", volumes.image("uint8", channels), {"jpeg_quality": 95}) for channels in (1, 3)]
# cloud-volume reads images of several channels wrongly, its own too, and does not write png of
# uint16; it knows compresso, which TensorStore does not.
OF_CLOUD_VOLUME = [
    case
    for case in EXACT
    if case[0] != "png" or (case[1].dtype == "uint8" and case[1].shape[3] == 1)
] + [("compresso", volumes.labels(dtype), {}) for dtype in ("uint32", "uint64")]
# It does not write labels of several channels, either.
WRITTEN_BY_CLOUD_VOLUME = [
    case for case in OF_CLOUD_VOLUME if case[0] == "raw" or case[1].shape[3] == 1
]


def name(case):
    encoding, array, scale = case
    return f"{encoding}-{array.dtype.name}-{array.shape[3]}-{len(str(scale))}"


def create(folder, case, spec):
    encoding, array, scale = case
    options = {}
    if "compressed_segmentation_block_size" in scale:
        options["block_size"] = scale["compressed_segmentation_block_size"]
    if encoding == "jpeg":
        options["quality"] = scale["jpeg_quality"]
    volume = dolium.Volume.create(
        folder, shape=array.shape[:3], dtype=array.dtype, num_channels=array.shape[3],
        resolution=volumes.RESOLUTION, offset=volumes.OFFSET, chunk_size=volumes.CHUNK,
        encoding=encoding, sharded=spec is not None, sharding=spec, **options,
    )
    volume[...] = array if array.shape[3] > 1 else array[..., 0]
    return volume


def four(array):
    """With a channel, whatever its number."""
    return array if array.ndim == 4 else array[..., np.newaxis]


@pytest.mark.parametrize("spec", [None, SHARDED], ids=["files", "sharded"])
@pytest.mark.parametrize("case", EXACT, ids=name)
def test_tensorstore_reads_ours(case, spec, tmp_path):
    create(tmp_path / "ours", case, spec)
    np.testing.assert_array_equal(TensorStoreVolume(tmp_path / "ours").read(), case[1])


@pytest.mark.parametrize("spec", [None, SHARDED], ids=["files", "sharded"])
@pytest.mark.parametrize("case", EXACT, ids=name)
def test_we_read_tensorstores(case, spec, tmp_path):
    encoding, array, scale = case
    TensorStoreVolume(tmp_path / "theirs", array, encoding, spec, **scale)
    ours = dolium.Volume.open(tmp_path / "theirs")
    assert ours.bounds == (volumes.OFFSET, tuple(o + n for o, n in zip(volumes.OFFSET, array.shape)))
    np.testing.assert_array_equal(four(ours[...]), array)
    findings = program.json_lines("verify", tmp_path / "theirs")
    assert findings[-1]["errors"] == 0
    # TensorStore leaves out chunks of zeros.
    assert findings[-1]["entries"] > 0


@pytest.mark.parametrize("spec", [None, SHARDED], ids=["files", "sharded"])
def test_all_zeros_of_tensorstore_are_a_good_volume(spec, tmp_path):
    """It writes no chunk of zeros, and so nothing but the info."""
    zeros = np.zeros_like(volumes.image("uint16"))
    TensorStoreVolume(tmp_path / "theirs", zeros, "raw", spec)
    files = [path.name for path in (tmp_path / "theirs").rglob("*") if path.is_file()]
    assert files == ["info"]
    findings = program.json_lines("verify", tmp_path / "theirs")
    assert (findings[-1]["errors"], findings[-1]["entries"]) == (0, 0)
    assert [finding["type"] for finding in findings] == ["summary"]
    np.testing.assert_array_equal(four(dolium.Volume.open(tmp_path / "theirs")[...]), zeros)


@pytest.mark.parametrize("spec", [None, SHARDED], ids=["files", "sharded"])
@pytest.mark.parametrize("case", LOSSY, ids=name)
def test_lossy_chunks_decode_alike(case, spec, tmp_path):
    encoding, array, scale = case
    create(tmp_path / "ours", case, spec)
    TensorStoreVolume(tmp_path / "theirs", array, encoding, spec, **scale)
    for folder in ("ours", "theirs"):
        here = four(dolium.Volume.open(tmp_path / folder)[...]).astype(int)
        there = TensorStoreVolume(tmp_path / folder).read().astype(int)
        assert np.abs(here - there).max() <= 1
        assert np.abs(here - array).max() < 40


@pytest.mark.parametrize("case", OF_CLOUD_VOLUME, ids=name)
def test_cloud_volume_reads_ours(case, tmp_path):
    for spec in (None, SHARDED):
        folder = tmp_path / ("files" if spec is None else "sharded")
        create(folder, case, spec)
        np.testing.assert_array_equal(CloudVolumeVolume(folder).read(), case[1])


@pytest.mark.parametrize("compress", ["gzip", None, "br", "zstd"], ids=["gz", "plain", "br", "zstd"])
@pytest.mark.parametrize("case", WRITTEN_BY_CLOUD_VOLUME, ids=name)
def test_we_read_cloud_volumes(case, compress, tmp_path):
    encoding, array, scale = case
    CloudVolumeVolume(tmp_path / "theirs", array, encoding, compress, **scale)
    np.testing.assert_array_equal(four(dolium.Volume.open(tmp_path / "theirs")[...]), array)
    assert program.json_lines("verify", tmp_path / "theirs")[-1]["errors"] == 0


def test_cloud_volume_and_we_change_the_same_volume(tmp_path):
    array = volumes.labels("uint64")
    CloudVolumeVolume(tmp_path / "both", array, "compressed_segmentation", **BLOCK)
    ours = dolium.Volume.open(tmp_path / "both")
    ours[20:45, -10:13, 7:30] = 77
    array[10:35, 10:33, 2:25] = 77
    np.testing.assert_array_equal(CloudVolumeVolume(tmp_path / "both").read(), array)
    assert not list((tmp_path / "both").glob("*/*[0-9]"))  # All chunks are still `.gz`.


def test_compressed_segmentation_is_equal_byte_for_byte(tmp_path):
    spec = volumes.sharding(data="raw", index="raw")
    case = ("compressed_segmentation", volumes.labels("uint64"), BLOCK)
    create(tmp_path / "ours", case, spec)
    TensorStoreVolume(tmp_path / "theirs", case[1], case[0], spec, **BLOCK)
    key = volumes.info_of(tmp_path / "theirs")["scales"][0]["key"]
    theirs = {path.name: path.read_bytes() for path in (tmp_path / "theirs" / key).iterdir()}
    key = volumes.info_of(tmp_path / "ours")["scales"][0]["key"]
    ours = {path.name: path.read_bytes() for path in (tmp_path / "ours" / key).iterdir()}
    assert len(theirs) > 1 and ours == theirs


def test_scales_that_we_add_are_those_of_tensorstore(tmp_path):
    import tensorstore as ts

    array = volumes.labels("uint64", size=(64, 64, 32))
    create(tmp_path / "ours", ("compressed_segmentation", array, BLOCK), SHARDED)
    dolium.volume.downsample(tmp_path / "ours", scales=2, factor=(2, 2, 2))
    fine = TensorStoreVolume(tmp_path / "ours").store
    coarse = ts.downsample(fine, [2, 2, 2, 1], method="mode").read().result()
    ours = dolium.Volume.open(tmp_path / "ours").scale(1)
    np.testing.assert_array_equal(four(ours[...]), coarse)


@pytest.mark.parametrize("spec", [None, SHARDED], ids=["files", "sharded"])
def test_a_volume_behind_a_server_reads_the_same(spec, tmp_path):
    array = volumes.labels("uint64")
    create(tmp_path / "ours", ("compressed_segmentation", array, BLOCK), spec)
    with RangeServer(tmp_path) as server:
        there = dolium.Volume.open(f"{server.url}/ours")
        np.testing.assert_array_equal(there[...], array[..., 0])
        assert program.json_lines("verify", f"{server.url}/ours")[-1]["errors"] == 0


def test_a_cold_chunk_takes_the_info_and_three_requests(tmp_path):
    array = volumes.labels("uint64", size=(128, 128, 128))
    volume = dolium.Volume.create(
        tmp_path / "v", shape=array.shape[:3], dtype="uint64", resolution=(8, 8, 8),
        chunk_size=(64, 64, 64), type="segmentation",
    )
    volume[...] = array[..., 0]
    with RangeServer(tmp_path) as server:
        there = dolium.Volume.open(f"{server.url}/v")
        np.testing.assert_array_equal(there[64:128, 0:64, 64:128], array[64:, :64, 64:, 0])
        log = server.take_log()
        assert [request.path for request in log[:1]] == ["/v/info"]
        assert len(log) <= 4, log
        np.testing.assert_array_equal(there[64:128, 0:64, 64:128], array[64:, :64, 64:, 0])
        assert len(server.take_log()) == 1


@pytest.mark.skipif(not SHARED.exists(), reason="the shared data is not here")
def test_a_real_segmentation_of_cloud_volume(tmp_path):
    folder = SHARED / "cloud-volume" / "test_seg_unsharded"
    info = json.loads((folder / "info").read_text())
    theirs = CloudVolumeVolume(folder).volume
    for index, scale in enumerate(info["scales"]):
        if not (folder / scale["key"]).is_dir():
            continue
        ours = dolium.Volume.open(folder).scale(index)
        theirs.mip = index
        np.testing.assert_array_equal(ours[...], np.asarray(theirs[theirs.bounds])[..., 0])
        assert ours[...].any()


@pytest.mark.skipif(not SHARED.exists(), reason="the shared data is not here")
def test_real_labels_survive_every_encoding(tmp_path):
    crackle = pytest.importorskip("crackle")
    whole = crackle.load(str(SHARED / "connectomics" / "connectomics.npy.ckl.gz"))
    labels = np.asfortranarray(whole[:256, :256, :128])
    np.save(tmp_path / "labels.npy", labels)
    for encoding in ("compressed_segmentation", "compresso", "raw"):
        program.run("volume", "ingest", "--encoding", encoding, "--scales", "1",
                    tmp_path / "labels.npy", tmp_path / encoding)
        np.testing.assert_array_equal(dolium.Volume.open(tmp_path / encoding)[...], labels)


@pytest.mark.parametrize("spec", [SHARDED, None], ids=["sharded", "files"])
@pytest.mark.parametrize("peer", [TensorStoreVolume, CloudVolumeVolume])
def test_peers_read_rebuilt_pyramids_and_what_is_left_of_them(tmp_path, spec, peer):
    array = volumes.labels("uint64")
    folder = tmp_path / "v"
    volume = create(folder, ("compressed_segmentation", array, BLOCK), spec)
    volume[...] = array[..., 0]
    dolium.volume.downsample(volume, scales=3)
    volume[20:50, -10:20, 10:30] = 987654321
    dolium.volume.downsample(volume, rebuild=True)
    volume = dolium.Volume.open(folder)
    assert (volume.scale(2)[...] == 987654321).any()
    for scale in range(3):
        np.testing.assert_array_equal(volumes.read_scale(peer, folder, scale), volume.scale(scale)[...])
    dolium.volume.drop_scale(volume, 1)
    volume = dolium.Volume.open(folder)
    assert volume.num_scales == 2
    for scale in range(2):
        np.testing.assert_array_equal(volumes.read_scale(peer, folder, scale), volume.scale(scale)[...])


def test_pyramids_of_cloud_volume_are_rebuilt_in_its_sizes(tmp_path):
    """Sizes are rounded down by some programs: what is there stays as large."""
    import cloudvolume

    array = volumes.labels("uint32", size=(70, 50, 40))
    vol = cloudvolume.CloudVolume.from_numpy(
        array, f"file://{tmp_path}/v", resolution=(4, 4, 40), layer_type="segmentation",
        chunk_size=(32, 32, 32), compress="gzip",
    )  # fmt: skip
    vol.add_scale((2, 2, 1))
    vol.commit_info()
    scale = vol.info["scales"][1]
    scale["size"][0] -= 1
    vol.commit_info()
    dolium.volume.downsample(tmp_path / "v", rebuild=True)
    theirs = cloudvolume.CloudVolume(f"file://{tmp_path}/v", mip=1, progress=False)
    ours = dolium.Volume.open(tmp_path / "v", scale=1)
    assert ours.shape == tuple(scale["size"])
    np.testing.assert_array_equal(np.asarray(theirs[...])[..., 0], ours[...])
    assert ours[...].any()
    assert all(path.suffix == ".gz" for path in (tmp_path / "v" / scale["key"]).iterdir())
