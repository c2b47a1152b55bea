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


def own_headers(build):
    """Per object file, the project's files it was made from, as ninja recorded them."""
    text = subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True).stdout
    result, current = {}, []
    for line in text.splitlines():
        if line.startswith(" "):
            path = os.path.normpath(os.path.join(build, line.strip()))
            if path.startswith(ROOT + os.sep) and os.sep + ".deps" + os.sep not in path:
                current.append(path)
        elif ": #deps" in line:
            current = result.setdefault(line.split(": #deps")[0], [])
    return result


def command_for_clang(entry, scratch):
    words = [w for w in shlex.split(entry["command"]) if not NOT_FOR_CLANG.match(w)]
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


def entries_of(build, wanted):
    """The command of each wanted file; of one that is compiled with others, that of the source which includes it."""
    with open(os.path.join(build, "compile_commands.json")) as file:
        database = json.load(file)
    entries = {e["file"]: e for e in database if e["file"] in wanted}
    for together in (e for e in database if os.sep + "Unity" + os.sep in e["file"]):
        with open(together["file"]) as file:
            included = re.findall(r'^#include "(.+)"$', file.read(), re.MULTILINE)
        for path in wanted.keys() & set(included):
            # "output" stays: ninja keeps the headers of the eight under it.
            entries[path] = {**together, "file": path, "command": together["command"].replace(together["file"], path)}
    return entries


def key_of(entry, words, deps, salt):
    digest = hashlib.sha256(salt)
    digest.update(" ".join(words).replace(ROOT, ".").encode())
    # Of sources that are compiled together each is its own affair.
    for path in sorted({path for path in deps if not path.endswith(".cpp")} | {entry["file"]}):
        digest.update(os.path.relpath(path, ROOT).encode())
        with open(path, "rb") as file:
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
    entries = entries_of(args.build, wanted)
    with open(os.path.join(ROOT, ".clang-tidy"), "rb") as file:
        salt = file.read() + subprocess.run([args.tool, "--version"], capture_output=True).stdout
    extra = ["--checks=-clang-analyzer-*"] if args.fast else []
    salt += " ".join(extra).encode()
    headers = own_headers(args.build)
    database, keys = [], {}
    for path, entry in sorted(entries.items(), key=lambda item: wanted[item[0]]):
        words = command_for_clang(entry, scratch)
        database.append({"directory": entry["directory"], "file": path, "command": shlex.join(words)})
        key = key_of(entry, words, headers.get(entry.get("output", ""), []), salt)
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
