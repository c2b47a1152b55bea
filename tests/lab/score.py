# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""Judges the captures of faults.py with `nanscope diagnose` and scores the verdicts.

    python tests/lab/score.py OUT [--nanscope PROGRAM] [--together] [--jobs N] [--save FILE.json]

Every capture is diagnosed by itself, because each is a run of its own; --together gives the whole folder to one call
instead. Prints the confusion table, the share of acceptable verdicts, the share of `undecided`, and every wrong
accusation: `implementation` where the truth is something else.

Exit status: 0 no wrong accusation, 1 at least one, 2 a capture got no verdict or nanscope could not be run.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VERDICTS = ("implementation", "numerics", "upstream", "undecided", "downstream", "nondeterministic", "machine", "none")
Label = dict[str, object]


def find_program(given: str | None) -> str:
    for candidate in (given, os.environ.get("NANSCOPE"), ROOT / "build/release/bin/nanscope", shutil.which("nanscope")):
        if candidate and Path(candidate).is_file():
            return str(candidate)
    sys.exit("nanscope was not found; build it, or name it with --nanscope.")


def diagnose(program: str, path: Path) -> dict[str, dict[str, object]]:
    """File name -> its entry in the answer. Empty when there was no answer; the reason goes to stderr."""
    done = subprocess.run([program, "diagnose", str(path), "--json"], capture_output=True, text=True, check=False)
    try:
        answer = json.loads(done.stdout)
        return {Path(entry["capture"]).name: entry for entry in answer["captures"]}
    except (ValueError, KeyError, TypeError):
        print(f"no diagnosis (exit status {done.returncode}): {done.stderr.strip()[:300]}: {path}", file=sys.stderr)
        return {}


def diagnose_all(program: str, folder: Path, labels: list[Label], together: bool, jobs: int) -> dict[str, str]:
    """File name -> verdict, "none" where there is none."""
    if together:
        found = diagnose(program, folder)
    else:
        # A dump with others beside it is judged with its whole run.
        files = [folder / str(label["file"]) for label in labels]
        files = [file if file.parent == folder else file.parent for file in files]
        with ThreadPoolExecutor(jobs) as pool:
            found = {}
            for answer in pool.map(lambda file: diagnose(program, file), files):
                found |= answer
    return {str(label["file"]): str(found.get(Path(str(label["file"])).name, {}).get("verdict", "none")) for label in labels}


def table(title: str, rows: Iterable[str], counts: Counter[tuple[str, str]]) -> None:
    shown = [verdict for verdict in VERDICTS if any(column == verdict for _, column in counts)]
    print(f"{title:30}" + "".join(f"{verdict:>16}" for verdict in shown))
    for row in rows:
        print(f"{row:30}" + "".join(f"{counts[row, verdict] or '.':>16}" for verdict in shown))
    print()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--nanscope")
    parser.add_argument("--together", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--save", type=Path, help="write label and verdict of every capture")
    options = parser.parse_args()
    labels: list[Label] = json.loads((options.out / "labels.json").read_text())
    program = find_program(options.nanscope)
    verdicts = diagnose_all(program, options.out, labels, options.together, options.jobs)

    for label in labels:
        label["verdict"] = verdicts[str(label["file"])]
    for key in ("truth", "fault"):
        counts = Counter((str(label[key]), str(label["verdict"])) for label in labels)
        table(f"{key} \\ verdict", dict.fromkeys(str(label[key]) for label in labels), counts)

    accused = [label for label in labels if label["verdict"] == "implementation"]
    # A race is a fault of the implementation, and so no wrong accusation.
    wrong = [label for label in accused if label["truth"] not in ("implementation", "nondeterministic")]
    right = [label for label in labels if label["verdict"] in label["acceptable"]]
    undecided = [label for label in labels if label["verdict"] == "undecided"]
    needless = [label for label in undecided if "undecided" not in label["acceptable"]]
    silent = [label for label in labels if label["verdict"] == "none"]
    for label in labels:
        if label not in right:
            kind = "WRONG ACCUSATION" if label in wrong else "not acceptable"
            print(
                f"{kind}: {label['verdict']} for {label['truth']} ({label['fault']}, {label['variant']} "
                f"{label['format']}, {label['spectrum']}): {label['file']}"
            )
    total = len(labels)
    print(
        f"captures {total} · wrong accusations {len(wrong)} · acceptable {len(right)} ({len(right) / total:.1%}) · "
        f"undecided {len(undecided)} ({len(undecided) / total:.1%}), "
        f"where something could be decided {len(needless)} ({len(needless) / total:.1%})"
    )
    if options.save:
        options.save.write_text(json.dumps(labels, indent=1) + "\n")
    sys.exit(1 if wrong else 2 if silent else 0)


if __name__ == "__main__":
    main()
