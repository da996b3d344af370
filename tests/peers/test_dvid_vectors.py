"""Exports of DVID: vectors of messages, indexes, wrappings, blocks, sharding and downsampling."""

import gzip
import hashlib
import itertools
import json
import pathlib
import struct
import zlib

import numpy as np
import pytest

import dolium
from dolium import dvid

SHARED = pathlib.Path(__file__).resolve().parents[3] / "shared" / "formats"
FILE = SHARED / "dvid-vectors.json"
FIXTURES = SHARED / "dvid-fixtures"


@pytest.fixture(scope="module")
def vectors():
    if not FILE.exists():
        pytest.skip(f"there is no {FILE}")
    return json.loads(FILE.read_text())


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def voxel_hash(array):
    return sha256(array.tobytes(order="F"))


def labels_of(block):
    return np.frombuffer(block, "<u8", int.from_bytes(block[12:16], "little"), 16)


def write(path, key, stored, block, **options):
    """A shard of one row."""
    own = labels_of(block)
    dvid.write_shard(path, [(key, own, own, stored, len(block))], **options)
    return path.read_bytes()


SOLID_7 = bytes.fromhex("080000000800000008000000010000000700000000000000")


# --- Arrow ------------------------------------------------------------------


def test_a_stream_of_one_row(vectors, tmp_path):
    arrow = vectors["arrow"]
    frame = arrow["zstd_frames"][0]
    assert bytes.fromhex(frame["plain_hex"]) == SOLID_7
    row = arrow["one_row_batch"]
    assert row["labels"] == row["supervoxels"] == [7]
    assert row["uncompressed_size"] == len(SOLID_7)
    data = write(
        tmp_path / "a.arrow", row["block_xyz"], bytes.fromhex(frame["frame_hex"]), SOLID_7
    )
    schema = arrow["schema_message"]
    assert sha256(data[: schema["bytes"]]) == schema["sha256"]
    assert data == bytes.fromhex(schema["hex"] + row["hex"] + arrow["end_of_stream"])
    assert len(data) == schema["bytes"] + row["bytes"] + 8
    reader = dvid.ArrowShardReader(tmp_path / "a.arrow")
    assert reader.block(0, 0, 0) == SOLID_7
    assert (reader.voxels(0, 0, 0) == 7).all()


@pytest.mark.parametrize("rows", [1, 3])
def test_the_metadata_of_a_batch(vectors, tmp_path, rows):
    template = vectors["arrow"]["record_batch_metadata_template"]
    stored = [((x, 0, 0), [7] * (x + 1), [7] * (x + 1), SOLID_7, 24) for x in range(rows)]
    dvid.write_shard(tmp_path / "a.arrow", stored, rows_per_batch=rows)
    data = (tmp_path / "a.arrow").read_bytes()
    begin = vectors["arrow"]["schema_message"]["bytes"] + 8
    assert data[begin - 8 : begin] == b"\xff\xff\xff\xff" + struct.pack("<I", template["bytes"])
    metadata = bytearray(data[begin : begin + template["bytes"]])
    patch = template["patch"]
    for at, count in (
        (patch["bodyLength_i64"], 1),
        (patch["length_i64"], 1),
        (patch["buffers_19x(offset_i64,length_i64)"], 19 * 2),
        (patch["nodes_9x(length_i64,null_count_i64)"], 9 * 2),
    ):
        metadata[at : at + 8 * count] = bytes(8 * count)
    assert metadata == bytes.fromhex(template["hex"])


def test_the_schema_of_six_columns(vectors):
    schema = bytes.fromhex(vectors["arrow"]["schema_message_six_columns"]["hex"])
    assert len(schema) == vectors["arrow"]["schema_message_six_columns"]["bytes"]
    path = FIXTURES / "gen-json-plain" / "s0" / "128_0_0.arrow"
    assert path.read_bytes().startswith(schema)
    assert len(dvid.ArrowShardReader(path)) == 3


def test_zstd_frames(vectors):
    frame = vectors["arrow"]["zstd_frames"][1]
    reader = dvid.ArrowShardReader(FIXTURES / "current" / "s0" / "0_0_0.arrow")
    chunk = reader.get_chunk(*frame["block_xyz"])
    assert chunk["compressed_data"] == bytes.fromhex(frame["frame_hex"])
    assert len(reader.block(*frame["block_xyz"])) == frame["plain_bytes"]


@pytest.mark.parametrize("swapped", [False, True])
def test_the_footer_of_the_seed(vectors, tmp_path, swapped):
    footer = bytes.fromhex(vectors["arrow"]["chunkidx_footer"]["captured_hex"])
    index = json.loads(footer[:-16])
    if swapped:  # as the seed's own reader has it
        footer = footer[:-16] + footer[-8:] + footer[-16:-8]
    keys = [tuple(map(int, key.split("_"))) for key in sorted(index, key=index.get)]
    path = tmp_path / "0_0_0.arrow"
    dvid.write_shard(path, [(key, [7], [7], SOLID_7, 24) for key in keys])
    path.with_suffix(".csv").unlink()
    path.write_bytes(path.read_bytes() + footer)
    reader = dvid.ArrowShardReader(path)
    assert reader.chunk_index == index
    assert reader.list_chunks() == keys
    assert (reader.voxels(*keys[1]) == 7).all()


def test_the_current_csv(vectors, tmp_path):
    path = FIXTURES / "current" / "s0" / "0_0_0.arrow"
    text = vectors["arrow"]["csv_index_current"]
    assert path.with_suffix(".csv").read_text() == text
    reader = dvid.ArrowShardReader(path)
    rows = []
    for key in reader.list_chunks():
        chunk = reader.get_chunk(*key)
        size = len(reader.block(*key))
        rows.append((key, chunk["labels"], chunk["supervoxels"], chunk["compressed_data"], size))
    ours = tmp_path / "0_0_0.arrow"
    dvid.write_shard(ours, rows, csv="dvid")
    assert ours.with_suffix(".csv").read_text() == text
    dvid.write_shard(tmp_path / "documented.arrow", rows)
    lines = (tmp_path / "documented.csv").read_text().splitlines()
    assert lines[0] == "# schema_size=688"
    assert lines[2] == "1,0,0,688,736,0", "without the schema"
    assert lines[3:] == text.splitlines()[3:]


def test_the_files_are_those_of_the_vectors(vectors):
    assert len(vectors["fixtures"]) > 40
    for fixture in vectors["fixtures"]:
        data = (SHARED / fixture["file"]).read_bytes()
        assert len(data) == fixture["bytes"], fixture["file"]
        assert sha256(data) == fixture["sha256"], fixture["file"]


# --- what is around blocks --------------------------------------------------


def test_wrappings(vectors, tmp_path):
    wrappers = vectors["wrappers"]
    first = wrappers["storage_first_byte"]

    stored = bytes.fromhex(wrappers["storage_gzip_of_solid7"])
    assert stored[0] == int(first["gzip"], 16)
    assert gzip.decompress(stored[1:]) == SOLID_7
    write(tmp_path / "gzip.arrow", (0, 0, 0), stored[1:], SOLID_7)
    assert dvid.ArrowShardReader(tmp_path / "gzip.arrow").block(0, 0, 0) == SOLID_7

    stored = bytes.fromhex(wrappers["storage_uncompressed_crc32_of_solid7"])
    assert stored[0] == int(first["uncompressed"], 16) | int(first["crc32_flag_or_in"], 16)
    assert int.from_bytes(stored[1:5], "little") == zlib.crc32(stored[5:])
    write(tmp_path / "plain.arrow", (0, 0, 0), stored[5:], SOLID_7)
    assert (dvid.ArrowShardReader(tmp_path / "plain.arrow").voxels(0, 0, 0) == 7).all()

    entry = bytes.fromhex(wrappers["http_blocks_entry"]["hex"])
    *key, length = struct.unpack("<4i", entry[:16])
    assert len(entry) == 16 + length
    write(tmp_path / "http.arrow", key, entry[16:], SOLID_7)
    reader = dvid.ArrowShardReader(tmp_path / "http.arrow")
    assert reader.list_chunks() == [(1, 0, 2)]
    assert (reader.voxels(1, 0, 2) == 7).all()


# --- label blocks -----------------------------------------------------------


def test_raw_volumes_have_one_block(vectors):
    assert len(vectors["raw_volumes"]) >= 3
    for vector in vectors["raw_volumes"]:
        raw = gzip.decompress((SHARED / vector["file"]).read_bytes())
        voxels = np.frombuffer(raw, "<u8").reshape((64, 64, 64), order="F")
        assert voxel_hash(voxels) == vector["voxels_sha256"], vector["file"]
        block = dvid.encode_block(voxels)
        assert len(block) == vector["canonical_block_bytes"], vector["file"]
        assert sha256(block) == vector["canonical_block_sha256"], vector["file"]
        assert np.array_equal(dvid.decode_block(block), voxels)


def test_the_block_of_fib19(vectors):
    vector = vectors["fib19"]
    block = gzip.decompress((SHARED / vector["block_file"].split()[0]).read_bytes())
    assert len(block) == vector["block_bytes"]
    assert sha256(block) == vector["block_sha256"]
    assert labels_of(block).tolist() == list(map(int, vector["labels"]))
    assert len(vector["labels"]) == vector["num_labels"]
    voxels = dvid.decode_block(block)
    assert voxel_hash(voxels) == vector["voxels_sha256"]
    counts: dict[str, int] = {}
    for x, y, z in itertools.product(range(0, 64, 8), repeat=3):
        found = str(len(np.unique(voxels[x : x + 8, y : y + 8, z : z + 8])))
        counts[found] = counts.get(found, 0) + 1
    assert counts == vector["subblocks_by_label_count"]


def test_labels_of_the_fixtures(vectors):
    volume = vectors["fixture_volume"]
    mapping = {int(a): int(b) for a, b in volume["mapping"].items()}
    for path in sorted((FIXTURES / "current" / "s0").glob("*.arrow")):
        reader = dvid.ArrowShardReader(path)
        blocks = {tuple(block["block_xyz"]): block for block in volume["scale0_blocks"]}
        for key in reader.list_chunks():
            chunk = reader.get_chunk(*key)
            assert chunk["labels"] == [mapping.get(s, s) for s in chunk["supervoxels"]]
            distinct = np.unique(reader.voxels(*key, labels=False))
            assert len(distinct) == blocks[key]["distinct_supervoxels"]


def test_the_figures_of_a_real_shard(vectors):
    real = vectors["mcns_real"]
    reader = dvid.ArrowShardReader(SHARED / real["file"])
    chunks = [reader.get_chunk(*key) for key in reader.list_chunks()]
    assert len(chunks) == real["records"]
    assert max(len(chunk["labels"]) for chunk in chunks) == real["max_labels"]
    assert sum(len(chunk["compressed_data"]) for chunk in chunks) == real["sum_zstd"]
    blocks = [reader.block(*key) for key in reader.list_chunks()]
    assert sum(map(len, blocks)) == real["sum_uncompressed"]
    for vector, number in ((real["first"], 0), (real["last"], -1)):
        key = reader.list_chunks()[number]
        assert list(key) == vector["block_xyz"]
        assert voxel_hash(reader.voxels(*key, labels=False)) == vector["supervoxels_sha256"]
        assert voxel_hash(reader.voxels(*key)) == vector["labels_sha256"]


# --- volumes ----------------------------------------------------------------


def chunk_ids(folder, size, cells, sharding):
    """Where single voxels of these chunks go: {cell: (id, file)}."""
    found = {}
    for number, cell in enumerate(cells):
        path = folder / str(number)
        volume = dolium.Volume.create(
            path, shape=size, dtype="uint64", sharding=sharding, key="s"
        )
        volume[tuple(64 * at for at in cell)] = 1
        (key,) = dolium.open(path / "s", sharding=sharding)
        (file,) = (path / "s").glob("*.shard")
        found[tuple(cell)] = (int(key), file.name)
    return found


def make_sharding(preshift, minishard, shard):
    return dolium.ShardingSpec(preshift, minishard, shard, "identity")


def test_z_indexes(vectors, tmp_path):
    cases = {tuple(case["p"]): case["z"] for case in vectors["sharding"]["z_index_bits_4_2_1"]}
    size = (64 << 4, 64 << 2, 64 << 1)
    found = chunk_ids(tmp_path, size, cases, make_sharding(0, 0, 7))
    assert {cell: number for cell, (number, _) in found.items()} == cases


def test_chunks_go_to_the_shards_of_the_vectors(vectors, tmp_path):
    for case in vectors["sharding"]["cases"]:
        sharding = make_sharding(case["preshift_bits"], case["minishard_bits"], case["shard_bits"])
        grid = [-(-side // case["chunk"]) for side in case["size"]]
        assert [(cells - 1).bit_length() for cells in grid] == case["coord_bits"]
        points = {tuple(point["chunk"]): point for point in case["points"]}
        found = chunk_ids(tmp_path / case["volume"], case["size"], points, sharding)
        for cell, (number, file) in found.items():
            point = points[cell]
            assert number == point["z_index"], (case["volume"], cell)
            assert file == point["ng_file"]
            assert sharding.place(number) == (point["shard"], point["minishard"])


def test_downsampling(vectors, tmp_path):
    for number, case in enumerate(vectors["downres"]):
        voxels = np.array(case["children"], np.uint64).reshape((2, 2, 2), order="F")
        for ignore_zero, name in ((True, "dvid"), (False, "plain_mode")):
            path = tmp_path / f"{number}-{name}"
            volume = dolium.Volume.create(path, shape=(2, 2, 2), dtype="uint64")
            volume[...] = voxels
            dolium.volume.downsample(
                path, scales=2, factor=(2, 2, 2), method="mode", ignore_zero=ignore_zero
            )
            assert dolium.Volume.open(path, scale=1)[...].item() == case[name], (case, name)
