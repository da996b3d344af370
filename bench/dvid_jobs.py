"""The measurements of dvid.py, each run in a process of its own.

    python dvid_jobs.py JOB '{"argument": ...}'    prints one JSON object

Only the work itself is timed: not imports, not making the data, not opening.
"""

import json
import pathlib
import struct
import sys
import time

import numpy as np

from volume_jobs import labels

SIDE = 64
LEAST_SECONDS = 1.0  # that a repeated measurement takes
SIZES = {"labels": 90, "dense": 6}  # about how many voxels a label is across


def make_blocks(kind):
    """Voxels of some blocks: like cells, much finer than these, or of one label."""
    if kind == "solid":
        return [np.full((SIDE,) * 3, 7, np.uint64, order="F")]
    return [
        labels((SIDE * i, 640 * i, 64), (SIDE,) * 3, SIZES[kind], np.uint64) for i in range(8)
    ]


def repeated(work, voxels):
    work()
    rounds, begin = 0, time.perf_counter()
    while time.perf_counter() - begin < LEAST_SECONDS:
        work()
        rounds += 1
    return {"seconds": time.perf_counter() - begin, "voxels": rounds * voxels}


def decode(kind):
    from dolium import _core, dvid

    blocks = [dvid.encode_block(voxels) for voxels in make_blocks(kind)]
    array = np.empty((SIDE,) * 3 + (1,), np.uint64, order="F")

    def work():
        for block in blocks:
            _core.decode_dvid_block(block, array, None)

    return repeated(work, len(blocks) * SIDE**3)


def encode(kind):
    from dolium import dvid

    blocks = make_blocks(kind)

    def work():
        for voxels in blocks:
            dvid.encode_block(voxels)

    return repeated(work, len(blocks) * SIDE**3)


def decode_with_numpy(block, listed=None):
    """A label block to voxels, x, y, z, as Python does it: all sub-blocks of one width at once."""
    gx, gy, gz, count = struct.unpack_from("<4I", block)
    own = np.frombuffer(block, "<u8", count, 16)
    listed = own if listed is None else listed
    if count == 1:
        return np.full((8 * gx, 8 * gy, 8 * gz), listed[0], np.uint64, order="F")
    at = 16 + 8 * count
    total = gx * gy * gz
    counts = np.frombuffer(block, "<u2", total, at).astype(np.int64)
    at += 2 * total
    palettes = np.frombuffer(block, "<u4", counts.sum(), at)
    at += 4 * counts.sum()
    values = np.frombuffer(block, np.uint8, -1, at)
    bits = np.where(counts < 2, 0, np.ceil(np.log2(np.maximum(counts, 1))).astype(np.int64))
    firsts = np.concatenate(([0], np.cumsum(counts)[:-1]))
    places = np.concatenate(([0], np.cumsum(64 * bits)[:-1]))
    out = np.zeros((total, 512), np.uint64)
    for width in np.unique(bits):
        chosen = np.flatnonzero((bits == width) & (counts > 0))
        if width == 0:
            out[chosen] = listed[palettes[firsts[chosen]]][:, None]
            continue
        packed = values[places[chosen][:, None] + np.arange(64 * width)]
        unpacked = np.unpackbits(packed, axis=1).reshape(len(chosen), 512, width)
        indexes = unpacked @ (1 << np.arange(width)[::-1])
        out[chosen] = listed[palettes[firsts[chosen][:, None] + indexes]]
    cubes = out.reshape(gz, gy, gx, 8, 8, 8).transpose(2, 5, 1, 4, 0, 3)
    return np.asfortranarray(cubes.reshape(8 * gx, 8 * gy, 8 * gz))


def decode_numpy(kind):
    from dolium import dvid

    voxels = make_blocks(kind)
    blocks = [dvid.encode_block(array) for array in voxels]
    assert all(np.array_equal(decode_with_numpy(b), v) for b, v in zip(blocks, voxels))

    def work():
        for block in blocks:
            decode_with_numpy(block)

    return repeated(work, len(blocks) * SIDE**3)


def spec_of(shape, encoding):
    bits = sum(max(0, (-(-side // SIDE) - 1)).bit_length() for side in shape)
    return {
        "@type": "neuroglancer_multiscale_volume",
        "type": "segmentation",
        "data_type": "uint64",
        "num_channels": 1,
        "scales": [
            {
                "key": "8_8_8",
                "size": list(shape),
                "resolution": [8, 8, 8],
                "voxel_offset": [0, 0, 0],
                "chunk_sizes": [[SIDE] * 3],
                "encoding": "compressed_segmentation",
                "compressed_segmentation_block_size": [8, 8, 8],
                "sharding": {
                    "@type": "neuroglancer_uint64_sharded_v1",
                    "hash": "identity",
                    "preshift_bits": 6,
                    "minishard_bits": 3,
                    "shard_bits": max(0, bits - 9),
                    "minishard_index_encoding": "gzip",
                    "data_encoding": encoding,
                },
            }
        ],
    }


def make(path, shape):
    """An export of labels like cells, in shards of 512 voxels, by the documented layout."""
    from dolium import dvid
    import zstandard

    compressor = zstandard.ZstdCompressor(write_checksum=True)
    folder = pathlib.Path(path) / "s0"
    folder.mkdir(parents=True)
    grid = [side // SIDE for side in shape]
    for corner in np.ndindex(*(-(-side // 512) for side in shape)):
        rows = []
        for z, y, x in np.ndindex(8, 8, 8):
            key = [8 * corner[d] + at for d, at in enumerate((x, y, z))]
            if any(at >= side for at, side in zip(key, grid)):
                continue
            voxels = labels([SIDE * at for at in key], (SIDE,) * 3, SIZES["labels"], np.uint64)
            block = dvid.encode_block(voxels)
            count = struct.unpack_from("<I", block, 12)[0]
            listed = np.frombuffer(block, "<u8", count, 16)
            rows.append((key, listed // 2 * 2, listed, compressor.compress(block), len(block)))
        name = "_".join(str(512 * at) for at in corner)
        dvid.write_shard(folder / f"{name}.arrow", rows)
    (pathlib.Path(path) / "spec.json").write_text(json.dumps(spec_of(shape, "gzip")))
    return {}


def convert(path, target, encoding):
    import dolium

    spec = json.loads((pathlib.Path(path) / "spec.json").read_text())
    spec["scales"][0]["sharding"]["data_encoding"] = encoding
    begin = time.perf_counter()
    dolium.volume.transcode(path, target, spec=spec)
    seconds = time.perf_counter() - begin
    shape = spec["scales"][0]["size"]
    return {"seconds": seconds, "blocks": int(np.prod(shape)) // SIDE**3}


def convert_python(path, target, encoding):
    """As tensorstore-export does it, one shard at a time, in one transaction each."""
    import pyarrow as pa
    import pyarrow.ipc
    import tensorstore as ts
    import zstandard

    spec = json.loads((pathlib.Path(path) / "spec.json").read_text())
    scale = spec["scales"][0]
    scale["sharding"]["data_encoding"] = encoding
    volume = ts.open(
        {
            "driver": "neuroglancer_precomputed",
            "kvstore": {"driver": "file", "path": target},
            "multiscale_metadata": {k: spec[k] for k in ("type", "data_type", "num_channels")},
            "scale_metadata": {
                "chunk_size": [SIDE] * 3,
                **{k: scale[k] for k in scale if k not in ("key", "chunk_sizes")},
            },
        },
        create=True,
    ).result()
    decompressor = zstandard.ZstdDecompressor()
    count = 0
    begin = time.perf_counter()
    for shard in sorted(pathlib.Path(path).glob("s0/*.arrow")):
        table = pa.ipc.open_stream(pa.memory_map(str(shard))).read_all()
        with ts.Transaction() as transaction:
            view = volume.with_transaction(transaction)
            columns = [table[name] for name in table.column_names]
            for row in range(table.num_rows):
                x, y, z = (SIDE * columns[d][row].as_py() for d in range(3))
                block = decompressor.decompress(
                    columns[5][row].as_py(), max_output_size=columns[6][row].as_py()
                )
                listed = columns[3][row].values.to_numpy()
                voxels = decode_with_numpy(block, listed)
                view[x : x + SIDE, y : y + SIDE, z : z + SIDE, 0].write(voxels).result()
                count += 1
    return {"seconds": time.perf_counter() - begin, "blocks": count}


def read(path):
    import dolium

    volume = dolium.Volume.open(path)
    voxels, begin = 0, time.perf_counter()
    for z in range(0, volume.shape[2], 256):
        for y in range(0, volume.shape[1], 256):
            for x in range(0, volume.shape[0], 256):
                voxels += volume[x : x + 256, y : y + 256, z : z + 256].size
    return {"seconds": time.perf_counter() - begin, "voxels": voxels}


if __name__ == "__main__":
    jobs = {
        job.__name__: job
        for job in (decode, decode_numpy, encode, make, convert, convert_python, read)
    }
    print(json.dumps(jobs[sys.argv[1]](**json.loads(sys.argv[2]))))
