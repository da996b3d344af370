"""Volumes as arrays, with numpy as the oracle."""

import json
import pickle

import numpy as np
import pytest

import dolium
from volume_makers import SHAPE, TYPES, make, random_array, random_box, shifted


# --- indexes --------------------------------------------------------------------------------------


def test_coordinates_are_absolute(filled):
    volume, array = filled
    assert np.array_equal(volume[-5:32, 7:36, 100:123], array)
    assert np.array_equal(volume[-2:3, 8:10, 101:102], array[3:8, 1:3, 1:2])
    assert np.array_equal(volume[-1:], array[4:])
    assert np.array_equal(volume[:0, :, 110:], array[:5, :, 10:])
    assert np.array_equal(volume[..., 110:], array[:, :, 10:])
    assert np.array_equal(volume[0:1, ...], array[5:6])
    assert np.array_equal(volume[0:3, ..., 120:], array[5:8, :, 20:])
    assert np.array_equal(volume[:, 20:21], array[:, 13:14])


def test_ints_drop_dimensions(filled):
    volume, array = filled
    assert np.array_equal(volume[-1], array[4])
    assert np.array_equal(volume[:, 7, 100:110], array[:, 0, :10])
    assert np.array_equal(volume[..., 122], array[..., 22])
    assert volume[0:5, 10, 111].shape == (5,)
    voxel = volume[np.int64(0), np.uint8(10), 111]
    assert voxel == array[5, 3, 11]
    assert isinstance(voxel, np.uint16)


def test_steps_take_some_of_a_box(filled):
    volume, array = filled
    assert np.array_equal(volume[-4::3, 8:20:5, ::2], array[1::3, 1:13:5, ::2])
    assert volume[::2].flags.f_contiguous and volume[::2].flags.owndata
    assert np.array_equal(volume[::9, ::100, 104:123:11], array[::9, ::100, 4::11])
    assert np.array_equal(volume[3, ::2, 100 :: 1 << 62], array[8, ::2, 0:1])
    with pytest.raises(IndexError, match="step of 0"):
        volume[::0]


def test_arrays_are_in_fortran_order_and_own_their_memory(filled):
    volume, _ = filled
    box = volume[0:9, 8:13, 101:105]
    assert box.flags.f_contiguous and box.flags.owndata and box.flags.writeable
    assert volume[0:9, 10, 101:105].flags.f_contiguous


def test_empty_boxes_are_empty(filled):
    volume, _ = filled
    assert volume[3:3].shape == (0, 29, 23)
    assert volume[3:3, 8, 100:100].shape == (0, 0)
    assert volume[32:32].size == 0
    volume[3:3] = 9
    volume[3:3] = np.empty((0, 29, 23), "uint16")


@pytest.mark.parametrize(
    "index",
    [
        np.s_[-6:0],
        np.s_[0:33],
        np.s_[:, 0:7],
        np.s_[:, :, 99:100],
        np.s_[:, :, 124:124],
        np.s_[32],
        np.s_[-6],
        np.s_[5:3],
        np.s_[10**30 :],
    ],
)
def test_nothing_is_clipped(filled, index):
    volume, array = filled
    with pytest.raises(IndexError, match=r"not within the bounds \[-5:32, 7:36, 100:123\]"):
        volume[index]
    with pytest.raises(IndexError, match="not within"):
        volume[index] = 1
    assert np.array_equal(volume, array)


def test_the_message_names_the_box(filled):
    volume, _ = filled
    with pytest.raises(IndexError, match=r"box \[-5:32, 7:8, 0:110\] is not within"):
        volume[:, 7, 0:110]


@pytest.mark.parametrize(
    "index",
    [None, True, 1.5, "x", [1.5], np.array(["a"]), (..., ...), (0, 8, 100, 0), np.s_[0.5:2]],
    ids=repr,
)
def test_other_indexes_are_refused(filled, index):
    volume, _ = filled
    with pytest.raises((IndexError, TypeError)):
        volume[index]


def test_a_volume_is_not_iterable(filled):
    volume, _ = filled
    with pytest.raises(TypeError, match="not iterable"):
        iter(volume)
    with pytest.raises(TypeError):
        7 in volume


# --- every kind of volume -------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("sharded", [True, False], ids=["sharded", "files"])
def test_any_box_can_be_assigned_and_read(tmp_path, dtype, channels, sharded):
    volume = make(tmp_path / "v", dtype, channels, sharded=sharded)
    shape = SHAPE if channels == 1 else (*SHAPE, channels)
    assert volume.shape == shape
    shadow = np.zeros(shape, dtype)
    rng = np.random.default_rng(1)
    for round in range(12):
        box = random_box(rng)
        values = random_array(shadow[shifted(box)].shape, dtype, round)
        volume[box] = values
        shadow[shifted(box)] = values
        box = random_box(rng)
        assert np.array_equal(volume[box], shadow[shifted(box)])
    again = dolium.Volume.open(tmp_path / "v")[...]
    assert again.dtype == dtype
    assert np.array_equal(again, shadow)


@pytest.mark.parametrize(
    "encoding, dtype, channels",
    [
        ("raw", "float32", 2),
        ("png", "uint8", 1),
        ("png", "uint16", 3),
        ("jxl", "uint8", 1),
        ("compressed_segmentation", "uint32", 1),
        ("compressed_segmentation", "uint64", 2),
        ("compresso", "uint64", 1),
        ("compresso", "uint8", 1),
    ],
)
def test_lossless_encodings_keep_every_voxel(tmp_path, encoding, dtype, channels):
    options = {"quality": 100} if encoding == "jxl" else {}
    volume = make(tmp_path / "v", dtype, channels, encoding=encoding, **options)
    assert volume.encoding == encoding
    array = random_array(volume.shape, dtype)
    volume[...] = array
    volume[0:20, 10:20, 105:120] = array[5:25, 3:13, 5:20]
    assert np.array_equal(dolium.Volume.open(tmp_path / "v")[...], array)


@pytest.mark.parametrize("encoding", ["jpeg", "jxl"])
@pytest.mark.parametrize("channels", [1, 3])
def test_lossy_encodings_come_near(tmp_path, encoding, channels):
    volume = make(tmp_path / "v", "uint8", channels, encoding=encoding, quality=95)
    ramp = np.arange(SHAPE[0])[:, None, None] * 3 + np.arange(SHAPE[1])[:, None] + np.zeros(23)
    array = ramp.astype("uint8") if channels == 1 else np.stack([ramp] * 3, -1).astype("uint8")
    volume[...] = array
    assert np.abs(volume[...].astype(int) - array).max() <= 6


def test_files_may_be_gzip(tmp_path):
    volume = make(tmp_path / "v", gzip_files=True)
    assert volume.sharding is None
    volume[...] = 3
    names = [path.name for path in (tmp_path / "v" / "1_1_1").iterdir()]
    assert "-5-11_7-15_100-108.gz" in names
    assert (volume[...] == 3).all()


def test_each_of_several_chunk_sizes_is_written(tmp_path):
    make(tmp_path / "v", sharded=False)
    path = tmp_path / "v" / "info"
    info = json.loads(path.read_text())
    info["scales"][0]["chunk_sizes"].append([64, 64, 1])
    path.write_text(json.dumps(info))
    volume = dolium.Volume.open(tmp_path / "v")
    array = random_array(SHAPE, "uint16")
    volume[...] = array
    assert np.array_equal(volume[:, :, 105], array[:, :, 5])
    assert np.array_equal(volume[0:2, 10:12], array[5:7, 3:5])
    info["scales"][0]["chunk_sizes"] = [[64, 64, 1]]
    path.write_text(json.dumps(info))
    assert np.array_equal(dolium.Volume.open(tmp_path / "v"), array)


# --- what can be assigned -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "form",
    [
        np.ascontiguousarray,
        np.asfortranarray,
        lambda a: np.ascontiguousarray(a.transpose(1, 2, 0)).transpose(2, 0, 1),
        lambda a: np.ascontiguousarray(a[::-1, ::-1, ::-1])[::-1, ::-1, ::-1],
        lambda a: np.repeat(np.repeat(a, 2, 0), 3, 2)[::2, :, ::3],
        lambda a: a.astype(">u2"),
        lambda a: a.tolist(),
        lambda a: a[None],
        lambda a: np.rec.fromarrays([a.astype("u1"), a], dtype="u1,<u2")["f1"],
    ],
    ids=["c", "f", "transposed", "negative", "strided", "swapped", "list", "one more", "unaligned"],
)
def test_arrays_of_any_order(tmp_path, form):
    volume = make(tmp_path / "v")
    array = random_array((20, 12, 14), "uint16")
    given = form(array)
    volume[-3:17, 9:21, 105:119] = given
    assert np.array_equal(volume[-3:17, 9:21, 105:119], array)
    assert volume[...].sum(dtype=np.int64) == array.sum(dtype=np.int64)
    read_only = np.broadcast_to(array[:, :, :1], array.shape)
    volume[-3:17, 9:21, 105:119] = read_only
    assert np.array_equal(volume[-3:17, 9:21, 105:119], read_only)


def test_values_broadcast_as_in_numpy(tmp_path):
    volume = make(tmp_path / "v", "int16", channels=2)
    shadow = np.zeros((*SHAPE, 2), "int16")
    for index, value in [
        (np.s_[...], -7),
        (np.s_[5:9], [1, 2]),
        (np.s_[9:12, 3:8, 2:4], np.arange(10, dtype="int16").reshape(5, 1, 2)),
        (np.s_[20, 4:9, 6], np.int64(99)),
        (np.s_[21, :, 6], np.arange(29, dtype="int8")[:, None]),
        (np.s_[30:31, 1, 1], np.ones((1, 1, 1, 2), "uint8")),
        (np.s_[0, 0, 0], True),
    ]:
        shadow[index] = value
        volume.zero_based()[index] = value
        assert np.array_equal(volume, shadow)
    volume[0, 8, 101] = [3, 4]
    assert volume[0, 8, 101].tolist() == [3, 4]
    with pytest.raises(ValueError, match=r"shape \(3,\) does not fit a box of shape \(37, 29,"):
        volume[...] = [1, 2, 3]


def test_numbers_must_fit_the_type(tmp_path):
    volume = make(tmp_path / "v", "uint8")
    for value in (256, -1, 2**70, np.int32(300), [0, 999]):
        with pytest.raises(ValueError, match="does not fit uint8"):
            volume[0:2, 8, 100] = value
    for value in (1.5, np.ones((2,), "uint16"), np.ones((2,), "float32"), [0.5, 1], "x"):
        with pytest.raises(TypeError, match="for a volume of uint8: numbers could change"):
            volume[0:2, 8, 100] = value
    assert not volume[...].any()
    volume[0:2, 8, 100] = [255, 0]
    wide = make(tmp_path / "w", "uint64")
    wide[0, 8, 100] = 2**64 - 1
    assert wide[0, 8, 100] == 2**64 - 1
    wide[0:2, 8, 100] = np.array([1, 2], "uint16")
    with pytest.raises(TypeError, match="int64"):
        wide[0:2, 8, 100] = np.array([1, 2])
    real = make(tmp_path / "r", "float32")
    real[0, 8, 100] = 0.1
    assert real[0, 8, 100] == np.float32(0.1)
    with pytest.raises(TypeError, match="float64"):
        real[0:2, 8, 100] = np.array([0.1, 0.2])


def test_chunks_between_steps_are_not_read(tmp_path):
    volume = make(tmp_path / "v", sharded=False)
    volume[...] = 7
    for chunk in (tmp_path / "v").rglob("11-27_*"):  # The second of three along x.
        chunk.write_bytes(b"damaged")
    with pytest.raises(dolium.CorruptError):
        volume[...]
    assert volume[::32].shape == (2, 29, 23) and (volume[::32] == 7).all()
    assert (volume.read_many([np.s_[::32, 10]])[0] == 7).all()


def test_assignment_may_have_steps(tmp_path):
    volume = make(tmp_path / "v", channels=2)
    array = np.zeros((*SHAPE, 2), "uint16")
    for number, index in enumerate((np.s_[::2], np.s_[..., ::2], np.s_[:, ::-5, ::3])):
        volume[index] = number + 1
        array[index] = number + 1
        assert np.array_equal(volume, array)


@pytest.mark.parametrize("sharded", [True, False], ids=["sharded", "files"])
def test_single_channels_can_be_assigned(tmp_path, sharded):
    volume = make(tmp_path / "v", channels=3, sharded=sharded)
    array = np.zeros((*SHAPE, 3), "uint16")
    changes = [
        (np.s_[..., 1], np.s_[..., 1]),
        (np.s_[-2:20, 8:30, 101:120, 0:2], np.s_[3:25, 1:23, 1:20, 0:2]),
        (np.s_[4, :, 105, 2], np.s_[9, :, 5, 2]),
        (np.s_[..., 0:3], np.s_[..., 0:3]),
        (np.s_[0:16, :, :, 2:3], np.s_[5:21, :, :, 2:3]),
    ]
    for seed, (index, same) in enumerate(changes):
        values = random_array(array[same].shape, "uint16", seed)
        volume[index] = values
        array[same] = values
        assert np.array_equal(volume, array), index
        assert np.array_equal(volume[index], values)
    volume[..., 1] = 5
    array[..., 1] = 5
    volume.zero_based()[..., -1] = 6
    array[..., -1] = 6
    volume[3:3, ..., 1:1] = 9
    assert np.array_equal(volume, array)
    with pytest.raises(IndexError, match="0:3"):
        volume[..., 3] = 1
    with pytest.raises(ValueError, match="does not fit a box of shape"):
        volume[..., 1:3] = np.zeros((*SHAPE, 3), "uint16")


def test_channels_are_a_dimension(tmp_path):
    volume = make(tmp_path / "v", channels=3)
    array = random_array((*SHAPE, 3), "uint16")
    volume[...] = array
    assert np.array_equal(volume[0:4, :, 105, 1], array[5:9, :, 5, 1])
    assert np.array_equal(volume[..., 1:], array[..., 1:])
    assert np.array_equal(volume[..., ::2], array[..., ::2])
    assert volume[..., 1].flags.f_contiguous
    out = np.zeros((*SHAPE, 2), "uint16", order="C")
    volume.read(np.s_[..., 1:], out=out)
    assert np.array_equal(out, array[..., 1:])
    volume.read(np.s_[..., ::2], out=out)
    assert np.array_equal(out, array[..., ::2])
    assert np.array_equal(volume.zero_based()[::-2, 3, ..., ::-1], array[::-2, 3, ..., ::-1])
    assert np.array_equal(volume[0, 10, 110], array[5, 3, 10])
    assert volume[0, 10, 110, 2] == array[5, 3, 10, 2]
    with pytest.raises(IndexError, match="0:3"):
        volume[..., -1]


def test_one_volume_can_be_assigned_to_another(tmp_path, filled):
    volume, array = filled
    other = make(tmp_path / "other", "uint32", offset=(0, 0, 0))
    other[...] = volume
    assert np.array_equal(other, array)


# --- reading with options -------------------------------------------------------------------------


def test_read_takes_boxes_of_any_form(filled):
    volume, array = filled
    expected = array[5:9, 1:4, 2:22]
    for box in [
        np.s_[0:4, 8:11, 102:122],
        ((0, 8, 102), (4, 11, 122)),
        [[0, 8, 102], [4, 11, 122]],
        np.array([[0, 8, 102], [4, 11, 122]]),
    ]:
        assert np.array_equal(volume.read(box, jobs=1), expected)
    assert np.array_equal(volume.read(), array)
    assert np.array_equal(volume.read(volume.bounds), array)
    assert np.array_equal(volume.read((0, slice(8, 9))), array[5, 1:2])
    with pytest.raises(IndexError, match="not within"):
        volume.read(((0, 8, 102), (4, 11, 124)))
    with pytest.raises(ValueError, match="three integers"):
        volume.read(((0, 8), (4, 11)))


def test_read_fills_arrays_in_place(filled):
    volume, array = filled
    for out in [
        np.zeros((4, 3, 20), "uint16"),
        np.zeros((4, 3, 20), "uint16", order="F"),
        np.zeros((40, 3, 4), "uint16")[::-2].transpose(2, 1, 0),
    ]:
        assert volume.read(np.s_[0:4, 8:11, 102:122], out=out) is out
        assert np.array_equal(out, array[5:9, 1:4, 2:22])
    row = np.zeros(3, "uint16")
    volume.read(np.s_[0, 8:11, 102], out=row)
    assert np.array_equal(row, array[5, 1:4, 2])
    volume.read(np.s_[0, 8:13:2, 102], out=row)
    assert np.array_equal(row, array[5, 1:6:2, 2])
    with pytest.raises(ValueError, match=r"expected an array of shape \(3,\)"):
        volume.read(np.s_[0, 8:11, 102], out=np.zeros(4, "uint16"))
    with pytest.raises(TypeError, match="expected uint16"):
        volume.read(np.s_[0, 8:11, 102], out=np.zeros(3, "uint8"))
    row.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        volume.read(np.s_[0, 8:11, 102], out=row)


def test_missing_chunks_are_zero_or_an_error(tmp_path):
    volume = make(tmp_path / "v")
    volume[-5:11, 7:15, 100:108] = 5
    assert (volume.read(np.s_[-5:11, 7:15, 100:108], missing="error") == 5).all()
    assert volume.read().sum() == 5 * 16 * 8 * 8
    with pytest.raises(KeyError, match="not there"):
        volume.read(missing="error")
    with pytest.raises(KeyError, match="not there"):
        volume.read_many([np.s_[0:16], np.s_[:, :, 120:]], missing="error")
    with pytest.raises(ValueError, match="'zero' or 'error'"):
        volume.read(missing="ignore")


def test_many_boxes_are_read_together(filled):
    volume, array = filled
    rng = np.random.default_rng(3)
    boxes = [random_box(rng) for _ in range(50)]
    for jobs in (0, 1, 3):
        for box, got in zip(boxes, volume.read_many(boxes, jobs=jobs)):
            assert got.flags.f_contiguous
            assert np.array_equal(got, array[shifted(box)])
    mixed = volume.read_many([np.s_[0, :, 100], ..., ((0, 8, 102), (4, 11, 122)), np.s_[3:3]])
    assert [box.shape for box in mixed] == [(29,), SHAPE, (4, 3, 20), (0, 29, 23)]
    assert volume.read_many([]) == []
    with pytest.raises(IndexError):
        volume.read_many([boxes[0], np.s_[0:33]])


def test_write_is_assignment_with_options(filled):
    volume, array = filled
    volume.write(((0, 8, 102), (4, 11, 122)), 5, jobs=1)
    array[5:9, 1:4, 2:22] = 5
    assert np.array_equal(volume, array)


def test_it_becomes_an_array(filled):
    volume, array = filled
    assert np.array_equal(np.asarray(volume), array)
    assert np.asarray(volume).dtype == np.uint16
    assert np.array_equal(np.asarray(volume, dtype="float64"), array.astype("float64"))
    assert np.array_equal(np.asarray(volume.zero_based()), array)
    assert np.mean(volume) == array.mean()
    with pytest.raises(ValueError, match="copy"):
        volume.__array__(copy=False)


def test_damage_is_told(filled):
    volume, _ = filled
    (shard, *_) = sorted((volume_folder(volume)).glob("*.shard"))
    data = bytearray(shard.read_bytes())
    data[-200:] = bytes(200)
    shard.write_bytes(data)
    with pytest.raises(dolium.CorruptError, match=shard.name):
        dolium.Volume.open(volume.location)[...]


def volume_folder(volume):
    import pathlib

    return pathlib.Path(volume.location) / volume.info["scales"][0]["key"]


# --- for other libraries and processes ------------------------------------------------------------


def test_zero_based_is_as_numpy_has_it(filled):
    volume, array = filled
    view = volume.zero_based()
    assert isinstance(view, dolium.VolumeArray)
    assert (view.shape, view.dtype, view.ndim, view.size) == (SHAPE, np.uint16, 3, array.size)
    assert view.chunks == (16, 8, 8)
    assert view.nbytes == array.nbytes
    assert len(view) == 37
    for index in [
        np.s_[...],
        np.s_[3:9, 2, -5:],
        np.s_[-1],
        np.s_[-200:300, ::3],
        np.s_[::-1, 20:2:-3, 5:5],
        np.s_[30:2, :, 0],
        np.s_[36:, 28, 22],
        np.s_[..., 0:0],
        np.s_[40:50],
    ]:
        expected = array[index]
        got = view[index]
        assert got.shape == expected.shape, index
        assert np.array_equal(got, expected), index
    view[-3:, 0, 2:4] = 9
    array[-3:, 0, 2:4] = 9
    assert np.array_equal(volume, array)
    for index in (37, -38, (0, 29)):
        with pytest.raises(IndexError, match="out of bounds"):
            view[index]
    view[::-1, ::2] = 5
    array[::-1, ::2] = 5
    assert np.array_equal(volume, array)


def test_chunks_and_shards_cover_the_volume_once(tmp_path):
    for options in ({}, {"sharded": False}):
        volume = make(tmp_path / f"v{len(options)}", "uint8", **options)
        for list_boxes in (volume.chunks, volume.shards):
            boxes = list(list_boxes())
            seen = np.zeros(SHAPE, int)
            for box in boxes:
                seen[shifted(box)] += 1
            assert (seen == 1).all()
        assert next(volume.chunks()) == np.s_[-5:11, 7:15, 100:108]
        assert list(volume.chunks())[-1] == np.s_[27:32, 31:36, 116:123]
    assert len(list(volume.chunks())) == 3 * 4 * 3


def test_writing_shards_writes_each_once(tmp_path):
    volume = make(tmp_path / "v", "uint8", shard_size=4096)
    shards = list(volume.shards())
    for number, box in enumerate(shards, 1):
        volume[box] = number
        assert len(list(volume_folder(volume).glob("*.shard"))) == number
    assert len(shards) == 12


def test_shards_are_listed_one_by_one(tmp_path):
    side = 1 << 24
    volume = dolium.Volume.create(
        tmp_path / "v", shape=(side, side, 64), dtype="uint8", shard_size=1 << 18
    )
    boxes = volume.shards()
    assert next(boxes) == np.s_[0:64, 0:64, 0:64]
    assert next(boxes) == np.s_[64:128, 0:64, 0:64]
    spread = dolium.Volume.create(
        tmp_path / "w", shape=(640, 640, 640), dtype="uint8", sharding=dolium.ShardingSpec(0, 1, 1)
    )
    with pytest.raises(NotImplementedError, match="must be boxes"):
        next(spread.shards())


def test_blocks_for_dask_are_whole_chunks(tmp_path):
    volume = dolium.Volume.create(
        tmp_path / "v", shape=(1000, 700, 65), dtype="uint64", chunk_size=(64, 64, 64)
    )
    x, y, z = volume.dask_chunks
    assert (sum(x), sum(y), sum(z)) == (1000, 700, 65)
    assert x[0] % 64 == 0 and y[0] % 64 == 0 and z == (65,)
    assert 8 * x[0] * y[0] * 65 <= 64 << 20
    channels = dolium.Volume.create(tmp_path / "c", shape=(10, 10, 10, 3), dtype="uint8")
    assert channels.dask_chunks == ((10,), (10,), (10,), (3,))


def test_a_volume_is_pickled_by_its_location(filled, tmp_path, monkeypatch):
    volume, array = filled
    text = pickle.dumps(volume)
    assert len(text) < 1000
    assert np.array_equal(pickle.loads(text), array)
    view = pickle.loads(pickle.dumps(volume.zero_based()))
    assert np.array_equal(view[3], array[3])
    # A relative path means the same elsewhere.
    monkeypatch.chdir(tmp_path)
    text = pickle.dumps(dolium.Volume.open("volume"))
    monkeypatch.chdir("/")
    assert np.array_equal(pickle.loads(text), array)


def test_scales_are_volumes(filled):
    volume, array = filled
    dolium.volume.downsample(volume, scales=3, factor=(2, 2, 1), method="stride")
    volume = dolium.Volume.open(volume.location)
    assert volume.num_scales == 3
    coarse = volume.scale(1)
    assert coarse.scale_index == 1
    assert coarse.resolution == (2, 2, 1)
    assert coarse.offset == (-3, 3, 100)
    assert coarse.num_scales == 3
    assert coarse.scale(0).shape == volume.shape
    assert pickle.loads(pickle.dumps(coarse)).scale_index == 1
    assert dolium.Volume.open(volume.location, scale=2).resolution == (4, 4, 1)
    for index in (3, -1):
        with pytest.raises(IndexError, match=f"no scale {index}"):
            volume.scale(index)
