# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""The replay service with a partner that does not read, does not stop, or goes away."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import subprocess
import time
from pathlib import Path

import makefiles as make
from harness import Bench, attack

MOST_MEMORY = 200  # MB


def peak_of(process: subprocess.Popen) -> float:
    """The most memory it has had so far, in MB."""
    with contextlib.suppress(OSError), open(f"/proc/{process.pid}/status") as status:
        for line in status:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return 0


def flood(process: subprocess.Popen, line: bytes, seconds: float) -> int:
    """Writes the line again and again, reading nothing; how many went."""
    assert process.stdin
    os.set_blocking(process.stdin.fileno(), False)
    block = line * max(1, 65536 // len(line))
    sent = at = 0
    ends = time.monotonic() + seconds
    with selectors.DefaultSelector() as ready:
        ready.register(process.stdin, selectors.EVENT_WRITE)
        while time.monotonic() < ends:
            if not ready.select(1):
                break  # it waits for us: that is what it should do
            try:
                gone = os.write(process.stdin.fileno(), block[at:])
            except (BlockingIOError, BrokenPipeError):
                break
            sent += gone
            at = (at + gone) % len(block)
    return sent // len(line)


@attack("serve-unread", "`serve` whose output nobody reads while requests go on coming: its memory stays below 200 MB")
def serve_unread(bench: Bench) -> None:
    """Small requests, wrong ones, long ones, and jobs that answer with much."""
    path = make.capture(bench.place() / "fine.pt", 24, 32, output=0)
    sweep = {"id": 1, "do": "sweep", "captures": [str(path)], "variants": ["keller-jordan"]}
    sweep |= {"precisions": ["fp32"], "devices": ["cpu"]}
    film = {
        "id": 2,
        "do": "film",
        "capture": str(path),
        "variant": "keller-jordan",
        "precision": "fp32",
        "device": "cpu",
    }
    requests = {
        "hello": json.dumps({"id": 1, "do": "hello"}),
        "nonsense": "x" * 100,
        "unknown": json.dumps({"id": "y" * 2000, "do": "z" * 2000}),
        "nested": "[" * 4000,
        "long": json.dumps({"id": 3, "do": "cancel", "job": "z" * 3_000_000}),
        "sweeps": json.dumps(sweep),
        "films": json.dumps(film),
        "too long": "x" * 6_000_000,
    }
    for name, request in requests.items():
        process = bench.start(["serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        sent = flood(process, request.encode() + b"\n", 6)
        time.sleep(0.3)
        peak = peak_of(process)
        bench.row.memory = max(bench.row.memory, peak)
        bench.row.check(process.poll() is None, f"serve ended while {name} requests came: {process.returncode}")
        bench.row.check(peak <= MOST_MEMORY, f"serve holds {peak:.0f} MB after {sent} unread {name} requests")
        bench.row.remark(f"{name}: {sent} sent, {peak:.0f} MB")
        begun = time.monotonic()
        assert process.stdin and process.stdout and process.stderr
        process.stdin.close()
        process.stdout.close()  # and now the reader is gone
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            bench.row.check(False, f"serve does not end when its reader is gone ({name})")
        bench.row.wall = max(bench.row.wall, time.monotonic() - begun)
        bench.row.check(
            process.returncode >= 0, f"serve ended by signal {-process.returncode} when its reader was gone ({name})"
        )
        process.stderr.close()


def answers(bench: Bench, lines: list[object], seconds: float = 60) -> tuple[list[dict], int]:
    """What the service answers to these lines when its input ends right behind them."""
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    requests = bench.folder / "requests"
    requests.write_text(text)
    done = bench.run("serve", stdin=requests, seconds=seconds, statuses=(0,), memory=MOST_MEMORY)
    return [json.loads(line) for line in done.answer().splitlines()], done.status


@attack(
    "serve-end",
    "`serve`: jobs that wait when the input ends are each answered once; what is no request is answered",
)
def serve_end(bench: Bench) -> None:
    """Ten jobs and the end of input at once."""
    folder = bench.place()
    paths = [make.capture(folder / f"c{i}.pt", 32, 48, output=0, first=1 + i / 9) for i in range(3)]

    def sweep(number: int) -> dict[str, object]:
        captures, variants = [str(path) for path in paths], ["keller-jordan", "gns-gram"]
        more = {"precisions": ["fp32", "bf16"], "devices": ["cpu"]}
        return {"id": number, "do": "sweep", "captures": captures, "variants": variants} | more

    for count in (1, 4, 10):
        jobs: list[object] = [sweep(i) for i in range(count)]
        jobs += [
            {"id": f"f{count}", "do": "film", "capture": str(paths[0]), "variant": "gns-gram", "precision": "fp32"}
        ]
        got, _ = answers(bench, jobs, 120)
        for job in jobs:
            assert isinstance(job, dict)
            ends = [one for one in got if one.get("id") == job["id"] and {"done", "error", "cancelled"} & set(one)]
            bench.row.check(len(ends) == 1, f"job {job['id']} of {count} was answered {len(ends)} times")
    stopped, _ = answers(bench, [sweep(1), sweep(2), {"id": 9, "do": "cancel", "job": 2}])
    ends = [one for one in stopped if one.get("id") == 2 and {"done", "cancelled"} & set(one)]
    bench.row.check(len(ends) == 1, f"a cancelled job was answered {len(ends)} times: {ends[:3]}")
    odd: list[object] = [
        "",
        "{}",
        "[]",
        "null",
        "1",
        '"x"',
        "{",
        "\x00",
        "\ufffd",
        '{"id":1}',
        '{"do":5}',
        '{"id":{"a":1},"do":"hello"}',
        "[" * 100_000,
        '{"id":1,"do":"sweep","captures":["/dev/zero","/nowhere.pt",""]}',
        '{"id":2,"do":"sweep","captures":5}',
        '{"id":3,"do":"film","capture":"' + str(paths[0]) + '","variant":"gns-gram","precision":"fp32","batch":-1}',
        '{"id":4,"do":"film","capture":"'
        + str(paths[0])
        + '","variant":"gns-gram","precision":"fp32","batch":4611686018427387904}',
        '{"id":5,"do":"frame","capture":"'
        + str(paths[0])
        + '","variant":"gns-gram","precision":"fp32","op":9223372036854775807}',
        '{"id":6,"do":"frame","capture":"'
        + str(paths[0])
        + '","variant":"gns-gram","precision":"fp32","op":1,"region":[0,0,4611686018427387904,4]}',
        '{"id":7,"do":"cliff","capture":"'
        + str(paths[0])
        + '","variant":"gns-gram","precision":"fp32","scale":1e308,"safety":-1,"roundings":1000000000}',
        '{"id":8,"do":"deep","capture":"' + str(paths[0]) + '","variant":"gns-gram","precision":"fp32","steps":100}',
        '{"id":9,"do":"hello","definitions":[{"name":"' + "x" * 100_000 + '"}]}',
        '{"id":10,"do":"sweep","epsilon":1e999}',
        '{"id":11,"do":"sweep","captures":["' + str(paths[0]) + '"],"session":"' + str(paths[1]) + '"}',
        json.dumps({"id": 12, "do": "hello"}),
    ]
    got, _ = answers(bench, odd)
    bench.row.check(any("hello" in one and one.get("id") == 12 for one in got), "serve did not get to its last request")
    bench.row.check(len(got) >= len(odd) - 3, f"{len(got)} answers to {len(odd)} lines")
    leftover = (
        [name for name in os.listdir("/dev/shm") if name.startswith("nanscope-")] if Path("/dev/shm").is_dir() else []
    )
    bench.row.check(not leftover, f"left in shared memory: {leftover[:3]}")
