# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""Checks the structure of core, and the folders of ui, by their sources alone, before anything is compiled.

    python3 cmake/house.py [ROOT]

- A room includes only rooms that its CMakeLists.txt links, directly or through another.
- Neither rooms, nor folders (those of ui included), nor components (x.h and x.cpp) include each other in a circle.
- Every file is in the namespace of its room.
- No file of diagnose looks at the text of an event: what lines say is read in core/logtext. A line may be passed on whole, as an
  element of a braced list.
- No folder of core or ui holds more than 40 source files.

Prints what is wrong, a line each; exit status 1 where anything is.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath

MOST_FILES = 40
SOURCES = (".cpp", ".h", ".inl")
# Values and helpers that every room speaks in are in nanscope itself.
COMMON = ("base", "model", "json")
Graph = dict[str, set[str]]


def room_of(path: str) -> str:
    return path.split("/")[1]


def folder_of(path: str) -> str:
    return str(PurePosixPath(path).parent)


def sources_of(root: Path, part: str) -> dict[str, str]:
    """Path -> text."""
    return {
        path.relative_to(root).as_posix(): path.read_text()
        for path in sorted(root.glob(f"{part}/**/*"))
        if path.suffix in SOURCES
    }


def links(root: Path) -> Graph:
    """Room -> rooms that it links."""
    found: Graph = {}
    for listed in sorted(root.glob("core/*/CMakeLists.txt")):
        found[listed.parent.name] = set(re.findall(r"nanscope::core_(\w+)", listed.read_text()))
    return found


def reach(graph: Graph, start: str) -> set[str]:
    seen: set[str] = set()
    left = [start]
    while left:
        for other in graph.get(left.pop(), ()):
            if other not in seen:
                seen.add(other)
                left.append(other)
    return seen


def circles(graph: Graph) -> list[list[str]]:
    """Sets of nodes that reach each other, each once."""
    reached = {node: reach(graph, node) for node in graph}
    found = {
        frozenset([node, *(other for other in reached[node] if node in reached.get(other, ()))])
        for node in graph
        if node in reached[node]
    }
    return sorted(sorted(circle) for circle in found)


def graph_of(includes: dict[str, list[str]], key: Callable[[str], str]) -> Graph:
    graph: Graph = defaultdict(set)
    for file, included in includes.items():
        graph[key(file)] |= {key(other) for other in included if key(other) != key(file)}
    return graph


def foreign_includes(includes: dict[str, list[str]], linked: Graph) -> Iterable[str]:
    for file, included in includes.items():
        allowed = reach(linked, room_of(file)) | {room_of(file)}
        for other in included:
            if room_of(other) not in allowed:
                yield f"{file} includes {other}, but core/{room_of(file)} does not link core_{room_of(other)}"


def wrong_namespaces(texts: dict[str, str]) -> Iterable[str]:
    for file, text in texts.items():
        room = room_of(file)
        wanted = "nanscope" if room in COMMON else f"nanscope::{room}"
        # A header may declare what another room defines, for pointers and references to it.
        text = re.sub(r"namespace [\w:]+ \{\n(?:(?:class|struct) \w+;\n)+\} // namespace [\w:]+\n", "", text)
        for name in re.findall(r"^(?:inline )?namespace (nanscope[\w:]*) \{", text, re.M):
            if name != wanted and not name.startswith(wanted + "::"):
                yield f"{file} is in {name}, not in {wanted}"


def read_lines(texts: dict[str, str]) -> Iterable[str]:
    for file, text in texts.items():
        if room_of(file) != "diagnose":
            continue
        names = {"event", *re.findall(r"\bEvent ?[&*] ?(\w+)", text), *re.findall(r"(\w+) : [\w.]*events\b", text)}
        for found in re.finditer(rf"\b(?:{'|'.join(sorted(names))})(?:\.|->)text\b", text):
            if not re.search(r"[{,]\s*$", text[: found.start()]) or not re.match(r"\s*[,}]", text[found.end() :]):
                number = text.count("\n", 0, found.start()) + 1
                yield f"{file}:{number} looks at the text of an event: make it a fact in core/logtext"
        if "parseNanMessage" in text:
            yield f"{file} reads a detector's line: its message is among the facts of the event"


def full_folders(files: Iterable[str]) -> Iterable[str]:
    count: dict[str, int] = defaultdict(int)
    for file in files:
        count[folder_of(file)] += 1
    for folder, held in sorted(count.items()):
        if held > MOST_FILES:
            yield f"{folder} holds {held} files: more than {MOST_FILES} ask for sub-folders"


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    texts = sources_of(root, "core")
    window = sources_of(root, "ui")
    includes = {
        file: re.findall(r'^#include "(core/[^"]+)"', text, re.M) for file, text in texts.items()
    }
    problems = [*foreign_includes(includes, links(root)), *wrong_namespaces(texts), *read_lines(texts)]
    problems += full_folders([*texts, *window])
    problems += [
        f"a circle of {what}: {', '.join(circle)}"
        for what, key in (
            ("rooms", room_of),
            ("components", lambda file: file.rsplit(".", 1)[0]),
            ("folders", folder_of),
        )
        for circle in circles(graph_of(includes, key))
    ]
    shown = {file: re.findall(r'^#include "(ui/[^"]+)"', text, re.M) for file, text in window.items()}
    problems += [f"a circle of folders: {', '.join(circle)}" for circle in circles(graph_of(shown, folder_of))]
    print("\n".join(problems) if problems else f"core: {len(texts)} files, no circles")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
