# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""Single files that would like much memory or time, and a machine that has too little of something."""

from __future__ import annotations

import gzip
import json
import lzma
import os
import resource
import shutil
import socket
import stat
import struct
import subprocess
import zlib
from collections.abc import Callable
from pathlib import Path

import makefiles as make
from harness import Bench, Done, attack, is_sound, limited, names_of, rejected

MOST_MEMORY = 300  # MB
MOST_SECONDS = 10
Writer = Callable[[Path], None]


def steps_falling(rows: int) -> str:
    return "step,loss\n" + "".join(f"{rows - i},{i % 97}.5\n" for i in range(rows))


def repeated(path: Path, piece: bytes, times: int, before: bytes = b"", after: bytes = b"") -> None:
    """A large file of one piece, without holding it."""
    with path.open("wb") as out:
        out.write(before)
        block = piece * max(1, (1 << 20) // len(piece))
        whole, rest = divmod(times * len(piece), len(block))
        for _ in range(whole):
            out.write(block)
        out.write((block)[:rest])
        out.write(after)


@attack(
    "falling", "M3: steps that fall in every line, 100,000, 200,000 and 400,000 of them: time and memory in proportion"
)
def falling(bench: Bench) -> None:
    """The time for a row may not grow with the rows."""
    measured: list[tuple[int, Done]] = []
    for rows in (100_000, 200_000, 400_000):
        folder = bench.place()
        path = folder / "metrics.csv"
        path.write_text(steps_falling(rows))
        limits: dict[str, float] = {"limit": MOST_SECONDS, "memory": MOST_MEMORY} if rows == 100_000 else {}
        bench.run("import", folder, "--session", folder.parent / "s.nanscope", seconds=120, **limits)  # type: ignore[arg-type]
        done = bench.run("diagnose", path, seconds=120, **limits)  # type: ignore[arg-type]
        measured.append((rows, done))
    (few, first), (many, last) = measured[0], measured[-1]
    ratio = last.cpu / many / (first.cpu / few)
    bench.good(last, ratio < 2, f"a row takes {ratio:.1f} times as long among {many} as among {few}")
    bench.good(last, last.memory < 300 * many / few, f"{last.memory:.0f} MB")
    bench.row.remark(", ".join(f"{rows // 1000}k: {done.cpu:.2f} s, {done.memory:.0f} MB" for rows, done in measured))


def good_log_is_read(bench: Bench, folder: Path, bad: str, seconds: float = 60, memory: float = MOST_MEMORY) -> Done:
    """A good log lies beside a bad file; it must be imported, and the bad one named."""
    os.utime(folder / bad, (1.7e9, 1.7e9))  # at rest: of a file that may still be written, the end is nobody's fault
    (folder / "zz-good.log").write_text(make.log_text(0, [2.5, 2.25, 2.125]))
    session = folder.parent / "s.nanscope"
    done = bench.run("import", folder, "--session", session, "--json", seconds=120, limit=seconds, memory=memory)
    listed = bench.measured("list", session, "series", "--json").json()
    sources = [str(one.get("source")) for one in listed.get("series", [])]
    bench.good(done, "zz-good.log" in sources, f"the good log beside {bad} was not imported: {sources[:5]}")
    events = bench.measured("list", session, "events", "--json").answer()
    named = bad in done.errors() or bad in events or bad in " ".join(sources)
    bench.good(done, named, f"not a word about {bad}")
    return done


@attack("bombs", "M6: .gz, .xz and .zst of a few kB that unpack to GBs, before a good log")
def bombs(bench: Bench) -> None:
    """Zeros, one endless line, real rows and streams one behind the other."""
    row = make.step_line(7, 2.5).encode()

    def gz(path: Path, piece: bytes, times: int) -> None:
        squeezed = gzip.compress(piece * ((16 << 20) // len(piece)))
        path.write_bytes(squeezed * times)

    def xz(path: Path, piece: bytes, times: int) -> None:
        squeezed = lzma.compress(piece * ((16 << 20) // len(piece)), preset=0)
        path.write_bytes(squeezed * times)

    def one_gz(path: Path, byte: bytes, megabytes: int) -> None:
        packer = zlib.compressobj(9, zlib.DEFLATED, 31)
        with path.open("wb") as out:
            for _ in range(megabytes):
                out.write(packer.compress(byte * (1 << 20)))
            out.write(packer.flush())

    cases: dict[str, Writer] = {
        "zeros.log.gz": lambda path: one_gz(path, b"\0", 1024),
        "lines.log.gz": lambda path: one_gz(path, b"\n", 1024),
        "streams.log.gz": lambda path: gz(path, b"x", 256),
        "rows.log.gz": lambda path: gz(path, row, 16),
        "zeros.log.xz": lambda path: xz(path, b"\0", 128),
        "text.log.xz": lambda path: xz(path, b"x", 128),
        "rows.log.xz": lambda path: xz(path, row, 16),
        "zeros.log.zst": lambda path: path.write_bytes(make.zstd_of(0, 65536)),
        "text.log.zst": lambda path: path.write_bytes(make.zstd_of(120, 65536)),
        "lines.log.zst": lambda path: path.write_bytes(make.zstd_of(10, 65536)),
        "frames.log.zst": lambda path: path.write_bytes(make.zstd_of(120, 8) * 8192),
        "config.yaml.gz": lambda path: one_gz(path, b"[", 256),
        "metrics.csv.gz": lambda path: one_gz(path, b",", 512),
    }
    for name, write in cases.items():
        folder = bench.place()
        write(folder / name)
        if "config" in name:
            bench.run("import", folder, limit=30, memory=MOST_MEMORY)
            continue
        done = good_log_is_read(bench, folder, name, seconds=30)
        size = (folder / name).stat().st_size
        bench.row.remark(f"{name} ({size // 1024} kB): {done.wall:.1f} s")


@attack("sparse", "M6: a sparse log of 1 TB with rows at both ends, and one that is all hole")
def sparse(bench: Bench) -> None:
    """What is written is read; holes are not."""
    folder = bench.place()
    path = folder / "train.log"
    with path.open("wb") as out:
        out.write(make.log_text(0, [3.5, 3.25]).encode())
        out.seek((1 << 40) - 100)
        out.write(b"\n" + make.log_text(5, [1.5, 1.25]).encode())
    with (folder / "hole.log").open("wb") as out:
        out.truncate(1 << 40)
    with (folder / "hole.csv").open("wb") as out:
        out.write(b"step,loss\n1,2\n2,3\n3,4\n")
        out.truncate(1 << 40)
    for name in ("hole.pt", "hole.npy", "hole.safetensors"):
        with (folder / name).open("wb") as out:
            out.truncate(1 << 40)
    done = good_log_is_read(bench, folder, "train.log", seconds=20)
    exported = bench.run("export", folder.parent / "s.nanscope", "--series", "loss")
    values = {line.split(",")[3] for line in exported.answer().splitlines()[1:]}
    bench.good(
        exported, {"3.5", "3.25", "1.5", "1.25"} <= values, f"rows at the ends are missing: {sorted(values)[:9]}"
    )
    bench.run("diagnose", folder, limit=20, memory=MOST_MEMORY)
    bench.run("import", folder, "--session", folder.parent / "s.nanscope", limit=20, memory=MOST_MEMORY)
    bench.row.remark(f"import {done.wall:.1f} s")


@attack("long-lines", "M6: a line of 200 MB in a log, in JSONL, in a CSV; a text of 200 MB in an event file")
def long_lines(bench: Bench) -> None:
    """The rows around it are read."""
    before, after = make.log_text(0, [3.5, 3.25]).encode(), b"\n" + make.log_text(2, [1.5, 1.25]).encode()
    size = 200 << 20
    cases: dict[str, Writer] = {
        "long.log": lambda path: repeated(path, b"x", size, before, after),
        "carriage.log": lambda path: repeated(path, b"step:1 \r", size // 8, before, after),
        "open.log": lambda path: repeated(path, b"{[(", size // 3, before, after),
        "rows.jsonl": lambda path: repeated(
            path, b"[", size, b'{"step":1,"loss":2.5}\n{"step":2,"loss":2.25}\n', b"\n"
        ),
        "table.csv": lambda path: repeated(path, b"1,", size // 2, b"step,loss\n1,2.5\n2,2.25\n3,2\n", b"\n4,1.5\n"),
        "quoted.csv": lambda path: repeated(path, b"x\n", size // 2, b'step,loss\n1,2.5\n2,"', b'"\n4,1.5\n'),
        "heading.csv": lambda path: repeated(path, b"loss,", size // 5, b"step,", b"x\n1,2\n"),
        "trace.log": lambda path: repeated(
            path,
            b'  File "x.py", line 1, in f\n    y()\n',
            size // 38,
            before + b"Traceback (most recent call last):\n",
            after,
        ),
        "events.out.tfevents.1.x": lambda path: repeated(
            path,
            b"x",
            size,
            make.event_start() + struct.pack("<QI", size, make.masked_crc(struct.pack("<Q", size))),
            bytes(4) + make.event_record(make.scalar_event(1, "loss", 2.5)),
        ),
        "run-x.wandb": lambda path: repeated(
            path, b"x", size, b":W&B\xe1\xbe\x00" + struct.pack("<IHB", 1, 32754, 2), bytes(4)
        ),
        "trainer_state.json": lambda path: repeated(
            path, b'{"step":1,"loss":2},', size // 20, b'{"log_history":[', b"{}]}"
        ),
    }
    slowest = (0.0, "")
    for name, write in cases.items():
        folder = bench.place()
        write(folder / name)
        done = good_log_is_read(bench, folder, name, seconds=30)
        slowest = max(slowest, (done.wall, name))
        if name == "long.log":
            exported = bench.run("export", folder.parent / "s.nanscope", "--series", "loss")
            bench.good(exported, ",1.25," in exported.answer(), "the rows behind the long line are missing")
        shutil.rmtree(folder)
    bench.row.remark(f"slowest {slowest[1]}")


def small_files() -> dict[str, Writer]:
    """Files below 1 MB that are all structure."""

    def text(contents: str | bytes) -> Writer:
        raw = contents.encode() if isinstance(contents, str) else contents
        return lambda path: path.write_bytes(raw[:999_000]) and None

    def pickled(code: bytes) -> Writer:
        return lambda path: make.archive(path, b"\x80\x02" + code + b".", {})

    tree = (
        b"]"
        + b"q\x00"
        + b"".join(b"]" + b"(h" + bytes([i]) * 1 + (b"h" + bytes([i])) * 9 + b"eq" + bytes([i + 1]) for i in range(40))
    )
    tensor = make.pickled(make.Storage("0", (2, 2), (2, 1)))
    many_tensors = b"}(" + b"".join(make.pickled(f"t{i}") + tensor for i in range(5000)) + b"u"
    wide = ",".join(f"c{i}" for i in range(60_000))
    keys = ", ".join(f'"k{i}": {i}.5' for i in range(30_000))
    anchors = "a0: &a0 [x, x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 30))
    rows = [json.dumps({"step": i, f"m{i}": 1.5}) for i in range(25_000)]
    ranks = "".join(f"[rank{i}]: step:{i} train_loss:2.5\n" for i in range(25_000))
    errors = "".join(f"RuntimeError: CUDA out of memory {i:x} {i * 7919:x}\n" for i in range(20_000))
    traces = "".join(
        f'Traceback (most recent call last):\n  File "x{i}.py", line 1, in f\nValueError: {i}\n' for i in range(11_000)
    )
    saves = "".join(f"Saved checkpoint to /x/step_{i}\nstep:{i} train_loss:2\n" for i in range(16_000))
    dumps = "".join(f"[dion NaN capture] output on rank {i} non-finite, dumped to /x/d{i}.pt\n" for i in range(12_000))
    header = {f"t{i}": {"dtype": "F32", "shape": [1, 1], "data_offsets": [4 * i, 4 * i + 4]} for i in range(12_000)}
    tags = b"".join(make.event_record(make.scalar_event(1, f"t{i}", 1.0)) for i in range(9_000))
    starts = b"".join(make.event_record(make.scalar_event(9_000 - i, "loss", 1.0)) for i in range(9_000))
    names = " ".join(f"alice{i}@host{i}.example.org" for i in range(30_000))
    return {
        "nested.json": text("[" * 999_000),
        "config.json": text('{"a":' * 190_000),
        "config.yaml": text("[" * 999_000),
        "hparams.yaml": text("{a: " * 240_000),
        "args.yml": text("- " * 490_000),
        "config2.yaml": text(anchors),
        "params.yaml": text("? " * 490_000),
        "config.toml": text("[" + "a." * 490_000 + "b]\n"),
        "args.toml": text("a=" + "[" * 990_000),
        "flow_config.yaml": text("a: " + "[[" * 200_000 + "]]" * 200_000),
        "tags_config.yaml": text("!a " * 300_000),
        "wide.csv": text("step,loss," + wide + "\n" + "1,2," + "3," * 60_000 + "\n" + "2,2," + "3," * 60_000 + "\n"),
        "heads.csv": text("step,loss\n" * 99_000),
        "blank.csv": text("step,loss\n" + "\n" * 900_000),
        "steps.csv": text("step,loss\n" + "".join(f"{i * 7919 % 100_003},1\n" for i in range(100_000))),
        "same.csv": text("step,loss\n" + "5,1\n" * 240_000),
        "big.csv": text("step,loss\n" + "".join(f"{i * 10**12},1\n" for i in range(50_000))),
        "names.jsonl": text("\n".join(rows)),
        "keys.jsonl": text("{" + keys + ', "step": 1}\n' + "{" + keys + ', "step": 2}\n'),
        "one.jsonl": text('{"step":1,"loss":2}' * 50_000),
        "deep.jsonl": text('{"step":1,"x":' * 70_000),
        "ranks.log": text(ranks),
        "errors.log": text(errors),
        "traces.log": text(traces),
        "saves.log": text(saves),
        "dumps.log": text(dumps),
        "alternating.log": text("step:1 train_loss:nan\nstep:0 train_loss:1\n" * 22_000),
        "bars.log": text("step:1 \r" * 120_000),
        "spikes.log": text("".join(make.step_line(i, (2, 2e9, "nan", "inf")[i % 4]) for i in range(26_000))),
        "people.log": text("RuntimeError: " + names + "\nstep:1 train_loss:nan\n"),
        "colours.log": text("\x1b[31m" * 190_000),
        "brackets.log": text("{'loss': " * 110_000),
        "equals.log": text("a=1 " * 240_000),
        "pipes.log": text("step: 1 | " * 99_000),
        "resumes.log": text(
            "".join(f"Resuming from checkpoint step_{i % 9}\nstep:{i % 9} train_loss:2\n" for i in range(15_000))
        ),
        "events.out.tfevents.1.x": lambda path: path.write_bytes(make.event_start() + tags) and None,
        "events.out.tfevents.2.x": lambda path: path.write_bytes(make.event_start() + starts) and None,
        "run-x.wandb": lambda path: make.wandb_file(
            path, [make.wandb_row(i % 5, **{f"m{i}": 1.0, "loss": 2}) for i in range(12_000)]
        ),
        "trainer_state.json": text(
            '{"log_history": [' + ",".join(f'{{"step": {9 - i % 9}, "loss": 1.5}}' for i in range(35_000)) + "]}"
        ),
        "list.pt": pickled(b"]" * 900_000),
        "tuple.pt": pickled(b"N" + b"\x85" * 900_000),
        "memo.pt": pickled(tree),
        "dict.pt": pickled(b"}(" + b"".join(make.pickled(i) + b"N" for i in range(150_000)) + b"u"),
        "tensors.pt": lambda path: make.archive(path, b"\x80\x02" + many_tensors + b".", {"0": make.floats(4)}),
        "dups.pt": pickled(b"](" + b"N2" * 440_000 + b"e"),
        "marks.pt": pickled(b"(" * 900_000),
        "globals.pt": pickled(b"](" + b"".join(b"cm%d\nn\n" % i for i in range(90_000)) + b"e"),
        "long.pt": pickled(b"\x8b" + struct.pack("<I", 900_000) + b"\x7f" * 900_000),
        "builds.pt": pickled(b"}" + b"}b" * 450_000),
        "frames.pt": pickled(b"\x95" + struct.pack("<Q", (1 << 64) - 1) + b"N" * 1000),
        "dict2.pt": pickled(b"}(" + b"NN" * 450_000 + b"u"),
        "entries.pt": lambda path: make.archive(path, b"\x80\x02}.", {f"{i}": b"" for i in range(5000)}),
        "tensors.safetensors": lambda path: make.safetensors(path, header, bytes(48_000)),
        "nested.safetensors": lambda path: path.write_bytes(struct.pack("<Q", 900_000) + b'{"a":' * 180_000) and None,
        "pad.npy": lambda path: make.npy(path, "(2, 2)", make.floats(4), pad=60_000),
        "batches.npy": lambda path: make.npy(path, "(240000, 1, 1)", make.floats(240_000)),
        "batches.pt": lambda path: make.pt(
            path, {"input": make.Storage("0", (60_000, 2, 2), (4, 2, 1))}, {"0": make.floats(240_000)}
        ),
        "row.npy": lambda path: make.npy(path, "(1, 240000)", make.floats(240_000)),
        "column.npy": lambda path: make.npy(path, "(240000, 1)", make.floats(240_000)),
        "bytes.npy": lambda path: make.npy(path, "(970, 1024)", b"\x01" * (970 * 1024), kind="|b1"),
        "packed.log.gz": lambda path: (
            path.write_bytes(gzip.compress(make.log_text(0, [2.5] * 400_000).encode())) and None
        ),
    }


@attack(
    "small", "every single file below 1 MB, 64 kinds of structure: at most 300 MB and 10 s in `diagnose` and `import`"
)
def small(bench: Bench) -> None:
    """The worst is named."""
    worst: list[tuple[float, float, str]] = []
    for name, write in small_files().items():
        folder = bench.place()
        path = folder / name
        write(path)
        bench.row.check(path.stat().st_size < 1_100_000, f"{name} is no small file")
        done = bench.run("diagnose", folder, limit=MOST_SECONDS, memory=MOST_MEMORY, seconds=90, text=True)
        session = folder.parent / "s.nanscope"
        again = bench.run("import", folder, "--session", session, limit=MOST_SECONDS, memory=MOST_MEMORY, seconds=90)
        worst.append((max(done.wall, again.wall), max(done.memory, again.memory), name))
        if path.suffix in (".log", ".csv", ".pt") and bench.random.random() < 0.3:
            bench.run("report", folder, "-o", folder.parent / "r.html", limit=20, memory=MOST_MEMORY, seconds=90)
        shutil.rmtree(folder)
    slow, large = max(worst), max(worst, key=lambda one: one[1])
    bench.row.remark(f"slowest {slow[2]} {slow[0]:.1f} s, largest {large[2]} {large[1]:.0f} MB")


@attack("large", "M2: a dict pickle of 14 MB, 300,000 parameter names, 14 MB of nested containers")
def large(bench: Bench) -> None:
    """Larger files take what follows their size."""
    folder = bench.place()
    with_dict = folder / "dict.pt"
    parts = b"".join(make.pickled(f"k{i:07d}") + make.pickled(i) for i in range(740_000))
    make.archive(with_dict, b"\x80\x02}(" + parts + b"u.", {})
    nested = folder / "nested.pt"
    make.archive(nested, b"\x80\x02](" + b"]" * 14_000_000 + b"e.", {})
    for path in (with_dict, nested):
        bench.run("explain", path, limit=MOST_SECONDS, memory=MOST_MEMORY)
    bench.run("diagnose", folder, limit=MOST_SECONDS, memory=MOST_MEMORY)
    names = bench.place() / "names.txt"
    names.write_text("".join(f"blocks.{i}.mlp.fc2.weight torch.Size([512, {1408 + i % 7}])\n" for i in range(300_000)))
    listed = names.with_suffix(".json")
    listed.write_text(json.dumps({f"blocks.{i}.w": [512, 1408] for i in range(300_000)}))
    good = make.capture(bench.place() / "good.pt", 8, 12)
    few = names.with_name("few.txt")
    few.write_text("".join(f"blocks.{i}.mlp.fc2.weight [8, 12]\n" for i in range(190_000)))
    for path in (names, listed, few):
        done = bench.run(
            "diagnose", good, "--params", path, limit=MOST_SECONDS, memory=MOST_MEMORY, statuses=(0, 2, 3, 4)
        )
        bench.row.remark(f"{path.name}: {done.wall:.1f} s, {done.memory:.0f} MB")
        bench.run(
            "report",
            good,
            "--params",
            path,
            "-o",
            good.with_name("r.json"),
            limit=20,
            memory=MOST_MEMORY,
            statuses=(0, 2, 3, 4),
        )


@attack("many", "100,000 tiny captures in one folder", since=2)
def many(bench: Bench) -> None:
    """Import and list follow their number."""
    folder = bench.place()
    whole = make.capture(folder / "0.pt", 1, 2).read_bytes()
    epsilon = struct.pack(">d", 1e-7)
    at = whole.index(epsilon)
    pickle_at = whole.index(b"\x80\x02}")
    for i in range(1, 100_000):
        changed = bytearray(whole)
        changed[at : at + 8] = struct.pack(">d", i * 1e-9)
        end = changed.index(b"u.", pickle_at) + 2
        crc = struct.pack("<I", zlib.crc32(changed[pickle_at:end]))
        old = struct.pack("<I", zlib.crc32(whole[pickle_at:end]))
        (folder / f"{i}.pt").write_bytes(bytes(changed).replace(old, crc))
    session = folder.parent / "s.nanscope"
    done = bench.run("import", folder, "--session", session, seconds=600, memory=600)
    listed = bench.run("list", session, "--json", seconds=120, memory=200)
    bench.row.check(listed.out.count(b'"file"') > 1000, "the captures are not listed")
    bench.row.remark(f"import {done.wall:.0f} s")


@attack(
    "damaged-logs", "cut and damaged .wandb, event, .gz, .xz and .zst files, and absurd lengths in them: each is said"
)
def damaged_logs(bench: Bench) -> None:
    """What came before the damage is read, and the damage named."""
    rows = [make.wandb_row(i, loss=2.5 + i / 64) for i in range(2000)]
    wandb = bench.place() / "run-x.wandb"
    make.wandb_file(wandb, rows)
    events = make.event_start() + b"".join(make.event_record(make.scalar_event(i, "loss", 2.5)) for i in range(500))
    absurd = events + struct.pack("<Q", 1 << 60) + bytes(400)
    text = make.log_text(0, [3 - i / 9000 for i in range(20_000)]).encode()
    whole = {
        "run-x.wandb": wandb.read_bytes(), "events.out.tfevents.1.x": events, "train.log.gz": gzip.compress(text),
        "train.log.xz": lzma.compress(text, preset=0),
    }  # fmt: skip
    cases: list[tuple[str, bytes]] = [("events.out.tfevents.1.x", absurd)]
    for name, contents in whole.items():
        cuts = [bench.random.randrange(9, len(contents)) for _ in range(4 * bench.scale)]
        cases += [(name, contents[:cut]) for cut in cuts]
        for _ in range(4 * bench.scale):
            changed = bytearray(contents)
            at = bench.random.randrange(9, len(changed) - 8)
            changed[at : at + 4] = bench.random.choice((b"\xff" * 4, b"\0" * 4, b"\x7f\xff\xff\xff"))
            cases.append((name, bytes(changed)))
    for name, contents in cases:
        folder = bench.place()
        path = folder / name
        path.write_bytes(contents)
        os.utime(path, (1.7e9, 1.7e9))
        session = folder.parent / "s.nanscope"
        done = bench.run("import", folder, "--session", session, "--json", limit=MOST_SECONDS, memory=MOST_MEMORY)
        listed = bench.measured("list", session, "events", "--json").answer()
        told = done.errors() + listed
        bench.good(
            done,
            told.count(name) or contents == whole[name],
            f"not a word about damage in {name} ({len(contents)} bytes)",
        )


@attack(
    "surroundings-files",
    "FIFOs, devices, sockets, loops of links and folders named like captures and logs: named, and nothing waits",
)
def surroundings_files(bench: Bench) -> None:
    """Beside a good capture, and each by itself."""
    folder = bench.place()
    make.capture(folder / "good.pt")
    special = []
    for name in ("a.pt", "b.npy", "c.safetensors", "d.log", "e.csv", "f.jsonl"):
        os.mkfifo(folder / name)
        special.append(name)
    with socket.socket(socket.AF_UNIX) as unix:
        unix.bind(str(Path(os.path.relpath(folder / "socket.pt"))))
        special.append("socket.pt")
        for name, target in (
            ("zero.pt", "/dev/zero"),
            ("full.log", "/dev/full"),
            ("random.npy", "/dev/urandom"),
            ("tty.log", "/dev/tty"),
        ):
            (folder / name).symlink_to(target)
            special.append(name)
        try:
            os.mknod(folder / "node.pt", 0o600 | stat.S_IFCHR, os.makedev(1, 5))
            special.append("node.pt")
        except OSError as error:
            bench.row.remark(f"no device could be made ({error.strerror})")
        (folder / "loop.pt").symlink_to("loop.pt")
        (folder / "up").symlink_to("..")
        (folder / "folder.pt").mkdir()
        (folder / "gone.pt").symlink_to("nowhere.pt")
        for command in (
            ["list", folder, "--json"],
            ["diagnose", folder, "--json"],
            ["import", folder, "--session", folder.parent / "s.nanscope"],
        ):
            done = bench.run(*command, limit=MOST_SECONDS, memory=MOST_MEMORY, statuses=(3,))
            missing = [name for name in special if name not in done.errors()]
            bench.good(done, not missing, f"not a word about {missing}")
        for name in [*special, "loop.pt", "folder.pt", "gone.pt"]:
            for command in ("explain", "list", "diagnose", "import"):
                bench.run(command, folder / name, limit=MOST_SECONDS, memory=MOST_MEMORY, statuses=(4,), seconds=20)
            for option in ("--params", "--env", "--advisories", "--variant-file"):
                bench.run(
                    "diagnose",
                    folder / "good.pt",
                    option,
                    folder / name,
                    limit=MOST_SECONDS,
                    statuses=(0, 2, 3, 4),
                    seconds=20,
                )
            bench.run(
                "list", folder / "good.pt", "--session", folder / name, limit=15, statuses=(0, 2, 3, 4), seconds=30
            )


def useful_run(bench: Bench) -> Path:
    folder = bench.place()
    for i in range(4):
        make.capture(folder / f"dump{i}.pt", 8, 12, epsilon=(i + 1) / 1e7, first=1 + i / 8)
    (folder / "train.log").write_text(make.log_text(0, [3 - i / 20_000 for i in range(20_000)]))
    return folder


def unloadable(done: Done) -> bool:
    """The loader did not get as far as the program."""
    return done.status == 127 and b"while loading shared libraries" in done.err


@attack("few-files", "`ulimit -n` 4 to 40: the right answer, or a sentence about open files")
def few_files(bench: Bench) -> None:
    """Never "no capture was found" where there is one."""
    folder = useful_run(bench)
    for most in (4, 5, 6, 7, 8, 9, 10, 12, 16, 24, 40):
        for number, command in enumerate(
            (["list", folder, "--json"], ["diagnose", folder, "--json"], ["import", folder], ["report", folder])
        ):
            more = [[], [], ["--session", folder.parent / f"{most}.nanscope"], ["-o", folder.parent / f"{most}.md"]][
                number
            ]
            done = bench.run(
                *command,
                *more,
                setup=limited(resource.RLIMIT_NOFILE, most),
                limit=MOST_SECONDS,
                statuses=(0, 1, 3, 4, 127),
            )
            if unloadable(done):
                continue
            complete = done.status == 0 and (number > 1 or len(names_of(done.json())) == 4)
            bench.good(
                done,
                complete or "files are open" in done.errors(),
                "neither the answer nor a sentence about open files",
            )
            bench.good(done, "found" not in done.errors(), "it says that something was not found")


@attack("small-files", "RLIMIT_FSIZE: a sentence, no SIGXFSZ, no half report, and the session stays sound")
def small_files_only(bench: Bench) -> None:
    """Reports, bundles and sessions larger than a file may be."""
    folder = useful_run(bench)
    for most in (2000, 4096, 20_000, 60_000, 150_000, 300_000):  # less leaves no room for the sentence itself
        setup = limited(resource.RLIMIT_FSIZE, most)
        out = bench.place("out")
        session = out / "s.nanscope"
        done = bench.run("import", folder, "--session", session, setup=setup, statuses=(0, 1, 3, 4), limit=15)
        bench.good(done, done.status == 0 or done.err.strip(), "no sentence")
        if session.exists() and session.stat().st_size:
            bench.row.check(is_sound(session) == "ok", f"RLIMIT_FSIZE {most}: the session is damaged")
        after = bench.run("import", folder, "--session", session, statuses=(0,))
        listed = bench.measured("list", session, "--json").json()
        bench.good(after, len(names_of(listed)) == 4, "an import after a failed one does not give everything")
        for name in ("r.md", "r.html", "r.json", "b.zip"):
            where = bench.place("out")
            option = "--bundle" if name == "b.zip" else "-o"
            done = bench.run("report", folder, option, where / name, setup=setup, statuses=(0, 1, 3, 4), limit=15)
            left = [path.name for path in where.iterdir()]
            half = (where / name).exists() and done.status in (1, 4)
            bench.good(done, not half, f"half a report is left: {left}")
            bench.good(
                done,
                done.status == 0 or not [one for one in left if one.startswith(".") or "tmp" in one],
                f"left behind: {left}",
            )


@attack("little-memory", "RLIMIT_AS from 24 MB on: the answer or a sentence, never a crash")
def little_memory(bench: Bench) -> None:
    """Memory that is refused costs a sentence."""
    folder = useful_run(bench)
    make.capture(folder / "large.pt", 700, 900, output=0)
    make.npy(folder / "honest.npy", "(2000, 3000)", make.floats(6_000_000, value=1.5))
    (folder / "falling.csv").write_text(steps_falling(50_000))
    for megabytes in (24, 32, 40, 48, 56, 64, 80, 96, 128, 160, 200, 256, 400, 700):
        setup = limited(resource.RLIMIT_AS, megabytes << 20)
        session = folder.parent / f"{megabytes}.nanscope"
        for command in (["list", folder], ["explain", folder / "large.pt"], ["import", folder, "--session", session],
                        ["report", folder / "dump0.pt", "-o", folder.parent / "r.html"]):  # fmt: skip
            done = bench.run(*command, setup=setup, seconds=90, statuses=(0, 1, 3, 4, 5, 127))
            if done.status == 1 and not unloadable(done):
                bench.good(done, "memory" in done.errors(), "status 1 and no word about memory")
        if session.exists() and session.stat().st_size:
            bench.row.check(is_sound(session) == "ok", f"RLIMIT_AS {megabytes} MB: the session is damaged")


def can_mount() -> bool:
    """A mount in a namespace of its own, which nobody else sees."""
    words = ["unshare", "-m", "--propagation", "private", "sh", "-c", "mount -t tmpfs -o size=1m none /mnt"]
    return (
        shutil.which("unshare") is not None and subprocess.run(words, capture_output=True, check=False).returncode == 0
    )


@attack(
    "full-disk",
    "a full disk (tmpfs of 32 kB to 2 MB): a sentence that says so, what was stored is kept, nothing half is left",
)
def full_disk(bench: Bench) -> None:
    """In a mount namespace of its own; RLIMIT_FSIZE has a row of its own."""
    if not can_mount():
        bench.row.remark("no mount is permitted here; see RLIMIT_FSIZE")
        return
    folder = useful_run(bench)
    script = 'mount -t tmpfs -o size="$1" none "$2"; disk="$2"; to="$3"; shift 3; "$@"; status=$?; '
    script += 'cp -r "$disk/." "$to"; exit $status'
    for kilobytes in (32, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048):
        disk, kept = bench.place("disk"), bench.place("kept")
        prefix = [
            "unshare",
            "-m",
            "--propagation",
            "private",
            "sh",
            "-c",
            script,
            "sh",
            f"{kilobytes}k",
            str(disk),
            str(kept),
        ]
        commands: list[list[object]] = [
            ["import", folder, "--session", disk / "s.nanscope"],
            ["report", folder, "-o", disk / "r.html"],
            ["report", folder, "-o", disk / "r.json"],
            ["report", folder, "--bundle", disk / "b.zip"],
            ["report", folder, "--bundle", disk / "b"],
        ]
        for command in commands:
            shutil.rmtree(kept)
            kept.mkdir()
            done = bench.run(*command, program=prefix, statuses=(0, 1, 3, 4), limit=15)
            if done.status != 0:
                bench.good(
                    done,
                    "full" in done.errors() or "space" in done.errors(),
                    f"no word about a full disk ({kilobytes} kB)",
                )
                left = [path.name for path in kept.rglob("*") if path.is_file()]
                if command[0] == "report":
                    bench.good(done, not left, f"left behind on the full disk: {left}")
            session = kept / "s.nanscope"
            if session.exists() and session.stat().st_size:
                bench.row.check(is_sound(session) == "ok", f"{kilobytes} kB: the session is damaged")
                again = bench.run("import", folder, "--session", session, statuses=(0,))
                listed = bench.measured("list", session, "--json").json()
                bench.good(
                    again,
                    len(names_of(listed)) == 4 and not rejected(listed),
                    "an import after it does not give everything",
                )
        shutil.rmtree(disk)
    done = bench.measured("list", folder, program=["sh", "-c", '"$@" > /dev/full', "sh"])
    bench.good(done, done.status == 1 and done.err.strip(), "an answer to a full device is not an error")
