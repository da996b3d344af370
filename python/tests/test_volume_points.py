"""Indexes with arrays, masks and negative steps: the same as numpy, in absolute coordinates."""

import concurrent.futures

import numpy as np
import pytest

import dolium
from volume_makers import BEGIN, END, SHAPE, make, random_array


@pytest.fixture(scope="module", params=[1, 3])
def filled(request, tmp_path_factory):
    channels = request.param
    volume = make(tmp_path_factory.mktemp("points") / "v", "uint16", channels)
    array = random_array(SHAPE if channels == 1 else (*SHAPE, channels), "uint16")
    volume[...] = array
    return volume, array


def begins(array):
    return (*BEGIN, 0)[: array.ndim]


def random_index(rng, shape, begin):
    """An index of an array that begins at 0, and the same of one that begins elsewhere."""
    kinds = rng.choice(["int", "slice", "array", "mask", "back"], len(shape))
    if rng.random() < 0.2:
        kinds[:] = "array"
    points = (int(rng.integers(0, 5)),) if rng.random() < 0.7 else (2, int(rng.integers(1, 4)))
    from_zero, absolute = [], []
    for kind, size, low in zip(kinds, shape, begin):
        if kind == "int":
            number = int(rng.integers(0, size))
            from_zero.append(number)
            absolute.append(number + low)
        elif kind == "slice":
            first, last = sorted(map(int, rng.integers(0, size + 1, 2)))
            step = int(rng.integers(1, 4))
            from_zero.append(slice(first, last, step))
            absolute.append(slice(first + low, last + low, step))
        elif kind == "back":
            last, first = sorted(map(int, rng.integers(0, size, 2)))
            step = -int(rng.integers(1, 4))
            from_zero.append(slice(first, last, step))
            absolute.append(slice(first + low, last + low, step))
        elif kind == "array":
            shape_here = points if rng.random() < 0.8 else (1,) * len(points)
            numbers = rng.integers(0, size, shape_here)
            from_zero.append(numbers)
            absolute.append(numbers + low if rng.random() < 0.5 else (numbers + low).tolist())
            if numbers.size == 0:
                absolute[-1] = numbers
        else:
            mask = np.zeros(size, bool)
            count = points[-1] if len(points) == 1 else 1
            mask[rng.choice(size, min(count, size), replace=False)] = True
            from_zero.append(mask)
            absolute.append(mask)
    keep = int(rng.integers(1, len(shape) + 1))
    from_zero, absolute = from_zero[:keep], absolute[:keep]
    if rng.random() < 0.3:
        # Behind all that is given, or between, if nothing is left out.
        at = keep if keep < len(shape) else int(rng.integers(0, keep + 1))
        from_zero.insert(at, ...)
        absolute.insert(at, ...)
    return tuple(from_zero), tuple(absolute)


def test_reads_are_those_of_numpy(filled):
    volume, array = filled
    rng = np.random.default_rng(5)
    shapes, failures = set(), 0
    for _ in range(600):
        from_zero, absolute = random_index(rng, array.shape, begins(array))
        try:
            expected = array[from_zero]
        except IndexError:  # Arrays of shapes that do not go together.
            with pytest.raises(IndexError):
                volume[absolute]
            failures += 1
            continue
        found = volume[absolute]
        assert np.shape(found) == expected.shape, (from_zero, absolute)
        np.testing.assert_array_equal(found, expected, err_msg=repr(from_zero))
        np.testing.assert_array_equal(volume.zero_based()[from_zero], expected)
        shapes.add(len(expected.shape))
    assert shapes >= {1, 2, 3} and failures < 400


def test_writes_are_those_of_numpy(tmp_path):
    rng = np.random.default_rng(6)
    for channels in (1, 3):
        for sharded in (True, False):
            volume = make(tmp_path / f"{channels}-{sharded}", "int32", channels, sharded=sharded)
            array = random_array(volume.shape, "int32")
            volume[...] = array
            for _ in range(40):
                from_zero, absolute = random_index(rng, array.shape, begins(array))
                try:
                    shape = array[from_zero].shape
                except IndexError:
                    continue
                value = rng.integers(-99, 99, shape if rng.random() < 0.7 else ()).astype("int32")
                array[from_zero] = value
                if rng.random() < 0.5:
                    volume[absolute] = value
                else:
                    volume.zero_based()[from_zero] = value
            np.testing.assert_array_equal(volume[...], array)


def test_masks_of_several_dimensions(filled, tmp_path):
    volume, array = filled
    rng = np.random.default_rng(7)
    for width in range(1, array.ndim + 1):
        mask = rng.random(array.shape[:width]) < 0.02
        np.testing.assert_array_equal(volume[mask], array[mask])
        np.testing.assert_array_equal(volume[mask, ...], array[mask, ...])
    mask = rng.random(array.shape[1:3]) < 0.05
    np.testing.assert_array_equal(volume[:, mask], array[:, mask])
    np.testing.assert_array_equal(volume[BEGIN[0], mask], array[0, mask])
    assert volume[np.zeros(array.shape, bool)].shape == (0,)

    copy = make(tmp_path / "copy", "uint16", volume.num_channels)
    copy[...] = array
    changed = array.copy()
    chosen = array > 30000
    changed[chosen] = 7
    copy[chosen] = 7
    numbers = rng.integers(0, 100, int((~chosen).sum())).astype("uint16")
    changed[~chosen] = numbers
    copy[~chosen] = numbers
    np.testing.assert_array_equal(copy[...], changed)


def test_negative_steps_run_from_the_last_voxel_down(filled):
    volume, array = filled
    np.testing.assert_array_equal(volume[::-1], array[::-1])
    np.testing.assert_array_equal(volume[:, ::-3, ::-1], array[:, ::-3, ::-1])
    # -5 and -6 mean themselves: the first voxel, and the one before it.
    np.testing.assert_array_equal(volume[-3:-6:-1], array[2::-1])
    np.testing.assert_array_equal(volume[-3:-5:-1], array[2:0:-1])
    assert volume[3:3:-1].shape[0] == 0
    with pytest.raises(IndexError, match=r"slice 32:0:-1 is not within the bounds -5:32"):
        volume[32:0:-1]
    with pytest.raises(IndexError, match=r"slice 3:9:-1 is not within"):
        volume[3:9:-1]
    with pytest.raises(IndexError, match="step of 0"):
        volume[::0]


def test_negative_and_longer_steps_are_assigned_to(tmp_path):
    volume = make(tmp_path / "v", "uint32")
    array = random_array(SHAPE, "uint32")
    volume[...] = array
    value = random_array((37, 15, 8), "uint32", 3)
    volume[::-1, ::2, ::3] = value
    array[::-1, ::2, ::3] = value
    volume[::-1] = array[::-1] + np.uint32(1)
    array += np.uint32(1)
    np.testing.assert_array_equal(volume[...], array)


def test_the_last_of_equal_points_counts(tmp_path):
    volume = make(tmp_path / "v", "uint32")
    volume[[3, 4, 3], [8, 9, 8], [101, 102, 101]] = [1, 2, 3]
    assert volume[[3, 4], [8, 9], [101, 102]].tolist() == [3, 2]
    assert np.count_nonzero(volume[...]) == 2


def test_what_is_wrong_with_points(filled):
    volume, _ = filled
    with pytest.raises(IndexError, match="index 32 of dimension 0 is not within the bounds -5:32"):
        volume[[0, 32]]
    with pytest.raises(IndexError, match="index -6 of dimension 0"):
        volume[[-6]]
    # As int64 it would be -4, a voxel that there is.
    for large in (np.array([2**64 - 4], "uint64"), [2**64 - 4]):
        for array in (volume, volume.zero_based()):
            with pytest.raises(IndexError, match="index 18446744073709551612 of dimension 0"):
                array[large]
            with pytest.raises(IndexError, match="index 18446744073709551612 of dimension 0"):
                array[large] = 1
    for large in (2**64 - 4, 2**70, -(2**70)):
        with pytest.raises(IndexError, match=f"index {large} of dimension 1"):
            volume[[0], large]
    with pytest.raises(IndexError, match="out of bounds for dimension 0, of size 37"):
        volume.zero_based()[[37]]
    with pytest.raises(IndexError, match=r"a mask of shape \(4,\) for dimensions of \(37,\)"):
        volume[np.ones(4, bool)]
    with pytest.raises(IndexError, match="integers or booleans, not float64"):
        volume[[0.5, 1.0]]
    with pytest.raises(IndexError, match="do not go together"):
        volume[[0, 1], [8, 9, 10]]
    with pytest.raises(IndexError, match="not True"):
        volume[True]
    with pytest.raises(IndexError, match="not None"):
        volume[None]
    with pytest.raises(ValueError, match="does not fit"):
        volume[[0, 1]] = np.zeros(5, "uint16")


def test_points_read_the_chunks_that_have_them_alone(tmp_path):
    volume = make(tmp_path / "v", "uint8", sharded=False)
    volume[...] = 1
    for path in (tmp_path / "v" / "1_1_1").iterdir():
        if path.name != "-5-11_7-15_100-108":
            path.write_bytes(b"damaged")
    assert volume[[0, 1], [8, 9], [101, 107]].tolist() == [1, 1]
    with pytest.raises(dolium.CorruptError):
        volume[[0, 31], [8, 9], [101, 107]]


def test_masked_writes_of_others_are_not_lost(tmp_path):
    """Many threads write every n-th voxel each, in the same chunks."""
    volume = make(tmp_path / "v", "uint32")
    writers = 6

    def write(i):
        mine = dolium.Volume.open(tmp_path / "v")
        for round in range(3):
            mine[BEGIN[0] + i :: writers] = 10 * (i + 1) + round

    with concurrent.futures.ThreadPoolExecutor(writers) as executor:
        list(executor.map(write, range(writers)))
    found = volume[...]
    for i in range(writers):
        assert (found[i::writers] == 10 * (i + 1) + 2).all()


def test_read_takes_arrays_and_out(filled):
    volume, array = filled
    index = np.s_[[0, 3], :, 105]
    expected = array[[5, 8], :, 5]
    np.testing.assert_array_equal(volume.read(index), expected)
    out = np.zeros(expected.shape, "uint16")
    assert volume.read(index, out=out) is out
    np.testing.assert_array_equal(out, expected)
    many = volume.read_many([index, (BEGIN, END)])
    np.testing.assert_array_equal(many[0], expected)
    np.testing.assert_array_equal(many[1], array)
    with pytest.raises(ValueError, match="out"):
        volume.read(index, out=np.zeros(3, "uint16"))
