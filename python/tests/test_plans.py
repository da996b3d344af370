"""One Plan for every kind of bulk work: stages, counts, streams, and what is left of one."""

import concurrent.futures
import pathlib

import numpy as np
import pytest
import shardpack

import dolium
from dolium import dvid


def make_volume(path: pathlib.Path, size=(160, 70, 66)) -> None:
    volume = dolium.Volume.create(path, dtype="uint64", shape=size, chunk_size=(64, 64, 64))
    voxels = np.arange(np.prod(size), dtype=np.uint64).reshape(size, order="F") // 1000 + 1
    volume[:, :, :] = voxels


def run_on_threads(plan: dolium.Plan) -> dolium.JobReport:
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        return plan.run(executor)


def test_a_conversion_with_stages_runs_on_an_executor(tmp_path):
    make_volume(tmp_path / "v")
    dvid.write(tmp_path / "v", tmp_path / "export", shard_side=64)
    plan = dolium.plan_convert(
        tmp_path / "export", tmp_path / "out", to="precomputed", downsample=2
    )
    assert plan.kind == "volume"
    assert len(plan.stages) == 3
    assert all(plan.stages) and plan.parts == sum(map(len, plan.stages))
    assert plan.target == str(tmp_path / "out")
    report = run_on_threads(plan)
    assert report.parts == plan.parts
    assert dolium.verify(tmp_path / "out").errors == 0
    assert len(dolium.Volume.open(tmp_path / "out").info["scales"]) == 3


def test_a_plan_of_an_export_counts_what_is_done(tmp_path):
    make_volume(tmp_path / "v")
    first = dolium.plan_convert(tmp_path / "v", tmp_path / "x", to="dvid", shard_side=64)
    assert (first.kind, first.parts, first.parts_done) == ("dvid", 12, 0)
    assert (first.entries, first.entries_done) == (12, 0)
    dolium.run_task(first.tasks[0])
    for rest in (
        dolium.plan_convert(tmp_path / "v", tmp_path / "x", to="dvid", shard_side=64),
        dvid.plan_write(tmp_path / "v", tmp_path / "x", shard_side=64),
        dolium.find_plan(tmp_path / "x"),
    ):
        assert (rest.kind, rest.parts, rest.parts_done) == ("dvid", 12, 1)
        assert (rest.entries, rest.entries_done) == (12, 1)
        assert len(rest.tasks) == 11
        assert rest.folder == rest.target == str(tmp_path / "x")
    report = run_on_threads(rest)
    assert (report.parts, report.parts_done_before) == (12, 1)
    again = dvid.plan_write(tmp_path / "v", tmp_path / "x", shard_side=128, force=True)
    assert again.folder == again.home == str(tmp_path / "x.dolium-new")
    assert again.target == str(tmp_path / "x")
    assert again.run().target == str(tmp_path / "x")
    assert again.run().target == str(tmp_path / "x"), "what is complete is not done again"


def test_a_damaged_export_leaves_no_target(tmp_path):
    make_volume(tmp_path / "v", (64, 64, 64))
    dvid.write(tmp_path / "v", tmp_path / "x")
    shard = next((tmp_path / "x").rglob("*.arrow"))
    shard.write_bytes(shard.read_bytes() * 2)
    for work in (dolium.volume.transcode, dolium.volume.plan_transcode, dvid.write):
        with pytest.raises(dolium.CorruptError):
            work(tmp_path / "x", tmp_path / "out")
        assert not (tmp_path / "out").exists()


# --- training sets -----------------------------------------------------------------------


@pytest.fixture
def samples(tmp_path):
    folder = tmp_path / "samples"
    folder.mkdir()
    for i in range(20):
        (folder / f"s{19 - i:02}.txt").write_text(f"sample {19 - i}")
    return folder


def keys(reference) -> list[str]:
    return [record.key for record in shardpack.open(str(reference)).records()]


def test_shards_are_made_by_a_plan_that_is_a_stream(samples, tmp_path):
    plan = shardpack.plan_create(samples, tmp_path / "t-0.shardpack", shard_records=6)
    assert (plan.kind, plan.is_stream, plan.stages) == ("pack-create", True, [])
    with pytest.raises(NotImplementedError, match="has no tasks"):
        plan.tasks()
    with pytest.raises(NotImplementedError, match="has no tasks"):
        run_on_threads(plan)
    report = plan.run()
    assert (report.parts, report.written.entries) == (4, 20)
    assert len(keys(tmp_path / "t-{0..3}.shardpack")) == 20
    assert plan.run() == report


def test_a_stream_that_was_left_is_found_and_run(samples, tmp_path):
    left = shardpack.plan_create(samples, tmp_path / "t.shardpack", compression="zstd")
    found = dolium.find_plan(left.folder)
    assert found.is_stream
    found.run()
    assert len(keys(tmp_path / "t.shardpack")) == 20
    left = shardpack.plan_create(samples, tmp_path / "u.shardpack")
    (samples / "s05.txt").write_text("another one")
    with pytest.raises(dolium.ConflictError):
        left.run()


def test_what_can_be_part_of_no_sample_is_reported(samples, tmp_path):
    (samples / ".hidden").write_text("left out")
    report = shardpack.plan_create(samples, tmp_path / "t.shardpack").run()
    assert report.written.entries == 20
    [left_out] = report.skipped
    assert (left_out.severity, left_out.kind) == ("warning", "left-out")
    assert left_out.message == ".hidden: is hidden; left out"


def test_sets_are_copied_in_other_orders(samples, tmp_path):
    shardpack.plan_create(samples, tmp_path / "a.shardpack").run()
    source = tmp_path / "a.shardpack"
    plan = shardpack.plan_reshard(source, tmp_path / "b-0.shardpack", shards=3)
    assert (plan.kind, plan.parts, len(plan.tasks)) == ("pack-copy", 3, 3)
    assert run_on_threads(plan).parts == 3
    assert keys(tmp_path / "b-{0..2}.shardpack") == keys(source)
    shuffled = shardpack.plan_shuffle(source, tmp_path / "c.shardpack", seed=3)
    run_on_threads(shuffled)
    assert keys(tmp_path / "c.shardpack") != keys(source)
    shardpack.plan_sort(tmp_path / "c.shardpack", tmp_path / "d.shardpack").run()
    assert keys(tmp_path / "d.shardpack") == sorted(keys(source))
    with pytest.raises(FileExistsError):
        shardpack.plan_sort(source, tmp_path / "d.shardpack")
    assert shardpack.plan_sort(source, tmp_path / "d.shardpack", force=True).run().parts == 1
    with pytest.raises(TypeError, match="shard_sise"):
        shardpack.plan_sort(source, tmp_path / "e.shardpack", shard_sise=3)


def test_parts_of_sets_and_several_are_copied(samples, tmp_path):
    source = tmp_path / "a.shardpack"
    shardpack.plan_create(samples, source).run()
    every = keys(source)

    def subset(name, **options):
        run_on_threads(shardpack.plan_subset(source, tmp_path / f"{name}.shardpack", **options))
        return keys(tmp_path / f"{name}.shardpack")

    assert subset("range", range=(3, 9), every=2) == every[3:9:2]
    assert subset("rest", range=(15, None)) == every[15:]
    assert subset("prefix", prefix="s1") == [key for key in every if key.startswith("s1")]
    assert subset("keys", keys=iter([every[4], every[2]])) == [every[2], every[4]]
    assert subset("known", keys=[every[4], "none"], ignore_missing=True) == [every[4]]
    assert len(subset("count", sample=5, seed=2)) == 5
    assert len(subset("part", sample=0.25)) == 5
    with pytest.raises(FileNotFoundError, match="none"):
        shardpack.plan_subset(source, tmp_path / "no.shardpack", keys=["none"])

    parts = shardpack.plan_split(source, tmp_path / "p-0.shardpack", shards=4)
    assert run_on_threads(parts).parts == 4
    with pytest.raises(ValueError, match="give shards, shard_size or shard_records"):
        shardpack.plan_split(source, tmp_path / "q.shardpack")
    both = [tmp_path / "p-1.shardpack", tmp_path / "p-0.shardpack"]
    run_on_threads(shardpack.plan_merge(both, tmp_path / "m.shardpack"))
    assert keys(tmp_path / "m.shardpack") == every[5:10] + every[:5]

    with shardpack.Writer(tmp_path / "change.shardpack") as writer:
        writer.delete(every[0])
        writer.write("new", {"txt": b"new"})
    plan = shardpack.plan_compact(
        source, tmp_path / "c.shardpack", overlay=tmp_path / "change.shardpack"
    )
    run_on_threads(plan)
    assert keys(tmp_path / "c.shardpack") == [*every[1:], "new"]


def test_sets_are_exported(samples, tmp_path):
    source = tmp_path / "a.shardpack"
    shardpack.plan_create(samples, source).run()
    folder = shardpack.plan_export(source, tmp_path / "files", to="folder", shard_records=7)
    assert (folder.parts, len(folder.tasks)) == (3, 3)
    run_on_threads(folder)
    assert sum(path.is_file() for path in (tmp_path / "files").rglob("*")) == 20
    tar = shardpack.plan_export(source, tmp_path / "t.tar", to="webdataset", shard_records=8)
    assert tar.is_stream
    assert dolium.find_plan(tar.folder).run().written.entries == 20
    assert len(list(tmp_path.glob("t-*.tar"))) == 3
    shardpack.plan_import(
        tmp_path / "t-000000.tar", tmp_path / "again.shardpack", from_="webdataset"
    ).run()
    assert len(keys(tmp_path / "again.shardpack")) == 8
    with pytest.raises(TypeError, match="give from_"):
        shardpack.plan_import(tmp_path / "t-000000.tar", tmp_path / "no.shardpack")


def test_a_store_is_exported(samples, tmp_path):
    store = dolium.cas.Store.init(tmp_path / "store")
    store.put(samples, name="samples")
    plan = store.plan_export(tmp_path / "t.mdb", "samples", xorbs=tmp_path / "xorbs")
    assert (plan.kind, plan.parts) == ("cas-export", 1)
    run_on_threads(plan)
    assert dolium.verify(tmp_path / "t.mdb", xorbs=tmp_path / "xorbs").errors == 0
