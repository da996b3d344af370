"""The command that the wheel installs."""

import pathlib
import re
import subprocess
import sys

import pytest

import shardpack
from pack_makers import ROOT, TESTDATA
from shardpack.__main__ import main

EXAMPLE = str(TESTDATA / "good" / "example.shardpack")


def test_the_wheel_has_an_entry_point():
    entry = re.search(r'^shardpack = "(.*):(.*)"$', (ROOT / "pyproject.toml").read_text(), re.M)
    assert entry and entry.groups() == (main.__module__, main.__name__)


def test_ls_and_cat(capsysbinary):
    assert main(["ls", EXAMPLE]) == 0
    assert capsysbinary.readouterr().out == b"images17/image194\nimages17/image195\n"
    assert main(["cat", EXAMPLE, "images17/image194", "left.jpg"]) == 0
    assert capsysbinary.readouterr().out == b"\xff\xd8LEFT\xff\xd9"


def test_verify_and_repair(tmp_path, capsys):
    assert main(["verify", EXAMPLE]) == 0
    assert "good: 2 records, 4 entries, 0 errors" in capsys.readouterr().out
    cut = tmp_path / "cut.shardpack"
    cut.write_bytes(pathlib.Path(EXAMPLE).read_bytes()[:-70])
    assert main(["verify", str(cut)]) == 1
    assert main(["ls", str(cut)]) == 1
    assert "shardpack: ls: " in capsys.readouterr().err
    assert main(["repair", str(cut), "-o", str(tmp_path / "good.shardpack")]) == 0
    assert "2 records saved, 0 lost, 0 bytes of no use" in capsys.readouterr().out
    assert len(shardpack.open(tmp_path / "good.shardpack")) == 2

    # Joined, and with bytes missing in a record of the second.
    good = pathlib.Path(EXAMPLE).read_bytes()
    cut.write_bytes(good + good[:0x78] + good[0x80:])
    assert main(["repair", str(cut), "-o", str(tmp_path / "both.shardpack")]) == 1
    assert "3 records saved, 1 lost" in capsys.readouterr().out


def test_parquet_in_and_out(tmp_path, capsys):
    pq = pytest.importorskip("pyarrow.parquet")
    table, target = str(tmp_path / "t.parquet"), str(tmp_path / "s.shardpack")
    assert main(["export", "--to", "parquet", EXAMPLE, table]) == 0
    assert pq.read_table(table)["key"].to_pylist() == ["images17/image194", "images17/image195"]
    assert main(["import", "--from", "parquet", "--key-column", "key", table, target]) == 0
    assert shardpack.open(target)["images17/image194"]["left.jpg"].data == b"\xff\xd8LEFT\xff\xd9"


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["ls", "/no/such.shardpack"], 3, "no such file"),
        (["cat", EXAMPLE, "images17/image0", "x"], 1, "no 'images17/image0'"),
        (["cat", EXAMPLE, "images17/image194", "x"], 1, "x"),
        (["create", "-i", "x", "-o", "y"], 4, "shardpack: create: is a verb of the command that"),
    ],
)
def test_failures_have_the_statuses_of_dolium(arguments, status, message, capsys):
    assert main(arguments) == status
    assert message in capsys.readouterr().err


def test_wrong_usage_is_status_2():
    for arguments in ([], ["ls"], ["ls", EXAMPLE, "--nothing"], ["import", "--from", "tar", "a", "b"]):
        done = subprocess.run([sys.executable, "-m", "shardpack", *arguments], capture_output=True)
        assert done.returncode == 2 and done.stderr.startswith(b"usage: shardpack")
