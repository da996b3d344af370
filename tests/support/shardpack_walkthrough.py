"""What the tests of ShardPack's requirements share: samples, and a look at bytes as the document
describes them."""

import struct

import program
import shardpack

LEFT, RIGHT = b"\xff\xd8LEFT\xff\xd9", b"\xff\xd8RIGHT\xff\xd9"
ANNOTATION = b'{"stereo":true}'
FOOTER = struct.Struct("<QQQIIIBBBBIIII8s")
RECORD_MAGIC = b"SPKR"


def run(*arguments, **options):
    """The command line `shardpack`, which is also `dolium pack`."""
    return program.run("pack", *arguments, **options)


def write_one(path, key="key", files=None, **options):
    """A shard with one sample; the options are those of Writer."""
    details = {}
    for name in ("metadata_of_record", "file_metadata", "content_types", "compression_of_files"):
        if name in options:
            details[name] = options.pop(name)
    with shardpack.Writer(path, **options) as writer:
        writer.write(
            key,
            files or {"left.jpg": LEFT, "meta.json": ANNOTATION},
            metadata=details.get("metadata_of_record"),
            file_metadata=details.get("file_metadata"),
            content_types=details.get("content_types"),
            compression=details.get("compression_of_files"),
        )
    return path.read_bytes()


def footer_of(data):
    names = ("index_offset", "records", "file_size", "directory_size", "index_crc")
    return dict(zip(names, FOOTER.unpack(data[-64:])))


def index_of(data):
    """The count and the offsets, as the index has them."""
    at = footer_of(data)["index_offset"]
    (count,) = struct.unpack_from("<Q", data, at)
    return count, list(struct.unpack_from(f"<{count}Q", data, at + 8))


def first_entry(data):
    """Offset and header of the first entry of the first record."""
    meta_length, key_length, ext_length = struct.unpack_from("<IHH", data, 16)
    at = -(-(32 + key_length + ext_length + meta_length) // 8) * 8
    names = ("stored", "raw", "crc", "name", "type", "ext", "codec", "flags", "head_crc")
    return at, dict(zip(names, struct.unpack_from("<QQIHHHBBI", data, at)))
