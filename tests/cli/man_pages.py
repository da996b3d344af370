#!/usr/bin/env python3
"""Compares docs/man with the pages that dolium makes of its table of verbs.

  tests/cli/man_pages.py --dolium build/dev/dolium            fails where a page differs
  tests/cli/man_pages.py --dolium build/dev/dolium --write    writes the pages
  tests/cli/man_pages.py --dolium build/dev/dolium --roff DIR writes roff pages, to install
"""

import argparse
import pathlib
import re
import subprocess
import sys

PAGES = pathlib.Path(__file__).resolve().parents[2] / "docs" / "man"


def output(program, *arguments):
    return subprocess.run([program, *arguments], check=True, capture_output=True).stdout


def make_pages(program, form):
    """Returns {name of the page without its end: text}."""
    overview = output(program, "--help").decode()
    listed = re.search(r"^verbs:\n((?:  .*\n)+)", overview, re.MULTILINE)
    verbs = re.findall(r"^  (\S+(?: \S+)?)  ", listed.group(1), re.MULTILINE)
    pages = {
        "dolium.1": output(program, "help", form),
        "shardpack.1": output(program, "help", form, "pack"),
    }
    for verb in verbs:
        words = verb.split()
        pages[f"dolium-{'-'.join(words)}.1"] = output(program, "help", form, *words)
    return pages


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dolium", required=True, type=pathlib.Path, help="the program")
    parser.add_argument("--write", action="store_true", help="write docs/man")
    parser.add_argument("--roff", type=pathlib.Path, help="write roff pages to this folder")
    arguments = parser.parse_args()
    program = arguments.dolium.resolve()

    if arguments.roff:
        arguments.roff.mkdir(parents=True, exist_ok=True)
        for name, text in make_pages(program, "--man").items():
            (arguments.roff / name).write_bytes(text)
        return

    pages = {f"{name}.md": text for name, text in make_pages(program, "--markdown").items()}
    there = {path.name: path.read_bytes() for path in PAGES.glob("*.md")}
    wrong = sorted(
        name for name in pages.keys() | there.keys() if pages.get(name) != there.get(name)
    )
    if arguments.write:
        PAGES.mkdir(parents=True, exist_ok=True)
        for name in wrong:
            if name in pages:
                (PAGES / name).write_bytes(pages[name])
            else:
                (PAGES / name).unlink()
            print(f"wrote docs/man/{name}" if name in pages else f"removed docs/man/{name}")
        return
    for name in wrong:
        print(f"docs/man/{name} differs from what dolium says; run: man_pages.py --write")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
