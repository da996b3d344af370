"""kill -9 of jobs of every kind: the same command completes them, until nothing of them is left.

20 kills for each kind of work; 200 with DOLIUM_LONG=1.
"""

import importlib
import shutil

import pytest

import job_works
import program
from job_works import WORKS
from killing import Worker
from test_kill_volume import kill_again_and_again


def test_every_kind_of_job_is_killed():
    kinds = job_works.kinds_of_jobs()
    assert len(kinds) >= 8
    assert set(job_works.TESTS) == kinds
    assert {kind for kind, *_ in WORKS.values()} <= kinds
    for module, test in job_works.TESTS.values():
        assert hasattr(importlib.import_module(module), test), (module, test)


@pytest.mark.parametrize("name", WORKS)
def test_the_same_command_completes(name, tmp_path):
    kind, prepare, command, last = WORKS[name]
    prepare(tmp_path)
    folder, complete = tmp_path / "target", tmp_path / "complete"
    sources = {path.name for path in tmp_path.iterdir()}

    def start():
        (folder if "/" in command[-1] else tmp_path).mkdir(exist_ok=True)
        arguments = [str(tmp_path / word) if is_path(word) else word for word in command]
        return Worker([program.PROGRAM, *arguments, "--jobs", "2"])

    def is_path(word):
        return word in sources or word.split("/")[0] == "target"

    def is_whole(folder):
        return (folder / last).exists() and not [*folder.rglob(".dolium*"), *folder.glob("*.dolium-*")]

    start().finish()
    assert (folder / last).exists()
    folder.rename(complete)
    for _ in kill_again_and_again(start, folder, complete, 40, is_whole):
        shutil.rmtree(folder)
