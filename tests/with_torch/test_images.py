"""Images of samples: JPEG by our threads, others by Pillow, all as Pillow's arrays are."""

import builtins
import io
import pickle

import numpy as np
import pytest
import shardpack
from PIL import Image

import dolium

SHAPE = (101, 67)


def texture(bands, seed=0):
    y, x = np.mgrid[: SHAPE[0], : SHAPE[1]]
    waves = 128 + 60 * np.sin(x / 3.0) + 50 * np.cos(y / (2.5 + seed))
    noise = np.random.default_rng(seed).normal(0, 20, (*SHAPE, bands))
    return np.clip(waves[..., None] + noise, 0, 255).astype(np.uint8)


def encoded(image, kind="JPEG", **options):
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def rgb(seed=0):
    return Image.fromarray(texture(3, seed))


def rotated():
    exif = Image.Exif()
    exif[0x0112] = 6
    return encoded(rgb(), exif=exif)


def stray_bytes():
    data = encoded(rgb())
    return data[:-2] + b"\0\1\2" + data[-2:]


JPEGS = {
    "grey": lambda: encoded(Image.fromarray(texture(1)[..., 0])),
    "444": lambda: encoded(rgb(), subsampling=0, quality=90),
    "422": lambda: encoded(rgb(), subsampling=1, quality=90),
    "420": lambda: encoded(rgb(), subsampling=2, quality=90),
    "progressive": lambda: encoded(rgb(), progressive=True),
    "rgb": lambda: encoded(rgb(), keep_rgb=True),
    "cmyk": lambda: encoded(Image.fromarray(texture(4), "CMYK")),
    "rotated by EXIF": rotated,
    "stray bytes": stray_bytes,
}
OTHERS = {
    "palette": lambda: encoded(rgb().quantize(16), "PNG"),
    "1 bit": lambda: encoded(rgb().convert("1"), "PNG"),
    "LA": lambda: encoded(rgb().convert("LA"), "PNG"),
    "I;16": lambda: encoded(Image.fromarray(texture(1)[..., 0].astype(np.uint16) * 257), "PNG"),
    "RGBA": lambda: encoded(rgb().convert("RGBA"), "PNG"),
    "webp": lambda: encoded(rgb(), "WEBP", lossless=True),
}
TYPES = {"webp": "image/webp"}


def written(path, files, types=None):
    with shardpack.Writer(path) as writer:
        writer.write("key", files, content_types=types)
    return shardpack.open(path)["key"]


@pytest.mark.parametrize("kind", [*JPEGS, *OTHERS])
def test_an_image_decodes_to_what_pillow_gives(tmp_path, kind):
    data = {**JPEGS, **OTHERS}[kind]()
    type_of = "image/jpeg" if kind in JPEGS else TYPES.get(kind, "image/png")
    found = written(tmp_path / "i.shardpack", {"i": data}, {"i": type_of})["i"].decode()
    expected = np.asarray(Image.open(io.BytesIO(data)))
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    assert np.array_equal(found, expected)
    if kind in JPEGS:
        assert found.flags.writeable and found.flags.c_contiguous
        assert np.array_equal(pickle.loads(pickle.dumps(found)), expected)


def test_jpegs_are_decoded_without_pillow_and_others_name_it(tmp_path, monkeypatch):
    files = {"a.jpg": JPEGS["420"](), "b.png": OTHERS["LA"]()}
    expected = np.asarray(Image.open(io.BytesIO(files["a.jpg"])))
    record = written(tmp_path / "i.shardpack", files)
    importing = builtins.__import__

    def without_pillow(name, *arguments, **options):
        if name.partition(".")[0] == "PIL":
            raise ImportError(name)
        return importing(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without_pillow)
    assert np.array_equal(record["a.jpg"].decode(), expected)
    with pytest.raises(ImportError, match="decoded by Pillow, which is not installed"):
        record["b.png"].decode()
    # Not a damaged sample: it is not left out.
    loader = shardpack.open(tmp_path / "i.shardpack").loader(decode=True, on_error="skip")
    with pytest.raises(ImportError, match="Pillow"):
        list(loader)


def test_png_under_a_name_that_says_jpeg(tmp_path):
    data = OTHERS["RGBA"]()
    record = written(tmp_path / "i.shardpack", {"a.jpg": data})
    assert record["a.jpg"].content_type == "image/jpeg"
    assert np.array_equal(record["a.jpg"].decode(), np.asarray(Image.open(io.BytesIO(data))))


@pytest.mark.parametrize("kind", ["grey", "420", "progressive", "cmyk"])
def test_an_image_that_is_cut_short_is_an_error(tmp_path, kind):
    data = JPEGS[kind]()
    sizes = [1, 100, len(data) // 2, len(data) - 3, len(data) - 1]
    record = written(tmp_path / "i.shardpack", {f"{size}.jpg": data[:size] for size in sizes})
    for entry in record.file_entries():
        with pytest.raises(OSError):
            Image.open(io.BytesIO(entry.data)).load()
        with pytest.raises(dolium.CorruptError, match=r'^entry "\d+.jpg": (JPEG|image): '):
            entry.decode()


def test_a_damaged_png_is_a_corrupt_error(tmp_path):
    data = OTHERS["RGBA"]()
    record = written(tmp_path / "i.shardpack", {"a.png": data[: len(data) // 2], "b.png": b"no"})
    for entry in record.file_entries():
        with pytest.raises(dolium.CorruptError, match='^entry "..png": image: '):
            entry.decode()


def test_a_size_that_the_bytes_cannot_hold_is_refused(tmp_path):
    data = JPEGS["progressive"]()
    sides = data.index(b"\xff\xc2") + 5
    huge = data[:sides] + b"\xff\xdc\xff\xdc" + data[sides + 4 :]
    record = written(tmp_path / "i.shardpack", {"a.jpg": huge})
    with pytest.raises(shardpack.LimitExceededError, match="65500 x 65500 pixels of 3 channels"):
        record["a.jpg"].decode()


def test_a_decoder_that_is_registered_wins(tmp_path, monkeypatch):
    record = written(tmp_path / "i.shardpack", {"a.jpg": JPEGS["420"](), "b.png": b"x"})
    monkeypatch.setattr("dolium._decode._decoders", {})
    shardpack.register_decoder("image/*", len)
    assert record["a.jpg"].decode() == len(record["a.jpg"].data)
    shardpack.register_decoder("image/jpeg", lambda data: "mine")
    assert (record["a.jpg"].decode(), record["b.png"].decode()) == ("mine", 1)


COUNT = 60
BAD = 17


@pytest.fixture
def photos(tmp_path):
    """A set of photos with labels; returns its path and the arrays."""
    path = tmp_path / "photos.shardpack"
    arrays = []
    with shardpack.Writer(path) as writer:
        for i in range(COUNT):
            data = encoded(rgb(i))
            arrays.append(np.asarray(Image.open(io.BytesIO(data))))
            writer.write(f"{i:03}", {"jpg": data, "json": {"i": i}, "vec": np.arange(i)})
    return path, arrays


def check(sample, i, arrays):
    assert set(sample) == {"jpg", "json", "vec"}
    assert np.array_equal(sample["jpg"], arrays[i])
    assert sample["json"] == {"i": i} and sample["vec"].tolist() == list(range(i))


@pytest.mark.parametrize("prefetch", [0, 4])
def test_a_loader_decodes_batches(photos, prefetch):
    path, arrays = photos
    batches = list(shardpack.open(path).loader(8, decode=True, prefetch=prefetch))
    samples = [sample for batch in batches for sample in batch]
    assert len(samples) == COUNT
    for i, sample in enumerate(samples):
        check(sample, i, arrays)


def test_a_loader_decodes_a_batch_in_one_call(photos, monkeypatch):
    calls = []
    decode = dolium._core.decode_jpegs
    monkeypatch.setattr(
        "dolium._core.decode_jpegs",
        lambda contents, jobs: calls.append((len(contents), jobs)) or decode(contents, jobs),
    )
    batches = list(shardpack.open(photos[0]).loader(20, decode=["jpg"], prefetch=0))
    assert [list(sample) for sample in batches[0]] == [["jpg"]] * 20
    assert calls == [(20, 0)] * 3


def test_read_many_and_tuples_decode(photos):
    path, arrays = photos
    dataset = shardpack.open(path)
    numbers = [5, 1, 40]
    for i, sample in zip(numbers, dataset.read_many(numbers, decode=True), strict=True):
        check(sample, i, arrays)
    tuples = dataset.tuples("__key__", "jpg", "vec", "json", "none", missing="none", decode=True)
    for pairs in (tuples, pickle.loads(pickle.dumps(tuples))):
        keys, images, vectors, meta, absent = pairs[numbers]
        assert keys == ["005", "001", "040"] and absent == [None] * 3
        assert meta == [{"i": i} for i in numbers]
        for i, image, vector in zip(numbers, images, vectors, strict=True):
            assert np.array_equal(image, arrays[i]) and vector.tolist() == list(range(i))
    key, image, vector, label, absent = tuples[7]
    assert (key, label, absent, len(vector)) == ("007", {"i": 7}, None, 7)
    assert np.array_equal(image, arrays[7])
    assert sum(len(one[2]) for one in tuples) == sum(range(COUNT))
    with pytest.raises(ValueError, match="views are not decoded"):
        dataset.tuples("jpg", views=True, decode=True)


def test_what_is_damaged_in_a_batch_is_as_one_by_one(tmp_path):
    path = tmp_path / "photos.shardpack"
    with shardpack.Writer(path) as writer:
        for i in range(COUNT):
            data = encoded(rgb(i))
            writer.write(f"{i:03}", {"jpg": data[:900] if i == BAD else data, "n.json": i})
    dataset = shardpack.open(path)
    message = '^entry "jpg": JPEG: Premature end of JPEG file'
    for read in (
        lambda: dataset[BAD]["jpg"].decode(),
        lambda: dataset.read_many([3, BAD], decode=True),
        lambda: dataset.tuples("jpg", decode=True)[[3, BAD]],
        lambda: list(dataset.loader(8, decode=True)),
    ):
        with pytest.raises(dolium.CorruptError, match=message):
            read()
    good, bad = dataset.read_many([3, BAD], decode=True, keep_errors=True)
    assert good["n.json"] == 3 and isinstance(bad, dolium.CorruptError)
    assert bad.__notes__ == [f'{path}: record {BAD}: "017"']

    loader = dataset.loader(8, decode=True, on_error="skip")
    numbers = [sample["n.json"] for batch in loader for sample in batch]
    assert numbers == [i for i in range(COUNT) if i != BAD] and loader.skipped == 1

    seen = []
    loader = dataset.loader(8, decode=True, on_error=lambda error, number: seen.append(number) or -1)
    samples = [sample for batch in loader for sample in batch]
    assert seen == [BAD] and samples[BAD] == -1 and len(samples) == COUNT
