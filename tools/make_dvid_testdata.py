#!/usr/bin/env python3
"""Makes src/dolium/formats/dvid/testdata: shards by another implementation of Arrow.

usage: make_dvid_testdata.py [FOLDER]

Needs pyarrow, numpy, zstandard and lz4 (python/requirements-peers.txt). Label blocks are encoded
here, by the letter of docs/formats/dvid.md and without the library. Every shard has the blocks
(0,0,0), (1,0,0) and (1,2,3). Voxel x, y, z of block number n, from 0, is

    n == 0: 7
    n == 1: 1000 + x // 5 + y // 9 * 3
    n == 2: (x // 16 + y // 16 + z // 16) % 3 * (2**40 + 1)

and its label ten times that. Also writes the corpora of the fuzz targets.
"""

import gzip
import pathlib
import struct
import sys

import lz4.block
import lz4.frame
import numpy as np
import pyarrow as pa
import zstandard

KEYS = [(0, 0, 0), (1, 0, 0), (1, 2, 3)]
SIDE = 64
SMALL = 16 << 10


def voxels(number):
    x, y, z = np.ogrid[:SIDE, :SIDE, :SIDE]
    if number == 0:
        return np.full((SIDE,) * 3, 7, np.uint64)
    if number == 1:
        return (1000 + x // 5 + y // 9 * 3 + 0 * z).astype(np.uint64)
    return ((x // 16 + y // 16 + z // 16) % 3 * (2**40 + 1)).astype(np.uint64)


def encode_block(array):
    """A label block: list and palettes sorted, which is as good as any order."""
    grid = [side // 8 for side in array.shape]
    labels = np.unique(array)
    head = struct.pack("<4I", *grid, len(labels)) + labels.astype("<u8").tobytes()
    if len(labels) == 1:
        return head, labels
    counts, palettes, values = [], [], []
    for z in range(grid[2]):
        for y in range(grid[1]):
            for x in range(grid[0]):
                cube = array[8 * x : 8 * x + 8, 8 * y : 8 * y + 8, 8 * z : 8 * z + 8]
                own, indexes = np.unique(cube.ravel(order="F"), return_inverse=True)
                counts.append(len(own))
                palettes.extend(np.searchsorted(labels, own))
                bits = max(len(own) - 1, 0).bit_length()
                packed = (indexes[:, None] >> np.arange(bits)[::-1]) & 1
                values.append(np.packbits(packed.astype(np.uint8)).tobytes())
    body = np.array(counts, "<u2").tobytes() + np.array(palettes, "<u4").tobytes()
    return head + body + b"".join(values), labels


def wrap(block, codec):
    if codec == "zstd":
        return zstandard.ZstdCompressor(write_checksum=True).compress(block)
    if codec == "gzip":
        return gzip.compress(block, mtime=0)
    if codec == "lz4-frame":
        return lz4.frame.compress(block)
    if codec == "lz4":
        return lz4.block.compress(block, store_size=False)
    return block


def table(codec, scale=1, columns=7, codec_word=None):
    rows = []
    for number, key in enumerate(KEYS):
        block, labels = encode_block(voxels(number))
        rows.append((*(at * scale for at in key), labels * np.uint64(10), labels,
                     wrap(block, codec), len(block)))
    metadata = None if codec_word is None else {"codec": codec_word}
    fields = [pa.field(f"chunk_{axis}", pa.int32(), nullable=False) for axis in "xyz"]
    fields += [
        pa.field(name, pa.list_(pa.uint64()), nullable=False)
        for name in ("labels", "supervoxels")
    ]
    fields.append(
        pa.field("dvid_compressed_block", pa.binary(), nullable=False, metadata=metadata)
    )
    fields.append(pa.field("uncompressed_size", pa.uint32(), nullable=False))
    data = [pa.array(column, field.type) for column, field in zip(zip(*rows), fields)]
    return pa.table(data[:columns], pa.schema(fields[:columns]))


def large(rows):
    """The same in the types that writers other than DVID choose."""
    types = {
        "chunk_x": pa.int64(),
        "chunk_y": pa.uint32(),
        "chunk_z": pa.int16(),
        "labels": pa.large_list(pa.uint64()),
        "supervoxels": pa.large_list(pa.uint64()),
        "dvid_compressed_block": pa.large_binary(),
        "uncompressed_size": pa.int64(),
    }
    return rows.cast(pa.schema([pa.field(name, type) for name, type in types.items()]))


def among_others(rows):
    """With columns of every other type before, between and behind."""
    words = ["one", None, "a word of more than twelve bytes"]
    kinds = pa.array([0, 1, 0], pa.int8())
    parts = [pa.array([1, 2, 3]), pa.array(words)]
    offsets = pa.array([0, 0, 1], pa.int32())
    items = pa.array([1, 2, 3, 4], pa.int32())
    others = [
        pa.array(words).dictionary_encode(),
        pa.array(words, pa.string_view()),
        pa.UnionArray.from_sparse(kinds, parts),
        pa.UnionArray.from_dense(kinds, offsets, parts),
        pa.array([b"x" * 100, b"", None], pa.binary_view()),
        pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array([7.5, None])),
        pa.ListViewArray.from_arrays([1, 0, 2], [1, 2, 0], items),
        pa.LargeListViewArray.from_arrays([0, 0, 3], [4, 0, 1], items),
        pa.array([[("k", 1)], None, []], pa.map_(pa.string(), pa.int32())),
        pa.array([[1, 2], None, [3, 4]], pa.list_(pa.int8(), 2)),
        pa.array([{"a": [words[0]]}, None, {"a": None}]),
        pa.nulls(len(KEYS)),
        pa.array([True, None, False]),
        pa.array([1, None, 3], pa.decimal128(9, 2)),
        pa.array([1, 2, None], pa.duration("ns")),
        pa.array([(1, 2, 3), None, (4, 5, 6)], pa.month_day_nano_interval()),
        pa.array([b"abcd", None, b"efgh"], pa.binary(4)),
        pa.array(words, pa.large_string()),
    ]
    for number, column in enumerate(others):
        rows = rows.add_column(2 * number % (rows.num_columns + 1), f"other-{number}", column)
    return rows


def write(path, rows, is_file, compression=None, version=None, legacy=False, batch=2):
    options = pa.ipc.IpcWriteOptions(
        compression=compression,
        metadata_version=version or pa.ipc.MetadataVersion.V5,
        use_legacy_format=legacy,
    )
    new = pa.ipc.new_file if is_file else pa.ipc.new_stream
    with new(path, rows.schema, options=options) as writer:
        writer.write_table(rows, max_chunksize=batch)


def main(folder):
    good = folder / "good"
    good.mkdir(parents=True, exist_ok=True)
    for is_file in (False, True):
        flavour = "file" if is_file else "stream"
        for compression in (None, "lz4", "zstd"):
            name = f"{flavour}-{compression or 'plain'}.arrow"
            write(str(good / name), table("zstd"), is_file, compression)
    v4 = pa.ipc.MetadataVersion.V4
    write(str(good / "stream-v4.arrow"), table("zstd"), False, version=v4)
    write(str(good / "stream-legacy.arrow"), table("zstd"), False, version=v4, legacy=True)
    for codec in ("none", "gzip", "lz4-frame", "lz4"):
        rows = table(codec, codec_word=codec if codec == "lz4" else None)
        write(str(good / f"block-{codec}.arrow"), rows, False)
    # The seed's: six columns, voxels, plain blocks, and its footer.
    seed = good / "seed.arrow"
    write(str(seed), table("none", scale=SIDE, columns=6), True, batch=1)
    index = ",".join(
        f'"{x * SIDE}_{y * SIDE}_{z * SIDE}":{number}' for number, (x, y, z) in enumerate(KEYS)
    )
    json = ("{" + index + "}").encode()
    seed.write_bytes(seed.read_bytes() + json + struct.pack("<Q", len(json)) + b"CHUNKIDX")
    # Further columns, before and between those that are wanted.
    rows = table("zstd")
    extra = pa.array([{"a": 1, "b": ["x"]}] * len(KEYS))
    rows = rows.add_column(0, "note", pa.array(["a", "b", None])).add_column(4, "more", extra)
    write(str(good / "stream-more-columns.arrow"), rows, False)
    for is_file in (False, True):
        flavour = "file" if is_file else "stream"
        write(str(good / f"{flavour}-large.arrow"), large(table("zstd")), is_file)
        rows = among_others(large(table("zstd")))
        write(str(good / f"{flavour}-any-columns.arrow"), rows, is_file)
    write(str(good / "stream-any-columns-zstd.arrow"), rows, False, "zstd")

    fuzz = folder / "fuzz"
    # Small ones are tried more often.
    small = [path for path in good.glob("*.arrow") if path.stat().st_size < SMALL]
    sink = pa.BufferOutputStream()
    write(sink, table("zstd", scale=SIDE, columns=6), True, batch=1)
    seed_of_zstd = sink.getvalue().to_pybytes() + seed.read_bytes()[-16 - len(json) :]
    corpora = {
        "dvid_shard_fuzz": {
            "seed": seed_of_zstd,
            **{path.stem: path.read_bytes() for path in small},
        },
        "dvid_block_fuzz": {
            f"block-{number}": encode_block(voxels(number)[:16, :16, :16])[0]
            for number in range(3)
        },
        "dvid_index_fuzz": {
            "csv": b"c# schema_size=688\nx,y,z,offset,size,batch_idx\n2,0,0,688,656,0\n",
            "csv-rec": b"cx,y,z,rec\n2,0,0,0\n2,1,0,1\n",
            "csv-morton": b"cx,y,z,rec,morton\n2,0,0,0\n",
            "csv-quoted": b'c\xef\xbb\xbf"# schema_size=0"\r\n"x", "y" ,z,offset,size,batch_idx\r\n'
            b'"2",0,"-1", 0,10264,0 \r\n\r\n \n',
            "csv-offsets": b"cx,y,z,rec,offset,size,batch_idx\n2,0,0,0,0,81568,0\n",
            "json": b'j{"2_0_0":0,"2_1_0":1}',
            "footer": b"f" + json + struct.pack("<Q", len(json)) + b"CHUNKIDX",
            "footer-swapped": b"f" + json + b"CHUNKIDX" + struct.pack("<Q", len(json)),
        },
    }
    for target, files in corpora.items():
        (fuzz / target).mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            (fuzz / target / name).write_bytes(data)


if __name__ == "__main__":
    default = pathlib.Path(__file__).parents[1] / "src/dolium/formats/dvid/testdata"
    main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default)
