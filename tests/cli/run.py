#!/usr/bin/env python3
"""Runs the golden cases of the command line.

A case is a folder tests/cli/<verb>/<case>/ with case.sh, which bash runs in a fresh
temporary folder with dolium first in PATH and the functions of tests/cli/helpers.sh, and
what must come of it: case.stdout, case.stderr, case.exit. Files that are not there stand
for no output and exit status 0. The path of the temporary folder reads $TMP.

  tests/cli/run.py --dolium build/dev/dolium             all cases
  tests/cli/run.py --dolium build/dev/dolium verify/     those whose name contains verify/
  tests/cli/run.py --dolium build/dev/dolium --update    writes down what came out: read it
"""

import argparse
import concurrent.futures
import difflib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TIMEOUT_SECONDS = 120


def run_case(case, bin_folder):
    """Returns {"stdout": bytes, "stderr": bytes, "exit": bytes}."""
    # resolve(): messages show the path that the kernel gives.
    with tempfile.TemporaryDirectory(prefix="dolium-case-") as name:
        folder = pathlib.Path(name).resolve()
        environment = {
            "PATH": f"{bin_folder}:{os.environ['PATH']}",
            "HOME": str(folder),
            "TMPDIR": str(folder),
            "LC_ALL": "C.UTF-8",
            "CASE": str(case),
        }
        for variable in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LSAN_OPTIONS"):
            if variable in os.environ:
                environment[variable] = os.environ[variable]
        script = f'source "{HERE}/helpers.sh"; source "{case}/case.sh"'
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )

        def normalise(output):
            return output.replace(str(folder).encode(), b"$TMP")

        return {
            "stdout": normalise(done.stdout),
            "stderr": normalise(done.stderr),
            "exit": f"{done.returncode}\n".encode(),
        }


def expected(case, name):
    path = case / f"case.{name}"
    if path.exists():
        return path.read_bytes()
    return b"0\n" if name == "exit" else b""


def differences(case, results):
    lines = []
    for name, actual in results.items():
        wanted = expected(case, name)
        if actual == wanted:
            continue
        lines += difflib.unified_diff(
            wanted.decode(errors="backslashreplace").splitlines(),
            actual.decode(errors="backslashreplace").splitlines(),
            f"expected {name}",
            f"actual {name}",
            lineterm="",
        )
        if not lines:
            lines.append(f"{name} differs in its line ends")
    return lines


def update(case, results):
    for name, actual in results.items():
        path = case / f"case.{name}"
        if actual == (b"0\n" if name == "exit" else b""):
            path.unlink(missing_ok=True)
        else:
            path.write_bytes(actual)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dolium", required=True, type=pathlib.Path, help="the program")
    parser.add_argument("--update", action="store_true", help="write down what came out")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("filter", nargs="?", default="")
    arguments = parser.parse_args()

    program = arguments.dolium.resolve()
    if not os.access(program, os.X_OK):
        sys.exit(f"run.py: {program}: no such program")
    cases = [
        script.parent
        for script in sorted(HERE.glob("*/*/case.sh"))
        if arguments.filter in str(script.parent.relative_to(HERE))
    ]
    if not cases:
        sys.exit(f"run.py: no case matches \"{arguments.filter}\"")

    failed = 0
    bin_folder = pathlib.Path(tempfile.mkdtemp(prefix="dolium-bin-"))
    try:
        for name in ("dolium", "shardpack"):
            (bin_folder / name).symlink_to(program)
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            runs = [(case, pool.submit(run_case, case, bin_folder)) for case in cases]
            for case, run in runs:
                name = case.relative_to(HERE)
                try:
                    results = run.result()
                except subprocess.TimeoutExpired:
                    failed += 1
                    print(f"FAIL {name}\n    took more than {TIMEOUT_SECONDS} seconds")
                    continue
                lines = differences(case, results)
                if not lines:
                    continue
                if arguments.update:
                    update(case, results)
                    print(f"updated {name}")
                    continue
                failed += 1
                print(f"FAIL {name}")
                print("\n".join("    " + line for line in lines))
    finally:
        shutil.rmtree(bin_folder)
    print(f"{len(cases) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
