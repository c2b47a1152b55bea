# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""Nothing that was imported is lost and nothing is counted twice, whatever becomes of logs and captures."""

from __future__ import annotations

import gzip
import json
import shutil
from collections import Counter
from pathlib import Path

import makefiles as make
from harness import Bench, attack, doubled, is_sound

Sources = dict[str, list[float]]


class LogFolder:
    """Logs that are written, cut, rotated and copied at random; every value is written once only."""

    def __init__(self, bench: Bench, csv: bool) -> None:
        self.bench = bench
        self.random = bench.random
        self.folder = bench.place()
        self.session = self.folder.parent / "s.nanscope"
        self.csv = csv
        self.step = 0
        self.value = 0
        self.told: dict[float, int] = {}  # by value: in how many different logs it lay at one time
        self.edited: set[float] = set()  # values of logs whose own lines were changed: under another name they are new
        self.history: list[str] = []

    def rows(self, count: int, wide: bool = False) -> str:
        losses = []
        for _ in range(count):
            self.value += 1
            losses.append(1 + self.value / 65536)
        first, self.step = self.step, self.step + count
        if self.csv:
            return "".join(f"{first + i},{loss!r}{',0.5' * wide}\n" for i, loss in enumerate(losses))
        return make.log_text(first, losses)

    def logs(self) -> list[Path]:
        return sorted(path for path in self.folder.rglob("*") if path.is_file())

    def new(self, path: Path) -> None:
        self.step = self.random.choice((0, 0, self.step))
        path.write_text(("step,loss\n" if self.csv else "") + self.rows(self.random.choice((1, 3, 40, 400))))

    def free(self) -> Path:
        self.value += 1
        ending = "csv" if self.csv else "log"
        folder = self.folder / self.random.choice(("", "", "old"))
        folder.mkdir(exist_ok=True)
        return folder / f"train{self.value}.{ending}"

    def change(self) -> None:
        """One thing that happens to logs."""
        plain = [path for path in self.logs() if path.suffix != ".gz"]
        if not plain:
            return self.new(self.free())
        log = self.random.choice(plain)
        kinds = ["append"] * 5 + [
            "partial",
            "anew",
            "anew",
            "truncate",
            "empty",
            "rotate",
            "rotate",
            "copytruncate",
            "pack",
        ]
        kinds += ["copy", "rename", "delete", "new", "rewrite", "shorter", "swap", "again", "same", "back"]
        kind = self.random.choice(kinds)
        self.history.append(f"{kind} {log.name}")
        text = log.read_text()
        wide = text.startswith("step,loss,lr")
        if kind in ("truncate", "rewrite", "shorter"):
            self.edited |= set(self.on_disk()[log])
        match kind:
            case "append":
                with log.open("a") as out:
                    out.write(self.rows(self.random.choice((1, 5, 300)), wide))
            case "partial":
                line = self.rows(1, wide)
                with log.open("a") as out:
                    out.write(line[:-4])
                self.take()
                with log.open("a") as out:
                    out.write(line[-4:])
            case "anew":
                self.new(log)
            case "truncate":
                rows = text.splitlines(keepends=True)
                log.write_text("".join(rows[: self.random.randrange(self.csv, len(rows) + 1)]))
            case "empty":
                log.write_text("step,loss\n" if self.csv else "")
            case "rotate":
                log.rename(self.free())
                self.new(log)
            case "copytruncate":
                shutil.copyfile(log, self.free())
                self.new(log)
            case "pack":
                packed = log.with_name(log.name + ".gz")
                packed.write_bytes(gzip.compress(text.encode()))
                log.unlink()
            case "copy":
                shutil.copyfile(log, self.free())
            case "rename":
                log.rename(self.free())
            case "delete":
                log.unlink()
            case "new":
                self.new(self.free())
            case "rewrite":  # the same rows again, and one more column or line in front
                more = text if wide else text.replace("\n", ",0.5\n").replace("step,loss,0.5", "step,loss,lr", 1)
                log.write_text(more if self.csv else "a line in front\n" + text)
            case "shorter":
                rows = text.splitlines(keepends=True)
                log.write_text("".join(rows[: self.csv] + rows[self.csv + 1 :]))
            case "swap":
                other = self.random.choice(plain)
                contents = other.read_text()
                other.write_text(text)
                log.write_text(contents)
            case "again":
                log.write_text(text)
            case "back":  # what an earlier import saw comes back
                kept = log.with_suffix(".kept")
                log.rename(kept)
                self.take()
                kept.rename(log)

    def on_disk(self) -> dict[Path, list[float]]:
        """What whole lines of the files hold."""
        found = {}
        for path in self.logs():
            raw = path.read_bytes()
            text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode()
            whole = text[: text.rfind("\n") + 1]
            mark = "," if self.csv else "train_loss:"
            parts = [line.split(mark)[1] for line in whole.splitlines() if mark in line]
            found[path] = [float(part) for part in parts if part.replace(".", "", 1).isdigit()]
        return found

    def take(self) -> None:
        """An import, and what it can see."""
        lying: Counter[float] = Counter()
        seen = set()
        for path, values in self.on_disk().items():
            raw = path.read_bytes()
            if raw not in seen:
                seen.add(raw)
                lying.update(set(values))
        for value, count in lying.items():
            self.told[value] = max(self.told.get(value, 0), count)
        self.bench.run("import", self.folder, "--session", self.session, limit=10, memory=300)
        self.history.append("IMPORT")

    def sources(self) -> tuple[Sources, Sources]:
        """Values that the session gives, by log; apart those of logs before they were begun anew."""
        now: Sources = {}
        before: Sources = {}
        listed = self.bench.measured("list", self.session, "series", "--json").json()
        replaced = {str(one.get("source")) for one in listed.get("series", []) if one.get("replaced")}
        done = self.bench.measured("export", self.session, "--series", "loss", "--format", "jsonl")
        for line in done.answer().splitlines():
            point = json.loads(line)
            given = before if point["source"] in replaced else now
            given.setdefault(point["source"], []).append(point["loss"])
        return now, before

    def check(self) -> None:
        """Every oracle after an import: nothing is lost, nothing is in more logs than held it."""
        now, before = self.sources()
        row = self.bench.row
        all_values = {value for values in [*now.values(), *before.values()] for value in values}
        tale = " → ".join(self.history[-12:])
        lost = [value for value in self.told if value not in all_values]
        row.check(not lost, f"{len(lost)} values lost ({lost[:3]}) after: {tale}")
        for source, values in [*now.items(), *before.items()]:
            row.check(not doubled(values), f"{source} has values twice ({doubled(values)[:3]}) after: {tale}")
        counted = Counter(value for values in now.values() for value in set(values))
        twice = [
            value for value, count in counted.items() if count > self.told.get(value, 0) and value not in self.edited
        ]
        row.check(not twice, f"{len(twice)} values are in more logs than ever held them ({twice[:3]}) after: {tale}")
        disk = {str(path.relative_to(self.folder)): values for path, values in self.on_disk().items()}
        for source, values in now.items():
            if source in disk and disk[source]:
                missing = [value for value in disk[source] if value not in set(values)]
                row.check(not missing, f"{source} lacks {len(missing)} values of its file after: {tale}")
        in_some = {value for values in now.values() for value in values}
        unread = [name for name, values in disk.items() if not set(values) <= in_some]
        row.check(not unread, f"the values of {unread} are in no log of the session after: {tale}")


@attack(
    "histories", "H3: logs appended to, begun anew, cut, rotated, packed, copied, renamed at random between imports"
)
def histories(bench: Bench) -> None:
    """Every value ever imported is found, and none in more logs than held it."""
    imports = 0
    for number in range(14 * bench.scale):
        folder = LogFolder(bench, csv=number % 3 == 2)
        folder.new(folder.free())
        for _ in range(14):
            for _ in range(bench.random.choice((0, 1, 1, 2, 3))):
                folder.change()
            folder.take()
            imports += 1
            if bench.random.random() < 0.5:
                folder.check()
        folder.check()
        bench.row.check(is_sound(folder.session) == "ok", "the session is damaged")
    bench.row.remark(f"{imports} imports")


@attack("begun-anew", "H3: a log begun anew in place is said once, and all it told is kept")
def begun_anew(bench: Bench) -> None:
    """The plain cases, one by one, with what is said."""
    for kind in ("same size", "shorter", "longer", "copytruncate", "other columns", "one line"):
        folder = bench.place()
        ending = "csv" if kind == "other columns" else "log"
        log, session = folder / f"train.{ending}", folder.parent / "s.nanscope"
        csv = kind == "other columns"
        first = [2 + i / 512 for i in range(100)]
        log.write_text(
            "step,loss\n" + "".join(f"{i},{v}\n" for i, v in enumerate(first)) if csv else make.log_text(0, first)
        )
        bench.run("import", folder, "--session", session, statuses=(0,))
        count = {
            "same size": 100,
            "shorter": 40,
            "longer": 300,
            "copytruncate": 5,
            "other columns": 100,
            "one line": 1,
        }[kind]
        second = [3 + i / 512 for i in range(count)]
        if kind == "copytruncate":
            shutil.copyfile(log, folder / "train.log.1")
        text = "step,loss,lr\n" + "".join(f"{i},{v},0.5\n" for i, v in enumerate(second))
        log.write_text(text if csv else make.log_text(0, second))
        done = bench.run("import", folder, "--session", session, statuses=(0,))
        if kind != "copytruncate":
            bench.good(done, "begun anew" in done.errors(), f"not a word about a log begun anew ({kind})")
        quiet = bench.run("import", folder, "--session", session, statuses=(0,))
        bench.good(quiet, "begun anew" not in quiet.errors(), f"said again though nothing came ({kind})")
        exported = bench.run("export", session, "--series", "loss", statuses=(0,))
        values = [float(line.split(",")[3]) for line in exported.answer().splitlines()[1:]]
        bench.good(
            exported, sorted(values) == sorted(first + second), f"{len(values)} values, not {100 + count} ({kind})"
        )


@attack("copies", "H4: captures copied, renamed, swapped, overwritten and deleted at random between imports")
def copies(bench: Bench) -> None:
    """Every capture ever imported is there once, the first of equal ones keeps its name."""
    for _ in range(10 * bench.scale):
        folder = bench.place()
        session = folder.parent / "s.nanscope"
        holds: dict[str, int] = {}  # by name: which capture lies there
        names: dict[int, str] = {}  # by capture: what it should be called
        seen: set[int] = set()
        made = 0
        tale: list[str] = []

        def write(name: str, number: int, folder: Path = folder, holds: dict[str, int] = holds) -> None:
            make.capture(folder / name, 3, 5, epsilon=number / 1024, first=1 + number / 64)
            holds[name] = number

        for _ in range(10):
            for _ in range(bench.random.choice((1, 2, 3))):
                kind = bench.random.choice(("new", "new", "copy", "rename", "overwrite", "delete", "swap", "cut"))
                known = sorted(holds)
                if kind == "new" or not known:
                    made += 1
                    write(f"{bench.random.choice('abcxyz')}{made}.pt", made)
                    continue
                one = bench.random.choice(known)
                tale.append(f"{kind} {one}")
                fresh = f"{bench.random.choice('abcxyz')}{made}-{len(tale)}.pt"
                match kind:
                    case "copy":
                        write(fresh, holds[one])
                    case "rename":
                        (folder / one).rename(folder / fresh)
                        holds[fresh] = holds.pop(one)
                    case "overwrite":
                        made += 1
                        write(one, made)
                    case "delete":
                        (folder / one).unlink()
                        del holds[one]
                    case "swap":
                        other = bench.random.choice(known)
                        first, second = holds[one], holds[other]
                        write(one, second)
                        write(other, first)
                    case "cut":
                        contents = (folder / one).read_bytes()
                        (folder / one).write_bytes(contents[: len(contents) // 2])
                        del holds[one]
            bench.run("import", folder, "--session", session, statuses=(0, 3, 4), limit=10, memory=300)
            tale.append("IMPORT")
            for number in {*holds.values()}:
                lying = sorted(name for name, held in holds.items() if held == number)
                if names.get(number) not in lying:
                    names[number] = lying[0]
            seen |= {*holds.values()}
            rows = bench.query(session, "select round(epsilon * 1024), path, file from captures")
            found = [round(float(str(epsilon))) for epsilon, _, _ in rows]
            after = " → ".join(tale[-10:])
            bench.row.check(set(found) >= seen, f"captures {sorted(seen - set(found))} are lost after: {after}")
            bench.row.check(not doubled(found), f"captures {doubled(found)} are there twice after: {after}")
            for epsilon, path, _ in rows:
                number = round(float(str(epsilon)))
                if number in holds.values():
                    called = Path(str(path)).name
                    bench.row.check(
                        called == names[number],
                        f"capture {number} is called {called}, not {names[number]} after: {after}",
                    )
