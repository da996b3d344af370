"""`--json`: every verb, run on an example, prints what docs/json.md says, and nothing else."""

import json
import os
import pathlib
import re
import subprocess

import numpy as np
import pytest

import program

DOCUMENT = program.ROOT / "docs" / "json.md"
PAGES = program.ROOT / "docs" / "man"

# Commands for each verb, in folders that `example` makes; each prints at least one line.
EXAMPLES = {
    "formats": ["formats"],
    "info": ["info set", "info volume", "info a.shardpack", "info - < shard.mdb", "info store"],
    "ls": ["ls set", "ls files", "ls - < shard.mdb"],
    "cat": ["cat -o out.bin set 3"],
    "verify": ["verify set", "verify volume", "verify damaged", "verify odd", "verify - < shard.mdb"],
    "convert": ["convert set copy", "convert volume copy-volume", "convert --to dvid labels export"],
    "task": ["task {task}"],
    "put": ["put set 99 files/1"],
    "rm": ["rm set 2 99"],
    "reindex": ["reindex export"],
    "stats": ["stats set", "stats store", "stats - < shard.mdb"],
    "volume ingest": ["volume ingest --chunk-size 32,32,32 array.npy new-volume"],
    "volume downsample": ["volume downsample --rebuild new-volume"],
    "volume transcode": ["volume transcode --encoding png volume png"],
    "volume drop-scale": ["volume drop-scale new-volume 1"],
    "volume cutout": ["volume cutout volume -o box.npy"],
    "volume info": ["volume info volume"],
    "volume stats": ["volume stats volume"],
    "volume verify": ["volume verify volume"],
    "volume preview": ["volume preview volume -o preview.png"],
    "volume properties": ["volume properties -o properties labels"],
    "properties export": ["properties export properties properties.csv"],
    "properties import": ["properties import properties.csv more-properties"],
    "annotations import": ["annotations import points.csv points"],
    "annotations export": ["annotations export points exported.csv"],
    "annotations query": ["annotations query --box :,:,: points", "annotations query --id 0 points"],
    "annotations info": ["annotations info points"],
    "annotations ls": ["annotations ls points"],
    "mesh ls": ["mesh ls meshes", "mesh ls -l meshes"],
    "mesh get": ["mesh get meshes 7 7.glb"],
    "mesh export": ["mesh export --to stl meshes exported-meshes", "mesh export --to ply meshes 7 7.ply"],
    "mesh import": ["mesh import --from obj 7.obj imported-meshes"],
    "mesh preview": ["mesh preview --size 64 meshes 7 -o mesh.png"],
    "skeleton make": ["skeleton make labels made-skeletons"],
    "skeleton ls": ["skeleton ls skeletons"],
    "skeleton get": ["skeleton get skeletons 7 got.swc"],
    "skeleton export": ["skeleton export skeletons exported-skeletons"],
    "skeleton import": ["skeleton import 7.swc imported-skeletons"],
    "mesh make": ["mesh make labels made-meshes"],
    "pack create": ["pack create -i samples -o new.shardpack"],
    "pack info": ["pack info a.shardpack"],
    "pack stats": ["pack stats a.shardpack"],
    "pack ls": ["pack ls a.shardpack", "pack ls --keys-only a.shardpack"],
    "pack cat": ["pack cat -o out.txt a.shardpack a x.txt"],
    "pack extract": ["pack extract a.shardpack -o extracted"],
    "pack view": ["pack view a.shardpack"],
    "pack verify": ["pack verify a.shardpack", "pack verify cut.shardpack"],
    "pack repair": ["pack repair cut.shardpack -o repaired.shardpack"],
    "pack split": ["pack split --shards 2 a.shardpack -o split-0.shardpack"],
    "pack merge": ["pack merge split-*.shardpack -o merged.shardpack"],
    "pack reshard": ["pack reshard --shards 1 a.shardpack -o resharded-0.shardpack"],
    "pack subset": ["pack subset --range 0:1 a.shardpack -o subset.shardpack"],
    "pack sort": ["pack sort a.shardpack -o sorted.shardpack"],
    "pack shuffle": ["pack shuffle a.shardpack -o shuffled.shardpack"],
    "pack compact": ["pack compact a.shardpack -o compacted.shardpack"],
    "pack catalog": ["pack catalog a.shardpack"],
    "pack diff": ["pack diff a.shardpack subset.shardpack"],
    "pack import": ["pack import --from jsonl lines.jsonl imported.shardpack"],
    "pack export": ["pack export --to jsonl a.shardpack exported.jsonl"],
    "cas init": ["cas init new-store"],
    "cas put": ["cas put --store store --name b files/2"],
    "cas get": ["cas get --store store a@1 -o restored"],
    "cas ls": ["cas ls --store store", "cas ls --store store a"],
    "cas log": ["cas log --store store"],
    "cas stats": [
        "cas stats --store store",
        "cas stats --store store a",
        "cas stats --store store a@1 a@2",
    ],
    "cas diff": ["cas diff --store store a@1 a@2"],
    "cas rm": ["cas rm --store store b"],
    "cas forget": ["cas forget --store store --keep-last 1 --dry-run"],
    "cas gc": ["cas gc --store store"],
    "cas verify": ["cas verify --store store", "cas verify --store broken"],
    "cas reindex": ["cas reindex --store store"],
    "cas export": ["cas export --store store -o exported.mdb a"],
    "cas import": ["cas import --store store --name c --xorbs store/xorbs exported.mdb"],
}


def shell(folder, text):
    return subprocess.run(
        ["bash", "-euc", text],
        cwd=folder,
        capture_output=True,
        env={**os.environ, "PATH": f"{pathlib.Path(program.PROGRAM).parent}:{os.environ['PATH']}"},
    )


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """One folder with something of each kind, whole and damaged."""
    root = tmp_path_factory.mktemp("json")
    labels = np.arange(64**3, dtype=np.uint64).reshape(64, 64, 64) // 5000
    np.save(root / "array.npy", (labels % 200).astype(np.uint8))
    np.save(root / "labels.npy", labels)
    (root / "points.csv").write_text("x,y,z,size:uint8\n1,2,3,4\n5,6,7,8\n")
    (root / "lines.jsonl").write_text('{"text": "one"}\n{"text": "two"}\n')
    done = shell(
        root,
        """
        mkdir files samples odd
        for i in 1 2 3 4; do echo "chunk $i" > files/$i; done
        echo x > samples/a.x.txt; echo y > samples/b.x.txt
        echo z > odd/$'name\\xff'; ln -s ../files odd/link
        dolium convert --to neuroglancer files set
        cp -r set damaged; for f in damaged/*.shard; do truncate -s -3 $f; done
        dolium volume ingest array.npy volume
        dolium volume ingest --type segmentation --scales 1 labels.npy labels
        dolium pack create -i samples -o a.shardpack
        head -c 300 a.shardpack > cut.shardpack
        dolium cas init store
        dolium cas put --store store --name a files; echo more > files/5
        ln -s 5 files/6
        dolium cas put --store store --name a files
        rm files/6
        cp -r store broken; for f in $(find broken/xorbs -type f); do truncate -s 5 $f; done
        cp $(find store/shards -name '*.mdb' | head -1) shard.mdb
        dolium convert --plan set planned | head -1 > task.json
        printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n' > 7.obj
        printf '1 0 0 0 0 1 -1\n2 0 1 0 0 1 1\n' > 7.swc
        dolium mesh import --from obj 7.obj meshes
        dolium skeleton import 7.swc skeletons
        """,
    )
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return root


def read_document():
    """For each verb, for each type of line: kinds of members, and whether they may be missing."""
    verbs, current = {}, []
    for line in DOCUMENT.read_text().splitlines():
        if line.startswith("### "):
            current = re.findall(r"`([a-z -]+)`", line)
            for verb in current:
                verbs[verb] = {}
        elif found := re.match(r"- ((?:`[a-z_]+`(?:, )?)+): (.*)", line):
            members = {}
            for part in found[2].split("; "):
                name, kind, or_null, optional = re.fullmatch(
                    r"`([a-z_]+)` (\w+)( or null)?( \(sometimes\))?\.?", part
                ).groups()
                members[name] = (kind, bool(or_null), bool(optional))
            for verb in current:
                for name in re.findall(r"`([a-z_]+)`", found[1]):
                    verbs[verb].setdefault(name, []).append(members)
    return verbs


def is_of_kind(value, kind):
    if kind == "time":
        pattern = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"
        return isinstance(value, str) and re.fullmatch(pattern, value) is not None
    if kind == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind == "any":
        return True
    return isinstance(value, {"text": str, "flag": bool, "list": list, "object": dict}[kind])


def faults(line, shapes):
    """What keeps a line from having one of the shapes; of the shape that fits best."""
    found = []
    for members in shapes:
        wrong = []
        for name, value in line.items():
            if name in ("type", "schema"):
                continue
            plain = name.removesuffix("_hex")
            if plain not in members:
                wrong.append(f"{name} is not documented")
            elif not (value is None and members[plain][1] or is_of_kind(value, members[plain][0])):
                wrong.append(f"{name} is {value!r}, documented as {members[plain][0]}")
        for name, (_, _, optional) in members.items():
            if not optional and name not in line and name + "_hex" not in line:
                wrong.append(f"{name} is missing")
        found.append(wrong)
    return min(found, key=len, default=["the type is not documented for this verb"])


def test_every_verb_has_an_example():
    pages = {
        path.name.removesuffix(".1.md")
        for path in PAGES.glob("dolium-*.1.md")
        if "- `--json`" in path.read_text()
    }
    pages -= {"dolium-completion", "dolium-help"}  # which print text for people alone
    assert {"dolium-" + verb.replace(" ", "-") for verb in EXAMPLES} == pages
    assert set(read_document()) - {"every verb"} == set(EXAMPLES)


def test_lines_are_as_documented(example):
    """One test, in this order: some verbs use what others made."""
    document = read_document()
    problems = []
    for verb, commands in EXAMPLES.items():
        for command in commands:
            task = (example / "task.json").read_text().strip()
            words = command.replace("{task}", f"'{task}'")
            words = re.sub(r"^((?:volume |mesh |skeleton |annotations |properties |pack |cas )?[a-z-]+)", r"\1 --json", words)
            done = shell(example, f"dolium {words}")
            if done.returncode not in (0, 1):
                problems.append(f"{command}: status {done.returncode}: {done.stderr.decode()}")
            lines = [(json.loads(line), document[verb]) for line in done.stdout.splitlines()]
            if not lines:
                problems.append(f"{command}: no line")
            errors = document["every verb"]
            lines += [(json.loads(line), errors) for line in done.stderr.splitlines()]
            for line, shapes in lines:
                if line.get("schema") != 1:
                    problems.append(f"{command}: schema {line.get('schema')}")
                for fault in faults(line, shapes.get(line.get("type"), [])):
                    problems.append(f"{command}: {line.get('type')}: {fault}: {json.dumps(line)[:400]}")
    assert not problems, "\n".join(dict.fromkeys(problems))


def test_names_that_are_not_utf8_are_given_in_hex(example):
    (line,) = [json.loads(line) for line in shell(example, "dolium ls --json odd").stdout.splitlines()]
    assert line["key_hex"] == b"name\xff".hex() and "key" not in line
