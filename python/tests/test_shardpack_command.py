"""The commands that the wheel installs: all of the C++ command, and Parquet."""

import pathlib
import re
import signal
import subprocess
import sys

import pytest

import dolium.__main__
import shardpack
import shardpack.__main__
from pack_makers import ROOT, TESTDATA

EXAMPLE = str(TESTDATA / "good" / "example.shardpack")


def run(*arguments, module="shardpack", **options):
    """The command in a process of its own, which it takes over."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, **options)


@pytest.mark.parametrize("package", [dolium, shardpack])
def test_the_wheel_has_an_entry_point(package):
    entry = re.search(rf'^{package.__name__} = "(.*):(.*)"$', (ROOT / "pyproject.toml").read_text(), re.M)
    main = package.__main__.main
    assert entry and entry.groups() == (main.__module__, main.__name__)


def test_ls_and_cat():
    assert run("ls", "--keys-only", EXAMPLE).stdout == b"images17/image194\nimages17/image195\n"
    assert run("cat", EXAMPLE, "images17/image194", "left.jpg").stdout == b"\xff\xd8LEFT\xff\xd9"
    assert b"images17/image194/left.jpg" in run("ls", EXAMPLE, module="dolium").stdout


def test_verify_and_repair(tmp_path):
    done = run("verify", EXAMPLE)
    assert done.returncode == 0 and b"good: 2 records, 4 entries" in done.stdout
    cut = tmp_path / "cut.shardpack"
    cut.write_bytes(pathlib.Path(EXAMPLE).read_bytes()[:-70])
    assert run("verify", cut).returncode == 1
    assert run("verify", "-", input=cut.read_bytes()).returncode == 1
    assert run("repair", cut, "-o", tmp_path / "good.shardpack").returncode == 0
    assert len(shardpack.open(tmp_path / "good.shardpack")) == 2


def test_verbs_that_python_has_no_functions_for(tmp_path):
    (tmp_path / "in").mkdir()
    for number in range(6):
        (tmp_path / "in" / f"{number}.txt").write_text(str(number))
    target = tmp_path / "t-000000.shardpack"
    made = run("create", "--group-by", "stem", "-i", tmp_path / "in", "-o", target, "--shard-records", 4)
    assert made.returncode == 0, made.stderr
    assert shardpack.open(tmp_path / "t-{000000..000001}.shardpack").keys() == list("012345")
    exported = run("export", "--to", "webdataset", target, tmp_path / "out.tar")
    assert exported.returncode == 0, exported.stderr
    assert run("import", "--from", "webdataset", tmp_path / "out.tar", tmp_path / "w.shardpack").returncode == 0
    assert shardpack.open(tmp_path / "w.shardpack").keys() == list("0123")
    for verb in ("info", "stats", "view"):
        assert run(verb, target).returncode == 0, verb
    assert b"usage: shardpack create" in run("create", "--help").stdout
    assert run("--version", module="dolium").stdout.decode().split()[-1] == dolium.__version__


def test_parquet_in_and_out(tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    table, target = tmp_path / "t.parquet", tmp_path / "s.shardpack"
    assert run("export", "--to", "parquet", EXAMPLE, table).returncode == 0
    assert pq.read_table(table)["key"].to_pylist() == ["images17/image194", "images17/image195"]
    assert run("import", "--from=parquet", "--key-column", "key", table, target).returncode == 0
    assert shardpack.open(target)["images17/image194"]["left.jpg"].data == b"\xff\xd8LEFT\xff\xd9"
    assert run("import", "--from", "parquet", "/no/such", tmp_path / "n.shardpack").returncode == 3


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["ls", "/no/such.shardpack"], 3, "no such file"),
        (["cat", EXAMPLE, "images17/image0", "x"], 1, "images17/image0"),
        (["ls", EXAMPLE, "--nothing"], 2, "--nothing"),
        (["nothing"], 2, "nothing"),
    ],
)
def test_failures_have_the_statuses_of_dolium(arguments, status, message):
    done = run(*arguments)
    assert done.returncode == status and message in done.stderr.decode()


def test_a_reader_that_is_gone_ends_it_as_it_does_other_programs():
    command = f'"{sys.executable}" -m dolium help convert | true; exit ${{PIPESTATUS[0]}}'
    status = subprocess.run(["bash", "-c", command]).returncode
    assert status in (0, 128 + signal.SIGPIPE)


def test_damaged_samples_are_left_out_on_request(tmp_path):
    source = tmp_path / "in.jsonl"
    source.write_text('{"id": 1}\nnothing\n{"id": 2}\n')
    with pytest.raises(dolium.CorruptError, match="line 2"):
        shardpack.plan_import(source, tmp_path / "a.shardpack", kind="jsonl").run()
    plan = shardpack.plan_import(source, tmp_path / "b.shardpack", kind="jsonl", skip_damaged=True)
    (left_out,) = plan.run().skipped
    assert left_out.message.startswith("line 2: ")
    assert shardpack.open(tmp_path / "b.shardpack").keys() == ["1", "2"]
