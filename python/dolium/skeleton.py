"""Skeletons: of a folder or of a volume, sharded or not.

    skeletons = dolium.skeleton.open("https://host/seg")
    skeleton = skeletons[720575940]
    skeleton.vertices, skeleton.edges            # float32 (n, 3) in nanometres, uint32 (m, 2)
    skeleton.attributes["radius"]                # an array with a row for each vertex
    skeletons.get([17, 23, 42])                  # many, on all cores

    dolium.skeleton.write("seg/skeletons", {17: (vertices, edges, {"radius": radius})})

    dolium.skeleton.make("seg")                  # of all labels; they become those of seg
    lines = dolium.skeleton.skeletonize(labels, resolution=(16, 16, 40))[7]

make() runs on threads; plan_make() gives the plan, for any executor. Calls let go of the GIL, and
may come from many threads.
"""

from __future__ import annotations

from ._skeleton_make import CenterLines, make, plan_make, skeletonize
from ._skeletons import Skeleton, Skeletons, open, parse_swc, write

__all__ = [
    "CenterLines",
    "Skeleton",
    "Skeletons",
    "make",
    "open",
    "parse_swc",
    "plan_make",
    "skeletonize",
    "write",
]
