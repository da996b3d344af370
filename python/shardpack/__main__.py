"""The command `shardpack` of the Python package: the verbs that the module has.

It takes a part of what the command of dolium takes, in the same words; that one comes with the C++
build and has all verbs and kinds.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import shardpack

GOOD, BAD, UNREADABLE, UNSUPPORTED, STOPPED = 0, 1, 3, 4, 130
# Verbs of the C++ command that the module has no functions for.
_ELSEWHERE = (
    "catalog compact create diff extract info merge reshard shuffle sort split stats subset view"
).split()


def _ls(arguments: argparse.Namespace) -> int:
    dataset = shardpack.open(arguments.set)
    for key in dataset.keys():
        print(key)
    return GOOD


def _cat(arguments: argparse.Namespace) -> int:
    data = shardpack.open(arguments.set)[arguments.key][arguments.file].data
    sys.stdout.buffer.write(data)
    return GOOD


def _verify(arguments: argparse.Namespace) -> int:
    errors = 0
    for path in arguments.shard:
        report = shardpack.verify(path, quick=arguments.quick)
        for finding in report.findings:
            print(f"{path}: {finding.severity}: {finding.kind}: {finding.message}", file=sys.stderr)
        word = "good" if report.ok else "bad"
        print(
            f"{path}: {word}: {report.records} records, {report.entries} entries, "
            f"{report.errors} errors, {report.warnings} warnings"
        )
        errors += report.errors
    return BAD if errors else GOOD


def _repair(arguments: argparse.Namespace) -> int:
    report = shardpack.repair(arguments.shard, arguments.output, force=arguments.force)
    for finding in report.findings:
        print(f"{arguments.shard}: {finding.kind}: {finding.message}", file=sys.stderr)
    print(
        f"{arguments.output}: {report.records} records saved, {report.records_lost} lost, "
        f"{report.bytes_skipped} bytes of no use"
    )
    return BAD if report.records_lost or report.bytes_skipped else GOOD


def _import(arguments: argparse.Namespace) -> int:
    from shardpack.parquet import import_parquet

    reports = import_parquet(
        arguments.source, arguments.shard, key_column=arguments.key_column, force=arguments.force
    )
    for report in reports:
        print(f"{report.path}: {report.records} records, {report.size} bytes")
    return GOOD


def _export(arguments: argparse.Namespace) -> int:
    from shardpack.parquet import export_parquet

    rows = export_parquet(arguments.set, arguments.target)
    print(f"{arguments.target}: {rows} rows")
    return GOOD


def _elsewhere(arguments: argparse.Namespace) -> int:
    raise NotImplementedError(
        "is a verb of the command that comes with the C++ build of dolium, not of the Python package"
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("shardpack", description=__doc__.partition("\n\n")[0])
    parser.add_argument("--version", action="version", version=shardpack.__version__)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="verb")

    verb = verbs.add_parser("ls", help="the keys of samples, one per line")
    verb.add_argument("set")
    verb.set_defaults(run=_ls)

    verb = verbs.add_parser("cat", help="the bytes of one file of a sample")
    for name in ("set", "key", "file"):
        verb.add_argument(name)
    verb.set_defaults(run=_cat)

    verb = verbs.add_parser("verify", help="read every record and check it")
    verb.add_argument("shard", nargs="+")
    verb.add_argument("--quick", action="store_true", help="decode no contents")
    verb.set_defaults(run=_verify)

    verb = verbs.add_parser("repair", help="a good shard of what can be read of a damaged one")
    verb.add_argument("shard")
    verb.add_argument("-o", "--output", required=True)
    verb.add_argument("--force", action="store_true", help="replace a shard that is there")
    verb.set_defaults(run=_repair)

    verb = verbs.add_parser("import", help="rows of Parquet files as samples")
    verb.add_argument("--from", dest="kind", required=True, choices=["parquet"])
    verb.add_argument("--key-column")
    verb.add_argument("--force", action="store_true", help="replace shards that are there")
    verb.add_argument("source")
    verb.add_argument("shard")
    verb.set_defaults(run=_import)

    verb = verbs.add_parser("export", help="samples as rows of a Parquet file")
    verb.add_argument("--to", dest="kind", required=True, choices=["parquet"])
    verb.add_argument("set")
    verb.add_argument("target")
    verb.set_defaults(run=_export)

    for name in _ELSEWHERE:
        verbs.add_parser(name, add_help=False).set_defaults(run=_elsewhere)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit status, which has the meanings of dolium's."""
    chosen, rest = _parser().parse_known_args(arguments)
    if rest and chosen.run is not _elsewhere:
        _parser().error(f"unrecognized arguments: {' '.join(rest)}")
    try:
        return chosen.run(chosen)
    except KeyboardInterrupt:
        return STOPPED
    except (NotImplementedError, ImportError) as error:
        message, status = str(error), UNSUPPORTED
    except OSError as error:
        message, status = str(error), UNREADABLE
    except KeyError as error:
        message, status = f"no {error}", BAD
    except (shardpack.CorruptError, ValueError) as error:
        message, status = str(error), BAD
    print(f"shardpack: {chosen.verb}: {message}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
