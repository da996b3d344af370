"""The command `shardpack`: that of the C++ build, which the module has in it; and Parquet, which needs
pyarrow."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import shardpack
from dolium import _core

GOOD, BAD, UNREADABLE, UNSUPPORTED = 0, 1, 3, 4


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


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("shardpack", description="Parquet in and out.")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="verb")

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
    return parser


def _is_parquet(arguments: Sequence[str]) -> bool:
    """Whether this is `import --from parquet` or `export --to parquet`."""
    option = {"import": "--from", "export": "--to"}.get(arguments[0] if arguments else "")
    if option is None:
        return False
    pairs = zip(arguments, arguments[1:])
    return (option, "parquet") in pairs or f"{option}=parquet" in arguments


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit status, which has the meanings of dolium's. For a process
    that does nothing else: it takes over signals."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if not _is_parquet(given):
        return _core.run_command(["shardpack", *given])
    chosen = _parser().parse_args(given)
    try:
        return chosen.run(chosen)
    except (NotImplementedError, ImportError) as error:
        message, status = str(error), UNSUPPORTED
    except OSError as error:
        message, status = str(error), UNREADABLE
    except (shardpack.CorruptError, ValueError) as error:
        message, status = str(error), BAD
    print(f"shardpack: {chosen.verb}: {message}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
