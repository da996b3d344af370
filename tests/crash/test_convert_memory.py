"""The memory of a conversion is what --memory says, however small the chunks are."""

import pathlib
import subprocess
import time

import dolium
import pytest

import program

MEBI = 1 << 20
CHUNKS = 1_200_000


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
    memory = 96 * MEBI
    peak = peak_memory([
        program.PROGRAM, "convert", "--memory", memory, "--data-encoding", encoding,
        "--minishard-bits", 9, "--shard-bits", 1, tmp_path / "set", tmp_path / "out",
    ])
    # All chunks are encoded again, and would take three times as much as the limit.
    assert memory / 2 < peak < 1.1 * memory + 32 * MEBI
    assert program.json_lines("verify", tmp_path / "out")[-1]["entries"] == CHUNKS
