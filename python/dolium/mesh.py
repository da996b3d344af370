"""Meshes: of a folder or of a volume, multi-resolution or legacy, sharded or not.

    meshes = dolium.mesh.open("https://host/seg")      # or the folder of its meshes
    meshes.ids()                                       # a numpy array
    mesh = meshes[720575940]                           # the finest level, in nanometres
    mesh.vertices, mesh.faces                          # float32 (n, 3), uint32 (m, 3)
    meshes.get([17, 23, 42], lod=1)                    # many, on all cores

    dolium.mesh.write("seg/mesh", {17: (vertices, faces)}, storage="sharded")

    dolium.mesh.make("seg")                            # of all labels; they become those of seg
    vertices, faces = dolium.mesh.from_array(labels, resolution=(8, 8, 40))[7]

make() runs on threads; plan_make() gives the plan, for any executor. Calls let go of the GIL, and
may come from many threads.
"""

from __future__ import annotations

from ._mesh_make import from_array, make, plan_make
from ._meshes import Mesh, Meshes, open, read_file, write

__all__ = [
    "Mesh",
    "Meshes",
    "from_array",
    "make",
    "open",
    "plan_make",
    "read_file",
    "write",
]
