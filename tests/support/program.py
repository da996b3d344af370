"""The dolium program, as a test runs it."""

import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("DOLIUM", str(ROOT / "build" / "release" / "dolium"))


def run(*arguments, status=0, stdin=None, env=None):
    """Runs it, checks the exit status, and returns standard output as bytes."""
    command = [PROGRAM, *map(str, arguments)]
    done = subprocess.run(
        command,
        input=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=None if env is None else {**os.environ, **env},
    )
    assert done.returncode == status, (
        f"{' '.join(command)}: exit status {done.returncode}, expected {status}\n"
        f"{done.stdout[-2000:].decode(errors='replace')}\n"
        f"{done.stderr[-4000:].decode(errors='replace')}"
    )
    return done.stdout


def json_lines(*arguments, status=0):
    """The objects that a verb prints with --json."""
    text = run(*arguments, "--json", status=status)
    return [json.loads(line) for line in text.splitlines()]
