"""What the document of ShardPack demands, point by point: requirements 30 to 46, the tools.

Bytes are looked at here as the document describes them, with struct and nothing of ours; the
second implementation (tests/support/shardpack_reference*.py) stands for other languages.
"""

import concurrent.futures
import json
import struct
import subprocess
import sys

import shardpack
from shardpack_walkthrough import ANNOTATION, LEFT, index_of, run, write_one


# --- command line


def test_30_input_is_a_folder_or_a_description(folder, tmp_path):
    """30. --input takes a directory, or a structured description of which files make up each
    record."""
    sample = "images17/image7"
    lines = [
        {"key": "seven", "files": [{"path": f"{sample}/left.jpg", "name": "l.jpg"}]},
        {
            "key": "meta",
            "files": [{"path": f"{sample}/meta.json", "name": "meta.json"}],
            "metadata": {"n": 1},
        },
    ]
    manifest = tmp_path / "manifest.jsonl"
    manifest.write_text("\n".join(map(json.dumps, lines)))
    run("create", "--input", folder, "--manifest", manifest, "--output", tmp_path / "a.shardpack")
    dataset = shardpack.open(tmp_path / "a.shardpack")
    assert dataset.get("seven").as_dict() == {"l.jpg": LEFT}
    assert dataset.get("meta")["meta.json"].data == ANNOTATION
    assert dataset.get("meta").metadata == {"n": 1}


def test_31_output_names_the_shard(shard):
    """31. --output dataset-train-000000.shardpack."""
    assert shard.name == "dataset-train-000000.shardpack"
    assert shardpack.verify(shard)


def test_32_records_have_a_limit(tmp_path):
    """32. --record-size-limit 1GB prevents giant record blocks."""
    sample = tmp_path / "in" / "large"
    sample.mkdir(parents=True)
    for number in range(3):
        (sample / f"{number}.bin").write_bytes(bytes(2000))
    command = ["create", "--input", tmp_path / "in", "--output", tmp_path / "a.shardpack"]
    command += ["--record-size-limit", "3KB"]
    run(*command, status=2)
    assert not (tmp_path / "a.shardpack").exists()
    run(*command, "--oversize", "split")
    data = (tmp_path / "a.shardpack").read_bytes()
    count, offsets = index_of(data)
    assert count == 3
    assert max(struct.unpack_from("<Q", data, offset)[0] for offset in offsets) <= 3000
    dataset = shardpack.open(tmp_path / "a.shardpack")
    assert len(dataset) == 1 and len(dataset[0]) == 3


def test_33_compression_by_entry_or_chunk(tmp_path):
    """33. --compression lz4, per entry or at chunk level."""
    sample = tmp_path / "in" / "sample"
    sample.mkdir(parents=True)
    (sample / "small.txt").write_bytes(b"small " * 100)
    (sample / "large.txt").write_bytes(b"large " * 1_000_000)
    output = tmp_path / "a.shardpack"
    run("create", "--input", tmp_path / "in", "--output", output, "--compression", "lz4")
    record = shardpack.open(output)[0]
    assert record["small.txt"].codec == record["large.txt"].codec == "lz4"
    assert record["large.txt"].is_chunked and not record["small.txt"].is_chunked
    assert record["large.txt"].read(3_000_000, 6) == b"large "
    # Each entry has its own.
    write_one(
        tmp_path / "b.shardpack",
        files={"a.txt": b"a" * 999, "b.txt": b"b" * 999},
        compression_of_files={"a.txt": "gzip", "b.txt": "lz4"},
    )
    record = shardpack.open(tmp_path / "b.shardpack")[0]
    assert (record["a.txt"].codec, record["b.txt"].codec) == ("gzip", "lz4")


def test_34_metadata_of_several_words(folder, tmp_path):
    """34. --metadata creator="MyName" training="true": several key=value words after one flag,
    stored at shard level."""
    output = tmp_path / "a.shardpack"
    words = ["--metadata", "creator=MyName", "training=true", "note=two words"]
    run("create", "--input", folder, *words, "--output", output)
    assert shardpack.open(output).metadata == {
        "creator": "MyName",
        "training": "true",
        "note": "two words",
    }


# --- Python


def test_35_import_and_open(shard):
    """35. import shardpack; dataset = shardpack.open(path)."""
    code = f"import shardpack; print(len(shardpack.open({str(shard)!r})))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "200\n", done.stderr


def test_36_records_iterates(shard):
    """36. dataset.records() iterates records."""
    assert sum(1 for _ in shardpack.open(shard).records()) == 200


def test_37_file_entries_iterates(shard):
    """37. record.file_entries() iterates entries."""
    record = next(iter(shardpack.open(shard).records()))
    assert [entry.name for entry in record.file_entries()] == record.names()


def test_38_content_types_compare(shard):
    """38. entry.content_type is a str comparable with ==."""
    entry = shardpack.open(shard)[0]["left.jpg"]
    assert type(entry.content_type) is str and entry.content_type == "image/jpeg"


def test_39_data_is_bytes_decompressed(tmp_path):
    """39. entry.data can be passed to json.loads and to an image decoder, already decompressed."""
    path = tmp_path / "a.shardpack"
    text = json.dumps({"words": ["word"] * 1000})
    write_one(path, files={"meta.json": text}, compression="lz4")
    entry = shardpack.open(path)[0]["meta.json"]
    assert entry.codec == "lz4" and type(entry.data) is bytes
    assert json.loads(entry.data) == json.loads(text)


def test_40_the_index_can_be_indexed(shard):
    """40. dataset.get_index() returns an indexable sequence of offsets; index[123] works."""
    index = shardpack.open(shard).get_index()
    assert index[123] == index_of(shard.read_bytes())[1][123]


def test_41_records_are_read_at_offsets(shard):
    """41. dataset.read_record_at_offset(offset) returns a record."""
    dataset = shardpack.open(shard)
    record = dataset.read_record_at_offset(dataset.get_index()[123])
    assert record.key == dataset[123].key


def test_42_records_have_keys(shard):
    """42. record.key."""
    assert f"Record key: {shardpack.open(shard)[0].key}" == "Record key: images17/image0"


# --- parallel and distributed


def test_43_a_shard_streams(shard):
    """43. A single shard can be streamed sequentially."""
    with open(shard, "rb") as file:
        keys = [record.key for record in shardpack.stream(file)]
    assert keys == shardpack.open(shard).keys()


def _keys_of_range(path, begin, end):
    return [record.key for record in shardpack.open(path)[begin:end]]


def test_44_workers_take_shards_or_ranges(many):
    """44. Several shards can be processed in parallel; a worker takes a shard file or a range of
    offsets."""
    paths = sorted(many.iterdir())
    with concurrent.futures.ProcessPoolExecutor(2) as workers:
        by_shard = list(workers.map(_keys_of_range, paths, [0] * 4, [None] * 4))
        by_range = list(workers.map(_keys_of_range, [paths[0]] * 3, [0, 10, 20], [10, 20, 30]))
    assert sum(by_shard, []) == shardpack.open(many).keys()
    assert sum(by_range, []) == by_shard[0]


def test_45_reads_and_writes_at_once(many, tmp_path):
    """45. Concurrent reads and writes, distributed training."""

    def write(number):
        write_one(tmp_path / f"out-{number:06}.shardpack", f"key{number}")

    def read(rank):
        loader = shardpack.open(many).loader(4, shuffle=True, rank=rank, world=3, remainder="keep")
        return [record.key for batch in loader for record in batch]

    with concurrent.futures.ThreadPoolExecutor(6) as threads:
        writes = [threads.submit(write, number) for number in range(6)]
        reads = [threads.submit(read, rank) for rank in range(3)]
        for write_done in writes:
            write_done.result()
        keys = sum((read_done.result() for read_done in reads), [])
    assert sorted(keys) == shardpack.open(many).keys()
    assert len(shardpack.open(tmp_path)) == 6


def test_46_many_workers_read_anywhere(many):
    """46. Random access must work from many workers at once."""
    dataset = shardpack.open(many)
    numbers = [number * 37 % 100 for number in range(400)]
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda number: dataset[number].key, numbers))
    assert found == [f"sample{number:03}" for number in numbers]
    with concurrent.futures.ProcessPoolExecutor(2) as workers:
        found = list(workers.map(dataset.find, found[:20]))
    assert found == numbers[:20]
