# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""Texts of others: what steers a terminal must not reach it, and what is secret must not reach a report."""

from __future__ import annotations

import html
import json
import math
import string
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random

import makefiles as make
from harness import Bench, attack, change, steering_in

HOSTILE = [
    "\x1b[2J\x1b[31m",
    "\x1b]0;owned\x07",
    "\x1b]8;;http://x.example\x1b\\",
    "\u202egnp.exe",
    "\u2066x\u2069",
    "\x9b31m",
    "\u200bx\u200d",
    "\nForged: all is well",
    "\rForged",
    "\x08\x08",
    "\x7f",
    "\u2028Forged",
    "\ufeff",
    "\U000e0041",
    "\x1b(0",
]
BAD_BYTES = b"\xff\xfe\xc3\x28\x9b"


def texts_of(bench: Bench) -> list[str]:
    pieces = list(HOSTILE)
    bench.random.shuffle(pieces)
    return ["a" + "".join(pieces[i : i + 4]) + "z" for i in range(0, len(pieces), 4)]


def hostile_run(bench: Bench, text: str) -> Path:
    """A folder in which everything that can be a text is this one."""
    name = text.replace("/", "_").encode("utf-8", "surrogateescape")
    folder = bench.place("run" + text.replace("/", "_"))
    raw = str(folder).encode("utf-8", "surrogateescape")

    def place(before: str, after: str) -> Path:
        return Path((raw + b"/" + before.encode() + name + after.encode()).decode("utf-8", "surrogateescape"))

    held = {"input": make.Storage("0", (3, 4), (4, 1)), "output": make.Storage("1", (3, 4), (4, 1)), text: text}
    held |= {"rank": 0, "epsilon": 1e-7, "dtype": text, "variant": text}
    make.pt(place("dump", ".pt"), held, {"0": make.floats(12), "1": make.floats(12, value=math.nan)})
    place("dump", ".json").write_text(json.dumps({"variant": text, "precision": text, "step": 3}))
    make.archive(place("opaque", ".pt"), b"\x80\x02c" + name.replace(b"\n", b"") + b"\nf\n.", {})
    make.safetensors(
        place("st", ".safetensors"), {text: {"dtype": "F32", "shape": [3, 4], "data_offsets": [0, 48]}}, bytes(48)
    )
    make.safetensors(
        place("kind", ".safetensors"), {"input": {"dtype": text, "shape": [1], "data_offsets": [0, 4]}}, bytes(4)
    )
    place("bad", ".npy").write_bytes(b"\x93NUMPY\x01\x00\x40\x00{'descr': '" + name + b"'")
    place("console", ".log").write_bytes(
        b"step:0 train_loss:1.5 x"
        + name
        + b"=1\nstep:1 train_loss:nan\nRuntimeError: "
        + name
        + BAD_BYTES
        + b'\nTraceback (most recent call last):\n  File "'
        + name
        + b'", line 3, in f\nValueError: '
        + name
        + b"\nOOM "
        + name
        + b"\nsaved checkpoint to /x/"
        + name
        + b"\n"
        + BAD_BYTES * 3
        + b"\n"
    )
    quoted = b'"c' + name.replace(b'"', b"") + b'"'
    place("table", ".csv").write_bytes(
        b"step,loss," + quoted + b"," + quoted + b"2\x00" + BAD_BYTES + b"\n1,2,3,4\n2,nan,4,5\n"
    )
    place("odd", ".csv").write_bytes(b"tick," + quoted + b",b" + BAD_BYTES + b"\n1,2,3\n2,3,4\n3,4,5\n")
    row = json.dumps({"step": 1, "loss": 2.5, text: 1.5}) + "\n" + json.dumps({"step": 2, "loss": 2.25, text: 1}) + "\n"
    place("rows", ".jsonl").write_text(row)
    place("tb", ".tfevents.1.x").write_bytes(make.event_start() + make.event_record(make.scalar_event(1, text, 2.5)))
    rename = place("events", "")
    rename.mkdir()
    (rename / "events.out.tfevents.1.x").write_bytes(
        make.event_start() + make.event_record(make.scalar_event(1, text, 2.5))
    )
    make.wandb_file(place("run-x", ".wandb"), [make.wandb_row(i, **{"loss": 2.5, text: 1.0}) for i in range(3)])
    place("config", ".yaml").write_text(json.dumps({"lr": text, text: text, "optimizer": {"name": text}}))
    (folder / "params.json").write_text(json.dumps({text: [512, 512], "x": text}))
    return folder


def commands_on(folder: Path, session: Path, out: Path, text: str) -> list[list[object]]:
    dump = next(path for path in folder.iterdir() if path.name.startswith("dump") and path.suffix == ".pt")
    bad = [path for path in folder.iterdir() if path.name.startswith(("opaque", "kind", "bad", "st"))]
    table = next(path for path in folder.iterdir() if path.name.startswith("odd"))
    column = "c" + text.replace('"', "").replace("\0", "")
    kinds = ("captures", "series", "events", "runs", "cells")
    commands: list[list[object]] = [["list", where, kind] for where in (folder, session) for kind in kinds]
    commands += [["explain", path] for path in [dump, *bad]] + [["inspect", path] for path in [dump, *bad]]
    commands += [
        ["import", table],
        ["import", folder, "--session", session],
        ["import", folder, "--map", f"loss={column}"],
        ["diagnose", folder],
        ["diagnose", session, "--ran", text],
        ["diagnose", dump, "--params", folder / "params.json"],
        ["diagnose", folder, "--env", bad[0]],
        ["diagnose", folder, "--advisories", bad[0]],
        ["report", folder, "-o", "-"],
        ["report", session, "-o", out / "r.md", "-o", out / "r.html", "-o", out / "r.json", "--no-redact"],
        ["report", folder, "--bundle", out / "bundle", "--with-capture"],
        ["report", folder, "-o", "-", "--redact", text],
        ["export", folder, "--series", text],
        ["export", session, "--series", "loss"],
        ["export", session, "--series", column],
        ["export", session, "--series", column, "--format", "jsonl"],
        ["sql", session, "select * from captures"],
        ["sql", session, "select * from events"],
        ["sql", session, "select * from series"],
        ["sql", session, text],
        ["sql", session, f'select 1 as "{text}"'.replace("\0", "")],
        ["sql", dump, "select 1"],
        ["diff", folder, session],
        ["diff", dump, bad[0]],
        ["whatif", "detector", folder],
        ["whatif", "guard", session],
        ["inspect", folder, "--stitch"],
        ["sweep", dump, "--variant", text],
        ["sweep", session, "--capture", text],
        ["measure", "scale", dump, "--variant", text],
        ["spread", dump, "--variant", text, "--op", text],
        ["list", text],
        [text],
        ["list", "--" + text],
        ["agree", text],
        ["sweep", dump, "--variant", "keller-jordan", "--precision", "fp32", "--session", session],
        ["env", "--python", text],
        ["measure", "repeat", dump, "--impl", f"python:{text}:f"],
        ["explain", dump, "--variant-file", bad[0]],
    ]
    return [[str(word).replace("\0", "") for word in command] for command in commands]


@attack("terminal", "M1: ESC, OSC, NUL, C1, U+202E, line ends and no-UTF-8 in every text, through every command")
def terminal(bench: Bench) -> None:
    """Every run here is asked for control characters; so are those of all other attacks."""
    count = 0
    for number, text in enumerate(texts_of(bench)[: 2 * bench.scale]):
        folder = hostile_run(bench, text)
        out = bench.place("out")
        session = out / f"s{text.replace('/', '_')}.nanscope"
        bench.run("import", folder, "--session", session, statuses=(0, 3))
        for command in commands_on(folder, session, out, text):
            more = ["--json", "--progress", "jsonl", "--log-level", "debug"] if (count + number) % 3 == 0 else []
            bench.run(*command, *more, statuses=(0, 2, 3, 4, 6))
            count += 1
        change(session, ("UPDATE events SET text = ?", (text,)), ("UPDATE rejections SET reason = ?", (text,)))
        change(
            session,
            ("UPDATE series SET name = ?", (text,)),
            ("UPDATE facts SET value = ? WHERE name = 'run_name'", (text,)),
        )
        for command in (
            ["list", session, "events"],
            ["diagnose", session],
            ["list", session, "series"],
            ["list", session, "runs"],
        ):
            bench.run(*command, statuses=(0, 3, 4))
        for path in out.rglob("*"):
            if path.is_file() and path.suffix in (".md", ".html", ".json", ".txt", ".svg", ".py"):
                found = steering_in(path.read_bytes())
                bench.row.check(not found, f"{path.suffix} of a report holds {found}")


Maker = Callable[[Random], tuple[str, str]]  # a line and the secret in it


def word_of(characters: str, count: int) -> Callable[[Random], str]:
    return lambda random: "".join(random.choice(characters) for _ in range(count))


LETTERS = string.ascii_letters + string.digits
HEX = "0123456789abcdef"


def secret_lines() -> list[tuple[str, str, Callable[[Random], str]]]:
    """Kind, line with % for the secret, and its maker; prefixes in two pieces, for forges look for whole ones."""
    mixed, hexed = word_of(LETTERS, 36), word_of(HEX, 40)
    plain = word_of(string.ascii_lowercase, 11)
    keyed = [
        ("github", "cloned with %", "gh" + "p_", 36), ("github", "cloned with %", "github" + "_pat_", 60),
        ("gitlab", "pipeline %", "gl" + "pat-", 20), ("huggingface", "login % ok", "h" + "f_", 34),
        ("openai", "scored by %", "s" + "k-proj-", 48), ("anthropic", "judged by %", "s" + "k-ant-api03-", 93),
        ("slack", "posted by %", "xo" + "xb-123456789012-123456789012-", 24), ("google", "maps %", "AI" + "za", 35),
        ("npm", "published by %", "np" + "m_", 36), ("pypi", "uploaded by %", "py" + "pi-AgEIcHlwaS5vcmc", 60),
        ("groq", "asked %", "gs" + "k_", 52), ("replicate", "predicted by %", "r" + "8_", 37),
        ("wandb", "synced by %", "wandb" + "_v1_", 60), ("stripe", "paid by %", "sk" + "_live_", 24),
        ("docker", "pulled by %", "dckr" + "_pat_", 27),
    ]  # fmt: skip
    lines: list[tuple[str, str, Callable[[Random], str]]] = [
        (kind, line, lambda random, p=prefix, n=count: p + word_of(LETTERS, n)(random))
        for kind, line, prefix, count in keyed
    ]
    lines.append(
        ("aws-id", "bucket by %", lambda random: "AK" + "IA" + word_of(string.ascii_uppercase + "234567", 16)(random))
    )
    named = (
        "wandb_api_key: %",
        '{"api_key": "%", "lr": 1}',
        "password=%",
        "train.py --hf_token % --lr 1",
        "run.py --token=%",
        "Authorization: Bearer %",
        "GET /x?token=% HTTP/1.1",
        "OPENAI_KEY=%",
        "aws_secret_access_key = %",
        "wandb login %",
        "export HF_TOKEN='%'",
        "'clientSecret': '%'",
        "<apiKey>%</apiKey>",
        "SECRET=%",
        "db_passphrase: %",
        "X-Api-Key: %",
        "os.environ['NEPTUNE_API_TOKEN'] = '%'",
        "--api-key '%'",
        "MLFLOW_TRACKING_PASSWORD=%",
        "curl -H 'Authorization: token %'",
        "machine api.wandb.ai login user password %",
        "--set auth.token=%",
        "Set-Cookie: session=%; Path=/",
        'AZURE_CLIENT_SECRET: "%"',
        "{'hf_token': '%'}",
        'comet_ml.init(api_key="%")',
    )
    for line in named:
        bare = line in ("wandb login %", "aws_secret_access_key = %")
        lines.append(("named", line, hexed if bare else mixed))
        if not bare and "Bearer" not in line and "token %'" not in line:
            lines.append(("named, plain", line, plain))
    people = (
        "/home/%/run/x.py",
        "/fsx/%/ckpt",
        "/gpfs/u/%/ckpt",
        "SLURM_JOB_USER=%",
        "Currently logged in as: %",
        "/Users/%/x",
        "USER=%",
        "scp x.pt %@login1.cluster.example.org:/x",
        "C:\\Users\\%\\x",
        "/scratch/%/ckpt",
    )
    lines += [("person", line, word_of(string.ascii_lowercase, 9)) for line in people]
    hosts = ("connect to %.cluster.uni-x.example.org:29500", "SLURM_NODELIST=%", "--master_addr % t.py", "hostname: %")
    lines += [
        ("host", line, lambda random: "node" + word_of(string.ascii_lowercase, 6)(random) + "7") for line in hosts
    ]
    lines.append(("url", "postgresql://%@db/optuna", lambda random: "bob:" + word_of(LETTERS, 12)(random)))
    lines.append(
        ("pem", "-----BEGIN RSA " + "PRIVATE KEY-----\\n%\\n-----END RSA " + "PRIVATE KEY-----", word_of(LETTERS, 64))
    )
    mailing = lambda random: "S" + "G." + word_of(LETTERS, 22)(random) + "." + word_of(LETTERS, 43)(random)  # noqa: E731
    lines.append(("sendgrid", "mailed by %", mailing))
    jwt = lambda random: "ey" + "JhbGciOiJIUzI1NiJ9.ey" + "JzdWIiOiJ4In0." + word_of(LETTERS, 43)(random)  # noqa: E731
    lines.append(("jwt", "session %", jwt))
    return lines


def shown_in(secret: str, texts: list[str]) -> bool:
    """Whether a text holds the secret, as it is or as HTML and JSON would write it."""
    forms = {secret, html.escape(secret), json.dumps(secret)[1:-1]}
    return any(form in text for form in forms for text in texts)


def written(out: Path) -> list[str]:
    """Every text of reports and bundles, unpacked."""
    texts = []
    for path in out.rglob("*"):
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as inside:
                texts += [inside.read(name).decode("utf-8", "replace") for name in inside.namelist()]
                texts += inside.namelist()
        elif path.is_file():
            texts.append(path.read_bytes().decode("utf-8", "replace"))
    return texts


def planted(bench: Bench, secrets: list[tuple[str, str, str]], where: str) -> Path:
    """A run that ends badly and whose console, settings or environment says each of the lines."""
    person = next((secret for kind, _, secret in secrets if kind == "person"), "anna")
    folder = bench.place() / "home" / person / "run"
    folder.mkdir(parents=True)
    make.capture(folder / "dump.pt", first=1.0)
    lines = [line for _, line, _ in secrets]
    console = make.log_text(0, [2.5, 2.25])
    if where == "event":
        console += "".join(f"RuntimeError: CUDA out of memory. Tried 2 GiB. {line}\n" for line in lines)
    elif where == "traceback":
        for line in lines:
            console += (
                f'Traceback (most recent call last):\n  File "/x/y.py", line 3, in f\n    {line}\nValueError: {line}\n'
            )
    elif where == "checkpoint":
        console += "".join(f"Saved checkpoint to {line}\n" for line in lines)
    elif where == "settings":
        (folder / "config.json").write_text(
            json.dumps({f"note{i}": line for i, line in enumerate(lines)} | {"lr": 0.1})
        )
    elif where == "name":
        for i, line in enumerate(lines):
            make.capture(folder / f"{line}.pt", first=2 + i / 7)
    (folder / "train.log").write_text(console + make.step_line(2, "nan"))
    return folder


def environment_words(bench: Bench, secrets: list[tuple[str, str, str]]) -> list[str]:
    """What `nanscope env` says where each line is a variable of the training."""
    assigned = [f"NCCL_X{i}={line}" for i, (_, line, _) in enumerate(secrets)]
    texts = []
    for more in ([], ["--json"]):
        done = bench.run("env", *more, program=["env", *assigned])
        bench.good(done, "NCCL_X0" in done.answer(), "the variables are not told at all")
        texts.append(done.answer())
    return texts


@attack(
    "secrets", "M4: random secrets, people and hosts planted in logs, settings and environments: none in any report"
)
def secrets(bench: Bench) -> None:
    """A few at a time, so that each is shown where nothing hides it; how many would be is said."""
    planted_count = unhidden = 0
    everything = [(kind, line, maker(bench.random)) for kind, line, maker in secret_lines()]
    everything = [(kind, line.replace("%", secret), secret) for kind, line, secret in everything]
    places = ("event", "traceback", "name") + (("checkpoint", "settings") if bench.scale > 1 else ())
    told = environment_words(bench, everything)
    for kind, line, secret in everything:
        bench.row.check(not shown_in(secret, told), f"`nanscope env` shows the secret of `NCCL_X={line}` ({kind})")
    for where in places:
        bench.random.shuffle(everything)
        # Nobody names a file like a line of a configuration, but by a key that has a form of its own.
        fitting = [
            one
            for one in everything
            if where != "name" or not one[0].startswith(("named", "person", "host", "url", "pem"))
        ]
        for at in range(0, len(fitting), 14):
            some = fitting[at : at + 14]
            folder = planted(bench, some, where)
            out = bench.place("out")
            formats = ["-o", out / "r.md", "-o", out / "r.html", "-o", out / "r.json"]
            bench.run("report", folder, *formats, statuses=(0, 3))
            bench.run("report", folder, "--bundle", out / "b.zip", statuses=(0, 3))
            texts = written(out)
            bare = bench.place("bare")
            bench.run("report", folder, "-o", bare / "r.json", "-o", bare / "r.md", "--no-redact", statuses=(0, 3))
            shown = written(bare)
            for kind, line, secret in some:
                planted_count += 1
                unhidden += shown_in(secret, shown)
                bench.row.check(not shown_in(secret, texts), f"a report holds the secret of `{line}` ({kind}, {where})")
    bench.row.remark(f"{planted_count} planted, {unhidden} of them shown with --no-redact")
