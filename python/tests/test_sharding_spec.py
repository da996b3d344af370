import json
import pickle

import pytest

import dolium


def test_has_the_defaults_of_a_good_spec():
    spec = dolium.ShardingSpec(1, 2, 3)
    assert (spec.preshift_bits, spec.minishard_bits, spec.shard_bits) == (1, 2, 3)
    assert spec.hash == "murmurhash3_x86_128"
    assert spec.minishard_index_encoding == "gzip"
    assert spec.data_encoding == "raw"


def test_places_ids_as_the_format_says():
    spec = dolium.ShardingSpec(2, 3, 4, hash="identity")
    assert spec.place(0b1011_110_01) == (0b1011, 0b110)
    assert spec.place("4") == (0, 1)
    assert spec.shard_name(11) == "b.shard"
    assert dolium.ShardingSpec(0, 0, 9).shard_name(11) == "00b.shard"
    with pytest.raises(ValueError, match="no shard 16"):
        spec.shard_name(16)


def test_goes_to_json_and_back():
    spec = dolium.ShardingSpec(1, 2, 3, "identity", "raw", "gzip")
    expected = {
        "@type": "neuroglancer_uint64_sharded_v1",
        "preshift_bits": 1,
        "minishard_bits": 2,
        "shard_bits": 3,
        "hash": "identity",
        "minishard_index_encoding": "raw",
        "data_encoding": "gzip",
    }
    assert json.loads(spec.to_json()) == expected
    assert spec.to_dict() == expected
    assert dolium.ShardingSpec.from_json(spec.to_json()) == spec
    assert dolium.ShardingSpec.from_json(expected) == spec
    with pytest.raises(ValueError, match="shard_bits"):
        dolium.ShardingSpec.from_json({**expected, "shard_bits": 65})


def test_is_a_value():
    spec = dolium.ShardingSpec(1, 2, 3)
    same = dolium.ShardingSpec(1, 2, 3)
    other = dolium.ShardingSpec(1, 2, 4)
    assert spec == same
    assert hash(spec) == hash(same)
    assert spec != other
    assert spec != "spec"
    assert eval(repr(spec), {"ShardingSpec": dolium.ShardingSpec}) == spec
    assert pickle.loads(pickle.dumps(spec)) == spec
    with pytest.raises(AttributeError):
        spec.shard_bits = 5


@pytest.mark.parametrize(
    "arguments",
    [(65, 0, 0), (0, 33, 0), (0, 32, 33), (0, 0, 0, "md5"), (0, 0, 0, "identity", "zip")],
)
def test_refuses_what_the_format_cannot_do(arguments):
    with pytest.raises(ValueError):
        dolium.ShardingSpec(*arguments)


def test_chooses_bits_from_counts_and_sizes():
    spec = dolium.choose_sharding(1_000_000, 8 << 30)
    assert spec.shard_bits == 3
    assert spec.minishard_bits == 7
    assert spec.hash == "murmurhash3_x86_128"
    near = dolium.choose_sharding(
        1_000_000, 8 << 30, hash="identity", largest_id=(1 << 20) - 1, data_encoding="gzip"
    )
    assert near.preshift_bits + near.minishard_bits + near.shard_bits == 20
    assert near.data_encoding == "gzip"
    assert dolium.choose_sharding(100, 1000).shard_bits == 0
    with pytest.raises(ValueError, match="shard_size"):
        dolium.choose_sharding(1, 1, shard_size=0)
