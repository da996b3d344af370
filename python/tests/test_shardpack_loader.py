"""Loaders: orders, ranks, states, reading ahead."""

import gc
import json
import os
import sys
import threading
import time

import numpy as np
import pytest

import shardpack
from pack_makers import number_of, numbers_in, write_set
from range_server import RangeServer

COUNT = 103
SHUFFLES = [False, True, "window"]
SMALL_RUNS = {"run_bytes": 1500, "window_runs": 3}


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    folder = tmp_path_factory.mktemp("set")
    write_set(folder, COUNT)
    return shardpack.open(folder)


def make(dataset, batch_size=8, **options):
    return dataset.loader(batch_size, **{"seed": 11, **SMALL_RUNS, **options})


@pytest.mark.parametrize("prefetch", [0, 1, 4])
@pytest.mark.parametrize("shuffle", SHUFFLES)
def test_an_epoch_has_each_sample_once(dataset, shuffle, prefetch):
    loader = make(dataset, shuffle=shuffle, prefetch=prefetch)
    assert len(loader) == 13
    batches = list(loader)
    assert [len(batch) for batch in batches] == [8] * 12 + [7]
    numbers = numbers_in(batches)
    assert sorted(numbers) == list(range(COUNT))
    assert (numbers == list(range(COUNT))) == (shuffle is False)


@pytest.mark.parametrize("shuffle", SHUFFLES)
def test_the_order_is_one_of_seed_and_epoch(dataset, shuffle):
    loader = make(dataset, shuffle=shuffle)
    first, second = numbers_in(loader), numbers_in(loader)
    assert loader.epoch == 1
    assert first == numbers_in(make(dataset, shuffle=shuffle, prefetch=0, batch_size=5))
    assert second == numbers_in(make(dataset, shuffle=shuffle, epoch=1))
    if shuffle is not False:
        assert first != second
        assert first != numbers_in(make(dataset, shuffle=shuffle, seed=12))
    assert numbers_in(make(dataset, shuffle="global")) == numbers_in(make(dataset, shuffle=True))


@pytest.mark.parametrize("shuffle", SHUFFLES)
@pytest.mark.parametrize("world", [1, 2, 3, 7])
def test_global_batches_do_not_depend_on_ranks(dataset, shuffle, world):
    whole = numbers_in(make(dataset, shuffle=shuffle))
    ranks = [
        [numbers_in([batch]) for batch in make(dataset, 4, shuffle=shuffle, rank=rank, world=world)]
        for rank in range(world)
    ]
    assert len({len(rank) for rank in ranks}) == 1
    steps = list(zip(*ranks))
    size = 4 * world
    for number, step in enumerate(steps):
        joined = sum(step, [])
        assert joined[:size] == (whole + whole)[number * size : number * size + len(joined)]
        assert len({len(batch) for batch in step}) == 1
    delivered = sum(len(batch) for step in steps for batch in step)
    assert COUNT <= delivered < COUNT + world


@pytest.mark.parametrize(
    ("remainder", "expected"),
    [
        ("drop", [[8] * 6] * 2),
        ("pad", [[8] * 6 + [4]] * 2),
        ("keep", [[8] * 6 + [4], [8] * 6 + [3]]),
    ],
)
def test_what_becomes_of_the_remainder(dataset, remainder, expected):
    for rank in range(2):
        loader = make(dataset, remainder=remainder, rank=rank, world=2)
        assert [len(batch) for batch in loader] == expected[rank]
        assert len(loader) == len(expected[rank])
    if remainder == "drop":
        assert len(make(dataset, drop_last=True)) == 12
        with pytest.raises(ValueError, match="contradicts"):
            make(dataset, drop_last=False, remainder=remainder)


@pytest.mark.parametrize("shuffle", SHUFFLES)
def test_a_run_goes_on_with_other_ranks_and_batch_sizes(dataset, shuffle):
    whole = numbers_in(make(dataset, shuffle=shuffle))
    # Two steps of two ranks, three of three, then one rank alone.
    seen, state = [], None
    for world, batch_size, steps in ((2, 6, 2), (3, 4, 3), (1, 9, 100)):
        ranks = []
        for rank in range(world):
            loader = make(dataset, batch_size, shuffle=shuffle, rank=rank, world=world)
            if state is not None:
                loader.load_state_dict(state)
            ranks.append((loader, iter(loader)))
        states = []
        for _ in range(steps):
            batches = [next(passing, None) for _, passing in ranks]
            if batches[0] is None:
                break
            seen += [number for batch in batches for number in numbers_in([batch])]
            states = [loader.state_dict() for loader, _ in ranks]
            assert all(one == states[0] for one in states)
            assert states[0]["position"] == len(seen)
        state = json.loads(json.dumps(states[0]))
    assert seen == whole
    assert state["position"] == COUNT


def calls_of(function):
    """How many calls a call makes: what it costs, on any machine."""
    events = []
    sys.setprofile(lambda frame, event, argument: events.append(event))
    try:
        function()
    finally:
        sys.setprofile(None)
    return sum(event in ("call", "c_call") for event in events)


def test_states_are_numbers_and_cheap(dataset):
    loader = make(dataset, shuffle=True)
    passing = iter(loader)
    next(passing), next(passing)
    state = loader.state_dict()
    assert {key: state[key] for key in ("seed", "epoch", "position", "total")} == {
        "seed": 11,
        "epoch": 0,
        "position": 16,
        "total": COUNT,
    }
    assert all(type(value) is int for value in state.values())
    early = calls_of(loader.state_dict)
    for _ in range(10):
        next(passing)
    assert calls_of(loader.state_dict) == early < 20


def test_states_that_do_not_fit_are_refused(dataset, tmp_path):
    state = make(dataset, shuffle=True).state_dict()
    write_set(tmp_path, 5)
    with pytest.raises(ValueError, match="of 103 samples, here are 5"):
        make(shardpack.open(tmp_path)).load_state_dict(state)
    with pytest.raises(ValueError, match="another order"):
        make(dataset, shuffle="window").load_state_dict(state)
    with pytest.raises(ValueError, match="version 2, expected 1"):
        make(dataset).load_state_dict({**state, "version": 2})
    with pytest.raises(ValueError, match="position 104 of 103"):
        make(dataset, shuffle=True).load_state_dict({**state, "position": 104})
    # The seed is part of the state.
    other = make(dataset, shuffle=True, seed=99)
    other.load_state_dict(state)
    assert numbers_in(other) == numbers_in(make(dataset, shuffle=True))


def test_states_are_of_one_set_however_it_is_opened(tmp_path):
    for name, first in (("set", 100), ("other", 101)):
        (tmp_path / name).mkdir()
        with shardpack.Writer(tmp_path / name / "a-000000.shardpack", shard_records=10) as writer:
            for number in range(first, first + 25):
                writer.write(f"sample{number:05}", {"number.json": f"{number}"})
    local, other = shardpack.open(tmp_path / "set"), shardpack.open(tmp_path / "other")
    digests = local._own().keys_digests()
    assert len(set(digests)) == 3 and 0 not in digests
    rows = [
        {
            "path": os.path.basename(shard["path"]),
            "size": shard["size"],
            "records": shard["records"],
            "index_offset": shard["index_offset"],
            "footer_crc32c": f"{shard['footer_crc32c']:08x}",
            "keys_digest": f"{digest:016x}",
        }
        for shard, digest in zip(local.shards, digests)
    ]
    totals = {"shards": 3, "records": 25, "size": sum(row["size"] for row in rows)}
    catalog = {"shardpack_catalog": 1, "totals": totals, "columns": [], "shards": rows}
    (tmp_path / "set" / "set.json").write_text(json.dumps(catalog))
    with RangeServer(tmp_path / "set") as server:
        reference = server.url + "/a-{000000..000002}.shardpack"
        opened = [
            local,
            shardpack.open(tmp_path / "set" / "set.json"),
            shardpack.open(reference),
            shardpack.open(reference, cache=tmp_path / "cache"),
        ]
        passing = iter(loader := local.loader(8, shuffle=True))
        next(passing)
        state = loader.state_dict()
        rest = numbers_in(passing)
        for dataset in opened:
            loader = dataset.loader(5, shuffle=True)
            loader.load_state_dict(state)
            assert loader.state_dict() == state and numbers_in(loader) == rest
    assert len(other) == len(local)
    with pytest.raises(ValueError, match="other samples"):
        other.loader(5, shuffle=True).load_state_dict(state)
    mixed = [shardpack.mix([(one, 1), (local, 1)], stop="all").loader(5) for one in (local, other)]
    with pytest.raises(ValueError, match="other samples"):
        mixed[1].load_state_dict(mixed[0].state_dict())


def test_passes_are_epochs(dataset):
    epochs = [numbers_in(make(dataset, shuffle=True, epoch=epoch)) for epoch in range(4)]
    loader = make(dataset, shuffle=True)
    assert numbers_in(loader) == epochs[0]
    assert loader.state_dict()["position"] == COUNT
    assert next(iter(loader)) is not None and loader.epoch == 1
    assert numbers_in(loader) == epochs[2]  # Epoch 1 was broken off.
    loader.set_epoch(3)
    assert numbers_in(loader) == epochs[3]
    # A finished epoch that is loaded is followed by the next.
    finished = make(dataset, shuffle=True)
    for _ in finished:
        pass
    other = make(dataset, shuffle=True)
    other.load_state_dict(finished.state_dict())
    assert numbers_in(other) == epochs[1]
    # To set the epoch of a state that was loaded keeps its position.
    passing = iter(make(dataset, shuffle=True, epoch=2))
    for _ in range(3):
        next(passing)
    state = {**finished.state_dict(), **make(dataset, shuffle=True, epoch=2).state_dict()}
    other.load_state_dict({**state, "position": 24})
    other.set_epoch(2)
    assert numbers_in(other) == epochs[2][24:]
    # A pass that is not the last one changes nothing.
    next(passing)
    assert other.epoch == 2


@pytest.mark.parametrize("batch_size", [20, 200])
@pytest.mark.parametrize("world", [1, 2])
def test_a_state_at_the_end_of_an_epoch_goes_on_with_the_next(dataset, batch_size, world):
    options = {"remainder": "drop", "shuffle": True, "world": world}
    for rank in range(world):
        whole = make(dataset, batch_size, rank=rank, **options)
        epochs = [numbers_in(whole) for _ in range(3)]
        assert whole.epoch == 2
        finished = make(dataset, batch_size, rank=rank, **options)
        states = [finished.state_dict() for _ in finished]
        assert all(state["position"] < COUNT for state in states[:-1])
        for state in [*states[-1:], finished.state_dict()]:
            assert state["epoch"] == 0 and state["position"] == COUNT
            loader = make(dataset, batch_size, rank=rank, **options)
            loader.load_state_dict(state)
            assert [numbers_in(loader), loader.epoch] == [epochs[1], 1]
            assert [numbers_in(loader), loader.epoch] == [epochs[2], 2]
    # Less is left than a batch of another size needs.
    state = {**make(dataset, shuffle=True).state_dict(), "position": COUNT - 5}
    loader = make(dataset, 8, **options)
    loader.load_state_dict(state)
    assert numbers_in(loader) == numbers_in(make(dataset, 8, epoch=1, **options))
    assert loader.epoch == 1


def test_ranks_without_a_share_of_the_rest_keep_step(tmp_path):
    write_set(tmp_path, 41)
    dataset = shardpack.open(tmp_path)
    loaders = [dataset.loader(20, remainder="keep", rank=rank, world=2) for rank in range(2)]
    passes = [iter(loader) for loader in loaders]
    for position in (40, 41):
        assert [len(next(one, [])) for one in passes] == [[20, 20], [1, 0]][position - 40]
        states = [loader.state_dict() for loader in loaders]
        assert states[0] == states[1] and states[0]["position"] == position
    for start, first in ((40, [1, 0]), (41, [21, 20])):
        for loader in loaders:
            loader.load_state_dict({**states[0], "position": start})
        passed = [[len(numbers_in(loader)) for loader in loaders] for _ in range(3)]
        assert passed == [first, [21, 20], [21, 20]]
        assert {loader.epoch for loader in loaders} == {2 if start == 40 else 3}


def test_a_pass_that_is_broken_off_has_not_ended(dataset):
    loader = make(dataset, decode=lambda record: 1 / 0)
    passing = iter(loader)
    with pytest.raises(ZeroDivisionError):
        next(passing)
    assert next(passing, None) is None
    assert loader.state_dict()["position"] == 0
    iter(loader)
    assert loader.epoch == 0


def test_samples_are_decoded_and_collated(dataset):
    batches = list(make(dataset, 50, decode=number_of, collate=lambda samples: np.array(samples)))
    assert [batch.shape for batch in batches] == [(50,), (50,), (3,)]
    first = {"number.json": 0, "text.txt": "text of 0" * 5}
    for decode in (
        True,
        ["number.json", "text.txt"],
        {"number.json": None, "text.txt": bytes.decode},
    ):
        assert next(iter(make(dataset, decode=decode)))[0] == first
    assert next(iter(make(dataset, decode="number.json")))[3] == {"number.json": 3}
    with pytest.raises(KeyError, match="absent"):
        next(iter(make(dataset, decode="absent")))


def test_memory_is_bounded(tmp_path):
    path = tmp_path / "large.shardpack"
    with shardpack.Writer(path) as writer:
        for number in range(60):
            writer.write(f"{number}", {"x": bytes([number]) * 100_000})
    made = []
    loader = shardpack.open(path).loader(
        2, prefetch=20, prefetch_bytes=1_000_000, collate=lambda samples: made.append(1) or samples
    )
    for count, _ in enumerate(loader, 1):
        time.sleep(0.01)
        # Batches of 200 kB: five fit, and one was given.
        assert len(made) - count <= 6
    assert count == 30


def loader_threads():
    return [t for t in threading.enumerate() if t.name.startswith("shardpack")]


def wait_for_no_threads():
    until = time.monotonic() + 120
    while loader_threads() and time.monotonic() < until:
        gc.collect()
        time.sleep(0.01)
    return loader_threads() == []


@pytest.mark.parametrize("shuffle", [True, "window"])
def test_threads_end_with_the_pass(dataset, shuffle):
    wait_for_no_threads()
    passing = iter(make(dataset, shuffle=shuffle))
    next(passing)
    assert loader_threads()
    del passing
    assert wait_for_no_threads()
    for _ in make(dataset, shuffle=shuffle):
        break
    assert wait_for_no_threads()
    list(make(dataset, shuffle=shuffle))
    assert wait_for_no_threads()
    passing = iter(make(dataset, shuffle=shuffle, decode=lambda record: 1 / 0))
    with pytest.raises(ZeroDivisionError):
        next(passing)
    assert next(passing, "ended") == "ended"
    assert wait_for_no_threads()


def test_an_exit_amid_a_pass_is_clean(dataset, tmp_path):
    import subprocess

    program = tmp_path / "program.py"
    program.write_text(
        "import sys, shardpack\n"
        "kept = iter(shardpack.open(sys.argv[1]).loader(4, shuffle=True))\n"
        "print(len(next(kept)))\n"
    )
    folder = dataset.shards[0]["path"].rpartition("/")[0]
    done = subprocess.run(
        [sys.executable, program, folder], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "4\n", "")


def test_senseless_options_are_refused(dataset):
    for options in (
        {"batch_size": 0},
        {"rank": 2, "world": 2},
        {"shuffle": "somewhat"},
        {"remainder": "most"},
        {"on_error": "ignore"},
        {"prefetch": -1},
    ):
        with pytest.raises(ValueError):
            make(dataset, **options)


def test_sets_without_samples(tmp_path):
    with shardpack.Writer(tmp_path / "empty.shardpack"):
        pass
    dataset = shardpack.open(tmp_path / "empty.shardpack")
    for shuffle in SHUFFLES:
        loader = dataset.loader(3, shuffle=shuffle)
        assert len(loader) == 0 and list(loader) == [] and list(loader) == []
        loader.load_state_dict(loader.state_dict())


def test_shuffling_is_uniform(tmp_path):
    """Any sample anywhere: over many epochs, each is at each place about as often."""
    write_set(tmp_path, 10)
    loader = shardpack.open(tmp_path).loader(10, shuffle=True, prefetch=0)
    counts = np.zeros((10, 10), int)
    for _ in range(1000):
        for place, number in enumerate(numbers_in(loader)):
            counts[place, number] += 1
    assert counts.min() > 60 and counts.max() < 145
