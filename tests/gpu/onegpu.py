# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""Everything that waits for a GPU, in one command, also on a machine that has a GPU, torch and nothing else of ours.

    python tests/gpu/onegpu.py pack build/release FOLDER    programs, stripped, and the libraries a bare machine lacks
    python3 FOLDER/onegpu.py check FOLDER OUT [--device D] [--only NAME,..]

The second writes OUT/summary.txt, a line for each check with its status and seconds, and OUT/logs.tgz with what each
printed. torch is that of the interpreter; it has to be of the version the programs were linked against.
"""
from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

PROGRAMS = ["bin/nanscope", "bin/nanscope-worker", "bin/bench_cuda", "tests/test_cuda"]
SCRIPTS = ["tests/gpu/onegpu.py", "tests/bench/compare.py"]
FOLDERS = ["tests/capture", "tests/lab", "tests/reference", "resources/python"]
# Of every system, or of torch.
NOT_TAKEN = re.compile(r"/(ld-linux|libc\.|libm\.|libdl\.|librt\.|libpthread\.|libutil\.|libgcc_s|libstdc)|/site-packages/|libcuda\.")

SKIPPED = 77  # as automake and CTest have it

MY_FUNCTION = """
import torch

def f(x, epsilon=1e-7):
    y = x.bfloat16()
    y = y / (y.norm(dim=(-2, -1), keepdim=True) + epsilon)
    for _ in range(5):
        gram = y @ y.mT
        y = 3.4445 * y + (-4.7750 * gram + 2.0315 * gram @ gram) @ y
    return y
"""


def pack(build: Path, folder: Path) -> None:
    root = Path(__file__).resolve().parents[2]
    (folder / "lib").mkdir(parents=True, exist_ok=True)
    (folder / "bin").mkdir(exist_ok=True)
    for program in PROGRAMS:
        target = folder / "bin" / Path(program).name
        subprocess.run(["strip", "-o", target, build / program], check=True)
        needs = subprocess.run(["ldd", build / program], check=True, capture_output=True, text=True).stdout
        for name, path in re.findall(r"(\S+) => (/\S+)", needs):
            if not NOT_TAKEN.search(path):
                shutil.copy(path, folder / "lib" / name)
    for script in SCRIPTS:
        shutil.copy(root / script, folder)
    for source in FOLDERS:
        shutil.copytree(root / source, folder / source, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{size / 1e6:.0f} MB in {folder}")


def stacks(process: subprocess.Popen[str]) -> str:
    """Where a process that does not end stands, and the processes it started, where a debugger is there."""
    debugger = shutil.which("gdb") or shutil.which("cuda-gdb")
    if debugger is None:
        return "no debugger is there\n"
    try:
        started = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    except OSError:
        return "it ended meanwhile\n"
    said = ""
    for pid in [str(process.pid), *started]:
        line = [debugger, "-batch", "-p", pid, "-ex", "thread apply all bt 20"]
        try:
            said += subprocess.run(line, text=True, timeout=30, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
        except subprocess.TimeoutExpired:
            said += f"the debugger did not end with process {pid}\n"
    return said


class Bench:
    """The packed programs, the captures they are given, and where logs go."""

    def __init__(self, folder: Path, out: Path, data: Path, device: str) -> None:
        import torch

        self.torch = torch
        self.bin = folder.resolve() / "bin"
        self.nanscope = str(self.bin / "nanscope")
        self.device = device
        self.logs = data / "logs"
        self.data = data
        self.folder = folder.resolve()
        self.logs.mkdir(parents=True, exist_ok=True)
        (self.data / "mine.py").write_text(MY_FUNCTION)
        libraries = [str(folder.resolve() / "lib"), str(Path(torch.__file__).parent / "lib")]
        self.environment = {
            **os.environ,
            "LD_LIBRARY_PATH": ":".join([*libraries, os.environ.get("LD_LIBRARY_PATH", "")]),
            "PATH": f"{self.bin}:{os.environ['PATH']}",
            "PYTHONPATH": str(self.data),
        }

    def dump(self, name: str, rows: int, cols: int, whole: bool = False) -> Path:
        """Input and output of keller-jordan in bf16; NaN in a tile of the output, or in all of it."""
        path = self.data / f"{name}.pt"
        if not path.exists():
            torch = self.torch
            torch.manual_seed(rows)
            sys.path.insert(0, str(self.data))
            from mine import f

            # On the device, where it has one: a product of this size takes a CPU a minute.
            x = torch.randn(1, rows, cols).to(torch.bfloat16)
            y = f(x.to(self.device)).cpu()
            if whole:
                y[:] = float("nan")
            else:
                y[0, 256:288, 512:640] = float("nan")
            torch.save({"input": x, "output": y, "rank": 0, "epsilon": 1e-7}, path)
        return path

    def run(self, log: str, command: list[str], limit: float) -> tuple[int, str]:
        try:
            process = subprocess.Popen(command, env=self.environment, cwd=self.data, text=True, start_new_session=True,
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        except OSError as error:
            status, said = 127, str(error)
        else:
            try:
                said = process.communicate(timeout=limit)[0]
                status = process.returncode
            except subprocess.TimeoutExpired:
                where = stacks(process)
                os.killpg(process.pid, signal.SIGKILL)
                status, said = 124, process.communicate()[0] + where
        with (self.logs / f"{log}.txt").open("a") as file:
            file.write(f"$ {' '.join(map(str, command))}\n{said}\n[status {status}]\n")
        return status, said

    def torchrun(self, log: str, command: list[str], limit: float) -> int:
        start = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "1", "--no-python"]
        return self.run(log, [*start, *command], limit)[0]

    def job(self, log: str, command: list[str], ranks: list[str], limit: float) -> int:
        """A job of one process: made, worked on under torchrun, gathered. 0 where all of it is there."""
        folder = str(self.data / f"job-{log}")
        line = [*command, "--job", folder, "--nodes", "1", "--processes", "1"]
        self.run(log, line, limit)
        worked = self.torchrun(log, [word.replace("FOLDER", folder) for word in ranks], limit)
        return self.run(log, line, limit)[0] or worked


def verdicts(answer: str) -> list[tuple]:
    """What a device may not change: all but times and what is said of the device."""
    found = json.loads(answer[answer.index("{"):])["captures"]
    return [(one["capture"], one["role"], one["verdict"], one.get("rule"), one["summary"]) for one in found]


def same_verdict(bench: Bench) -> int:
    capture = str(bench.dump("tile", 1024, 2752))
    told = []
    for device in (bench.device, "cpu"):
        line = [bench.nanscope, "diagnose", capture, "--ran", "keller-jordan", "--nothing-else", "--json"]
        status, said = bench.run("same-verdict", [*line, "--device", device], 60)
        if status != 0:
            return status
        told.append(verdicts(said))
    return 0 if told[0] == told[1] else 1


def checks(bench: Bench) -> Iterator[tuple[str, Callable[[], int]]]:
    n, device, python = bench.nanscope, ["--device", bench.device], sys.executable

    def tool(name: str, command: list[str], limit: float) -> Callable[[], int]:
        return lambda: bench.run(name, command, limit)[0]

    def verdict(name: str, *dump: object) -> Callable[[], int]:
        return lambda: bench.run(name, [n, "diagnose", str(bench.dump(*dump)), *device], 80)[0]

    def own(*more: str) -> list[str]:
        return [str(bench.dump("tile", 1024, 2752)), "--impl", "python:mine.py:f", "--python", python, *device, *more]

    def compared() -> int:
        line = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import compare, pathlib; "
        line += f"compare.on_gpu({n!r}, pathlib.Path({str(bench.data)!r}))"
        return bench.run("sweep", [python, "-c", line], 150)[0]

    yield "machine", tool("machine", ["nvidia-smi"], 20)
    yield "test_cuda", tool("test_cuda", [str(bench.bin / "test_cuda")], 60)
    yield "same-verdict", lambda: same_verdict(bench)
    yield "verdict-tile", verdict("verdict-tile", "large", 4096, 11008)
    yield "verdict-all", verdict("verdict-all", "all", 4096, 11008, True)
    yield "bench_cuda", tool("bench_cuda", [str(bench.bin / "bench_cuda")], 90)
    yield "sweep", compared
    yield "repeat", lambda: bench.run("repeat", [n, "measure", "repeat", *own("-n", "100")], 60)[0]
    yield "storm", lambda: bench.run("storm", [n, "measure", "storm", *own("-n", "100")], 90)[0]
    yield "replay-repeat", lambda: bench.run(
        "replay-repeat",
        [n, "measure", "repeat", str(bench.dump("tile", 1024, 2752)), "--variant", "keller-jordan", *device], 60)[0]
    yield "agree", lambda: bench.run(
        "agree", [n, "agree", str(bench.dump("tile", 1024, 2752)), "--variant", "keller-jordan"], 60)[0]
    yield "reach", lambda: bench.torchrun("reach", ["nanscope-worker", "reach"], 60)
    yield "job-sweep", lambda: bench.job(
        "job-sweep", [n, "sweep", str(bench.dump("tile", 1024, 2752)), "--variant", "keller-jordan", *device],
        ["nanscope-worker", "join", "FOLDER"], 60)
    yield "job-diagnose", lambda: bench.job(
        "job-diagnose", [n, "diagnose", str(bench.dump("tile", 1024, 2752)), *device],
        ["nanscope-worker", "join", "FOLDER"], 60)
    yield "job-measure", lambda: bench.job(
        "job-measure", [n, "measure", "repeat", *own("-n", "50")],
        [n, "measure", "repeat", *own("-n", "50"), "--job", "FOLDER", "--as-rank"], 60)
    tests, kind = bench.folder / "tests", bench.device.partition(":")[0]

    def captures() -> int:
        status, said = bench.run("capture", [python, str(tests / "capture" / "capture_test.py"), "OnAGpu"], 90)
        return status or ("skipped=" in said) * SKIPPED

    yield "capture", captures
    yield "capture-bench", tool(
        "capture-bench", [python, str(tests / "capture" / "capture_bench.py"), "1024", "4096", "--device", kind], 40)
    yield "real-runs", tool(
        "real-runs", [python, str(tests / "lab" / "realruns.py"), str(bench.data / "real"), "--seeds", "7301-7318", "--jobs", "6",
                      "--wrapper", "helper", "--at-least", "80", "--device", kind, "--nanscope", n], 120)
    yield "sanitizer", tool("sanitizer", ["compute-sanitizer", "--version"], 20)
    yield "verdict-largest", verdict("verdict-largest", "largest", 8192, 28672)


def check(folder: Path, out: Path, data: Path, device: str, only: list[str]) -> None:
    bench = Bench(folder, out.resolve(), data, device)
    summary = out / "summary.txt"
    summary.write_text("")
    for name, work in checks(bench):
        if only and name not in only:
            continue
        began = time.monotonic()
        status = work()
        line = f"{name:<16} {'ok' if status == 0 else f'status {status}':<12} {time.monotonic() - began:6.1f} s"
        print(line, flush=True)
        with summary.open("a") as file:
            file.write(line + "\n")
        # Made anew after each, so that a session that is cut off has what was done.
        with tarfile.open(out / "logs.tgz", "w:gz") as archive:
            archive.add(bench.logs, "logs")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    packing = verbs.add_parser("pack")
    packing.add_argument("build", type=Path)
    packing.add_argument("folder", type=Path)
    checking = verbs.add_parser("check")
    checking.add_argument("folder", type=Path)
    checking.add_argument("out", type=Path)
    checking.add_argument("--device", default="cuda:0")
    checking.add_argument("--only", default="")
    given = parser.parse_args()
    if given.verb == "pack":
        pack(given.build, given.folder)
    else:
        given.out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as data:
            check(given.folder, given.out, Path(data), given.device, [name for name in given.only.split(",") if name])


if __name__ == "__main__":
    main()
