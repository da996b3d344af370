#!/usr/bin/env python3
"""Fails on an include that points the wrong way between layers.

usage: check_layers.py [--self-test] [ROOT]

Reads every `#include` of a dolium header under src/, apps/ and python/. A file may include
its own layer and those above it in LAYERS; formats do not see each other; code that is not
a test does not use testing/; installed headers do not need headers that are not installed.
Faces (apps/ and python/) open a Source and ask for capabilities: they neither include the
headers of one format nor compare its name, but for what FACES_WITH_FORMATS and FAMILIES list, and
they call no opener of a class of domain/. The library does not know who reads its messages: no string
of src/ names an option or a command.
"""

import pathlib
import re
import sys
import tempfile

# Data flows down this list, includes point up it.
LAYERS = [
    "base",
    "bytes",
    "codec",
    "container",
    "formats/*",  # each format by itself
    "formats",  # formats/builtin.*, the one list of them
    "domain",
    "ops",
    "apps",
    "python",
]
LEAVES = {"apps", "python"}  # nothing may include these; they do not include each other
APPS = ("cli", "server")  # folders of apps/, which is their include root

# The one exception: the module has the command line in it.
COMMAND_IN_MODULE = ("python/src/command.cc", "cli/program.h")

GENERATED = {"fuzz_targets.inc"}  # by the build

# Which faces may include the headers of which formats: one file for each format binds the
# format's own values to Python.
FACES_WITH_FORMATS = {
    "python/src/formats/neuroglancer.cc": {"neuroglancer"},
    "python/src/formats/shardpack.cc": {"shardpack"},
    "python/src/formats/dvid.cc": {"dvid"},
    "python/src/formats/xet.cc": {"xet"},
}

# Faces that may depend on the name of a format: the verbs of one family.
FAMILIES = ("apps/cli/pack/", "apps/cli/volume/", "apps/cli/cas/")

# A comparison of a format's name, or of a kind of source, with anything; or of anything
# with the name of a format. Such a name in a string of its own, or a list of them.
FORMAT_WORD = r"(?:neuroglancer|files|shardpack|xet|dvid|precomputed)"
FORMAT_WORDS = rf'"{FORMAT_WORD}(?: {FORMAT_WORD})*"'
NAME_COMPARED = re.compile(
    r"\b(?:format_name|kind)\(\)\s*[!=]=|[!=]=\s*[\w.>()*-]*\b(?:format_name|kind)\(\)"
    rf"|[!=]=\s*{FORMAT_WORDS}|{FORMAT_WORDS}\s*[!=]="
)
NAME_LISTED = re.compile(FORMAT_WORDS)
GENERIC_VERBS = re.compile(r"apps/cli/[^/]+")  # the other folders are those of families
PROGRAM_NAMED = re.compile(r"\bkPackProgram = ")  # a program has the name of its format

# What opens a class of domain/ by a location; ops/source/ has the openers for faces.
OPENER_CALLED = re.compile(
    r"\b(?:volume::)?(?:Volume::Open(?:Export)?|DvidExport::Open|Scale::Open(?:With)?)\("
    r"|\bCasStore::Open\(|\bOpenSampleSet\(|\bshardpack::Shard::Open\w*\("
    r"|\b(?:Mesh|Skeleton)Source::Open\("
)

# A comment or a string; within a string, `--option` or a command of ours.
COMMENT_OR_STRING = re.compile(r'//.*|"(?:\\.|[^"\\])*"')
OPTION_NAMED = re.compile(r"(?<![\w-])--[a-z][\w-]*|(?:use|try): (?:dolium|shardpack) |`(?:dolium|shardpack) ")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SUFFIXES = {".h", ".cc"}


def layer_of(path):
    """(layer, format) of `dolium/...`, `cli/...` or `python/...`; None if unknown."""
    parts = pathlib.PurePosixPath(path).parts
    if parts[0] in APPS:
        return "apps", None
    if parts[0] == "python":
        return "python", None
    if parts[0] != "dolium" or len(parts) < 3:
        return None
    if parts[1] == "formats":
        is_one_format = len(parts) > 3 and parts[2] != "testing"
        return ("formats/*", parts[2]) if is_one_format else ("formats", None)
    return (parts[1], None) if parts[1] in LAYERS else None


def is_test_code(path):
    return "testing" in path.parts or path.stem.endswith(("_test", "_fuzz", "_benchmark"))


def fault(source, header):
    """Why `source` may not include `header` (both from the include root); None if it may."""
    to = layer_of(header)
    if to is None:
        return f'"{header}" belongs to no known layer ({", ".join(LAYERS)})'
    (from_layer, from_format), (to_layer, to_format) = layer_of(str(source)), to
    if LAYERS.index(to_layer) > LAYERS.index(from_layer):
        return f"{from_layer} is above {to_layer} and must not include it"
    if from_layer == to_layer and from_format != to_format:
        return f"format {from_format} must not include format {to_format}"
    if to_layer in LEAVES and to_layer != from_layer:
        if (str(source), str(header)) != COMMAND_IN_MODULE:
            return f"nothing outside {to_layer} may include it"
    header = pathlib.PurePosixPath(header)
    if "testing" in header.parts and not is_test_code(source):
        return "only tests may include testing/"
    if header.stem.endswith("_internal"):
        if (from_layer, from_format) != to:
            return "an _internal.h is for its own layer only"
        if source.suffix == ".h" and not (is_test_code(source) or source.stem.endswith("_internal")):
            return "an installed header must not need an _internal.h, which is not installed"
    return None


def face_fault(where, header):
    """Why the face `where` may not include `header`; None if it may."""
    to_layer, to_format = layer_of(header) or (None, None)
    if to_layer != "formats/*" or is_test_code(where):
        return None
    if to_format in FACES_WITH_FORMATS.get(where.as_posix(), ()):
        return None
    return f"a face asks ops for a capability: it must not include format {to_format}"


def is_family(where):
    """Whether the face `where` is that of one format or one family of them."""
    return where.as_posix().startswith((*FAMILIES, *FACES_WITH_FORMATS))


def is_name_used(where, line):
    """Whether a line of the face `where` makes something depend on a format's name."""
    code = COMMENT_OR_STRING.sub(lambda token: token.group() if token.group()[0] == '"' else "", line)
    if is_family(where) or PROGRAM_NAMED.search(code):
        return False
    is_generic = GENERIC_VERBS.fullmatch(where.as_posix())
    return bool(NAME_COMPARED.search(code) or (is_generic and NAME_LISTED.search(code)))


def option_named(line):
    """The option or command that a string of this line names; None if there is none."""
    for token in COMMENT_OR_STRING.findall(line):
        found = OPTION_NAMED.search(token) if token.startswith('"') else None
        if found:
            return found.group().strip()
    return None


def sources(root):
    """(file, its path from the include root) of every C++ file."""
    for top, include_root in (("src", "src"), ("apps", "apps"), ("python", ".")):
        for path in sorted((root / top).rglob("*")):
            if path.suffix in SUFFIXES and path.is_file():
                yield path, pathlib.PurePosixPath(path.relative_to(root / include_root).as_posix())


def check(root):
    """The faults of a tree as `file:line: reason`, and how many includes were looked at."""
    faults, seen = [], 0
    for path, source in sources(root):
        where = path.relative_to(root)
        if layer_of(str(source)) is None:
            faults.append(f'{where}:1: "{source}" belongs to no known layer ({", ".join(LAYERS)})')
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            is_face = where.parts[0] in LEAVES
            if is_face and not is_test_code(where) and is_name_used(where, line):
                faults.append(f"{where}:{number}: a face must not branch on a format's name")
            opener = OPENER_CALLED.search(line) if is_face and not is_test_code(where) else None
            if opener:
                called = opener.group().rstrip("(")
                faults.append(f"{where}:{number}: a face opens through ops/source/, not by {called}")
            match = INCLUDE.match(line)
            if not match:
                option = None if is_face or is_test_code(where) else option_named(line)
                if option:
                    faults.append(f"{where}:{number}: a message names {option}; use a Hint")
                continue
            bracket, header = match.groups()
            ours = header.split("/")[0] in ("dolium", "python", *APPS)
            reason = None
            if ours:
                seen += 1
                reason = fault(source, header)
                if not reason and is_face:
                    reason = face_fault(where, header)
                if bracket == "<":
                    reason = f'our headers are included with quotes: "{header}"'
            elif bracket == '"' and header not in GENERATED:
                reason = f'"{header}" must be named from the root: "dolium/<layer>/..."'
            if reason:
                faults.append(f"{where}:{number}: {reason}")
    return faults, seen


SELF_TEST = [
    # file, include line, words of the expected reason (None: allowed)
    ("src/dolium/bytes/a.cc", '#include "dolium/base/x.h"', None),
    ("src/dolium/bytes/b.cc", '#include "dolium/bytes/x.h"', None),
    ("src/dolium/bytes/c.cc", '#include "dolium/codec/x.h"', "bytes is above codec"),
    ("src/dolium/bytes/d.cc", '  #  include "dolium/ops/x.h"', "bytes is above ops"),
    ("src/dolium/bytes/e.cc", "#include <dolium/base/x.h>", "with quotes"),
    ("src/dolium/bytes/f.cc", '#include "../codec/x.h"', "from the root"),
    ("src/dolium/bytes/g.cc", "#include <vector>", None),
    ("src/dolium/bytes/h.cc", '#include "dolium/nowhere/x.h"', "no known layer"),
    ("src/dolium/bytes/i.cc", '#include "dolium/bytes/testing/x.h"', "only tests"),
    ("src/dolium/bytes/i_test.cc", '#include "dolium/bytes/testing/x.h"', None),
    ("src/dolium/bytes/j.h", '#include "dolium/bytes/x_internal.h"', "not installed"),
    ("src/dolium/bytes/j.cc", '#include "dolium/bytes/x_internal.h"', None),
    ("src/dolium/codec/k.cc", '#include "dolium/bytes/x_internal.h"', "own layer only"),
    ("src/dolium/formats/one/a.cc", '#include "dolium/formats/one/x.h"', None),
    ("src/dolium/formats/one/b.cc", '#include "dolium/formats/two/x.h"', "must not include format two"),
    ("src/dolium/formats/one/c.cc", '#include "dolium/formats/builtin.h"', "formats/* is above formats"),
    ("src/dolium/formats/builtin.cc", '#include "dolium/formats/two/x.h"', None),
    ("src/dolium/domain/volume/a.cc", '#include "dolium/formats/builtin.h"', None),
    ("src/dolium/domain/volume/b.cc", '#include "dolium/ops/x.h"', "domain is above ops"),
    ("src/dolium/ops/a.cc", '#include "dolium/container/x.h"', None),
    ("src/dolium/ops/b.cc", '#include "cli/x.h"', "ops is above apps"),
    ("src/dolium/misc/a.cc", "#include <vector>", "no known layer"),
    ("src/dolium/ops/c.cc", 'return Exists("it is there; --force replaces it");', "names --force"),
    ("src/dolium/ops/d.cc", 'F("a \\"b\\" c", "--to-spec");  // x', "names --to-spec"),
    ("src/dolium/ops/e.cc", 'return Unsupported("not here; use: dolium cat");', "use a Hint"),
    ("src/dolium/ops/i.cc", 'F("{}: made of samples; use: shardpack create, "', "use a Hint"),
    ("src/dolium/ops/j.cc", 'F("lost; `dolium reindex` writes one");', "use a Hint"),
    ("src/dolium/ops/f.cc", "--count;  // as --force says: \"--force\"", None),
    ("src/dolium/ops/g.cc", 'F("a -- b", "a--b", "---", "x --> y");', None),
    ("src/dolium/ops/h_test.cc", 'F("--force");', None),
    ("apps/cli/h.cc", 'F("--force");', None),
    ("apps/cli/a.cc", '#include "dolium/ops/x.h"', None),
    ("apps/cli/b.cc", '#include "cli/terminal/x.h"', None),
    ("apps/cli/c.cc", '#include "dolium/formats/builtin.h"', None),
    ("apps/cli/d.cc", '#include "dolium/formats/xet/x.h"', "must not include format xet"),
    ("apps/cli/d_test.cc", '#include "dolium/formats/xet/x.h"', None),
    ("apps/cli/cas/a.cc", '#include "dolium/formats/xet/x.h"', "must not include format xet"),
    ("apps/cli/cas/d.cc", '#include "dolium/ops/cas/x.h"', None),
    ("apps/cli/cas/b.cc", '#include "dolium/formats/dvid/x.h"', "must not include format dvid"),
    ("apps/cli/e.cc", 'if (c.format_name() == "dvid") {}', "branch on a format's name"),
    ("apps/cli/f.cc", 'if ("dvid" != (*c)->format_name()) {}', "branch on a format's name"),
    ("apps/cli/g.cc", "Show(c.format_name());", None),
    ("apps/cli/k.cc", 'if (source->kind() == "volume") {}', "branch on a format's name"),
    ("apps/cli/l.cc", 'constexpr std::string_view kTargets = "neuroglancer files";', "branch on a format's name"),
    ("apps/cli/m.cc", 'OnlyFor(option, "neuroglancer"),', "branch on a format's name"),
    ("apps/cli/n.cc", 'if (to == "dvid") {}', "branch on a format's name"),
    ("apps/cli/p.cc", '// "neuroglancer or files" for "neuroglancer files".', None),
    ("apps/cli/o.cc", '.examples = {"dolium convert --to dvid seg export"},', None),
    ("apps/cli/m_test.cc", 'VerbHelp(convert, "dvid");', None),
    ("apps/cli/volume/k.cc", 'if (to == "dvid") {}', None),
    ("python/src/f.cc", 'if (to == "dvid") {}', "branch on a format's name"),
    ("python/src/g.cc", 'out["files"] = report.files;', None),
    ("python/src/h.cc", 'if (row.kind() != kSet) {}', "branch on a format's name"),
    ("apps/cli/volume/i.cc", "const auto v = volume::Volume::Open(location);", "not by volume::Volume::Open"),
    ("apps/cli/volume/j.cc", "OpenVolume(location);", None),
    ("apps/cli/volume/j_test.cc", "volume::Volume::Open(location);", None),
    ("apps/cli/cas/c.cc", "return cas::CasStore::Open(path);", "not by CasStore::Open"),
    ("python/src/e.cc", "dataset::OpenSampleSet(texts);", "not by OpenSampleSet"),
    ("src/dolium/ops/k.cc", "return cas::CasStore::Open(path);", None),
    ("python/src/formats/xet.cc", '#include "dolium/formats/xet/x.h"', None),
    ("python/src/formats/dvid.cc", '#include "dolium/formats/xet/x.h"', "must not include format xet"),
    ("python/src/formats/xet.h", '#include "dolium/formats/xet/x.h"', "must not include format xet"),
    ("python/src/c.cc", '#include "dolium/formats/xet/x.h"', "must not include format xet"),
    ("python/a.cc", '#include "dolium/ops/x.h"', None),
    ("python/b.cc", '#include "cli/x.h"', "nothing outside apps"),
    ("python/src/command.cc", '#include "cli/program.h"', None),
    ("python/src/d.cc", '#include "cli/program.h"', "nothing outside apps"),
]


def self_test():
    """Plants every case of SELF_TEST in a fresh tree; returns what went otherwise."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, line, _ in SELF_TEST:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text("\n" + line + "\n", encoding="utf-8")
        found = {fault.split(":")[0]: fault for fault in check(root)[0]}
    wrong = []
    for name, line, expected in SELF_TEST:
        got = found.get(name)
        if (expected is None) != (got is None) or (expected and expected not in got):
            wrong.append(f"self-test: {name}: {line}: expected {expected!r}, got {got!r}")
    return wrong


def main(arguments):
    if arguments == ["--self-test"]:
        wrong = self_test()
        print("\n".join(wrong) or f"check_layers: all {len(SELF_TEST)} planted cases are judged right")
        return 1 if wrong else 0
    if len(arguments) > 1 or (arguments and arguments[0].startswith("-")):
        print(__doc__, file=sys.stderr)
        return 2
    root = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).parent.parent)
    faults, seen = check(root.resolve())
    if not seen:
        faults.append(f"{root}: no include of ours found; is this the project's root?")
    print("\n".join(faults) or f"check_layers: {seen} includes point the right way")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
