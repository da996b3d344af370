"""Exports of DVID: against pyarrow both ways, and against files that real servers wrote."""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest

import dolium
from dolium import dvid

pa = pytest.importorskip("pyarrow")
import pyarrow.ipc  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared" / "formats"
FIXTURES = SHARED / "dvid-fixtures"
needs_fixtures = pytest.mark.skipif(
    not FIXTURES.exists(), reason="the shards of real servers are not here"
)
sys.path.insert(0, str(ROOT / "tools"))

DOLIUM = os.environ.get("DOLIUM", "dolium")


def run(*arguments):
    return subprocess.run([DOLIUM, *map(str, arguments)], capture_output=True, text=True)


def sha256(array):
    """Of voxels with x fastest."""
    return hashlib.sha256(array.tobytes(order="F")).hexdigest()


@pytest.fixture(scope="module")
def vectors():
    return json.loads((SHARED / "dvid-vectors.json").read_text())


@pytest.fixture
def export(tmp_path):
    """An export of ours in both layouts, and its voxels."""
    rng = np.random.default_rng(5)
    voxels = rng.integers(0, 9, (16, 16, 16), np.uint64).repeat(8, 0).repeat(8, 1).repeat(8, 2)
    volume = dolium.Volume.create(tmp_path / "seg", shape=voxels.shape, dtype="uint64")
    volume[...] = voxels
    for layout in ("stream", "seed"):
        dvid.write(tmp_path / "seg", tmp_path / layout, layout=layout)
    return tmp_path, voxels


# --- pyarrow ----------------------------------------------------------------


def test_pyarrow_reads_our_stream(export):
    folder, voxels = export
    path = folder / "stream" / "s0" / "0_0_0.arrow"
    table = pa.ipc.open_stream(pa.memory_map(str(path))).read_all()
    table.validate(full=True)
    assert table.column_names == [
        *("chunk_x", "chunk_y", "chunk_z", "labels", "supervoxels"),
        *("dvid_compressed_block", "uncompressed_size"),
    ]
    assert table.num_rows == 8
    ours, index = dvid.read_shard_with_index(path)
    assert ours.equals(table)
    row = index["1_0_1"]
    key = [table[f"chunk_{axis}"][row].as_py() for axis in "xyz"]
    assert key == [1, 0, 1]
    zstandard = pytest.importorskip("zstandard")
    block = zstandard.ZstdDecompressor().decompress(
        table["dvid_compressed_block"][row].as_py(),
        max_output_size=table["uncompressed_size"][row].as_py(),
    )
    assert np.array_equal(dvid.decode_block(block), voxels[64:, :64, 64:])
    assert table["labels"][row].as_py() == dvid.ArrowShardReader(path).get_labels_for_chunk(1, 0, 1)


def test_pyarrow_reads_our_seed_file_without_its_footer(export):
    folder, voxels = export
    path = folder / "seed" / "s0" / "0_0_0.arrow"
    with pytest.raises(pa.ArrowInvalid):
        pa.ipc.open_file(pa.memory_map(str(path)))
    data = path.read_bytes()
    length = int.from_bytes(data[-16:-8], "little")
    assert data[-8:] == b"CHUNKIDX"
    index = json.loads(data[-16 - length : -16])
    table = pa.ipc.open_file(pa.py_buffer(data[: -16 - length])).read_all()
    table.validate(full=True)
    assert table.num_columns == 6
    row = index["64_0_64"]
    assert table["chunk_z"][row].as_py() == 64
    block = table["dvid_compressed_block"][row].as_py()
    assert np.array_equal(dvid.decode_block(block), voxels[64:, :64, 64:])
    ours, own_index = dvid.read_shard_with_index(path)
    assert ours.equals(table)
    assert own_index == index


@pytest.mark.parametrize("is_file", [False, True])
@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
@pytest.mark.parametrize("batch", [1, 2, 100])
def test_we_read_what_pyarrow_writes(tmp_path, is_file, compression, batch):
    import make_dvid_testdata as maker

    path = tmp_path / "0_0_0.arrow"
    maker.write(str(path), maker.table("zstd"), is_file, compression, batch=batch)
    reader = dvid.ArrowShardReader(path)
    assert reader.list_chunks() == maker.KEYS
    for number, key in enumerate(maker.KEYS):
        voxels = maker.voxels(number)
        assert np.array_equal(reader.voxels(*key, labels=False), voxels)
        assert np.array_equal(reader.voxels(*key), voxels * np.uint64(10))
    table, _ = dvid.read_shard_with_index(path)
    assert table.equals(maker.table("zstd"))
    assert run("verify", path).returncode == 0


def test_an_independent_encoder_agrees():
    import make_dvid_testdata as maker

    for number in range(3):
        block, _ = maker.encode_block(maker.voxels(number))
        assert np.array_equal(dvid.decode_block(block), maker.voxels(number))
        assert len(dvid.encode_block(maker.voxels(number))) == len(block)


# --- files of real servers --------------------------------------------------


@needs_fixtures
def test_label_blocks_of_the_vectors(vectors):
    for vector in vectors["label_blocks"]["valid"]:
        block = bytes.fromhex(vector["block_hex"])
        voxels = dvid.decode_block(block)
        assert list(voxels.shape) == vector["size_xyz"], vector["name"]
        assert sha256(voxels) == vector["voxels_sha256_le_u64_xfastest"], vector["name"]
        assert len(block) == vector["bytes"]
        assert hashlib.sha256(block).hexdigest() == vector["block_sha256"]
        assert np.array_equal(dvid.decode_block(dvid.encode_block(voxels)), voxels)
    for vector in vectors["label_blocks"]["invalid"]:
        assert vector["must"].startswith("reject"), vector
        with pytest.raises(dolium.CorruptError):
            dvid.decode_block(bytes.fromhex(vector["block_hex"]))


@needs_fixtures
def test_our_encoder_makes_dvids_own_block(vectors):
    import gzip

    folder = FIXTURES / "dvid-blocks"
    block = gzip.decompress((folder / "fib19-64x64x64-sample1-block.dat.gz").read_bytes())
    raw = gzip.decompress((folder / "fib19-64x64x64-sample1.dat.gz").read_bytes())
    voxels = np.frombuffer(raw, "<u8").reshape((64, 64, 64), order="F")
    assert sha256(voxels) == vectors["fib19"]["voxels_sha256"]
    assert np.array_equal(dvid.decode_block(block), voxels)
    assert dvid.encode_block(voxels) == block


HEALTHY = [
    *("current", "batch4", "gen-csv-rec", "gen-csv-rec-morton", "gen-csv-batch256"),
    *("gen-json-bodyzstd", "gen-json-plain", "seed-footer-synthetic"),
]


@needs_fixtures
@pytest.mark.parametrize("name", HEALTHY)
def test_every_generation_has_the_voxels_of_the_vectors(vectors, name):
    expected = {0: vectors["fixture_volume"]["scale0_blocks"], 1: vectors["fixture_volume"]["scale1"]}
    seen = 0
    for folder in sorted((FIXTURES / name).glob("s[0-9]")):
        blocks = {tuple(block["block_xyz"]): block for block in expected[int(folder.name[1:])]}
        for path in sorted(folder.glob("*.arrow")):
            reader = dvid.ArrowShardReader(path)
            for key in reader.list_chunks():
                seen += 1
                assert sha256(reader.voxels(*key, labels=False)) == blocks[key]["supervoxels_sha256"]
                assert sha256(reader.voxels(*key)) == blocks[key]["labels_sha256"]
    assert seen >= 3
    done = run("verify", FIXTURES / name)
    assert done.returncode == 0, done.stdout + done.stderr


@needs_fixtures
def test_a_real_shard_of_janelia(vectors):
    real = vectors["mcns_real"]
    reader = dvid.ArrowShardReader(FIXTURES / "mcns-real" / "30720_24576_28672.arrow")
    assert len(reader) == real["records"]
    for name, labels in (("supervoxels", False), ("labels", True)):
        total = hashlib.sha256()
        for key in reader.list_chunks():
            total.update(bytes.fromhex(sha256(reader.voxels(*key, labels=labels))))
        assert total.hexdigest() == real["all_records_sha256"][name]


def identical_fixtures():
    if not FIXTURES.exists():
        return []
    names = ("current", "batch4", "gen-csv-rec", "gen-csv-rec-morton", "gen-csv-batch256", "oob")
    files = [path for name in names for path in sorted((FIXTURES / name).rglob("*.arrow"))]
    return [*files, FIXTURES / "mcns-real" / "30720_24576_28672.arrow"]


@needs_fixtures
@pytest.mark.parametrize("path", identical_fixtures(), ids=lambda p: "-".join(p.parts[-3:]))
def test_the_same_rows_give_the_same_bytes(tmp_path, path):
    with pa.ipc.open_stream(pa.memory_map(str(path))) as stream:
        batches = list(stream)
    rows = [
        (
            tuple(batch[f"chunk_{axis}"][row].as_py() for axis in "xyz"),
            batch["labels"][row].as_py(),
            batch["supervoxels"][row].as_py(),
            batch["dvid_compressed_block"][row].as_py(),
            batch["uncompressed_size"][row].as_py(),
        )
        for batch in batches
        for row in range(batch.num_rows)
    ]
    ours = tmp_path / path.name
    dvid.write_shard(ours, rows, csv="dvid", rows_per_batch=max(b.num_rows for b in batches))
    assert ours.read_bytes() == path.read_bytes()
    csv = path.with_suffix(".csv").read_text()
    if csv.startswith("# schema_size=0\nx,y,z,offset"):
        assert ours.with_suffix(".csv").read_text() == csv


@needs_fixtures
def test_an_index_made_afterwards_is_read_too(tmp_path):
    folder = FIXTURES / "mcns-real"
    stem = "30720_24576_28672"
    for name in ("-newformat.csv", "-offsets.csv", ".csv", None):
        shutil.copy(folder / f"{stem}.arrow", tmp_path / f"{stem}.arrow")
        if name:
            shutil.copy(folder / f"{stem}{name}", tmp_path / f"{stem}.csv")
        else:
            (tmp_path / f"{stem}.csv").unlink()
        reader = dvid.ArrowShardReader(tmp_path / f"{stem}.arrow")
        assert len(reader) == 258
        assert reader.get_chunk(509, 413, 469) is not None


@needs_fixtures
@pytest.mark.parametrize(
    ("name", "words", "saved", "lost"),
    [
        ("bad-rerun", "had an export already", 3, None),
        ("bad-noncubic", "not cubes", 9, "not whole are 12176 bytes in 3 of its parts"),
    ],
)
def test_damage_by_dvid_is_explained_and_salvaged(tmp_path, name, words, saved, lost):
    done = run("verify", FIXTURES / name)
    assert done.returncode == 1
    assert words in done.stdout
    done = run("convert", "--to", "precomputed", FIXTURES / name, tmp_path / "out")
    assert done.returncode == 1
    assert words in done.stderr
    assert not (tmp_path / "out").exists()
    keys = run("ls", "--skip-damaged", FIXTURES / name).stdout.split()
    assert len(keys) == saved
    done = run("convert", "--skip-damaged", "--to", "precomputed", FIXTURES / name, tmp_path / "out")
    # What cannot be salvaged is named.
    assert done.returncode == (0 if lost is None else 1), done.stderr
    assert lost is None or lost in done.stderr
    dolium.Volume.open(tmp_path / "out")[...]


@needs_fixtures
def test_blocks_outside_of_the_volume_are_counted(tmp_path):
    done = run("convert", "--to", "precomputed", FIXTURES / "oob", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "3 of 10 blocks lie outside of the volume" in done.stderr
    assert dolium.Volume.open(tmp_path / "out").shape == (128, 128, 128)


@needs_fixtures
@pytest.mark.parametrize("supervoxels", [False, True])
def test_a_converted_export_has_its_voxels_and_tensorstore_reads_it(tmp_path, supervoxels):
    ts = pytest.importorskip("tensorstore")
    source = FIXTURES / "current"
    words = ["--supervoxels"] if supervoxels else ["--labels"]
    done = run("convert", "--to", "precomputed", *words, source, tmp_path / "out")
    assert done.returncode == 0, done.stderr
    for scale, size in ((0, (192, 128, 128)), (1, (96, 64, 64))):
        exported = dolium.Volume.open(source, scale=scale, supervoxels=supervoxels)
        assert exported.shape == size
        converted = ts.open(
            {
                "driver": "neuroglancer_precomputed",
                "kvstore": {"driver": "file", "path": str(tmp_path / "out")},
                "scale_index": scale,
            }
        ).result()
        assert converted.shape[:3] == size
        assert converted.chunk_layout.read_chunk.shape[:3] == (64, 64, 64)
        assert np.array_equal(converted.read().result()[..., 0], exported[...])
        spec = json.loads((source / "spec.json").read_text())["scales"][scale]["sharding"]
        info = json.loads((tmp_path / "out" / "info").read_text())["scales"][scale]
        assert info["sharding"] == spec
    assert run("verify", tmp_path / "out").returncode == 0


# --- other writers ----------------------------------------------------------


@pytest.mark.parametrize("is_file", [False, True])
@pytest.mark.parametrize("kind", ["large", "among others"])
def test_wide_and_further_columns(tmp_path, kind, is_file):
    import make_dvid_testdata as maker

    rows = maker.large(maker.table("zstd"))
    if kind == "among others":
        rows = maker.among_others(rows)
    path = tmp_path / "0_0_0.arrow"
    maker.write(str(path), rows, is_file)
    reader = dvid.ArrowShardReader(path)
    for number, key in enumerate(maker.KEYS):
        voxels = maker.voxels(number)
        assert np.array_equal(reader.voxels(*key, labels=False), voxels)
        assert np.array_equal(reader.voxels(*key), voxels * np.uint64(10))


def test_a_coordinate_beyond_32_bits_is_refused(tmp_path):
    import make_dvid_testdata as maker

    rows = maker.large(maker.table("zstd"))
    rows = rows.set_column(0, "chunk_x", pa.array([0, 2**31, 1]))
    path = tmp_path / "0_0_0.arrow"
    maker.write(str(path), rows, False)
    with pytest.raises(dolium.CorruptError, match="which 32 bits do not hold"):
        dvid.ArrowShardReader(path)


def test_no_file_satisfies_the_reader_of_the_seed(export):
    """It wants Arrow's magic where it reads the upper bytes of a length."""
    folder, _ = export
    path = folder / "seed" / "s0" / "0_0_0.arrow"
    with pytest.raises(pa.ArrowInvalid):
        pa.ipc.open_file(str(path))
    assert int.from_bytes(b"\0\0ARROW1", "little") > 3 * 10**18
    table, index = dvid.read_shard_with_index(path)
    assert index["64_0_64"] is not None and table.num_rows == len(index)
