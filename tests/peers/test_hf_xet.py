"""Xet by dolium and by the stock client, hf_xet: hashes of files of all shapes, and the objects of
its local store read by us, ours by it."""

import json
import os
import pathlib
import random
import shutil
import subprocess
import sys

import pytest

import dolium
from dolium import cas

import program

hf_xet = pytest.importorskip("hf_xet")

# The client reads its settings once, when its first session begins; so each session of ours is a
# process of its own.
CLIENT = r"""
import json, sys
import hf_xet

request = json.loads(sys.argv[1])
session = hf_xet.XetSession()
if request["job"] == "upload":
    commit = session.new_upload_commit(endpoint=request["endpoint"])
    handles = [commit.start_upload_file(path, sha256=hf_xet.COMPUTE_SHA256)
               for path in request["paths"]]
    commit.wait_to_finish()
    infos = [handle.result().xet_info for handle in handles]
    print(json.dumps([[info.hash, info.file_size, info.sha256] for info in infos]))
else:
    group = session.new_file_download_group(endpoint=request["endpoint"])
    for name, size, path in request["files"]:
        group.start_download_file(hf_xet.XetFileInfo(name, size), path)
    group.wait_to_finish()
    print("[]")
"""


def client(tmp_path, **request):
    environment = os.environ | {
        "HF_XET_CACHE": str(tmp_path / "hf-cache"),
        "HF_XET_TELEMETRY_ENABLED": "0",
    }
    done = subprocess.run(
        [sys.executable, "-c", CLIENT, json.dumps(request)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def shapes(source, count):
    """Contents of all shapes: sizes around every limit, constant, random, repeated, sparse."""
    limits = (0, 1, 2, 63, 64, 65, 8127, 8128, 8191, 8192, 8193, 65535, 65536, 65537, 122880,
              131071, 131072, 131073, 196608, 262144, 262145)
    for _ in range(count):
        size = source.choice(limits) if source.random() < 0.5 else source.randrange(400_000)
        kind = source.randrange(5)
        if kind == 0:
            yield bytes([source.randrange(256)]) * size
        elif kind == 1:
            yield source.randbytes(size)
        elif kind == 2:
            pattern = source.randbytes(source.randrange(1, 3000))
            yield (pattern * (size // len(pattern) + 1))[:size]
        elif kind == 3:
            yield bytes(source.choices(b"the quick brown fox\n", k=size))
        else:
            data = bytearray(size)
            for _ in range(size // 50_000):
                at = source.randrange(size)
                data[at : at + 300] = source.randbytes(len(data[at : at + 300]))
            yield bytes(data)


def write_all(folder, contents):
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number, content in enumerate(contents):
        paths.append(folder / f"{number:05}")
        paths[-1].write_bytes(content)
    return paths


def theirs(paths):
    return [file.hash for file in hf_xet.hash_files([str(path) for path in paths])]


def test_hashes_of_thousands_of_files_agree(tmp_path):
    paths = write_all(tmp_path / "files", shapes(random.Random(1), 3000))
    ours = [file.hash for file in cas.hash_files(paths)]
    assert len(set(ours)) > 1500
    different = [
        (path.name, path.stat().st_size)
        for path, our, their in zip(paths, ours, theirs(paths), strict=True)
        if our != their
    ]
    assert different == []


def test_hashes_of_large_files_agree(tmp_path):
    source = random.Random(2)
    contents = [source.randbytes(33_000_001), bytes(20_000_000), source.randbytes(7) * 3_000_000]
    contents.append(b"x" + bytes(9_000_000) + source.randbytes(9_000_000))
    paths = write_all(tmp_path / "files", contents)
    expected = theirs(paths)
    for jobs in (1, 2, 3):
        assert [cas.file_hash(path, jobs=jobs) for path in paths] == expected


@pytest.fixture(scope="module")
def uploaded(tmp_path_factory):
    """A local store of the stock client: its folder, and what it says of the files in it."""
    tmp_path = tmp_path_factory.mktemp("hf")
    source = random.Random(3)
    contents = list(shapes(source, 60))
    large = source.randbytes(6_000_000)
    contents += [large, large[:2_000_000] + b"new" + large[2_000_000:]]
    floats = b"".join(
        (0x3F800000 + source.randrange(1 << 16)).to_bytes(4, "little") for _ in range(300_000)
    )
    contents.append(floats)
    paths = write_all(tmp_path / "files", contents)
    infos = client(
        tmp_path,
        job="upload",
        endpoint=f"local://{tmp_path / 'store'}",
        paths=[str(path) for path in paths],
    )
    return tmp_path, paths, infos


def objects(uploaded):
    root = uploaded[0] / "store"
    shards = sorted(root.glob("**/shards/*.mdb"))
    xorbs = sorted(path for path in root.glob("**/xorbs/default.*") if path.suffix != ".tagset")
    assert shards and xorbs
    return shards, xorbs


def test_its_shards_are_read(uploaded):
    _, paths, infos = uploaded
    shards, _ = objects(uploaded)
    found = {}
    for shard in shards:
        container = dolium.open(shard)
        assert container.format == "xet"
        for key in container:
            found[key] = container[key]
    for path, (name, size, _) in zip(paths, infos, strict=True):
        assert cas.file_hash(path) == name
        if size > 0:  # It keeps no empty files.
            assert found[name] == path.read_bytes()


def test_its_shards_mark_chunks_and_digest_files_as_ours_do(uploaded):
    _, paths, infos = uploaded
    shards, _ = objects(uploaded)
    digests = {}
    marked = 0
    for path in shards:
        shard = cas.read_shard(path.read_bytes())
        starts = {(file.terms[0].xorb, file.terms[0].first) for file in shard.files if file.terms}
        for xorb in shard.xorbs:
            for number, chunk in enumerate(xorb.chunks):
                assert chunk.eligible == ((xorb.hash, number) in starts)
                marked += chunk.eligible
        digests |= {file.hash: file.sha256 for file in shard.files}
        assert all(file.range_hashes is not None for file in shard.files)
    assert marked > 10
    for _, (name, size, sha256) in zip(paths, infos, strict=True):
        if size > 0:
            assert digests[name] == sha256


def test_its_shards_are_imported_and_exported_again(uploaded, tmp_path):
    """With range hashes and SHA-256, as if it had uploaded them without the footer of its header."""
    shards, xorbs = objects(uploaded)
    store = cas.Store.init(tmp_path / "store")
    known = {}
    for number, path in enumerate(shards):
        (upload,) = cas.unite_shards([path.read_bytes()], footer=False)
        old = upload[:40] + (200).to_bytes(8, "little") + upload[48:]
        (tmp_path / "old.mdb").write_bytes(old)
        store.import_shard(tmp_path / "old.mdb", f"n{number}", xorbs=xorbs[0].parent)
        # An export has no empty files: they have nothing to be stored.
        known |= {file.hash: file for file in cas.read_shard(upload).files if file.size > 0}
    store.export(tmp_path / "again.mdb", upload=True)
    again = {file.hash: file for file in cas.read_shard((tmp_path / "again.mdb").read_bytes()).files}
    for name, file in known.items():
        assert (again[name].sha256, again[name].size) == (file.sha256, file.size)
    assert store.verify().errors == 0


def test_its_store_is_verified(uploaded):
    shards, xorbs = objects(uploaded)
    lines = program.json_lines("verify", *shards, *xorbs)
    summaries = [line for line in lines if line["type"] == "summary"]
    assert len(summaries) == len(shards + xorbs)
    assert all(line["errors"] == 0 for line in summaries)


def test_its_xorbs_are_read(uploaded):
    _, xorbs = objects(uploaded)
    for path in xorbs:
        xorb = cas.read_xorb(path.read_bytes(), path.name.removeprefix("default."))
        container = dolium.open(path)
        assert len(container) == len(xorb.chunks)
        for number, chunk in enumerate(xorb.chunks):
            assert cas.chunk_hash(container[str(number)]) == chunk.hash


def test_damage_in_its_xorbs_is_found(uploaded, tmp_path):
    _, xorbs = objects(uploaded)
    source = random.Random(4)
    whole = xorbs[0].read_bytes()
    found = 0
    for _ in range(20):
        damaged = bytearray(whole)
        damaged[source.randrange(len(whole) // 2)] ^= 1 << source.randrange(8)
        path = tmp_path / xorbs[0].name
        path.write_bytes(damaged)
        try:
            cas.read_xorb(damaged, path.name.removeprefix("default."))
            status = 0  # A bit that LZ4 does not look at: all chunks are what they were.
        except dolium.CorruptError:
            status = 1
            found += 1
        program.run("verify", path, status=status)
    assert found > 15


def test_it_reads_our_xorbs(uploaded, tmp_path):
    """Each of its xorbs is replaced by one that we compressed; it restores all files from them."""
    _, paths, infos = uploaded
    _, xorbs = objects(uploaded)
    originals = {path: path.read_bytes() for path in xorbs}
    for path, original in originals.items():
        container = dolium.open(path)
        chunks = [container[str(number)] for number in range(len(container))]
        del container
        name, data = cas.make_xorb(chunks, compression="bg4-lz4")
        assert path.name == f"default.{name}"
        assert data != original
        path.chmod(0o644)
        path.write_bytes(data)
    try:
        wanted = [
            [name, size, str(tmp_path / "out" / str(number))]
            for number, (name, size, _) in enumerate(infos)
            if size > 0
        ]
        client(tmp_path, job="download", endpoint=f"local://{uploaded[0] / 'store'}", files=wanted)
        for name, _, path in wanted:
            assert cas.file_hash(path) == name
    finally:
        for path, original in originals.items():
            path.write_bytes(original)


def test_it_deduplicates_against_our_shards(tmp_path):
    """With a shard and a xorb of `dolium cas put` in its folders, it uploads no chunk of the same
    files again, and restores them from our xorb."""
    source = random.Random(5)
    paths = write_all(tmp_path / "files", [source.randbytes(900_000), b"x" * 300_000])
    store = tmp_path / "store"
    program.run("cas", "init", store)
    program.run("cas", "put", "--store", store, "--name", "files", tmp_path / "files")
    root = tmp_path / "theirs"
    shutil.copytree(store / "shards", root / "xet" / "shard-cache")
    xorbs = root / "xet" / "xorbs" / "xorbs"
    xorbs.mkdir(parents=True)
    for path in (store / "xorbs").glob("*/*.xorb"):
        shutil.copy(path, xorbs / f"default.{path.stem}")
    ours = {path.name for path in xorbs.iterdir()}
    assert ours

    endpoint = f"local://{root}"
    infos = client(tmp_path, job="upload", endpoint=endpoint, paths=[str(path) for path in paths])
    now = {path.name for path in xorbs.iterdir() if path.suffix != ".tagset"}
    assert now == ours
    wanted = [
        [name, size, str(tmp_path / "out" / str(number))]
        for number, (name, size, _) in enumerate(infos)
    ]
    client(tmp_path, job="download", endpoint=endpoint, files=wanted)
    for path, (_, _, restored) in zip(paths, wanted, strict=True):
        assert pathlib.Path(restored).read_bytes() == path.read_bytes()
