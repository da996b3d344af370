"""New volumes, and what they tell of themselves."""

import json

import numpy as np
import pytest

import dolium
from volume_makers import BEGIN, END, SHAPE, make


def test_a_new_volume_tells_what_it_is(tmp_path):
    volume = make(tmp_path / "v", "uint64", resolution=(4, 4, 32.5))
    assert volume.shape == SHAPE
    assert volume.ndim == 3
    assert volume.dtype == np.uint64
    assert volume.size == 37 * 29 * 23
    assert volume.nbytes == 8 * volume.size
    assert len(volume) == 37
    assert volume.bounds == (BEGIN, END)
    assert volume.offset == volume.voxel_offset == BEGIN
    assert volume.resolution == (4.0, 4.0, 32.5)
    assert volume.chunk_size == (16, 8, 8)
    assert volume.num_channels == 1
    assert volume.encoding == "compressed_segmentation"
    assert isinstance(volume.sharding, dolium.ShardingSpec)
    assert volume.sharding.hash == "identity"
    assert volume.location == str(tmp_path / "v")
    assert (volume.scale_index, volume.num_scales) == (0, 1)
    assert volume.info == json.loads((tmp_path / "v" / "info").read_text())
    assert volume.info["type"] == "segmentation"
    assert volume.info["scales"][0]["key"] == "4_4_32.5"
    assert not volume[...].any()


def test_create_has_defaults_and_takes_wishes(tmp_path):
    plain = dolium.Volume.create(tmp_path / "a", shape=(300, 200, 100), dtype="u1")
    assert plain.info["type"] == "image"
    assert plain.encoding == "raw"
    assert plain.chunk_size == (64, 64, 64)
    assert plain.sharding is not None
    assert plain.resolution == (1, 1, 1)
    assert plain.offset == (0, 0, 0)

    files = dolium.Volume.create(
        tmp_path / "b", shape=(3, 4, 5, 3), dtype=">u1", sharded=False, encoding="jpeg", quality=91
    )
    assert files.sharding is None
    assert files.shape == (3, 4, 5, 3)
    assert files.num_channels == 3
    assert files.info["scales"][0]["jpeg_quality"] == 91

    labels = dolium.Volume.create(
        tmp_path / "c",
        shape=np.array([30, 40, 50]),
        dtype=np.uint32,
        type="image",
        key="full",
        encoding="compressed_segmentation",
        block_size=(4, 4, 2),
        sharding=dolium.ShardingSpec(1, 2, 3, hash="identity"),
    )
    (scale,) = labels.info["scales"]
    assert labels.info["type"] == "image"
    assert scale["key"] == "full"
    assert scale["compressed_segmentation_block_size"] == [4, 4, 2]
    assert labels.sharding == dolium.ShardingSpec(1, 2, 3, hash="identity")


def test_create_replaces_a_volume_only_if_forced(tmp_path):
    make(tmp_path / "v")[...] = 7
    with pytest.raises(FileExistsError):
        make(tmp_path / "v")
    assert dolium.Volume.open(tmp_path / "v")[-5, 7, 100] == 7
    fresh = make(tmp_path / "v", "uint8", force=True)
    assert fresh.dtype == np.uint8
    assert not fresh[...].any()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["v"]

    (tmp_path / "v" / "notes").write_text("mine")
    with pytest.raises(FileExistsError, match="notes"):
        make(tmp_path / "v", force=True)
    assert (tmp_path / "v" / "notes").read_text() == "mine"
    assert make(tmp_path / "new", force=True).shape == SHAPE


def test_create_keeps_what_lies_beside_a_scale_in_a_folder_of_its_own(tmp_path):
    make(tmp_path / "v", key="em/fine")
    (tmp_path / "v" / "em").mkdir(exist_ok=True)
    (tmp_path / "v" / "em" / "notes").write_text("mine")
    with pytest.raises(FileExistsError, match="em"):
        make(tmp_path / "v", force=True)
    assert (tmp_path / "v" / "em" / "notes").read_text() == "mine"


def test_create_replaces_what_is_unfinished_if_forced(tmp_path):
    np.save(tmp_path / "a.npy", np.ones((3, 4, 5), "uint8"))
    plan = dolium.volume.plan_ingest(tmp_path / "a.npy", tmp_path / "v")
    dolium.volume.run_task(plan.stages[0][0])
    assert not (tmp_path / "v" / "info").exists()
    with pytest.raises(FileExistsError):
        make(tmp_path / "v")
    assert not make(tmp_path / "v", force=True)[...].any()
    assert not (tmp_path / "v" / ".dolium-unfinished").exists()

    (tmp_path / "w").mkdir()
    (tmp_path / "w" / ".dolium-unfinished").write_text("no job")
    assert make(tmp_path / "w", force=True).shape == SHAPE

    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes").write_text("mine")
    with pytest.raises(FileExistsError, match="notes"):
        make(tmp_path / "other", force=True)
    assert (tmp_path / "other" / "notes").read_text() == "mine"


@pytest.mark.parametrize(
    "options, message",
    [
        ({"dtype": "float64"}, "float64"),
        ({"shape": (1, 2)}, "three integers"),
        ({"shape": (-1, 2, 3)}, "size"),
        ({"chunk_size": (0, 1, 1)}, "chunk_size"),
        ({"chunk_size": 64}, "three integers"),
        ({"resolution": (1, 2)}, "three numbers"),
        ({"resolution": (1, 2, 0)}, "resolution"),
        ({"offset": (0.5, 0, 0)}, "three integers"),
        ({"num_channels": 0}, "num_channels"),
        ({"type": "picture"}, "image or segmentation"),
        ({"encoding": "gif"}, "compresso"),
        ({"encoding": "raw", "quality": 5}, "quality"),
        ({"encoding": "png", "block_size": (8, 8, 8)}, "block_size"),
        ({"quality": 5}, "none is named"),
        ({"gzip_files": True, "sharded": True}, "gzip_files contradicts sharded=True"),
        ({"gzip_files": True, "shard_size": 1 << 20}, "gzip_files contradicts shard_size"),
        ({"sharded": False, "shard_size": 1 << 20}, "sharded=False contradicts shard_size"),
        ({"shape": (1, 2, 3, 4), "num_channels": 3}, "num_channels"),
    ],
)
def test_create_says_what_is_wrong(tmp_path, options, message):
    options = {"shape": (10, 10, 10), "dtype": "uint8"} | options
    with pytest.raises(ValueError, match=message):
        dolium.Volume.create(tmp_path / "v", **options)
    assert not (tmp_path / "v").exists()


def test_an_encoding_must_suit_the_type(tmp_path):
    with pytest.raises(NotImplementedError, match="jpeg"):
        make(tmp_path / "v", "uint16", encoding="jpeg")


def test_opening_says_what_is_wrong(tmp_path):
    with pytest.raises(FileNotFoundError, match="no volume"):
        dolium.Volume.open(tmp_path)
    (tmp_path / "info").write_text('{"type": "image", "data_type": "uint8"}')
    with pytest.raises(dolium.CorruptError, match="info"):
        dolium.Volume.open(tmp_path)
    with pytest.raises(TypeError):
        dolium.Volume.open(7)
    make(tmp_path / "v")
    with pytest.raises(ValueError, match="no scale 3"):
        dolium.Volume.open(tmp_path / "v", scale=3)


def test_it_shows_itself(tmp_path):
    volume = make(tmp_path / "v", "uint64")
    assert repr(volume) == (
        f"<dolium.Volume '{tmp_path}/v', scale 0 of 1: uint64 [-5:32, 7:36, 100:123], "
        "1 x 1 x 1 nm, compressed_segmentation, sharded>"
    )
    assert repr(volume.zero_based()).startswith("<dolium.VolumeArray (37, 29, 23) of <dolium.Vol")


def test_options_have_the_words_of_the_command_line_and_older_ones(tmp_path):
    spec = dolium.ShardingSpec(1, 2, 3, hash="identity")
    for name in ("to_spec", "sharding"):
        volume = dolium.Volume.create(
            tmp_path / name, shape=(64, 64, 64), dtype="uint8", **{name: spec}
        )
        assert dolium.ShardingSpec.from_json(volume.info["scales"][0]["sharding"]) == spec
    for name in ("png_level", "level"):
        volume = dolium.Volume.create(
            tmp_path / name, shape=(8, 8, 8), dtype="uint8", encoding="png", **{name: 3}
        )
        assert volume.info["scales"][0]["png_level"] == 3
    for names, given in (
        (("png_level", "level"), {"encoding": "png", "png_level": 3, "level": 3}),
        (("to_spec", "sharding"), {"to_spec": spec, "sharding": spec}),
    ):
        with pytest.raises(TypeError, match="{} and {} are the same thing".format(*names)):
            dolium.Volume.create(tmp_path / "no", shape=(8, 8, 8), dtype="uint8", **given)
