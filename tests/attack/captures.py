# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""Captures that lie about what they hold, are cut off, or change under the program."""

from __future__ import annotations

import math
import os
import shutil
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import makefiles as make
from harness import Bench, attack, names_of, rejected
from makefiles import Raw, Storage

HUGE = 1 << 62
MOST_MEMORY = 300  # MB, for a file below 1 MB
MOST_SECONDS = 10
Writer = Callable[[Path], None]

ODD_SHAPES: list[tuple[int, ...]] = [
    (0, HUGE), (HUGE, 0), (0, 1 << 30), (1 << 30, 0), (0,), (0, 0), (), (1,), (3, 0, 4), (1, HUGE), (HUGE, HUGE),
    ((1 << 63) - 1,), (1 << 31, 1 << 31, 0), (1 << 32, 1 << 32), (1 << 20, 1 << 20), (1,) * 64, (1,) * 500, (0,) * 64,
    (2, 0, 1 << 61), (1, 1, 1 << 40), (1 << 16, 1 << 16, 1 << 16, 1 << 16),
]  # fmt: skip


def shape_text(shape: tuple[int, ...]) -> str:
    return "(" + "".join(f"{extent}, " for extent in shape) + ")"


def odd_npy() -> dict[str, Writer]:
    """Extents, types and headers that no numpy.save writes."""
    cases: dict[str, Writer] = {}
    for i, shape in enumerate(ODD_SHAPES):
        cases[f"shape{i}.npy"] = lambda path, s=shape: make.npy(path, shape_text(s), make.floats(6))
        cases[f"fortran{i}.npy"] = lambda path, s=shape: make.npy(path, shape_text(s), b"", fortran=True)
    for i, text in enumerate(("(-1, 4)", "(9223372036854775808,)", "(2, 3", "()", "(1e3,)", "((2,),)", "2")):
        cases[f"text{i}.npy"] = lambda path, t=text: make.npy(path, t, make.floats(6))
    for i, kind in enumerate(("<f16", "|O", "<U9", "<M8[s]", "V8", "", "f4", "<c16", ">f8", "|b1", "|S0")):
        cases[f"kind{i}.npy"] = lambda path, k=kind: make.npy(path, "(2, 3)", make.floats(24), kind=k)
    return cases


def odd_safetensors() -> dict[str, Writer]:
    """Extents and offsets that contradict the file and each other."""

    def one(shape: list[object], offsets: list[object], kind: str = "F32", data: int = 24) -> Writer:
        entry = {"dtype": kind, "shape": shape, "data_offsets": offsets}
        return lambda path: make.safetensors(path, {"input": entry}, bytes(data))

    cases = {f"shape{i}.safetensors": one(list(shape), [0, 24]) for i, shape in enumerate(ODD_SHAPES)}
    cases |= {f"empty{i}.safetensors": one(list(shape), [0, 0]) for i, shape in enumerate(ODD_SHAPES)}
    offsets: list[list[object]] = [
        [24, 0], [-4, 20], [0, (1 << 64) - 1], [HUGE, HUGE + 24], [0, 1e300], ["0", "24"], [0], [8, 32],
    ]  # fmt: skip
    cases |= {f"offsets{i}.safetensors": one([2, 3], pair) for i, pair in enumerate(offsets)}
    for i, raw in enumerate((0, 1, 24, (1 << 64) - 1, 1 << 63, 99_999_999)):
        cases[f"length{i}.safetensors"] = lambda path, n=raw: path.write_bytes(
            struct.pack("<Q", n) + b'{"input":{}}' * 3
        )
    return cases


def odd_pt() -> dict[str, Writer]:
    """Tensors whose strides, offsets and storages cannot be, and some that torch itself would write."""

    def one(tensor: Storage, contents: int = 24) -> Writer:
        return lambda path: make.pt(path, {"input": tensor, "epsilon": 1e-7}, {"0": make.floats(contents // 4)})

    odd = {
        "negative": Storage("0", (2, 3), (-3, -1), 5),
        "negative-offset": Storage("0", (2, 3), (3, 1), -1),
        "far": Storage("0", (2, 3), (3, 1), HUGE),
        "far-strides": Storage("0", (2, 3), (HUGE, HUGE)),
        "overflow": Storage("0", (3, 3), ((1 << 63) - 1, 1)),
        "minimum": Storage("0", (2, 2), (-(1 << 63), 1)),
        "wide": Storage("0", (2, 3), (3, 1), count=HUGE),
        "negative-count": Storage("0", (2, 3), (3, 1), count=-1),
        "expanded": Storage("0", (1 << 20, 1 << 20), (0, 0), count=6),
        "expanded-30": Storage("0", (1 << 15, 1 << 15), (0, 0), count=6),
        "expanded-rows": Storage("0", (1 << 26, 6), (0, 1), count=6),
        "batches": Storage("0", (1 << 28, 1, 1), (0, 0, 0), count=6),
        "many-batches": Storage("0", (1 << 20, 2, 3), (0, 3, 1), count=6),
        "fewer-strides": Storage("0", (2, 3), (1,), count=6),
        "more-strides": Storage("0", (2, 3), (1, 1, 1), count=6),
        "negative-shape": Storage("0", (-2, -3), (3, 1), count=6),
        "big-number": Storage("0", (1 << 200, 3), (3, 1)),
        "no-storage": Storage("7", (2, 3), (3, 1)),
        "path": Storage("../../../etc/hostname", (2, 3), (3, 1)),
        "kind": Storage("0", (2, 3), (3, 1), kind="UntypedStorage"),
        "complex": Storage("0", (1, 3), (3, 1), kind="ComplexFloatStorage"),
        "quantised": Storage("0", (2, 3), (3, 1), kind="QInt8Storage"),
        "text": Storage("0", ("2", "3"), (3, 1), count=6),  # type: ignore[arg-type]
    }
    cases = {f"{name}.pt": one(tensor) for name, tensor in odd.items()}
    for i, shape in enumerate(ODD_SHAPES):
        strides = tuple(max(1, math.prod(shape[k + 1 :])) for k in range(len(shape)))
        cases[f"shape{i}.pt"] = one(Storage("0", shape, strides, count=6))
        cases[f"flat{i}.pt"] = one(Storage("0", shape, (0,) * len(shape), count=6))
    cases["output.pt"] = lambda path: make.pt(
        path,
        {"input": Storage("0", (2, 3), (3, 1)), "output": Storage("0", (0, HUGE), (1, 1)), "epsilon": 1e-7},
        {"0": make.floats(6)},
    )
    cases["other-output.pt"] = lambda path: make.pt(
        path,
        {"input": Storage("0", (2, 3), (3, 1)), "output": Storage("0", (1 << 14, 1 << 14), (0, 0), count=6)},
        {"0": make.floats(6)},
    )
    for name, number in (
        ("nan", math.nan),
        ("inf", math.inf),
        ("negative", -1e300),
        ("text", "1e-7"),
        ("big", 1 << 900),
    ):
        cases[f"epsilon-{name}.pt"] = lambda path, n=number: make.pt(
            path, {"input": Storage("0", (2, 3), (3, 1)), "epsilon": n, "rank": n}, {"0": make.floats(6)}
        )
    return cases


def global_name(name: str) -> Raw:
    """A class of a pickle."""
    module, _, own = name.rpartition(".")
    return Raw(f"c{module}\n{own}\n".encode())


def instance(name: str, arguments: tuple[object, ...], state: object = None) -> Raw:
    """What pickles for an object of a class: arguments of its making, then its state."""
    code = make.pickled(global_name(name)) + make.pickled(arguments) + b"\x81"
    return Raw(code + (make.pickled(state) + b"b" if state is not None else b""))


def shard(
    path: Path, local: tuple[int, ...], whole: tuple[int, ...], mesh: tuple[int, ...], dim: int, place: int
) -> None:
    """A DTensor as torch 2.11 pickles it; nothing of it has to fit together."""
    tensor = "torch.distributed.tensor"
    layout = instance("torch.distributed._mesh_layout._MeshLayout", (), {"shape": mesh, "stride": (1,) * len(mesh)})
    table = Storage("1", mesh, (1,) * len(mesh), count=4, kind="LongStorage")
    mesh_state = {
        "_device_type": "cpu", "_layout": layout, "_rank_map": table, "_mesh_dim_names": ("dp",) * len(mesh),
        "_root_mesh": None, "_rank": 0, "_coordinate_on_dim": (place,) * len(mesh),
    }  # fmt: skip
    meta = instance(f"{tensor}._dtensor_spec.TensorMeta", (whole, (1,) * len(whole), global_name("torch.float32")))
    spec = {
        "mesh": instance("torch.distributed.device_mesh.DeviceMesh", (), mesh_state),
        "placements": tuple(instance(f"{tensor}.placement_types.Shard", (), {"dim": dim}) for _ in mesh),
        "tensor_meta": meta,
    }
    held = Storage("0", local, tuple(max(1, math.prod(local[k + 1 :])) for k in range(len(local))), count=6)
    state = {"_local_tensor": held, "_spec": instance(f"{tensor}._dtensor_spec.DTensorSpec", (), spec)}
    kind = global_name(f"{tensor}.DTensor")
    about = (kind, global_name("torch.float32"), whole, (1,) * len(whole), 0, None, "cpu", False)
    arguments = (global_name("torch._utils._rebuild_wrapper_subclass"), kind, about, (None, state))
    made = Raw(make.pickled(global_name("torch._tensor._rebuild_from_type_v2")) + make.pickled(arguments) + b"R")
    contents = {"0": make.floats(6), "1": struct.pack("<4q", 0, 1, 2, 3)}
    make.pt(path, {"input": made, "rank": 0, "epsilon": 1e-7}, contents)


def odd_shards() -> dict[str, Writer]:
    """Parts of DTensors whose own extents, or those of the whole, cannot be."""
    odd = [
        ((2, 3), (4, 3), (2,), 0, 0), ((0, HUGE), (4, HUGE), (2,), 0, 0), ((0, 1 << 30), (4, 1 << 30), (2,), 0, 1),
        ((2, 3), (HUGE, HUGE), (2,), 0, 0), ((2, 3), (4, 3), (HUGE,), 0, 0), ((2, 3), (4, 3), (1 << 30,), 0, 1 << 29),
        ((2, 3), (4, 3), (0,), 0, 0), ((2, 3), (4, 3), (1 << 16, 1 << 16), 1 << 40, 0), ((), (), (1,), 0, 0),
        ((2, 3), (4, 3), (2,), -(1 << 62), 0), ((2, 3), (4, 3), (2,), 0, HUGE), ((2, 3), (4, 3), (2,), 0, -1),
        ((0, 3), (1 << 40, 3), (2,), 0, 0), ((2, 3), (-4, 3), (2,), 0, 0), ((0,) * 20, (HUGE,) * 20, (2,), 0, 0),
        ((2, 3), (1 << 31, 3), (4,), 0, 3), ((2, 3), (4, 3), (2,) * 16, 0, 0),
    ]  # fmt: skip
    return {f"shard{i}.pt": lambda path, each=each: shard(path, *each) for i, each in enumerate(odd)}


def sample_shards(bench: Bench) -> list[Path]:
    """Real shards of the tests, with an extent of the pickle inside overwritten."""
    samples = sorted((Path(__file__).parents[1] / "reference/data/shards").rglob("*.pt"))
    folder = bench.place("shards")
    made = []
    for number, sample in enumerate(bench.random.sample(samples, min(24 * bench.scale, len(samples)))):
        with zipfile.ZipFile(sample) as source:
            entries = {name: source.read(name) for name in source.namelist()}
        name = next(entry for entry in entries if entry.endswith("data.pkl"))
        pickle = bytearray(entries[name])
        for _ in range(bench.random.randint(1, 3)):
            # Small integers of a pickle: K and a byte. A long one takes its place.
            places = [at for at in range(len(pickle) - 1) if pickle[at] == ord("K") and pickle[at + 1] < 16]
            at = bench.random.choice(places)
            value = bench.random.choice((0, -1, 1 << 20, 1 << 30, 1 << 31, HUGE, (1 << 63) - 1, -(1 << 63)))
            pickle[at : at + 2] = make.pickled(value)
        entries[name] = bytes(pickle)
        path = folder / f"sample{number}.pt"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as out:
            for entry, contents in entries.items():
                out.writestr(entry, contents)
        made.append(path)
    return made


def judged_beside(bench: Bench, bad: Path) -> None:
    """One bad capture beside a good one through every command that opens captures."""
    folder = bad.parent
    good = make.capture(folder / "good.pt")
    bench.run("explain", bad, limit=MOST_SECONDS, memory=MOST_MEMORY, statuses=(0, 4))
    listed = bench.run("list", folder, "--json", limit=MOST_SECONDS, memory=MOST_MEMORY)
    told = [bad.name in path for path, _ in rejected(listed.json())]
    bench.good(listed, "good.pt" in names_of(listed.json()), "the good capture is missing")
    bench.good(listed, any(told) or bad.name in names_of(listed.json()), f"{bad.name} is neither listed nor rejected")
    bench.good(listed, not any(told) or listed.status == 3, "a file was rejected and the status is not 3")
    diagnosed = bench.run("diagnose", folder, "--json", limit=MOST_SECONDS, memory=MOST_MEMORY)
    verdicts = [one for one in diagnosed.json().get("captures", []) if one.get("capture") == "good.pt"]
    bench.good(diagnosed, verdicts and verdicts[0].get("verdict"), "the good capture got no verdict")
    out = folder.parent / "report"
    out.mkdir()
    page, bundle = out / "r.md", out / "r.zip"
    bench.run("report", folder, "-o", page, limit=MOST_SECONDS, memory=MOST_MEMORY)
    bench.row.check(page.exists() and page.stat().st_size > 200, f"no report of a folder with {bad.name}")
    bench.run("report", folder, "--bundle", bundle, "--with-capture", limit=MOST_SECONDS, memory=MOST_MEMORY)
    bench.row.check(zipfile.is_zipfile(bundle), f"no bundle of a folder with {bad.name}")
    session = out / "s.nanscope"
    bench.run("import", folder, "--session", session, limit=MOST_SECONDS, memory=MOST_MEMORY)
    again = bench.run("diagnose", session, "--json", limit=MOST_SECONDS, memory=MOST_MEMORY)
    verdicts = [one for one in again.json().get("captures", []) if one.get("capture") == "good.pt"]
    bench.good(again, verdicts and verdicts[0].get("verdict"), "the good capture of the session got no verdict")
    bench.row.check(good.exists(), "the good capture is gone")


def quietly_listed(bench: Bench, cases: dict[str, Writer]) -> None:
    """All bad captures of one kind in one folder beside a good one."""
    folder = bench.place("all")
    for name, write in cases.items():
        write(folder / name)
    make.capture(folder / "good.pt")
    listed = bench.run("list", folder, "--json", limit=60, memory=MOST_MEMORY)
    known = [*names_of(listed.json()), *(Path(path).name for path, _ in rejected(listed.json()))]
    missing = [name for name in cases if name not in known]
    # A copy of a capture that is listed is called a copy.
    notes = str(listed.json().get("notes", "")) + listed.errors()
    bench.good(listed, not [name for name in missing if name not in notes], f"without a word: {missing[:5]}")
    diagnosed = bench.run("diagnose", folder, "--json", seconds=120, memory=MOST_MEMORY)
    verdicts = [one for one in diagnosed.json().get("captures", []) if one.get("capture") == "good.pt"]
    bench.good(diagnosed, verdicts and verdicts[0].get("verdict"), "the good capture got no verdict")
    bench.run("report", folder, "-o", folder.parent / "r.html", seconds=120, memory=MOST_MEMORY)


def attack_shapes(bench: Bench, cases: dict[str, Writer], most: int) -> None:
    names = sorted(cases)
    chosen = names if len(names) <= most * bench.scale else bench.random.sample(names, most * bench.scale)
    for name in chosen:
        folder = bench.place()
        cases[name](folder / name)
        judged_beside(bench, folder / name)
    quietly_listed(bench, cases)


@attack("shapes-npy", "H1: NumPy arrays of impossible extents beside a good capture, ten commands each")
def shapes_npy(bench: Bench) -> None:
    """Extents of NumPy headers."""
    attack_shapes(bench, odd_npy(), 8)


@attack("shapes-safetensors", "H1: safetensors of impossible extents and offsets")
def shapes_safetensors(bench: Bench) -> None:
    """Extents and offsets of safetensors headers."""
    attack_shapes(bench, odd_safetensors(), 8)


@attack("shapes-pt", "H1: tensors of impossible extents, strides, offsets and storages")
def shapes_pt(bench: Bench) -> None:
    """Everything a pickled tensor says of itself."""
    cases = odd_pt()
    first = {
        name: cases.pop(name) for name in list(cases) if name.startswith(("expanded", "batches", "output", "other"))
    }
    attack_shapes(bench, first, 12)
    attack_shapes(bench, cases, 12)


@attack("shapes-shards", "H1: parts of DTensors with impossible extents, meshes and placements")
def shapes_shards(bench: Bench) -> None:
    """Zero extents are allowed of a shard; what else it says must still be possible."""
    attack_shapes(bench, odd_shards(), 17)
    for name, write in odd_shards().items():
        path = bench.place() / name
        write(path)
        bench.run("inspect", path.parent, "--stitch", limit=MOST_SECONDS, memory=MOST_MEMORY)
        bench.run("inspect", path, "--stitch", "-o", path.with_name("w.pt"), limit=MOST_SECONDS, memory=MOST_MEMORY)
        bench.run("inspect", path, limit=MOST_SECONDS, memory=MOST_MEMORY)
    for path in sample_shards(bench):
        folder = bench.place()
        shutil.copyfile(path, folder / path.name)
        bench.run("list", folder, limit=MOST_SECONDS, memory=MOST_MEMORY)
        bench.run("diagnose", folder, limit=MOST_SECONDS, memory=MOST_MEMORY)
        bench.run("inspect", folder, "--stitch", limit=MOST_SECONDS, memory=MOST_MEMORY)


@attack("cut", "every way to cut a capture short (.pt, .safetensors, .npy): a sentence each")
def cut(bench: Bench) -> None:
    """520 lengths of each kind in one folder, and some of them alone."""
    whole = bench.place("whole")
    make.capture(whole / "whole.pt", 12, 16)
    entry = {"dtype": "F32", "shape": [12, 16], "data_offsets": [0, 768]}
    make.safetensors(whole / "whole.safetensors", {"input": entry}, make.floats(192))
    make.npy(whole / "whole.npy", "(12, 16)", make.floats(192))
    for kind in ("pt", "safetensors", "npy"):
        contents = (whole / f"whole.{kind}").read_bytes()
        lengths = list(range(len(contents)))
        if len(lengths) > 520 * bench.scale:
            lengths = sorted({0, 1, 2, len(contents) - 1, *bench.random.sample(lengths, 520 * bench.scale)})
        folder = bench.place()
        for length in lengths:
            (folder / f"cut{length}.{kind}").write_bytes(contents[:length])
        make.capture(folder / "good.pt")
        for command in ("list", "diagnose"):
            done = bench.run(command, folder, "--json", statuses=(3,), memory=MOST_MEMORY, seconds=120)
            told = [Path(path).name for path, _ in rejected(done.json())]
            bench.row.tried += len(lengths)
            silent = {f"cut{length}.{kind}" for length in lengths} - set(told)
            bench.good(done, not silent, f"{len(silent)} lengths without a sentence: {sorted(silent)[:5]}")
            bench.good(done, len(told) == len(set(told)), "a file was rejected twice")
            bench.good(done, "good.pt" in names_of(done.json()), "the good capture is missing")
        for length in bench.random.sample(lengths, 20):
            done = bench.run("explain", folder / f"cut{length}.{kind}", statuses=(4,), limit=MOST_SECONDS)
            bench.good(done, f"cut{length}.{kind}" in done.errors(), "the sentence does not name the file")


@attack("flipped", "bits flipped and bytes overwritten in captures")
def flipped(bench: Bench) -> None:
    """A damaged capture is rejected or read; the good one beside it is judged."""
    whole = make.capture(bench.place("whole") / "whole.pt", 12, 16).read_bytes()
    folder = bench.place()
    for number in range(300 * bench.scale):
        changed = bytearray(whole)
        for _ in range(bench.random.choice((1, 1, 2, 8))):
            at = bench.random.randrange(len(changed))
            changed[at] = bench.random.choice((changed[at] ^ 1 << bench.random.randrange(8), 0, 255, 127))
        (folder / f"flipped{number}.pt").write_bytes(changed)
    make.capture(folder / "good.pt")
    for command in ("list", "diagnose"):
        done = bench.run(command, folder, "--json", seconds=120, memory=MOST_MEMORY)
        bench.good(done, "good.pt" in names_of(done.json()), "the good capture is missing")


@attack("all-nan", "an honest all-NaN capture is replayed in `diagnose`: 128, 256, 512 square")
def all_nan(bench: Bench) -> None:
    """It may take long, because it is replayed; its memory may not."""
    times = []
    for size in (128, 256, 512):
        path = make.capture(bench.place() / "nan.pt", size, size)
        done = bench.run("diagnose", path, seconds=300, memory=MOST_MEMORY)
        times.append(f"{size}: {done.wall:.1f} s, {path.stat().st_size / 1e6:.1f} MB file")
    bench.row.remark("; ".join(times))


@attack("overwritten", "H2b: a dump that was overwritten after its import is said and not judged")
def overwritten(bench: Bench) -> None:
    """The session names another capture than the one that lies there now."""
    for kind in range(6 * bench.scale):
        folder = bench.place()
        path = make.capture(folder / "dump.pt", 6, 8, output=math.nan, first=1.0)
        make.capture(folder / "good.pt", 5, 7, first=1.5)
        session = folder.parent / "s.nanscope"
        bench.run("import", folder, "--session", session, statuses=(0,))
        stamp = path.stat()
        kept = path.read_bytes()
        if kind % 3 == 0:
            make.capture(path, 6, 8, output=0, first=2.0 + kind)
        elif kind % 3 == 1:  # the same size and times
            changed = bytearray(make.capture(path, 6, 8, first=3.0 + kind).read_bytes())
            path.write_bytes(changed)
            bench.row.check(len(changed) == len(kept), "the attack made another size")
            os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
        else:
            shutil.copyfile(folder / "good.pt", path)
        for command in (["diagnose", session, "--json"], ["report", session, "-o", folder.parent / "r.json"]):
            done = bench.run(*command, statuses=(3,))
            bench.good(done, "dump.pt" in done.errors(), "the overwritten dump is not named")
        judged = bench.measured("diagnose", session, "--json").json()
        told = [one for one in judged.get("captures", []) if one.get("capture") == "dump.pt" and one.get("verdict")]
        known = {one.get("capture") for one in judged.get("captures", [])}
        bench.row.check(
            "good.pt" in known, f"diagnose SESSION: the good capture got no verdict: {sorted(map(str, known))}"
        )
        unread = [path for path, _ in rejected(judged) if "dump.pt" in path]
        bench.row.check(unread or not told, f"diagnose SESSION judged an overwritten dump: {told[:1]}")
        bundle = folder.parent / "b.zip"
        bench.run("report", session, "--bundle", bundle, "--with-capture", statuses=(0, 3, 4))
        if bundle.exists():
            with zipfile.ZipFile(bundle) as inside:
                held = [inside.read(name) for name in inside.namelist() if name.endswith(".pt")]
            bench.row.check(path.read_bytes() not in held or kind % 3 == 2, "the bundle holds the overwritten dump")
        for command in ("sweep", "measure"):
            more = ["--variant", "keller-jordan", "--precision", "fp32"]
            if command == "sweep":
                bench.run("sweep", session, "--capture", "dump.pt", *more, statuses=(2, 3, 4))
