"""The measurements of mesh.py, each run in a process of its own.

    python mesh_jobs.py JOB '{"argument": ...}'    prints one JSON object

Only the work itself is timed: not imports, not making the data.
"""

import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import time

import numpy as np

import volume_jobs


def make_labels(path, side):
    """Real labels if there are any, as many as they are; else regions of about 40 voxels."""
    if "DOLIUM_REAL_LABELS" in os.environ:
        import crackle

        whole = crackle.load(os.environ["DOLIUM_REAL_LABELS"])
        labels = np.asfortranarray(whole[:side, :side, :side].astype(np.uint32))
    else:
        labels = volume_jobs.labels((0, 0, 0), (side,) * 3, 40, np.uint32)
    np.save(path, labels)
    return {}


def make_volume(labels, volume, resolution):
    import dolium

    shutil.rmtree(volume, ignore_errors=True)
    dolium.volume.ingest(labels, volume, type="segmentation", resolution=resolution, scales=1,
                         chunk_size=(64, 64, 64), sharded=False, gzip_files=True)
    return {}


def forget_meshes(volume):
    path = pathlib.Path(volume) / "info"
    info = json.loads(path.read_text())
    shutil.rmtree(path.parent / info.pop("mesh", "mesh"), ignore_errors=True)
    path.write_text(json.dumps(info))
    return {}


def surfaces(library, labels, resolution, error, jobs):
    array = np.load(labels)
    triangles = 0
    if library == "dolium":
        import dolium

        began = time.perf_counter()
        meshes = dolium.mesh.from_array(array, resolution=resolution, error=error, jobs=jobs)
        seconds = time.perf_counter() - began
        triangles = sum(len(faces) for _, faces in meshes.values())
        count = len(meshes)
    else:
        import zmesh

        began = time.perf_counter()
        mesher = zmesh.Mesher(tuple(resolution))
        mesher.mesh(array, close=True)
        ids = mesher.ids()
        for id in ids:
            mesh = mesher.get(id, reduction_factor=100 if error else 0, max_error=error or None)
            mesher.erase(id)
            triangles += len(mesh.faces)
        seconds = time.perf_counter() - began
        count = len(ids)
    return {"seconds": seconds, "triangles": triangles, "labels": count}


def pipeline(library, volume, error, processes):
    began = time.perf_counter()
    if library == "dolium":
        import dolium

        dolium.mesh.make(volume, sharded=True, lods=3, error=error, jobs=processes)
    else:
        igneous = pathlib.Path(sys.executable).parent / "igneous"
        location = f"file://{pathlib.Path(volume).resolve()}"
        parallel = [str(igneous), "-p", str(processes), "mesh"]
        for command in (
            ["forge", location, "--sharded", "--max-error", str(error)],
            ["merge-sharded", location, "--nlod", "3"],
        ):
            subprocess.run([*parallel, *command], check=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
    seconds = time.perf_counter() - began
    who = resource.RUSAGE_SELF if library == "dolium" else resource.RUSAGE_CHILDREN
    info = json.loads((pathlib.Path(volume) / "info").read_text())
    shards = (pathlib.Path(volume) / info["mesh"]).glob("*.shard")
    return {
        "seconds": seconds,
        "peak_resident": resource.getrusage(who).ru_maxrss * 1024,
        "bytes": sum(path.stat().st_size for path in shards),
    }


def main():
    job, arguments = sys.argv[1], json.loads(sys.argv[2])
    print(json.dumps(globals()[job](**arguments)))


if __name__ == "__main__":
    main()
