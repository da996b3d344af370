"""Several sets as one, in given proportions."""

import collections
import pickle
import threading

import pytest

import shardpack
from conftest import flip_byte
from pack_makers import number_of, write_set

COUNTS = {"a": 60, "b": 200, "c": 35}
SMALL_RUNS = {"run_bytes": 1500, "window_runs": 2}


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sets")
    made = {}
    for name, count in COUNTS.items():
        (folder / name).mkdir()
        write_set(folder / name, count, shard_records=50)
        made[name] = shardpack.open(folder / name)
    return made


def sample_of(record):
    return record.shard.rsplit("/", 2)[1], number_of(record)


def samples_in(loader):
    return [sample_of(record) for batch in loader for record in batch]


def make(sets, **options):
    return shardpack.mix([(sets["a"], 1), (sets["b"], 2), (sets["c"], 1)], **options)


@pytest.mark.parametrize("shuffle", [False, True, "window"])
@pytest.mark.parametrize("prefetch", [0, 4])
def test_proportions_are_kept(sets, shuffle, prefetch):
    mixture = make(sets, stop="samples", samples=120, block_size=12, seed=2)
    samples = samples_in(mixture.loader(7, shuffle=shuffle, prefetch=prefetch, **SMALL_RUNS))
    assert len(samples) == 120
    for begin in range(0, 120, 12):
        block = collections.Counter(name for name, _ in samples[begin : begin + 12])
        assert block == {"a": 3, "b": 6, "c": 3}
    # Nothing of a set comes twice before all of it has come.
    for name in COUNTS:
        own = [number for source, number in samples if source == name][: COUNTS[name]]
        assert len(set(own)) == len(own)


def test_how_long_an_epoch_is(sets):
    first = samples_in(make(sets, stop="first", block_size=8).loader(5))
    count = collections.Counter(name for name, _ in first)
    assert any(count[name] == COUNTS[name] for name in COUNTS)
    assert all(count[name] <= COUNTS[name] for name in COUNTS)

    mixture = make(sets, stop="all", block_size=8)
    samples = samples_in(mixture.loader(5))
    assert len(samples) == len(mixture)
    assert len(set(samples)) == sum(COUNTS.values())
    repeated = collections.Counter(samples)
    assert max(repeated[sample] for sample in repeated if sample[0] == "b") == 1
    assert {repeated["c", number] for number in range(35)} <= {2, 3}

    with pytest.raises(ValueError):
        make(sets, stop="samples", samples=0)
    with pytest.raises(ValueError):
        shardpack.mix([(sets["a"], -1)])
    with pytest.raises(ValueError):
        shardpack.mix([])


@pytest.mark.parametrize("shuffle", [True, "window"])
def test_states_go_on_with_other_ranks(sets, shuffle):
    mixture = pickle.loads(pickle.dumps(make(sets, stop="all", block_size=16, seed=5)))
    whole = samples_in(mixture.loader(6, shuffle=shuffle, **SMALL_RUNS))
    loader = mixture.loader(6, shuffle=shuffle, **SMALL_RUNS)
    passing = iter(loader)
    seen = [sample_of(record) for _ in range(9) for record in next(passing)]
    state = loader.state_dict()
    assert state["position"] == 54 and state["seed"] == 5
    ranks = []
    for rank in range(3):
        other = mixture.loader(5, shuffle=shuffle, rank=rank, world=3, **SMALL_RUNS)
        other.load_state_dict(state)
        ranks.append([[sample_of(record) for record in batch] for batch in other])
    for step in zip(*ranks):
        seen += sum(step, [])
    assert seen[: len(whole)] == whole
    with pytest.raises(ValueError, match="another order|samples"):
        shardpack.mix([(sets["a"], 1), (sets["b"], 2)]).loader(2).load_state_dict(state)


def test_epochs_differ_and_follow(sets):
    mixture = make(sets, stop="samples", samples=100, block_size=10)
    loader = mixture.loader(10, shuffle=True)
    first, second = samples_in(loader), samples_in(loader)
    assert loader.epoch == 1 and first != second
    # The second goes on where the first ended: no set begins again before it is through.
    own = [number for name, number in first + second if name == "b"]
    assert len(set(own)) == len(own)


@pytest.mark.parametrize("prefetch", [0, 1, 4])
def test_small_sets_that_begin_again_leave_nothing_behind(tmp_path, sets, prefetch):
    write_set(tmp_path, 3)
    mixture = shardpack.mix([(shardpack.open(tmp_path), 1), (sets["b"], 1)], stop="all")
    loader = mixture.loader(10, shuffle="window", prefetch=prefetch, **SMALL_RUNS)
    before = threading.active_count()
    samples, most_windows = [], 0
    passing = iter(loader)
    for batch in passing:
        samples += map(sample_of, batch)
        most_windows = max(most_windows, len(passing._reader._windows))
        # Those that make batches, and those that read.
        assert threading.active_count() - before <= prefetch + 8
    assert collections.Counter(name for name, _ in samples)["b"] >= COUNTS["b"]
    # The small set begins again twice in a batch; of that, what is under way is kept.
    assert most_windows <= 3 * (prefetch + 2)

    order = mixture.loader(10, shuffle=True)._order.epoch(0, 0)
    for epoch in range(100):
        order.order_of(0, epoch)
        kept = order.order_of(1, 0)
    assert len(order._orders) <= 18 and order.order_of(1, 0) is kept


def test_errors_tell_the_source(tmp_path, sets):
    write_set(tmp_path, 20)
    path = tmp_path / "train-000000.shardpack"
    flip_byte(path, path.read_bytes().index(b"text of 13") + 1)
    mixture = shardpack.mix(
        [(sets["a"], 1), (shardpack.open(tmp_path), 1)], stop="all", block_size=4
    )
    told = []
    loader = mixture.loader(4, on_error=lambda error, sample: told.append(sample))
    batches = list(loader)
    assert set(told) == {(1, 13)} and loader.skipped == len(told)
    assert sum(map(len, batches)) == len(mixture) - len(told)
