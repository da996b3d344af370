"""Runs that are killed go on where they were: no sample twice, none lost."""

import json
import random
import signal
import subprocess
import sys

import pytest

import shardpack
from pack_makers import numbers_in, write_set

# A run that writes down each batch and, now and then, its state: the number of batches written and
# the loader's. It reports each batch. It ends after two epochs, or waits there to be killed.
RUN = """
import json, os, random, signal, sys, time
import shardpack

folder, log, state_path, shuffle, batch_size, prefetch, end = sys.argv[1:]
loader = shardpack.open(folder).loader(
    int(batch_size), shuffle=json.loads(shuffle), seed=3, prefetch=int(prefetch),
    run_bytes=1500, window_runs=3,
)
if os.path.exists(state_path):
    state = json.load(open(state_path))
    loader.load_state_dict(state["loader"])
    os.truncate(log, state["log"])
out = open(log, "ab", buffering=0)
while True:
    for batch in loader:
        numbers = [json.loads(record["number.json"].data) for record in batch]
        out.write((json.dumps([loader.epoch, numbers]) + "\\n").encode())
        time.sleep(0.001)  # So that a kill comes amid them, as a rule.
        state = loader.state_dict()
        # One of the very end would begin a third epoch.
        has_more = state["epoch"] == 0 or state["position"] < state["total"]
        if has_more and random.random() < 0.3:
            with open(state_path + ".new", "w") as file:
                json.dump({"loader": state, "log": out.tell()}, file)
            os.replace(state_path + ".new", state_path)
        if end == "killed":
            print("batch", flush=True)
    if loader.epoch == 1:
        break
while end == "killed":
    print("at the end", flush=True)
    signal.pause()
"""


@pytest.mark.parametrize("shuffle", [True, "window"])
def test_killed_runs_go_on(tmp_path, shuffle):
    folder = tmp_path / "set"
    folder.mkdir()
    write_set(folder, 1000, shard_records=300)
    program, log, state = tmp_path / "run.py", tmp_path / "log", tmp_path / "state"
    program.write_text(RUN)
    log.touch()
    rng = random.Random(5)
    for attempt in range(7):
        # Each attempt has another batch size and reads ahead otherwise.
        command = [sys.executable, program, folder, log, state, json.dumps(shuffle)]
        command += [str(rng.choice([3, 4, 7])), str(rng.choice([0, 2, 5]))]
        is_killed = attempt < 6
        command.append("killed" if is_killed else "done")
        with subprocess.Popen(command, stdout=subprocess.PIPE) as run:
            if is_killed:
                # It goes on meanwhile, so the kill comes at any point after that batch.
                for _ in range(rng.randrange(1, 45)):
                    if run.stdout.readline() != b"batch\n":
                        break
                run.kill()
            assert run.wait() == (-signal.SIGKILL if is_killed else 0)
    epochs = {0: [], 1: []}
    for line in log.read_text().splitlines():
        epoch, numbers = json.loads(line)
        epochs[epoch] += numbers
    loader = shardpack.open(folder).loader(
        10, shuffle=shuffle, seed=3, run_bytes=1500, window_runs=3
    )
    assert epochs[0] == numbers_in(loader)
    assert epochs[1] == numbers_in(loader)
