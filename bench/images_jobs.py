"""Jobs of images.py: each in a process of its own, prints its result as JSON."""

import concurrent.futures
import io
import json
import os
import pathlib
import statistics
import sys
import time

import numpy as np

BATCH = 64
SIDES = (375, 500)


def make(path, count):
    """Photos, about: waves of some colors and grain, JPEG of quality 90, 4:2:0."""
    from PIL import Image

    folder = pathlib.Path(path)
    folder.mkdir(parents=True)
    y, x = np.mgrid[: SIDES[0], : SIDES[1]]
    total = 0
    for i in range(count):
        source = np.random.default_rng(i)
        a, b, c = source.uniform(5, 80, 3)
        waves = [np.sin(x / a + y / b), np.cos(y / c), np.sin((x * y) / (a * 300))]
        grain = source.normal(0, 6, (*SIDES, 1)) + source.normal(0, 3, (*SIDES, 3))
        pixels = 128 + 45 * np.stack(waves, -1) + 20 * np.sin(x / 2.3)[..., None] + grain
        image = Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))
        image.save(folder / f"{i:05}.jpg", quality=90)
        total += (folder / f"{i:05}.jpg").stat().st_size
    return {"bytes_each": total / count}


def decoders(system):
    """A function of many images in memory and a number of threads."""

    def on_threads(decode):
        def run(images, threads):
            if threads == 1:
                return [decode(image) for image in images]
            with concurrent.futures.ThreadPoolExecutor(threads) as pool:
                return list(pool.map(decode, images))

        return run

    if system == "dolium":
        from dolium import _core

        return lambda images, threads: _core.decode_jpegs(images, threads)
    if system == "torchvision":
        import torch
        from torchvision.io import ImageReadMode, decode_jpeg

        torch.set_num_threads(1)
        return on_threads(
            lambda image: decode_jpeg(torch.frombuffer(image, dtype=torch.uint8), ImageReadMode.RGB)
        )
    if system == "simplejpeg":
        import simplejpeg

        # The same pixels as the others: it has faster ways that give others.
        return on_threads(
            lambda image: simplejpeg.decode_jpeg(image, fastdct=False, fastupsample=False)
        )
    from PIL import Image

    return on_threads(lambda image: np.asarray(Image.open(io.BytesIO(image))))


def decode(system, path, threads, passes=5):
    images = [bytearray(file.read_bytes()) for file in sorted(pathlib.Path(path).iterdir())]
    run = decoders(system)
    threads = threads or os.cpu_count()
    run(images[:BATCH], threads)
    times = []
    processor = time.process_time()
    for _ in range(passes):
        began = time.perf_counter()
        for first in range(0, len(images), BATCH):
            batch = run(images[first : first + BATCH], threads)
            assert sorted(batch[-1].shape) == [3, *SIDES]
        times.append(time.perf_counter() - began)
    each = (time.process_time() - processor) / passes / len(images)
    return {"seconds": statistics.median(times), "times": times, "processor_each": each}


if __name__ == "__main__":
    job = {"make": make, "decode": decode}[sys.argv[1]]
    print(json.dumps(job(**json.loads(sys.argv[2]))))
