# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""Attacks a nanscope program with hostile files, sessions and surroundings, and says what held.

    python tests/attack/attack.py PROGRAM [--only NAME...] [--json FILE] [--seed N] [--scale N] [--list]

Prints one row for each attack: how many oracles were asked, how many held, the worst time and the worst peak of memory
of a single run of the program. What did not hold is listed behind the table with its command. --scale does more of
everything that is random. Everything lies in a temporary folder that is removed.

Exit status: 0 everything held, 1 something did not, 2 the program cannot be run.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

import captures  # noqa: F401  # each module enters its attacks
import harness
import kills  # noqa: F401
import limits  # noqa: F401
import logs  # noqa: F401
import service  # noqa: F401
import sessions  # noqa: F401
import texts  # noqa: F401
from harness import ATTACKS, Attack, Bench, Row


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=Path)
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=sorted(ATTACKS), help="only these attacks")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything that was found, too")
    parser.add_argument("--seed", type=int, help="of all that is random; default: a new one, which is printed")
    parser.add_argument("--scale", type=int, default=1, help="do so many times as much of what is random")
    parser.add_argument("--list", action="store_true", help="name the attacks and end")
    return parser.parse_args()


def perform(one: Attack, program: str, seed: int, scale: int, send: multiprocessing.connection.Connection) -> None:
    """One attack in a process of its own, so that its memory is not taken for that of the program."""
    row = Row(one.name, one.what)
    folder = Path(tempfile.mkdtemp(prefix="nanscope-attack-"))
    try:
        one.run(Bench(program, folder, row, seed, scale))
    except Exception:  # an attack that cannot be made is said, the others go on
        row.check(False, "the attack itself failed: " + traceback.format_exc(limit=-2).replace("\n", " / "))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    send.send(row)


def performed(one: Attack, program: str, seed: int, scale: int) -> Row:
    receive, send = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=perform, args=(one, program, seed, scale, send))
    process.start()
    send.close()
    try:
        row = receive.recv()
    except EOFError:
        row = Row(one.name, one.what)
        row.check(False, "the attack itself died")
    process.join()
    return row


def cells(row: Row) -> str:
    held = row.tried - row.failed_tries
    remark = "; ".join(row.remarks)
    if row.failed_tries:
        remark = f"**{row.failed_tries} did not hold**" + (f"; {remark}" if remark else "")
    return f"| {row.what} | {row.tried} | {held} | {row.wall:.2f} s | {row.memory:.0f} MB | {remark} |"


def main() -> int:
    options = parsed()
    if options.list:
        print("\n".join(f"{name}: {one.what}" for name, one in ATTACKS.items()))
        return 0
    program = str(options.program.resolve())
    try:
        version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"The program cannot be run ({error}): {program}", file=sys.stderr)
        return 2
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1 << 32)
    chosen = [one for name, one in ATTACKS.items() if name in (options.only or ATTACKS) and
              (options.only or one.since <= options.scale)]  # fmt: skip
    print(f"{version}, seed {seed}\n\n| what | tried | held | worst time | worst memory | remark |")
    print("| --- | ---: | ---: | ---: | ---: | --- |", flush=True)
    rows = []
    for one in chosen:
        begun = time.monotonic()
        row = performed(one, program, seed, options.scale)
        print(cells(row), flush=True)
        print(f"{one.name}: {time.monotonic() - begun:.0f} s", file=sys.stderr)
        rows.append(row)
    for row in rows:
        if row.failures:
            print(f"\n{row.name} ({row.what}) did not hold:")
            print("\n".join(f"* {failure}" for failure in row.failures))
            if row.failed_tries > len(row.failures):
                print(f"* and {row.failed_tries - len(row.failures)} more")
    if options.json:
        found = {"version": version, "seed": seed, "rows": [vars(row) for row in rows]}
        options.json.write_text(json.dumps(found, indent=1) + os.linesep)
    return 1 if any(row.failed_tries for row in rows) else 0


if __name__ == "__main__":
    assert harness.ATTACKS is ATTACKS
    sys.exit(main())
