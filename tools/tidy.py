#!/usr/bin/env python3
"""Runs clang-tidy over our sources, in parallel, and remembers what was clean.

usage: tidy.py BUILD [WORD]

BUILD is a build folder with a compile_commands.json; it need not be built. What is checked at
once is what is compiled at once: a unit of several sources, whose headers are then read once, or
a source by itself (DOLIUM_UNITY=0). Tests are left out: they run under the sanitizers. WORD limits
the run to sources whose path contains it. One is checked again only if it, a header of ours that
it includes, its compile command, .clang-tidy or the tool has changed since it last came out clean;
the record is BUILD/../tidy-cache.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

TOOL = "clang-tidy-19"
ROOT = pathlib.Path(__file__).resolve().parent.parent
NOT_CHECKED = re.compile(r"(_test|_fuzz|_benchmark)\.cc$|/testing/")


INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
INCLUDE_ROOTS = [ROOT / "src", ROOT / "apps", ROOT]


def files_of(source, includes):
    """The source and the headers of ours that it includes, directly or not."""
    found, waiting = set(), [source]
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found.add(path)
        if path not in includes:
            names = INCLUDE.findall(path.read_text(encoding="utf-8"))
            places = [root / name for name in names for root in INCLUDE_ROOTS]
            includes[path] = [place for place in places if place.is_file()]
        waiting += includes[path]
    return found


def sources_of(entry, build):
    """The sources of ours that are compiled by this command; none if it is for tests."""
    file = pathlib.Path(entry["file"])
    sources = [file]
    if file.parent == build / "units":
        sources = [ROOT / name for name in INCLUDE.findall(file.read_text(encoding="utf-8"))]
    elif file.is_relative_to(build) or not file.is_relative_to(ROOT):
        return []
    # Sources of a library that are compiled along are not ours, wherever it is installed.
    return [
        str(source)
        for source in sources
        if "site-packages" not in source.parts and not NOT_CHECKED.search(str(source))
    ]


def key_of(entry, files, common, contents):
    """A hash of all that decides the outcome for one source."""
    digest = hashlib.sha256(common)
    digest.update(entry["command"].encode())
    for path in sorted(files):
        if path not in contents:
            contents[path] = hashlib.sha256(path.read_bytes()).digest()
        digest.update(os.path.relpath(path, ROOT).encode() + contents[path])
    return digest.hexdigest()


def check(build, file):
    """Output of the tool and whether it was content."""
    # Without -Wno-error, warnings that only clang has would count; g++ is our judge of those. Some options
    # are for g++ alone.
    # A unit includes sources, which is what it is for.
    command = [TOOL, "--quiet", "-p", build, "--checks=-bugprone-suspicious-include"]
    command += ["--extra-arg=-Wno-error", "--extra-arg=-Wno-unused-command-line-argument", file]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    noise = re.compile(r"^\d+ (warnings?|errors?) |^Suppressed |^Use -header-filter|^Use -system")
    lines = (done.stdout + done.stderr).splitlines()
    return "\n".join(x for x in lines if not noise.match(x)), done.returncode == 0


def main(arguments):
    if not 1 <= len(arguments) <= 2:
        print(__doc__, file=sys.stderr)
        return 2
    build = pathlib.Path(arguments[0]).resolve()
    word = arguments[1] if len(arguments) > 1 else ""
    cache = build.parent / "tidy-cache"
    cache.mkdir(exist_ok=True)

    version = subprocess.run([TOOL, "--version"], check=True, capture_output=True).stdout
    common = version + (ROOT / ".clang-tidy").read_bytes()
    includes, contents, work = {}, {}, []
    entries = json.loads((build / "compile_commands.json").read_text())
    sources = [sources_of(entry, build) for entry in entries]
    chosen = [e for e, ours in zip(entries, sources) if any(word in name for name in ours)]
    for entry in chosen:
        files = files_of(pathlib.Path(entry["file"]), includes)
        stamp = cache / key_of(entry, files, common, contents)
        if not stamp.exists():
            work.append((entry["file"], stamp))
    if not chosen:
        print(f"tidy: no source matches {word!r}", file=sys.stderr)
        return 1

    bad = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = {pool.submit(check, build, file): (file, stamp) for file, stamp in work}
        for number, run in enumerate(concurrent.futures.as_completed(runs), 1):
            (file, stamp), (output, clean) = runs[run], run.result()
            name = os.path.relpath(file, ROOT)
            print(f"[{number}/{len(work)}] {name}", flush=True)
            if clean:
                stamp.touch()
            else:
                bad += 1
                print(output, flush=True)
    total = sum(map(len, sources))
    print(f"tidy: {total} sources in {len(chosen)} units, {len(work)} checked now, {bad} with findings")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
