"""What `decode=` makes of samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

from dolium._decode import decode_all

if TYPE_CHECKING:
    from dolium._core import PackEntry as Entry
    from dolium._core import PackRecord as Record

_Function = Union[Callable[[bytes], Any], None]
Decode = Union[
    None,
    bool,
    str,
    Sequence[str],
    Mapping[str, _Function],
    Callable[["Record"], Any],
]


def make_decoding(decode: Decode) -> Decoding | Callable[[Record], Any] | None:
    if decode is None or decode is False:
        return None
    if decode is True:
        return Decoding(None)
    if isinstance(decode, Mapping):
        return Decoding(dict(decode))
    if callable(decode):
        return decode
    return Decoding(dict.fromkeys([decode] if isinstance(decode, str) else decode))


def decoded(samples: list[Any], decode: Decode, keep_errors: bool, jobs: int) -> list[Any]:
    """What `decode` makes of each Record; exceptions stay, or the first is raised."""
    decoding = make_decoding(decode)
    if decoding is None:
        return samples
    if isinstance(decoding, Decoding):
        values = decoding.values(samples, jobs)
    else:
        values = [_called(decoding, sample) for sample in samples]
    for value in values:
        if isinstance(value, Exception) and not keep_errors:
            raise value
    return values


def _called(function: Callable[[Record], Any], sample: Any) -> Any:
    if isinstance(sample, BaseException):
        return sample
    try:
        return function(sample)
    except Exception as error:
        note_record(error, sample)
        return error


def note_record(error: Exception, record: Record) -> None:
    """Has the error name the record, where Python can."""
    if hasattr(error, "add_note"):  # since Python 3.11
        error.add_note(f'{record.shard}: record {record.number}: "{record.key}"')


class Decoding:
    """Makes dicts of samples: of all entries, or of those of these names, each decoded by its
    content type, or by the function that is given for its name."""

    def __init__(self, functions: dict[str, _Function] | None) -> None:
        self._functions = functions

    def values(self, samples: Sequence[Any], jobs: int) -> list[Any]:
        """For each Record a dict, or the exception that it stands for or that decoding raised.
        JPEG images of all are decoded together, on up to `jobs` threads (0: one per core)."""
        found = [self._entries(sample) for sample in samples]
        by_type = [
            entry
            for entries in found
            if isinstance(entries, list)
            for _, entry, function in entries
            if function is None
        ]
        decoded = iter(decode_all(by_type, jobs))
        return [
            self._value(sample, entries, decoded) if isinstance(entries, list) else entries
            for sample, entries in zip(samples, found)
        ]

    def _entries(self, sample: Any) -> list[tuple[str, Entry, _Function]] | BaseException:
        if isinstance(sample, BaseException):
            return sample
        try:
            if self._functions is None:
                return [(entry.name, entry, None) for entry in sample.file_entries()]
            return [(name, sample[name], function) for name, function in self._functions.items()]
        except Exception as error:
            note_record(error, sample)
            return error

    def _value(
        self,
        sample: Record,
        entries: list[tuple[str, Entry, _Function]],
        decoded: Iterator[Any],
    ) -> dict[str, Any] | Exception:
        values = {}
        failed: Exception | None = None
        for name, entry, function in entries:
            if function is None:
                values[name] = next(decoded)
                if isinstance(values[name], Exception):
                    failed = failed or values[name]
            elif failed is None:
                try:
                    values[name] = function(entry.data)
                except Exception as error:
                    failed = error
        if failed is None:
            return values
        note_record(failed, sample)
        return failed
