"""Damage is found, told apart, and named: shard, record, key and entry."""

import json
import pickle
import shutil

import pytest

import shardpack
from dolium import _core
from conftest import flip_byte
from pack_makers import TESTDATA, numbers_in, write_set

from shardpack_reference_bytes import crc32c

BAD = json.loads((TESTDATA / "bad" / "expected.json").read_text())


def error_class(kind):
    return getattr(shardpack, f"{kind}Error")


@pytest.mark.parametrize("name", [name for name, told in BAD.items() if told["open"] != "ok"])
def test_opening_tells_the_damage(name):
    path = TESTDATA / "bad" / name
    with pytest.raises(error_class(BAD[name]["open"]), match=name):
        shardpack.open(path)


def read_whole(dataset):
    """All that can be read, and the errors."""
    keys, errors = [], []
    for number in range(len(dataset)):
        try:
            record = dataset[number]
            record.metadata, record.as_dict()
            for entry in record.file_entries():
                entry.metadata, entry.array, entry.mtime, entry.mode
            keys.append(number)
        except (shardpack.CorruptError, NotImplementedError) as error:
            errors.append(error)
    return keys, errors


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, told in BAD.items()
        if told["open"] == "ok"
        and told["record"] is not None
        # Only verify looks for two files of one name.
        and name != "record_name_twice.shardpack"
    ],
)
def test_damaged_samples_give_no_bytes_and_leave_others_alone(name):
    told = BAD[name]
    dataset = shardpack.open(TESTDATA / "bad" / name)
    readable, errors = read_whole(dataset)
    assert readable == told["readable_records"]
    assert errors
    for error in errors:
        assert f"{name}: record " in str(error)
        # An index that leads astray also leads to what is no record.
        if told["kind"] != "IndexCorrupt":
            assert type(error) is error_class(told["kind"])
    # The same in batches.
    found = dataset.read_many(range(len(dataset)), keep_errors=True)
    for number, item in enumerate(found):
        if number not in readable and not isinstance(item, shardpack.Record):
            assert f"{name}: record {number}" in str(item)


@pytest.mark.parametrize(
    "call",
    [
        lambda: shardpack.Record.file_entries(5),
        lambda: shardpack.Record.__getitem__("s", "x"),
        lambda: shardpack.Record.get(None, "x"),
        lambda: shardpack.Record.__iter__(object()),
        lambda: shardpack.Record.file_entries(shardpack.Record.__new__(shardpack.Record)),
        lambda: _core.PackDataset.records(object()),
        lambda: _core.PackDataset.__getitem__(5, 0),
        lambda: _core.PackDataset.__new__(_core.PackDataset)[0],
        lambda: _core.PackDataset(_core.PackSet.__new__(_core.PackSet)),
        lambda: iter(_core.PackTuples.__new__(_core.PackTuples)),
        lambda: _core.PackTuples.__iter__(5),
        lambda: _core.PackTuples.__new__(_core.PackTuples)[0],
        lambda: _core.Container.__reduce__(5),
        lambda: _core.Container.__new__(_core.Container)["a"],
    ],
)
def test_methods_refuse_objects_of_other_classes(call):
    with pytest.raises(TypeError):
        call()


def test_parts_of_contents_name_what_is_damaged(tmp_path):
    path = tmp_path / "a.shardpack"
    with shardpack.Writer(
        path, compression="zstd", chunk_threshold=1 << 17, chunk_size=1 << 16
    ) as writer:
        writer.write("kk", {"big.txt": b"hello world %d " * 30_000})
    frame = b"\x28\xb5\x2f\xfd"
    content = path.read_bytes()
    flip_byte(path, content.index(frame, content.index(frame) + 1) + 20)
    entry = shardpack.open(path)[0]["big.txt"]
    assert entry.read(0, 5) == b"hello"
    where = f'{path}: record 0: "kk": entry "big.txt": '
    with pytest.raises(shardpack.EntryCorruptError) as raised:
        entry.read(70_000, 100)
    assert str(raised.value).startswith(where)
    with pytest.raises(ValueError) as raised:
        entry.read(70_000, 10**9)
    assert str(raised.value).startswith(where)


@pytest.mark.parametrize("name", [n for n, told in BAD.items() if told["severity"] == "error"])
def test_verify_finds_it(name):
    try:
        assert not shardpack.verify(TESTDATA / "bad" / name)
    except (shardpack.NotShardPackError, NotImplementedError) as error:
        assert type(error) is error_class(BAD[name]["open"])


@pytest.fixture
def damaged(tmp_path):
    """Sample 17 has a bad entry, sample 64 a bad head."""
    write_set(tmp_path)
    path = tmp_path / "train-000000.shardpack"
    flip_byte(path, path.read_bytes().index(b"text of 17") + 3)
    other = tmp_path / "train-000002.shardpack"
    offsets = shardpack.open(other).get_index()
    flip_byte(other, offsets[4] + 9)
    return shardpack.open(tmp_path)


def test_messages_name_shard_record_key_and_entry(damaged):
    pattern = r'train-000000.shardpack: record 17.*"sample00017".*"text.txt"'
    assert damaged[17]["number.json"].data == b"17"
    for read in (
        lambda: damaged[17]["text.txt"].data,
        lambda: damaged[17].as_dict(),
        lambda: damaged[[16, 17]],
        lambda: list(damaged.loader(10)),
        lambda: list(damaged.loader(10, prefetch=0)),
    ):
        with pytest.raises(shardpack.EntryCorruptError, match=pattern):
            read()
    with pytest.raises(shardpack.RecordCorruptError, match="train-000002.shardpack: record 4"):
        damaged[64]


def test_views_are_checked_when_asked(damaged):
    entry = damaged[17]["text.txt"]
    assert bytes(entry.view()).startswith(b"te")
    with pytest.raises(shardpack.EntryCorruptError):
        entry.view(check=True)
    unchecked = shardpack.open(damaged.shards[0]["path"], check="none")
    assert len(unchecked[17]["text.txt"].data) == len(entry.view())


def test_batches_keep_errors_in_place(damaged):
    found = damaged.read_many([16, 17, 64, 65], keep_errors=True)
    assert [type(item) for item in found] == [
        shardpack.Record,
        shardpack.EntryCorruptError,
        shardpack.RecordCorruptError,
        shardpack.Record,
    ]


@pytest.mark.parametrize("prefetch", [0, 4])
@pytest.mark.parametrize("shuffle", [False, True, "window"])
def test_skipping_keeps_positions(damaged, prefetch, shuffle):
    options = {"shuffle": shuffle, "seed": 4, "prefetch": prefetch}
    options |= {"run_bytes": 1000, "window_runs": 3}
    loader = damaged.loader(10, on_error="skip", **options)
    batches = list(loader)
    assert len(batches) == len(loader) == 10
    assert loader.skipped == 2
    assert sorted(numbers_in(batches)) == [n for n in range(100) if n not in (17, 64)]
    # The batches are those of the sound set, without these two.
    told = []

    def replace(error, number):
        told.append(number)
        return number

    order = damaged.loader(10, on_error=replace, **options)
    whole = [[item for item in batch if not isinstance(item, int)] for batch in order]
    assert [numbers_in([batch]) for batch in whole] == [numbers_in([batch]) for batch in batches]
    assert sorted(told) == [17, 64] and order.skipped == 0


def test_a_function_may_replace_or_leave_out(damaged):
    errors = []

    def handle(error, number):
        errors.append((type(error), number))
        return "replaced" if number == 17 else None

    loader = damaged.loader(10, on_error=handle)
    batches = list(loader)
    assert batches[1][7] == "replaced" and len(batches[6]) == 9
    assert errors == [(shardpack.EntryCorruptError, 17), (shardpack.RecordCorruptError, 64)]
    assert loader.skipped == 1


def test_decoders_that_fail_follow_the_policy(tmp_path):
    write_set(tmp_path, 10)
    dataset = shardpack.open(tmp_path)

    def decode(record):
        if record.key.endswith("3"):
            raise ArithmeticError("three")
        return record.key[-1]

    with pytest.raises(ArithmeticError, match="three") as raised:
        list(dataset.loader(5, decode=decode))
    if hasattr(raised.value, "__notes__"):  # since Python 3.11
        assert 'record 3: "sample00003"' in raised.value.__notes__[0]
    loader = dataset.loader(5, decode=decode, on_error="skip")
    assert list(loader) == [list("0124"), list("56789")]

    # What may be better the next time is not skipped.
    def fail(record):
        raise ConnectionError("lost")

    with pytest.raises(ConnectionError):
        list(dataset.loader(5, decode=fail, on_error="skip"))
    # A batch of which nothing is left is not collated.
    empty = dataset.loader(2, decode=lambda record: 1 / 0, on_error="skip", collate=max)
    assert list(empty) == [[]] * 5 and empty.skipped == 10


def test_limits_are_checked_before_memory_is_taken(tmp_path):
    path = tmp_path / "large.shardpack"
    with shardpack.Writer(path, compression="zstd") as writer:
        writer.write("key", {"a.txt": bytes(1 << 20)})
    with pytest.raises(shardpack.LimitExceededError, match='"a.txt"'):
        shardpack.open(path, raw_limit=1 << 16)[0]["a.txt"].data


def test_absent_files_are_not_found(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing.shardpack"):
        shardpack.open(tmp_path / "nothing.shardpack")
    text = tmp_path / "text.shardpack"
    text.write_text("no shard at all, by far" * 20)
    with pytest.raises(shardpack.NotShardPackError, match="text.shardpack"):
        shardpack.open(text)


def test_repair_saves_what_is_there(tmp_path):
    write_set(tmp_path, 30)
    path = tmp_path / "train-000000.shardpack"
    shutil.copy(path, tmp_path / "cut")
    offsets = shardpack.open(path).get_index()
    with open(tmp_path / "cut", "r+b") as file:
        file.truncate(offsets[20] + 5)
    with pytest.raises(shardpack.IncompleteError, match="repair"):
        shardpack.open(tmp_path / "cut")
    report = shardpack.repair(tmp_path / "cut", tmp_path / "mended.shardpack")
    assert report.records == 20
    assert numbers_in([shardpack.open(tmp_path / "mended.shardpack")]) == list(range(20))
    assert shardpack.verify(tmp_path / "mended.shardpack")
    # What a killed writer leaves of a shard that is not there.
    (tmp_path / "cut").rename(tmp_path / ".gone.shardpack.dolium-tmp-0123456789abcdef")
    report = shardpack.repair(tmp_path / "gone.shardpack", tmp_path / "saved.shardpack", quick=True)
    assert (report.records, len(shardpack.open(tmp_path / "saved.shardpack"))) == (20, 20)
    with pytest.raises(FileNotFoundError, match="no temporary of a writer of it"):
        shardpack.repair(tmp_path / "never.shardpack", tmp_path / "none.shardpack")


def test_errors_travel_between_processes():
    names = [name for name in shardpack.__all__ if name.endswith("Error")]
    assert len(names) >= 12
    for name in names:
        error = getattr(shardpack, name)("a.shardpack: record 3: what is wrong")
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error)
        assert str(again) == str(error)


def test_headers_that_lie_take_no_memory(tmp_path):
    """An entry of few bytes in chunks, stored as they are, that claims to be 4 GiB."""
    path = tmp_path / "a.shardpack"
    with shardpack.Writer(path, compression="lz4", chunk_size=1 << 16,
                          chunk_threshold=1 << 16, compress_all=True) as writer:
        writer.write("k", {"a": bytes(200_000)})
    data = bytearray(path.read_bytes())
    entry = data.index((200_000).to_bytes(8, "little"))  # raw size
    stored, name_end = entry - 8, entry + 24 + len("a")
    data[entry : entry + 8] = (4 << 30).to_bytes(8, "little")
    data[stored + 26] = 0  # no codec
    type_length = int.from_bytes(data[stored + 22 : stored + 24], "little")
    end = name_end + type_length + int.from_bytes(data[stored + 24 : stored + 26], "little")
    crc = crc32c(bytes(data[stored : stored + 28]), bytes(data[stored + 32 : end]))
    data[stored + 28 : stored + 32] = crc.to_bytes(4, "little")
    path.write_bytes(data)
    dataset = shardpack.open(path)
    for read in (
        lambda: dataset.tuples("a")[0],
        lambda: dataset.tuples("a")[[0]],
        lambda: dataset.tuples("a", views=True)[0],
        lambda: dataset[0]["a"].data,
        lambda: dataset[[0]],
    ):
        with pytest.raises(shardpack.EntryCorruptError, match="raw"):
            read()
    assert list(dataset.loader(1, on_error="skip")) == [[]]
