"""Sets of samples that several tests read, and where the tests' servers are."""

import json
import os
import pathlib
import sys

import shardpack

ROOT = pathlib.Path(__file__).resolve().parents[2]
TESTDATA = ROOT / "src" / "dolium" / "formats" / "shardpack" / "testdata"

sys.path.append(str(ROOT / "tests" / "support"))
# Servers of tests are on this machine.
os.environ["no_proxy"] = os.environ["NO_PROXY"] = "*"


def write_set(folder, count=100, shard_records=30, **options):
    """Numbered samples in numbered shards."""
    with shardpack.Writer(
        pathlib.Path(folder) / "train-000000.shardpack", shard_records=shard_records, **options
    ) as writer:
        for number in range(count):
            files = {"number.json": json.dumps(number), "text.txt": f"text of {number}" * 5}
            writer.write(f"sample{number:05}", files)
    return writer.shards


def number_of(record):
    return json.loads(record["number.json"].data)


def numbers_in(batches):
    return [number_of(record) for batch in batches for record in batch]
