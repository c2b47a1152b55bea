#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""How soon `nanscope watch` tells: from the rename of a dump, or the write of a line, to the line it prints.

watch_latency.py NANSCOPE [RUN]     RUN is copied, never written to; without it a run of 2,000 dumps and 64 logs is made.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "attack"))
import makefiles  # noqa: E402

TURNS = 15


def line(step: int, loss: str) -> str:
    return f"Step {step}: train_loss={loss}, grad_norm=0.25\n"


def make_run(run: Path) -> None:
    for i in range(2000):
        makefiles.capture(run / f"dumps/ns_rank{i % 64}_{i:05}.pt", 64, 96, output=0.25, first=1.0 + i)
    for rank in range(64):
        text = "".join(line(step, f"{2 + 1 / (step + 1):.4f}") for step in range(1500))
        (run / f"logs/rank_{rank}.log").write_text(text)


class Watch:
    def __init__(self, program: str, run: Path, data: Path) -> None:
        environment = dict(os.environ, XDG_DATA_HOME=str(data))
        command = [program, "watch", str(run), "--json"]
        self.child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        self.until("watching")

    def until(self, kind: str) -> float:
        assert self.child.stdout
        for text in self.child.stdout:
            if json.loads(text)["kind"] == kind:
                return time.monotonic()
        raise SystemExit("the watching ended")

    def end(self) -> None:
        self.child.send_signal(signal.SIGINT)
        self.child.communicate()
        assert self.child.returncode == 0, self.child.returncode


def dumps(watch: Watch, run: Path, count: int) -> list[float]:
    times = []
    for turn in range(count):
        made = makefiles.capture(run.parent / "half.pt", 64, 96, first=-1.0 - turn - random.random())
        begin = time.monotonic()
        made.rename(run / f"new_rank{turn}_{time.monotonic_ns()}.pt")
        times.append(watch.until("dump") - begin)
        time.sleep(random.uniform(0.2, 0.6))
    return times


def lines(watch: Watch, run: Path, count: int) -> list[float]:
    times = []
    for turn in range(count):
        log = run / f"late{time.monotonic_ns()}_rank_{turn}.log"
        # Two logs alike to the byte would be one.
        log.write_text(line(1, f"{random.uniform(1, 2):.6f}"))
        time.sleep(random.uniform(1.0, 1.5))
        begin = time.monotonic()
        with log.open("a") as file:
            file.write(line(2, "nan"))
        times.append(watch.until("nonfinite") - begin)
    return times


def growing(run: Path, over: threading.Event) -> None:
    """Every rank logs four lines a second."""
    logs = sorted(run.glob("logs/rank_*.log")) or sorted(run.glob("**/*.log"))
    for step in range(2000, 10**9):
        for log in logs:
            with log.open("a") as file:
                file.write(line(step, "1.5"))
        if over.wait(0.25):
            return


def show(what: str, times: list[float]) -> None:
    ms = [1000 * seconds for seconds in times]
    print(f"  {what:34} median {statistics.median(ms):5.0f} ms, longest {max(ms):5.0f} ms of {len(ms)}", flush=True)


def main() -> None:
    program, given = sys.argv[1], sys.argv[2:]
    folder = Path(tempfile.mkdtemp(prefix="nanscope-watch-"))
    run = folder / "run"
    if given:
        shutil.copytree(given[0], run)
        subprocess.run(["chmod", "-R", "u+w", str(run)], check=True)
    else:
        (run / "dumps").mkdir(parents=True)
        (run / "logs").mkdir()
        make_run(run)
    count = sum(1 for path in run.rglob("*.pt"))
    load = os.getloadavg()[0]
    print(f"{given[0] if given else 'a made run'}: {count} dumps, {os.cpu_count()} cores, load {load:.1f}")
    watch = Watch(program, run, folder / "data")
    show("dump", dumps(watch, run, TURNS))
    show("first NaN of a log", lines(watch, run, TURNS))
    over = threading.Event()
    trainer = threading.Thread(target=growing, args=(run, over))
    trainer.start()
    show("dump, all logs growing", dumps(watch, run, TURNS))
    show("first NaN of a log, all growing", lines(watch, run, TURNS))
    over.set()
    trainer.join()
    watch.end()
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
