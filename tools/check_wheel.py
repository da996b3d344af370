"""Checks that a wheel brings along what a bare system lacks.

    python3 tools/check_wheel.py WHEEL

Every library that its modules need is in the wheel, or among those that each Linux with glibc has
(the list of manylinux, of which the module uses these). Needs readelf.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

# What manylinux allows to be left to the system, as far as a module without graphics can need it.
OF_THE_SYSTEM = {
    "ld-linux-aarch64.so.1",
    "ld-linux-x86-64.so.2",
    "libc.so.6",
    "libdl.so.2",
    "libgcc_s.so.1",
    "libm.so.6",
    "libpthread.so.0",
    "libresolv.so.2",
    "librt.so.1",
    "libstdc++.so.6",
    "libutil.so.1",
    "libz.so.1",  # which Python itself needs
}


def needed(library):
    """The names of libraries that one needs."""
    text = subprocess.run(
        ["readelf", "-dW", library], check=True, capture_output=True, text=True
    ).stdout
    return re.findall(r"\(NEEDED\).*\[(.+)\]", text)


def main():
    wheel = pathlib.Path(sys.argv[1])
    problems = []
    if "linux_" not in wheel.name or "manylinux" not in wheel.name:
        problems.append(f"{wheel.name}: is not tagged as manylinux")
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
        libraries = [path for path in pathlib.Path(folder).rglob("*") if ".so" in path.name]
        inside = {path.name for path in libraries}
        if not any("_core" in name for name in inside):
            problems.append(f"{wheel.name}: has no module _core")
        for library in libraries:
            for name in needed(library):
                if name not in inside | OF_THE_SYSTEM:
                    problems.append(f"{wheel.name}: {library.name} needs {name}, which is not in it")
    if problems:
        sys.exit("\n".join(problems))
    print(f"{wheel.name}: {len(inside)} libraries, {wheel.stat().st_size / 1e6:.1f} MB, nothing missing")


if __name__ == "__main__":
    main()
