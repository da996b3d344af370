"""Skeletons of the labels of a segmentation.

    dolium.skeleton.make("seg")                    they become those of the volume
    dolium.skeleton.make("https://host/seg", "skeletons", tick=3000)

make() runs on threads. plan_make() gives the plan, for any executor: see dolium.volume. What is in
memory needs no volume:

    lines = dolium.skeleton.skeletonize(labels, resolution=(16, 16, 40))[7]
"""

from __future__ import annotations

from ._skeleton_make import CenterLines, make, plan_make, skeletonize

__all__ = ["CenterLines", "make", "plan_make", "skeletonize"]
