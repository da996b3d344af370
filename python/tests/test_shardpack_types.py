"""What a type checker says of programs that use the package."""

import importlib.util
import subprocess
import sys

import pytest

TYPED = """
import shardpack

dataset = shardpack.open("train-{0..3}.shardpack", check="headers", cache="/tmp/c")
record: shardpack.Record = dataset[3]
records: list[shardpack.Record] = dataset[[1, 2]]
data: bytes = record["a.jpg"].data
maybe: shardpack.Record | None = dataset.get("key")
loader: shardpack.Loader = dataset.loader(8, shuffle="window", seed=1)
state: dict[str, int] = loader.state_dict()
for batch in shardpack.mix([(dataset, 0.5)], stop="all").loader(8):
    pass
for streamed in shardpack.stream("-"):
    name: str = streamed.file_entries()[0].name
with shardpack.Writer("a", compression="lz4") as writer:
    writer.write("key", {"x": b"1", "y": "text"}, metadata={"a": 1})
report: bool = bool(shardpack.verify("a"))
dataset.loader(8, shuffle="some")  # wrong
shardpack.open("a", check="maybe")  # wrong
shardpack.Writer("a", compression="rar")  # wrong
record["a"].data = b""  # wrong
"""


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed")
def test_mypy_understands_the_package(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(TYPED)
    command = [sys.executable, "-m", "mypy", "--no-error-summary", "program.py"]
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    wrong = [n for n, line in enumerate(TYPED.splitlines(), 1) if line.endswith("# wrong")]
    found = [int(line.split(":")[1]) for line in result.stdout.splitlines() if ": error:" in line]
    assert found == wrong, result.stdout + result.stderr
