# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""Trains tiny models with a fault in them, captures it twice, and scores what `nanscope diagnose` says of each run.

    python tests/lab/realruns.py OUT --seeds 1-60 [--nanscope PROGRAM] [--jobs N] [--only FAULT,...] [--wrapper helper]
        [--judge] [--at-least PERCENT] [--anew] [--spread] [--no-keep] [--device cuda]

Each seed is one plan (realfaults.py), trained by real processes (realtrain.py) once with nanscope_capture around the
function and once with the bare wrapper of dion PR 78. OUT/SEED/helper and OUT/SEED/bare are the folders that a user
would have; OUT/SEED/truth.* is beside them and no reader sees it. The command line tells nothing of either. With --spread
the plans are those of spreadfaults.py, under DistributedDataParallel and fully_shard.

right      the capture of the call that went bad has the verdict of the truth, fair ones as in score.py
births     each birth, or what came from upstream where there are none, is at a (rank, step) where one happened, and
           none of the first step with one is missing; between the lines of two steps in a row is exact
accused    `implementation`, `nondeterministic` or `machine` of any capture of the run where the truth is another
part       the function was given DTensors: right is what judges none of its captures, or finds what came in bad; they
           are counted by themselves, and any accusation is a wrong one

Exit status: 0 nothing is accused wrongly; 1 something is; 2 a run got no answer, or less than --at-least (percent of
the runs with a fault that showed) has, with the first wrapper, a capture, the right verdict and exact births; 77 there
is no torch.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import shutil
import sys
import time
from collections import Counter
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

try:
    import torch
except ImportError as error:
    print(f"skipped: {sys.executable} has no torch ({error})")
    sys.exit(77)
from realfaults import FAULTS, own_of, plan_of
from realtrain import Plan, train
from score import ACCUSING, FAIR, HONEST, Label, find_program, table
from spreadfaults import spread_plan_of

FORK = multiprocessing.get_context("fork")
WRAPPERS = ("helper", "bare")
BORN = ("birth", "padding")
Place = tuple[int, int]  # rank and step


def write_checkpoint(plan: Plan, run: Path) -> None:
    """One that an earlier run left, with NaN in a weight."""
    from realtrain import Model

    model = Model(plan)
    state = model.state_dict()
    name = next(name for name in state if name.split(".")[0] == plan.parameter.split(".")[0])
    state[name].view(-1)[plan.seed % 97 :: 997] = float("nan")
    state_of = {i: {"momentum_buffer": torch.zeros_like(p)} for i, p in enumerate(model.parameters())}
    groups = [{"momentum": plan.momentum, "params": list(state_of)}]
    optimizer = {"state": state_of, "param_groups": groups}
    (run / "checkpoints").mkdir(parents=True)
    torch.save(
        {"model": state, "optimizer": optimizer, "step": plan.at}, run / "checkpoints" / f"step_{plan.at:06}.pt"
    )


def busy(process: multiprocessing.process.BaseProcess) -> float:
    """Seconds that it has run or waited for a core: on a machine with other work a run is slow and does not hang."""
    try:
        ran, waited, _ = Path(f"/proc/{process.pid}/schedstat").read_text().split()
    except (OSError, ValueError):
        return 0.0
    return (int(ran) + int(waited)) / 1e9


def wait_for(ranks: list[multiprocessing.process.BaseProcess]) -> None:
    """Until all have ended. What stands still is ended: a rank that waits for a dead one after a second, all after 30."""
    begin = time.monotonic()

    def idle(process: multiprocessing.process.BaseProcess) -> float:
        return time.monotonic() - begin - busy(process)

    limits: dict[str, float] = {}
    while alive := [process for process in ranks if process.is_alive()]:
        time.sleep(0.005)
        if not limits and any(process.exitcode for process in ranks):
            limits = {process.name: idle(process) + 1 for process in alive}
        if all(idle(process) > limits.get(process.name, 30) for process in alive):
            for process in alive:
                process.kill()
    for process in ranks:
        process.join()


def run_once(plan: Plan, run: Path, truth: Path, wrapper: str) -> float:
    """Trains; returns the seconds it took."""
    run.mkdir(parents=True)
    truth.mkdir()
    if plan.fault == "bad checkpoint":
        write_checkpoint(plan, run)
    begin = time.monotonic()
    for attempt in range(1 if plan.crash is None else 2):
        ranks = [
            FORK.Process(target=train, args=(plan, run, truth, rank, attempt, wrapper, own_of(plan)))
            for rank in range(plan.ranks)
        ]
        for process in ranks:
            process.start()
        wait_for(ranks)
    return time.monotonic() - begin


def happened(plan: Plan, truth: Path) -> dict[str, object]:
    """Where bad values were born, as noted in the calls themselves: [rank, step] pairs, and the first of them."""
    born: set[Place] = set()
    upstream: set[Place] = set()
    wrong: set[Place] = set()
    calls = 0
    for note in sorted(truth.glob("rank*.json")):
        rank = int(note.stem.split("_")[0].removeprefix("rank"))
        for step, _, finite_in, birth, fired in json.loads(note.read_text()):
            calls += 1
            if birth:
                born.add((rank, step))
            elif not finite_in:
                upstream.add((rank, step))
            if fired:
                wrong.add((rank, step))
    first = min((step for _, step in upstream), default=None)
    entered = {place for place in upstream if place[1] == first}
    places = born or (wrong if plan.kind == "stale output" else set()) or entered
    return {"places": sorted(places), "born": bool(born), "wrong": sorted(wrong), "calls": calls}


def diagnosed(program: str, run: Path) -> dict[str, object]:
    import subprocess

    done = subprocess.run([program, "diagnose", str(run), "--json"], capture_output=True, text=True, check=False)
    try:
        return json.loads(done.stdout)
    except ValueError:
        if "holds no" not in done.stderr:
            print(f"no diagnosis (exit status {done.returncode}): {done.stderr.strip()[:300]}: {run}", file=sys.stderr)
        return {"captures": [], "failed": done.returncode}


def at(entry: dict[str, object], place: Place) -> bool:
    step = entry.get("step")
    return entry["rank"] == place[0] and step is not None and step[0] <= place[1] <= step[1]


def chosen(entries: list[dict[str, object]], places: list[Place]) -> dict[str, object] | None:
    """The capture of the first call that went bad."""
    shown = [entry for entry in entries if entry["role"] in (*BORN, "upstream")]
    fitting = [entry for place in places for entry in shown if at(entry, place)]
    everything = [*fitting, *shown, *(entry for entry in entries if entry["role"] == "healthy")]
    return everything[0] if everything else None


def exact(entries: list[dict[str, object]], places: list[Place], born: bool) -> bool:
    """Whether births (what came from upstream, where nothing was born) are at these ranks and steps alone."""
    roles = BORN if born else ("upstream",)
    found = [entry for entry in entries if entry["role"] in roles]
    close = all(e.get("step") is not None and e["step"][1] - e["step"][0] <= 1 for e in found)
    every = all(any(at(e, place) for place in places) for e in found)
    first = min((step for _, step in places), default=0)
    return close and every and all(any(at(e, place) for e in found) for place in places if place[1] == first)


def judge(program: str, label: Label, run: Path) -> Label:
    answer = diagnosed(program, run)
    entries = answer["captures"]
    truth, places = str(label["truth"]), [tuple(place) for place in label["places"]]
    fair = () if label["part"] else FAIR.get(truth, ())
    found = chosen(entries, places)
    accused = [e["capture"] for e in entries if e["verdict"] in ACCUSING and e["verdict"] not in fair]
    verdict = "none" if found is None else str(found["verdict"])
    wanted = (*fair, "upstream" if truth == "upstream" else "undecided") if label["part"] else (*fair, truth)
    if truth == HONEST:
        outcome = "wrong" if accused else "right"
    elif found is None:
        outcome = "no capture"
    else:
        outcome = "right" if verdict in wanted else "undecided" if verdict == "undecided" else "wrong"
    return {
        **label,
        "outcome": outcome,
        "verdict": verdict,
        "kind": None if found is None else found.get("kind"),
        "summary": None if found is None else found["summary"],
        "question": None if found is None else found["question"],
        "capture": None if found is None else found["capture"],
        "accused": accused,
        "exact": exact(entries, places, bool(label["born"]) or label["fault"] == "stale output"),
        "steps": [[e["rank"], e["step"], e["role"], e["step_source"]] for e in entries if e["role"] != "downstream"],
        "captures": len(entries),
        "failed": answer.get("failed"),
    }


def plain(plan: Plan) -> dict[str, object]:
    return {key: str(value) if isinstance(value, torch.dtype) else value for key, value in asdict(plan).items()}


def make(plan: Plan, out: Path, wrappers: Collection[str], only: Collection[str]) -> list[Label]:
    seed = plan.seed
    if only and plan.fault not in only:
        return []
    labels: list[Label] = []
    for wrapper in wrappers:
        run, truth = out / str(seed) / wrapper, out / str(seed) / f"truth.{wrapper}"
        seconds = run_once(plan, run, truth, wrapper)
        labels.append(
            {
                **plain(plan),
                **happened(plan, truth),
                "part": plan.hands == "dtensor",
                "wrapper": wrapper,
                "run": f"{seed}/{wrapper}",
                "seconds": seconds,
            }
        )
    (out / str(seed) / "truth.json").write_text(json.dumps(labels, indent=1) + "\n")
    return labels


def share(part: int, whole: int) -> str:
    return f"{part} of {whole}" + (f" ({part / whole:.1%})" if whole else "")


def decidable(label: Label) -> bool:
    return label["truth"] != HONEST and bool(label["places"])


def report_parts(parts: list[Label], wrapper: str) -> None:
    if not parts:
        return
    faults = [label for label in parts if decidable(label)]
    captured = [label for label in faults if label["outcome"] != "no capture"]
    for label in parts:
        if label["accused"] or (label in captured and label["outcome"] == "wrong"):
            word = "ACCUSED" if label["accused"] else "wrong"
            print(f"{word}: {label['run']} {label['fault']}, a part: {label['verdict']} ({label['summary']})")
    undecided = [label for label in captured if label["verdict"] == "undecided"]
    print(
        f"{wrapper}, parts: runs {len(parts)} · with a fault that showed {len(faults)} · captured "
        f"{share(len(captured), len(faults))} · not judged {share(len(undecided), len(captured))} · upstream "
        f"{sum(label['verdict'] == 'upstream' for label in captured)} · accused {sum(bool(x['accused']) for x in parts)}"
    )


def report(labels: list[Label], wrapper: str) -> float:
    """Prints the tables of one wrapper; returns the percentage of the faults that are captured, right and exact."""
    every = [label for label in labels if label["wrapper"] == wrapper]
    report_parts([label for label in every if label["part"]], wrapper)
    of = [label for label in every if not label["part"]]
    faults = [label for label in of if decidable(label)]
    captured = [label for label in faults if label["outcome"] != "no capture"]
    honest = [label for label in of if label["truth"] == HONEST]
    rows = dict.fromkeys(str(label["fault"]) for label in of)
    counts = Counter((str(label["fault"]), str(label["verdict"])) for label in of)
    table(f"{wrapper}: fault \\ verdict", rows, counts)
    for label in of:
        if (decidable(label) and label["outcome"] not in ("right", "no capture")) or label["accused"]:
            word = "ACCUSED" if label["accused"] else label["outcome"]
            print(f"{word}: {label['run']} {label['fault']}, {label['truth']}: {label['verdict']} ({label['summary']})")
    for label in captured:
        if not label["exact"]:
            print(f"place: {label['run']} {label['fault']}: {label['places']}, said {label['steps']}")
    right = sum(label["outcome"] == "right" for label in captured)
    print(
        f"{wrapper}: runs {len(of)} · with a fault that showed {len(faults)} · "
        f"captured {share(len(captured), len(faults))} · "
        f"right {share(right, len(captured))} · undecided {sum(x['outcome'] == 'undecided' for x in captured)} · "
        f"wrong {sum(x['outcome'] == 'wrong' for x in captured)} · births exact "
        f"{share(sum(bool(x['exact']) for x in captured), len(captured))} · honest accused "
        f"{share(sum(bool(x['accused']) for x in honest), len(honest))} · accused wrongly in all "
        f"{sum(bool(x['accused']) for x in of)} · "
        f"seconds a run at most {max((x['seconds'] for x in of), default=0):.1f}\n"
    )
    whole = sum(bool(label["outcome"] == "right" and label["exact"]) for label in captured)
    return 100 * whole / len(faults) if faults else 100.0


def seeds_of(text: str) -> list[int]:
    seeds: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        seeds += range(int(first), int(last or first) + 1)
    return seeds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seeds", type=seeds_of, default=seeds_of("1-60"), help="such as 1-60 (the default) or 3,7-9")
    parser.add_argument("--nanscope")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", help=f"of these faults, separated by commas: {', '.join(FAULTS)}")
    parser.add_argument("--wrapper", choices=WRAPPERS, help="only this one")
    parser.add_argument("--judge", action="store_true", help="judges the runs that lie in OUT already")
    parser.add_argument("--spread", action="store_true", help="under DistributedDataParallel and fully_shard")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="all ranks share one GPU, over gloo")
    parser.add_argument("--no-keep", action="store_true", help="observe holds no input to the end of a step")
    parser.add_argument("--anew", action="store_true", help="removes what lies in OUT")
    parser.add_argument("--at-least", type=float, default=0.0, metavar="PERCENT")
    options = parser.parse_args()
    program = find_program(options.nanscope)
    torch.set_num_threads(1)
    wrappers = (options.wrapper,) if options.wrapper else WRAPPERS
    if options.anew and (options.out / "verdicts.json").exists():
        shutil.rmtree(options.out)
    if not options.judge and options.out.exists() and any(options.out.iterdir()):
        sys.exit(f"The folder is not empty; give a new one: {options.out}")
    labels: list[Label] = []
    with ThreadPoolExecutor(options.jobs) as pool:
        for seed in options.seeds:
            if options.judge:
                stored = options.out / str(seed) / "truth.json"
                labels += json.loads(stored.read_text()) if stored.exists() else []
            else:
                plan = spread_plan_of(seed) if options.spread else plan_of(seed)
                plan.keep = plan.keep and not options.no_keep
                plan.device = options.device
                labels += make(plan, options.out, wrappers, options.only.split(",") if options.only else ())
        # Nothing is forked any more once there are threads.
        labels = [label for label in labels if label["wrapper"] in wrappers]
        if options.only:
            labels = [label for label in labels if label["fault"] in options.only.split(",")]
        judged = list(pool.map(lambda label: judge(program, label, options.out / str(label["run"])), labels))
    (options.out / "verdicts.json").write_text(json.dumps(judged, indent=1) + "\n")
    scores = {wrapper: report(judged, wrapper) for wrapper in wrappers}
    accused = any(label["accused"] for label in judged)
    failed = any(label["failed"] for label in judged)
    sys.exit(1 if accused else 2 if failed or scores[wrappers[0]] < options.at_least else 0)


if __name__ == "__main__":
    main()
