"""A store at its limits: memory while the disk is slow, and disks that are full."""

import json
import pathlib
import random
import shutil
import subprocess
import sys

import pytest

import killing
import program
from small_disk import mounted

MEBI = 1 << 20


def cas(store, verb, *arguments, status=0):
    return program.run("cas", verb, "--store", store, *arguments, status=status)


def is_sanitized():
    return b"__asan_init" in pathlib.Path(program.PROGRAM).read_bytes()


def peak_memory(pid):
    """Of the program that the process runs now; what it was forked from does not count."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM"))


# What is slow, and for how many microseconds each time.
SLOW = {
    "fsync": {"fsync": 1_000_000},
    "writes": {"write,pwrite64,pwritev": 100_000},
    "both": {"fsync": 500_000, "write,pwrite64,pwritev": 60_000},
}


@pytest.mark.skipif(not killing.can_trace(), reason="strace cannot slow the disk down here")
@pytest.mark.skipif(is_sanitized(), reason="the sanitizer keeps what was freed")
@pytest.mark.parametrize("slow", SLOW.values(), ids=SLOW)
def test_memory_of_a_put_is_bounded_when_the_disk_is_slow(tmp_path, slow):
    """Each xorb waits for the disk for longer than the next ones need to get there."""
    store = tmp_path / "store"
    program.run("cas", "init", store)
    trace = ["strace", "-D", "-f", "-qq", "-o", "/dev/null", "--seccomp-bpf"]
    trace += ["-e", "trace=" + ",".join(slow)]
    for calls, delay in slow.items():
        trace += ["-e", f"inject={calls}:delay_enter={delay}"]
    put = [program.PROGRAM, "cas", "put", "--store", str(store), "--name", "n"]
    put += ["--memory", "32MiB", "--no-summary", "-"]
    block = random.Random(1).randbytes(16 * MEBI)
    with subprocess.Popen([*trace, *put], stdin=subprocess.PIPE) as process:
        for number in range(32):
            # Other bytes each time, and cheaply.
            process.stdin.write(bytes([number]).join(block[i :: 1024] for i in range(1024)))
        process.stdin.flush()
        peak = peak_memory(process.pid)
        process.stdin.close()
    assert process.returncode == 0
    assert 8 * MEBI < peak < 32 * MEBI + 32 * MEBI
    cas(store, "verify", "--deep")


@pytest.fixture
def small_disk(tmp_path):
    with mounted(tmp_path / "disk", "16m") as folder:
        yield folder


def fill(folder):
    """Leaves no byte free."""
    with (folder / "filler").open("wb", buffering=0) as file:
        for size in (MEBI, 4096, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                continue


# In a process of its own: what touches a page that the disk has no room for, ends it.
STAT = """
import json, sys
import dolium.cas
print(json.dumps(dolium.cas.Store(sys.argv[1]).stats()))
"""


@pytest.mark.parametrize("has_index", [True, False])
def test_full_disk(tmp_path, small_disk, has_index):
    """Everything that can be done is done, and the rest is an error."""
    store = small_disk / "store"
    program.run("cas", "init", store)
    source = tmp_path / "source"
    source.mkdir()
    for number in range(20):
        (source / str(number)).write_bytes(random.Random(number).randbytes(300_000))
    cas(store, "put", "--name", "n", source)
    cas(store, "put", "--name", "one", source / "3")
    if not has_index:
        shutil.rmtree(store / "index")
    fill(small_disk)
    whole = {path.name: path.read_bytes() for path in source.iterdir()}
    done = subprocess.run([sys.executable, "-c", STAT, store], capture_output=True, text=True)
    assert done.returncode == 0, done
    assert json.loads(done.stdout)["files"] == 21, done.stdout
    for verb in (["stats"], ["stats", "n"], ["ls", "n"], ["log"], ["diff", "n", "n"]):
        cas(store, *verb)
    out = tmp_path / "out"
    cas(store, "get", "n", "-o", out)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == whole
    assert b"0 errors, 0 damaged files" in cas(store, "verify", "--deep")
    assert b"0 errors, 0 damaged files" in cas(store, "verify", "--quick")
    for verb in (["reindex"], ["put", "--name", "more", source / "4"]):
        command = [program.PROGRAM, "cas", verb[0], "--store", store, *verb[1:]]
        failed = subprocess.run([*map(str, command)], capture_output=True)
        assert failed.returncode == 3, failed
        assert b"No space left" in failed.stderr
    # What makes room works.
    cas(store, "rm", "n")
    command = [program.PROGRAM, "cas", "gc", "--store", store, "--grace", "0s"]
    collected = subprocess.run([*map(str, command)], capture_output=True)
    assert collected.returncode == 0, collected
    assert b"no xorb was repacked: " in collected.stderr
    assert b"No space left" in collected.stderr
    (small_disk / "filler").unlink()
    cas(store, "gc", "--grace", "0s")
    used = sum(path.stat().st_size for path in (store / "xorbs").rglob("*.xorb"))
    assert used < 350_000
    cas(store, "verify", "--deep")
    cas(store, "put", "--name", "n", source)
    assert list((store / "leases").iterdir()) == []
