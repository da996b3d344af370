"""Meshes of the labels of a segmentation.

    dolium.mesh.make("seg")                        they become those of the volume
    dolium.mesh.make("https://host/seg", "meshes", lods=1)

make() runs on threads. plan_make() gives the plan, for any executor: see dolium.volume. What is in
memory needs no volume:

    vertices, triangles = dolium.mesh.from_array(labels, resolution=(8, 8, 40))[7]
"""

from __future__ import annotations

from ._mesh_make import from_array, make, plan_make

__all__ = ["from_array", "make", "plan_make"]
