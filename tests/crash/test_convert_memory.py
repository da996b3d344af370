"""The memory of a conversion is what --memory says, however small the chunks are."""

import pathlib
import subprocess
import time

import dolium
import pytest

import program

MEBI = 1 << 20
CHUNKS = 2_000_000
MEMORY = 96 * MEBI
# Of the program, two threads, and what the allocator keeps; and of each further thread, which has
# a compressor and buffers of its own.
BESIDE = 48 * MEBI
OF_A_THREAD = 2 * MEBI


def is_sanitized():
    return b"__asan_init" in pathlib.Path(program.PROGRAM).read_bytes()


def peak_memory(command):
    """Of a program, by what the system keeps of it until it ends."""
    peak = 0
    with subprocess.Popen(list(map(str, command))) as process:
        status = pathlib.Path(f"/proc/{process.pid}/status")
        while process.poll() is None:
            for line in status.read_text().splitlines():
                # Until it is the program, it is what it was forked from.
                if line.startswith("Name:") and line.split()[1] != "dolium":
                    break
                if line.startswith("VmHWM:"):
                    peak = int(line.split()[1]) * 1024
            time.sleep(0.002)
    assert process.returncode == 0
    return peak


@pytest.mark.skipif(is_sanitized(), reason="the sanitizer keeps what was freed")
@pytest.mark.parametrize("encoding", ["raw", "gzip"])
def test_small_chunks_take_no_more_than_the_limit(encoding, tmp_path):
    spec = dolium.ShardingSpec(
        preshift_bits=0, minishard_bits=10, shard_bits=0,
        data_encoding="raw" if encoding == "gzip" else "gzip",
    )
    items = ((id, (b"%020d" % (id * 7919)) * 10) for id in range(CHUNKS))
    dolium.write_sharded(tmp_path / "set", spec, items)
    # All chunks are encoded again: one shard, which spills, or several at once.
    for jobs, shard_bits in ((2, 0), (8, 3)):
        target = tmp_path / f"out{jobs}"
        peak = peak_memory([
            program.PROGRAM, "convert", "--memory", MEMORY, "--data-encoding", encoding,
            "--minishard-bits", 9, "--shard-bits", shard_bits, "--jobs", jobs,
            tmp_path / "set", target,
        ])
        assert MEMORY / 2 < peak < MEMORY + BESIDE + (jobs - 2) * OF_A_THREAD
        assert program.json_lines("verify", "--quick", target)[-1]["entries"] == CHUNKS
