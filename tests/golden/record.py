# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""What every command answers about some runs, in files that two builds can be compared by.

    python tests/golden/record.py OUT --nanscope build/release/bin/nanscope resources/sample RUN...
    diff -r BEFORE AFTER

A change of structure leaves all of it as it was.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

CAPTURES = (".pt", ".safetensors")
ABOUT_A_RUN = (
    ["list", "{run}", "captures"],
    ["list", "{run}", "series"],
    ["list", "{run}", "events"],
    ["list", "{run}", "runs"],
    ["diagnose", "{run}"],
    ["diagnose", "{run}", "--ran", "gns-gram", "--nothing-else"],
    ["whatif", "detector", "{run}"],
    ["whatif", "guard", "{run}"],
    ["export", "{run}", "--series", "loss"],
    ["report", "{run}", "-o", "-"],
    ["list", "{session}", "captures"],
    ["diagnose", "{session}"],
    ["diff", "{run}", "{session}"],
    ["sql", "{session}", "select name, type, sql from sqlite_master order by name"],
)
ABOUT_A_CAPTURE = (
    ["explain", "{capture}"],
    ["inspect", "{capture}"],
    ["diagnose", "{capture}"],
    ["sweep", "{capture}", "--variant", "all"],
    ["spread", "{capture}", "--like-dump"],
    ["measure", "scale", "{capture}", "--variant", "keller-jordan"],
    ["measure", "spectrum", "{capture}", "--variant", "keller-jordan"],
)
# Of the same command on the same files these differ from run to run.
CHANGES = (
    (re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?( ?UTC|Z)?"), "TIME"),
    (re.compile(r'"(imported|made|time|seconds|ms|elapsed\w*|\w*_ms|\w*_s)": ?[-\d.e+]+'), r'"\1": N'),
    (re.compile(r"\s*\b\d+(\.\d+)? (ms|s|us|µs)\b"), " N s"),
    (re.compile(r"\bpid \d+\b"), "pid N"),
)


def steady(text: str, places: dict[str, str]) -> str:
    for place, name in sorted(places.items(), key=lambda item: -len(item[0])):
        text = text.replace(place, name)
    for pattern, name in CHANGES:
        text = pattern.sub(name, text)
    return text


class Recorder:
    def __init__(self, nanscope: Path, out: Path, work: Path) -> None:
        self.nanscope = nanscope
        self.out = out
        self.places = {str(work): "WORK", str(nanscope): "NANSCOPE"}
        self.environment = dict(os.environ, XDG_DATA_HOME=str(work / "home"), XDG_CONFIG_HOME=str(work / "config"))

    def run(self, name: str, words: list[str]) -> None:
        for form in ("text", "json"):
            command = [str(self.nanscope), *words, *(["--json"] if form == "json" else [])]
            done = subprocess.run(command, env=self.environment, capture_output=True, text=True, errors="replace", check=False)
            text = f"{' '.join(words)}\nstatus {done.returncode}\n{done.stdout}\n--- stderr\n{done.stderr}"
            place = self.out / f"{name}.{form}"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(steady(text, self.places))

    def commands(self, name: str, templates: tuple[list[str], ...], **places: Path) -> None:
        for number, template in enumerate(templates):
            words = [word.format(**places) for word in template]
            self.run(f"{name}/{number:02} {template[0]}", words)

    def folder(self, folder: Path, work: Path, captures: int) -> None:
        run = work / folder.name
        if folder.is_dir():
            shutil.copytree(folder, run)
        else:
            run.mkdir()
            shutil.copy2(folder, run)
        for stored in run.rglob("*.nanscope*"):
            stored.unlink()
        session = work / f"{folder.name}.nanscope"
        self.run(f"{folder.name}/import", ["import", str(run), "--session", str(session)])
        self.commands(folder.name, ABOUT_A_RUN, run=run, session=session)
        found = sorted(path for path in run.rglob("*") if path.suffix in CAPTURES)
        for capture in found[:captures]:
            self.commands(f"{folder.name}/{capture.name}", ABOUT_A_CAPTURE, capture=capture)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("runs", type=Path, nargs="+", help="folders, or single logs and captures")
    parser.add_argument("--nanscope", type=Path, required=True)
    parser.add_argument("--captures", type=int, default=3, help="captures of each folder that are looked at one by one")
    parser.add_argument("--each", action="store_true", help="each entry of these folders is a run")
    given = parser.parse_args()
    runs = [run for place in given.runs for run in (sorted(place.iterdir()) if given.each else [place])]
    with tempfile.TemporaryDirectory() as work:
        recorder = Recorder(given.nanscope.resolve(), given.out, Path(work))
        for command in sorted({template[0] for template in (*ABOUT_A_RUN, *ABOUT_A_CAPTURE)} | {"import", "measure"}):
            recorder.run(f"program/{command}", [command, "--help"])
        for run in runs:
            recorder.folder(run.resolve(), Path(work), given.captures)


if __name__ == "__main__":
    main()
