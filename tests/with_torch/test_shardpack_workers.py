"""States and epochs where workers make the batches: torch's loader, ours and torchdata's."""

import copy
import itertools
import json
import pickle

import pytest
import torch
from torchdata.stateful_dataloader import StatefulDataLoader

import shardpack
import shardpack.torch

COUNT = 103
BATCH = 8  # 13 batches
METHODS = ["fork", "forkserver", "spawn"]


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    path = tmp_path_factory.mktemp("set") / "train.shardpack"
    with shardpack.Writer(path) as writer:
        for number in range(COUNT):
            writer.write(f"{number:04}", {"number.json": json.dumps(number)})
    return shardpack.open(path)


def number_of(record):
    return json.loads(record["number.json"].data)


def make_batches(dataset, batch_size=BATCH, **options):
    return shardpack.torch.IterableDataset(
        dataset, batch_size, transform=number_of, shuffle=True, seed=4, **options
    )


def expected(dataset, epoch=0):
    return list(
        dataset.loader(BATCH, decode=number_of, prefetch=0, shuffle=True, seed=4, epoch=epoch)
    )


def lists(batches):
    return [torch.as_tensor(batch).tolist() for batch in batches]


def torch_loader(dataset, **options):
    return torch.utils.data.DataLoader(dataset, batch_size=None, **options)


def stateful_loader(dataset, **options):
    return StatefulDataLoader(dataset, batch_size=None, **options)


LOADERS = [torch_loader, stateful_loader, shardpack.torch.DataLoader]


@pytest.mark.parametrize(
    ("workers", "delivered"), [*itertools.product((0, 2, 3), (0, 1, 5, 12, 13)), (1, 5), (20, 12)]
)
def test_a_stateful_loader_goes_on_where_it_was(dataset, workers, delivered):
    first = stateful_loader(make_batches(dataset), num_workers=workers)
    seen = lists(itertools.islice(first, delivered))
    state = pickle.loads(pickle.dumps(first.state_dict()))
    second = stateful_loader(make_batches(dataset), num_workers=workers)
    second.load_state_dict(state)
    rest = lists(second)
    if workers == 0 and delivered == 13:
        # Nothing is left of the epoch, and one process knows it.
        assert rest == expected(dataset, epoch=1)
    else:
        assert seen + rest == expected(dataset)


@pytest.mark.parametrize("method", METHODS)
def test_a_stateful_loader_goes_on_twice_and_in_a_later_epoch(dataset, method):
    options = {"num_workers": 2, "multiprocessing_context": method}
    batches = make_batches(dataset)
    batches.set_epoch(3)
    seen, state = [], None
    for step in (5, 4, 13):
        loader = stateful_loader(batches if state is None else make_batches(dataset), **options)
        if state is not None:
            loader.load_state_dict(state)
        seen += lists(itertools.islice(loader, step))
        state = loader.state_dict()
    assert seen == expected(dataset, epoch=3)


@pytest.mark.parametrize("is_finished", [False, True])
def test_persistent_workers_go_on_and_to_the_next_epochs(dataset, is_finished):
    options = {"num_workers": 2, "persistent_workers": True}
    first = stateful_loader(make_batches(dataset), **options)
    whole = lists(first)
    seen = whole + lists(first) if is_finished else whole + lists(itertools.islice(first, 7))
    second = stateful_loader(make_batches(dataset), **options)
    second.load_state_dict(first.state_dict())
    seen += lists(second) + lists(second)
    epochs = 4 if is_finished else 3
    assert seen == sum((expected(dataset, epoch) for epoch in range(epochs)), [])


def test_the_state_of_a_worker_is_for_its_like(dataset):
    first = stateful_loader(make_batches(dataset), num_workers=2)
    state = first.state_dict()
    other = stateful_loader(make_batches(dataset, batch_size=5), num_workers=2)
    other.load_state_dict(state)
    with pytest.raises(ValueError, match="worker 0 of 2 with global batches of 8, and is to be "):
        next(iter(other))
    of_worker = first.state_dict()["_snapshot"]["_worker_snapshots"]["worker_1"]["dataset_state"]
    with pytest.raises(ValueError, match="loaded by no worker"):
        make_batches(dataset).load_state_dict(of_worker)


@pytest.mark.parametrize("method", METHODS)
def test_who_does_not_know_where_the_run_is_says_so(dataset, method):
    batches = make_batches(dataset)
    loader = torch_loader(batches, num_workers=2, multiprocessing_context=method)
    assert batches.state_dict()["position"] == 0
    passing = iter(loader)
    next(passing)
    for ask in (batches.state_dict, lambda: batches.skipped):
        with pytest.raises(RuntimeError, match=r"use shardpack\.torch\.DataLoader or torchdata"):
            ask()
    del passing
    # What is set or made here is known here.
    batches.set_epoch(2)
    assert (batches.state_dict()["epoch"], batches.state_dict()["position"]) == (2, 0)
    passing = iter(batches)
    next(passing)
    assert batches.state_dict()["position"] == BATCH
    with pytest.raises(RuntimeError, match="shardpack"):
        next(iter(loader))
        batches.state_dict()
    assert copy.deepcopy(make_batches(dataset)).state_dict()["position"] == 0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("make", LOADERS)
def test_persistent_workers_deliver_each_epoch(dataset, make, method):
    batches = make_batches(dataset)
    loader = make(
        batches, num_workers=2, persistent_workers=True, multiprocessing_context=method
    )
    for epoch in range(3):
        assert lists(loader) == expected(dataset, epoch)
    # Also if a pass is left, and for epochs that are set.
    assert lists(itertools.islice(loader, 2)) == expected(dataset, 3)[:2]
    assert lists(loader) == expected(dataset, 4)
    for epoch in (9, 9, 2):
        batches.set_epoch(epoch)
        assert lists(loader) == expected(dataset, epoch)


def test_our_loader_goes_on_with_persistent_workers(dataset):
    loader = shardpack.torch.DataLoader(
        make_batches(dataset), num_workers=2, persistent_workers=True
    )
    assert lists(itertools.islice(loader, 5)) == expected(dataset)[:5]
    state = loader.state_dict()
    assert state["position"] == 5 * BATCH
    assert lists(loader) == expected(dataset, 1)
    loader.load_state_dict(state)
    assert lists(loader) == expected(dataset)[5:]
    assert lists(loader) == expected(dataset, 1)
