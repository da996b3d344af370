"""Functions on arrays alone: encodings of chunks, downsampling."""

import dolium
import numpy as np
import pytest

LABELS = np.arange(5 * 6 * 7, dtype=np.uint64).reshape(5, 6, 7) // 9


@pytest.mark.parametrize("encoding", ["raw", "compressed_segmentation", "compresso"])
@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
def test_a_chunk_comes_back(encoding, dtype):
    array = LABELS.astype(dtype)
    data = dolium.encode_chunk(array, encoding)
    again = dolium.decode_chunk(data, array.shape, dtype, encoding)
    np.testing.assert_array_equal(again, array)
    assert again.flags.f_contiguous and again.dtype == dtype


def test_a_raw_chunk_is_the_array_in_fortran_order():
    array = LABELS[..., np.newaxis].repeat(2, axis=3).astype(np.uint16)
    assert dolium.encode_chunk(array, "raw") == array.tobytes(order="F")


def test_the_block_size_matters():
    data = dolium.encode_chunk(LABELS, "compressed_segmentation", block_size=(3, 3, 3))
    again = dolium.decode_chunk(
        data, LABELS.shape, np.uint64, "compressed_segmentation", block_size=(3, 3, 3)
    )
    np.testing.assert_array_equal(again, LABELS)
    assert data != dolium.encode_chunk(LABELS, "compressed_segmentation")


def test_a_lossy_chunk_comes_back_nearly():
    array = (LABELS * 5).astype(np.uint8)
    data = dolium.encode_chunk(array, "jpeg", quality=100)
    again = dolium.decode_chunk(data, array.shape, np.uint8, "jpeg")
    assert np.abs(again.astype(int) - array).max() < 8


def test_arrays_of_another_byte_order_are_converted():
    array = LABELS.astype(">u4")
    data = dolium.encode_chunk(array, "raw")
    assert data == array.astype("<u4").tobytes(order="F")
    again = dolium.decode_chunk(data, array.shape, ">u4", "raw")
    np.testing.assert_array_equal(again, array)
    out = dolium.downsample_array(array, (2, 2, 2), "stride")
    np.testing.assert_array_equal(out, array[::2, ::2, ::2])


def test_unknown_options_are_refused():
    with pytest.raises(TypeError, match="blocksize"):
        dolium.encode_chunk(LABELS, "compressed_segmentation", blocksize=(8, 8, 8))


def test_damage_and_nonsense_are_told_apart():
    with pytest.raises(dolium.CorruptError, match="expected"):
        dolium.decode_chunk(b"short", (8, 8, 8), np.uint8, "raw")
    with pytest.raises(NotImplementedError):
        dolium.encode_chunk(LABELS.astype(np.float32), "jpeg")
    with pytest.raises(ValueError, match="dimensions"):
        dolium.encode_chunk(np.zeros((3, 3), np.uint8), "raw")
    with pytest.raises(ValueError, match="encoding"):
        dolium.encode_chunk(LABELS, "zip")


def test_averages_round_halves_to_even():
    array = np.array([0, 1, 1, 2, 7, 8], np.uint8).reshape(6, 1, 1)
    assert dolium.downsample_array(array, (2, 1, 1)).ravel().tolist() == [0, 2, 8]


def test_modes_are_the_most_frequent_labels():
    array = np.array([0, 0, 5, 0, 4, 4, 9, 9], np.uint32).reshape(4, 2, 1, order="F")
    assert dolium.downsample_array(array, (2, 2, 1), "mode").ravel().tolist() == [0, 9]
    kept = dolium.downsample_array(array, (2, 2, 1), "mode", ignore_zero=True)
    assert kept.ravel().tolist() == [4, 9]


def test_channels_stay_apart():
    array = np.stack([LABELS, LABELS + 100], axis=3)
    out = dolium.downsample_array(array, (2, 2, 2), "stride")
    np.testing.assert_array_equal(out, array[::2, ::2, ::2])


def test_factors_are_checked():
    with pytest.raises(ValueError, match="factor"):
        dolium.downsample_array(LABELS, (9, 1, 1))
    for factor in ((0, 1, 1), (-1, 1, 1), (2, 2)):
        with pytest.raises(ValueError, match="factor"):
            dolium.downsample_array([], factor)
    with pytest.raises(ValueError, match="method"):
        dolium.downsample_array(LABELS, (2, 1, 1), "median")
