"""The command `dolium`: that of the C++ build, which the module has in it."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from dolium import _core


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit status. For a process that does nothing else: it takes
    over signals."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    return _core.run_command(["dolium", *given])


if __name__ == "__main__":
    sys.exit(main())
