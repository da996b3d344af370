"""Multi-resolution meshes small enough for tests: Draco fragments and their manifests."""

import dataclasses
import json
import pathlib
import random
import struct

import DracoPy
import numpy as np

QUANTIZATION_BITS = 16


@dataclasses.dataclass(frozen=True)
class Mesh:
    fragments: bytes  # of all levels of detail
    manifest: bytes


def make_info(spec):
    return {
        "@type": "neuroglancer_multilod_draco",
        "vertex_quantization_bits": QUANTIZATION_BITS,
        "transform": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0],
        "lod_scale_multiplier": 1,
        "mip": 0,
        "sharding": spec,
    }


def _fragment(source):
    """A tetrahedron somewhere in the range of the quantised coordinates."""
    vertices = np.array(
        [[source.randrange(1 << QUANTIZATION_BITS) for _ in range(3)] for _ in range(4)]
    )
    faces = np.array([[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]], dtype=np.uint32)
    return DracoPy.encode(vertices, faces=faces, compression_level=1)


def make_mesh(seed, lods):
    """Two fragments in level 0, one in each other level; one of the two may be empty."""
    source = random.Random(seed)
    levels = []
    for lod in range(lods):
        fragments = [_fragment(source) for _ in range(2 if lod == 0 else 1)]
        if lod == 0 and seed % 3 == 0:
            fragments[1] = b""
        levels.append(fragments)
    manifest = struct.pack("<3f3fI", 64, 64, 64, 8, 16, 32, lods)
    manifest += struct.pack(f"<{lods}f", *(2.0**lod for lod in range(lods)))
    manifest += bytes(12 * lods)  # vertex offsets
    manifest += struct.pack(f"<{lods}I", *map(len, levels))
    for fragments in levels:
        # Cells side by side along x.
        manifest += struct.pack(f"<{len(fragments)}I", *range(len(fragments)))
        manifest += bytes(8 * len(fragments))
        manifest += struct.pack(f"<{len(fragments)}I", *map(len, fragments))
    return Mesh(b"".join(fragment for level in levels for fragment in level), manifest)


def make_volume(folder, spec):
    """A volume whose meshes are in `mesh` below it: what cloud-volume reads them through."""
    folder = pathlib.Path(folder)
    (folder / "mesh").mkdir(parents=True)
    scale = {
        "key": "1_1_1",
        "size": [64, 64, 64],
        "resolution": [1, 1, 1],
        "voxel_offset": [0, 0, 0],
        "chunk_sizes": [[64, 64, 64]],
        "encoding": "raw",
    }
    info = {
        "@type": "neuroglancer_multiscale_volume",
        "type": "segmentation",
        "data_type": "uint64",
        "num_channels": 1,
        "scales": [scale],
        "mesh": "mesh",
    }
    (folder / "info").write_text(json.dumps(info))
    (folder / "mesh" / "info").write_text(json.dumps(make_info(spec)))
    return folder / "mesh"


def triangles(volume, id, lod):
    """The triangles that cloud-volume finds, in the order of the fragments."""
    from cloudvolume import CloudVolume

    source = CloudVolume(f"file://{pathlib.Path(volume).resolve()}", progress=False).mesh
    mesh = source.get(id, lod=lod)[id]
    return mesh.vertices[mesh.faces].round(3).tolist()
