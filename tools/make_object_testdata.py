#!/usr/bin/env python3
"""Makes the meshes and skeletons of cloud-volume that tests of the C++ library read.

usage: make_object_testdata.py FOLDER

FOLDER gets the folders of src/dolium/domain/mesh/testdata/good and of skeleton/testdata/good.
Needs cloud-volume and DracoPy (python/requirements-peers.txt). The files of gzip have the time
in them, so another run gives other bytes of the same meaning.
"""

import json
import pathlib
import sys

import DracoPy
import numpy as np
from cloudvolume import CloudVolume
from cloudvolume.datasource.precomputed.mesh.multilod import MultiLevelPrecomputedMeshManifest
from cloudvolume.datasource.precomputed.sharding import ShardingSpecification
from cloudvolume.mesh import Mesh
from osteoid import Skeleton

IDS = [5, 77, 123456789012345]


def sharding(data_encoding):
    return ShardingSpecification(
        type="neuroglancer_uint64_sharded_v1",
        preshift_bits=0,
        hash="murmurhash3_x86_128",
        minishard_bits=1,
        shard_bits=1,
        minishard_index_encoding="gzip",
        data_encoding=data_encoding,
    )


def to_json(spec):
    return {key: int(value) if key.endswith("bits") else value for key, value in spec.to_dict().items()}


def open_volume(folder, **parts):
    info = CloudVolume.create_new_info(
        num_channels=1,
        layer_type="segmentation",
        data_type="uint64",
        encoding="raw",
        resolution=[4, 4, 40],
        voxel_offset=[0, 0, 0],
        volume_size=[512, 512, 512],
        chunk_size=[64, 64, 64],
        **parts,
    )
    (folder / "info").write_text(json.dumps(info))
    return CloudVolume(f"file://{folder}", progress=False)


def write_shards(folder, shards):
    folder.mkdir(exist_ok=True)
    for name, data in shards.items():
        (folder / name).write_bytes(data)


def make_octahedron(centre, radius):
    tips = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]]
    vertices = np.array(tips, np.float32) * np.float32(radius) + np.array(centre, np.float32)
    faces = [[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]]
    return vertices, np.array(faces, np.uint32)


def make_skeleton(id):
    count = 4
    return Skeleton(
        vertices=np.array([[i, id % 10, 3] for i in range(count)], np.float32),
        edges=np.array([[i, i + 1] for i in range(count - 1)], np.uint32),
        radii=np.arange(count, dtype=np.float32) + 0.5,
        vertex_types=np.arange(count, dtype=np.uint8),
        segid=id,
    )


def make_skeletons(folder):
    files = open_volume(folder, skeletons="skeletons").skeleton
    files.meta.commit_info()
    files.upload([make_skeleton(id) for id in IDS])
    shards = open_volume(folder, skeletons="skeletons_sharded").skeleton
    spec = sharding("gzip")
    shards.meta.info["sharding"] = to_json(spec)
    shards.meta.commit_info()
    values = {id: make_skeleton(id).to_precomputed() for id in IDS}
    write_shards(folder / "skeletons_sharded", spec.synthesize_shards(values))


def make_legacy(folder):
    meshes = [Mesh(*make_octahedron([100 * id % 997, 20, 30], 10), segid=id) for id in IDS]
    open_volume(folder, mesh="legacy").mesh.put(meshes)


# An octahedron in each of two cells: their tips touch.
def make_multires_mesh(id, bits):
    half = ((1 << bits) - 1) / 2
    vertices, faces = make_octahedron([half, half, half], half)
    fragment = DracoPy.encode(
        np.round(vertices).astype(np.int32),
        faces=faces,
        preserve_order=False,
        compression_level=7,
        quantization_bits=bits,
        create_metadata=False,
    )
    manifest = MultiLevelPrecomputedMeshManifest(
        segment_id=id,
        chunk_shape=[10, 20, 30],
        grid_origin=[id % 10, 2, 3],
        num_lods=1,
        lod_scales=[1],
        vertex_offsets=[[0, 0, 0]],
        num_fragments_per_lod=[2],
        fragment_positions=[np.array([[0, 0, 0], [1, 0, 0]], np.uint32)],
        fragment_offsets=[np.array([len(fragment)] * 2, np.uint32)],
    )
    return manifest.to_binary(), fragment * 2


def make_multires(folder, bits, spec):
    folder.mkdir()
    info = {
        "@type": "neuroglancer_multilod_draco",
        "vertex_quantization_bits": bits,
        "transform": [4, 0, 0, 0, 0, 4, 0, 0, 0, 0, 40, 0],
        "lod_scale_multiplier": 1,
        "mip": 0,
        "spatial_index": None,
    }
    if spec:
        info["sharding"] = to_json(spec)
    (folder / "info").write_text(json.dumps(info))
    meshes = {id: make_multires_mesh(id, bits) for id in IDS}
    if spec:
        values = {id: fragments + manifest for id, (manifest, fragments) in meshes.items()}
        sizes = {id: len(manifest) for id, (manifest, _) in meshes.items()}
        write_shards(folder, spec.synthesize_shards(values, data_offset=sizes))
    else:
        for id, (manifest, fragments) in meshes.items():
            (folder / f"{id}.index").write_bytes(manifest)
            (folder / str(id)).write_bytes(fragments)


def main():
    folder = pathlib.Path(sys.argv[1]).absolute()
    folder.mkdir(parents=True)
    make_skeletons(folder)
    make_legacy(folder)
    for bits in (10, 16):
        make_multires(folder / f"multires_{bits}", bits, None)
        make_multires(folder / f"multires_{bits}_sharded", bits, sharding("raw"))
    (folder / "info").unlink()


if __name__ == "__main__":
    main()
