# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""Calls your function for `nanscope measure --impl` and `nanscope sweep --impl`, in the Python that you name.

    python nanscope_impl.py TARGET DEVICE

TARGET is MODULE:FUNCTION or /path/file.py:FUNCTION, the function one of f(X, epsilon) that returns what it made of X.
Arguments that it takes besides stand behind it as JSON: 'MODULE:FUNCTION {"ns_steps": 6}'.
X is a torch tensor on DEVICE, of the shape, type and strides of the capture; in a Python without torch it is nested
lists. Requests come as JSON lines on standard input, answers leave the same way; tensors are files in this folder.
What the function prints goes to standard error.
"""
import contextlib
import ctypes
import functools
import hashlib
import importlib
import importlib.util
import inspect
import json
import math
import mmap
import os
import platform
import signal
import struct
import sys
import threading
import time

FLOATS = {"float64": 8, "float32": 4, "float16": 2, "bfloat16": 2}


OWN = os.getpid()


def only_here():
    """A process that the function forked, and that comes back from it, must not answer a second time."""
    if os.getpid() != OWN:
        os._exit(0)


def leave_with(parent):
    """Whoever asked may be killed while a function that never returns is under way: nobody else would end it."""
    while os.getppid() == parent:
        time.sleep(1)
    leave()


def leave():
    # What the function left running goes with this process; only where the group is its own.
    if os.getpgrp() == OWN:
        os.killpg(OWN, signal.SIGKILL)
    os._exit(0)


class Complaint(Exception):
    """What is wrong with the function, as one sentence."""


def private_streams():
    """Requests and answers on descriptors of their own: the function may read and print what it likes."""
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    return requests, answers


def one_line(text, most=300):
    text = " ".join(str(text).split())
    return text if len(text) <= most else text[: most - 3] + "..."


def described(error):
    if isinstance(error, Complaint):
        return str(error)
    if isinstance(error, SystemExit):
        return f"the function called sys.exit({one_line(error.code)})"
    if isinstance(error, KeyboardInterrupt):
        return "the function was interrupted"
    return f"the function raised {type(error).__name__}: {one_line(error)}"


def load(target):
    where, _, name = target.rpartition(":")
    if where.endswith(".py"):
        spec = importlib.util.spec_from_file_location("nanscope_target", where)
        module = importlib.util.module_from_spec(spec)
        sys.modules["nanscope_target"] = module
        sys.path.insert(0, os.path.dirname(os.path.abspath(where)))
        spec.loader.exec_module(module)
    else:
        module = importlib.import_module(where)
    found = module
    for part in name.split("."):
        if not hasattr(found, part):
            raise Complaint(f"there is no {name} in {where}")
        found = getattr(found, part)
    if not callable(found):
        raise Complaint(f"{name} in {where} is a {type(found).__name__}, which cannot be called")
    return found


STEPS = ("steps", "ns_steps", "num_steps", "n_steps")
USUAL_STEPS = 5  # Muon's and its relatives'


def arguments_of(target):
    """The function's part of the target, and the arguments behind it."""
    where, brace, rest = target.partition(" {")
    try:
        return where, json.loads("{" + rest) if brace else {}
    except ValueError:
        raise Complaint("what follows the function is no JSON object of its arguments") from None


def with_arguments(function, given):
    """The function as one of what it takes besides."""
    if not given:
        return function
    try:
        inspect.signature(function).bind_partial(None, **given)
    except TypeError as error:
        raise Complaint(f"the function does not take the arguments behind its name: {one_line(error)}") from None
    except Exception:  # it tells none, see caller_of()
        pass
    return functools.partial(function, **given)


def caller_of(function):
    """How epsilon is handed over, the function with two arguments that does it, and the name of the epsilon that it
    cannot do without, or nothing.

    A number of steps that has no default is the usual one.
    """
    try:
        parameters = inspect.signature(function).parameters.values()
    except Exception:  # compiled functions tell none, and objects may say anything
        return "f(X, epsilon=epsilon)", lambda x, epsilon: function(x, epsilon=epsilon), ""
    names = [p.name for p in parameters]
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    first_by_keyword = any(p.kind == p.VAR_KEYWORD for p in parameters)
    takes_epsilon = next((n for n in ("epsilon", "eps") if n in names[1:]), None)
    second = positional[1] if len(positional) > 1 else None
    if takes_epsilon is None and second is not None and second.default is second.empty and second.name not in STEPS:
        takes_epsilon = second.name
    required = [p.name for p in parameters if p.default is inspect.Parameter.empty
                and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    steps = {n: USUAL_STEPS for n in required[1:] if n in STEPS}
    missing = [n for n in required[1:] if n != takes_epsilon and n not in steps]
    if missing:
        raise Complaint(f"the function also needs {', '.join(missing)}: give them as JSON behind its name, as in"
                        f""" 'MODULE:FUNCTION {{"{missing[0]}": VALUE}}', or wrap it in one of f(X, epsilon)""")
    also = "".join(f", {n}={count}" for n, count in steps.items())
    if takes_epsilon is None and not first_by_keyword:
        return f"f(X{also}), without epsilon", lambda x, epsilon: function(x, **steps), ""
    key = takes_epsilon or "epsilon"
    needed = key if key in required else ""

    def call(x, epsilon):
        return function(x, **steps) if epsilon is None else function(x, **{key: epsilon}, **steps)

    if any(p.name == key and p.kind == p.POSITIONAL_ONLY for p in parameters):
        return f"f(X, epsilon{also})", lambda x, epsilon: (
            function(x, **steps) if epsilon is None else function(x, epsilon, **steps)), needed
    return f"f(X, {key}=epsilon{also})", call, needed


class Lists:
    """For a Python without torch: nested lists of floats."""

    def __init__(self, device):
        if device != "cpu":
            raise Complaint(f"this Python has no torch, so that there is no device {device}")

    def facts(self):
        return {"engine": f"python {platform.python_version()}, no torch", "device": "cpu", "hardware": "", "cuda": "",
                "threads": 1, "gpus": 0}

    @staticmethod
    def _nested(values, shape):
        if len(shape) == 1:
            return values
        step = len(values) // shape[0] if shape[0] else 0
        return [Lists._nested(values[i * step:(i + 1) * step], shape[1:]) for i in range(shape[0])]

    @staticmethod
    def _flat(value, shape):
        if not isinstance(value, (list, tuple)):
            raise Complaint(f"the function returned a {type(value).__name__} where nested lists were expected")
        if len(value) != shape[0]:
            raise Complaint("the function returned lists of another shape than it was given")
        if len(shape) > 1:
            return [v for part in value for v in Lists._flat(part, shape[1:])]
        if not all(isinstance(v, (int, float)) for v in value):
            raise Complaint("the function returned lists that hold something else than numbers")
        return list(value)

    def input(self, request):
        with open(request["input"], "rb") as file:
            bits = file.read()
        dtype = request["dtype"]
        if dtype == "bfloat16":
            wide = [h << 16 for h in struct.unpack(f"<{len(bits) // 2}H", bits)]
            values = struct.unpack(f"<{len(wide)}f", struct.pack(f"<{len(wide)}I", *wide))
        else:
            code = {"float64": "d", "float32": "f", "float16": "e"}[dtype]
            values = struct.unpack(f"<{len(bits) // FLOATS[dtype]}{code}", bits)
        return self._nested(list(values), request["shape"])

    def copy(self, x):
        return [self.copy(v) for v in x] if isinstance(x, list) else x

    def bits(self, x, shape):
        flat = [float(v) for v in self._flat(x, shape)]
        return struct.pack(f"<{len(flat)}d", *flat)

    def output(self, y, request):
        return "float64", self.bits(y, request["shape"])

    def differences(self, before, after, shape):
        a, b = self.bits(before, shape), self.bits(after, shape)
        places = [i for i in range(len(a) // 8) if a[8 * i:8 * i + 8] != b[8 * i:8 * i + 8]]
        return len(places), places[0] if places else None

    def shares(self, x, y):
        return x is y

    def nbytes(self, x):
        return 64

    def finish(self):
        pass


class Torch:
    def __init__(self, device):
        self.torch = torch = sys.modules["torch"]
        try:
            self.device = torch.device(device)
            torch.empty(1, device=self.device)
        except Exception as error:
            raise Complaint(f"torch has no device {device} here: {one_line(error, 200)}") from None
        self.cuda = self.device.type == "cuda"

    def facts(self):
        torch = self.torch
        flags = f"deterministic {torch.are_deterministic_algorithms_enabled()}"
        return {"engine": f"torch {torch.__version__}", "device": str(self.device),
                "hardware": torch.cuda.get_device_name(self.device) if self.cuda else "",
                "cuda": str(torch.version.cuda or "") if self.cuda else "", "threads": torch.get_num_threads(),
                "flags": flags, "gpus": torch.cuda.device_count() if self.cuda else 0,
                # Torch has it since 2.4, for GPUs that have one.
                "uuid": str(getattr(torch.cuda.get_device_properties(self.device), "uuid", "")) if self.cuda else ""}

    def input(self, request):
        torch = self.torch
        with open(request["input"], "rb") as file:
            bits = bytearray(file.read())
        x = torch.frombuffer(bits, dtype=getattr(torch, request["dtype"])).reshape(request["shape"])
        if request.get("strides"):
            return torch.empty_strided(request["shape"], request["strides"], dtype=x.dtype, device=self.device).copy_(x)
        return x.to(self.device, copy=True)

    def copy(self, x):
        return self.torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device=x.device).copy_(x)

    def _words(self, x):
        sizes = {8: self.torch.int64, 4: self.torch.int32, 2: self.torch.int16}
        return x.detach().contiguous().view(sizes[x.element_size()])

    def bits(self, x, shape=None):
        flat = x.detach().to("cpu").contiguous()
        return ctypes.string_at(flat.data_ptr(), flat.numel() * flat.element_size()) if flat.numel() else b""

    def output(self, y, request):
        torch = self.torch
        if not isinstance(y, torch.Tensor):
            kind = "nothing (None)" if y is None else f"a {type(y).__name__}"
            raise Complaint(f"the function returned {kind} where a tensor was expected")
        if list(y.shape) != list(request["shape"]):
            raise Complaint(f"the function returned the shape {list(y.shape)} for an input of {list(request['shape'])}")
        name = str(y.dtype).replace("torch.", "")
        if name not in FLOATS:
            raise Complaint(f"the function returned elements of {name}, not of a floating type")
        if y.device.type == "meta":
            raise Complaint("the function returned a tensor without contents (meta)")
        if y.layout != torch.strided or type(y) not in (torch.Tensor, torch.nn.Parameter):
            raise Complaint(f"the function returned a {type(y).__name__} of layout {y.layout}, not a plain tensor")
        return name, self.bits(y)

    def differences(self, before, after, shape):
        differ = (self._words(before) != self._words(after)).flatten()
        count = int(differ.sum())
        return count, int(differ.to(self.torch.uint8).argmax()) if count else None

    def shares(self, x, y):
        try:
            return x.untyped_storage().data_ptr() == y.untyped_storage().data_ptr()
        except Exception:
            return False

    def nbytes(self, x):
        return x.numel() * x.element_size()

    def finish(self):
        if self.cuda:
            self.torch.cuda.synchronize(self.device)


def write_file(path, bits):
    with open(path, "wb") as file:
        file.write(bits)


def call(engine, function, request):
    x = engine.input(request)
    before = engine.copy(x)
    engine.finish()
    start = time.perf_counter()
    y = function(x, request["epsilon"])
    only_here()
    engine.finish()
    seconds = time.perf_counter() - start
    dtype, bits = engine.output(y, request)
    count, first = engine.differences(before, x, request["shape"])
    write_file(request["output"], bits)
    # Strides are told, not judged: a transposed view is a legitimate answer.
    strides = list(y.stride()) if hasattr(y, "stride") else None
    return {"dtype": dtype, "seconds": seconds, "changed": count, "first": first, "shared": engine.shares(x, y),
            "strides": strides}


def poison(engine, x):
    """Leaves blocks full of NaN behind for the allocator to hand out again, of the sizes an iteration asks for."""
    torch = engine.torch
    side = min(x.shape[-2:]) if x.dim() > 1 else 1
    batch = x.numel() // max(1, x.shape[-1] * x.shape[-2]) if x.dim() > 1 else 1
    blocks = []
    for count in (x.numel(), batch * side * side, batch):
        for dtype in (x.dtype, torch.float32):
            blocks += [torch.empty(count, dtype=dtype, device=x.device).fill_(math.nan) for _ in range(4)]
    del blocks


def compiled_here():
    """torch.compile ran in this process: what it made cannot be looked into op by op, and would run as it is written."""
    dynamo = sys.modules.get("torch._dynamo.utils")
    return dynamo is not None and sum(dynamo.counters["frames"].values()) > 0


def zeroed_memory(torch):
    """A context in which torch.empty() and its relatives return zeros; torch itself can fill them with NaN only.

    Memory that an op of an extension takes for itself, and what resize_() adds, is not reached.
    """
    from torch.utils._python_dispatch import TorchDispatchMode

    class Zeroed(TorchDispatchMode):
        def __torch_dispatch__(self, op, types, args=(), kwargs=None):
            out = op(*args, **(kwargs or {}))
            return out.zero_() if op.__name__.startswith(("empty", "new_empty")) else out

    return Zeroed()


@contextlib.contextmanager
def filled_memory(engine, wanted):
    """What torch.empty() returns is full of "zeros" or "nan"; anything else leaves it as it is found."""
    torch = getattr(engine, "torch", None)
    if wanted == "zeros":
        with zeroed_memory(torch):
            yield
        return
    if wanted != "nan":
        yield
        return
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.utils.deterministic.fill_uninitialized_memory = True
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before)


@contextlib.contextmanager
def busy_links(engine, wanted):
    """NCCL reduces 16 MiB between all GPUs of this process meanwhile, again and again, in streams of its own."""
    if not wanted:
        yield
        return
    torch = engine.torch
    gpus = range(torch.cuda.device_count())
    tensors = [torch.zeros(1 << 22, device=f"cuda:{gpu}") for gpu in gpus]
    streams = [torch.cuda.Stream(gpu) for gpu in gpus]
    over = threading.Event()

    def reduce():
        while not over.is_set():
            torch.cuda.nccl.all_reduce(tensors, streams=streams)
            for stream in streams:
                stream.synchronize()

    thread = threading.Thread(target=reduce, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@contextlib.contextmanager
def counted_returns(request):
    """One byte for each call, in a file that is still there when this process is not: 1 once the call returned."""
    with open(request["returned"], "r+b") as file, mmap.mmap(file.fileno(), request["calls"]) as returned:
        yield returned


def one_of_burst(engine, function, request, x, source, returned, at):
    try:
        if request.get("poison"):
            poison(engine, x)
        if source is not None:
            engine.torch.mul(source, 1, out=x)
        y = function(x, request["epsilon"])
        only_here()
    except BaseException as error:  # told for this call; the others go on
        y = Complaint(described(error))
    returned[at] = 1
    return y


def run_threads(engine, function, request, inputs, returned, first_call):
    outputs = [None] * len(inputs)

    def work(first, step):
        for i in range(first, len(inputs), step):
            outputs[i] = one_of_burst(engine, function, request, inputs[i], None, returned, first_call + i)

    count = request["threads"]
    workers = [threading.Thread(target=work, args=(i, count)) for i in range(count)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return outputs


def run_streams(engine, function, request, inputs, source, returned, first_call):
    torch = engine.torch
    streams = [torch.cuda.Stream(engine.device) for _ in range(request["streams"])]
    for stream in streams:
        stream.wait_stream(torch.cuda.current_stream(engine.device))
    outputs = []
    for i, x in enumerate(inputs):
        with torch.cuda.stream(streams[i % len(streams)]):
            outputs.append(one_of_burst(engine, function, request, x, source, returned, first_call + i))
    return outputs


def run_together(engine, function, request, inputs, source, returned, first_call):
    if request.get("threads", 0) > 1:
        return run_threads(engine, function, request, inputs, returned, first_call)
    if request.get("streams", 0) > 1:
        return run_streams(engine, function, request, inputs, source, returned, first_call)
    return [one_of_burst(engine, function, request, x, source, returned, first_call + i) for i, x in enumerate(inputs)]


def burst(engine, function, request):
    """`calls` calls back to back, looked at only afterwards; as many at once as `hold` bytes have room for."""
    original = engine.input(request)
    hold = request["hold"]
    if getattr(engine, "cuda", False):
        hold = engine.torch.cuda.mem_get_info(engine.device)[0] // 2
    if request.get("fill") == "zeros" and compiled_here():
        why = "what torch.compile made would run as it is written, so that it is no control"
        return {"results": [None] * request["calls"], "errors": [why]}
    at_once = max(1, min(request["calls"], hold // max(1, 3 * engine.nbytes(original))))
    hashes, errors = [], []
    for first in range(0, request["calls"], at_once):
        inputs = [engine.copy(original) for _ in range(min(at_once, request["calls"] - first))]
        source = original if request.get("producer") else None
        if source is not None:
            for x in inputs:
                x.fill_(math.nan)
        engine.finish()
        memory, links = filled_memory(engine, request.get("fill")), busy_links(engine, request.get("traffic"))
        with memory, links, counted_returns(request) as returned:
            outputs = run_together(engine, function, request, inputs, source, returned, first)
            engine.finish()
        for y in outputs:
            look_at(engine, request, y, hashes, errors)
    return {"results": hashes, "errors": errors[:8]}


def look_at(engine, request, y, hashes, errors):
    try:
        if isinstance(y, Complaint):
            raise y
        dtype, bits = engine.output(y, request)
    except Complaint as error:
        hashes.append(None)
        errors.append(str(error))
        return
    digest = hashlib.blake2b(dtype.encode() + bits, digest_size=16).hexdigest()
    hashes.append([digest, finite(dtype, bits)])


def finite(dtype, bits):
    """Without numpy: an exponent of all ones is what NaN and Inf have in common."""
    if "torch" in sys.modules and bits:
        torch = sys.modules["torch"]
        return bool(torch.isfinite(torch.frombuffer(bytearray(bits), dtype=getattr(torch, dtype))).all())
    return all(math.isfinite(v) for v in struct.unpack(f"<{len(bits) // 8}d", bits))


def answer_to(line, engine, function):
    try:
        request = json.loads(line)
        answer = {"call": call, "burst": burst}[request["do"]](engine, function, request)
        return {"ok": True, **answer}
    except BaseException as error:  # sys.exit() in the function is an answer, too
        return {"ok": False, "error": described(error)}


def source_of(function):
    """Its file; empty for what is compiled, and for objects."""
    try:
        return (inspect.isroutine(function) and inspect.getsourcefile(inspect.unwrap(function))) or ""
    except Exception:
        return ""


def hello(target, device):
    try:
        with contextlib.suppress(ImportError):
            importlib.import_module("torch")
        engine = Torch(device) if "torch" in sys.modules else Lists(device)
        where, given = arguments_of(target)
        function = load(where)
        how, caller, needed = caller_of(with_arguments(function, given))
        how += " with " + json.dumps(given) if given else ""
        told = {"ok": True, "how": how, "needs_epsilon": needed, "source": source_of(function)}
        return {**told, **engine.facts()}, engine, caller
    except BaseException as error:
        text = str(error) if isinstance(error, Complaint) else f"{type(error).__name__}: {one_line(error)}"
        return {"ok": False, "error": text, "lacks_module": isinstance(error, ModuleNotFoundError)}, None, None


def main():
    target, device = sys.argv[1:3]
    sys.path[0] = os.getcwd()
    requests, answers = private_streams()
    threading.Thread(target=leave_with, args=(os.getppid(),), daemon=True).start()
    greeting, engine, caller = hello(target, device)

    def send(answer):
        only_here()
        answers.write(json.dumps(answer).encode() + b"\n")
        answers.flush()

    send(greeting)
    if engine is not None:
        for line in requests:
            send(answer_to(line, engine, caller))
    leave()


if __name__ == "__main__":
    main()
