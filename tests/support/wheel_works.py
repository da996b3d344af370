"""A little of all that the wheel brings libraries for, with nothing but the wheel and NumPy."""

import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import dolium
import dolium.cas
import dolium.volume
import shardpack


def packs(folder):
    """Shards from a folder, to the other formats and back."""
    (folder / "samples").mkdir()
    for i in range(10):
        (folder / "samples" / f"{i}.txt").write_text(f"text {i}")
    source = folder / "samples.shardpack"
    shardpack.plan_create(folder / "samples", source).run()
    for kind, name in (("webdataset", "t.tar"), ("lmdb", "t.lmdb"), ("mds", "mds"), ("jsonl", "t.jsonl")):
        shardpack.plan_export(source, folder / name, to=kind).run()
        back = folder / f"{kind}.shardpack"
        shardpack.plan_import(folder / name, back, from_=kind).run()
        assert len(shardpack.open(back)) == 10, kind


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        spec = dolium.ShardingSpec(0, 1, 1, data_encoding="gzip")
        dolium.write_sharded(folder / "set", spec, ((i, b"chunk %d" % i) for i in range(100)))
        assert dolium.open(folder / "set")[7] == b"chunk 7"
        assert dolium.verify(folder / "set").errors == 0

        volume = dolium.Volume.create(folder / "volume", shape=(64, 64, 64), dtype="uint8", resolution=(4, 4, 4))
        volume[...] = np.arange(64**3, dtype=np.uint8).reshape(64, 64, 64)
        for encoding in ("jpeg", "png", "jxl"):
            dolium.volume.transcode(folder / "volume", folder / encoding, encoding=encoding)
            assert dolium.Volume.open(folder / encoding)[...].shape == (64, 64, 64)

        with shardpack.Writer(folder / "a.shardpack", compression="zstd") as writer:
            writer.write("key", {"a.txt": b"text"})
        assert shardpack.open(folder / "a.shardpack")[0]["a.txt"].data == b"text"

        packs(folder)

        store = dolium.cas.Store.init(folder / "store")
        store.put(folder / "set", name="set")
        store.get("set@1", folder / "restored")

        # The commands are all there.
        for module, verb in (("dolium", "info"), ("shardpack", "stats")):
            command = [sys.executable, "-m", module, verb, str(folder / "a.shardpack")]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

        # Its libcurl works as well, and fails as it should.
        try:
            dolium.open("http://127.0.0.1:9/set")
        except OSError as error:
            assert error.errno, error
        else:
            raise AssertionError("nobody listens there")
    print("dolium", dolium.__version__, "works")


if __name__ == "__main__":
    main()
