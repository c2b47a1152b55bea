# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""Judges the captures of faults.py with `nanscope diagnose` and scores the verdicts.

    python tests/lab/score.py OUT [--nanscope PROGRAM] [--together] [--jobs N] [--save FILE.json]
        [--tell name,nothing-else,control,retry]

Every capture is diagnosed by itself, because each is a run of its own; --together gives the whole folder to one call
instead. Prints the confusion table, the share of acceptable verdicts, the share of `undecided`, and every wrong
accusation: `implementation`, `nondeterministic` or `machine` where the truth is something else. A race may be called
`implementation`. Where nothing is wrong at all, the other dumps of the run count as well.

--tell gives the program what a user may know of each capture, as it is true of it: `name`, the published function and
format that ran, or that the user's own code is built around; `nothing-else` where no other code touched the call; `control`,
a healthy call of the same process beside it; `retry`, the call made again twenty times, which fails each time unless the
fault was a race.

Exit status: 0 no wrong accusation, 1 at least one, 2 a capture got no verdict or nanscope could not be run.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VERDICTS = ("implementation", "numerics", "upstream", "undecided", "downstream", "nondeterministic", "machine", "none")
# truth -> the accusations that are fair; none are where the truth is anything else.
FAIR = {
    "implementation": ("implementation",),
    "nondeterministic": ("nondeterministic", "implementation"),
    "machine": ("machine",),
}
HONEST = "user code"
ACCUSING = ("implementation", "nondeterministic", "machine")
Label = dict[str, object]
Verdict = tuple[str, str]


def find_program(given: str | None) -> str:
    for candidate in (given, os.environ.get("NANSCOPE"), ROOT / "build/release/bin/nanscope", shutil.which("nanscope")):
        if candidate and Path(candidate).is_file():
            return str(candidate)
    sys.exit("nanscope was not found; build it, or name it with --nanscope.")


def published(variant: str) -> str | None:
    """What a user would say ran: of a function written by hand or run for more steps, the one it was made from."""
    if variant == "identity" or variant.startswith("own "):
        return None
    base = variant.removesuffix(" by hand")
    longer = re.fullmatch(r"(polar-express-unprotected|gram-no-restart)-\d+", base)
    return longer[1] if longer else {
        "gns": "gns-standard", "you": "modded-nanogpt", "polar-express-2e-2": "dion-polar-express"
    }.get(base, base)


def told(label: Label, what: Collection[str]) -> list[str]:
    """What a user may know of this capture, as options of diagnose."""
    words = []
    name = published(str(label["variant"]))
    if "name" in what and name is not None and label["truth"] != "upstream":
        words += ["--ran", f"{name}:{label['format']}"]
    if "nothing-else" in what and label["truth"] in ("implementation", "numerics", "nondeterministic"):
        words += ["--nothing-else"]
    if "retry" in what and label["truth"] != "upstream":
        failed = 0 if label["truth"] == "nondeterministic" else 20
        words += ["--called", f"{Path(str(label['file'])).name}={failed}/20"]
    return words


def diagnose(program: str, path: Path, words: Collection[str] = ()) -> dict[str, dict[str, object]]:
    """Name of a capture -> its entry in the answer. Empty when there was no answer; the reason goes to stderr."""
    command = [program, "diagnose", str(path), "--json", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        answer = json.loads(done.stdout)
        return {str(entry["capture"]): entry for entry in answer["captures"]}
    except (ValueError, KeyError, TypeError):
        print(f"no diagnosis (exit status {done.returncode}): {done.stderr.strip()[:300]}: {path}", file=sys.stderr)
        return {}


def with_control(program: str, folder: Path, label: Label, words: Collection[str]) -> dict[str, dict[str, object]]:
    """The same of the dump, or of its whole run, with a healthy call in its folder."""
    own = folder / str(label["file"])
    run = [own] if own.parent == folder else list(own.parent.iterdir())
    with tempfile.TemporaryDirectory(dir=folder) as together:
        for file in [*run, folder / str(label["control"])]:
            os.link(file, Path(together) / file.name)
        return diagnose(program, Path(together), words)


def diagnose_all(
    program: str, folder: Path, labels: list[Label], together: bool, jobs: int, what: Collection[str]
) -> dict[str, Verdict]:
    """File, as labels have it, or its bare name -> verdict."""
    if together:
        return {name: verdict_of(entry) for name, entry in diagnose(program, folder).items()}
    # A dump with others beside it is judged with its whole run.
    files = [Path(str(label["file"])) for label in labels]
    runs = [file if file.parent == Path() else file.parent for file in files]
    found = {}
    with ThreadPoolExecutor(jobs) as pool:

        def answer_for(run: Path, label: Label) -> dict[str, dict[str, object]]:
            if "control" in what and label.get("control"):
                return with_control(program, folder, label, told(label, what))
            return diagnose(program, folder / run, told(label, what))

        answers = pool.map(answer_for, runs, labels)
        for file, answer in zip(files, answers, strict=True):
            found |= {str(file.parent / name): verdict_of(entry) for name, entry in answer.items()}
    return found


def verdict_of(entry: dict[str, object]) -> Verdict:
    """Its verdict and its kind."""
    return str(entry.get("verdict", "none")), str(entry.get("kind", ""))


def judged(label: Label, verdicts: dict[str, Verdict]) -> tuple[str, str, str]:
    """File, verdict and kind of the dump; where nothing is wrong, of one beside it that is accused, if any."""
    beside = label.get("beside", []) if label["truth"] == HONEST else []
    files = [str(label["file"]), *map(str, beside)]
    none = ("none", "")
    every = [(file, *verdicts.get(file, verdicts.get(Path(file).name, none))) for file in files]
    return next((one for one in every if one[1] in ACCUSING), every[0])


def accused_wrongly(label: Label) -> bool:
    return label["verdict"] in ACCUSING and label["verdict"] not in FAIR.get(str(label["truth"]), ())


def called_healthy(label: Label) -> bool:
    return label["kind"] == "healthy" and label["truth"] not in (HONEST, "undecided")


def table(title: str, rows: Collection[str], counts: Counter[tuple[str, str]]) -> None:
    shown = [verdict for verdict in VERDICTS if any(column == verdict for _, column in counts)]
    width = max(30, *(len(row) for row in rows))
    print(f"{title:{width}}" + "".join(f"{verdict:>16}" for verdict in shown))
    for row in rows:
        print(f"{row:{width}}" + "".join(f"{counts[row, verdict] or '.':>16}" for verdict in shown))
    print()


def summary(labels: list[Label]) -> str:
    total = len(labels)
    wrong = sum(accused_wrongly(label) for label in labels)
    right = sum(label["verdict"] in label["acceptable"] for label in labels)
    undecided = [label for label in labels if label["verdict"] == "undecided"]
    needless = sum("undecided" not in label["acceptable"] for label in undecided)
    return (
        f"captures {total} · wrong accusations {wrong} · acceptable {right} ({right / total:.1%}) · "
        f"called healthy {sum(map(called_healthy, labels))} · undecided {len(undecided)} ({len(undecided) / total:.1%}), "
        f"where something could be decided {needless} ({needless / total:.1%})"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--nanscope")
    parser.add_argument("--together", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--tell", default="", help="name, nothing-else, control, retry; separated by commas")
    parser.add_argument("--save", type=Path, help="write label and verdict of every capture")
    options = parser.parse_args()
    labels: list[Label] = json.loads((options.out / "labels.json").read_text())
    program = find_program(options.nanscope)
    verdicts = diagnose_all(program, options.out, labels, options.together, options.jobs, options.tell.split(","))

    for label in labels:
        label["judged"], label["verdict"], label["kind"] = judged(label, verdicts)
    for key in ("truth", "fault"):
        counts = Counter((str(label[key]), str(label["verdict"])) for label in labels)
        table(f"{key} \\ verdict", dict.fromkeys(str(label[key]) for label in labels), counts)

    right = [label for label in labels if label["verdict"] in label["acceptable"]]
    wrong = [label for label in labels if accused_wrongly(label)]
    silent = [label for label in labels if label["verdict"] == "none" and label not in right]
    for label in labels:
        if label not in right:
            kind = "WRONG ACCUSATION" if label in wrong else "not acceptable"
            print(
                f"{kind}{' (healthy)' if called_healthy(label) else ''}: {label['verdict']} for {label['truth']} "
                f"({label['fault']}, {label['detail'] or '-'}, "
                f"{label['variant']} {label['format']}, {label['spectrum']}): {label['judged']}"
            )
    honest = [label for label in labels if label["truth"] == HONEST]
    for name, family in (("faults", [label for label in labels if label not in honest]), ("honest", honest)):
        if family:
            print(f"{name}: {summary(family)}")
    if options.save:
        options.save.write_text(json.dumps(labels, indent=1) + "\n")
    sys.exit(1 if wrong else 2 if silent else 0)


if __name__ == "__main__":
    main()
