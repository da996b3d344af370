"""Meshes of the labels of a segmentation.

    dolium.mesh.make("seg")                        they become those of the volume
    dolium.mesh.make("https://host/seg", "meshes", lods=1)

make() runs on threads. plan_make() gives the plan, for any executor: see dolium.volume.
"""

from __future__ import annotations

from ._mesh_make import make, plan_make

__all__ = ["make", "plan_make"]
