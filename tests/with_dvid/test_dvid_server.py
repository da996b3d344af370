"""A real DVID server exports a segmentation; what dolium makes of it is what the server says.

    unshare --net sh -c 'ip link set lo up &&
        DOLIUM_DVID=/path/to/dvid DOLIUM=build/release/dolium \
            build/venv/bin/python -m pytest tests/with_dvid'

DVID is built by hand (docs/formats/dvid.md says how), so no other command runs this. It opens a
port for its profiler on all interfaces, hence a network of its own.
"""

import json
import os
import pathlib
import signal
import socket
import subprocess
import time
import urllib.request

import dolium
import numpy as np
import pyarrow.ipc
import pytest
import tensorstore

import program

DVID = os.environ.get("DOLIUM_DVID", "dvid")
SHAPE = (384, 256, 192)
SCALES = 3
PATIENCE = 120  # seconds for anything that the server does in the background
# Supervoxels that become one label.
MERGED = [3, 5, 17, 40]

CONFIGURATION = """
[server]
httpAddress = "127.0.0.1:{http}"
rpcAddress = "127.0.0.1:{rpc}"
[logging]
logfile = "{folder}/dvid.log"
[backend.default]
store = "main"
log = "mutationlog"
[store.main]
engine = "badger"
path = "{folder}/main"
[store.mutationlog]
engine = "filelog"
path = "{folder}/log"
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until(is_done, what):
    end = time.monotonic() + PATIENCE
    while not is_done():
        assert time.monotonic() < end, f"no {what} after {PATIENCE} s"
        time.sleep(0.2)


class Server:
    """A DVID server with one repository and one segmentation."""

    def __init__(self, folder):
        self.folder = folder
        self.http, self.rpc = free_port(), free_port()
        self.log = folder / "dvid.log"
        for name in ("main", "log"):
            (folder / name).mkdir()
        configuration = folder / "dvid.toml"
        configuration.write_text(
            CONFIGURATION.format(http=self.http, rpc=self.rpc, folder=folder)
        )
        self.process = subprocess.Popen(
            [DVID, "serve", configuration],
            stdout=(folder / "out").open("wb"),
            stderr=subprocess.STDOUT,
        )
        wait_until(self.answers, "server")
        self.command("repos", "new", "test", "a repository")
        (self.uuid,) = json.loads(self.ask("repos/info"))
        instance = {
            "typename": "labelmap",
            "dataname": "seg",
            "BlockSize": "64,64,64",
            "MaxDownresLevel": str(SCALES - 1),
        }
        self.ask(f"repo/{self.uuid}/instance", json.dumps(instance).encode())

    def answers(self):
        assert self.process.poll() is None, (self.folder / "out").read_text()[-2000:]
        try:
            self.ask("server/info")
        except OSError:
            return False
        return True

    def ask(self, path, body=None):
        url = f"http://127.0.0.1:{self.http}/api/{path}"
        with urllib.request.urlopen(url, data=body, timeout=PATIENCE) as answer:
            return answer.read()

    def command(self, *words):
        command = [DVID, "-rpc", f"127.0.0.1:{self.rpc}", *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def put(self, voxels):
        size = "_".join(map(str, voxels.shape))
        data = voxels.tobytes(order="F")
        self.ask(f"node/{self.uuid}/seg/raw/0_1_2/{size}/0_0_0?downres=true", data)

    def voxels(self, scale, shape, supervoxels):
        size = "_".join(map(str, shape))
        kind = "true" if supervoxels else "false"
        data = self.ask(
            f"node/{self.uuid}/seg/raw/0_1_2/{size}/0_0_0?scale={scale}&supervoxels={kind}"
        )
        return np.frombuffer(data, np.uint64).reshape(shape, order="F")

    def export(self, spec, target):
        self.command("node", self.uuid, "seg", "export-shards", spec, target, SCALES)
        wait_until((target / "export.log").exists, "export.log")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout=PATIENCE)
        finally:
            self.process.kill()


def shape_of(scale):
    return tuple(size >> scale for size in SHAPE)


def make_spec():
    """Shards of 128^3 voxels."""
    scales = []
    for scale in range(SCALES):
        step = 8 << scale
        sharding = {
            "@type": "neuroglancer_uint64_sharded_v1",
            "hash": "identity",
            "preshift_bits": 2,
            "minishard_bits": 1,
            "shard_bits": max(0, 6 - 3 * scale),
            "minishard_index_encoding": "gzip",
            "data_encoding": "gzip",
        }
        scales.append(
            {
                "chunk_sizes": [[64, 64, 64]],
                "encoding": "compressed_segmentation",
                "compressed_segmentation_block_size": [8, 8, 8],
                "key": f"{step}x{step}x{step}",
                "resolution": [step] * 3,
                "size": list(shape_of(scale)),
                "voxel_offset": [0, 0, 0],
                "sharding": sharding,
            }
        )
    return {
        "@type": "neuroglancer_multiscale_volume",
        "type": "segmentation",
        "data_type": "uint64",
        "num_channels": 1,
        "scales": scales,
    }


def make_voxels():
    """Cells of many sizes, a solid block, and blocks of nothing."""
    x, y, z = np.meshgrid(*(np.arange(n) for n in SHAPE), indexing="ij")
    voxels = 1 + x // 23 + (y + z // 3) // 19 * 17 + (x * y // 700 + z) // 29 * 300
    voxels[:64, 64:128, :64] = 1 << 40
    voxels[128:192, :128, :64] = 0
    voxels[:, :, 128:][:100] = np.random.default_rng(1).integers(0, 50, (100, 256, 64))
    return np.asfortranarray(voxels.astype(np.uint64))


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """The server, and a folder with its export and the spec in it."""
    assert [name for _, name in socket.if_nameindex()] == ["lo"], "wants a network of its own"
    folder = tmp_path_factory.mktemp("dvid")
    server = Server(folder)
    try:
        server.put(make_voxels())
        path = f"node/{server.uuid}/seg/merge"
        server.ask(path, json.dumps(MERGED).encode())
        # Scales are made after the answer.
        wait_until(lambda: server.voxels(SCALES - 1, shape_of(SCALES - 1), True).any(), "scales")
        time.sleep(5)
        (folder / "spec.json").write_text(json.dumps(make_spec()))
        server.export(folder / "spec.json", folder / "export")
        (folder / "export" / "spec.json").write_text(json.dumps(make_spec()))
        yield server, folder / "export"
    finally:
        server.stop()


def test_it_verifies(exported):
    _, export = exported
    last = program.json_lines("verify", export)[-1]
    assert last["errors"] == 0 and last["entries"] > 60


@pytest.mark.parametrize("supervoxels", [False, True])
def test_voxels_are_those_that_the_server_gives(exported, supervoxels):
    server, export = exported
    for scale in range(SCALES):
        volume = dolium.Volume.open(export, scale=scale, supervoxels=supervoxels)
        assert volume.shape[:3] == shape_of(scale)
        wanted = server.voxels(scale, shape_of(scale), supervoxels)
        assert np.array_equal(np.squeeze(volume[...]), wanted)
        if scale == 0:
            expected = make_voxels()
            if not supervoxels:
                expected[np.isin(expected, MERGED)] = MERGED[0]
            assert np.array_equal(wanted, expected)


def test_tensorstore_reads_what_it_is_converted_to(exported, tmp_path):
    server, export = exported
    program.run("convert", "--to", "precomputed", export, tmp_path / "volume")
    for scale in range(SCALES):
        store = tensorstore.open(
            {
                "driver": "neuroglancer_precomputed",
                "kvstore": f"file://{tmp_path}/volume/",
                "scale_index": scale,
            }
        ).result()
        wanted = server.voxels(scale, shape_of(scale), False)
        assert np.array_equal(store[..., 0].read().result(), wanted)


def messages(folder):
    """The schema of all shards, and the messages of their blocks, in order of their bytes: the
    server puts the blocks of a shard in any order, and dolium takes shards of another size."""
    schemas, batches = set(), []
    for path in folder.glob("*.arrow"):
        reader = pyarrow.ipc.MessageReader.open_stream(path.read_bytes())
        schema, *rest = [message.serialize().to_pybytes() for message in reader]
        schemas.add(schema)
        batches += rest
    (schema,) = schemas
    return schema, sorted(batches)


def test_written_again_it_has_the_same_messages(exported, tmp_path):
    _, export = exported
    program.run("convert", "--to", "dvid", export, tmp_path / "again")
    for scale in range(SCALES):
        schema, batches = messages(export / f"s{scale}")
        assert len(schema) == 688 and len(batches) > 1
        assert messages(tmp_path / "again" / f"s{scale}") == (schema, batches)


def test_single_blocks(exported):
    server, export = exported
    wanted = server.voxels(0, SHAPE, True)
    path = pathlib.Path(export) / "s0" / "0_0_0.arrow"
    reader = dolium.dvid.ArrowShardReader(path)
    for x, y, z in reader.list_chunks():
        block = reader.voxels(x, y, z, labels=False)
        box = tuple(slice(64 * k, 64 * (k + 1)) for k in (x, y, z))
        assert np.array_equal(block, wanted[box])
