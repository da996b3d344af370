"""A reader of Neuroglancer's annotations that knows the specification alone: it is written for tests,
and shares nothing with the library.
"""

import gzip
import json
import math
import pathlib
import struct

SIZES = {"uint8": 1, "int8": 1, "uint16": 2, "int16": 2, "uint32": 4, "int32": 4, "float32": 4, "rgb": 3, "rgba": 4}
CODES = {"uint8": "B", "int8": "b", "uint16": "H", "int16": "h", "uint32": "I", "int32": "i", "float32": "f"}
ALIGNMENTS = {**SIZES, "rgb": 1, "rgba": 1}


def murmur(key):
    """The low 64 bits of MurmurHash3_x86_128 of a key of 8 bytes."""
    mask = 0xFFFFFFFF

    def rotated(x, by):
        return ((x << by) | (x >> (32 - by))) & mask

    def final(x):
        x = ((x ^ (x >> 16)) * 0x85EBCA6B) & mask
        x = ((x ^ (x >> 13)) * 0xC2B2AE35) & mask
        return x ^ (x >> 16)

    low, high = key & mask, key >> 32
    c1, c2, c3 = 0x239B961B, 0xAB0E9789, 0x38B34AE5
    lanes = [0, (rotated(high * c2 & mask, 16) * c3) & mask, 0, 0]
    lanes[0] = (rotated(low * c1 & mask, 15) * c2) & mask
    lanes = [lane ^ 8 for lane in lanes]
    lanes[0] = sum(lanes) & mask
    lanes = [lanes[0]] + [(lane + lanes[0]) & mask for lane in lanes[1:]]
    lanes = [final(lane) for lane in lanes]
    lanes[0] = sum(lanes) & mask
    lanes = [lanes[0]] + [(lane + lanes[0]) & mask for lane in lanes[1:]]
    return lanes[0] | lanes[1] << 32


class Index:
    """The values of one index by key: files, or chunks of shards."""

    def __init__(self, folder, spec, name=str):
        self.folder = folder
        self.sharding = spec.get("sharding")
        self.name = name

    def get(self, key):
        """Bytes, or None."""
        if self.sharding is None:
            path = self.folder / self.name(key)
            return path.read_bytes() if path.exists() else None
        return self.chunks(self._shard_of(key)).get(key)

    def keys(self):
        """Of shards alone."""
        stems = [path.name.removesuffix(".shard") for path in self.folder.glob("*.shard")]
        found = [key for stem in stems for key in self.chunks(stem)]
        assert len(found) == len(set(found))
        for stem in stems:
            assert all(self._shard_of(key) == stem for key in self.chunks(stem))
        return found

    def _hash(self, key):
        key >>= self.sharding["preshift_bits"]
        return murmur(key) if self.sharding["hash"] == "murmurhash3_x86_128" else key

    def _shard_of(self, key):
        bits = self.sharding["shard_bits"]
        shard = (self._hash(key) >> self.sharding["minishard_bits"]) & ((1 << bits) - 1)
        return f"{shard:0{max(1, math.ceil(bits / 4))}x}"

    def chunks(self, stem):
        path = self.folder / f"{stem}.shard"
        if not path.exists():
            return {}
        data = path.read_bytes()
        count = 1 << self.sharding["minishard_bits"]
        base = 16 * count
        out = {}
        for i in range(count):
            start, end = struct.unpack_from("<QQ", data, 16 * i)
            if start == end:
                continue
            raw = data[base + start : base + end]
            if self.sharding.get("minishard_index_encoding") == "gzip":
                raw = gzip.decompress(raw)
            n = len(raw) // 24
            words = struct.unpack(f"<{3 * n}Q", raw)
            key, at = 0, base
            for k in range(n):
                key = (key + words[k]) % (1 << 64)
                at += words[n + k]
                value = data[at : at + words[2 * n + k]]
                at += words[2 * n + k]
                assert self._hash(key) & (count - 1) == i
                out[key] = gzip.decompress(value) if self.sharding.get("data_encoding") == "gzip" else value
        return out


def morton(cell, shape):
    bits = [(n - 1).bit_length() for n in shape]
    code, at = 0, 0
    for bit in range(max(bits)):
        for d, index in enumerate(cell):
            if bit < bits[d]:
                code |= (index >> bit & 1) << at
                at += 1
    return code


class AnnotationReader:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.info = json.loads((self.folder / "info").read_text())
        assert self.info["@type"] == "neuroglancer_annotations_v1"
        self.type = self.info["annotation_type"].lower()
        self.rank = len(self.info["dimensions"])
        self.by_id = Index(self.folder / self.info["by_id"]["key"], self.info["by_id"])
        self.related = {one["id"]: Index(self.folder / one["key"], one) for one in self.info["relationships"]}

    def _record(self, data, at):
        """A record and where it ends: points, and properties by name."""
        count = {"point": 1, "polyline": 0}.get(self.type, 2)
        if count == 0:
            (count,) = struct.unpack_from("<I", data, at)
            at += 4
        numbers = struct.unpack_from(f"<{count * self.rank}f", data, at)
        at += 4 * len(numbers)
        begin = at
        values = {}
        for alignment in (4, 2, 1):
            for one in self.info["properties"]:
                kind = one["type"]
                if ALIGNMENTS[kind] != alignment:
                    continue
                if kind in CODES:
                    (values[one["id"]],) = struct.unpack_from("<" + CODES[kind], data, at)
                else:
                    values[one["id"]] = tuple(data[at : at + SIZES[kind]])
                at += SIZES[kind]
        padding = -(at - begin) % 4
        assert data[at : at + padding] == bytes(padding)
        return (numbers, values), at + padding

    def get(self, id):
        """Points, properties and related ids; None if it is not there."""
        data = self.by_id.get(id)
        if data is None:
            return None
        record, at = self._record(data, 0)
        related = {}
        for one in self.info["relationships"]:
            (count,) = struct.unpack_from("<I", data, at)
            related[one["id"]] = struct.unpack_from(f"<{count}Q", data, at + 4)
            at += 4 + 8 * count
        assert at == len(data)
        return (*record, related)

    def list(self, data):
        """Of a list: by id, points and properties."""
        (count,) = struct.unpack_from("<Q", data)
        at, records = 8, []
        for _ in range(count):
            record, at = self._record(data, at)
            records.append(record)
        ids = struct.unpack_from(f"<{count}Q", data, at)
        assert at + 8 * count == len(data)
        assert len(set(ids)) == count
        return dict(zip(ids, records))

    def levels(self):
        """For each level, the lists by cell."""
        out = []
        for level in self.info["spatial"]:
            shape = level["grid_shape"]
            index = Index(self.folder / level["key"], level, lambda cell: "_".join(map(str, cell)))
            lists = {}
            if "sharding" in level:
                by_code = {morton(cell, shape): cell for cell in cells_of(shape)}
                for code in index.keys():
                    lists[by_code[code]] = self.list(index.get(code))
            else:
                for path in (self.folder / level["key"]).glob("*"):
                    lists[tuple(map(int, path.name.split("_")))] = self.list(path.read_bytes())
            out.append(lists)
        return out

    def cell_bounds(self, level, cell):
        level = self.info["spatial"][level]
        lower = [low + i * side for low, i, side in zip(self.info["lower_bound"], cell, level["chunk_size"])]
        return lower, [low + side for low, side in zip(lower, level["chunk_size"])]


def cells_of(shape):
    cells = [()]
    for n in shape:
        cells = [(*cell, i) for cell in cells for i in range(n)]
    return cells
