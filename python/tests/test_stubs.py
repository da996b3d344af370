"""The stub of the extension module says what is there, and no more."""

import ast
import importlib.util
import inspect
import pathlib
import re
import subprocess
import sys

import pytest

import dolium
from dolium import _core

STUB = pathlib.Path(__file__).parents[1] / "dolium" / "_core.pyi"
# Members that every class has, whether or not it defines them itself.
COMMON = {"__doc__", "__module__", "__new__", "__weakref__"}


def stub_names():
    """Name of each public function and class, to its parameters or members."""
    names = {}
    for node in ast.parse(STUB.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            names[node.name] = parameters(node)
        elif isinstance(node, ast.ClassDef):
            names[node.name] = {
                member.name: parameters(member)
                for member in node.body
                if isinstance(member, ast.FunctionDef)
            }
    return names


def parameters(node):
    arguments = node.args
    every = arguments.posonlyargs + arguments.args + arguments.kwonlyargs
    return [argument.arg for argument in every]


def documented_parameters(function):
    """Those that nanobind writes into the first line of a docstring."""
    signature = function.__doc__.splitlines()[0].partition(" -> ")[0]
    tree = ast.parse("def " + re.sub(r"^\w+", "f", re.sub(r"\\|<[^>]*>", "0", signature)) + ": ...")
    names = parameters(tree.body[0])
    # The others are those of the rows of targets.
    return names + TARGET_PARAMETERS if tree.body[0].args.kwarg else names


# In the order of the stub, which groups them.
TARGET_PARAMETERS = [
    name for name in stub_names()["convert"] if name in set(_core.target_parameters())
]


def test_the_stub_names_what_the_module_has():
    public = {name for name in dir(_core) if not name.startswith("_")}
    assert set(stub_names()) == public


def test_the_stub_names_the_members_of_each_class():
    for name, members in stub_names().items():
        if not isinstance(members, dict):
            continue
        own = set(vars(getattr(_core, name))) - COMMON
        if issubclass(getattr(_core, name), Exception):
            continue
        missing = {member for member in own - set(members) if not member.startswith("__")}
        assert missing == set(), name
        for member in members:
            assert hasattr(getattr(_core, name), member), f"{name}.{member}"


def test_the_stub_has_the_parameters_of_the_module():
    checked = 0
    for name, members in stub_names().items():
        thing = getattr(_core, name)
        if isinstance(members, list):
            assert documented_parameters(thing) == members, name
            checked += 1
            continue
        for member, expected in members.items():
            function = inspect.getattr_static(thing, member)
            if type(function).__name__ != "nb_method" or member.startswith("__"):
                continue
            assert documented_parameters(function) == expected, f"{name}.{member}"
            checked += 1
    assert checked > 20


def test_the_stub_has_all_parameters_of_targets():
    assert sorted(TARGET_PARAMETERS) == _core.target_parameters()
    assert "minishard_bits" in TARGET_PARAMETERS and "scales" in TARGET_PARAMETERS


def test_the_package_exports_what_it_lists():
    for name in dolium.__all__:
        assert hasattr(dolium, name)
    assert sorted(dolium.__all__) == dolium.__all__
    assert re.fullmatch(r"\d+\.\d+\.\d+", dolium.__version__)


def test_open_has_the_defaults_of_the_class():
    package = inspect.signature(dolium.open).parameters
    assert list(package) == stub_names()["Container"]["__init__"][1:]
    assert package["cache_bytes"].default == 256 << 20


# What stubtest has against every module of nanobind: its functions and classes are of its own
# types, which the tests above look into instead.
OF_NANOBIND = re.compile(
    r"is not a function|metaclass differs|disjoint base|stub is a staticmethod"
    r"|__init__ is inconsistent, stub does not have \*"
)


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed")
def test_stubtest_agrees(tmp_path):
    command = [sys.executable, "-m", "mypy.stubtest", "--concise", "dolium._core"]
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    lines = [line for line in result.stdout.splitlines() if line.startswith("dolium")]
    assert lines, result.stdout + result.stderr
    assert [line for line in lines if not OF_NANOBIND.search(line)] == []


TYPED = """
import concurrent.futures
import dolium
import numpy as np

volume = dolium.Volume.open("v", scale=1)
shape: tuple[int, ...] = volume.shape
box: tuple[tuple[int, int, int], tuple[int, int, int]] = volume.bounds
spec: dolium.ShardingSpec | None = volume.sharding
array = np.asarray(volume[0:5, ..., 3])
volume[...] = array
arrays: list[np.ndarray] = volume.read_many([box, np.s_[1:2]], missing="error")
view: dolium.VolumeArray = volume.scale(2).zero_based()
plan = dolium.volume.plan_transcode(volume, "w", encoding="jpeg", quality=3)
report: dolium.VolumeReport = plan.run(concurrent.futures.ThreadPoolExecutor())
volume.read(missing="ignore")  # wrong
dolium.Volume.create("v", shape=(1, 2, 3))  # wrong
dolium.volume.plan_ingest("v", "w", encoding="gif")  # wrong
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
    command = [sys.executable, "-m", "mypy", "--no-error-summary", "-p", "dolium", "-p", "shardpack"]
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert result.stdout == "", result.stdout + result.stderr
