import concurrent.futures
import json
import multiprocessing
import pathlib
import pickle

import numpy as np
import pytest
from conftest import flip_byte
from volume_makers import random_array

import dolium


def test_reshards(location, values, tmp_path):
    target = tmp_path / "target"
    report = dolium.convert(location, target, shard_bits=1, minishard_bits=2, preshift_bits=0)
    assert report.written.entries == len(values)
    assert (report.parts, report.parts_done_before, report.skipped) == (2, 0, [])
    chunks = dolium.open(target)
    assert chunks.sharding.shard_bits == 1
    assert dict(chunks.items()) == values


def test_goes_to_files_and_back(location, values, tmp_path):
    dolium.convert(location, tmp_path / "files", to="files")
    assert (tmp_path / "files" / "0").read_bytes() == b""
    spec = dolium.ShardingSpec(0, 1, 1, data_encoding="gzip")
    dolium.convert(
        tmp_path / "files", tmp_path / "back", format="files", to="neuroglancer", sharding=spec
    )
    back = dolium.open(tmp_path / "back")
    assert back.sharding == spec
    assert dict(back.items()) == values


def test_takes_words_and_sizes(location, values, tmp_path):
    dolium.convert(
        location,
        tmp_path / "target",
        from_sharding=dolium.open(location).sharding,
        shard_size=100_000,
        hash="identity",
        minishard_index_encoding="raw",
        data_encoding="raw",
        memory=1 << 20,
        jobs=2,
    )
    chunks = dolium.open(tmp_path / "target")
    assert chunks.sharding.hash == "identity"
    assert chunks.sharding.minishard_index_encoding == "raw"
    assert dict(chunks.items()) == values


def test_errors_are_told(location, tmp_path):
    with pytest.raises(FileNotFoundError):
        dolium.convert(tmp_path / "absent", tmp_path / "target")
    with pytest.raises(ValueError, match="hash"):
        dolium.convert(location, tmp_path / "target", hash="md5")
    with pytest.raises(ValueError, match="no format"):
        dolium.convert(location, tmp_path / "target", to="zip")
    with pytest.raises(TypeError):
        dolium.convert(location, tmp_path / "target", shard_sise=5)
    dolium.convert(location, tmp_path / "target")
    with pytest.raises(FileExistsError):
        dolium.convert(location, tmp_path / "target")
    dolium.convert(location, tmp_path / "target", force=True, shard_bits=0)
    assert dolium.open(tmp_path / "target").sharding.shard_bits == 0


def test_skips_damage_if_asked(tmp_path):
    spec = dolium.ShardingSpec(0, 1, 1, data_encoding="gzip")
    values = {i: bytes([i]) * 300 for i in range(20)}
    dolium.write_sharded(tmp_path / "set", spec, values)
    entry = dolium.open(tmp_path / "set").find(7)
    flip_byte(entry.object, entry.offset + entry.stored_size - 6)
    report = dolium.convert(tmp_path / "set", tmp_path / "target", skip_damaged=True)
    (finding,) = report.skipped
    assert finding.key == "7"
    del values[7]
    assert dict(dolium.open(tmp_path / "target").items()) == values


def test_progress_is_told_and_may_stop_the_work(location, values, tmp_path):
    seen = []
    dolium.convert(location, tmp_path / "a", progress=lambda *numbers: seen.append(numbers))
    assert seen[-1][:2] == (len(values), len(values))

    def refuse(*_):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        dolium.convert(location, tmp_path / "b", shard_bits=6, jobs=1, progress=refuse)
    with pytest.raises(OSError, match="unfinished"):
        dolium.open(tmp_path / "b", format="neuroglancer")
    dolium.convert(location, tmp_path / "b", shard_bits=6)
    assert dict(dolium.open(tmp_path / "b").items()) == values


def test_a_plan_is_plain_data(location, values, tmp_path):
    plan = dolium.plan_convert(location, tmp_path / "target", shard_bits=3)
    assert isinstance(plan, dolium.Plan)
    assert plan.parts == len(plan.tasks) == 8
    assert plan.entries == len(values)
    assert all(isinstance(json.loads(task), dict) for task in plan.tasks)
    with pytest.raises(OSError, match="unfinished"):
        dolium.open(tmp_path / "target", format="neuroglancer")

    plan = pickle.loads(pickle.dumps(plan))
    with pytest.raises(FileNotFoundError, match="not done"):
        plan.finish()
    reports = [dolium.run_task(task) for task in reversed(plan.tasks)]
    again = dolium.run_task(plan.tasks[0], memory=1 << 20, jobs=2)
    assert again == reports[-1]
    assert sum(report.written.entries for report in reports) == len(values)
    report = plan.finish()
    assert report.written.entries == len(values)
    assert dict(dolium.open(tmp_path / "target").items()) == values


def test_a_task_that_is_none_is_refused():
    with pytest.raises((ValueError, dolium.CorruptError)):
        dolium.run_task("{}")


def spawned(workers):
    context = multiprocessing.get_context("spawn")
    return concurrent.futures.ProcessPoolExecutor(workers, mp_context=context)


@pytest.mark.parametrize(
    "make_executor",
    [lambda: None, lambda: concurrent.futures.ThreadPoolExecutor(3), lambda: spawned(2)],
    ids=["default", "threads", "processes"],
)
def test_a_plan_runs_on_any_executor(location, values, tmp_path, make_executor):
    plan = dolium.plan_convert(location, tmp_path / "target", shard_bits=3)
    executor = make_executor()
    report = dolium.run_plan(plan, executor)
    if executor is not None:
        executor.shutdown()
    assert report.parts == 8
    assert report.written.entries == len(values)
    assert dict(dolium.open(tmp_path / "target").items()) == values


def test_a_failed_task_ends_the_plan_and_a_rerun_resumes_it(location, values, tmp_path):
    plan = dolium.plan_convert(location, tmp_path / "target", shard_bits=3)

    class Failing(concurrent.futures.ThreadPoolExecutor):
        def submit(self, function, task, **options):
            if task == plan.tasks[5]:
                return super().submit(lambda: 1 / 0)
            return super().submit(function, task, **options)

    with Failing(1) as executor, pytest.raises(ZeroDivisionError):
        dolium.run_plan(plan, executor)
    with pytest.raises(OSError, match="unfinished"):
        dolium.open(tmp_path / "target", format="neuroglancer")
    rest = dolium.plan_convert(location, tmp_path / "target", shard_bits=3)
    assert plan.tasks[5] in rest.tasks
    assert 5 <= rest.parts_done < 8
    report = rest.run()
    assert report.parts_done_before == rest.parts_done
    assert dict(dolium.open(tmp_path / "target").items()) == values


def test_goes_to_an_export_and_back(tmp_path):
    labels = random_array((70, 40, 30), "uint64")
    volume = dolium.Volume.create(
        tmp_path / "volume", shape=labels.shape, dtype="uint64", resolution=(8, 8, 8)
    )
    volume[...] = labels
    report = dolium.convert(tmp_path / "volume", tmp_path / "export", to="dvid", shard_side=128)
    assert (report.written.entries, report.parts, report.skipped) == (2, 1, [])
    dolium.convert(tmp_path / "export", tmp_path / "back", to="precomputed", downsample=1)
    back = dolium.Volume.open(tmp_path / "back")
    assert back.num_scales == 2
    assert (np.asarray(back[...]).squeeze() == labels).all()
    plan = dolium.plan_convert(tmp_path / "export", tmp_path / "planned", to="precomputed")
    assert plan.parts == len(plan.tasks) > 0
    plan.run()
    planned = dolium.Volume.open(tmp_path / "planned")
    assert (np.asarray(planned[...]).squeeze() == labels).all()
    with pytest.raises(ValueError, match='takes no parameter "hash"'):
        dolium.convert(tmp_path / "volume", tmp_path / "no", to="dvid", hash="identity")
    with pytest.raises(ValueError, match='layout is "heap", expected stream or seed'):
        dolium.convert(tmp_path / "volume", tmp_path / "no", to="dvid", layout="heap")
    assert not (tmp_path / "no").exists()


def test_copies_a_volume_with_all_its_parts(filled, tmp_path):
    volume, _ = filled
    folder = pathlib.Path(volume.location)
    (folder / "provenance").write_text("who")
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "7:0").write_bytes(b"fragment")
    info = json.loads((folder / "info").read_text())
    (folder / "info").write_text(json.dumps(info | {"mesh": "../meshes"}))
    dolium.convert(folder, tmp_path / "copy")
    copy = dolium.Volume.open(tmp_path / "copy")
    assert (np.asarray(copy[...]) == np.asarray(volume[...])).all()
    assert json.loads((tmp_path / "copy" / "info").read_text())["mesh"] == "meshes"
    assert (tmp_path / "copy" / "meshes" / "7:0").read_bytes() == b"fragment"
    assert (tmp_path / "copy" / "provenance").read_text() == "who"


def test_one_plan_for_all_kinds(location, values, tmp_path):
    plan = dolium.plan_convert(location, tmp_path / "target", shard_bits=3)
    assert plan.tasks() == plan.tasks == plan.stages[0]
    assert (plan.kind, plan.target, plan.folder) == ("convert", str(tmp_path / "target"), plan.target)
    assert dolium.Plan is dolium.volume.Plan
    assert dolium.ConvertReport is dolium.VolumeReport is dolium.JobReport
    # Whoever began it, it is found again.
    dolium.run_task(plan.tasks()[0])
    found = dolium.find_plan(tmp_path / "target")
    assert (found.kind, found.parts, found.parts_done) == ("convert", 8, 1)
    assert found.tasks() == plan.tasks()[1:]
    seen = []
    report = found.run(jobs=2, progress=lambda *numbers: seen.append(numbers))
    assert seen[-1][:2] == (len(values), len(values))
    assert (report.target, report.parts_done_before) == (plan.target, 1)
    assert dict(dolium.open(tmp_path / "target").items()) == values
    # Complete, it is not done again; elsewhere, nobody knows whose result it is.
    assert found.run() is report and found.finish() is report
    with pytest.raises(FileNotFoundError, match="no job is under way here; it is complete"):
        plan.run()
    with pytest.raises(FileNotFoundError, match="no job is under way"):
        dolium.find_plan(tmp_path / "target")


def test_specs_have_the_names_of_the_command_line(location, tmp_path):
    spec = dolium.ShardingSpec(preshift_bits=1, minishard_bits=2, shard_bits=3)
    dolium.convert(location, tmp_path / "new", to_spec=spec)
    dolium.convert(location, tmp_path / "old", sharding=spec)
    assert dolium.open(tmp_path / "new").sharding == dolium.open(tmp_path / "old").sharding == spec
    with pytest.raises(TypeError, match="to_spec and sharding are the same thing"):
        dolium.convert(location, tmp_path / "no", to_spec=spec, sharding=spec)
    with pytest.raises(TypeError, match="resolution: cannot take"):
        dolium.convert(location, tmp_path / "no", resolution=object())
