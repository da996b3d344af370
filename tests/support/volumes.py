"""Volumes to exchange with peers: labels and images, and how peers write and read them."""

import json
import os
import pathlib

import numpy as np

CHUNK = (32, 24, 16)
OFFSET = (10, -20, 5)
SIZE = (70, 50, 40)
RESOLUTION = (4, 4, 40)


def sharding(bits=(3, 1, 4), data="gzip", index="gzip", hash="identity"):
    return {
        "@type": "neuroglancer_uint64_sharded_v1",
        "hash": hash,
        "preshift_bits": bits[0],
        "minishard_bits": bits[1],
        "shard_bits": bits[2],
        "minishard_index_encoding": index,
        "data_encoding": data,
    }


def labels(dtype, channels=1, size=SIZE):
    """Blobs of few labels, some of them large numbers."""
    x, y, z = np.meshgrid(*(np.arange(n) for n in size), indexing="ij")
    cell = (x + (y // 5) % 3) // 9 * 31 + y // 7 * 7 + z // 6
    out = np.empty((*size, channels), dtype, order="F")
    largest = np.iinfo(dtype).max
    for channel in range(channels):
        numbers = (cell + channel) % 41
        out[..., channel] = np.where(numbers == 3, largest, numbers).astype(dtype)
    return out


def image(dtype, channels=1, size=SIZE):
    """Smooth, so that lossy encodings stay close."""
    x, y, z = np.meshgrid(*(np.arange(n) for n in size), indexing="ij")
    out = np.empty((*size, channels), dtype, order="F")
    for channel in range(channels):
        wave = np.sin(x / 9 + channel) + np.cos(y / 11) + np.sin(z / 13)
        if np.dtype(dtype).kind == "f":
            out[..., channel] = wave
        else:
            info = np.iinfo(dtype)
            out[..., channel] = (wave + 3) / 6 * (min(info.max, 60000) - 1)
    return out


class TensorStoreVolume:
    def __init__(self, folder, array=None, encoding="raw", spec=None, **scale):
        import tensorstore as ts

        request = {
            "driver": "neuroglancer_precomputed",
            "kvstore": {"driver": "file", "path": os.path.abspath(folder) + "/"},
        }
        if array is not None:
            kind = "segmentation" if array.dtype.name in ("uint32", "uint64") else "image"
            request["multiscale_metadata"] = {
                "type": kind,
                "data_type": array.dtype.name,
                "num_channels": array.shape[3],
            }
            request["scale_metadata"] = {
                "size": list(array.shape[:3]),
                "voxel_offset": list(OFFSET),
                "resolution": list(RESOLUTION),
                "encoding": encoding,
                "chunk_size": list(CHUNK),
                **({"sharding": spec} if spec else {}),
                **scale,
            }
        self.store = ts.open(request, create=array is not None).result()
        if array is not None:
            self.store.write(array).result()

    def read(self):
        return self.store.read().result()


class CloudVolumeVolume:
    def __init__(self, folder, array=None, encoding="raw", compress="gzip", **scale):
        from cloudvolume import CloudVolume

        path = f"file://{os.path.abspath(folder)}"
        options = {"progress": False, "fill_missing": True, "compress": compress,
                   "delete_black_uploads": False}
        if array is None:
            self.volume = CloudVolume(path, **options)
            return
        kind = "segmentation" if array.dtype.name in ("uint32", "uint64") else "image"
        info = CloudVolume.create_new_info(
            array.shape[3], kind, array.dtype.name, encoding, RESOLUTION, OFFSET,
            array.shape[:3], chunk_size=CHUNK,
        )
        info["scales"][0].update(scale)
        self.volume = CloudVolume(path, info=info, **options)
        self.volume.commit_info()
        box = tuple(slice(o, o + n) for o, n in zip(OFFSET, array.shape))
        self.volume[box] = array

    def read(self):
        return np.asarray(self.volume[self.volume.bounds])


def info_of(folder):
    return json.loads((pathlib.Path(folder) / "info").read_text())


def read_scale(peer, folder, scale):
    """One scale of a volume of one channel, as a peer reads it."""
    if peer is TensorStoreVolume:
        import tensorstore as ts

        store = ts.open({
            "driver": "neuroglancer_precomputed",
            "kvstore": {"driver": "file", "path": os.path.abspath(folder) + "/"},
            "scale_index": scale,
        }).result()  # fmt: skip
        return store.read().result()[..., 0]
    from cloudvolume import CloudVolume

    path = f"file://{os.path.abspath(folder)}"
    volume = CloudVolume(path, mip=scale, progress=False, fill_missing=True)
    return np.asarray(volume[volume.bounds])[..., 0]
