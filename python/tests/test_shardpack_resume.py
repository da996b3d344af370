"""Runs that are killed go on where they were: no sample twice, none lost."""

import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest

import shardpack
from pack_makers import numbers_in, write_set

# A run that writes down each batch and, now and then, its state: the number of batches written and
# the loader's. It ends after two epochs.
RUN = """
import json, os, random, sys, time
import shardpack

folder, log, state_path, shuffle, batch_size, prefetch = sys.argv[1:]
loader = shardpack.open(folder).loader(
    int(batch_size), shuffle=json.loads(shuffle), seed=3, prefetch=int(prefetch),
    run_bytes=1500, window_runs=3,
)
if os.path.exists(state_path):
    state = json.load(open(state_path))
    loader.load_state_dict(state["loader"])
    os.truncate(log, state["log"])
out = open(log, "ab", buffering=0)
print("ready", flush=True)
while True:
    for batch in loader:
        numbers = [json.loads(record["number.json"].data) for record in batch]
        out.write((json.dumps([loader.epoch, numbers]) + "\\n").encode())
        time.sleep(0.001)
        if random.random() < 0.3:
            with open(state_path + ".new", "w") as file:
                json.dump({"loader": loader.state_dict(), "log": out.tell()}, file)
            os.replace(state_path + ".new", state_path)
    if loader.epoch == 1:
        break
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
    kills = 0
    for attempt in range(100):
        # Each attempt has another batch size and reads ahead otherwise.
        command = [sys.executable, program, folder, log, state, json.dumps(shuffle)]
        command += [str(rng.choice([3, 4, 7])), str(rng.choice([0, 2, 5]))]
        run = subprocess.Popen(command, stdout=subprocess.PIPE)
        run.stdout.readline()
        if attempt < 6:
            time.sleep(rng.uniform(0.02, 0.25))
            os.kill(run.pid, signal.SIGKILL)
        status = run.wait(timeout=60)
        run.stdout.close()
        if status == 0:
            break
        assert status == -signal.SIGKILL
        kills += 1
    assert kills > 0
    epochs = {0: [], 1: []}
    for line in log.read_text().splitlines():
        epoch, numbers = json.loads(line)
        epochs[epoch] += numbers
    loader = shardpack.open(folder).loader(
        10, shuffle=shuffle, seed=3, run_bytes=1500, window_runs=3
    )
    assert epochs[0] == numbers_in(loader)
    assert epochs[1] == numbers_in(loader)
