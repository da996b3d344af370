#!/usr/bin/env python3
"""Fails on a word that the project says in another way: one word for one thing.

usage: check_words.py [--self-test] [ROOT]

Reads sources, documents and help texts, but no decisions and no results (they are of their day),
no test data and no tests. Each row of WORDS is what is not said, and what is said instead. A word
that a format's own specification has wins; rows are written so that they leave it alone.
"""

import pathlib
import re
import sys
import tempfile

WORDS = [
    (r"(?<!\.)\b(?:tells?|told)\b(?!\()", "report, return, say or distinguish"),
    (r"\banew\b", "again, or rebuild"),
    (r"\bheed(?:s|ed)?\b", "check, honour or follow"),
    (r"\bis_(?:far|near)\w*|\b(?!so_far)\w+_(?:far|near)\b", "remote, local"),
    (r"\b[Ee]xports? of DVID\b", "DVID export"),
    (r"\bTakenOf\b", "ChunkIntersection"),
    (r"\b[Ll]ent\b|\bLent[A-Z]\w*", "borrowed, Reservation"),
    (r"\bLearn[A-Z]\w*", "Load..., Parse..."),
    (r"\b[Ss]et aside\b", "quarantine, or reserve"),
    (r"\b(?!meshopt_)\w*Borders?\b", "boundaries"),
    (r"\bCheckApart\w*", "CheckDisjoint..."),
    (r"\bLookInto\w*", "InspectFolder"),
    (r"\bseen_files\b", "stat cache"),
    (r"\bknown_steps\b", "predecoded"),
    (r"\bsurest\b", "best match, score"),
    (r"\bwithout a word\b", "silently"),
    (r"\bmend(?:s|ed|ing)?\b", "repair"),
    (r"\bstrays?\b", "orphan"),
    (r"\btwins?\b", "duplicate"),
    (r"\b[Pp]ieces?\b|\b\w+Piece\b|\bPiece\w+", "chunk, segment or range"),
    (r"\b(?:response|record|all|HTTP) heads\b|\b(?:Check|On|Show|Parse|Read)Head\b|\b\w+Heads\b", "headers"),
    (r"\bhome_\b|\bHomeOf\b|[ (&*]home[;,)]", "job folder"),
    (r"\bkeeper\w*", "owner"),
    (r"\bstruct \w*Place\b|\bclass \w*Place\b", "ChunkLocation, Destination"),
    (r"\bBring\(|\bLook\(\)", "Sync, Snapshot"),
    (r"\bbids?\b", "score"),
    (r"\bExportOptions\b", "DvidReadOptions, or what is exported"),
]
COMPILED = [(re.compile(pattern), instead) for pattern, instead in WORDS]

PLACES = ("src", "apps", "python", "docs", "cmake", "bench", "tools")
PAGES = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
SUFFIXES = {".h", ".cc", ".py", ".pyi", ".md", ".cmake"}


def is_read(path):
    parts = path.parts
    if {"decisions", "results", "testdata", "testing", "tests"} & set(parts):
        return False
    if path.name == "check_words.py":
        return False
    return path.suffix in SUFFIXES and not path.stem.endswith(("_test", "_benchmark"))


def files(root):
    for place in PLACES:
        yield from (p for p in sorted((root / place).rglob("*")) if p.is_file())
    yield from (root / page for page in PAGES if (root / page).is_file())


def check(root):
    faults, seen = [], 0
    for path in files(root):
        where = path.relative_to(root)
        if not is_read(where):
            continue
        seen += 1
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for pattern, instead in COMPILED:
                found = pattern.search(line)
                if found:
                    faults.append(f'{where}:{number}: "{found.group()}": say {instead}')
    return faults, seen


SELF_TEST = [
    # file, line, the word that is found (None: none)
    ("src/a.h", "// What the index tells of it.", "tells"),
    ("src/b.h", "const uint64_t at = file.tell();", None),
    ("src/c_test.cc", "// as it is told", None),
    ("src/d.cc", "size_t EntryBorders();", "EntryBorders"),
    ("src/e.cc", "constexpr size_t kCopyPiece = 1;", "kCopyPiece"),
    ("docs/f.md", "An export of DVID is read.", "export of DVID"),
    ("docs/decisions/0001-g.md", "An export of DVID is read.", None),
    ("docs/h.md", "The DVID export is read; a silent file is near.", None),
    ("python/src/i.cc", "if (is_near_end) {}", "is_near_end"),
    ("src/k.cc", "uint64_t so_far = 0;", None),
    ("README.md", "Bytes are set aside.", "set aside"),
    ("apps/cli/j.cc", 'Line("made of headers");', None),
    ("src/l.h", "virtual bool OnHead(int line);", "OnHead"),
    ("src/m.h", "enum class Method { kGet, kHead };", None),
    ("src/n.cc", "const Location& home, int b", " home,"),
    ("src/o.h", "struct FilePlace {", "struct FilePlace"),
    ("src/p.cc", "std::optional<int> bid = Ask();", "bid"),
    ("src/q.h", "Stamp Look();", "Look()"),
    ("python/dolium/r.py", "as it is told", "told"),
    ("python/tests/s.py", "as it is told", None),
]


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, line, _ in SELF_TEST:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(line + "\n", encoding="utf-8")
        found = {fault.split(":")[0]: fault for fault in check(root)[0]}
    wrong = []
    for name, line, expected in SELF_TEST:
        got = found.get(name)
        if (expected is None) != (got is None) or (expected and f'"{expected}"' not in got):
            wrong.append(f"self-test: {name}: {line}: expected {expected!r}, got {got!r}")
    return wrong


def main(arguments):
    if arguments == ["--self-test"]:
        wrong = self_test()
        print("\n".join(wrong) or f"check_words: all {len(SELF_TEST)} planted lines are judged right")
        return 1 if wrong else 0
    if len(arguments) > 1 or (arguments and arguments[0].startswith("-")):
        print(__doc__, file=sys.stderr)
        return 2
    root = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).parent.parent)
    faults, seen = check(root.resolve())
    if not seen:
        faults.append(f"{root}: nothing to read; is this the project's root?")
    print("\n".join(faults) or f"check_words: {seen} files have the words of the project")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
