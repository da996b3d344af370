"""Ingest, downsample and transcode, on threads and on executors."""

import concurrent.futures
import json
import multiprocessing
import pickle

import numpy as np
import pytest

import dolium

SHAPE = (100, 70, 40)
# Chunks of 16^3 bytes, shards of 8 chunks.
STORAGE = {"chunk_size": (16, 16, 16), "shard_size": 1 << 15}


@pytest.fixture
def array():
    rng = np.random.default_rng(0)
    return rng.integers(0, 256, SHAPE, dtype="uint8")


@pytest.fixture
def source(tmp_path, array):
    path = tmp_path / "array.npy"
    np.save(path, array)
    return path


def averages(array, factor):
    """Means of whole blocks, rounded half to even."""
    x, y, z = (size // f for size, f in zip(array.shape, factor))
    array = array[: x * factor[0], : y * factor[1], : z * factor[2]]
    blocks = array.reshape(x, factor[0], y, factor[1], z, factor[2])
    return np.round(blocks.mean(axis=(1, 3, 5), dtype=np.float64)).astype(array.dtype)


def spawned(workers):
    context = multiprocessing.get_context("spawn")
    return concurrent.futures.ProcessPoolExecutor(workers, mp_context=context)


def test_ingest_makes_all_scales(source, array, tmp_path):
    report = dolium.volume.ingest(
        source, tmp_path / "v", resolution=(4, 4, 8), offset=(10, 20, -8), **STORAGE
    )
    assert isinstance(report, dolium.VolumeReport)
    assert report.volume == str(tmp_path / "v")
    assert report.parts_done_before == 0
    assert report.written.entries > 7 * 5 * 3
    volume = dolium.Volume.open(tmp_path / "v")
    assert volume.bounds == ((10, 20, -8), (110, 90, 32))
    assert volume.info["type"] == "image"
    assert np.array_equal(volume, array)
    # Until voxels are isotropic, z stays as it is.
    assert volume.scale(1).resolution == (8, 8, 8)
    assert volume.scale(1).offset == (5, 10, -8)
    assert np.array_equal(volume.scale(1), averages(array, (2, 2, 1)))
    last = volume.scale(volume.num_scales - 1)
    assert all(size <= chunk for size, chunk in zip(last.shape, last.chunk_size))


@pytest.mark.parametrize(
    "words", [{"c_order": True, "skip": 6}, {"order": "C", "byte_offset": 6}], ids=["new", "older"]
)
def test_ingest_takes_raw_files_and_axes(array, tmp_path, words):
    with open(tmp_path / "array.raw", "wb") as file:
        file.write(b"header")
        file.write(array.astype(">u2").transpose(2, 1, 0).tobytes())
    dolium.volume.ingest(
        tmp_path / "array.raw",
        tmp_path / "v",
        shape=(40, 70, 100),
        dtype=">u2",
        axes="zyx",
        **words,
        to_dtype=np.uint32,
        type="segmentation",
        scales=1,
    )
    volume = dolium.Volume.open(tmp_path / "v")
    assert volume.dtype == np.uint32
    assert volume.num_scales == 1
    assert volume.encoding == "compressed_segmentation"
    assert np.array_equal(volume, array)


def test_ingest_takes_the_older_name_of_the_type(source, tmp_path):
    for name in ("to_dtype", "data_type"):
        dolium.volume.ingest(source, tmp_path / name, scales=1, **{name: "float32"})
        assert dolium.Volume.open(tmp_path / name).dtype == np.float32


def test_ingest_says_what_is_wrong(source, array, tmp_path):
    target = tmp_path / "v"
    with pytest.raises(FileNotFoundError):
        dolium.volume.ingest(tmp_path / "absent.npy", target)
    with pytest.raises(TypeError, match="Volume.from_array"):
        dolium.volume.ingest(array, target)
    for options, message in [
        ({"dtype": "uint8"}, "shape"),
        ({"shape": (1, 2, 3)}, "dtype"),
        ({"order": "K"}, "'F' or 'C'"),
        ({"order": "C"}, "c_order: describes raw files"),
        ({"c_order": True}, "c_order: describes raw files"),
        ({"skip": 6}, "skip: describes raw files"),
        ({"scales": 0}, "scales: found 0, expected 1 or more"),
        ({"method": "median"}, "average, mode or stride"),
        ({"factor": (2, 2)}, "three integers"),
        ({"factor": (2, 2, 9)}, "factor"),
        ({"resolution": (0, 1, 1)}, "resolution"),
        ({"quality": 3}, "none is named"),
        (
            {"sharded": False, "sharding": dolium.ShardingSpec(0, 1, 1)},
            "sharded=False contradicts to_spec",
        ),
        ({"sharded": False, "shard_size": 1 << 20}, "sharded=False contradicts shard_size"),
        ({"gzip_files": True, "sharded": True}, "gzip_files contradicts sharded=True"),
    ]:
        with pytest.raises(ValueError, match=message):
            dolium.volume.ingest(source, target, **options)
    with pytest.raises(TypeError):
        dolium.volume.ingest(source, target, chunk_sise=(1, 2, 3))
    assert not target.exists()
    dolium.volume.ingest(source, target)
    with pytest.raises(FileExistsError):
        dolium.volume.ingest(source, target)
    dolium.volume.ingest(source, target, force=True, encoding="png")
    assert dolium.Volume.open(target).encoding == "png"


def test_downsample_adds_scales(source, array, tmp_path):
    volume = dolium.Volume.create(tmp_path / "v", shape=SHAPE, dtype="uint8", **STORAGE)
    volume[...] = array
    dolium.volume.downsample(tmp_path / "v", factor=(2, 2, 2), scales=2)
    volume = dolium.Volume.open(tmp_path / "v")
    assert volume.num_scales == 2
    assert np.array_equal(volume.scale(1), averages(array, (2, 2, 2)))
    dolium.volume.downsample(
        volume, from_scale=0, factor=(4, 1, 1), scales=3, method="stride", sharded=False
    )
    third = dolium.Volume.open(tmp_path / "v").scale(2)
    assert third.sharding is None
    assert np.array_equal(third, array[::4])


def test_downsampling_labels_takes_the_most_frequent(tmp_path):
    volume = dolium.Volume.create(tmp_path / "v", shape=(4, 2, 1), dtype="uint64")
    volume[...] = np.array([[0, 0], [0, 5], [7, 9], [9, 7]], "uint64")[..., None]
    dolium.volume.downsample(volume, scales=2)
    assert dolium.Volume.open(volume.location).scale(1)[...].ravel().tolist() == [0, 7]
    dolium.volume.downsample(volume, rebuild=True, ignore_zero=True)
    assert dolium.Volume.open(volume.location).scale(1)[...].ravel().tolist() == [5, 7]


def test_a_downsampling_that_was_left_can_be_dropped(source, tmp_path):
    dolium.volume.ingest(source, tmp_path / "v", scales=1, chunk_size=(16, 16, 16))
    left = dolium.volume.plan_downsample(tmp_path / "v", scales=2)
    dolium.volume.run_task(left.stages[0][0])
    with pytest.raises(FileExistsError, match="force=True"):
        dolium.volume.downsample(tmp_path / "v", scales=2, method="stride")
    dolium.volume.downsample(tmp_path / "v", scales=2, method="stride", force=True)
    volume = dolium.Volume.open(tmp_path / "v")
    assert volume.num_scales == 2
    assert np.array_equal(volume.scale(1), volume[::2, ::2, ::2])
    with pytest.raises(FileNotFoundError):
        dolium.volume.run_task(left.stages[0][0])


def test_nothing_to_downsample_is_no_error(tmp_path):
    volume = dolium.Volume.create(tmp_path / "v", shape=(1, 1, 1), dtype="uint8")
    plan = dolium.volume.plan_downsample(volume)
    assert (plan.folder, plan.stages, plan.parts) == ("", [], 0)
    for report in (plan.run(), plan.finish()):
        assert (report.parts, report.volume) == (0, volume.location)
    with concurrent.futures.ThreadPoolExecutor(1) as executor:
        assert plan.run(executor).written.entries == 0


def test_transcode_stores_the_same_in_another_way(source, array, tmp_path):
    dolium.volume.ingest(source, tmp_path / "v", **STORAGE)
    volume = dolium.Volume.open(tmp_path / "v")
    dolium.volume.transcode(
        volume, tmp_path / "w", chunk_size=(32, 8, 8), encoding="png", sharded=False
    )
    other = dolium.Volume.open(tmp_path / "w")
    assert other.num_scales == volume.num_scales
    assert (other.encoding, other.chunk_size, other.sharding) == ("png", (32, 8, 8), None)
    assert np.array_equal(other, array)
    assert np.array_equal(other.scale(1), volume.scale(1))
    dolium.volume.transcode(tmp_path / "v", tmp_path / "u", scales=[1])
    only = dolium.Volume.open(tmp_path / "u")
    assert only.num_scales == 1
    assert np.array_equal(only, volume.scale(1))
    with pytest.raises(ValueError):
        dolium.volume.transcode(volume, tmp_path / "v")


def test_options_of_storage_say_whether_there_are_shards(source, array, tmp_path):
    dolium.volume.ingest(source, tmp_path / "v", gzip_files=True, scales=1)
    files = dolium.Volume.open(tmp_path / "v")
    assert (files.num_scales, files.sharding) == (1, None)
    dolium.volume.downsample(files, scales=2, shard_size=1 << 20)
    assert dolium.Volume.open(tmp_path / "v").scale(1).sharding is not None
    dolium.volume.transcode(tmp_path / "v", tmp_path / "w", shard_size=1 << 20)
    shards = dolium.Volume.open(tmp_path / "w")
    assert shards.sharding is not None and shards.scale(1).sharding is not None
    dolium.volume.transcode(shards, tmp_path / "u", gzip_files=True)
    again = dolium.Volume.open(tmp_path / "u")
    assert again.sharding is None
    assert np.array_equal(again, array)
    with pytest.raises(ValueError, match="gzip_files contradicts to_spec"):
        dolium.volume.transcode(
            files, tmp_path / "t", gzip_files=True, sharding=dolium.ShardingSpec(0, 1, 1)
        )


def test_a_plan_is_plain_data(source, array, tmp_path):
    plan = dolium.volume.plan_ingest(source, tmp_path / "v", scales=2, **STORAGE)
    assert isinstance(plan, dolium.volume.Plan)
    assert plan.volume == str(tmp_path / "v")
    assert len(plan.stages) == 2
    assert plan.parts == sum(map(len, plan.stages)) == len(plan.tasks) > 10
    assert (plan.parts_done, plan.chunks_done) == (0, 0)
    assert plan.chunks > 7 * 5 * 3
    assert all(isinstance(json.loads(task), dict) for tasks in plan.stages for task in tasks)
    with pytest.raises(OSError, match="unfinished"):
        dolium.Volume.open(tmp_path / "v")

    plan = pickle.loads(pickle.dumps(plan))
    with pytest.raises(FileNotFoundError, match="not done"):
        plan.finish()
    first = dolium.volume.run_task(plan.stages[0][0])
    assert isinstance(first, dolium.WriteSummary)
    assert dolium.volume.run_task(plan.stages[0][0], memory=1 << 20, jobs=2) == first
    for tasks in plan.stages:
        for task in reversed(tasks):
            dolium.volume.run_task(task)
    report = plan.finish()
    assert report.written.entries == plan.chunks
    assert np.array_equal(dolium.Volume.open(tmp_path / "v"), array)
    with pytest.raises(ValueError, match="not a task"):
        dolium.volume.run_task("no task")


@pytest.mark.parametrize(
    "make_executor",
    [lambda: None, lambda: concurrent.futures.ThreadPoolExecutor(3), lambda: spawned(2)],
    ids=["default", "threads", "processes"],
)
def test_a_plan_runs_on_any_executor(source, array, tmp_path, make_executor):
    executor = make_executor()
    seen = []

    def progress(*numbers):
        seen.append(numbers)

    try:
        plan = dolium.volume.plan_ingest(source, tmp_path / "v", **STORAGE)
        report = plan.run(executor, progress=progress)
        assert report.parts == plan.parts
        assert report.written.entries == plan.chunks
        assert seen[-1][0] == seen[-1][1] == (plan.chunks if executor is None else plan.parts)
        volume = dolium.Volume.open(tmp_path / "v")
        assert np.array_equal(volume, array)
        assert np.array_equal(volume.scale(1), averages(array, (2, 2, 2)))
        copy = dolium.volume.plan_transcode(volume, tmp_path / "w", encoding="png")
        copy.run(executor)
        assert np.array_equal(dolium.Volume.open(tmp_path / "w"), array)
        more = dolium.volume.plan_downsample(
            tmp_path / "w", from_scale=0, factor=(1, 1, 4), scales=volume.num_scales + 1
        )
        more.run(executor)
        volume = dolium.Volume.open(tmp_path / "w")
        last = volume.scale(volume.num_scales - 1)
        assert np.array_equal(last, averages(array, (1, 1, 4)))
    finally:
        if executor is not None:
            executor.shutdown()


def test_a_failed_task_ends_the_plan_and_a_rerun_resumes_it(source, array, tmp_path):
    plan = dolium.volume.plan_ingest(source, tmp_path / "v", **STORAGE)
    failing = plan.stages[0][5]

    class Failing(concurrent.futures.ThreadPoolExecutor):
        def submit(self, function, task, **options):
            if task == failing:
                return super().submit(lambda: 1 / 0)
            return super().submit(function, task, **options)

    with Failing(1) as executor, pytest.raises(ZeroDivisionError):
        plan.run(executor)
    with pytest.raises(OSError, match="unfinished"):
        dolium.Volume.open(tmp_path / "v")
    with pytest.raises(FileExistsError, match="another job"):
        dolium.volume.plan_ingest(source, tmp_path / "v")
    rest = dolium.volume.plan_ingest(source, tmp_path / "v", **STORAGE)
    assert failing in rest.stages[0]
    assert 5 <= rest.parts_done < rest.parts
    assert rest.chunks_done > 0
    report = rest.run()
    assert report.parts_done_before == rest.parts_done
    assert np.array_equal(dolium.Volume.open(tmp_path / "v"), array)


def test_progress_may_stop_the_work(source, array, tmp_path):
    def refuse(*_):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        dolium.volume.ingest(source, tmp_path / "v", jobs=1, progress=refuse, **STORAGE)
    with pytest.raises(OSError, match="unfinished"):
        dolium.Volume.open(tmp_path / "v")
    dolium.volume.ingest(source, tmp_path / "v", **STORAGE)
    assert np.array_equal(dolium.Volume.open(tmp_path / "v"), array)


def test_a_source_that_changed_is_a_conflict(source, array, tmp_path):
    plan = dolium.volume.plan_ingest(source, tmp_path / "v", **STORAGE)
    np.save(source, array[::-1])
    with pytest.raises(dolium.ConflictError):
        plan.run()
