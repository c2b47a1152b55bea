# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""The program is killed at any moment, or asked to end."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import makefiles as make
from harness import Bench, attack, doubled, is_sound, names_of

GOODBYE = 0.2  # seconds from the signal to the end
SWEEP = ("--variant", "keller-jordan,gns-gram", "--precision", "fp64,fp32,bf16", "--device", "cpu")


def run_folder(bench: Bench, captures: int, rows: int) -> Path:
    folder = bench.place()
    for i in range(captures):
        make.capture(folder / f"dump{i}.pt", 6, 9, epsilon=(i + 1) / 1e7, first=1 + i / 64)
    for rank in range(3):
        losses = [3 - (i + rank) / rows for i in range(rows)]
        (folder / f"rank_{rank}.log").write_text(make.log_text(0, losses))
    return folder


def points_of(bench: Bench, session: Path) -> list[tuple[str, ...]]:
    exported = bench.folder / "points.csv"
    with exported.open("wb") as out:
        process = bench.start(["export", session, "--series", "loss"], stdout=out)
        process.wait()
    with exported.open() as lines:
        next(lines, None)
        return [tuple(line.split(",")[:4]) for line in lines]


def cells_of(bench: Bench, session: Path) -> list[tuple[str, ...]]:
    rows = bench.query(session, "select capture, variant, precision, device from cells")
    return [tuple(map(str, row)) for row in rows]


def killed(bench: Bench, arguments: list[object], after: float) -> bool:
    """Whether it still ran when it was killed."""
    process = bench.start(arguments)
    time.sleep(after)
    running = process.poll() is None
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    process.wait()
    return running


@attack(
    "kills", "SIGKILL at any moment of `import` and `sweep`: the session opens, nothing is lost or doubled (120 kills)"
)
def kills(bench: Bench) -> None:
    """Between kills the session must be sound; after them an import gives exactly what was there."""
    folder = run_folder(bench, 24, 8000)
    whole = folder.parent / "whole.nanscope"
    begun = time.monotonic()
    bench.run("import", folder, "--session", whole, statuses=(0,))
    importing = time.monotonic() - begun
    begun = time.monotonic()
    bench.run("sweep", whole, "--capture", "all", *SWEEP, statuses=(0, 3))
    sweeping = time.monotonic() - begun
    expected, cells = sorted(points_of(bench, whole)), sorted(cells_of(bench, whole))
    bench.row.check(
        len(expected) == 24_000 and len(cells) == 24 * 6, f"{len(expected)} points, {len(cells)} cells to begin with"
    )
    hits = unborn = 0
    born: set[Path] = set()
    for number in range(120 * bench.scale):
        session = folder.parent / f"s{number // 12}.nanscope"
        sweep = number % 12 >= 6
        if number % 12 == 6:
            bench.run("import", folder, "--session", session, statuses=(0,))
        kept = set(cells_of(bench, session)) if sweep else set()
        command: list[object] = (
            ["sweep", session, "--capture", "all", *SWEEP] if sweep else ["import", folder, "--session", session]
        )
        hits += killed(bench, command, bench.random.uniform(0, (sweeping if sweep else importing) * 1.1))
        bench.row.tried += 1
        if not session.exists():
            continue
        opened = bench.run("list", session, statuses=(0, 3, 4))
        nothing = "no capture and no log" in opened.errors().lower()
        if opened.status == 4 and not nothing and not sweep and session not in born:
            # Killed while the file was made: nothing is in it yet, and an import must be able to go on from there.
            unborn += 1
            bench.run("import", folder, "--session", session, statuses=(0,))
        else:
            bench.good(opened, opened.status != 4 or nothing, f"a session does not open after kill {number}")
        born.add(session)
        if number % 3 == 0:
            bench.row.check(is_sound(session) == "ok", f"a session is damaged after kill {number}")
        if sweep:
            bench.row.check(
                kept <= set(cells_of(bench, session)), f"kill {number} lost cells that were there before it"
            )
        if number % 12 == 5 or number % 12 == 11:
            done = bench.run("import", folder, "--session", session, statuses=(0,))
            found = sorted(points_of(bench, session))
            bench.good(
                done,
                found == expected,
                f"{len(found)} points of {len(expected)} after kill {number}, doubled {doubled(found)[:2]}",
            )
            listed = names_of(bench.measured("list", session, "--json").json())
            bench.good(
                done, len(listed) == 24 and not doubled(listed), f"{len(listed)} captures of 24 after kill {number}"
            )
        if number % 12 == 11:
            bench.run("sweep", session, "--capture", "all", *SWEEP, statuses=(0, 3))
            found_cells = sorted(cells_of(bench, session))
            bench.row.check(
                found_cells == cells, f"{len(found_cells)} cells of {len(cells)}, doubled {doubled(found_cells)[:2]}"
            )
            left = [path.name for path in session.parent.iterdir() if path.name.startswith(session.name + "-")]
            bench.row.check(not left, f"left beside the session: {left}")
            session.unlink()
    bench.row.remark(f"{hits} of {120 * bench.scale} came while it ran, {unborn} before the new session was one")


def signalled(bench: Bench, arguments: list[object], which: signal.Signals, after: float) -> None:
    """How long the program takes to end, with which status, and with which words."""
    shown = " ".join(map(str, arguments))[:160]
    errors = bench.folder / "errors"
    with errors.open("wb") as err:
        process = bench.start(
            arguments, stderr=err, stdin=subprocess.PIPE if arguments[0] == "serve" else subprocess.DEVNULL
        )
        time.sleep(after)
        if process.poll() is not None:
            return
        begun = time.monotonic()
        process.send_signal(which)
        try:
            status = process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            status = process.wait()
        took = time.monotonic() - begun
        if process.stdin:
            process.stdin.close()
    said = errors.read_text(errors="replace").strip()[:200]
    bench.row.wall = max(bench.row.wall, took)
    bench.row.check(
        took <= GOODBYE, f"`{shown}`: {which.name} after {after:.2f} s: took {took * 1000:.0f} ms; it said: {said}"
    )
    # Who has the whole answer by then may give it.
    fine = status == 5 or (status == 0 and took <= GOODBYE)
    bench.row.check(fine, f"`{shown}`: {which.name} after {after:.2f} s: exit status {status}; it said: {said}")


@attack("signals", "SIGTERM and SIGINT while it works: gone within 200 ms, status 5")
def signals(bench: Bench) -> None:
    """Statements, parameters, long logs, bombs, replays and services; the time is from the signal to the end."""
    folder = run_folder(bench, 20, 150_000)
    session = folder.parent / "s.nanscope"
    bench.run("import", folder, "--session", session, statuses=(0,))
    names = folder.parent / "names.txt"
    names.write_text("".join(f"blocks.{i}.mlp.fc2.weight [6, 9]\n" for i in range(199_000)))
    falling = bench.place()
    (falling / "falling.csv").write_text("step,loss\n" + "".join(f"{800_000 - i},{i % 97}.5\n" for i in range(800_000)))
    bomb = bench.place()
    (bomb / "lines.log.zst").write_bytes(make.zstd_of(10, 65536 * 2))
    (bomb / "good.log").write_text(make.log_text(0, [2.5]))
    nan = make.capture(bench.place() / "nan.pt", 512, 512)
    fine = make.capture(bench.place() / "fine.pt", 600, 900, output=0)
    large = bench.place() / "large.npy"
    make.npy(large, "(9000, 4000)", b"")
    with large.open("ab") as out:
        for _ in range(36):
            out.write(make.floats(1_000_000, value=1.5))
    recursive = "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n"
    product = "select count(*) from chunks a, chunks b, chunks c, chunks d, chunks e where a.bits < b.bits || c.bits"
    counting = "with recursive n(i) as (select 1 union all select i + 1 from n"
    rows = f"{counting}) select i, hex(randomblob(100)) from n limit 3000000"
    sort = f"{counting} limit 9000000) select i from n order by random() limit 1"
    new = iter(range(1000))
    cases: list[tuple[list[object], float]] = [
        (["sql", session, recursive], 0.5),
        (["sql", session, product], 0.5),
        (["sql", session, rows, "--json"], 1.5),
        (["sql", session, sort], 2.0),
        (["sql", session, rows], 3.0),
        (["diagnose", nan, "--params", names], 0.4),
        (["import", folder, "--session", folder.parent / "n{}.nanscope"], 0.4),
        (["list", folder], 0.4),
        (["diagnose", folder], 0.4),
        (["diagnose", falling], 0.5),
        (["import", falling, "--session", falling.parent / "n{}.nanscope"], 0.5),
        (["report", folder, "-o", folder.parent / "r.html"], 0.5),
        (["import", bomb, "--session", bomb.parent / "n{}.nanscope"], 1.0),
        (["diagnose", nan], 2.0),
        (["explain", nan], 1.5),
        (["report", nan, "--bundle", nan.parent / "b.zip"], 2.0),
        (["sweep", fine, "--variant", "all"], 1.0),
        (["sweep", fine, "--variant", "gns-gram", "--gauges", "deep"], 1.0),
        (["sweep", folder, "--session", folder.parent / "w{}.nanscope", "--variant", "all"], 1.5),
        (["explain", large], 0.3),
        (["measure", "scale", fine, "--variant", "gns-gram"], 1.0),
        (["measure", "spectrum", fine, "--variant", "gns-gram"], 1.0),
        (["measure", "minimise", nan, "--variant", "gns-gram"], 1.0),
        (["spread", nan, "--like-dump"], 1.0),
        (["diff", folder, session], 0.6),
        (["diff", large, large], 0.2),
        (["export", session, "--series", "loss"], 0.3),
        (["import", folder, "--watch", "--session", folder.parent / "v.nanscope"], 2.0),
        (["serve"], 0.4),
    ]
    for number, (arguments, longest) in enumerate(cases):
        for turn in range(4 * bench.scale):
            named = [str(word).replace("{}", str(next(new))) for word in arguments]
            which = signal.SIGTERM if (turn + number) % 2 else signal.SIGINT
            signalled(bench, list(named), which, bench.random.uniform(0.05, longest) if turn else longest * 0.8)
            for word in named:
                if word.endswith(".nanscope") and word != str(session):
                    for path in Path(word).parent.glob(Path(word).name + "*"):
                        path.unlink()
    shutil.rmtree(folder)
    if os.cpu_count() == 1:
        bench.row.remark("one core")
