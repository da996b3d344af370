"""shardpack.torch: each sample once and in order, however workers are started, and resumable."""

import json
import os
import pickle
import subprocess
import sys

import pytest
import torch
import torch.distributed

import shardpack
import shardpack.torch
from range_server import RangeServer

COUNT = 103
BATCH = 8
METHODS = ["fork", "forkserver", "spawn"]


def write_set(folder, count=COUNT, shard_records=40):
    with shardpack.Writer(folder / "train-000000.shardpack", shard_records=shard_records) as writer:
        for number in range(count):
            files = {"number.json": json.dumps(number), "bytes.bin": bytes([number % 256]) * 100}
            writer.write(f"sample{number:04}", files)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    folder = tmp_path_factory.mktemp("set")
    write_set(folder)
    return shardpack.open(folder / "train-{000000..000002}.shardpack")


def number_of(record):
    return json.loads(record["number.json"].data)


def batches_of(loader):
    return [torch.as_tensor(batch).tolist() for batch in loader]


def expected_batches(dataset, **options):
    loader = dataset.loader(BATCH, decode=number_of, prefetch=0, **options)
    return list(loader)


def start_options(workers, method):
    return {"multiprocessing_context": method} if workers else {}


CASES = [(0, None), *((workers, method) for workers in (1, 2, 4) for method in METHODS)]


@pytest.mark.parametrize(("workers", "method"), CASES)
def test_each_batch_comes_once_and_in_order(dataset, workers, method):
    options = {"shuffle": True, "seed": 5}
    batches = shardpack.torch.IterableDataset(dataset, BATCH, transform=number_of, **options)
    loader = torch.utils.data.DataLoader(
        batches, batch_size=None, num_workers=workers, **start_options(workers, method)
    )
    assert len(loader) == 13
    assert batches_of(loader) == expected_batches(dataset, **options)


@pytest.mark.parametrize(("workers", "method"), CASES)
def test_map_datasets_give_each_sample_once(dataset, workers, method):
    loader = torch.utils.data.DataLoader(
        shardpack.torch.MapDataset(dataset),
        batch_size=BATCH,
        num_workers=workers,
        **start_options(workers, method),
    )
    batches = list(loader)
    keys = [key for batch in batches for key in batch["__key__"]]
    assert keys == [f"sample{number:04}" for number in range(COUNT)]
    assert batches[0]["bytes.bin"][1] == b"\x01" * 100


@pytest.mark.parametrize("workers", [0, 2])
def test_a_state_goes_on_with_other_workers_and_batch_size(dataset, workers):
    def make(batch_size, workers):
        batches = shardpack.torch.IterableDataset(
            dataset, batch_size, transform=number_of, shuffle=True, seed=9
        )
        options = start_options(workers, "fork")
        return shardpack.torch.DataLoader(batches, num_workers=workers, **options)

    whole = sum(expected_batches(dataset, shuffle=True, seed=9), [])
    first = make(BATCH, workers)
    passing = iter(first)
    seen = [torch.as_tensor(next(passing)).tolist() for _ in range(5)]
    state = pickle.loads(pickle.dumps(first.state_dict()))
    assert state["position"] == 5 * BATCH
    del passing
    second = make(6, 3)
    second.load_state_dict(state)
    assert sum(seen, []) + sum(batches_of(second), []) == whole
    assert second.state_dict()["position"] == COUNT
    # And then the next epoch.
    next_epoch = sum(batches_of(second), [])
    assert second.state_dict()["epoch"] == 1
    assert next_epoch == sum(expected_batches(dataset, shuffle=True, seed=9, epoch=1), [])


@pytest.mark.parametrize("workers", [0, 2])
def test_a_state_at_the_end_of_an_epoch_goes_on_with_the_next(dataset, workers):
    def make(**options):
        batches = shardpack.torch.IterableDataset(
            dataset, 20, transform=number_of, shuffle=True, **options
        )
        return shardpack.torch.DataLoader(batches, num_workers=workers)

    first = make(drop_last=True)
    states = [first.state_dict() for _ in first]
    assert [state["position"] for state in states] == [20, 40, 60, 80, COUNT]
    second = make(drop_last=True)
    second.load_state_dict(states[-1])
    for epoch in (1, 2):
        expected = dataset.loader(
            20, drop_last=True, shuffle=True, epoch=epoch, decode=number_of, prefetch=0
        )
        assert batches_of(second) == list(expected)
        assert second.state_dict()["epoch"] == epoch

    # Three samples are left for five ranks: the last has none of them, and keeps step.
    last = make(remainder="keep", rank=4, world=5)
    last.load_state_dict({**states[-1], "position": 100})
    assert batches_of(last) == []
    assert (last.state_dict()["epoch"], last.state_dict()["position"]) == (0, COUNT)
    assert len(batches_of(last)) == 1 and last.state_dict()["epoch"] == 1


def test_passes_with_workers_are_epochs(dataset):
    batches = shardpack.torch.IterableDataset(
        dataset, BATCH, transform=number_of, shuffle=True, seed=1
    )
    loader = shardpack.torch.DataLoader(batches, num_workers=2)
    for epoch in range(3):
        assert batches_of(loader) == expected_batches(dataset, shuffle=True, seed=1, epoch=epoch)
    loader.set_epoch(7)
    assert batches_of(loader) == expected_batches(dataset, shuffle=True, seed=1, epoch=7)


def test_ranks_share_each_global_batch(dataset):
    whole = sum(expected_batches(dataset, shuffle=True, seed=2), [])
    ranks = []
    for rank in range(4):
        batches = shardpack.torch.IterableDataset(
            dataset, BATCH, transform=number_of, shuffle=True, seed=2, rank=rank, world=4
        )
        ranks.append(batches_of(shardpack.torch.DataLoader(batches, num_workers=2)))
    assert len({len(rank) for rank in ranks}) == 1
    joined = [number for step in zip(*ranks) for batch in step for number in batch]
    assert joined[:COUNT] == whole
    assert len(joined) == COUNT + 1  # padded to a multiple of 4
    with pytest.raises(ValueError, match="both"):
        shardpack.torch.IterableDataset(dataset, rank=1)


RANK = """
import sys, torch, torch.distributed, shardpack, shardpack.torch
rank, place, reference = int(sys.argv[1]), sys.argv[2], sys.argv[3]
torch.distributed.init_process_group("gloo", init_method=place, rank=rank, world_size=2)
batches = shardpack.torch.IterableDataset(shardpack.open(reference), 5, shuffle=True)
if __name__ == "__main__":
    loader = shardpack.torch.DataLoader(batches, num_workers=1)
    print(",".join(key for batch in loader for key in batch["__key__"]))
"""


@pytest.mark.skipif(not torch.distributed.is_available(), reason="torch without distributed")
def test_ranks_are_those_of_torch_distributed(dataset, tmp_path):
    program = tmp_path / "rank.py"
    program.write_text(RANK)
    place = f"file://{tmp_path}/meeting"
    reference = os.path.dirname(dataset.shards[0]["path"])
    ranks = [
        subprocess.Popen(
            [sys.executable, program, str(rank), place, reference],
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    keys = [rank.communicate(timeout=120)[0].strip().split(",") for rank in ranks]
    assert [len(of_rank) for of_rank in keys] == [52, 52]
    assert len(set(keys[0]) | set(keys[1])) == COUNT


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.parametrize("is_cached", [False, True])
def test_remote_sets_in_workers(dataset, tmp_path, method, is_cached):
    options = {"shuffle": "window", "seed": 3, "run_bytes": 2000, "window_runs": 3}
    with RangeServer(os.path.dirname(dataset.shards[0]["path"])) as server:
        reference = server.url + "/train-{000000..000002}.shardpack"
        remote = shardpack.open(reference, cache=tmp_path if is_cached else None)
        batches = shardpack.torch.IterableDataset(remote, BATCH, transform=number_of, **options)
        # The parent's connections and threads are not the workers'.
        assert next(iter(remote.loader(3, shuffle=True)))
        loader = shardpack.torch.DataLoader(batches, num_workers=2, multiprocessing_context=method)
        assert batches_of(loader) == expected_batches(dataset, **options)


@pytest.fixture
def damaged(tmp_path):
    write_set(tmp_path, 40)
    path = tmp_path / "train-000000.shardpack"
    dataset = shardpack.open(path)
    offsets = [int(dataset.get_index()[number]) for number in (11, 30)]
    data = bytearray(path.read_bytes())
    for offset in offsets:
        data[data.index(b"bytes.bin", offset) + 60] ^= 1
    path.write_bytes(data)
    return shardpack.open(path)


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_damage_is_raised_in_workers(damaged, workers):
    numbered = shardpack.torch.MapDataset(damaged)
    batches = shardpack.torch.IterableDataset(damaged, 4)
    for loader in (
        torch.utils.data.DataLoader(numbered, batch_size=4, num_workers=workers, timeout=60 if workers else 0),
        torch.utils.data.DataLoader(damaged.tuples("bytes.bin"), batch_size=4, num_workers=workers,
                                    timeout=60 if workers else 0),
        shardpack.torch.DataLoader(batches, num_workers=workers, timeout=60 if workers else 0),
    ):
        with pytest.raises(shardpack.EntryCorruptError, match='record 11: "sample0011"'):
            list(loader)


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_skipped_samples_are_counted_with_any_workers(damaged, workers):
    batches = shardpack.torch.IterableDataset(
        damaged, 4, transform=lambda record: (record.as_dict(), number_of(record))[1],
        on_error="skip",
    )
    loader = shardpack.torch.DataLoader(batches, num_workers=workers)
    found = [number for batch in loader for number in torch.as_tensor(batch).tolist()]
    assert found == [number for number in range(40) if number not in (11, 30)]
    assert loader.skipped == 2


def test_arrays_and_records_without_workers(dataset, tmp_path):
    import numpy as np

    with shardpack.Writer(tmp_path / "arrays.shardpack", align=64) as writer:
        for number in range(10):
            writer.write(f"{number}", {"x": np.full((2, 3), number, np.float32)})
    arrays = shardpack.open(tmp_path / "arrays.shardpack")
    batches = shardpack.torch.IterableDataset(
        arrays, 4, transform=lambda record: record["x"].numpy().copy()
    )
    shapes = [tuple(batch.shape) for batch in torch.utils.data.DataLoader(batches, batch_size=None)]
    assert shapes == [(4, 2, 3), (4, 2, 3), (2, 2, 3)]


def test_tensors_are_written_as_npy(tmp_path):
    tensors = {
        "a": torch.arange(6, dtype=torch.int16).reshape(2, 3).t(),
        "b": torch.tensor(2.5, requires_grad=True),
    }
    with shardpack.Writer(tmp_path / "t.shardpack") as writer:
        writer.write("key", tensors)
        with pytest.raises(ValueError, match='"bad": entry "x": .*bfloat16'):
            writer.write("bad", {"x": torch.zeros(2, dtype=torch.bfloat16)})
    record = shardpack.open(tmp_path / "t.shardpack")["key"]
    for name, tensor in tensors.items():
        assert record[name].content_type == "application/x-npy"
        assert torch.equal(torch.from_numpy(record[name].decode()), tensor.detach())


def test_the_package_does_not_need_torch():
    code = "import sys, shardpack; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
