"""The two other implementations of the sharded format, behind one interface each."""

import pathlib
import struct
import types

import tensorstore as ts


class TensorStoreSet:
    """A folder of shards, as TensorStore sees it. Nothing is cached between two of these."""

    def __init__(self, folder, spec):
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        self.shard_bits = spec["shard_bits"]
        self.store = ts.KvStore.open(
            {
                "driver": "neuroglancer_uint64_sharded",
                "metadata": spec,
                "base": f"file://{pathlib.Path(folder).resolve()}/",
            },
            context=ts.Context(),
        ).result()

    @staticmethod
    def key(id):
        return struct.pack(">Q", id)

    def write(self, chunks, remove=()):
        """All changes in one transaction."""
        with ts.Transaction() as transaction:
            store = self.store.with_transaction(transaction)
            for id, value in chunks.items():
                store[self.key(id)] = value
            for id in remove:
                del store[self.key(id)]

    def read(self, id):
        """The value, or None."""
        result = self.store.read(self.key(id)).result()
        return result.value if result.state == "value" else None

    def read_preceding(self, id, count):
        """The `count` bytes right before a value: a key of 16 bytes asks for them."""
        result = self.store.read(struct.pack(">QQ", id, count)).result()
        return result.value if result.state == "value" else None

    def ids(self):
        """All of them. It asks for every shard that there could be: few shard bits only."""
        assert self.shard_bits <= 16
        return sorted(struct.unpack(">Q", key)[0] for key in self.store.list().result())


class CloudVolumeSet:
    """A folder of shards, as cloud-volume sees it. Nothing is cached between two of these."""

    def __init__(self, folder, spec):
        # Imported here: it takes seconds.
        from cloudvolume.cacheservice import CacheService
        from cloudvolume.datasource.precomputed.sharding import ShardingSpecification, ShardReader

        self.folder = pathlib.Path(folder).resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.spec = ShardingSpecification.from_dict(spec)
        path = f"file://{self.folder}"
        cache = CacheService(
            str(self.folder),
            enabled=False,
            config=types.SimpleNamespace(
                progress=False, secrets=None, parallel=1, cache_locking=None
            ),
            meta=types.SimpleNamespace(cloudpath=path),
        )
        self.reader = ShardReader(path, cache, self.spec)

    def write(self, chunks, manifest_sizes=None):
        """`manifest_sizes`: of each chunk, only so many bytes at its end are indexed."""
        shards = self.spec.synthesize_shards(dict(chunks), data_offset=manifest_sizes)
        for file, data in shards.items():
            (self.folder / file).write_bytes(data)

    def read(self, id):
        return self.reader.get_data(id)

    def read_many(self, ids):
        """Values by id, None for what is not there."""
        return self.reader.get_data(list(ids))

    def read_all(self):
        chunks = {}
        for path in self.folder.glob("*.shard"):
            shard = self.reader.disassemble_shard(path.read_bytes())
            chunks.update((int(id), value) for id, value in shard.items())
        return chunks
