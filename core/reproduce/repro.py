#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""One failed Newton-Schulz call, to be run again. Nanscope wrote this file for this capture; it needs torch only.

  python repro.py                          the published numbers on this CPU, beside what is expected of them
  python repro.py --impl module:function   your function with the captured input, 1,000 times or --n N; with --epsilon E
                                           where it requires one that the capture does not hold
  python repro.py --storm                  the same under poisoned memory, with a producer kernel and three streams

Exit status: 0 reproduced, 1 not reproduced, 2 cannot run (no torch, a missing or changed file, no such function or GPU).

"Reproduced" means that the result is damaged as the dump was: for the published numbers, that one of them ends with NaN
and Inf in exactly the dump's places (of an input that was made smaller: with as many as Nanscope's replay of it); for
your function, that at least one of its results is not finite. Of a healthy capture there is no damage to reproduce:
there 0 means that one of the published numbers ends finite, as the dump does. A fault of a
kernel, of the order of launches or of a machine is not in the numbers: there the first line ends with status 1, and that
is what the report expects. Only --impl on a machine like the one that failed can show it.
"""

from __future__ import annotations

import argparse
import ctypes
import functools
import hashlib
import importlib.util
import inspect
import json
import os
import sys
from pathlib import Path

REPRODUCED, NOT_REPRODUCED, CANNOT_RUN = 0, 1, 2
HERE = Path(__file__).resolve().parent


class CannotRun(Exception):
    """What is missing, as one sentence."""


try:
    import torch
except ImportError as error:
    print(f"Cannot run: torch cannot be imported ({error}); use a Python that has it.", file=sys.stderr)
    sys.exit(CANNOT_RUN)


class Arithmetic:
    """torch's elementary operations, every result rounded once to the format that is named.

    Numbers of 16-bit formats are held in fp32: operands lie in the format, products are summed in fp32, as on a tensor
    core. tf32 rounds the operands of products only; in fp16-acc16 each sum is rounded to fp16 after every 16 products, as
    on a tensor core that accumulates in fp16. `said` keeps the first result that is not finite.
    """

    HALVES = {"fp16": torch.float16, "fp16-acc16": torch.float16, "bf16": torch.bfloat16}
    PRODUCTS_PER_SUM = 16

    def __init__(self, precision: str):
        self.held = torch.float64 if precision == "fp64" else torch.float32
        self.first: tuple[str, int] | None = None

    def round(self, x, form):
        half = self.HALVES.get(form)
        return x if half is None else x.to(half).to(self.held)

    def cast(self, x, form):
        return self.round(x.to(self.held), form)

    def norm(self, x, form):
        """Frobenius norm per matrix; squares overflow where the held type does, unless the variant takes it in fp64."""
        if form == "fp64":
            return x.double().square().sum(dim=(-2, -1), keepdim=True).sqrt().to(self.held)
        squares = (x * x).double().sum(dim=(-2, -1), keepdim=True)
        return self.round(squares.to(self.held).sqrt(), form)

    def plus(self, scalar, factor, epsilon, form):
        return self.round(scalar * factor + epsilon, form)

    def at_least(self, scalar, factor, smallest, form):
        scaled = scalar * factor
        return self.round(torch.where(scaled < smallest, torch.full_like(scaled, smallest), scaled), form)

    def divide(self, x, scalar, form):
        return self.round(x / scalar, form)

    def scale(self, factor, x, form):
        return self.round(factor * x, form)

    def add(self, alpha, x, beta, y, form):
        return self.round(alpha * x + beta * y, form)

    def product(self, x, y, form):
        if form == "tf32":
            x, y = self.tf32(x), self.tf32(y)
        return self.half_sums(x, y) if form == "fp16-acc16" else x @ y

    def half_sums(self, x, y):
        sums = torch.zeros((*x.shape[:-1], y.shape[-1]), dtype=x.dtype, device=x.device)
        for k in range(0, x.shape[-1], self.PRODUCTS_PER_SUM):
            part = slice(k, k + self.PRODUCTS_PER_SUM)
            sums = (sums + x[..., part] @ y[..., part, :]).half().to(self.held)
        return sums

    def factor(self, value, form):
        return torch.tensor(value).half().item() if form == "fp16-acc16" else value

    def mm(self, alpha, x, y, form):
        result = self.product(x, y, form)
        return self.round(result if alpha == 1 else self.factor(alpha, form) * result, form)

    def addmm(self, alpha, x, y, beta, c, form):
        return self.round(self.factor(alpha, form) * self.product(x, y, form) + self.factor(beta, form) * c, form)

    def add_diagonal(self, x, alpha, form):
        return self.round(x + alpha * torch.eye(x.shape[-1], dtype=x.dtype, device=x.device), form)

    def row_norms(self, x, form):
        return self.round((x * x).double().sum(dim=-1, keepdim=True).to(self.held).sqrt(), form)

    def row_abs_sums(self, x, form):
        return self.round(x.abs().double().sum(dim=-1, keepdim=True).to(self.held), form)

    def reciprocal(self, factor, scalar, vector, smallest, form):
        return self.round(factor * scalar / vector.clamp_min(smallest), form)

    def rsqrt(self, vector, smallest, form):
        return self.round(1 / vector.clamp_min(smallest).sqrt(), form)

    def scale_rows(self, x, vector, form):
        return self.round(x * vector, form)

    def scale_columns(self, x, vector, form):
        return self.round(x * vector.mT, form)

    @staticmethod
    def tf32(x):
        """To nearest, ties to even, at 10 bits behind the point; what is not finite stays."""
        bits = x.contiguous().view(torch.int32)
        rounded = ((bits + (0xFFF + ((bits >> 13) & 1))) & ~0x1FFF).view(torch.float32)
        return torch.where(torch.isfinite(x), rounded, x)

    def say(self, op, step, value):
        if self.first is None and op != "input" and not bool(torch.isfinite(value).all()):
            self.first = (op, step)
        return value


# @PROGRAMS@


def outcome_of(y, x) -> str:
    if bool(torch.isnan(y).any()):
        return "nan"
    if bool(torch.isinf(y).any()):
        return "inf"
    return "zero" if bool((y == 0).all()) and bool((x != 0).any()) else "finite"


def classes_of(y):
    """0 for finite, 1 for NaN, 2 and 3 for Inf and -Inf, by element."""
    y = y.double()
    return torch.isnan(y) * 1 + (y == float("inf")) * 2 + (y == float("-inf")) * 3


def damaged_elements(y) -> int:
    return int((~torch.isfinite(y.double())).sum())


def distance(a, b):
    """||a - b||_F / ||b||_F, or None where a is not finite or b is zero."""
    a, b = a.double(), b.double()
    size = float(b.norm())
    far = float((a - b).norm())
    if far == 0:
        return 0.0
    return far / size if size > 0 and far == far and far != float("inf") and size != float("inf") else None


def like_dump(y, x, capture, expected) -> bool:
    """Damaged as the dump: element by element where its output is here, else by how much of what.

    Of a smaller input there is no dump: what Nanscope's own replay made of it stands for that.
    """
    if expected["healthy"]:
        return outcome_of(y, x) == "finite"
    shown = expected["shown"]
    if shown is not None:
        return damaged_elements(y) == shown["not_finite"] and outcome_of(y, x) == shown["outcome"]
    dump = expected["dump"]
    if dump is None:
        return damaged_elements(y) > 0
    if "output" in capture:
        output = capture["output"].reshape(y.shape)
        if damaged_elements(output) > 0:
            return bool((classes_of(y) == classes_of(output)).all())
        return outcome_of(output, x) == "zero" and outcome_of(y, x) == "zero"
    if dump["outcome"] == "zero":
        return outcome_of(y, x) == "zero"
    return dump["whole"] and damaged_elements(y) == y.numel() and outcome_of(y, x) == dump["outcome"]


def read_bundle(for_function):
    """What is expected, which tensors they are, and these: for a function the whole ones, where they are packed."""
    expected_file = HERE / "expected.json"
    try:
        expected = json.loads(expected_file.read_text(encoding="utf-8"))
        kept = expected["whole"] if for_function and expected["whole"] else expected["capture"]
        capture_file = HERE / kept["file"]
        contents = capture_file.read_bytes()
    except (OSError, ValueError, KeyError) as error:
        raise CannotRun(f"a file of the bundle is missing or damaged ({type(error).__name__}: {error})") from error
    found = hashlib.sha256(contents).hexdigest()
    if found != kept["sha256"]:
        raise CannotRun(f"{capture_file.name} is not the file that was packed: its sha256 is {found}")
    capture = torch.load(capture_file, map_location="cpu", weights_only=True)
    return expected, kept, capture


def shape_text(shape) -> str:
    return "x".join(map(str, shape))


def origin_of(kept) -> str:
    twin = "a synthetic twin" if kept["synthetic"] else "the captured input"
    cut = kept.get("minimised")
    if cut:
        return f", cut from {twin} of {shape_text(cut['from'])} in {cut['calls']} calls"
    return f", {twin}: same singular values, other directions" if kept["synthetic"] else ""


def matrices_of(x):
    return x.reshape(-1, *x.shape[-2:]) if x.dim() > 1 else x.reshape(1, 1, -1)


def run_program(precision, program, x):
    arithmetic = Arithmetic(precision)
    with torch.no_grad():
        return program(arithmetic, x), arithmetic.first


def row_text(outcome, rel_f, first) -> str:
    text = outcome
    if first:
        text += f" from {first['op']}" + (f" of step {first['step']}" if first["step"] else "") + " on"
    return text + (f", relF {rel_f:.2g}" if rel_f is not None else "")


def as_expected(row, outcome, rel_f, tolerance) -> bool:
    if outcome != row["outcome"] or (rel_f is None) != (row["rel_f"] is None):
        return False
    room = tolerance["relative"] * (row["rel_f"] or 0) + tolerance["absolute"]
    return rel_f is None or abs(rel_f - row["rel_f"]) <= room


def run_numbers(expected, capture) -> int:
    """The published iterations, each in its own format and in fp64."""
    x = matrices_of(capture["input"])
    exact = {name: run_program("fp64", program, x) for (name, form), program in PROGRAMS.items() if form == "fp64"}
    print(f"{'variant':<28} {'format':<6} {'expected':<38} found")
    reproduced, differs = [], False
    for row in expected["numbers"]:
        name, form = row["variant"], row["precision"]
        y, first = exact[name] if form == "fp64" else run_program(form, PROGRAMS[name, form], x)
        outcome = outcome_of(y, x)
        rel_f = None if form == "fp64" else distance(y, exact[name][0])
        found = {"op": first[0], "step": first[1]} if first else None
        good = as_expected(row, outcome, rel_f, expected["tolerance"])
        differs = differs or not good
        want = row_text(row["outcome"], row["rel_f"], row["first_nonfinite"])
        have = row_text(outcome, rel_f, found)
        print(f"{name:<28} {form:<6} {want:<38} {have}{'' if good else '  <- not as expected'}")
        if form == row["own_precision"] and like_dump(y, x, capture, expected):
            reproduced.append(f"{name} in {form}")
    if differs:
        print("This torch rounds elsewhere than Nanscope did; near the edge of what a schedule bears that is possible.")
    if expected["healthy"]:
        print("The capture is healthy, so there is no damage to reproduce: "
              + (f"{', '.join(reproduced)} ends finite, as the dump did." if reproduced
                 else "but none of the published numbers ends finite, as the dump did."))
        return REPRODUCED if reproduced else NOT_REPRODUCED
    if reproduced:
        sure = expected["verdict"] in ("numerics", "upstream")
        print(f"Reproduced: {', '.join(reproduced)} ends as the dump did. "
              + ("It is" if sure else "If that is what ran, it is") + " in the numbers, on any machine.")
        return REPRODUCED
    print("Not reproduced by the published numbers; run --impl on the machine that failed.")
    return NOT_REPRODUCED


def module_at(where):
    """A module, or the file of one."""
    # An isolated interpreter does not look where it was started.
    sys.path.insert(0, os.path.dirname(os.path.abspath(where)))
    if not where.endswith(".py"):
        return importlib.import_module(where)
    spec = importlib.util.spec_from_file_location("repro_function", where)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def find_function(text):
    where, arguments, rest = text.partition(" {")
    # As nanscope's own --impl has it.
    module, _, name = where.removeprefix("python:").rpartition(":")
    if not module or not name:
        raise CannotRun("--impl takes MODULE:FUNCTION or FILE.py:FUNCTION")
    try:
        function = module_at(module)
        for part in name.split("."):
            function = getattr(function, part)
    except (Exception, SystemExit) as error:
        raise CannotRun(f"{text} cannot be imported ({type(error).__name__}: {error})") from error
    if not callable(function):
        raise CannotRun(f"{text} is not a function")
    try:
        return functools.partial(function, **json.loads("{" + rest)) if arguments else function
    except ValueError as error:
        raise CannotRun(f"what follows {where} is no JSON object of its arguments ({error})") from error


STEPS = ("steps", "ns_steps", "num_steps", "n_steps")
USUAL_STEPS = 5  # Muon's and its relatives'


def caller_of(function, epsilon):
    """The function as f(x): epsilon goes in as what is called so, as a second argument that is required, or not at all.

    A number of steps that has no default is the usual one.
    """
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return function if epsilon is None else lambda x: function(x, epsilon)
    names = [p.name for p in parameters]
    steps = {p.name: USUAL_STEPS for p in parameters[1:] if p.name in STEPS and p.default is p.empty}
    named = next((n for n in ("epsilon", "eps") if n in names[1:]), None)
    places = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    second = next((p for p in parameters[1:] if p.kind in places), None)
    required_second = second is not None and second.default is second.empty and second.name not in STEPS
    taker = named or (second.name if required_second else None)
    if epsilon is None and any(p.name == taker and p.default is p.empty for p in parameters):
        raise CannotRun(f"the function requires an epsilon (its argument {taker}), and the capture holds none: give one,"
                        " as in --epsilon 1e-7")
    required = [p.name for p in parameters[1:] if p.default is p.empty and p.kind in (*places, p.KEYWORD_ONLY)]
    missing = [name for name in required if name != taker and name not in steps]
    if missing:
        raise CannotRun(f"the function also needs {', '.join(missing)}: give them as JSON behind its name, as in --impl"
                        f""" 'MODULE:FUNCTION {{"{missing[0]}": VALUE}}'""")
    if taker is None and any(p.kind == p.VAR_KEYWORD for p in parameters):
        taker = "epsilon"
    if epsilon is None or taker is None:
        return lambda x: function(x, **steps)
    if any(p.name == taker and p.kind == p.POSITIONAL_ONLY for p in parameters):
        return lambda x: function(x, epsilon, **steps)
    return lambda x: function(x, **{taker: epsilon}, **steps)


def bytes_of(y) -> bytes:
    y = y.detach().to("cpu").contiguous()
    return ctypes.string_at(y.data_ptr(), y.numel() * y.element_size())


def index_of(flat, shape):
    index = []
    for extent in reversed(shape):
        index.insert(0, flat % extent)
        flat //= extent
    return index


def percent(share) -> str:
    value = 100 * share
    return f"{value:.0f} %" if value >= 10 else f"{value:.2g} %"


class Tally:
    """What came of n calls."""

    def __init__(self, x):
        self.x = x
        self.calls = self.bad = 0
        self.first_bad = None
        self.hashes: dict[str, int] = {}
        self.finite = None
        self.input_changed = False
        # NaN may change its bits on the way to a GPU and back.
        self.before = bytes_of(x) if bool(torch.isfinite(x).all()) else None

    def add(self, y, x):
        self.calls += 1
        if not torch.is_tensor(y) or y.numel() != self.x.numel():
            raise CannotRun("the function does not return one tensor of the size of its input")
        digest = hashlib.sha256(bytes_of(y)).hexdigest()[:16]
        self.hashes[digest] = self.hashes.get(digest, 0) + 1
        self.input_changed = self.input_changed or (self.before is not None and bytes_of(x) != self.before)
        broken = ~torch.isfinite(y.detach().to("cpu").float()).flatten()
        if bool(broken.any()):
            self.bad += 1
            if self.first_bad is None:
                self.first_bad = (self.calls, index_of(int(broken.nonzero()[0]), list(y.shape)), digest)
        elif self.finite is None:
            self.finite = y.detach().to("cpu")

    def report(self, expected) -> int:
        print(f"{self.bad} of {self.calls} results are not finite; {len(self.hashes)} distinct result(s):")
        for digest, count in sorted(self.hashes.items(), key=lambda item: -item[1])[:8]:
            print(f"  {digest}  {count} times")
        if self.first_bad:
            call, index, digest = self.first_bad
            print(f"First: call {call}, index {index}, {digest}")
        if self.input_changed:
            print("The function changed its input: what it was called with is not what it worked on.")
        unstable = len(self.hashes) > 1 and expected["verdict"] == "nondeterministic"
        if self.bad or unstable:
            print("Reproduced." if self.bad else "Reproduced: the same input gives different results.")
            return REPRODUCED
        if len(self.hashes) > 1:
            print("The same input gave different results all the same: the function is not deterministic here.")
        if expected["healthy"]:
            print("The capture is healthy, and so is every result: there is no damage to reproduce.")
        elif expected["dump"] is not None and not expected["dump"]["not_finite"]:
            print("The dump's fault is finite, and results that are finite are held against nothing here but each other.")
        print(f"Not reproduced in this setting: with 95 % confidence fewer than {percent(min(1, 3 / self.calls))} of "
              "such calls fail.")
        return NOT_REPRODUCED


def tell_nearest(tally, capture):
    """Which published numbers a finite result is: a function that computes others is another function."""
    if tally.finite is None:
        return
    x = matrices_of(capture["input"])
    y = tally.finite.reshape(x.shape)
    near = []
    for (name, form), program in WHOLE_PROGRAMS.items():
        far = distance(y, run_program(form, program, x)[0])
        if far is not None and form != "fp64":
            near.append((far, f"{name} in {form}"))
    if near:
        far, name = min(near)
        print(f"Its first finite result is nearest to {name}, {percent(far)} off.")


def device_of(wanted):
    there = torch.cuda.is_available()
    if wanted.startswith("cuda") and not there:
        raise CannotRun("there is no GPU that this torch can use")
    return wanted if wanted != "auto" else "cuda" if there else "cpu"


def call(function, x):
    try:
        return function(x)
    except (Exception, SystemExit) as error:
        raise CannotRun(f"the function failed ({type(error).__name__}: {error})") from error


def run_impl(function, expected, capture, device, count) -> int:
    source = capture["input"]
    print(f"{count} calls on {device}, one after the other")
    tally = Tally(source)
    for _ in range(count):
        x = source.to(device, copy=True)
        tally.add(call(function, x), x)
    tell_nearest(tally, capture)
    return tally.report(expected)


def poison(x, device):
    """Blocks full of NaN go back to the allocator: whoever reads memory before writing it meets them."""
    sizes = [x.numel(), x.shape[-2] ** 2 if x.dim() > 1 else x.numel(), 4096]
    blocks = [torch.full((size,), float("nan"), dtype=kind, device=device)
              for size in sizes for kind in (torch.float32, x.dtype) if kind.is_floating_point]
    del blocks


def run_storm(function, expected, capture, device, count) -> int:
    source = capture["input"]
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.utils.deterministic.fill_uninitialized_memory = True
    gpu = device.startswith("cuda")
    print(f"{count} calls on {device}: memory that nobody wrote is NaN" + (
        ", a producer kernel directly before, three streams" if gpu else
        "; skipped without a GPU: the producer kernel, the streams, launch overlap"))
    streams = [torch.cuda.Stream(device) for _ in range(3)] if gpu else []
    tally = Tally(source)
    held = source.to(device)
    one = torch.ones((), dtype=source.dtype, device=device)
    for i in range(count):
        poison(source, device)
        if gpu:
            streams[i % 3].wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(streams[i % 3]):
                x = held * one
                y = call(function, x)
            streams[i % 3].synchronize()
        else:
            x = held * one
            y = call(function, x)
        tally.add(y, x)
    tell_nearest(tally, capture)
    return tally.report(expected)


def published_function(expected):
    row = expected["numbers"][0]
    name, form = row["variant"], row["own_precision"]
    print(f"No --impl: {name} in {form} by plain torch, which tests the machine and not your kernel.")
    return lambda x: run_program(form, WHOLE_PROGRAMS[name, form], matrices_of(x))[0].reshape(x.shape)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     allow_abbrev=False)
    parser.add_argument("--cpu", action="store_true", help="the published numbers on this CPU (the default)")
    parser.add_argument("--impl", metavar="MODULE:FUNCTION", help="call this function f(X, epsilon); what it takes "
                        """besides stands behind it as JSON: 'MODULE:FUNCTION {"ns_steps": 6}'""")
    parser.add_argument("--epsilon", type=float, help="of --impl, instead of the captured one")
    parser.add_argument("--storm", action="store_true", help="under load")
    parser.add_argument("--n", type=int, default=1000, help="calls of --impl and --storm (default 1000)")
    parser.add_argument("--device", default="auto", help="cpu, cuda or cuda:N for --impl and --storm")
    options = parser.parse_args()
    if options.n < 1 or (options.cpu and (options.impl or options.storm)):
        parser.error("--n is at least 1, and --cpu goes alone")
    if options.epsilon is not None and not (options.impl and 0 <= options.epsilon < float("inf")):
        parser.error("--epsilon goes with --impl, and is a finite number of at least 0")
    if options.device.startswith("cuda") and torch.cuda.is_available() and not (options.impl or options.storm):
        parser.error("the published numbers run on the CPU: --device cuda goes with --impl or --storm")
    expected, kept, capture = read_bundle(for_function=bool(options.impl or options.storm))
    print(f"Report: {expected['verdict']}. {kept['file']}: {shape_text(kept['shape'])} {kept['dtype']}, sha256 as packed"
          f"{origin_of(kept)}.")
    device = device_of(options.device)
    if not options.impl and not options.storm:
        return run_numbers(expected, capture)
    function = find_function(options.impl) if options.impl else published_function(expected)
    function = caller_of(function, kept["epsilon"] if options.epsilon is None else options.epsilon)
    return (run_storm if options.storm else run_impl)(function, expected, capture, device, options.n)


def status_of_main() -> int:
    try:
        return main()
    except SystemExit as asked:  # by the options; what a function asks is caught where it is called
        return asked.code if isinstance(asked.code, int) else CANNOT_RUN
    except CannotRun as problem:
        print(f"Cannot run: {problem}.", file=sys.stderr)
    except Exception as problem:  # a traceback would end with status 1, which has a meaning here
        print(f"Cannot run: {type(problem).__name__}: {problem}.", file=sys.stderr)
    return CANNOT_RUN


def in_child(run) -> int:
    """A function that ends its process must not end with a status that means something here: only what comes through
    the pipe counts."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    child = os.fork()
    if child == 0:
        status = run()
        sys.stdout.flush()
        sys.stderr.flush()
        os.write(writer, bytes([status]))
        os._exit(status)
    os.close(writer)
    _, ended = os.waitpid(child, 0)
    try:
        told = os.read(reader, 1)
    except BlockingIOError:
        told = b""
    if told:
        return told[0]
    how = f"signal {os.WTERMSIG(ended)}" if os.WIFSIGNALED(ended) else f"status {os.WEXITSTATUS(ended)}"
    print(f"Cannot run: the function ended its process ({how}).", file=sys.stderr)
    return CANNOT_RUN


if __name__ == "__main__":
    own_function = any(word.split("=")[0] == "--impl" for word in sys.argv)
    sys.exit(in_child(status_of_main) if own_function and hasattr(os, "fork") else status_of_main())
