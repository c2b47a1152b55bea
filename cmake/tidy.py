# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy on files of a build; a file whose text, headers and flags were clean before is not read again."""
import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# gcc's precompiled headers are no food for clang: their text is included instead.
# -Werror changes nothing here, WarningsAsErrors is on; without it a developer and CI share the cache.
NOT_FOR_CLANG = re.compile(r"^-(Winvalid-pch|fpch-preprocess|Werror|fno-gnu-unique|fconcepts.*)$")
UNITY = re.compile(r"/Unity/unity_\d+_cxx\.cxx$")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.M)


def entries_of(build):
    """Per file, how it is compiled: by itself, or as its neighbours in a unity source are."""
    result = {}
    with open(os.path.join(build, "compile_commands.json")) as file:
        database = json.load(file)
    for entry in database:
        if not UNITY.search(entry["file"]):
            result[entry["file"]] = entry
            continue
        with open(entry["file"]) as file:
            for path in INCLUDE.findall(file.read()):
                words = [path if w == entry["file"] else w for w in shlex.split(entry["command"])]
                result[path] = {"directory": entry["directory"], "file": path, "command": shlex.join(words)}
    return result


def own_headers(path, words):
    """The project's files that this one is made from: ninja knows only those of a whole unity source."""
    folders = [os.path.normpath(w[2:]) for w in words if w.startswith("-I")]
    found, waiting = set(), [path]
    while waiting:
        current = waiting.pop()
        if current in found:
            continue
        found.add(current)
        with open(current, errors="replace") as file:
            names = INCLUDE.findall(file.read())
        for name in names:
            places = [os.path.normpath(os.path.join(f, name)) for f in [os.path.dirname(current), *folders]]
            place = next((p for p in places if p.startswith(ROOT + os.sep) and os.path.isfile(p)), None)
            if place:
                waiting.append(place)
    return found


def command_for_clang(entry, scratch):
    words = [w for w in shlex.split(entry["command"]) if not NOT_FOR_CLANG.match(w)]
    # Which unity source a file is in changes with every file that comes before it.
    if "-o" in words:
        del words[words.index("-o"):words.index("-o") + 2]
    launcher = [place for place, word in enumerate(words[:6]) if os.path.basename(word).startswith("ccache")]
    if launcher:
        words = words[launcher[0] + 1:]
    for i, word in enumerate(words):
        if word.endswith("cmake_pch.hxx"):
            copy = os.path.join(scratch, hashlib.sha1(word.encode()).hexdigest() + ".hxx")
            with open(word) as source, open(copy, "w") as target:
                target.write(source.read())
            words[i] = copy
    return words


def key_of(path, words, salt):
    digest = hashlib.sha256(salt)
    digest.update(" ".join(words).replace(ROOT, ".").encode())
    for own in sorted(own_headers(path, words)):
        digest.update(os.path.relpath(own, ROOT).encode())
        with open(own, "rb") as file:
            digest.update(hashlib.sha256(file.read()).digest())
    return digest.hexdigest()


def main():
    parser = argparse.ArgumentParser()
    for option in ("--tool", "--build", "--cache"):
        parser.add_argument(option, required=True)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--fast", action="store_true", help="leave out the static analyzer, two thirds of the time")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no file later than this")
    parser.add_argument("files", nargs="*", help="the most urgent first")
    args = parser.parse_args()
    wanted = {os.path.abspath(f): place for place, f in reversed(list(enumerate(args.files)))}
    scratch = os.path.join(args.build, "tidy")
    os.makedirs(scratch, exist_ok=True)
    os.makedirs(args.cache, exist_ok=True)
    entries = {path: entry for path, entry in entries_of(args.build).items() if path in wanted}
    with open(os.path.join(ROOT, ".clang-tidy"), "rb") as file:
        salt = file.read() + subprocess.run([args.tool, "--version"], capture_output=True).stdout
    extra = ["--checks=-clang-analyzer-*"] if args.fast else []
    salt += " ".join(extra).encode()
    database, keys = [], {}
    for path, entry in sorted(entries.items(), key=lambda item: wanted[item[0]]):
        words = command_for_clang(entry, scratch)
        database.append({"directory": entry["directory"], "file": path, "command": shlex.join(words)})
        key = key_of(path, words, salt)
        if not os.path.exists(os.path.join(args.cache, key)):
            keys[path] = key
    # Of this run alone: two at once would each read the other's.
    own = tempfile.TemporaryDirectory(dir=scratch)
    with open(os.path.join(own.name, "compile_commands.json"), "w") as file:
        json.dump(database, file)
    started, bad, left = time.time(), 0, 0

    def check(path):
        if time.time() - started > args.seconds:
            return path, None
        return path, subprocess.run([args.tool, "--quiet", "--extra-arg=-Wno-unknown-warning-option", *extra, "-p", own.name, path], capture_output=True, text=True)

    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for done, (path, run) in enumerate(pool.map(check, keys), 1):
            if run is None:
                left += 1
                continue
            print("bootstrap:   clang-tidy %d/%d %s" % (done, len(keys), os.path.relpath(path, ROOT)), flush=True)
            if run.returncode == 0:
                open(os.path.join(args.cache, keys[path]), "w").close()
            else:
                bad += 1
                print(run.stdout.replace(ROOT + "/", "") or run.stderr, flush=True)
    print("bootstrap: clang-tidy: %d files, %d unchanged since they were clean, %d s"
          % (len(entries), len(entries) - len(keys), time.time() - started))
    if left:
        print("bootstrap: clang-tidy: %d files were not read in %d s; ./bootstrap lint reads all" % (left, args.seconds))
    return 1 if bad else 0


sys.exit(main())
