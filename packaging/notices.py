# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""Prints the copyright notices of what a program is made of, as Debian's packages have them.

    python packaging/notices.py PROGRAM

Of the shared libraries that it loads, but for glibc, and of the libraries that are compiled into it. Exit status 1 where
the notice of one is missing: what is shipped without it may not be shipped.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

# Compiled into the command line, most of them headers only (docs/dependencies.md).
COMPILED_IN = (
    "libexpected-dev",
    "libfmt-dev",
    "libeigen3-dev",
    "libsimdjson-dev",
    "nlohmann-json3-dev",
    "libcli11-dev",
    "libprotozero-dev",
)
OF_THE_SYSTEM = re.compile(r"lib(c|m|dl|pthread|rt)\.so")


def output_of(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def package_of(library: Path) -> str:
    """Debian's package of a file; merged /usr has it under both names."""
    for name in (library, Path("/", *library.parts[2:]) if library.parts[1] == "usr" else Path("/usr", *library.parts[1:])):
        owner = output_of("dpkg", "-S", str(name)).partition(":")[0]
        if owner:
            return owner
    sys.exit(f"no Debian package has {library}: its notice cannot be found")


def packages_of(program: str) -> set[str]:
    loaded = re.findall(r"=> (/\S+)", output_of("ldd", program))
    return {package_of(Path(name).resolve()) for name in loaded if not OF_THE_SYSTEM.match(Path(name).name)}


def main() -> None:
    for package in sorted(packages_of(sys.argv[1]) | set(COMPILED_IN)):
        notice = Path("/usr/share/doc", package, "copyright")
        if not notice.exists():
            sys.exit(f"{notice} is missing: {package} may not be shipped without it")
        version = output_of("dpkg-query", "-W", "-f", "${Version}\\n", package).split("\n")[0]
        print(f"{'=' * 100}\n{package} {version}\n{'=' * 100}\n{notice.read_text(errors='replace')}")


if __name__ == "__main__":
    main()
