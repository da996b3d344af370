"""Dask reads and writes volumes, and runs their plans on a cluster."""

import dask
import dask.array
import dask.distributed
import dolium
import numpy as np
import pytest

SHAPE = (90, 70, 50)
STORAGE = {"chunk_size": (16, 16, 16), "shard_size": 1 << 16}


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """A cluster of two processes."""
    folder = tmp_path_factory.mktemp("dask")
    with (
        dask.config.set({"temporary-directory": str(folder)}),
        dask.distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        dask.distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def array():
    return np.random.default_rng(0).integers(0, 2**16, SHAPE, dtype="uint16")


def make(location, **options):
    return dolium.Volume.create(location, shape=SHAPE, dtype="uint16", **STORAGE, **options)


def test_a_volume_is_a_dask_array(tmp_path, array):
    volume = make(tmp_path / "v")
    volume[...] = array
    lazy = dask.array.from_array(volume, chunks=volume.dask_chunks)
    assert (lazy.shape, lazy.dtype) == (SHAPE, np.uint16)
    assert np.array_equal(lazy.compute(), array)
    assert np.array_equal(lazy[10:50:3, 5, ::-1].compute(), array[10:50:3, 5, ::-1])


def test_one_with_an_offset_counts_from_zero(tmp_path, array):
    volume = make(tmp_path / "v", offset=(-100, 20, 7))
    volume[...] = array
    for lazy in (
        volume.to_dask(),
        volume.to_dask(chunks=(30, 40, 50)),
        dask.array.from_array(volume.zero_based()),
        dask.array.from_array(volume.zero_based(), chunks=(32, "auto", -1)),
    ):
        assert np.array_equal(lazy.compute(), array)
        assert np.array_equal(lazy[-3:, 60:, ::7].compute(), array[-3:, 60:, ::7])
        assert np.array_equal(lazy[[3, 1, 80]].compute(), array[[3, 1, 80]])
        assert lazy.mean().compute() == array.mean()


def test_channels_are_the_last_dimension(tmp_path):
    volume = dolium.Volume.create(tmp_path / "v", shape=(40, 30, 20, 3), dtype="uint8", **STORAGE)
    array = np.random.default_rng(1).integers(0, 256, volume.shape, dtype="uint8")
    dask.array.from_array(array, chunks=(16, 16, 16, 3)).store(volume.zero_based(), lock=False)
    assert np.array_equal(volume, array)
    assert np.array_equal(volume.to_dask()[..., 1].compute(), array[..., 1])


def test_a_cluster_reads_and_writes_volumes(client, tmp_path, array):
    volume = make(tmp_path / "v", offset=(5, 5, 5))
    # Blocks that share chunks and shards with others.
    lazy = dask.array.from_array(array, chunks=(33, 29, 50))
    lazy.store(volume.zero_based(), lock=False)
    assert np.array_equal(volume, array)
    other = make(tmp_path / "w")
    (volume.to_dask(chunks=(32, 32, 32)) // 2).store(other.zero_based(), lock=False)
    assert np.array_equal(other, array // 2)


def test_a_cluster_runs_plans(client, tmp_path, array):
    np.save(tmp_path / "array.npy", array)
    plan = dolium.volume.plan_ingest(tmp_path / "array.npy", tmp_path / "v", **STORAGE)
    assert len(plan.stages) > 1
    report = plan.run(client.get_executor())
    assert report.written.entries == plan.chunks
    volume = dolium.Volume.open(tmp_path / "v")
    assert np.array_equal(volume, array)

    copy = dolium.volume.plan_transcode(volume, tmp_path / "w", encoding="png", sharded=False)
    copy.run(client.get_executor())
    other = dolium.Volume.open(tmp_path / "w")
    for scale in range(volume.num_scales):
        assert np.array_equal(other.scale(scale), volume.scale(scale))

    more = dolium.volume.plan_downsample(
        tmp_path / "w", from_scale=0, factor=(3, 1, 1), method="stride",
        scales=other.num_scales + 1,
    )
    more.run(client.get_executor())
    volume = dolium.Volume.open(tmp_path / "w")
    assert np.array_equal(volume.scale(volume.num_scales - 1), array[::3])
