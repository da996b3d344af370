"""ShardPack at its limits: memory with many records."""

import os
import pathlib
import resource
import subprocess

import pytest

import program

MEBI = 1 << 20


def is_sanitized():
    return b"__asan_init" in pathlib.Path(program.PROGRAM).read_bytes()


@pytest.mark.skipif(is_sanitized(), reason="the sanitizer takes what it wants")
@pytest.mark.parametrize("options", [(), ("--keys", "--entry-index", "yes")], ids=["plain", "sections"])
@pytest.mark.parametrize("jobs", [1, 8, None], ids=["one-job", "eight-jobs", "default"])
def test_memory_of_verify_does_not_grow_with_the_records(tmp_path, options, jobs):
    """Some 170 bytes for each record would be needed to keep what is known of it."""
    lines = tmp_path / "samples.jsonl"
    with lines.open("w") as file:
        for number in range(500_000):
            file.write(f'{{"key": "k{number * 7919 % 500_000:06}", "files": [{{"name": "n", "text": "1"}}]}}\n')
    shard = tmp_path / "a.shardpack"
    program.run("pack", "import", "--from", "jsonl", *options, lines, shard)

    threads = jobs or os.cpu_count()
    most = (40 + 5 * (threads - 1)) * MEBI

    def limit():
        # Of threads, which count as a whole.
        resource.setrlimit(resource.RLIMIT_STACK, (MEBI, MEBI))
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))

    command = [program.PROGRAM, "pack", "verify", str(shard)]
    command += [] if jobs is None else ["--jobs", str(jobs)]
    done = subprocess.run(command, preexec_fn=limit, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "500,000 records" in done.stdout
