# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""What every attack needs: running the program under watch, the oracles, and the list of attacks."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

# No sentence of the program may hold one of these.
CODE_WORDS = (
    "nternal error", "unexpected error", "std::", "bad_alloc", "basic_string", "vector::", "terminate called",
    "what():", "AddressSanitizer", "runtime error: ", "Segmentation fault", "disk I/O error", "Assertion",
)  # fmt: skip
# What steers a terminal or deceives a reader: C0 but for ends of lines, DEL, C1, invisible and direction characters.
STEERING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
MOST_OUTPUT = 8 << 20  # of an answer is looked at

Setup = Callable[[], None]


@dataclass
class Done:
    """One run of the program."""

    arguments: list[str]
    status: int  # negative: ended by this signal
    out: bytes
    err: bytes
    wall: float
    cpu: float
    memory: float  # MB, the peak
    hung: bool

    def json(self) -> dict:
        """The answer as JSON, or an empty object."""
        try:
            answer = json.loads(self.out)
        except ValueError:
            return {}
        return answer if isinstance(answer, dict) else {}

    def errors(self) -> str:
        return self.err.decode("utf-8", "replace")

    def answer(self) -> str:
        return self.out.decode("utf-8", "replace")

    def shown(self) -> str:
        return " ".join(word if len(word) < 120 else word[:117] + "..." for word in self.arguments)


@dataclass
class Row:
    """What became of one attack."""

    name: str
    what: str
    tried: int = 0
    failures: list[str] = field(default_factory=list)
    failed_tries: int = 0
    wall: float = 0
    memory: float = 0
    remarks: list[str] = field(default_factory=list)

    def check(self, good: object, problem: str) -> bool:
        """Counts one oracle's word; `problem` says what did not hold, with the command."""
        self.tried += 1
        if not good:
            self.failed_tries += 1
            if len(self.failures) < 40:
                self.failures.append(problem)
        return bool(good)

    def remark(self, text: str) -> None:
        self.remarks.append(text)

    def note(self, done: Done) -> None:
        self.wall = max(self.wall, done.wall)
        self.memory = max(self.memory, done.memory)


class Watch(threading.Thread):
    """Kills a program that does not end; its own, by its id."""

    def __init__(self, process: subprocess.Popen, seconds: float) -> None:
        super().__init__(daemon=True)
        self.process = process
        self.seconds = seconds
        self.ended = threading.Event()
        self.hung = False

    def run(self) -> None:
        if not self.ended.wait(self.seconds):
            self.hung = True
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.process.pid, signal.SIGKILL)


class Bench:
    """A temporary folder, the program, a seed, and the row that is filled."""

    def __init__(self, program: str, folder: Path, row: Row, seed: int, scale: int) -> None:
        self.program = program
        self.folder = folder
        self.row = row
        self.random = random.Random(f"{seed} {row.name}")
        self.scale = scale
        self.home = folder / "home"
        self.home.mkdir(parents=True)
        self._made = 0

    def place(self, name: str = "run") -> Path:
        """A new empty folder."""
        self._made += 1
        path = self.folder / f"{self._made}" / name
        path.mkdir(parents=True)
        return path

    def environment(self) -> dict[str, str]:
        own = {"HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "LC_ALL"}
        kept = {name: value for name, value in os.environ.items() if name not in own}
        data = {"XDG_DATA_HOME": str(self.home / "data"), "XDG_CONFIG_HOME": str(self.home / "config")}
        return kept | data | {"HOME": str(self.home), "LC_ALL": "C.UTF-8"}

    def start(self, arguments: Sequence[object], setup: Setup | None = None, **more: object) -> subprocess.Popen:
        """The program with these arguments; the caller waits for it."""
        command = [self.program, *map(str, arguments)]
        more.setdefault("stdin", subprocess.DEVNULL)
        more.setdefault("stdout", subprocess.DEVNULL)
        more.setdefault("stderr", subprocess.DEVNULL)
        more.setdefault("env", self.environment())
        return subprocess.Popen(command, preexec_fn=setup, **more)  # type: ignore[call-overload]

    def measured(
        self,
        *arguments: object,
        seconds: float = 60,
        setup: Setup | None = None,
        program: Sequence[str] = (),
        stdin: Path | None = None,
        cwd: Path | None = None,
    ) -> Done:
        """Runs the program to its end, or to the end of our patience, and judges nothing."""
        words = list(map(str, arguments))
        out, err = self.folder / "out", self.folder / "err"
        with out.open("wb") as to_out, err.open("wb") as to_err, open(stdin or os.devnull, "rb") as given:
            begun = time.monotonic()
            process = subprocess.Popen(
                [*program, self.program, *words], stdin=given, stdout=to_out, stderr=to_err, env=self.environment(),
                preexec_fn=setup, cwd=cwd,
            )  # fmt: skip
            watch = Watch(process, seconds)
            watch.start()
            _, status, used = os.wait4(process.pid, 0)
            wall = time.monotonic() - begun
            watch.ended.set()
        process.returncode = os.waitstatus_to_exitcode(status)
        with out.open("rb") as from_out, err.open("rb") as from_err:
            texts = from_out.read(MOST_OUTPUT), from_err.read(MOST_OUTPUT)
        return Done(
            words, process.returncode, *texts, wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, watch.hung
        )

    def run(
        self,
        *arguments: object,
        seconds: float = 60,
        limit: float | None = None,
        memory: float | None = None,
        statuses: Sequence[int] = (0, 3, 4),
        text: bool = True,
        **more: object,
    ) -> Done:
        """Runs the program and asks what must hold of every run; `limit` and `memory` are what it may take."""
        done = self.measured(*arguments, seconds=seconds, **more)  # type: ignore[arg-type]
        if limit is not None and limit < done.wall < seconds and done.cpu < done.wall * 0.8:
            # Somebody else may have had the machine: the better of two counts.
            again = self.measured(*arguments, seconds=seconds, **more)  # type: ignore[arg-type]
            done = min(done, again, key=lambda one: one.wall)
        self.row.note(done)
        problems = list(complaints(done, statuses, text))
        if limit is not None and done.wall > limit and not done.hung:
            problems.append(f"took {done.wall:.1f} s of {limit:g}")
        if memory is not None and done.memory > memory:
            problems.append(f"took {done.memory:.0f} MB of {memory:g}")
        said = done.errors().strip().splitlines()
        self.row.check(not problems, f"`{done.shown()}`: {'; '.join(problems)}; it said: {' / '.join(said[:3])[:300]}")
        return done

    def good(self, done: Done, condition: object, what: str) -> bool:
        """One more thing that must hold of a run."""
        said = done.errors().strip().replace("\n", " / ")[:300]
        return self.row.check(condition, f"`{done.shown()}` (status {done.status}): {what}; it said: {said}")

    def query(self, session: Path, sql: str) -> list[list[str | None]]:
        """Rows of a session through `nanscope sql`."""
        done = self.measured("sql", session, sql, "--json")
        rows = done.json().get("rows")
        if rows is None:
            self.good(done, False, "no rows")
            return []
        return rows


def complaints(done: Done, statuses: Sequence[int], text: bool) -> Iterator[str]:
    """What must hold of every run, whatever it was given."""
    if done.hung:
        yield f"did not end in {done.wall:.0f} s"
    elif done.status < 0:
        yield f"ended by {signal.Signals(-done.status).name}"
    elif done.status not in statuses:
        yield f"exit status {done.status}"
    everything = done.errors() + (done.answer() if text else "")
    for word in CODE_WORDS:
        if word in everything:
            yield f'said "{word}"'
    for stream, contents in (("stdout", done.out if text else b""), ("stderr", done.err)):
        steering = steering_in(contents)
        if steering:
            yield f"{steering} on {stream}"
    if done.status in (1, 2, 4) and not done.err.strip():
        yield "failed without a word"


def steering_in(contents: bytes) -> str:
    """The first character that a terminal or a reader must not get, with what is around it; empty if there is none."""
    try:
        shown = contents.decode("utf-8")
    except UnicodeDecodeError as bad:
        if len(contents) < MOST_OUTPUT:
            return f"bytes that are no UTF-8 ({contents[max(0, bad.start - 20) : bad.start + 5]!r})"
        shown = contents.decode("utf-8", "ignore")
    found = STEERING.search(shown)
    return f"U+{ord(found.group()):04X} ({shown[max(0, found.start() - 30) : found.end() + 10]!r})" if found else ""


@dataclass(frozen=True)
class Attack:
    name: str
    what: str
    run: Callable[[Bench], None]
    since: int  # smallest --scale


ATTACKS: dict[str, Attack] = {}


def attack(name: str, what: str, since: int = 1) -> Callable[[Callable[[Bench], None]], Callable[[Bench], None]]:
    """Enters a function into the list of attacks."""

    def enter(function: Callable[[Bench], None]) -> Callable[[Bench], None]:
        ATTACKS[name] = Attack(name, what, function, since)
        return function

    return enter


def limited(kind: int, amount: int) -> Setup:
    """A limit on what the program may have, set in its process before it begins."""

    def setup() -> None:
        resource.setrlimit(kind, (amount, amount))

    return setup


def with_umask(mask: int) -> Setup:
    def setup() -> None:
        os.umask(mask)

    return setup


def rejected(answer: dict) -> list[tuple[str, str]]:
    """Paths and reasons of what an answer says it could not take."""
    found = [*answer.get("rejected", []), *answer.get("unread", [])]
    for one in answer.get("imports", []):
        found += one.get("rejected", [])
    return [(str(entry.get("path")), str(entry.get("reason"))) for entry in found]


def names_of(answer: dict) -> list[str]:
    """Captures that an answer of `list` or `diagnose` holds."""
    entries = answer.get("captures", [])
    return [str(entry.get("file", entry.get("capture"))) for entry in entries if isinstance(entry, dict)]


def change(session: Path, *statements: tuple[str, tuple[object, ...]] | str) -> None:
    """Edits a session as a stranger would."""
    with contextlib.closing(sqlite3.connect(session)) as database:
        for statement in statements:
            sql, values = (statement, ()) if isinstance(statement, str) else statement
            database.execute(sql, values)
        database.commit()


def is_sound(session: Path) -> str:
    """SQLite's own word on a copy of a session, so that the session itself is left as it is."""
    copy = session.with_name(session.name + ".copy")
    for ending in ("", "-journal", "-wal"):
        beside = session.with_name(session.name + ending)
        if beside.exists():
            shutil.copyfile(beside, copy.with_name(copy.name + ending))
    try:
        with contextlib.closing(sqlite3.connect(copy)) as database:
            return str(database.execute("PRAGMA integrity_check").fetchone()[0])
    except sqlite3.Error as error:
        return str(error)
    finally:
        for ending in ("", "-journal", "-wal", "-shm"):
            copy.with_name(copy.name + ending).unlink(missing_ok=True)


def doubled(values: Sequence[object]) -> list[object]:
    return [value for value, count in Counter(values).items() if count > 1]
