"""The measurements of volume.py, each run in a process of its own.

    python volume_jobs.py JOB '{"argument": ...}'    prints one JSON object

Only the work itself is timed: not imports, not making the data, not opening.
"""

import json
import os
import random
import sys
import time

import numpy as np

CHUNK = (64, 64, 64)
BLOCK = (8, 8, 8)
RESOLUTION = (8, 8, 8)
LEAST_SECONDS = 1.0  # that a repeated measurement takes


# --- data -----------------------------------------------------------------------------------


def labels(begin, shape, size, dtype):
    """Labels like those of cells: regions of about `size` voxels across with curved borders.
    The same voxel has the same label whatever box it is asked for in."""
    x, y, z = (np.arange(b, b + n, dtype=np.float32) for b, n in zip(begin, shape))
    x, y, z = x[:, None, None], y[None, :, None], z[None, None, :]
    wave = np.float32(6.0 / size)
    bend = np.float32(size * 0.35)
    cells = []
    for a, b, c, phase in ((x, y, z, 0.3), (y, z, x, 1.7), (z, x, y, 2.9)):
        warped = a + bend * np.sin(wave * b + np.float32(phase)) * np.cos(wave * 0.7 * c)
        cells.append(np.floor(warped / np.float32(size)).astype(np.int32).astype(np.uint64))
    mixed = cells[0] * np.uint64(73856093) ^ cells[1] * np.uint64(19349663)
    mixed = (mixed ^ cells[2] * np.uint64(83492791)) * np.uint64(0x9E3779B97F4A7C15)
    if np.dtype(dtype) == np.uint64:
        return np.asfortranarray(mixed >> np.uint64(8))
    return np.asfortranarray((mixed >> np.uint64(40)).astype(dtype))


def make_labels(path, shape, size):
    """A segmentation of uint64 in a file: x fastest, as volumes have it."""
    out = np.lib.format.open_memmap(path, "w+", np.uint64, tuple(shape), fortran_order=True)
    for z in range(0, shape[2], 32):
        depth = min(32, shape[2] - z)
        out[:, :, z : z + depth] = labels((0, 0, z), (*shape[:2], depth), size, np.uint64)
    out.flush()
    return {}


def chunks(kind, dtype):
    """Chunks as the codecs get them; dense has many labels in a block, sparse has few."""
    if kind == "real":
        import crackle

        whole = crackle.load(os.environ["DOLIUM_REAL_LABELS"])
        starts = [(64 * i, 64 * (i * 3 % 8), 64 * (i * 5 % 8)) for i in range(8)]
        cut = [whole[x : x + 64, y : y + 64, z : z + 64] for x, y, z in starts]
        return [np.asfortranarray(one.astype(dtype)) for one in cut]
    size = {"dense": 5, "sparse": 60}[kind]
    return [labels((64 * i, 64 * i, 64 * i), CHUNK, size, dtype) for i in range(8)]


def repeat(work, items):
    """Seconds that one round over the items takes; as many rounds as a second has."""
    for item in items:
        work(item)
    rounds, began = 0, time.perf_counter()
    while True:
        for item in items:
            work(item)
        rounds += 1
        seconds = time.perf_counter() - began
        if seconds >= LEAST_SECONDS:
            return seconds / rounds


# --- TensorStore ----------------------------------------------------------------------------


def tensorstore_volume(kvstore, create=None, threads=None):
    import tensorstore as ts

    context = {"cache_pool": {"total_bytes_limit": 0}}
    if threads is not None:
        limit = {"limit": threads}
        context |= {"data_copy_concurrency": limit, "file_io_concurrency": limit}
    spec = {"driver": "neuroglancer_precomputed", "kvstore": kvstore}
    if create is not None:
        spec |= create
    return ts.open(spec, create=create is not None, context=ts.Context(context)).result()


def tensorstore_metadata(shape, dtype, sharding=None):
    scale = {
        "size": list(shape),
        "resolution": list(RESOLUTION),
        "encoding": "compressed_segmentation",
        "compressed_segmentation_block_size": list(BLOCK),
        "chunk_size": list(CHUNK),
    }
    if sharding is not None:
        scale["sharding"] = sharding
    volume = {"type": "segmentation", "data_type": np.dtype(dtype).name, "num_channels": 1}
    return {"multiscale_metadata": volume, "scale_metadata": scale}


def file_kvstore(folder):
    return {"driver": "file", "path": os.path.abspath(folder) + "/"}


# --- codecs ---------------------------------------------------------------------------------


def codec(library, operation, kind, dtype):
    """compressed_segmentation on one thread; seconds for 8 chunks of 64^3."""
    arrays = chunks(kind, dtype)
    if library == "dolium":
        import dolium

        def encode(array):
            return dolium.encode_chunk(array, "compressed_segmentation", block_size=BLOCK)

        def decode(data):
            return dolium.decode_chunk(
                data, CHUNK, dtype, "compressed_segmentation", block_size=BLOCK
            )

    elif library == "compressed-segmentation":
        import compressed_segmentation

        def encode(array):
            return compressed_segmentation.compress(array, block_size=BLOCK, order="F")

        def decode(data):
            return compressed_segmentation.decompress(data, CHUNK, dtype, BLOCK, order="F")

    else:
        # It has no function for a chunk alone: a volume of one chunk in memory, a new one each time.
        stores = []
        for i, _ in enumerate(arrays):
            kvstore = {"driver": "memory", "path": f"{i}/"}
            metadata = tensorstore_metadata(CHUNK, dtype)
            stores.append(tensorstore_volume(kvstore, metadata, threads=1)[..., 0])

        def encode(index):
            stores[index].write(arrays[index]).result()

        def decode(index):
            return stores[index].read(order="F").result()

        numbers = list(range(len(arrays)))
        for index in numbers:
            encode(index)
        if operation == "encode":
            return {"seconds": repeat(encode, numbers)}
        assert (decode(0) == arrays[0]).all()
        return {"seconds": repeat(decode, numbers)}
    if operation == "encode":
        return {"seconds": repeat(encode, arrays)}
    encoded = [encode(array) for array in arrays]
    assert (decode(encoded[0]) == arrays[0]).all()
    return {"seconds": repeat(decode, encoded)}


# --- volumes --------------------------------------------------------------------------------


def write(library, source, folder, sharding, way="whole"):
    """A whole segmentation, from a file that is mapped into memory."""
    array = np.load(source, mmap_mode="r")
    if library == "dolium":
        import dolium

        volume = dolium.Volume.create(
            folder, shape=array.shape, dtype=array.dtype, resolution=RESOLUTION,
            type="segmentation", chunk_size=CHUNK, encoding="compressed_segmentation",
            block_size=BLOCK, sharding=sharding,
        )
        began = time.perf_counter()
        volume[...] = array
    elif library == "tensorstore":
        metadata = tensorstore_metadata(array.shape, array.dtype, sharding)
        volume = tensorstore_volume(file_kvstore(folder), metadata)[..., 0]
        began = time.perf_counter()
        if way == "whole":
            volume.write(array).result()
        else:
            side = [128, 128, 128] if way == "small" else volume.chunk_layout.write_chunk.shape[:3]
            writes = []
            for z in range(0, array.shape[2], side[2]):
                for y in range(0, array.shape[1], side[1]):
                    for x in range(0, array.shape[0], side[0]):
                        box = tuple(slice(b, b + s) for b, s in zip((x, y, z), side))
                        if len(writes) == 2:
                            writes.pop(0).result()
                        writes.append(volume[box].write(array[box]))
            for one in writes:
                one.result()
    else:
        from cloudvolume import CloudVolume

        info = CloudVolume.create_new_info(
            1, "segmentation", "uint64", "compressed_segmentation", RESOLUTION, (0, 0, 0),
            array.shape, chunk_size=CHUNK,
        )
        volume = CloudVolume(f"file://{os.path.abspath(folder)}", info=info, progress=False,
                             compress="gzip", parallel=1, delete_black_uploads=False)
        volume.commit_info()
        began = time.perf_counter()
        for z in range(0, array.shape[2], CHUNK[2]):
            part = array[:, :, z : z + CHUNK[2]]
            volume[:, :, z : z + part.shape[2]] = part[..., np.newaxis]
    return {"seconds": time.perf_counter() - began}


def _reader(library, folder):
    """A function of a box, and the shape."""
    if library == "dolium":
        import dolium

        volume = dolium.Volume.open(folder)
        return volume.__getitem__, volume.shape
    if library == "tensorstore":
        volume = tensorstore_volume(file_kvstore(folder))[..., 0]
        return (lambda box: volume[box].read(order="F").result()), volume.shape
    from cloudvolume import CloudVolume

    volume = CloudVolume(f"file://{os.path.abspath(folder)}", progress=False, fill_missing=True,
                         parallel=1)
    return volume.__getitem__, tuple(volume.shape[:3])


def read_all(library, folder, source):
    """Slab by slab of 128 voxels, the same for all; hot, and so is the memory for the results."""
    read, shape = _reader(library, folder)
    expected = np.load(source, mmap_mode="r")
    read((slice(0, shape[0]), slice(0, shape[1]), slice(0, 128)))
    seconds = 0.0
    for z in range(0, shape[2], 128):
        box = (slice(0, shape[0]), slice(0, shape[1]), slice(z, min(z + 128, shape[2])))
        began = time.perf_counter()
        array = read(box)
        seconds += time.perf_counter() - began
        assert np.array_equal(np.asarray(array[::37, ::41, 5]).reshape(-1),
                              expected[box][::37, ::41, 5].reshape(-1))
    return {"seconds": seconds}


def read_boxes(library, folder, side, count):
    read, shape = _reader(library, folder)
    source = random.Random(6)
    boxes = []
    for _ in range(count):
        begin = [source.randrange(n - side + 1) for n in shape[:3]]
        boxes.append(tuple(slice(b, b + side) for b in begin))
    for box in boxes[: max(1, count // 4)]:
        read(box)
    began = time.perf_counter()
    for box in boxes:
        read(box)
    return {"seconds": time.perf_counter() - began}


# --- downsampling ---------------------------------------------------------------------------


def downsample(library, method, dtype, factor):
    """One array of 256^3, on one thread."""
    if method == "mode":
        array = labels((0, 0, 0), (256, 256, 256), 25, dtype)
    else:
        noise = np.random.default_rng(1).integers(0, 200, (256, 256, 256))
        array = np.asfortranarray(noise.astype(dtype))
    if library == "dolium":
        import dolium

        seconds = repeat(lambda one: dolium.downsample_array(one, factor, method), [array])
    else:
        import tinybrain

        work = (
            tinybrain.downsample_segmentation
            if method == "mode"
            else tinybrain.downsample_with_averaging
        )
        seconds = repeat(lambda one: work(one, tuple(factor), num_mips=1), [array])
    return {"seconds": seconds}


JOBS = (make_labels, codec, write, read_all, read_boxes, downsample)

if __name__ == "__main__":
    job = next(job for job in JOBS if job.__name__ == sys.argv[1])
    print(json.dumps(job(**json.loads(sys.argv[2]))))
