# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""Sessions from strangers, sessions that others hold, and who may read what is written."""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import shutil
import sqlite3
import stat
import subprocess
import threading
import time
import zipfile
from pathlib import Path

import makefiles as make
from harness import Bench, attack, change, doubled, is_sound, names_of, rejected, with_umask

SWEEP = ("--variant", "keller-jordan", "--precision", "fp32")


def small_run(bench: Bench, captures: int = 2, points: int = 50, name: str = "run") -> Path:
    """A folder with captures and a console log."""
    folder = bench.place(name)
    for i in range(captures):
        make.capture(folder / f"dump{i}.pt", 4, 6, epsilon=(i + 1) * 1e-7, first=1 + i / 7)
    losses = [3 - i / points for i in range(points)] + [math.nan]
    (folder / "train.log").write_text(make.log_text(0, losses) + "RuntimeError: loss is nan\n")
    return folder


def imported(bench: Bench, folder: Path, name: str = "s.nanscope") -> Path:
    session = folder.parent / name
    bench.run("import", folder, "--session", session, statuses=(0, 3))
    return session


def contents_of(bundle: Path) -> list[bytes]:
    if bundle.is_dir():
        return [path.read_bytes() for path in bundle.rglob("*") if path.is_file()]
    if not bundle.exists():
        return []
    with zipfile.ZipFile(bundle) as inside:
        return [inside.read(name) for name in inside.namelist()]


@attack("outside", "H2: a session whose captures name files outside: no bundle and no verdict holds them")
def outside(bench: Bench) -> None:
    """Paths, links, a root and an identity of the stranger's choosing."""
    private = bench.place("private") / "private.pt"
    make.capture(private, 5, 8, first=7.5)
    array = private.with_name("weights.npy")
    make.npy(array, "(4, 6)", make.floats(24, 3.25))
    needle = private.read_bytes()
    cases = [
        ("/etc/hostname", {}), (str(private), {}), (f"x/../../../{private.relative_to(bench.folder)}", {}),
        (str(private), {"root": str(bench.folder)}), (str(private), {"root": "/"}),
        (str(private), {"root": str(private.parent)}), (str(private), {"root": str(bench.folder), "identity": ""}),
        (str(array), {"root": str(bench.folder), "identity": ""}), (str(private), {"identity": ""}),
        ("/etc/hostname", {"root": "/etc", "identity": ""}), ("/proc/self/environ", {"root": "/proc", "identity": ""}),
        ("link.pt", {"link": str(private)}), ("link.pt", {"link": str(private), "identity": ""}),
        ("links/private.pt", {"link": str(private.parent), "identity": "", "linked": "links"}),
    ]  # fmt: skip
    for path, more in cases:
        folder = small_run(bench, 1)
        session = folder / "s.nanscope"
        bench.run("import", folder, "--session", session)
        if "link" in more:
            (folder / more.get("linked", "link.pt")).symlink_to(more["link"])
        change(session, ("UPDATE captures SET path = ?", (path,)))
        if "root" in more:
            change(session, ("UPDATE facts SET value = ? WHERE name = 'run_root'", (more["root"],)))
        if "identity" in more:
            change(session, ("UPDATE captures SET identity = ?", (more["identity"],)))
        case = f"path {path.replace(str(bench.folder), 'TMP')}, {more}".replace(str(bench.folder), "TMP")
        for target in ("b.zip", "b"):
            bundle = folder.parent / target
            bench.run("report", session, "--bundle", bundle, "--with-capture", "--no-redact")
            held = contents_of(bundle)
            stolen = any(needle[:400] in one or array.read_bytes() in one for one in held)
            bench.row.check(not stolen, f"`report SESSION --bundle --with-capture` packed a file from outside: {case}")
            host = Path("/etc/hostname")
            name = host.read_bytes().strip() if host.exists() and path == str(host) else b""
            bench.row.check(
                not name or not any(one.strip() == name for one in held), f"/etc/hostname is packed: {case}"
            )
        for command in (["diagnose", session, "--json"], ["sweep", session, *SWEEP, "--json"]):
            done = bench.run(*command, statuses=(0, 2, 3, 4, 5))
            shape = "5x8" in done.answer() or "[5,8]" in done.answer().replace(" ", "")
            cells = [cell for cell in done.json().get("cells", []) if cell.get("outcome")]
            bench.good(done, not shape and not cells, f"a file from outside was opened: {case}")
    bench.row.remark("also with an emptied identity, another root, links and `..`")


@attack("edited", "sessions edited at random, value by value: no command trips over one")
def edited(bench: Bench) -> None:
    """Any cell of any table may hold anything."""
    folder = small_run(bench, 3)
    session = imported(bench, folder)
    bench.run("sweep", session, *SWEEP, "--gauges", "deep")
    with contextlib.closing(sqlite3.connect(session)) as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        columns = {
            table: [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
            for table in tables
            if database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        }
    odd = [
        -1,
        0,
        1 << 40,
        (1 << 63) - 1,
        -(1 << 63),
        1e308,
        math.inf,
        "",
        "x",
        "nan",
        b"",
        b"\xff" * 9,
        "9" * 400,
        "4611686018427387904x0",
        "0x4611686018427387904",
        "-1x-1",
        "\x1b[2J\u202e",
        "x" * 100_000,
        None,
        "1x" * 5000 + "1",
    ]
    for _ in range(40 * bench.scale):
        copy = folder.parent / "edited.nanscope"
        shutil.copyfile(session, copy)
        made = []
        for _ in range(bench.random.choice((1, 1, 2, 4))):
            table = bench.random.choice(sorted(columns))
            column, value = bench.random.choice(columns[table]), bench.random.choice(odd)
            with contextlib.suppress(sqlite3.Error):
                change(copy, (f"UPDATE {table} SET {column} = ?", (value,)))
                made.append(f"{table}.{column} = {str(value)[:40]!r}")
        for command in (["list"], ["diagnose"], ["report", "-o", folder.parent / "r.json"]):
            words = [command[0], copy, *command[1:]]
            done = bench.run(*words, limit=10, memory=300, statuses=(0, 2, 3, 4))
            if bench.row.failures and bench.row.failures[-1].startswith(f"`{done.shown()}`"):
                bench.row.failures[-1] += f" [edited: {made}]"
    bench.row.remark("diagnose judged what was left")


@attack("versions", "sessions of versions that cannot be, and files that are no sessions")
def versions(bench: Bench) -> None:
    """Each is refused with a sentence and left as it is, or read."""
    folder = small_run(bench)
    session = imported(bench, folder)
    other = folder.parent / "other.nanscope"

    def versioned(number: int) -> None:
        shutil.copyfile(session, other)
        change(other, f"PRAGMA user_version = {number}")

    def application(number: int) -> None:
        shutil.copyfile(session, other)
        change(other, f"PRAGMA application_id = {number}")

    def foreign() -> None:
        other.unlink(missing_ok=True)
        change(other, "CREATE TABLE captures (a)", "INSERT INTO captures VALUES (1)")

    def wal() -> None:
        shutil.copyfile(session, other)
        change(other, "PRAGMA journal_mode = WAL")

    def trigger() -> None:
        shutil.copyfile(session, other)
        change(other, "CREATE TRIGGER t AFTER UPDATE ON captures BEGIN DELETE FROM series; END")

    cases = [(f"user_version {n}", lambda n=n: versioned(n)) for n in (0, -5, 99, (1 << 31) - 1, -(1 << 31), 1, 3, 5)]
    cases += [(f"application_id {n}", lambda n=n: application(n)) for n in (0, -1, 42)]
    cases += [
        ("a foreign database", foreign),
        ("WAL", wal),
        ("a trigger", trigger),
        ("empty", lambda: other.write_bytes(b"")),
        ("text", lambda: other.write_text("step:1 loss:2\n")),
        ("half", lambda: other.write_bytes(session.read_bytes()[:5000])),
        ("a header", lambda: other.write_bytes(session.read_bytes()[:16])),
        ("zeros", lambda: other.write_bytes(b"SQLite format 3\0" + bytes(9000))),
    ]
    for what, build in cases:
        build()
        before = other.read_bytes()
        for command in (["list", other], ["diagnose", other], ["sql", other, "select 1"], ["report", other, "-o", "-"]):
            bench.run(*command, limit=10, memory=300)
            bench.row.check(other.read_bytes() == before, f"`{command[0]}` changed a session ({what})")
        done = bench.run("import", folder, "--session", other, limit=15, memory=300)
        ours = what in ("WAL", "empty", "user_version 1", "user_version 3", "user_version 5")
        if done.status == 4 and not ours:
            bench.row.check(other.read_bytes() == before, f"a refused import changed the file ({what})")
        bench.row.check(done.status == 4 or ours, f"import into {what}: status {done.status}")


@attack("untouched", "commands that only read leave the session as it is to the byte")
def untouched(bench: Bench) -> None:
    """Contents, times and neighbours of a session before and after each command."""
    folder = small_run(bench, 3)
    session = imported(bench, folder)
    bench.run("sweep", session, *SWEEP)
    out = bench.place("out")
    before = hashlib.sha256(session.read_bytes()).hexdigest(), session.stat().st_mtime_ns
    beside = sorted(os.listdir(session.parent))
    commands = [["list", session, kind] for kind in ("captures", "series", "events", "runs", "cells")]
    commands += [
        ["diagnose", session],
        ["diagnose", session, "--ran", "gns-gram"],
        ["whatif", "detector", session],
        ["whatif", "guard", session],
        ["report", session, "-o", out / "r.md", "-o", out / "r.html", "-o", out / "r.json"],
        ["report", session, "--bundle", out / "b.zip", "--with-capture"],
        ["export", session, "--series", "loss"],
        ["sql", session, "select * from captures"],
        ["sql", session, "delete from captures"],
        ["sql", session, "pragma user_version = 3"],
        ["sql", session, "attach 'x.db' as x"],
        ["sql", session, "insert into facts values ('a','b')"],
        ["sql", session, "vacuum"],
        ["diff", session, folder],
        ["inspect", folder / "dump0.pt"],
        ["diff", session, session],
        ["explain", folder / "dump0.pt", "--session", session],
        ["measure", "scale", folder / "dump0.pt", "--variant", "keller-jordan", "--session", session],
    ]
    for command in commands:
        bench.run(*command, statuses=(0, 2, 3, 4))
        after = hashlib.sha256(session.read_bytes()).hexdigest(), session.stat().st_mtime_ns
        bench.row.check(after == before, f"`{' '.join(map(str, command))}` changed the session")
        bench.row.check(sorted(os.listdir(session.parent)) == beside, f"{command[0]} left a file beside the session")
        before = after


def open_to_others(folder: Path) -> list[str]:
    """What of a folder, itself included, others than its owner may read or write."""
    return [
        f"{path.name} {stat.S_IMODE(path.lstat().st_mode):o}"
        for path in [folder, *folder.rglob("*")]
        if not path.is_symlink() and stat.S_IMODE(path.lstat().st_mode) & 0o077
    ]


@attack(
    "modes",
    "M5: sessions, journals, reports, bundles, captures and folders are for their owner alone (umask 0 and 022)",
)
def modes(bench: Bench) -> None:
    """Modes of everything that is made, also while it is written."""
    for mask in (0, 0o022):
        folder = small_run(bench, 6, 20_000)
        out = bench.place("out")
        private = with_umask(mask)
        bench.run("import", folder, setup=private)  # into the user's data folder
        made = [
            ["import", folder, "--session", out / "new" / "deep" / "s.nanscope"],
            ["diagnose", folder, "--session", out / "d.nanscope"],
            ["sweep", folder, "--session", out / "w.nanscope", *SWEEP],
            ["report", folder, "-o", out / "r.md", "-o", out / "r.html", "-o", out / "r.json"],
            ["report", folder, "--bundle", out / "b.zip"],
            ["report", folder, "--bundle", out / "bundle", "--with-capture"],
            ["list", folder, "--session", out / "l.nanscope"],
        ]
        seen: set[str] = set()
        ended = threading.Event()

        def look(where: Path = out, seen: set[str] = seen, ended: threading.Event = ended) -> None:
            while not ended.wait(0.001):
                with contextlib.suppress(OSError):
                    seen |= {one for one in open_to_others(where) if not one.startswith("out ")}

        watcher = threading.Thread(target=look)
        watcher.start()
        for command in made:
            bench.run(*command, setup=private, seconds=120)
        ended.set()
        watcher.join()
        shown = {one for one in [*seen, *open_to_others(out), *open_to_others(bench.home)]}
        shown -= {one for one in shown if one.startswith(("out ", "home "))}
        bench.row.check(not shown, f"umask {mask:03o}: others may read {sorted(shown)[:8]}")
        kinds = {path.suffix or path.name for path in out.rglob("*")}
        bench.row.check({".nanscope", ".md", ".html", ".json", ".zip"} <= kinds, f"not all was made: {sorted(kinds)}")


@attack("locked", "a session that another program holds: waited for; after ten seconds a sentence")
def locked(bench: Bench) -> None:
    """An exclusive lock of 3 s, and one that stays."""
    folder = small_run(bench)
    session = imported(bench, folder)
    (folder / "more.log").write_text(make.log_text(0, [1.5, 1.25]))
    commands = [
        ["list", session],
        ["sql", session, "select 1"],
        ["diagnose", session],
        ["import", folder, "--session", session],
        ["report", session, "-o", "-"],
        ["export", session, "--series", "loss"],
        ["sweep", session, *SWEEP],
    ]

    def held(seconds: float) -> threading.Thread:
        ready = threading.Event()

        def hold() -> None:
            with contextlib.closing(sqlite3.connect(session, isolation_level=None)) as database:
                database.execute("BEGIN EXCLUSIVE")
                ready.set()
                time.sleep(seconds)
                database.execute("ROLLBACK")

        holder = threading.Thread(target=hold)
        holder.start()
        ready.wait()
        return holder

    for command in commands:
        holder = held(3)
        done = bench.run(*command, statuses=(0,), limit=8)
        bench.good(done, done.wall > 2.5, "it did not wait")
        holder.join()
    for command in (["list", session], ["import", folder, "--session", session]):
        holder = held(14)
        done = bench.run(*command, statuses=(4,), seconds=60)
        bench.good(
            done,
            "lock" in done.errors() and 9 < done.wall < 13.5,
            f"no sentence about the lock after {done.wall:.1f} s",
        )
        holder.join()
    bench.row.check(is_sound(session) == "ok", "the session is damaged")


def held_by(bench: Bench, session: Path) -> tuple[list[str], list[tuple[str, ...]]]:
    """Captures and points of a session, straight from its tables and the export."""
    files = [str(row[0]) for row in bench.query(session, "select file from captures order by file")]
    done = bench.measured("export", session, "--series", "loss")
    points = [tuple(line.split(",")[2:5]) for line in done.answer().splitlines()[1:]]
    return files, points


@attack("three", "three importers of one folder into one session at once: nothing rejected, lost or doubled")
def three(bench: Bench) -> None:
    """All three come to the same end, or say that another one is at it."""
    told = 0
    for _ in range(6 * bench.scale):
        folder = small_run(bench, 40, 20_000)
        session = folder.parent / "s.nanscope"
        processes = [
            bench.start(
                ["import", folder, "--session", session, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
            for _ in range(3)
        ]
        for process in processes:
            out, err = process.communicate(timeout=120)
            said = err.decode("utf-8", "replace")[:300]
            waited = process.returncode == 3 and said.startswith("Another program is importing this log")
            bench.row.check(process.returncode == 0 or waited, f"an import ended with {process.returncode}: {said}")
            told += waited
        files, points = held_by(bench, session)
        bench.row.check(
            len(files) == 40 and not doubled(files), f"{len(files)} of 40 captures, doubled {doubled(files)[:3]}"
        )
        bench.row.check(len(points) == 20_001 and not doubled(points), f"{len(points)} of 20001 points")
        bench.row.check(not bench.query(session, "select * from rejections"), "the session kept a false rejection")
        again = bench.run("list", session, "--json", statuses=(0,))
        bench.good(
            again, len(names_of(again.json())) == 40 and not rejected(again.json()), "not all captures are listed"
        )
        bench.row.check(is_sound(session) == "ok", "the session is damaged")
    bench.row.remark(f"{told} times an importer said that another one was at it (status 3)")
