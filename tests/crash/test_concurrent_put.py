"""Eight processes change neighbouring chunks of one shard at the same time: nothing is lost."""

import subprocess
import sys

import dolium

import sharded_sets
from sharded_sets import make_spec

PROCESSES = 8
CHANGES = 25

CHANGER = """
import sys
import dolium
folder, number = sys.argv[1], int(sys.argv[2])
container = dolium.open(folder)
print("ready", flush=True)
sys.stdin.readline()
for change in range(25):
    id = change * 8 + number
    container.put(id, b"%d by %d " % (id, number) * 20)
    if change % 5 == 4:
        container.remove(1000 + id)
"""


def test_nothing_is_lost(tmp_path):
    spec = make_spec((0, 2, 0), index="gzip")
    count = PROCESSES * CHANGES
    chunks = {1000 + id: b"before %d" % id for id in range(count)}
    dolium.write_sharded(tmp_path / "set", spec, chunks)
    for number in range(PROCESSES):
        for change in range(CHANGES):
            id = change * PROCESSES + number
            chunks[id] = b"%d by %d " % (id, number) * 20
            if change % 5 == 4:
                del chunks[1000 + id]
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", CHANGER, str(tmp_path / "set"), str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for number in range(PROCESSES)
    ]
    for process in processes:
        assert process.stdout.readline() == b"ready\n"
    for process in processes:
        process.stdin.write(b"go\n")
        process.stdin.flush()
    for process in processes:
        process.communicate()
        assert process.returncode == 0

    ours = dolium.open(tmp_path / "set")
    assert dict(ours.items()) == chunks
    report = ours.verify()
    assert (report.errors, report.warnings) == (0, 0)
    assert sharded_sets.leftovers(tmp_path / "set") == []
    dolium.write_sharded(tmp_path / "complete", spec, chunks)
    assert sharded_sets.shard_files(tmp_path / "set") == sharded_sets.shard_files(
        tmp_path / "complete"
    )
