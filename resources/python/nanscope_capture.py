# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""Writes down what decides a NaN in a Newton-Schulz step of an optimizer (Muon, NorMuon, Dion), at the scene.

    torchrun nanscope_capture.py train.py ...                          # every function that is known, nothing edited

    import nanscope_capture                                            # or in the trainer
    newton_schulz = nanscope_capture.wrap(newton_schulz)
    nanscope_capture.watch(optimizer, model)

One file that needs the standard library and the torch of the training alone; torch is not imported before it is used.
Where nothing is switched on, a wrapped function costs one branch. Two modes, named in every sidecar:

observe  no copy and no wait for the device in the call: a sum of the output that is not finite once one value is not,
         and a checksum of the input stay on the device, and are read once a step, in end_step(). The input of a bad
         call is taken if it is still there and fits the checksum, else made again from the optimizer's state and
         accepted only if it fits. Races between kernels survive being watched.
strict   the input is copied before the call and the output checked after it (dion PR 78). The copy and the wait can
         hide races.

A bad call leaves `dion_nan_capture_rank{rank}_shape{d0xd1}_pid{pid}_{ms}.pt`, a dict of CPU tensors and plain values
that torch.load(weights_only=True) reads, and a .json of the same stem. Every process writes once, before its first
watched call, what is installed and how it was launched: `nanscope_run_rank{rank}_pid{pid}_{ms}.json`.
`nanscope diagnose FOLDER` reads all of them.

Environment, read when this file is imported; configure() says the same in code:

NANSCOPE_CAPTURE=1                     switches it on, 0 off where this file runs the trainer
NANSCOPE_CAPTURE_DIR                   folder for what is written, ./nanscope_captures
NANSCOPE_CAPTURE_MODE                  observe or strict
NANSCOPE_CAPTURE_RAISE                 1: RuntimeError once an output is not finite, in observe at the end of the step (0)
NANSCOPE_CAPTURE_EVERY, _FROM, _UNTIL  looks at every Nth call (1), from one call and up to another, counted from 0
NANSCOPE_CAPTURE_MAX_DUMPS             per shape (4)
NANSCOPE_CAPTURE_PER_MINUTE            captures a minute (20)
NANSCOPE_CAPTURE_MAX_BYTES             of all captures of the process (8 GiB)
NANSCOPE_CAPTURE_MIN_FREE_BYTES        what stays free on the disk, below it only sidecars are written (256 MiB)
NANSCOPE_CAPTURE_PRIVACY               none, fingerprint (no tensors) or rotate (random rotations of both sides)
NANSCOPE_CAPTURE_KEEP                  observe: 1 holds inputs and outputs until the end of the step (memory; no copy,
                                       but of what a function works in)
NANSCOPE_CAPTURE_CONTROLS              observe: 1 copies one healthy call of each shape a step; strict always does
NANSCOPE_CAPTURE_OUTPUTS               observe: 1 takes checksums of outputs, too; strict always does
NANSCOPE_CAPTURE_STALE                 1 captures an output that is, bit for bit, that of an earlier other input; in
                                       observe it holds outputs until the end of the step, as _CONTROLS and _OUTPUTS do
NANSCOPE_CAPTURE_RETRIES               calls made again on a failure (8); _RETRY_SECONDS for all of them (5)

DION_NAN_CAPTURE, DION_NAN_CAPTURE_DIR (./dion_nan_captures) and DION_NAN_CAPTURE_RAISE (1) of dion PR 78 mean strict.
"""
import ast
import atexit
import base64
import collections
import contextlib
import enum
import functools
import hashlib
import importlib
import importlib.machinery
import inspect
import json
import math
import os
import platform
import random
import re
import runpy
import sys
import sysconfig
import textwrap
import threading
import time
import types
import weakref

__all__ = [
    "NonFiniteOutput",
    "begin_step",
    "checksum",
    "configure",
    "end_step",
    "install",
    "patched",
    "summary",
    "uninstall",
    "watch",
    "wrap",
]

SCHEMA = "nanscope.sidecar/1"
RUN_SCHEMA = "nanscope.run/1"
RING = 256  # calls that are remembered, and slots of one block of verdicts
WITHOUT_CALL = 8  # optimizer steps after which, without a watched call, none is expected: there are several optimizers
UNREAD = 4096  # calls after which observe reads its verdicts though nobody ended a step

# Functions that run Newton-Schulz: module, name, Nanscope's name of the variant (None where arguments, version or
# hardware choose it), arguments that it takes for granted, and where that was read. Names and commits are those of
# docs/variants.md and core/replay/variants/published.cpp; a function that is not in here gets no variant. Where one has
# several entries, the first that fits the call counts. Everybody may have a file of such a name: see _published_as().
JORDAN = (3.4445, -4.7750, 2.0315)
EMERGING = "emerging_optimizers.orthogonalized_optimizers.muon_utils"
NS5 = "zeropower_via_newtonschulz5"
DION = "microsoft/dion 0a059a4"
TRITON = "dion.newton_schulz_triton"
EXPRESS = "dion.polar_express"
ORIGINAL = "deepspeed.runtime.zero.muon.original_muon"
MATRIX = "pytorch_optimizer.optimizer.utils.matrix"
# Arguments that say how many steps are made, and with which coefficients; where there are more steps, the last repeats.
STEPS = ("ns_steps", "num_steps", "steps")
COEFFICIENTS = ("ns_coefficients", "coefficients", "weights")
IN_BF16 = {"safety_factor": 1.0, "dtype": "torch.bfloat16"}
KNOWN = (
    (
        "torch.optim._muon",
        "_zeropower_via_newtonschulz",
        "torch-muon",
        {"ns_coefficients": JORDAN, "ns_steps": 5},
        "pytorch/pytorch 098e03f, torch/optim/_muon.py; torch 2.11, 2.15",
    ),
    ("muon", NS5, "keller-jordan", {"steps": 5}, "KellerJordan/Muon 857d1ad, muon.py"),
    ("normuon", NS5, "keller-jordan", {"steps": 5}, "zichongli5/NorMuon d45c9a4, normuon.py"),
    (TRITON, NS5, "dion-ns5", {}, f"{DION}, dion/newton_schulz_triton.py"),
    ("dion.muon", NS5, "dion-ns5", {}, f"{DION}, the copy in dion/muon.py"),
    (TRITON, "newton_schulz_triton", "dion-ns5-triton", {}, f"{DION}, dion/newton_schulz_triton.py"),
    (
        TRITON,
        "newton_schulz_triton_fast",
        "turbo-muon",
        {},
        f"{DION}: the AOL form, as thib-s/flash-newton-schulz cdb03db",
    ),
    (EXPRESS, "polar_express", "dion-polar-express", {}, f"{DION}, dion/polar_express.py"),
    (EXPRESS, "polar_express_triton", "dion-polar-express-triton", {}, f"{DION}, dion/polar_express.py"),
    (
        "gram_newton_schulz.gram_newton_schulz",
        "GramNewtonSchulz.__call__",
        None,
        {},
        "Dao-AILab/gram-newton-schulz f08f25e: the shape and use_gram choose between the standard and the Gram form",
    ),
    ("flash_muon.muon", "fast_newtonschulz", "flash-muon", {"steps": 5}, "nil0x9/flash-muon 80ac87f"),
    (ORIGINAL, NS5, "keller-jordan", {"steps": 5}, "deepspeedai/DeepSpeed 15e3bf4: the standard form"),
    (
        ORIGINAL,
        "zeropower_via_gram_newtonschulz",
        None,
        {},
        "deepspeedai/DeepSpeed: before or after PR 8533, which the version does not tell",
    ),
    (
        "kempnerforge.training.optimizer",
        "_newton_schulz",
        None,
        {},
        "KempnerInstitute/KempnerForge 5666d0d: Jordan's steps in fp32, X Xᵀ of tall matrices, too",
    ),
    (
        "timm.optim.muon",
        "zeropower_via_newtonschulz",
        "torch-muon",
        {"coefficients": (JORDAN,), "steps": 5, "scale_eps": False, **IN_BF16},
        "huggingface/pytorch-image-models, timm 1.0.31, timm/optim/muon.py",
    ),
    *(
        (
            MATRIX,
            "zero_power_via_newton_schulz_5",
            "torch-muon",
            {"weights": weights, "num_steps": 5, **IN_BF16},
            "kozistr/pytorch_optimizer 4.1.0, pytorch_optimizer/optimizer/utils/matrix.py",
        )
        for weights in (JORDAN, (JORDAN,))
    ),
    (MATRIX, "zero_power_via_gram_newton_schulz", None, {}, "kozistr/pytorch_optimizer 4.1.0: a Gram form of its own"),
    (
        "torchtitan.distributed.flex_shard.dist_muon",
        "_zeropower_via_newtonschulz",
        "torch-muon",
        {"ns_coefficients": JORDAN, "ns_steps": 5},
        "pytorch/torchtitan 0.3.0, torchtitan/distributed/flex_shard/dist_muon.py",
    ),
    ("ultralytics.optim.muon", NS5, None, {}, "ultralytics 8.4.190: as torch-muon, but that epsilon is added"),
    ("heavyball.utils", "inplace_orthogonal_", None, {}, "HomebrewML/HeavyBall 3.2.1: rounds at random, and scales"),
    ("swift.optimizers.muonclip", "MuonClip.newton_schulz", None, {}, "modelscope/ms-swift 4.6.0: its norm is of fp32"),
    *(
        (
            EMERGING,
            "newton_schulz",
            f"emerging-{variant}",
            {
                "coefficient_type": coefficients,
                "steps": steps,
                "normalize_in_double": variant == "double-norm",
                "use_syrk": False,
                "tp_group": None,
            },
            "NVIDIA-NeMo/Emerging-Optimizers fd77292, muon_utils.py",
        )
        for variant, coefficients, steps in (
            ("simple", "simple", 5),
            ("quintic", "quintic", 5),
            ("double-norm", "quintic", 5),
            ("polar-express", "polar_express", 8),
            ("polar-express-5", "polar_express", 5),
            ("cans", "cans", 5),
            ("aol", "aol", 4),
            ("hybrid", "deepseekv4", 10),
            ("cubic5", "cubic5", 5),
        )
    ),
)

# The distribution that has a module, where its name is another, and texts of functions (_text_hash()) as they were
# published, with the module of KNOWN that has it: each needs nothing but torch. Copies of them are many.
PUBLISHERS = {"muon": "muon-optimizer"}
PUBLISHED = {
    # KellerJordan/Muon 857d1ad, 53b3831; zichongli5/NorMuon 630db1c; nequip 0.19.1
    "19839996c7f4d7ea34c215a204bfdc0a7d48b53bbdc6cb3861e785ac01f6e1ff": "muon",
    # KellerJordan/Muon 28c793b; MoonshotAI/Moonlight c2ad5b2; axolotl-contribs-mit 0.0.6, muon.py
    "13cf9719f190afe8779f8dc0969532bc65e15d43e585aa068bcf8ac0952fcccb": "muon",
    "fc59bd0a057a211a9bf7044bc70103982cb618c4dd5840ae7ab697f166d3fd97": "normuon",  # zichongli5/NorMuon d45c9a4
    # microsoft/dion 0a059a4, 5f5b948, c25daf5; axolotl-contribs-mit 0.0.6, dist_muon.py
    "dba08a8305114db6a9b78ad35e4cb74b2ca46fbab5055f310dc496bd91470d0e": "dion.newton_schulz_triton",
}
_HOME_CLASSES = {entry[1].partition(".")[0] for entry in KNOWN if "." in entry[1]}
_HOMES = {entry[0] for entry in KNOWN} | {entry[0].partition(".")[0] for entry in KNOWN} - {"torch"}
# What copies of them are called: as one of them, or as many others are.
_NAMES = {entry[1].rpartition(".")[2] for entry in KNOWN} - {"__call__", "inplace_orthogonal_"}
_LIKE = re.compile(r"_*(zero(th)?_?power_via_)?(gram_)?newton_?schulz_?5?")

PACKAGES = tuple(
    dict.fromkeys(entry[0].partition(".")[0] for entry in KNOWN)
    | dict.fromkeys(("triton", "quack", "megatron", "transformer_engine", "numpy", "cutlass"))
)
DISTRIBUTIONS = {"quack": "quack-kernels", "cutlass": "nvidia-cutlass-dsl", "megatron": "megatron-core"}
VARIABLES = (
    "CUBLAS_WORKSPACE_CONFIG",
    "CUDA_DEVICE_MAX_CONNECTIONS",
    "CUDA_LAUNCH_BLOCKING",
    "NVIDIA_TF32_OVERRIDE",
    "OMP_NUM_THREADS",
    "PYTORCH_ALLOC_CONF",
    "PYTORCH_CUDA_ALLOC_CONF",
    "PYTORCH_NO_CUDA_MEMORY_CACHING",
    "TORCH_COMPILE_DISABLE",
    "TORCHINDUCTOR_MAX_AUTOTUNE",
)
# Of the whole run, for its record: beginnings of names. What is called a key or a token is left out.
RUN_VARIABLES = (
    "CUBLAS",
    "CUDA_",
    "CUDNN_",
    "DION_",
    "GLOO_",
    "HIP_",
    "LOCAL_WORLD_SIZE",
    "MKL_",
    "NANSCOPE_",
    "NCCL_",
    "NVIDIA_",
    "OMP_",
    "PYTORCH_",
    "ROCR_",
    "TORCH",
    "TRITON_",
    "WORLD_SIZE",
)
# Installed distributions that concern training, as `nanscope env` lists them: beginnings of names.
RUN_PACKAGES = (
    *PACKAGES,
    "apex",
    "cuda",
    "dmuon",
    "emerging",
    "flash_attn",
    "gram_newton",
    "nvidia",
)
SECRET = re.compile(r"key|token|secret|passw|credential|auth", re.IGNORECASE)


class NonFiniteOutput(RuntimeError):
    """A watched function returned NaN or Inf, and raising was asked for."""


# ---------------------------------------------------------------------------------------------------------------------
# Settings


def _boolean(text):
    words = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
    return words[text.strip().lower()]


def _count(text):
    number = int(text)
    if number < 0:
        raise ValueError(text)
    return number


def _period(text):
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def _seconds(text):
    number = float(text)
    if not 0 <= number < math.inf:
        raise ValueError(text)
    return number


def _one_of(*words):
    def parse(text):
        if text.strip().lower() not in words:
            raise ValueError(text)
        return text.strip().lower()

    return parse


# Name in configure(): what the variable is called after NANSCOPE_CAPTURE, how it is read, its default.
FIELDS = {
    "on": ("", _boolean, False),
    "directory": ("_DIR", str, "./nanscope_captures"),
    "mode": ("_MODE", _one_of("observe", "strict"), "observe"),
    "raises": ("_RAISE", _boolean, False),
    "every": ("_EVERY", _period, 1),
    "first": ("_FROM", _count, 0),
    "until": ("_UNTIL", _count, None),
    "max_dumps": ("_MAX_DUMPS", _count, 4),
    "per_minute": ("_PER_MINUTE", _count, 20),
    "max_bytes": ("_MAX_BYTES", _count, 8 << 30),
    "min_free_bytes": ("_MIN_FREE_BYTES", _count, 256 << 20),
    "privacy": ("_PRIVACY", _one_of("none", "fingerprint", "rotate"), "none"),
    "keep": ("_KEEP", _boolean, False),
    "controls": ("_CONTROLS", _boolean, False),
    "outputs": ("_OUTPUTS", _boolean, False),
    "stale": ("_STALE", _boolean, False),
    "retries": ("_RETRIES", _count, 8),
    "retry_seconds": ("_RETRY_SECONDS", _seconds, 5.0),
}


class _Settings:
    """One attribute per field of FIELDS, and `dion`: whether the variables of dion PR 78 switched it on."""

    def __init__(self):
        self.dion = False
        for name, (_, _, default) in FIELDS.items():
            setattr(self, name, default)


def _settings_of(environ):
    """Settings that the environment asks for, and a sentence for each variable that cannot be read."""
    settings = _Settings()
    problems = []
    if environ.get("DION_NAN_CAPTURE", "").lower() in ("1", "true"):
        settings.on = settings.dion = True
        settings.mode = "strict"
        settings.directory = environ.get("DION_NAN_CAPTURE_DIR", "./dion_nan_captures")
        settings.raises = environ.get("DION_NAN_CAPTURE_RAISE", "1").lower() not in ("0", "false")
    for name, (suffix, parse, _) in FIELDS.items():
        text = environ.get("NANSCOPE_CAPTURE" + suffix)
        if not text:
            continue
        try:
            setattr(settings, name, parse(text))
        except (KeyError, ValueError):
            problems.append(f"NANSCOPE_CAPTURE{suffix}={text!r} is not understood; {getattr(settings, name)!r} is used")
    problems += _repair_window(settings)
    return settings, problems


def _repair_window(settings):
    if settings.until is None or settings.until > settings.first:
        return []
    problem = f"the window of calls from {settings.first} until {settings.until} is empty; all calls are looked at"
    settings.first, settings.until = 0, None
    return [problem]


def _say(text):
    """One line on standard error, whole beside those of other threads; a closed one is no reason to stop a training."""
    with contextlib.suppress(Exception):
        sys.stderr.write(text + "\n")
        sys.stderr.flush()


def _tag():
    return "[dion NaN capture]" if _settings.dion else "[nanscope capture]"


# ---------------------------------------------------------------------------------------------------------------------
# What the process remembers


class _Outermost:
    """Which step() of all optimizers runs, not counting those that another one calls."""

    def __init__(self):
        self.begun = 0
        self.running = None  # its number, counted from 0; None where none runs
        self.optimizer = None  # a reference to whose it is
        self.hooks = set()  # that saw it begin: install() and watch() have one each

    def begin(self, hook, optimizer, frame):
        if self.running is not None and _is_inside_step(frame):
            return
        own = self.optimizer is not None and self.optimizer() is optimizer
        # One that raised has told no hook of its end.
        if self.running is None or not own or hook in self.hooks:
            self.running, self.optimizer, self.hooks = self.begun, weakref.ref(optimizer), set()
            self.begun += 1
        self.hooks.add(hook)

    def end(self, frame):
        if not _is_inside_step(frame):
            self.running = self.optimizer = None


def _is_inside_step(frame):
    """Whether the step() that calls this hook was called by another one: torch has one wrapper around all of them."""
    outer = frame.f_back
    while outer is not None and outer.f_code is not frame.f_code:
        outer = outer.f_back
    return outer is not None


class _Process:
    """What belongs to this process alone, and begins anew in one that was forked from it."""

    def __init__(self):
        self.pid = os.getpid()
        self.lock = threading.RLock()
        self.calls = 0  # every call of a watched function
        self.looked = 0
        self.verdicts = 0
        self.failures = 0
        self.first_bad = None  # index of a call
        self.last_good = None  # the last healthy call before it that was looked at
        self.ring = collections.deque(maxlen=RING)
        self.pending = []  # calls whose verdict still lies on the device
        self.blocks = {}  # device: the block that has room
        self.controls = collections.OrderedDict()
        self.outputs = {}  # shape: checksums of the last outputs
        self.dumps = collections.Counter()  # by shape
        self.times = collections.deque()
        self.bytes = 0
        self.suppressed = collections.Counter()  # by reason
        self.called = []  # functions that were called in this step
        self.step = None  # that is under way
        self.told = False  # whether somebody said its number; else optimizers count their own
        self.taken = weakref.WeakKeyDictionary()  # optimizer: number of the step that comes next, None if not known
        self.marks = weakref.WeakKeyDictionary()  # optimizer: see _mark()
        self.talkers = set()  # keys of functions of which a call talked to other ranks
        self.part_calls = collections.Counter()  # calls with parts of each kind of DTensor
        self.shapes = set()  # of the matrices that calls were given, as far as they are known
        self.stepping = None  # optimizer whose step() runs
        self.outermost = _Outermost()
        self.optimizers = []
        self.searched = set()  # classes of optimizers, by _find_copies()
        self.steps = 0  # that an optimizer took
        self.ended = False  # whether anybody ever said that a step ends
        self.totals = {}  # device: a number that calls inside CUDA graphs add to
        self.graphs = set()  # devices on which such calls were recorded
        self.unwatched = collections.Counter()  # by reason
        self.warned = set()
        self.stopped = None
        self.recorded = False  # whether the record of the run was written, or tried


_settings, _problems = _settings_of(os.environ)
_on = _settings.on
_process = _Process()
_local = threading.local()
_hooks = []
_installed = []
_names = {}  # id of a parameter: (reference to it, name)


def _after_fork():
    global _process
    before, _process = _process, _Process()
    for name in ("step", "told", "taken", "optimizers", "shapes"):
        setattr(_process, name, getattr(before, name))
    _local.busy = False


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _warn_once(key, text):
    if key not in _process.warned:
        _process.warned.add(key)
        _say(f"{_tag()} {text}")


def _warn_unended(when):
    """By the end of the run hardly an input is still there."""
    _warn_once(
        "unended",
        f"no step was ended {when}, so that nothing was looked at before; call nanscope_capture.watch(optimizer, model) "
        "once, or end_step() once a step",
    )


def _leave_out(reason):
    with _process.lock:
        _process.unwatched[reason] += 1


def _stop(why):
    """Nothing is captured any more. The training is not told, only its log."""
    global _on
    if _process.stopped is None:
        _process.stopped = why
        _say(f"{_tag()} stopped capturing at call {_process.calls}: {why}; the training goes on")
    _on = False


def _error_text(error):
    return f"{type(error).__name__}: {str(error)[:300]}"


# ---------------------------------------------------------------------------------------------------------------------
# Tensors

_WEIGHTS = {}
_MASK = (1 << 64) - 1


def _torch():
    return sys.modules.get("torch") or importlib.import_module("torch")


def _is_dtensor(value):
    module = sys.modules.get("torch.distributed.tensor")
    return module is not None and isinstance(value, module.DTensor)


def _own(value):
    """The tensor that this rank holds: of a DTensor its part; without gradient and without a subclass' ways."""
    torch = _torch()
    if type(value) is torch.Tensor and not value.requires_grad:
        return value
    tensor = value.detach()
    if _is_dtensor(tensor):
        tensor = tensor.to_local().detach()
    if hasattr(tensor, "trigger_wait"):  # of a functional collective that is under way
        tensor = tensor.wait()
    return tensor if type(tensor) is torch.Tensor or not _has_memory(tensor) else tensor.as_subclass(torch.Tensor)


def _has_memory(tensor):
    """What stands for other tensors, as a quantised matrix for its values and scales, has none of its own."""
    try:
        return tensor.numel() == 0 or tensor.data_ptr() != 0
    except RuntimeError:
        return False


def _watchable(tensor):
    plain = tensor.is_floating_point() and tensor.layout == _torch().strided and tensor.device.type != "meta"
    return plain and _has_memory(tensor)


def _weights(count, device):
    """`count` odd int64 numbers: i -> z = (i + 1) C1; z ^= z >> 30; z *= C2; z ^= z >> 27; z | 1, all modulo 2**64.

    C1 and C2 are the two numbers below; shifts keep the sign.
    """
    torch = _torch()
    key = (count, device)
    found = _WEIGHTS.get(key)
    if found is None:
        z = torch.arange(1, count + 1, dtype=torch.int64, device=device) * -7046029254386353131
        z = (z ^ (z >> 30)) * -4658895280553007687
        found = (z ^ (z >> 27)) | 1
        if len(_WEIGHTS) < 256:
            _WEIGHTS[key] = found
    return found


def _words(tensor):
    """The bits of a tensor as integers, row-major: [batch, rows, words], the last two dimensions make a matrix.

    Words are little-endian int64 where a row is a multiple of eight bytes, else signed integers of an element's size.
    A tensor that is not contiguous is copied.
    """
    torch = _torch()
    flat = tensor.contiguous()
    rows, last = (1, 1, *flat.shape)[-2:]
    flat = flat.reshape(-1, rows, last) if flat.numel() else flat.reshape(0, max(rows, 1), max(last, 1))
    size = flat.element_size()
    if last * size % 8 == 0 and flat.numel():
        if flat.storage_offset() * size % 8:
            flat = flat.clone()
        return flat.view(torch.int64)
    return flat.view({1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[size])


def _batch_weights(batch, count, device):
    """[batch, count] weights of places in matrices times those of matrices."""
    key = (batch, count, device)
    found = _WEIGHTS.get(key)
    if found is None:
        found = _weights(batch, device)[:, None] * _weights(count, device)
        if len(_WEIGHTS) < 256:
            _WEIGHTS[key] = found
    return found


def _sums(tensor, row=None, column=None):
    """Two int64 sums modulo 2**64, on the device: of the words of rows and of columns, each times its weight.

    Each reads the tensor once. A change in one place changes both. Several go unseen if they cancel in every row and
    in every column, else by chance: about 2**-64 for each sum, 2**-48 where the lower halves of fp32 are zero (bf16
    held in fp32). It is no cryptographic hash.
    """
    torch = _torch()
    words = _words(tensor)
    batch, rows, columns = words.shape
    by_row = words.sum(2, dtype=torch.int64) * _batch_weights(batch, rows, words.device)
    by_column = words.sum(1, dtype=torch.int64) * _batch_weights(batch, columns, words.device)
    return torch.sum(by_row, (0, 1), out=row), torch.sum(by_column, (0, 1), out=column)


def _matrix_sums(tensor):
    """The same of every matrix by itself, [batch, 2]."""
    torch = _torch()
    words = _words(tensor)
    by_row = words.sum(2, dtype=torch.int64) * _weights(words.shape[1], words.device)
    by_column = words.sum(1, dtype=torch.int64) * _weights(words.shape[2], words.device)
    return torch.stack((by_row.sum(1), by_column.sum(1)), 1)


def _whole(sums):
    """The two sums of a tensor, of those of its matrices."""
    return (sums * _weights(sums.shape[0], sums.device)[:, None]).sum(0)


def _hex(pair):
    return "".join("%016x" % (int(part) & _MASK) for part in pair)


def checksum(tensor):
    """32 hexadecimal digits for the bits of a tensor of any dtype; waits for the device.

    The first 16 are the sum over matrices b and rows r of weight(b) weight(r) times the sum of the words of the row,
    the others the same of columns, all modulo 2**64: see _words() and _weights(). Shape and dtype are no part of it.
    """
    with _torch().no_grad():
        return _hex(_sums(_own(tensor)))


def _checksums(tensor):
    """One checksum per matrix of a batch, without the weight of its place in it."""
    with _torch().no_grad():
        return [_hex(pair) for pair in _matrix_sums(_own(tensor)).tolist()]


def _sum_of(tensor, out=None):
    """A float32 number on the device that is not finite once one value is not (or finite ones add up beyond 3.4e38)."""
    torch = _torch()
    if tensor.dtype == torch.float64:
        # Finite doubles need not fit into float32; times zero only what is not finite is left.
        total = (tensor.sum() * 0).to(torch.float32)
        return total if out is None else out.copy_(total)
    if tensor.element_size() == 1:
        tensor = tensor.to(torch.float32)
    if tensor.dtype == torch.bfloat16 and tensor.device.type == "cpu":
        # CPUs make a copy of everything in float32 first; sums of rows need none, and have its range.
        tensor = tensor.sum(-1)
    dimensions = tuple(range(tensor.dim()))
    return torch.sum(tensor, dimensions, dtype=torch.float32, out=out)


def _finite(tensor):
    """Waits for the device. The sum costs one pass without a mask; only where it is not finite all are asked."""
    torch = _torch()
    if tensor.numel() == 0 or math.isfinite(float(_sum_of(tensor))):
        return True
    return bool(torch.isfinite(_plain_float(tensor)).all())


def _plain_float(tensor):
    """One-byte floats have next to no operations."""
    return tensor.float() if tensor.element_size() == 1 else tensor


def _damage(tensor):
    """(values that are not finite, row-major index of the first or None)"""
    torch = _torch()
    bad = ~torch.isfinite(_plain_float(tensor))
    count = int(bad.sum())
    if not count:
        return 0, None
    place = int(bad.reshape(-1).to(torch.uint8).argmax())
    index = []
    for size in reversed(bad.shape):
        place, rest = divmod(place, size)
        index.insert(0, rest)
    return count, index


def _same_bits(a, b):
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    return _torch().equal(_words(a), _words(b.to(a.device)))


def _version(tensor):
    try:
        return tensor._version
    except RuntimeError:  # tensors of inference mode have none
        return None


def _versions_of(value):
    """Of a DTensor also that of its part, as torch counts what is written to either on its own."""
    return (_version(value), _version(value.to_local()) if _is_dtensor(value) else None)


def _on_cpu(tensor):
    """A copy of its own, dense, with the same strides where it has no holes."""
    return tensor.detach().to("cpu", copy=True)


def _bytes_of(tensor):
    return tensor.numel() * tensor.element_size()


def _stream(device):
    torch = _torch()
    return torch.cuda.current_stream(device) if device.type == "cuda" else None


def _stream_id(stream):
    return None if stream is None else int(stream.cuda_stream)


def _capturing_graph(device):
    return device.type == "cuda" and _torch().cuda.is_current_stream_capturing()


def _part(value):
    """Of a DTensor: the logical tensor, its placements and its mesh, named as Nanscope names them; None of others."""
    if not _is_dtensor(value):
        return None
    mesh = value.device_mesh
    coordinate = mesh.get_coordinate()
    return {
        "shape": list(value.shape),
        "strides": list(value.stride()),
        "placements": [_placement(placement) for placement in value.placements],
        "mesh": {
            "shape": list(mesh.mesh.shape),
            "names": list(mesh.mesh_dim_names or []),
            "ranks": mesh.mesh.flatten().tolist(),
            "coordinate": None if coordinate is None else list(coordinate),
        },
        "rank": _rank(),
    }


def _counted_part(spot, value):
    """Also which call of this function with such a DTensor it is: other calls may be more on one rank than on another."""
    part = _part(value)
    if part is not None and _settings.every == 1 and not _settings.first:
        key = (spot.key, *(tuple(each) for each in (part["shape"], part["placements"], part["mesh"]["ranks"])))
        part["call"] = _process.part_calls[key]
        _process.part_calls[key] += 1
    return part


def _placement(placement):
    kind = type(placement).__name__.lstrip("_")
    if kind == "StridedShard":
        return f"StridedShard({placement.dim}, {placement.split_factor})"
    if kind == "Shard":
        return f"Shard({placement.dim})"
    if kind.endswith("Partial"):
        return f"Partial({placement.reduce_op})"
    return kind


# ---------------------------------------------------------------------------------------------------------------------
# What ran, and where


def _simple(value, depth=2):
    """Numbers, words, bools, and short lists of them: what tells coefficients and switches, and never a tensor."""
    if value is None or isinstance(value, (bool, int)):
        return True
    if isinstance(value, float):
        return True
    if isinstance(value, str):
        return len(value) <= 200
    short = isinstance(value, (tuple, list)) and len(value) <= 64
    return short and depth > 0 and all(_simple(item, depth - 1) for item in value)


def _simple_of(values):
    return {str(name): value for name, value in values.items() if _simple(value)}


def _attributes(thing):
    """An object that a function carries along: what it is, and its numbers."""
    kind = type(thing)
    fields = getattr(thing, "__dict__", {})
    return {"class": f"{kind.__module__}.{kind.__qualname__}", **_simple_of(fields)}


def _cells(function):
    """Values that the function closes over; objects with their own numbers, one level deep."""
    values = {}
    names = getattr(getattr(function, "__code__", None), "co_freevars", ())
    for name, cell in zip(names, getattr(function, "__closure__", None) or ()):
        try:
            value = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
        if _simple(value):
            values[name] = value
        elif callable(value) and hasattr(value, "__qualname__"):
            values[name] = f"{value.__module__}.{value.__qualname__}"
        elif hasattr(value, "__dict__") and not hasattr(value, "storage_offset"):
            values[name] = _attributes(value)
    return values


def _globals(function):
    """Numbers of its module that the function reads, as some keep their coefficients there."""
    code = getattr(function, "__code__", None)
    scope = getattr(function, "__globals__", {})
    names = [] if code is None else code.co_names
    values = {name: scope[name] for name in names if name in scope}
    return {name: value for name, value in _simple_of(values).items() if not name.startswith("__")}


def _defaults(function):
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return {}
    return _simple_of({p.name: p.default for p in parameters if p.default is not inspect.Parameter.empty})


def _unwrapped(function):
    """The function in the middle, and what was found around it."""
    around = {"partial": {}, "self": {}, "compiled": False, "layers": 0, "wrappers": []}
    for _ in range(32):
        inner = None
        if isinstance(function, functools.partial):
            around["partial"].update(_simple_of(dict(enumerate(function.args))))
            around["partial"].update(_simple_of(function.keywords))
            inner = function.func
        elif getattr(function, "_torchdynamo_orig_callable", None) is not None and _module_around(function) in _SETS_HOW_IT_RUNS:
            around["compiled"] = True
            inner = function._torchdynamo_orig_callable
        elif inspect.ismethod(function):
            around["self"] = _attributes(function.__self__)
            inner = function.__func__
        elif getattr(function, "__wrapped__", None) is not None:
            around["wrappers"] += _wrapper(function)
            inner = function.__wrapped__
        elif not hasattr(function, "__code__") and hasattr(type(function).__call__, "__code__"):
            around["self"] = _attributes(function)
            inner = type(function).__call__
        if inner is None or inner is function:
            break
        function = inner
        around["layers"] += 1
    return function, around


# Of torch: no_grad and its like, and torch.compile. functools.wraps hands their marks on to what is put around them.
_SETS_HOW_IT_RUNS = {"torch.utils._contextlib", "torch._dynamo.eval_frame"}


def _module_around(function):
    return str(getattr(function, "__globals__", {}).get("__name__"))


def _wrapper(function):
    """The module of code that was put around another function, as it may change what goes in and comes out (autocast does,
    too); none of what sets how it runs, and of this helper's, which looks."""
    own = getattr(function, "__globals__", None) is globals()
    return [] if own or _module_around(function) in _SETS_HOW_IT_RUNS else [_module_around(function)]


# Code objects are kept with what was found, so that no other has its id.
_CODE = {}
_OPEN = {"getattr", "attrgetter", "hasattr"}  # asks for an attribute by a word of the code
_ANYTHING = {"eval", "exec", "globals", "locals", "vars", "__dict__", "__getattribute__", "__import__", "import_module"}


def _names_in(code):
    """Names that the code reads, with those of functions inside it, and words of it that may be names of attributes."""
    found = _CODE.get(id(code))
    if found is None:
        names = set(code.co_names)
        if names & _OPEN:
            names |= {word for word in code.co_consts if isinstance(word, str) and word.isidentifier()}
        for constant in code.co_consts:
            if hasattr(constant, "co_names"):
                names |= _names_in(constant)
        if len(_CODE) >= 4096:
            _CODE.clear()
        found = (code, frozenset(names))
        _CODE[id(code)] = found
    return found[1]


def _module_of(thing):
    if inspect.ismodule(thing):
        return thing.__name__
    return str(getattr(thing, "__module__", None) or getattr(type(thing), "__module__", None))


def _home(thing):
    return _module_of(thing).partition(".")[0]


def _is_in_packages(path):
    """Whether the file is where distributions are installed."""
    parts = os.path.normpath(path).split(os.sep)
    return "site-packages" in parts or "dist-packages" in parts


def _is_in_library(path):
    folders = {sysconfig.get_paths().get(name) for name in ("stdlib", "platstdlib")} - {None}
    return any(os.path.normpath(path).startswith(os.path.normpath(folder) + os.sep) for folder in folders)


def _file_of(module):
    """A file of the module, or a folder of a package that has none; None of what is built into the interpreter."""
    path = getattr(module, "__file__", None)
    if isinstance(path, str):
        return path
    return next((str(part) for part in getattr(module, "__path__", None) or ()), None)


@functools.lru_cache(maxsize=4096)
def _is_users(name):
    """Whether a module of this first name belongs to the user: neither to the standard library nor to what is installed.
    torch and what it is made of may be built where they are, and nobody keeps values of a training in them."""
    if name == "__main__":
        return True
    if name in ("torch", "triton", "numpy", "None") or name in sys.builtin_module_names:
        return False
    if name in getattr(sys, "stdlib_module_names", ()) or name.startswith("_cython"):
        return False
    path = _file_of(sys.modules.get(name))
    if path is None:
        return True
    compiled = path.endswith(tuple(importlib.machinery.EXTENSION_SUFFIXES))
    return not (compiled or _is_in_packages(path) or _is_in_library(path))


# Kinds whose values nobody can change.
_FIXED = (
    type(None),
    bool,
    int,
    float,
    complex,
    str,
    bytes,
    range,
    slice,
    type(...),
    type(NotImplemented),
    re.Pattern,
)
# Of installed code: what a call does not depend on, or cannot change; classes, and modules by the beginning of their name.
_HARMLESS = (
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    type(threading.Lock()),
    type(threading.RLock()),
)
_HARMLESS_MODULES = (
    "logging",
    "pathlib",
    "triton",
    "torch._C._distributed_c10d",
    "torch._library",
    "torch._ops",
    "torch.amp.autocast_mode",
    "torch.autograd.grad_mode",
    "torch.cuda.amp.autocast_mode",
    "torch.cuda.streams",
    "torch.distributed.device_mesh",
    "torch.distributed.distributed_c10d",
    "torch.distributed.tensor.placement_types",
)
_HARMLESS_NAMES = {"dtype", "device", "layout", "memory_format", "finfo", "iinfo", "Size", "ufunc"}
_BAGS = (types.SimpleNamespace,)  # of attributes, with no code of their own


def _is_harmless(thing):
    kind = type(thing)
    if isinstance(thing, _HARMLESS) or (kind.__module__ in ("torch", "numpy") and kind.__name__ in _HARMLESS_NAMES):
        return True
    return kind.__module__.startswith(_HARMLESS_MODULES)


def _is_generator(thing):
    """Of random numbers: random.Random, torch.Generator, and what numpy has."""
    if isinstance(thing, random.Random):
        return True
    if hasattr(thing, "initial_seed") and hasattr(thing, "get_state"):
        return True
    return type(thing).__module__.startswith("numpy.random") and not callable(thing)


def _state_of_generator(thing):
    if isinstance(thing, random.Random):
        return hash(thing.getstate())
    if hasattr(thing, "initial_seed"):
        return hashlib.sha256(thing.get_state().numpy().tobytes()).digest()
    return None


def _owner_of(function):
    """The object whose method it is; None of a function of a module, also of a compiled one."""
    owner = getattr(function, "__self__", None)
    return None if inspect.ismodule(owner) or type(owner).__name__ == "PyCapsule" else owner


class _Is:
    """The object itself, which is not kept alive. Its address alone may be that of another one later."""

    __slots__ = ("reference",)

    def __init__(self, thing):
        try:
            self.reference = weakref.ref(thing)
        except TypeError:
            self.reference = id(thing)

    def __eq__(self, other):
        if isinstance(self.reference, int):
            return self.reference == other.reference
        return self.reference is other.reference

    __hash__ = None


class _Keeps:
    """What a call takes from elsewhere than its input, as it is at this moment: all that the function's code reaches by
    name, and what it is given.

    Tensors count by identity and version, small ones on the host by their values. Functions, classes, modules and objects
    are looked into where they are the user's own or of the package of the function, and of their attributes those whose
    name the code reads. `known` is False where something is in it that could not be looked into, so that it may have
    changed unseen; `entries` is None once that is too much to look at.
    """

    MOST = 2000
    DEEPEST = 16
    PASSES = 8

    def __init__(self, function, given=None, names=frozenset()):
        self.names = {"forward", *names}  # that torch calls itself
        self.home = _home(_unwrapped(function)[0])
        roots = (function,) if given is None else given
        for _ in range(self.PASSES):
            self.entries, self.seen, self.known, self.random = [], {}, True, False
            before = len(self.names)
            for root in roots:
                self.look(root, 0)
            # What was looked at before a name was read of it has to be looked at again.
            if self.entries is None or len(self.names) == before:
                break
        else:
            self.known = False
        self.seen = None
        if self.names & _ANYTHING:
            self.known = False

    def look(self, thing, depth):
        if self.entries is None or id(thing) in self.seen:
            return
        if len(self.entries) >= self.MOST or depth > self.DEEPEST:
            self.entries = None
            return
        if isinstance(thing, _FIXED) or isinstance(thing, enum.Enum):
            self.entries.append(thing if thing == thing else "nan")
            return
        self.seen[id(thing)] = thing
        if hasattr(thing, "storage_offset") and not (inspect.isclass(thing) or inspect.ismodule(thing)):
            self.entries.append(self.tensor(thing))
        elif isinstance(thing, (dict, types.MappingProxyType)):
            self.mapping(thing, depth)
        elif isinstance(thing, (list, tuple, collections.deque, set, frozenset)):
            self.entries.append(len(thing))
            for value in list(thing):
                self.look(value, depth + 1)
        elif isinstance(thing, bytearray):
            self.entries.append(bytes(thing))
        elif hasattr(thing, "__array_interface__") and not inspect.isclass(thing):
            self.array(thing)
        elif not inspect.isclass(thing) and _is_generator(thing):
            self.random = True
            self.entries.append(_state_of_generator(thing))
        else:
            self.entries.append(_Is(thing))
            self.inside(thing, depth)
            return
        if self.is_looked_into(type(thing)):
            self.fields(thing, depth)

    def mapping(self, thing, depth):
        self.entries.append(len(thing))
        for key, value in list(thing.items()):
            if self.entries is None:
                return
            self.entries.append(key if isinstance(key, (int, str)) else id(key))
            self.look(value, depth + 1)

    def array(self, array):
        if array.nbytes <= 4096 and not array.dtype.hasobject:
            self.entries.append(hashlib.sha256(array.tobytes()).digest())
        else:
            self.known = False

    def tensor(self, tensor):
        own, version = _own(tensor), _version(tensor)
        small = own.numel() <= 64 and own.is_cpu
        if version is None and not small:
            self.known = False
        return (_Is(tensor), version, str(own.tolist()) if small else own.data_ptr())

    def inside(self, thing, depth):
        """Of a function what it reads; of an object, a class or a module what the code asks it for."""
        if getattr(thing, "nanscope_capture", False) is True and hasattr(thing, "__wrapped__"):
            self.look(thing.__wrapped__, depth + 1)
            return
        parts = self.parts(thing)
        if parts is not None:
            for part in parts:
                self.look(part, depth + 1)
        elif inspect.isfunction(thing):
            if self.is_looked_into(thing):
                self.function(thing, depth)
        elif inspect.isclass(thing) or inspect.ismodule(thing):
            if self.is_looked_into(thing):
                self.fields(thing, depth)
        elif isinstance(thing, _BAGS) or self.is_looked_into(type(thing)):
            self.methods(thing, depth)
            self.fields(thing, depth)
        elif not _is_harmless(thing):
            self.known = False

    def parts(self, thing):
        """What it hands its work to; None of what is none of these."""
        compiled = getattr(thing, "_torchdynamo_orig_callable", None)
        if compiled is not None and not inspect.isclass(thing):
            return (compiled,)
        if isinstance(thing, functools.partial):
            return (thing.func, *thing.args, *thing.keywords.values())
        if inspect.ismethod(thing):
            return (thing.__func__, thing.__self__)
        if isinstance(thing, property):
            return (thing.fget,)
        if isinstance(thing, (staticmethod, classmethod)):
            return (thing.__func__,)
        if isinstance(thing, functools.cached_property):
            return (thing.func,)
        if isinstance(thing, weakref.ref):
            return (thing(),)
        if type(thing).__name__ == "_lru_cache_wrapper":
            return (thing.__wrapped__,)
        cython = type(thing).__name__ == "cython_function_or_method"
        if cython or isinstance(thing, (types.BuiltinFunctionType, types.MethodWrapperType)):
            return () if _owner_of(thing) is None else (_owner_of(thing),)
        return None

    def is_looked_into(self, thing):
        """The user's code, that of the function's own package, and packages that run Newton-Schulz for others."""
        module = _module_of(thing)
        name = module.partition(".")[0]
        if name in ("torch", "builtins") or sys.modules.get(module) is sys.modules[__name__]:
            return self.home == name == "torch" and inspect.isfunction(thing) and module in _HOMES
        return name == self.home or name in _HOMES or _is_users(name)

    def fields(self, thing, depth):
        fields = {}
        kinds = getattr(thing, "__mro__", ()) if inspect.isclass(thing) else type(thing).__mro__
        for kind in () if inspect.ismodule(thing) else reversed(kinds):
            fields.update(vars(kind))
            slots = vars(kind).get("__slots__", ())
            for slot in (slots,) if isinstance(slots, str) else slots:
                with contextlib.suppress(AttributeError):
                    fields[slot] = getattr(thing, slot)
        own = getattr(thing, "__dict__", None) or {}
        fields.update(own)
        for name in ("_parameters", "_buffers", "_modules"):  # of torch.nn.Module
            if isinstance(own.get(name), dict):
                fields.update(own[name])
        for name in sorted(self.names & fields.keys()):
            self.look(fields[name], depth + 1)

    def methods(self, thing, depth):
        """What Python calls without a name of it in the code: operators, and the call of an object."""
        for kind in type(thing).__mro__:
            if not self.is_looked_into(kind):
                continue
            for name, value in list(vars(kind).items()):
                if inspect.isfunction(value) and name.startswith("__") and name not in _NOT_CALLED:
                    self.look(value, depth + 1)

    def function(self, function, depth):
        names = _names_in(function.__code__)
        self.names |= names
        for cell in getattr(function, "__closure__", None) or ():
            with contextlib.suppress(ValueError):  # not assigned yet
                self.look(cell.cell_contents, depth + 1)
        for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            self.look(value, depth + 1)
        scope = function.__globals__
        for name in sorted(names):
            if name in scope:
                self.look(scope[name], depth + 1)
            else:
                self.imported(name, scope, depth)
        fields = vars(function)
        for name in sorted(names & fields.keys()):
            self.look(fields[name], depth + 1)
        if "__wrapped__" in fields:
            self.look(fields["__wrapped__"], depth + 1)

    def imported(self, name, scope, depth):
        """A module that the function imports when it runs."""
        for place in (name, f"{scope.get('__package__') or ''}.{name}"):
            module = sys.modules.get(place)
            if module is not None:
                self.look(module, depth + 1)


_NOT_CALLED = {"__init__", "__new__", "__repr__", "__str__", "__del__", "__reduce__", "__init_subclass__"}


def _kept_by(function, given=None, names=frozenset()):
    """What a function keeps at this moment, or what it is given, to be compared with that of another; None where it cannot
    be told."""
    try:
        return _Keeps(function, given, names)
    except Exception:  # objects of others
        return None


def _compared(before, now):
    """The word of the sidecar for it."""
    if before is None or now is None or before.entries is None or now.entries is None:
        return "not known"
    if before.entries != now.entries:
        return "other values"
    return "the same" if before.known and now.known else "not known"


def _dice(device):
    """States of all generators of random numbers that are not the function's own."""
    torch = _torch()
    states = [random.getstate(), torch.get_rng_state().numpy().tobytes()]
    if device.type == "cuda":
        states.append(torch.cuda.get_rng_state(device).numpy().tobytes())
    numpy = sys.modules.get("numpy")
    if numpy is not None and hasattr(numpy, "random"):
        found = numpy.random.get_state()
        # As text, its 624 words take longer than a small call made again.
        states.append((found[0], found[1].tobytes(), *found[2:]) if isinstance(found, tuple) else str(found))
    return states


def _source(function):
    try:
        lines, line = inspect.getsourcelines(function)
    except (OSError, TypeError):
        return None, None
    return hashlib.sha256(textwrap.dedent("".join(lines)).encode()).hexdigest(), line


_UNSAID = ("ctx", "annotation", "returns", "type_comment", "type_params", "kind")


def _said(node):
    """What a syntax tree computes, the same from each version of Python: lists without layout and hints of types."""
    if isinstance(node, list):
        return [_said(item) for item in node]
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = [(name, value) for name, value in ast.iter_fields(node) if name not in _UNSAID]
    return [type(node).__name__, *([name, _said(value)] for name, value in fields if value is not None and value != [])]


def _text_hash(function):
    """Of what the source says: copies differ in comments, layout, docstring, hints of types, and in how torch runs them."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    body = tree.body[1:] if ast.get_docstring(tree) is not None else tree.body
    around = [ast.unparse(getattr(each, "func", each)) for each in tree.decorator_list]
    around = sorted(set(around) - {"torch.compile", "torch.no_grad", "staticmethod"})
    text = [tree.name, _said(tree.args), _said(body), around]
    return hashlib.sha256(json.dumps(text).encode()).hexdigest()


def _identity(function):
    """Which function it is, without running or importing anything. Paths are left out, but for the file's own name."""
    core, around = _unwrapped(function)
    digest, line = _source(core)
    code = getattr(core, "__code__", None)
    return {
        "module": getattr(core, "__module__", None),
        "qualname": getattr(core, "__qualname__", type(core).__qualname__),
        "file": None if code is None else os.path.basename(code.co_filename),
        "line": line,
        "source_sha256": digest,
        "closure": _cells(core),
        "globals": _globals(core),
        "defaults": _defaults(core),
        **around,
    }


def _bound(function, args, kwargs):
    """All arguments by name, defaults included; empty where the signature is not known."""
    try:
        bound = inspect.signature(function).bind(*args, **kwargs)
    except (TypeError, ValueError):
        return dict(kwargs)
    bound.apply_defaults()
    return dict(bound.arguments)


def _number(value):
    """A float of a number or of a tensor with one value; else None."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)):
        return float(value)
    try:
        return None if _is_shard(value) else float(_own(value).item())
    except (AttributeError, RuntimeError, ValueError, TypeError):
        return None


def _equal(value, expected):
    if isinstance(expected, tuple):
        return isinstance(value, (tuple, list)) and tuple(value) == expected
    return value == expected or str(value) == expected  # a dtype by its name: torch is not imported for this table


def _named_variant(home, name, arguments):
    """(variant, where that was read) of a function that has a name in the table and was called as an entry of it takes for
    granted, or with other steps. What the code of that name is, is another question. In a module that is not in the table
    the name alone is read nowhere: a copy, as many trainers have one."""
    entries = [
        (module, variant, source, _other_steps(variant, arguments, expected) if variant else None)
        for module, known, variant, expected, source in KNOWN
        if known in (name, name.rpartition(".")[2])
    ]
    # Those of its own module come first, and the call as it was published.
    entries.sort(key=lambda entry: (entry[0] != home, entry[3] is None, entry[3] != ""))
    if not entries:
        return None, None
    module, variant, source, steps = entries[0]
    return None if steps is None else variant + steps, source if module == home else None


def _other_steps(variant, arguments, expected):
    """What Nanscope has after the name of a variant that was called with other steps, "@6x" or "@5x2_-1.5_0.5"; empty where
    they are those of the entry, and None where anything else is not. What is taken to be off is off, too, where this
    version of the function has no such argument."""
    others = {key for key, value in expected.items() if not (_equal(arguments[key], value) if key in arguments else not value)}
    if not others:
        return ""
    if variant == "emerging-cubic5":  # its source refuses another number of steps
        return None
    count = next((arguments.get(key) for key in STEPS if key in expected), None)
    if others - {*STEPS, *COEFFICIENTS} or type(count) is not int or not 1 <= count <= 100:
        return None
    chosen = others.intersection(COEFFICIENTS)
    triples = _triples(next(arguments.get(key) for key in chosen)) if chosen else []
    return None if triples is None or (chosen and not triples) else f"@{count}x" + "+".join(triples[:count])


def _triples(coefficients):
    """Of one step, or of each: "2_-1.5_0.5"; None where they are something else."""
    if not isinstance(coefficients, (tuple, list)):
        return None
    rows = [coefficients] if coefficients and not isinstance(coefficients[0], (tuple, list)) else coefficients
    texts = []
    for row in rows:
        if not isinstance(row, (tuple, list)) or len(row) != 3 or any(type(number) not in (int, float) or not abs(number) < 1e15 for number in row):
            return None
        texts.append("_".join(repr(number) for number in row))
    return texts


def _published_as(function, identity):
    """The module of KNOWN whose function it is as its project published that: by its text, wherever a copy of that stands,
    or as a file of the project's own distribution that was installed and not edited since; else None. A file of that name
    in the user's folder is the user's, and so is what another module put around the function, such as a mask."""
    core, _ = _unwrapped(function)
    home = None if identity["wrappers"] else PUBLISHED.get(_asked(lambda: _text_hash(core)))
    if home is not None:
        return home
    module = str(identity["module"])
    path = getattr(getattr(core, "__code__", None), "co_filename", None)
    if path is None or any(around != module for around in identity["wrappers"]):
        return None
    publisher = module.partition(".")[0]
    publisher = PUBLISHERS.get(publisher, publisher)
    inside = module.replace(".", "/")
    for tail in (f"{inside}.py", f"{inside}/__init__.py"):
        place = os.path.abspath(path).replace(os.sep, "/")
        if place.endswith("/" + tail):
            return module if _is_installed(place, place[: -len(tail) - 1], tail, publisher) else None
    return None


def _is_installed(path, root, tail, publisher):
    """Whether the distribution beside it says that the file is its own, and with these bytes where it says bytes."""
    metadata = importlib.import_module("importlib.metadata")
    found = next(iter(metadata.distributions(name=publisher, path=[root])), None)
    if found is None:
        return False
    record = found.read_text("RECORD")
    if record is None:  # as of Linux distributions
        return _is_in_packages(path)
    line = next((line for line in record.splitlines() if line.startswith(tail + ",")), None)
    if line is None:
        return False
    digest = line.split(",")[1].partition("sha256=")[2]
    with open(path, "rb") as file:
        own = base64.urlsafe_b64encode(hashlib.sha256(file.read()).digest()).decode().rstrip("=")
    return digest in ("", own)


def _known_precision(identity, call):
    """Emerging-Optimizers casts to bf16 where torch is set to "medium", which its optimizers do around the call alone. It
    casts nothing at "high", but CUDA rounds then."""
    if identity["module"] != EMERGING:
        return None
    if call.around[0] == "medium":
        return "bf16"
    return "tf32" if call.around[0] == "high" and _rounds_to_tf32(call) else None


def _rounds_to_tf32(call):
    """Only where it is certain: on a CPU, or with ROCm, it depends on what the library has for the processor."""
    torch = _torch()
    if call.device.type != "cuda" or torch.version.cuda is None or call.dtype != torch.float32:
        return False
    if call.around[1] is not None or os.environ.get("NVIDIA_TF32_OVERRIDE") == "0":
        return False
    ampere = 8
    return call.around[2][0] in (None, "tf32") and torch.cuda.get_device_capability(call.device)[0] >= ampere


def _versions():
    metadata = importlib.import_module("importlib.metadata")
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        module = sys.modules.get(name)
        if module is None:
            continue
        version = getattr(module, "__version__", None)
        if version is None:
            with contextlib.suppress(Exception):
                version = metadata.version(DISTRIBUTIONS.get(name, name))
        found[name] = None if version is None else str(version)
    return found


def _rank():
    torch = sys.modules.get("torch")
    with contextlib.suppress(Exception):
        if torch is not None and torch.distributed.is_available() and torch.distributed.is_initialized():
            return int(torch.distributed.get_rank())
    with contextlib.suppress(ValueError):
        return int(os.environ.get("RANK", "0"))
    return 0


def _world():
    torch = sys.modules.get("torch")
    with contextlib.suppress(Exception):
        if torch is not None and torch.distributed.is_available() and torch.distributed.is_initialized():
            return int(torch.distributed.get_world_size())
    with contextlib.suppress(ValueError):
        return int(os.environ.get("WORLD_SIZE", "1"))
    return 1


def _gpu(device):
    """What torch and the kernel say of the GPU; nothing of it is asked in a run that has none."""
    torch = _torch()
    if device is None or device.type != "cuda":
        return None
    properties = torch.cuda.get_device_properties(device)
    driver = None
    with contextlib.suppress(OSError):
        with open("/proc/driver/nvidia/version", encoding="utf-8", errors="replace") as file:
            driver = file.readline().strip()[:200]
    return {
        "name": properties.name,
        "uuid": str(getattr(properties, "uuid", "")) or None,
        "capability": [properties.major, properties.minor],
        "memory_bytes": int(properties.total_memory),
        "driver": driver,
    }


def _flags():
    """Switches of torch that change what a product rounds to. A torch without one of them has None."""
    torch = _torch()
    asked = {
        "float32_matmul_precision": torch.get_float32_matmul_precision,
        "allow_tf32": lambda: torch.backends.cuda.matmul.allow_tf32,
        "fp32_precision": lambda: torch.backends.cuda.matmul.fp32_precision,
        "allow_bf16_reduced_precision_reduction": (
            lambda: torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction
        ),
        "allow_fp16_reduced_precision_reduction": (
            lambda: torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction
        ),
        "deterministic_algorithms": torch.are_deterministic_algorithms_enabled,
        "cudnn_deterministic": lambda: torch.backends.cudnn.deterministic,
        "autocast_cuda": lambda: torch.is_autocast_enabled("cuda"),
        "autocast_cpu": lambda: torch.is_autocast_enabled("cpu"),
        "threads": torch.get_num_threads,
    }
    flags = {}
    for name, ask in asked.items():
        flags[name] = None
        with contextlib.suppress(Exception):
            value = ask()
            flags[name] = value if _simple(value) else str(value)
    return flags


def _environment(device):
    torch = _torch()
    gpu = None
    with contextlib.suppress(Exception):
        gpu = _gpu(device)
    return {
        "versions": _versions(),
        "cuda": torch.version.cuda,
        "hip": getattr(torch.version, "hip", None),
        "device": None if device is None else str(device),
        "gpu": gpu,
        "machine": platform.machine(),
        "flags": _flags(),
        "variables": {name: os.environ[name][:200] for name in VARIABLES if name in os.environ},
        "rank": _rank(),
        "world": _world(),
        "pid": os.getpid(),
        "host": hashlib.sha256(platform.node().encode()).hexdigest()[:16],
    }


def _environment_of(call):
    with _as_around(call):
        found = _environment(call.device)
    if _hindrance(call, "same"):
        found["flags"].update(
            {"float32_matmul_precision": call.around[0], "fp32_precision": call.around[2][0], "allow_tf32": None}
        )
    return found


# ---------------------------------------------------------------------------------------------------------------------
# The record of the run


def _record_run_once(device):
    """Before the first watched call of a process. Without it captures say less, so what fails here stops nothing."""
    with _process.lock:
        if _process.recorded:
            return
        _process.recorded = True
    try:
        _write_run_record(_run_record(device))
    except Exception as error:
        _warn_once("run record", f"what is installed could not be written down: {_error_text(error)}; the rest goes on")


def _run_record(device):
    torch = _torch()
    gpu = None
    with contextlib.suppress(Exception):
        gpu = _gpu(device)
    return {
        "schema": RUN_SCHEMA,
        "rank": _rank(),
        "pid": os.getpid(),
        "host": hashlib.sha256(platform.node().encode()).hexdigest()[:16],
        "wall_ns": time.time_ns(),
        "torch": {
            "cuda": torch.version.cuda,
            "hip": getattr(torch.version, "hip", None),
            "cudnn": _asked(lambda: torch.backends.cudnn.version()),
            "nccl": _asked(lambda: ".".join(map(str, torch.cuda.nccl.version()))) if gpu else None,
        },
        "gpu": _gpu_entry(gpu),
        "system": {"python": platform.python_version(), "kernel": platform.release(), "machine": platform.machine()},
        "launch": _launch(),
        "flags": _flags(),
        "variables": _run_variables(),
        "packages": _packages(gpu),  # many: what is read first is above
    }


def _asked(ask):
    with contextlib.suppress(Exception):
        return ask()
    return None


def _packages(gpu):
    """Versions of what is imported, as it says itself, of what is installed besides, and of the driver."""
    metadata = importlib.import_module("importlib.metadata")
    found = {}
    for name, version in _versions().items():
        if name != "python" and version is not None:
            found[DISTRIBUTIONS.get(name, name).replace("-", "_")] = version
    for distribution in metadata.distributions():
        name = re.sub(r"[-.]+", "_", str(distribution.metadata["Name"] or "")).lower()
        if name.startswith(RUN_PACKAGES) and distribution.version:
            found.setdefault(name, str(distribution.version))
    driver = re.search(r"(\d+\.\d+(?:\.\d+)?)", (gpu or {}).get("driver") or "")
    if driver:
        found["nvidia_driver"] = driver.group(1)
    return dict(sorted(found.items()))


def _gpu_entry(gpu):
    if gpu is None:
        return None
    capability = ".".join(map(str, gpu["capability"]))
    return {**gpu, "capability": capability}


def _launch():
    """How this process was started. Values of arguments that are named like a secret are left out."""
    starters = (
        ("TORCHELASTIC_RUN_ID", "torchrun"),
        ("SLURM_PROCID", "srun"),
        ("OMPI_COMM_WORLD_RANK", "mpirun"),
        ("PMI_RANK", "mpirun"),
    )
    launcher = next((name for variable, name in starters if variable in os.environ), "python")
    return {
        "argv": _arguments_shown(sys.argv),
        "launcher": launcher,
        "world_size": _world(),
        "local_world_size": os.environ.get("LOCAL_WORLD_SIZE"),
        "nodes": os.environ.get("SLURM_NNODES"),
        "restarts": os.environ.get("TORCHELASTIC_RESTART_COUNT"),
    }


def _arguments_shown(arguments):
    shown, hide = [], False
    for argument in arguments[:200]:
        name, equals, _ = argument.partition("=")
        if hide and not argument.startswith("-"):
            shown.append("(left out)")
        elif equals and SECRET.search(name):
            shown.append(name + "=(left out)")
        else:
            shown.append(_without_home(argument)[:300])
        hide = argument.startswith("-") and not equals and SECRET.search(argument) is not None
    return shown


def _without_home(text):
    home = os.path.expanduser("~")
    return text.replace(home, "~") if len(home) > 1 else text


def _run_variables():
    return {
        name: _without_home(value)[:200]
        for name, value in sorted(os.environ.items())
        if name.startswith(RUN_VARIABLES) and not SECRET.search(name)
    }


def _write_run_record(record):
    os.makedirs(_settings.directory, exist_ok=True)
    data = json.dumps(_json_value(record), allow_nan=False, indent=1).encode()
    temporary = _write_temporary("json", lambda file: file.write(data))
    try:
        stamp = time.time_ns() // 1_000_000
        start = os.path.join(_settings.directory, f"nanscope_run_rank{_rank()}_pid{os.getpid()}_")
        while not _name(temporary, f"{start}{stamp}.json"):
            stamp += 1
        _sync_folder()
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temporary)


# ---------------------------------------------------------------------------------------------------------------------
# Calls


class _Spot:
    """A function that is watched, and what its user said of it."""

    def __init__(self, function, options):
        self.function = function
        self.options = options
        self.name = options["name"] or getattr(function, "__qualname__", type(function).__qualname__)
        # Some wrap anew for every step, so that an object is no key.
        self.key = (getattr(function, "__module__", None), self.name)
        self.kept = None  # what the function kept before its first call of this step
        self.names = frozenset()  # that its code was found to read
        self.known = False  # whether that was looked at
        self.called = False  # in this step
        self.in_place = False  # whether it was ever seen to work in its input, or its caller to write to that afterwards
        self._identity = None

    def note_call(self):
        """Looks, once in a step, what the function keeps: a trainer may set it before each."""
        if not self.known:
            self.keep()
        if not self.called and len(_process.called) < RING:
            self.called = True
            _process.called.append(self)

    def keep(self):
        self.kept, self.known = self.keeps(), True

    def keeps(self, given=None):
        """What the function keeps now; or what it is given."""
        found = _kept_by(self.function, given, self.names)
        if found is not None and len(found.names) > len(self.names):
            self.names = frozenset(found.names)
        return found

    def identity(self):
        if self._identity is None:
            self._identity = _identity(self.function)
        return self._identity


class _Call:
    """What the host knows of one call; nothing of it keeps a tensor of the training alive unless that was asked for."""

    __slots__ = (
        "args",
        "around",
        "block",
        "control",
        "copy",
        "data_ptr",
        "device",
        "dtype",
        "given",
        "healthy",
        "held",
        "index",
        "input",
        "input_version",
        "keep",
        "kwargs",
        "lost",
        "monotonic_ns",
        "optimizer_step",
        "other_tensors",
        "output",
        "output_part",
        "output_sums",
        "output_version",
        "part",
        "shape",
        "slot",
        "spot",
        "step",
        "stream",
        "stride",
        "talk",
        "wall_ns",
        "aliases",
        "in_place",
    )


class _Block:
    """Verdicts and checksums of RING calls on one device. No slot is used twice, so no call waits for another."""

    def __init__(self, device):
        torch = _torch()
        self.sums = torch.zeros(RING, dtype=torch.float32, device=device)
        self.inputs = torch.zeros((RING, 2), dtype=torch.int64, device=device)
        self.used = 0
        self.streams = {}
        self.device = device

    def read(self):
        """Lists of everything, after one wait for the streams that wrote it."""
        torch = _torch()
        for stream in self.streams.values():
            torch.cuda.current_stream(self.device).wait_stream(stream)
        self.sums_read = self.sums.tolist()
        self.inputs_read = self.inputs.tolist()


class _Input:
    """Stands in the arguments of a call where its input was."""


class _Gone:
    """Stands in the arguments of a call where another large tensor was, which is not kept."""


def _input_of(args, kwargs):
    """The first tensor among the arguments."""
    torch = sys.modules["torch"]
    return next((value for value in (*args, *kwargs.values()) if isinstance(value, torch.Tensor)), None)


class _Given:
    """What a call was given besides its input and plain values, and how that was before the call."""

    __slots__ = ("items", "kept", "noted", "word")

    def __init__(self, spot, items, noted):
        self.items = items
        self.noted = noted
        # strict waits for the device at each call: it has the time to look at what costs more than a note.
        self.kept = spot.keeps(items) if _UNSEEN in noted and _settings.mode == "strict" else None
        self.word = None  # that was found of it

    def look(self, spot):
        """The word for how it is now beside how it was, and whether it draws random numbers."""
        now = spot.keeps(self.items)
        if self.kept is None:
            self.word = self.compared_notes()
            self.kept = now  # what changes from here on, the calls made again change
        self.word = _worst(self.word or "the same", _compared(self.kept, now))
        return self.word, now is not None and now.random

    def compared_notes(self):
        words = ["the same"]
        for item, before in zip(self.items, self.noted):
            now = _noted(item)
            seen = before is not _UNSEEN and now is not _UNSEEN
            words.append(_word_of(str(before) == str(now)) if seen else "not known")  # NaN equals itself as text
        return _worst(*words)


_UNSEEN = object()


def _word_of(same):
    return "the same" if same else "other values"


def _worst(*words):
    return next(word for word in ("other values", "not known", "the same") if word in words)


@functools.lru_cache(maxsize=1)
def _plain_kinds():
    torch = _torch()
    return frozenset({*_FIXED, torch.dtype, torch.device, torch.layout, torch.memory_format})


def _is_plain(value):
    """What nobody can change, so that a call that is made again is given the same."""
    kind = type(value)
    if kind in (tuple, _torch().Size):
        return len(value) <= 64 and all(_is_plain(item) for item in value)
    return kind in _plain_kinds() or isinstance(value, enum.Enum)


def _noted_tensor(tensor):
    version, own = _version(tensor), _own(tensor)
    if own.is_cpu and _has_memory(own):
        return (version, own.tolist())
    return _UNSEEN if version is None else version


def _noted(item):
    """What observe notes of an argument before the call: as much as costs next to nothing."""
    kind = type(item)
    if isinstance(item, _torch().Tensor):
        return _noted_tensor(item)
    if kind is list and len(item) <= 16 and all(map(_is_plain, item)):
        return tuple(item)
    if kind is dict and len(item) <= 16 and all(map(_is_plain, item.values())) and all(map(_is_plain, item)):
        return tuple(item.items())
    return None if _is_code(item) else _UNSEEN


def _is_code(item):
    """What installed packages have besides values: functions, kernels, groups of ranks; the objects of those that run
    Newton-Schulz, whose numbers are made once."""
    home = _home(item if inspect.isfunction(item) else type(item))
    if _is_users(home):
        return False
    kind = type(item)
    known = home in _HOMES and kind.__name__ in _HOME_CLASSES
    return known or inspect.isfunction(item) or (_is_harmless(item) and _owner_of(item) is None)


def _take_arguments(call, args, kwargs, value):
    """Sorts them: the input, plain values, large tensors, which are not kept, and what may be another by the time that the
    call is made again. An epsilon in a tensor is none of those that the call could have changed to end otherwise."""
    tensors, plain = sys.modules["torch"].Tensor, _plain_kinds()
    kept, others, notes, call.other_tensors, call.lost = [], [], [], 0, False
    for item in (*args, *kwargs.values()) if kwargs else args:
        kind = type(item)
        if item is value:
            item = _Input
        elif kind in plain or (kind is tuple and len(item) <= 64 and plain.issuperset(map(type, item))):
            pass
        elif isinstance(item, tensors):
            size = item.numel()
            call.other_tensors += size > 1
            if size > 16:
                item, call.lost = _Gone, True
            else:
                others.append(item)
                notes.append(_noted_tensor(item))
        elif not _is_plain(item):
            others.append(item)
            notes.append(_noted(item))
        kept.append(item)
    call.args = tuple(kept[: len(args)])
    call.kwargs = dict(zip(kwargs, kept[len(args) :])) if kwargs else {}
    call.given = _Given(call.spot, others, notes) if others else None


def _begin(spot, args, kwargs, index, value, tensor):
    """The record of a call that will be looked at; `tensor` is the rank's own part of its input `value`."""
    call = _Call()
    call.spot = spot
    spot.note_call()
    call.index = index
    _take_arguments(call, args, kwargs, value)
    call.shape = tuple(tensor.shape)
    call.stride = tuple(tensor.stride())
    call.dtype = tensor.dtype
    call.device = tensor.device
    call.stream = _stream(tensor.device)
    call.data_ptr = tensor.data_ptr()
    call.part = _counted_part(spot, value)
    call.around = _around(tensor.device)
    call.step = _process.step
    call.optimizer_step = _process.outermost.running
    call.wall_ns = time.time_ns()
    call.monotonic_ns = time.monotonic_ns()
    call.healthy = call.block = call.slot = call.copy = call.keep = call.control = call.held = None
    call.output = call.output_part = call.output_version = call.output_sums = call.aliases = call.in_place = None
    call.input = weakref.ref(value)
    call.input_version = _version(value)
    call.talk = _talk_so_far()
    return call


def _around(device):
    """What a caller may have set for this call alone, and what changes its result: how precise products of fp32 are, the
    format of autocast, and what each backend is told of products of fp32. None where torch does not say: the first, once
    it was set in the newer way (fp32_precision) alone."""
    torch = sys.modules["torch"]
    precision = cast = None
    try:
        if torch.is_autocast_enabled(device.type):
            cast = torch.get_autocast_dtype(device.type)
        precision = torch.get_float32_matmul_precision()
    except Exception:
        pass
    return precision, cast, _products()


def _matmuls():
    """Where torch keeps what set_float32_matmul_precision() sets besides its own value. Torch before 2.9 has none of it."""
    backends = sys.modules["torch"].backends
    return backends.cuda.matmul, getattr(backends.mkldnn, "matmul", None)


def _products():
    """What the products of each backend round fp32 to; None where torch has no such setting."""
    found = []
    for matmul in _matmuls():
        try:
            found.append(matmul.fp32_precision)
        except Exception:
            found.append(None)
    return tuple(found)


def _put_products(precision, products):
    """The precision first, as it overwrites the others."""
    if precision is not None:
        _torch().set_float32_matmul_precision(precision)
    for matmul, product in zip(_matmuls(), products):
        if product is not None:
            matmul.fp32_precision = product


def _change_of(call, how, now):
    """(the precision to set or None, what the backends are to be told), or None where all is set as `how` wants it."""
    if how == "fp32":
        exact = now[0] == "highest" and all(product in (None, "none", "ieee") for product in now[2])
        return None if exact else ("highest", tuple(None if product is None else "ieee" for product in now[2]))
    precision = None if call.around[0] == now[0] else call.around[0]
    return None if precision is None and call.around[2] == now[2] else (precision, call.around[2])


def _hindrance(call, how):
    """Why the precision that `how` wants cannot be had, or not without a trace that stays; None where it can."""
    now = _around(call.device)
    change = _change_of(call, how, now)
    if change is None:
        return None
    if change[0] is not None and now[0] is None:
        return "torch does not tell the precision of fp32 products"
    return None if _can_be_put_back(now[2]) else "the precision of fp32 products could not be put back as it is"


def _can_be_put_back(products):
    """What equals the setting of its whole backend may be inherited; written back, it would follow it no more."""
    backends = _torch().backends
    for matmul, whole, product in zip(_matmuls(), (backends.cudnn, backends.mkldnn), products):
        if product is None:
            continue
        if product != "none" and getattr(whole, "fp32_precision", None) in (None, product):
            return False
        try:
            matmul.fp32_precision = product
        except Exception:
            return False
    return True


@contextlib.contextmanager
def _as_around(call, how="same"):
    """The same once more, as in observe the caller has left it by the end of the step; in fp32 nothing that rounds to less."""
    now = _around(call.device)
    cast = None if how == "fp32" else call.around[1]
    change = None if _hindrance(call, how) else _change_of(call, how, now)
    with contextlib.ExitStack() as stack:
        if change is not None:
            stack.callback(_put_products, None if change[0] is None else now[0], now[2])
            _put_products(*change)
        if cast != now[1]:
            stack.enter_context(_torch().autocast(call.device.type, dtype=cast, enabled=cast is not None))
        yield


def _arguments(call, tensor):
    """Arguments to make the call again with."""
    args = [tensor if item is _Input else item for item in call.args]
    kwargs = {name: tensor if item is _Input else item for name, item in call.kwargs.items()}
    return args, kwargs


def _output_of(result, value):
    """The first tensor of what came back; the input, where nothing did."""
    torch = sys.modules["torch"]
    if isinstance(result, torch.Tensor):
        return result
    if isinstance(result, (tuple, list)):
        return next((item for item in result if isinstance(item, torch.Tensor)), None)
    return value if result is None else None


def _shares_memory(a, b):
    return a.numel() > 0 and b.numel() > 0 and a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()


def _chosen(index):
    """Whether sampling looks at this call."""
    settings = _settings
    if index < settings.first or (settings.until is not None and index >= settings.until):
        return False
    return (index - settings.first) % settings.every == 0


def _watched(spot, args, kwargs):
    """A call with capturing on. The function runs exactly once, whatever happens around it."""
    if "torch" not in sys.modules or getattr(_local, "busy", False):
        return spot.function(*args, **kwargs)
    if spot.options["found"] and _input_of(args, kwargs) is None:
        return spot.function(*args, **kwargs)
    with _process.lock:
        index = _process.calls
        _process.calls += 1
    if not _chosen(index):
        return spot.function(*args, **kwargs)
    call, strict = _prepared(spot, args, kwargs, index)
    _local.busy = True
    try:
        result = spot.function(*args, **kwargs)
    except Exception as error:
        if call is not None:
            _guarded(_raised, call, strict, error)
        raise
    finally:
        _local.busy = False
    if call is None:
        return result
    message = _guarded(_looked_at if strict else _observed, call, result)
    if message and _settings.raises:
        raise NonFiniteOutput(message)
    return result


def _guarded(function, *arguments):
    """Runs a part of the helper. Whatever goes wrong in it ends the capturing, never the training."""
    before = getattr(_local, "busy", False)
    _local.busy = True
    try:
        torch = _torch()
        if not torch.is_grad_enabled():  # as in most optimizers
            return function(*arguments)
        with torch.no_grad():
            return function(*arguments)
    except Exception as error:
        where = getattr(function, "__name__", "the helper").lstrip("_")
        _stop(f"{_error_text(error)} (in {where})")
        return None
    finally:
        _local.busy = before


def _prepared(spot, args, kwargs, index):
    """(the record of the call or None, whether strict looks at it)"""
    strict = _settings.mode == "strict"
    call = _guarded(_prepare, spot, args, kwargs, index, strict)
    return (None if _process.stopped else call), strict


def _prepare(spot, args, kwargs, index, strict):
    value = _input_of(args, kwargs)
    if value is None:
        return None
    tensor = _own(value)
    if tensor.dim() not in (2, 3) or not _watchable(tensor):
        _leave_out("an input that is no strided floating-point tensor with 2 or 3 dimensions")
        return None
    call = _begin(spot, args, kwargs, index, value, tensor)
    if spot.options["found"] and call.other_tensors:
        _leave_out("tensors besides the input, of a function that only has the name of a known one; wrap() looks at it")
        return None
    _record_run_once(call.device)
    if _capturing_graph(call.device):
        return _prepared_in_graph(call, strict)
    with _process.lock:
        _process.looked += 1
        _process.ring.append(call)
        _process.shapes.add(call.shape[-2:])
    if strict:
        _copy_before(call, tensor)
    else:
        _checksum_before(call, value, tensor)
    return call


def _prepared_in_graph(call, strict):
    """Inside a CUDA graph nothing may wait or be allocated for good, and the host will not be there when it runs."""
    if strict:
        _leave_out("calls recorded into a CUDA graph, which strict cannot watch")
        _warn_once("graph", "strict cannot watch calls inside a CUDA graph; NANSCOPE_CAPTURE_MODE=observe can")
        return None
    if call.device not in _process.totals:
        _leave_out("calls recorded into a CUDA graph before any that was not")
        return None
    call.slot = "graph"
    with _process.lock:
        _process.looked += 1
    return call


def _copy_before(call, tensor):
    call.copy = tensor.clone()


def _checksum_before(call, value, tensor):
    with _process.lock:
        block = _process.blocks.get(call.device)
        if block is None or block.used == RING:
            block = _process.blocks[call.device] = _Block(call.device)
            if call.device not in _process.totals:
                # Memory that is taken while a graph is recorded belongs to the graph.
                _process.totals[call.device] = block.sums.new_zeros(())
        call.block, call.slot = block, block.used
        block.used += 1
        if call.stream is not None:
            block.streams[_stream_id(call.stream)] = call.stream
    _sums(tensor, block.inputs[call.slot, 0], block.inputs[call.slot, 1])
    if _settings.keep:
        call.keep = [value]
        if call.spot.in_place:
            call.held = tensor.clone()
    if (_settings.controls or _settings.stale) and _wants_control(call):
        call.copy = tensor.clone()


def _wants_control(call):
    """One copy of each kind in a step is enough, and bounds the memory."""
    if not call.spot.options["control"]:
        return False
    with _process.lock:
        return not any(other.copy is not None and _kind(other) == _kind(call) for other in _process.pending)


def _kind(call):
    return (call.spot.key, call.shape, str(call.dtype))


# ---------------------------------------------------------------------------------------------------------------------
# After a call


def _note_output(call, value, output):
    """Returns the rank's own part of the output, or None where it cannot be looked at."""
    tensor = None if output is None else _own(output)
    if tensor is None or not _watchable(tensor):
        _leave_out("an output that is no strided floating-point tensor")
        return None
    own = _own(value)
    call.in_place = output is value or (tensor.data_ptr() == own.data_ptr() and tensor.shape == own.shape)
    call.aliases = _shares_memory(tensor, own)
    call.spot.in_place = call.spot.in_place or call.in_place
    call.output = weakref.ref(output)
    call.output_part = _part(output)
    call.output_version = _version(output)
    return tensor


def _looked_at(call, result):
    """strict: asks at once. Returns the message to raise with, if something is wrong."""
    _note_talk(call)
    value = call.input()
    output = _output_of(result, value)
    tensor = _note_output(call, value, output)
    if tensor is None:
        return None
    bad = not _finite(tensor)
    call.output_sums = _matrix_sums(tensor)
    source = _matrix_sums(call.copy) if _settings.stale else None
    stale = not bad and _settings.stale and _is_stale(call, source) and bool(tensor.any())
    _verdict(call, not bad and not stale)
    message = None
    if bad or stale:
        reason = "a non-finite output" if bad else "the output of an earlier call"
        message = _report_at_once(call, reason, value, tensor)
    elif call.spot.options["control"]:
        _keep_control(call, call.copy, tensor.clone())
    _remember_output(call, source)
    call.copy = None
    return message if bad else None


def _report_at_once(call, reason, value, tensor):
    scene = _Scene(call, reason)
    if _refused(scene):
        return scene.message("not written, as a limit is reached")
    scene.take_input(call.copy, "before the call")
    scene.checksum_before = checksum(call.copy)
    scene.checksum_after = checksum(value)
    scene.take_output(tensor, "after the call")
    return _report(scene)


def _is_stale(call, source):
    """Whether an earlier call left the same bits though its input had others. Repeats of an input are not, nor are zeros,
    which are not asked for here."""
    own = call.output_sums.tolist()
    return any(
        entry["sums"].tolist() == own and entry["input"] is not None and entry["input"].tolist() != source.tolist()
        for entry in _outputs_of(call)
    )


def _remember_output(call, source=None):
    """The last eight of a kind, per matrix of a batch: a stale output has the checksum of one of them."""
    with _process.lock:
        kept = _process.outputs.setdefault(_kind(call), collections.deque(maxlen=8))
        kept.append({"call": call.index, "step": call.step, "sums": call.output_sums, "input": source})


def _outputs_of(call):
    with _process.lock:
        return list(_process.outputs.get(_kind(call), ()))


def _earlier_outputs(call):
    """What is remembered of the kind, for a sidecar; of batches with more than 64 matrices only the whole."""
    found = []
    for entry in _outputs_of(call):
        sums = entry["sums"]
        batch = [_hex(pair) for pair in sums.tolist()] if sums.shape[0] <= 64 else []
        found.append(
            {"call": entry["call"], "step": entry["step"], "checksum": _hex(_whole(sums).tolist()), "batch": batch}
        )
    return found


def _observed(call, result):
    """observe: leaves the question on the device. Nothing here waits for it."""
    _note_talk(call)
    value = call.input()
    output = _output_of(result, value)
    if call.slot == "graph":
        return _observed_in_graph(call, output)
    tensor = _note_output(call, value, output)
    if tensor is None:
        return None
    block = call.block
    _sum_of(tensor, block.sums[call.slot])
    if _settings.outputs or _settings.stale:
        call.output_sums = _matrix_sums(tensor)
    if call.keep is not None:
        call.keep.append(output)
    elif _settings.stale:
        call.keep = [output]  # a stale one is not made again by a retry
    if call.copy is not None:
        call.control = tensor.clone()
    with _process.lock:
        _process.pending.append(call)
        unread = len(_process.pending)
    if unread >= UNREAD:
        _warn_unended(f"in {UNREAD} calls")
        return _end_step(None, None)
    return None


def _observed_in_graph(call, output):
    """Adds to one number per device, which stays NaN or Inf once it was; replays do the same without the host."""
    tensor = None if output is None else _own(output)
    if tensor is None or not _watchable(tensor):
        return None
    # Times zero, so that finite outputs never add up to anything.
    _process.totals[call.device].add_(_sum_of(tensor) * 0)
    _process.graphs.add(call.device)
    return None


def _raised(call, strict, error):
    """The function raised. Its input may still be what it was; the output never came."""
    _note_talk(call)
    scene = _Scene(call, "an exception")
    scene.error = error
    _verdict(call, False)
    if _refused(scene):
        return
    if strict:
        scene.take_input(call.copy, "before the call")
        scene.checksum_before = checksum(call.copy)
        value = call.input()
        scene.checksum_after = None if value is None else checksum(value)
    elif call.block is not None:
        call.block.read()
        scene.checksum_before = _hex(call.block.inputs_read[call.slot])
        _find_input(scene, None)
    _report(scene)
    call.copy = None


def _verdict(call, healthy):
    process = _process
    with process.lock:
        call.healthy = healthy
        process.verdicts += 1
        if not healthy:
            process.failures += 1
            process.first_bad = min(call.index, process.first_bad if process.first_bad is not None else call.index)
        elif process.first_bad is None or call.index < process.first_bad:
            process.last_good = max(call.index, process.last_good or 0)


def _keep_control(call, tensor, output):
    """The last healthy call of a kind; the oldest kinds go once all hold more than a GiB. A part is none."""
    if _is_part(call):
        return
    with _process.lock:
        controls = _process.controls
        controls.pop(_kind(call), None)
        controls[_kind(call)] = (call, tensor, output)
        held = sum(_bytes_of(a) + _bytes_of(b) for _, a, b in controls.values())
        while held > 1 << 30 and len(controls) > 1:
            _, (_, a, b) = controls.popitem(last=False)
            held -= _bytes_of(a) + _bytes_of(b)


# ---------------------------------------------------------------------------------------------------------------------
# The end of a step


def _end_step(step, optimizer):
    """Reads what lies on the device and reports what was bad. Returns the message of the first bad call, or None."""
    with _process.lock:
        pending, _process.pending = _process.pending, []
    for block in {id(call.block): call.block for call in pending}.values():
        block.read()
    message = None
    for call in pending:
        call.step = call.step if step is None else step
        if math.isfinite(call.block.sums_read[call.slot]):
            _found_finite(call, optimizer)
        else:
            message = _found_bad(call, optimizer) or message
        if call.keep is not None and call.input() is not None and _version(call.input()) != call.input_version:
            call.spot.in_place = True
        call.keep = call.copy = call.control = call.held = call.block = None
    return message or _read_graphs()


def _found_finite(call, optimizer):
    source = call.block.inputs[call.slot].clone() if _settings.stale else None
    # The word of a zero matrix is 0, and so is its checksum.
    stale = _settings.stale and bool(call.output_sums.any()) and _is_stale(call, source)
    _verdict(call, not stale)
    if stale:
        _found_stale(call, optimizer)
    elif call.control is not None:
        _keep_control(call, call.copy, call.control)
    if call.output_sums is not None:
        _remember_output(call, source)


def _found_stale(call, optimizer):
    scene = _Scene(call, "the output of an earlier call")
    scene.checksum_before = _hex(call.block.inputs_read[call.slot])
    scene.checksum_output = _hex(_whole(call.output_sums).tolist())
    if _refused(scene):
        return
    output = call.output()
    if output is not None and call.output_version == _version(output):
        scene.take_output(_own(output), "alive after the step")
    elif call.control is not None:
        scene.take_output(call.control, "copied at the call")
    _find_input(scene, optimizer)
    _report(scene)


def _found_bad(call, optimizer):
    scene = _Scene(call, "a non-finite output")
    scene.checksum_before = _hex(call.block.inputs_read[call.slot])
    if call.output_sums is not None:
        scene.checksum_output = _hex(_whole(call.output_sums).tolist())
    output = call.output()
    if output is not None and call.output_version == _version(output):
        tensor = _own(output)
        if _finite(tensor):
            # A sum of finite values went beyond float32: nothing is wrong.
            _verdict(call, True)
            return None
        scene.take_output(tensor, "alive after the step")
    _verdict(call, False)
    if _refused(scene):
        return scene.message("not written, as a limit is reached")
    _find_input(scene, optimizer)
    return _report(scene)


def _find_input(scene, optimizer):
    """The input of a call that is over: as it is, if it is still there, else from the optimizer's state."""
    call = scene.call
    value = call.input()
    if value is not None:
        tensor = _own(value)
        scene.checksum_after = checksum(tensor)
        if scene.checksum_after == scene.checksum_before and call.input_version == _version(value):
            scene.take_input(tensor.clone(), "alive after the step" if scene.error is None else "after the call")
            return
        scene.missing = "it was written to before the end of the step"
        if call.held is not None and checksum(call.held) == scene.checksum_before:
            scene.take_input(call.held, "copied at the call")
            return
    else:
        scene.missing = "nobody held it until the end of the step"
    try:
        for tensor, where in _rebuilt(call, optimizer):
            if tensor.shape == call.shape and tensor.dtype == call.dtype and checksum(tensor) == scene.checksum_before:
                scene.take_input(tensor, "rebuilt")
                scene.rebuilt = where
                return
        scene.missing += "; nothing that the optimizer's state gives has its checksum"
    except Exception as error:  # a hook is the user's, a state the optimizer's
        scene.missing += f"; making it again failed with {_error_text(error)}"
    held = "" if _settings.keep else "NANSCOPE_CAPTURE_KEEP=1 holds it (memory), "
    scene.missing += f". {held}NANSCOPE_CAPTURE_MODE=strict copies it (time)"


def _rebuilt(call, optimizer):
    """Tensors that may have been the input, and what each was made of. Only one that fits the checksum is believed."""
    hook = call.spot.options["rebuild"]
    optimizers = [optimizer] if optimizer is not None else _optimizers()
    for one in optimizers:
        if hook is not None:
            for found in hook(one, {"shape": call.shape, "dtype": call.dtype, "step": call.step, "index": call.index}):
                tensor, where = found if isinstance(found, tuple) else (found, {"by": "the user's hook"})
                yield _own(tensor), where
        yield from _from_state(call, one)


def _optimizers():
    return [one for one in (reference() for reference in _process.optimizers) if one is not None]


def _moment_forms(gradient, moments, betas):
    """What Muon-like optimizers hand to the iteration, as what is left after the step gives it again.

    torch.optim.Muon: grad.lerp(buffer, momentum) or the buffer. KellerJordan: the gradient itself, which was changed in
    place, or the buffer. dion: buffer * mu + grad, cast to bf16, or the buffer.
    """
    yield "gradient", lambda: gradient
    for buffer, moment in moments:
        yield buffer, lambda: moment
        for name, beta in betas:
            yield f"gradient.lerp({buffer}, {name})", lambda: gradient.lerp(moment.to(gradient.dtype), beta)
            yield f"{buffer} * {name} + gradient", lambda: moment.mul(beta).add(gradient)
            yield f"gradient + {name} * {buffer}", lambda: gradient.add(moment, alpha=beta)


def _betas(group):
    """(name, value) of what may be the momentum of a group: what is called so, else its fractions and usual constants."""
    named = next((name for name in ("momentum", "mu") if _number(group.get(name)) is not None), None)
    if named is not None:
        return [("momentum", _number(group[named]))]
    fractions = []
    for name, value in group.items():
        for number in map(_number, value[:2] if isinstance(value, (list, tuple)) else [value]):
            if name not in ("params", "lr", "weight_decay") and number is not None and 0 < number < 1:
                fractions.append((name, number))
    return fractions[:4] + [("0.95", 0.95), ("0.9", 0.9)]


def _moment_in(optimizer, parameter):
    state = optimizer.state.get(parameter, {})
    return next((state[name] for name in ("momentum_buffer", "momentum", "exp_avg") if name in state), None)


def _moments_of(optimizer, parameter):
    """(name, matrix): the momentum buffer; where nothing is called so, the first matrices of the state it could be."""
    named = _moment_of(optimizer, parameter)
    if named is not None:
        return [("momentum buffer", named)]
    torch = _torch()
    state = optimizer.state.get(parameter, {})
    owns = [(f'state["{name}"]', _own(value)) for name, value in state.items() if isinstance(value, torch.Tensor)]
    shape = _own(parameter).shape
    return [(name, own) for name, own in owns if _watchable(own) and own.shape == shape][:2]


def _moment_of(optimizer, parameter):
    """None also where what has the name of one is no such matrix: a number, or something packed into bytes."""
    found = _moment_in(optimizer, parameter)
    moment = _asked(lambda: _own(found)) if isinstance(found, _torch().Tensor) else None
    return moment if moment is not None and _watchable(moment) and moment.shape == _own(parameter).shape else None


def _from_state(call, optimizer):
    """Candidates from each parameter whose matrix has the shape of the call, then stacks of all of them."""
    stacks = collections.defaultdict(list)
    for group in getattr(optimizer, "param_groups", ()):
        betas = _betas(group)
        for parameter in group["params"]:
            if parameter.grad is None:
                continue
            gradient = _own(parameter.grad)
            if tuple(gradient.shape[-2:]) != call.shape[-2:]:
                continue
            for form, make in _moment_forms(gradient, _moments_of(optimizer, parameter), betas):
                tensor = make().to(call.dtype)
                where = {"of": form, "parameter": _name_of(parameter), "optimizer": type(optimizer).__name__}
                if len(call.shape) == 3:
                    stacks[form].append(tensor)
                yield tensor, where
    for form, tensors in stacks.items():
        yield from _stacked(call, form, tensors)


def _stacked(call, form, tensors):
    """As dion batches them: in order, zeros up to a multiple of the ranks, and each rank its slice."""
    torch = _torch()
    batch = call.shape[0]
    for ranks, rank in {(1, 0), (_world(), _rank())}:
        own = tensors[rank * batch : (rank + 1) * batch] if ranks > 1 else tensors[:batch]
        if own and all(tensor.shape == call.shape[1:] for tensor in own):
            own = own + [torch.zeros_like(own[0])] * (batch - len(own))
            yield torch.stack(own), {"of": f"a stack of {form}", "parameter": None, "optimizer": None}


def _read_graphs():
    """Calls inside CUDA graphs: which replay it was, and its input, are not known."""
    message = None
    for device in list(_process.graphs):
        total = _process.totals[device]
        if math.isfinite(float(total)):
            continue
        total.zero_()
        _process.failures += 1
        _process.suppressed["inside a CUDA graph"] += 1
        message = f"{_tag()} non-finite Newton-Schulz output on rank {_rank()}, inside a CUDA graph on {device}"
        _say(message + "; no call can be told, run without graphs to capture it")
    return message


# ---------------------------------------------------------------------------------------------------------------------
# A failure


class _Scene:
    """What is known of one bad call, as long as it is being written down."""

    def __init__(self, call, reason):
        self.call = call
        self.reason = reason
        self.error = None
        self.input = None  # the rank's own part; may be changed by nobody
        self.input_from = None
        self.missing = None
        self.rebuilt = None
        self.output = None
        self.output_from = None
        self.checksum_before = None
        self.checksum_after = None
        self.checksum_output = None
        self.again = None  # what a retry gave where the output is gone
        self.kept = None  # a word: whether what it keeps and was given is as before the call
        self.random = None  # whether it draws random numbers, or may: it has a generator of its own
        self.saved = None  # a copy of the output, as retries may write to where it lies

    def take_input(self, tensor, where):
        self.input, self.input_from = tensor, where

    def take_output(self, tensor, where):
        self.output, self.output_from = tensor, where

    def message(self, end):
        what = "exception in Newton-Schulz" if self.error is not None else "non-finite Newton-Schulz output"
        if self.reason == "the output of an earlier call":
            what = "stale Newton-Schulz output"
        return f"{_tag()} {what} on rank {_rank()}, shape {self.call.shape}; {end}"


def _refused(scene):
    """The limit that forbids to write this capture, counted and said in the summary; else it is booked, and None."""
    process, shape = _process, scene.call.shape
    with process.lock:
        reason = _limit_reached(shape)
        if reason is None:
            process.dumps[shape] += 1
            process.times.append(time.monotonic())
        else:
            process.suppressed[reason] += 1
        return reason


def _limit_reached(shape):
    settings, process = _settings, _process
    while process.times and time.monotonic() - process.times[0] > 60:
        process.times.popleft()
    if process.stopped:
        return "capturing had stopped"
    if process.dumps[shape] >= settings.max_dumps:
        return f"NANSCOPE_CAPTURE_MAX_DUMPS={settings.max_dumps} per shape"
    if len(process.times) >= settings.per_minute:
        return f"NANSCOPE_CAPTURE_PER_MINUTE={settings.per_minute}"
    if process.bytes >= settings.max_bytes:
        return f"NANSCOPE_CAPTURE_MAX_BYTES={settings.max_bytes}"
    return None


def _report(scene):
    """Writes the scene down, which _refused() allowed. Returns the message to raise with; says it if nobody raises."""
    try:
        path = _write_scene(scene)
    except Exception as error:
        _process.suppressed["it could not be written"] += 1
        _stop(f"{_error_text(error)} (while writing to {_settings.directory})")
        return scene.message(f"it could not be written: {_error_text(error)}")
    message = scene.message(f"dumped to {path}")
    if not _settings.raises or scene.error is not None:
        _say(message)
    return message


def _write_scene(scene):
    if scene.output is not None:
        scene.saved = scene.output.clone()
    retries, skipped = _retries(scene)
    damage = None if scene.saved is None else _damage(scene.saved)
    sidecar = _sidecar(scene, retries, skipped, damage)
    payload = _payload(scene)
    why = _why_no_tensors(payload)
    if _settings.privacy == "fingerprint" or why is not None:
        sidecar["fingerprint"] = {
            "input": None if scene.input is None else _fingerprint(scene.input),
            "output": None if scene.saved is None else _fingerprint(scene.saved),
        }
    if why is not None:
        sidecar["limits"]["no_tensors"] = why
        payload = None
    elif _settings.privacy == "rotate":
        payload = _rotated(payload)
    sidecar["controls"] = _write_controls(scene)
    return _write_pair("dion_nan_capture", scene.call.shape, payload, sidecar)


def _payload(scene):
    """What dion PR 78 writes, by its names. None without an input, as there is nothing to judge then."""
    if scene.input is None or _settings.privacy == "fingerprint":
        return None
    call = scene.call
    payload = {"input": scene.input}
    if scene.saved is not None:
        payload["output"] = scene.saved
    payload["rank"] = _rank()
    payload["shape"] = tuple(scene.input.shape)
    payload["dtype"] = str(scene.input.dtype)
    payload["epsilon"] = _epsilon(call)
    return payload


def _why_no_tensors(payload):
    """Sizes are looked at before anything is copied to the host."""
    if payload is None:
        return None
    need = sum(_bytes_of(payload[name]) for name in ("input", "output") if name in payload)
    if _process.bytes + need > _settings.max_bytes:
        return f"{need} bytes more would pass NANSCOPE_CAPTURE_MAX_BYTES={_settings.max_bytes}"
    os.makedirs(_settings.directory, exist_ok=True)
    free = _free_bytes(_settings.directory)
    if free is not None and free - need < _settings.min_free_bytes:
        return f"{free} bytes are free, NANSCOPE_CAPTURE_MIN_FREE_BYTES={_settings.min_free_bytes}"
    if _settings.privacy == "rotate" and max(payload["input"].shape[-2:]) > 4096:
        return "rotating a side of more than 4096 takes too long"
    memory = _free_memory()
    if memory is not None and need > memory // 2:
        return f"{need} bytes are more than half of the {memory} of memory that is free"
    return None


def _free_bytes(folder):
    try:
        found = os.statvfs(folder)
    except (AttributeError, OSError):
        return None
    return found.f_bavail * found.f_frsize


def _free_memory():
    """Bytes the kernel would give; None where it does not say."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        with open("/proc/meminfo", encoding="ascii") as file:
            found = re.search(r"MemAvailable:\s+(\d+) kB", file.read())
        return int(found.group(1)) * 1024
    return None


def _epsilon(call):
    """The epsilon in effect: the argument, else its default, else what wrap() was told; None if nobody says."""
    arguments = _bound(call.spot.function, call.args, call.kwargs)
    for name in ("epsilon", "eps"):
        number = _number(arguments.get(name))
        if number is not None:
            return number
    return _number(call.spot.options["epsilon"])


# ---------------------------------------------------------------------------------------------------------------------
# The call made again


def _retries(scene):
    """([what came of each], why there are none or fewer). Nothing of the training is changed by them."""
    call = scene.call
    _compare_kept(scene)
    if scene.input is None:
        return [], "the input could not be had"
    if _is_part(call) or call.spot.options["collective"]:
        return [], "the call needs every rank"
    if _may_talk(call):
        return [], "the function's code may talk to other ranks; wrap(collective=False) says that it does not"
    if call.spot.options["found"] and not _asked(lambda: _published_as(call.spot.function, call.spot.identity())):
        return [], "the function is known by its name alone, and may need every rank or keep a state; wrap() says that it does not"
    if call.lost:
        return [], "the function had another large tensor, which is not kept"
    if scene.error is not None and "out of memory" in str(scene.error).lower():
        return [], "the call ran out of memory"
    results, skipped = [], {}
    ends = time.monotonic() + _settings.retry_seconds
    try:
        for how in _plan(call):
            if time.monotonic() > ends:
                skipped["time"] = f"NANSCOPE_CAPTURE_RETRY_SECONDS={_settings.retry_seconds:g} were over"
                break
            hindrance = _hindrance(call, how)
            if hindrance is None:
                results.append(_retry(scene, how))
                _compare_kept(scene)
            else:
                place = "in fp32, as " if how == "fp32" else ""
                skipped[place] = place + hindrance
    finally:
        _restore(scene)
    if scene.saved is None and scene.again is not None:
        scene.saved, scene.output_from = scene.again, "made again"
    return results, "; ".join(skipped.values()) or None


def _ranks_of(call):
    """How many ranks have a part of the matrix each: Emerging-Optimizers' function, and so Megatron's, is given a group under
    tensor parallelism. A function that is wrapped as collective may talk to others of anything, and have the whole matrix."""
    names = (("torch.distributed", "ProcessGroup"), ("torch.distributed.device_mesh", "DeviceMesh"))
    kinds = tuple(filter(None, (getattr(sys.modules.get(module), name, None) for module, name in names)))
    given, function = [*call.args, *call.kwargs.values()], call.spot.function
    while isinstance(function, functools.partial):
        given += [*function.args, *function.keywords.values()]
        function = function.func
    return max([1, *(item.size() for item in given if isinstance(item, kinds))])


def _is_part(call):
    """Whether other ranks hold the rest of its matrix: no rank can judge or repeat it alone."""
    return call.part is not None or _ranks_of(call) > 1


_TALKS = re.compile(
    r"all_?(reduce|gather|to_?all)|reduce_?(scatter|from)|(^|_)(gather|scatter|broadcast|i?send|i?recv|send_?recv)($|_)"
    r"|redistribute|full_tensor|barrier|p2p|nccl|rccl|nvshmem|symm_mem|mpi4py|horovod",
    re.IGNORECASE,
)


def _may_talk(call):
    """Whether its function talked to other ranks, or names what may in its code: one rank that repeats that alone waits for ever, or is
    given what the others send for something else, and they get its numbers. Not all that is sent is counted (by NCCL from
    one rank to another, by other libraries), and another call may send what this one did not. Of published code it is known."""
    spot = call.spot
    if spot.options["collective"] is False or (_world() == 1 and not _launched_with_others()):
        return False
    if spot.key in _process.talkers:
        return True
    code = getattr(_unwrapped(spot.function)[0], "__code__", None)
    names = spot.names if code is None else spot.names | _names_in(code)
    return any(map(_is_of_ranks, names)) and not _asked(lambda: _published_as(spot.function, spot.identity()))


def _is_of_ranks(name):
    """Of what tensors do, too, as scatter_add_ and broadcast_to, the name tells nothing; but for two that both have."""
    torchs = name not in ("gather", "scatter") and hasattr(_torch().Tensor, name)
    return not torchs and _TALKS.search(name) is not None


def _talk_so_far():
    """How many operations each group of ranks has begun; None where one does not count them."""
    distributed = _torch().distributed
    try:
        if not (distributed.is_available() and distributed.is_initialized()):
            return ()
        groups = distributed.distributed_c10d._world.pg_map  # of the groups that this rank is in
        return [group._get_sequence_number_for_group() for group in list(groups)]
    except Exception:  # a backend of others, another torch
        return None


def _note_talk(call):
    """After the call. Talk of other threads meanwhile counts, too: it costs no more than what the repeats would show. What
    talked once may do so again, as code does that talks at every second call."""
    if call.talk is None or call.talk != _talk_so_far():
        _process.talkers.add(call.spot.key)


def _launched_with_others():
    """By mpirun or srun, and torch.distributed is not told of them."""
    return any(os.environ.get(name, "1") != "1" for name in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"))


def _compare_kept(scene):
    """Before the first call that is made again, and after each: one that changes something may put it back."""
    spot, given = scene.call.spot, scene.call.given
    now = spot.keeps()
    words = [scene.kept or "the same", _compared(spot.kept, now)]
    draws = now is not None and now.random
    if given is not None:
        word, drawn = given.look(spot)
        words.append(word)
        draws = draws or drawn
    scene.kept = _worst(*words)
    if draws:
        scene.random = True


def _plan(call):
    """One of each kind comes before more of the same, in case the time ends."""
    torch = _torch()
    count = _settings.retries
    if not count:
        return []
    others = ["stream"] if call.device.type == "cuda" else []
    if call.dtype in (torch.float16, torch.bfloat16):
        others.append("fp32")
    return ["same", *others] + ["same"] * (count - 1)


def _retry(scene, how):
    torch = _torch()
    record = {"how": how, "finite": None, "nonfinite": None, "first_nonfinite": None, "checksum": None}
    record.update({"equal_to_output": None, "ms": None, "error": None})
    begin = time.monotonic()
    try:
        with _scene_of(scene.call, how):
            tensor = scene.input.clone()
            args, kwargs = _arguments(scene.call, tensor.to(torch.float32) if how == "fp32" else tensor)
            dice = _dice(scene.call.device)
            result = _output_of(scene.call.spot.function(*args, **kwargs), tensor)
            scene.random = bool(scene.random) or _dice(scene.call.device) != dice
            output = _own(result)
            count, first = _damage(output)
            record.update({"finite": count == 0, "nonfinite": count, "first_nonfinite": first})
            record["checksum"] = checksum(output)
            if scene.saved is not None:
                record["equal_to_output"] = _same_bits(scene.saved, output)
            elif scene.checksum_output is not None:
                record["equal_to_output"] = record["checksum"] == scene.checksum_output
            if _may_stand_for_output(scene, record):
                scene.again = output.clone()
    except Exception as error:
        record["error"] = _error_text(error)
    record["ms"] = round((time.monotonic() - begin) * 1000, 3)
    return record


def _may_stand_for_output(scene, record):
    """Where the output is gone, one as bad from the same bits is the best there is; a checksum may refute it."""
    lost = scene.saved is None and scene.again is None and scene.error is None
    return lost and record["how"] == "same" and not record["finite"] and record["equal_to_output"] is not False


@contextlib.contextmanager
def _scene_of(call, how):
    """No gradient, what was set around the call, its stream or a new one, and every generator of random numbers as it was
    before."""
    torch = _torch()
    kept = random.getstate()
    devices = [call.device] if call.device.type == "cuda" else []
    stream = None
    if devices:
        stream = torch.cuda.Stream(call.device) if how == "stream" else call.stream
        torch.cuda.synchronize(call.device)
    try:
        around = _as_around(call, how)
        with torch.no_grad(), around, torch.random.fork_rng(devices=devices), torch.cuda.stream(stream):
            yield
            if devices:
                torch.cuda.synchronize(call.device)
    finally:
        random.setstate(kept)


def _restore(scene):
    """A function that returns a buffer of its own has overwritten, in the retries, what the training is to get."""
    if scene.output is not None and scene.saved is not None and not _same_bits(scene.saved, scene.output):
        scene.output.copy_(scene.saved)


# ---------------------------------------------------------------------------------------------------------------------
# Sidecar


def _sidecar(scene, retries, skipped, damage):
    call = scene.call
    options = call.spot.options
    identity = call.spot.identity()
    arguments = _bound(call.spot.function, call.args, call.kwargs)
    home = _asked(lambda: _published_as(call.spot.function, identity))
    variant, source = _named_variant(home or identity["module"], identity["qualname"], arguments)
    count, first = damage if damage is not None else (None, None)
    top = {"schema": SCHEMA}
    if options["variant"] or (variant and source and home):
        top["variant"] = options["variant"] or variant
        top["variant_from"] = "the user" if options["variant"] else source
    elif variant:
        top["named_like"] = variant
    precision = options["precision"] or _known_precision(identity, call)
    if precision and ("variant" in top or options["precision"]):
        top["precision"] = precision
    if isinstance(call.step, int):
        top["step"] = call.step
    top["optimizer_step"] = call.optimizer_step
    epsilon = _epsilon(call)
    if epsilon is not None:
        top["epsilon"] = epsilon
    if options["nothing_else"]:
        top["nothing_else"] = True
    output = None if scene.saved is None else scene.saved
    state, state_of = _state(call)
    top.update(
        {
            "reason": scene.reason,
            "mode": _settings.mode,
            "raised": bool(_settings.raises) and scene.reason == "a non-finite output",
            "exception": None if scene.error is None else _error_text(scene.error),
            "function": {"name": call.spot.name, **identity},
            "call": {
                "index": call.index,
                "wall_ns": call.wall_ns,
                "monotonic_ns": call.monotonic_ns,
                "stream": _stream_id(call.stream),
                "arguments": _simple_of(arguments),
                "other_tensors": call.other_tensors,
                "ranks": _ranks_of(call),
                "keeps": scene.kept,
                "random": scene.random,
            },
            "input": {
                "dtype": str(call.dtype),
                "shape": list(call.shape),
                "stride": list(call.stride),
                "data_ptr": hex(call.data_ptr),
                "checksum_before": scene.checksum_before,
                "checksum_after": scene.checksum_after,
                "changed": _changed(scene),
                "from": scene.input_from,
                "missing": scene.missing if scene.input is None else None,
                "rebuilt": scene.rebuilt,
            },
            "output": {
                "from": scene.output_from if output is not None else None,
                "dtype": None if output is None else str(output.dtype),
                "shape": None if output is None else list(output.shape),
                "part": call.output_part,
                "checksum": scene.checksum_output if output is None else checksum(output),
                "checksum_at_call": scene.checksum_output,
                "batch": [] if output is None or len(call.shape) < 3 or call.shape[0] > 64 else _checksums(output),
                "nonfinite": count,
                "first_nonfinite": first,
                "aliases_input": call.aliases,
                "in_place": call.in_place,
            },
            "retries": retries,
            "retries_skipped": skipped,
            "earlier_outputs": _earlier_outputs(call),
            "stale": _stale_places(call, output),
            "controls": [],
            "parameters": _parameters(call, scene.rebuilt),
            "state": state,
            "state_of": state_of,
            "weights_before": _weights_before(call),
            "environment": _environment_of(call),
            "limits": _limits(),
            "privacy": _settings.privacy,
            "ring": _ring(),
        }
    )
    if call.part is not None:
        top["part"] = call.part
    return top


def _changed(scene):
    if scene.checksum_before is None or scene.checksum_after is None:
        return None
    return scene.checksum_before != scene.checksum_after


def _stale_places(call, output):
    """Matrices of the output that have, bit for bit, the checksum of one of an earlier call of the same kind. Those
    without a finite value are alike, whoever made them."""
    if output is None or output.numel() == 0:
        return []
    whole = _plain_float(_own(output))
    finite = _torch().isfinite(whole).reshape(-1, *whole.shape[-2:]).any(-1).any(-1).tolist()
    own = [sums if some else None for sums, some in zip(_checksums(output), finite)]
    places = []
    for entry in _outputs_of(call):
        theirs = [_hex(pair) for pair in entry["sums"].tolist()]
        for matrix, sums in enumerate(own):
            places += [{"matrix": matrix, "call": entry["call"], "of": i} for i, s in enumerate(theirs) if s == sums]
    return places[:64]


def _parameters(call, rebuilt):
    """What the user named, else the parameters of watched optimizers whose matrix has this shape, at most 64."""
    named = call.spot.options["parameters"]
    if callable(named):
        named = named()
    if named is not None:
        return [_parameter_entry(place, item) for place, item in enumerate(named)][:64]
    found = []
    for optimizer in _optimizers():
        place = -1
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                place += 1
                if _has_shape(optimizer, parameter, call) and len(found) < 64:
                    found.append(_parameter_entry(place, (_name_of(parameter), parameter.shape)))
    return found


def _parameter_entry(place, item):
    if isinstance(item, str):
        return {"index": place, "name": item, "shape": None}
    name, shape = item
    return {"index": place, "name": name, "shape": list(getattr(shape, "shape", shape))}


def _shapes_of(optimizer, parameter):
    """Of a DTensor, and under Megatron's tensor parallelism, the function may have been given the whole, or this rank's part."""
    whole = list(parameter.shape[-2:])
    dimension, ranks = _split_of(optimizer, parameter)
    whole[dimension] *= ranks
    return {tuple(whole), tuple(parameter.shape[-2:]), tuple(_own(parameter).shape[-2:])}


def _split_of(optimizer, parameter):
    """Along which dimension Megatron has split it, and over how many ranks, as it notes on the parameter and its optimizer."""
    dimension = getattr(parameter, "partition_dim", None)
    groups = getattr(optimizer, "pg_collection", None)
    group = getattr(groups, "expt_tp" if getattr(parameter, "expert_tp", False) else "tp", None)
    return (0, 1) if group is None or dimension not in (0, 1) or parameter.dim() != 2 else (dimension, group.size())


def _turned(shapes):
    """With their transposes: some optimizers hand over a matrix with its longer side first."""
    return shapes | {shape[::-1] for shape in shapes}


def _has_shape(optimizer, parameter, call):
    return call.shape[-2:] in _shapes_of(optimizer, parameter)


def _of_shape(call):
    """(its optimizer, the parameter) of every one whose matrix, or its transpose, has the shape of the call; first
    those that need no transposing."""
    turned = []
    for optimizer in _optimizers():
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                if _has_shape(optimizer, parameter, call):
                    yield optimizer, parameter
                elif call.shape[-2:] in _turned(_shapes_of(optimizer, parameter)):
                    turned.append((optimizer, parameter))
    yield from turned


def _state(call):
    """(whether weight, gradient and moment are finite, of at most 64 parameters of this shape; of how many that is).

    After a step in observe a weight shows where the output was bad, even if the output is gone.
    """
    every = list(_of_shape(call))
    listed = [_state_entry(call, *one) for one in every[:64]]
    shards = any(_is_shard(parameter, optimizer) for optimizer, parameter in every)
    return listed, {"parameters": len(every), "listed": len(listed), "shards": shards, "transposes": True}


def _weights_before(call):
    """Of the weights that calls are made for, whether they were finite when the step of this one began; None where
    nobody looked."""
    looked, bad, shards = 0, [], False
    for optimizer, (step, marks, _) in list(_process.marks.items()):
        for reference, weight, *_ in marks.values() if step == call.optimizer_step else ():
            parameter = reference()
            looked += 1
            shards = shards or (parameter is not None and _is_shard(parameter, optimizer))
            if not _are_finite(weight):
                bad.append(_name_of(parameter))
    first = next((name for name in bad if name), None)
    return {"looked_at": looked, "bad": len(bad), "first": first, "shards": shards} if looked else None


def _state_entry(call, optimizer, parameter):
    moment = _moment_of(optimizer, parameter)
    if moment is not None and _lies_in(moment, call) and _was_written(call, _moment_in(optimizer, parameter)):
        moment = None
    weight = _own(parameter)
    count, first = (None, None) if not _watchable(weight) else (0, None) if _finite(weight) else _damage(weight)
    weight_before, gradient, state_before = _marks_of(call, optimizer, parameter)
    return {
        "parameter": _name_of(parameter),
        "weight_finite_before": weight_before,
        "weight_finite": None if count is None else count == 0,
        "weight_nonfinite": count,
        "weight_first_nonfinite": first,
        "grad_finite": gradient,
        "momentum_finite": None if moment is None else _asked(lambda: _finite(moment)),
        "state_finite_before": state_before,
    }


def _marks_of(call, optimizer, parameter):
    """Whether weight, gradient and state were finite when the step of the call began; None where nobody looked."""
    step, marks, _ = _process.marks.get(optimizer, (None, {}, None))
    reference, weight, gradient, state = marks.get(id(parameter), (None, None, None, None))
    if reference is None or step != call.optimizer_step or reference() is not parameter:
        return None, None, None
    finite = None if gradient is None else _are_finite(gradient)
    # Of a part that is said for this rank alone. To a whole gradient other ranks may have added theirs within the step.
    whole = parameter.grad is not None and not _is_shard(parameter, optimizer)
    if finite and whole and _world() > 1 and not _finite(_own(parameter.grad)):
        finite = None
    return _are_finite(weight), finite, None if state is None else all(map(_are_finite, state))


def _lies_in(tensor, call):
    """Whether what the function was given is this memory, or a part of it."""
    begin = tensor.data_ptr()
    return tensor.device == call.device and begin <= call.data_ptr < begin + _bytes_of(tensor)


def _was_written(call, value):
    """Whether `value`, in which the input of the call lay, was written to since."""
    return call.in_place or call.input_version is None or call.input_version not in _versions_of(value)


def _is_shard(value, optimizer=None):
    """Whether other ranks hold another part of it."""
    if not _is_dtensor(value):
        return _split_of(optimizer, value)[1] > 1
    sizes = value.device_mesh.mesh.shape
    return any(size > 1 and not placement.is_replicate() for size, placement in zip(sizes, value.placements))


def _limits():
    settings = _settings
    return {
        "every": settings.every,
        "from": settings.first,
        "until": settings.until,
        "calls": _process.calls,
        "looked_at": _process.looked,
        "max_dumps": settings.max_dumps,
        "per_minute": settings.per_minute,
        "max_bytes": settings.max_bytes,
        "min_free_bytes": settings.min_free_bytes,
        "suppressed": dict(list(_process.suppressed.items())),
        "unwatched": dict(list(_process.unwatched.items())),
    }


def _ring():
    """The last calls, oldest first: [index, step, name, shape, dtype, address, stream, wall ns, healthy]."""
    with _process.lock:
        calls = list(_process.ring)
    return [
        [
            call.index,
            call.step if isinstance(call.step, int) else None,
            call.spot.name,
            "x".join(map(str, call.shape)),
            str(call.dtype).replace("torch.", ""),
            hex(call.data_ptr),
            _stream_id(call.stream),
            call.wall_ns,
            call.healthy,
        ]
        for call in calls
    ]


def _json_value(value):
    """What JSON can hold: NaN and Inf as words, numbers beyond 64 bits and strangers as text."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value) if -(1 << 63) <= value < 1 << 64 else str(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(value)
    if isinstance(value, dict):
        return {str(key): _json_value(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, collections.deque)):
        return [_json_value(item) for item in value]
    return str(value)[:200]


def _json_bytes(sidecar):
    """At most 900 KB, as readers refuse sidecars of more than 1 MiB; what is long goes first."""
    for drop in (None, "ring", "parameters", "state", "earlier_outputs", "fingerprint"):
        if drop is not None:
            sidecar = {**sidecar, drop: [], "dropped": [*sidecar.get("dropped", []), drop]}
        data = json.dumps(_json_value(sidecar), allow_nan=False, indent=1).encode()
        if len(data) < 900_000:
            return data
    raise ValueError("the sidecar is too long")


# ---------------------------------------------------------------------------------------------------------------------
# Privacy


def _fingerprint(tensor):
    """Numbers that say how a tensor is, of each of at most 16 matrices: counts, norms, quantiles of singular values."""
    torch = _torch()
    matrices = tensor.reshape(-1, *tensor.shape[-2:])[:16]
    return [_fingerprint_of(matrix.to("cpu", torch.float64)) for matrix in matrices]


def _fingerprint_of(matrix):
    torch = _torch()
    finite = torch.isfinite(matrix)
    values = matrix[finite].abs()
    print_ = {
        "nan": int(torch.isnan(matrix).sum()),
        "inf": int((matrix == math.inf).sum()),
        "minus_inf": int((matrix == -math.inf).sum()),
        "zero": int((matrix == 0).sum()),
        "absmax": float(values.max()) if values.numel() else None,
        "absmin": float(values[values > 0].min()) if bool((values > 0).any()) else None,
        "frobenius": float(torch.linalg.vector_norm(values)),
        "singular_values": None,
    }
    if bool(finite.all()) and min(matrix.shape) <= 1024:
        quantiles = torch.linspace(0, 1, 11, dtype=torch.float64)
        singular = torch.linalg.svdvals(matrix)
        print_["singular_values"] = torch.quantile(singular, quantiles).tolist()
    return print_


def _rotated(payload):
    """Q X R with random orthogonal Q and R, both forgotten: the singular values stay, the contents do not.

    Rounded to the dtype again. Where something is not finite all of its matrix becomes NaN, as in any product.
    """
    torch = _torch()
    generator = torch.Generator().manual_seed(int.from_bytes(os.urandom(7), "little"))
    rows, columns = payload["input"].shape[-2:]
    left, right = _orthogonal(rows, generator), _orthogonal(columns, generator)
    turned = dict(payload)
    for name in ("input", "output"):
        tensor = payload.get(name)
        if tensor is not None and tuple(tensor.shape[-2:]) == (rows, columns):
            turned[name] = (left @ tensor.to("cpu", torch.float64) @ right).to(tensor.dtype)
        elif tensor is not None:
            del turned[name]
    return turned


def _orthogonal(size, generator):
    torch = _torch()
    q, r = torch.linalg.qr(torch.randn(size, size, dtype=torch.float64, generator=generator))
    return q * r.diagonal().sign()


# ---------------------------------------------------------------------------------------------------------------------
# Files


def _write_controls(scene):
    """The last healthy call of the same kind, once; returns the names of its files."""
    with _process.lock:
        found = _process.controls.pop(_kind(scene.call), None)
    if found is None or _settings.privacy == "fingerprint":
        return []
    call, tensor, output = found
    if _numbers_given(call) != _numbers_given(scene.call):
        return []  # such as other coefficients: another function, to whoever compares
    payload = {"input": tensor, "output": output, "rank": _rank(), "shape": tuple(tensor.shape)}
    payload.update({"dtype": str(tensor.dtype), "epsilon": _epsilon(call)})
    if _why_no_tensors(payload) is not None:
        return []
    if _settings.privacy == "rotate":
        payload = _rotated(payload)
    return [os.path.basename(_write_pair("nanscope_control", call.shape, payload, None))]


def _numbers_given(call):
    return repr(sorted(_simple_of(_bound(call.spot.function, call.args, call.kwargs)).items()))


def _temporary_path(kind):
    """A hidden name that no reader takes for a capture. Containers that share a disk may share process ids."""
    return os.path.join(_settings.directory, f".nanscope-{os.getpid()}-{os.urandom(8).hex()}.{kind}.tmp")


def _write_pair(lead, shape, payload, sidecar):
    """Writes STEM.json and then STEM.pt, both whole or not at all; returns the path of the last.

    Both are written under hidden names and synced first, so that a process killed at any moment leaves nothing torn
    under a name that is read. No file is ever overwritten: where a name exists, the time in it is a millisecond more.
    """
    os.makedirs(_settings.directory, exist_ok=True)
    written = {}
    try:
        if sidecar is not None:
            written["json"] = _write_temporary("json", lambda file: file.write(_json_bytes(sidecar)))
        if payload is not None:
            plain = {name: _on_cpu(v) if hasattr(v, "detach") else v for name, v in payload.items()}
            # Two calls with the same tensors are two captures: by its bytes a file is told from a copy of another.
            plain["nonce"] = os.urandom(8).hex()
            written["pt"] = _write_temporary("pt", lambda file: _torch().save(plain, file))
        size = sum(os.path.getsize(path) for path in written.values())
        path = _publish(lead, shape, written)
    finally:
        for temporary in written.values():
            with contextlib.suppress(OSError):
                os.unlink(temporary)
    with _process.lock:
        _process.bytes += size
    return path


def _write_temporary(kind, write):
    path = _temporary_path(kind)
    try:
        with open(path, "xb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(path)
        raise
    return path


def _publish(lead, shape, written):
    """Gives both files their names, the dump last."""
    start = f"{lead}_rank{_rank()}_shape{'x'.join(map(str, shape))}_pid{os.getpid()}_"
    stamp = time.time_ns() // 1_000_000
    while True:
        stem = os.path.join(_settings.directory, f"{start}{stamp}")
        taken = os.path.exists(stem + ".pt") or os.path.exists(stem + ".json")
        if not taken and _publish_as(stem, written):
            _sync_folder()
            return f"{stem}.{'pt' if 'pt' in written else 'json'}"
        stamp += 1


def _publish_as(stem, written):
    """False where somebody else has one of the names; then neither file is left there."""
    named = []
    for kind in ("json", "pt"):
        if kind not in written:
            continue
        path = f"{stem}.{kind}"
        if not _name(written[kind], path):
            for other in named:
                os.unlink(other)
            return False
        named.append(path)
    return True


def _name(temporary, path):
    """A second name for the file, which fails if it is taken. File systems without links rename under a lock file."""
    try:
        os.link(temporary, path)
        return True
    except FileExistsError:
        return False
    except OSError:
        pass
    lock = os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.lock")
    try:
        os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except FileExistsError:
        return False
    try:
        if os.path.exists(path):
            return False
        os.rename(temporary, path)
        return True
    finally:
        os.unlink(lock)


def _sync_folder():
    """So that the names survive a power cut, too, where folders can be synced."""
    with contextlib.suppress(OSError, AttributeError):
        descriptor = os.open(_settings.directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


# ---------------------------------------------------------------------------------------------------------------------
# What a user calls


def wrap(
    function,
    *,
    name=None,
    epsilon=None,
    nothing_else=False,
    parameters=None,
    control=True,
    variant=None,
    precision=None,
    rebuild=None,
    collective=None,
    found=False,
):
    """Returns a function with the same signature and the same result that is watched while capturing is on.

    function      its first tensor argument is the input X, [m, n] or [batch, m, n] of a floating-point dtype; other
                  calls pass through. It may return a new tensor, a view of X, a tuple that begins with a tensor, or
                  None where it works in place.
    name          for the sidecar; its qualified name otherwise
    epsilon       recorded where no argument `epsilon` or `eps` of the call, given or by default, says it
    nothing_else  True: nothing besides this function touches its input or its result (no mask, cast, decay, no call per
                  head or per rank of a part of it)
    parameters    names, or (name, shape) pairs, of what the matrices of a batch belong to; or a function returning them
    control       False: no healthy call is kept
    variant       Nanscope's name of what runs (`nanscope sweep --help`); functions in KNOWN have theirs
    precision     fp64, fp32, tf32, bf16, fp16 or fp16-acc16: the format it computes in, if not the variant's own
    rebuild       hook(optimizer, {"shape", "dtype", "step", "index"}) that yields tensors, or (tensor, description)
                  pairs, of which one may be the input of that call; only one that fits the checksum is taken
    collective    True: the function talks to other ranks, so that a retry by one of them would hang; one that is given a
                  process group or a mesh is known to. False: it does not, though its code names what does
    found         True: install() says so of a function that has the name of a known one. Calls with other tensors than a
                  matrix are left alone, and none is made again unless its text is a published one or that of an
                  installed package

    While on, raises NonFiniteOutput where raising is asked for; in observe end_step() does. An exception of the
    function passes through unchanged. Inside torch.compile, and inside another watched function, it only calls through.
    """
    options = {"name": name, "epsilon": epsilon, "nothing_else": nothing_else, "parameters": parameters}
    options.update({"control": control, "variant": variant, "precision": precision, "rebuild": rebuild})
    options.update({"collective": collective, "found": found})
    spot = _Spot(function, options)

    @functools.wraps(function)
    def watched(*args, **kwargs):
        if not _on:
            return function(*args, **kwargs)
        import torch

        if torch.compiler.is_compiling():
            return function(*args, **kwargs)
        return _watched(spot, args, kwargs)

    watched.nanscope_capture = True
    return watched


class patched(contextlib.ContextDecorator):
    """Watches MODULE:ATTRIBUTE, and every module that holds the same function by a name, inside a `with` block.

    The attribute may be dotted ("GramNewtonSchulz.__call__"). Options are those of wrap(). ImportError and
    AttributeError are raised where there is no such thing.
    """

    def __init__(self, target, **options):
        self.target = target
        self.options = options
        self.replaced = []

    def __enter__(self):
        module_name, _, attribute = self.target.partition(":")
        holder = importlib.import_module(module_name)
        *path, last = attribute.split(".")
        for part in path:
            holder = getattr(holder, part)
        return self._watch(holder, last)

    def _watch(self, holder, name):
        original = getattr(holder, name)
        if getattr(original, "nanscope_capture", False):
            return original  # watched already
        before = vars(holder).get(name, _INHERITED)
        # Of a class getattr gives the function: put back as such, it would be given the object as its matrix.
        found = inspect.getattr_static(holder, name, original)
        kind = type(found) if isinstance(found, (staticmethod, classmethod)) else None
        wrapped = wrap(original if kind is None else found.__func__, **self.options)
        self._replace(holder, name, before, wrapped if kind is None else kind(wrapped))
        if inspect.ismodule(holder):
            self._replace_elsewhere(original, wrapped)
        return wrapped

    def _replace(self, holder, name, before, wrapped):
        setattr(holder, name, wrapped)
        self.replaced.append((holder, name, before, wrapped))

    def _replace_elsewhere(self, original, wrapped):
        """Modules that took the function with `from ... import` hold it under a name of their own."""
        for module in list(sys.modules.values()):
            fields = getattr(module, "__dict__", None)
            if not isinstance(fields, dict):
                continue
            for name, value in list(fields.items()):
                if value is original:
                    self._replace(module, name, original, wrapped)

    def __exit__(self, *_):
        while self.replaced:
            holder, name, before, wrapped = self.replaced.pop()
            # Somebody may have replaced it since, and is right to keep what they put there.
            if vars(holder).get(name) is not wrapped:
                continue
            if before is _INHERITED:
                delattr(holder, name)
            else:
                setattr(holder, name, before)
        return False


_INHERITED = object()  # what a class has of the name itself, where it has it of its base


def install(on=None):
    """Watches every function of KNOWN, and ends a step after each optimizer's step(). Before the first step of a kind of
    optimizer, copies that have the name of one are looked for.

    Nothing is imported for it: what is imported already is watched at once, the rest as soon as somebody imports it, so
    that it may stand in a sitecustomize.py. Returns "module:attribute" of what is watched at once, and raises nothing.
    Functions that an optimizer object holds already keep running unwatched. `on=True` switches capturing on.
    """
    if on is not None:
        configure(on=on)
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
    for module in dict.fromkeys([entry[0] for entry in KNOWN] + [OPTIMIZER]):
        if module in sys.modules:
            _install_in(module)
    return [patch.target for patch in _installed]


OPTIMIZER = "torch.optim.optimizer"


def _install_in(module):
    """Watches what KNOWN has of a module that is imported. Other versions of it may not have all of that."""
    for home, attribute, *_ in KNOWN:
        target = f"{home}:{attribute}"
        if home != module or any(patch.target == target for patch in _installed):
            continue
        patch = patched(target)
        with contextlib.suppress(AttributeError, ImportError):
            patch.__enter__()
            _installed.append(patch)
    if module == OPTIMIZER and not any(kind == "install" for kind, _ in _hooks):
        with contextlib.suppress(AttributeError):
            before = functools.partial(_before_step, _EVERY_OPTIMIZER)
            _hooks.append(("install", sys.modules[module].register_optimizer_step_pre_hook(before)))
            _hooks.append(("install", sys.modules[module].register_optimizer_step_post_hook(_after_step)))


class _Finder:
    """Sees modules of KNOWN when they are imported, and leaves finding and running them to whoever does it."""

    def __init__(self):
        self.names = {entry[0] for entry in KNOWN} | {OPTIMIZER}

    def find_spec(self, name, path=None, target=None):
        if name not in self.names:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find is not None and not isinstance(finder, _Finder) else None
            if spec is not None:
                return self._followed(spec)
        return None

    def _followed(self, spec):
        loader = spec.loader
        run = getattr(loader, "exec_module", None)
        if run is None:
            return spec

        def run_and_watch(module):
            run(module)
            _install_in(spec.name)

        with contextlib.suppress(AttributeError):  # a loader that takes no attributes
            loader.exec_module = run_and_watch
        return spec


_EVERY_OPTIMIZER = object()  # the hook that install() has on all of them


def _is_held(function, optimizer):
    """A checkpoint saves what an optimizer holds, functions by their names, under which another would be found."""
    held = (vars(optimizer), optimizer.defaults, *optimizer.param_groups)
    return any(item is function for fields in held for item in fields.values())


def _calls_another(function):
    """That one is what iterates, and tells more."""
    return any(name in _NAMES or _LIKE.fullmatch(name) for name in function.__code__.co_names)


def _find_copies(optimizer):
    """Watches, before the first step of a kind of optimizer, functions that have the name of one in KNOWN: in the modules
    of the user and of the packages that the optimizer is of, and static methods of its classes. Most who train have a copy
    in a file of a name of their own. What comes with other tensors than a matrix is left alone."""
    kinds = type(optimizer).__mro__
    if kinds[0] in _process.searched:
        return
    _process.searched.add(kinds[0])
    homes, known = {_home(kind) for kind in kinds} - {"torch"}, {entry[0] for entry in KNOWN}
    places = [(f"{kind.__module__}:{kind.__qualname__}.", kind) for kind in kinds if _home(kind) in homes]
    for name, module in list(sys.modules.items()):
        home = name.partition(".")[0]
        if name not in known and inspect.ismodule(module) and (home in homes or _is_users(home)):
            places.append((name + ":", module))
    found = []
    for place, holder in places:
        for name, value in list(vars(holder).items()):
            if not (name in _NAMES or _LIKE.fullmatch(name)):
                continue
            function = value if inspect.ismodule(holder) else getattr(value, "__func__", None)
            if not inspect.isfunction(function) or isinstance(value, classmethod) or hasattr(function, "nanscope_capture"):
                continue
            if _is_held(function, optimizer) or _calls_another(function):
                continue
            patch = patched(place + name, found=True)
            patch._watch(holder, name)
            _installed.append(patch)
            found.append(patch.target)
    if found:
        _say(f"{_tag()} watches {', '.join(found)}, too, which {'has' if len(found) == 1 else 'have'} the name of a known function")


def uninstall():
    """Takes back what install() and watch() did."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _Finder)]
    while _installed:
        _installed.pop().__exit__()
    while _hooks:
        _hooks.pop()[1].remove()


def _before_step(hook, optimizer, given=(), named=None):
    """Calls from here on belong to the step that this optimizer takes now."""
    process = _process
    process.outermost.begin(hook, optimizer, sys._getframe(1))
    process.stepping = optimizer
    if _on and hook is _EVERY_OPTIMIZER:
        _asked(lambda: _find_copies(optimizer))
    if _on:
        _guarded(_mark, hook, optimizer, any(map(_may_make_gradients, (*given[1:], *(named or {}).values()))))
    if optimizer not in process.taken:
        process.taken[optimizer] = _asked(lambda: _steps_taken(optimizer))
    if not process.told:
        process.step = process.taken[optimizer]


def _may_make_gradients(argument):
    """Of step(): a closure, several of them, or a loss that it goes backward from."""
    several = argument if isinstance(argument, (list, tuple)) else [argument]
    return any(callable(one) or isinstance(one, _torch().Tensor) for one in several)


def _mark(hook, optimizer, closure):
    """Leaves on the device whether the weights that calls are made for, their gradients and what the optimizer keeps of
    them are finite before the step: after it, a weight that a call spoilt looks as one does that was bad already, and many
    optimizers make their update in the gradient, which torch does not count of DTensors and of what other ranks send.
    Before the first call any matrix may be one of them. A closure makes other gradients."""
    step, shapes = _process.outermost.running, _process.shapes
    if not shapes and _process.steps >= WITHOUT_CALL:
        return  # nothing that is watched runs
    before = _process.marks.get(optimizer)
    if before is not None and before[0] == step and before[2] is not hook:
        return  # install() and watch() both have a hook on it; its own that comes again is of another step() within that one
    marks, elsewhere = {}, _asked(lambda: _keeps_elsewhere(optimizer)) is not False
    every = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    # What is not used may hold anything, and spoils nothing. Without any gradient they are kept or made somewhere else.
    used = [parameter for parameter in every if parameter.grad is not None]
    for parameter in every if closure or not used else used:
        wanted = parameter.dim() > 1 and (not shapes or not shapes.isdisjoint(_turned(_shapes_of(optimizer, parameter))))
        weight = _ends_of(parameter) if wanted else None
        if weight is not None:
            gradient = None if closure else _ends_of(parameter.grad)
            state = None if elsewhere else _state_before(optimizer, parameter)
            marks[id(parameter)] = (weakref.ref(parameter), weight, gradient, state)
    _process.marks[optimizer] = (step, marks, hook)


def _ends_of(value):
    """The smallest and the largest value, on the device: not finite where one value is not. None of what has none."""
    own = None if value is None else _own(value)
    if own is None or not own.numel() or not _watchable(own) or _capturing_graph(own.device):
        return None
    return _torch().aminmax(_plain_float(own))


def _state_before(optimizer, parameter):
    """See _ends_of_state(). What an optimizer keeps may be of kinds that raise when they are asked."""
    try:
        return _ends_of_state(optimizer.state.get(parameter), _own(parameter).shape)
    except Exception:
        return None


def _ends_of_state(state, shape):
    """Of each tensor of floats in it. None where it holds something of which nobody can say whether it is finite, or no
    matrix of the shape: the momentum of that parameter is kept somewhere else, or not made yet."""
    torch, every, matrix = _torch(), [], False
    for value in state.values() if isinstance(state, dict) else ():
        if isinstance(value, torch.Tensor):
            ends = _ends_kept(value)
            matrix = matrix or _own(value).shape == shape
        else:
            ends = () if _simple(value) and _is_settled(value) else None
        if ends is None:
            return None
        every.append(ends)
    return every if matrix else None


def _ends_kept(tensor):
    """As _ends_of(); nothing of what is no float, and None where that may be floats that were packed."""
    torch, count = _torch(), tensor.numel()
    if not tensor.is_floating_point() or not count:
        return None if count > 1 or tensor.is_complex() else ()
    if count == 1 and type(tensor) is torch.Tensor and tensor.is_cpu and not torch.compiler.is_compiling():
        return (tensor.item(),)  # a count of steps
    return _ends_of(tensor)


def _is_settled(value):
    """Of what _simple() knows; inf and NaN may be meant, as in the best loss before the first."""
    if isinstance(value, (tuple, list)):
        return all(map(_is_settled, value))
    return not isinstance(value, float) or math.isfinite(value)


def _keeps_elsewhere(optimizer):
    """Whether it has matrices of floats besides its state of each parameter, in its groups or in attributes: a momentum may
    be among them."""
    tensors, weights = _torch().Tensor, set()
    fields = [value for name, value in vars(optimizer).items() if name not in ("state", "param_groups", "defaults")]
    for group in optimizer.param_groups:
        weights.update(map(id, group["params"]))
        fields += [value for name, value in group.items() if name != "params"]
    fields += [value for key, value in optimizer.state.items() if not isinstance(key, tensors)]
    return any(_holds_floats(value, weights, 3) for value in fields)


def _holds_floats(value, besides, depth):
    if isinstance(value, _torch().Tensor):
        return id(value) not in besides and value.is_floating_point() and value.numel() > 1
    if depth == 0 or not isinstance(value, (dict, list, tuple)):
        return False
    return any(_holds_floats(one, besides, depth - 1) for one in (value.values() if isinstance(value, dict) else value))


def _are_finite(ends):
    return all(math.isfinite(float(end)) for end in ends)


def _steps_taken(optimizer):
    """How many steps it took before this process: by its state, which counts them in some optimizers, or by its groups,
    where dion's count, which have their state from the beginning; else 0 where it has no state but flags, as Moonlight's
    notes there of each matrix that it is Muon's, and zeros, which moments begin with. None, not known, where the state of
    a run that goes on has no count."""
    states = list(optimizer.state.values())
    for counting in (states, optimizer.param_groups):
        counts = [_number(each["step"]) for each in counting if isinstance(each, dict) and "step" in each]
        if counts and None not in counts:
            return int(max(counts))
    return 0 if all(isinstance(each, dict) and all(map(_is_as_made, each.values())) for each in states) else None


def _is_as_made(value):
    """Whether no step has changed it: a flag, or zeros."""
    if isinstance(value, (bool, str)):
        return True
    return isinstance(value, _torch().Tensor) and _watchable(_own(value)) and not bool(_own(value).any())


def _after_step(optimizer, *_):
    _process.outermost.end(sys._getframe(1))
    if _process.stepping is not optimizer:
        return  # install() and watch() both have a hook on it
    _process.stepping = None
    try:
        if _on:
            _note_optimizer(optimizer)
            _finish_step(None, optimizer)
    finally:
        _count_step(optimizer)


def _count_step(optimizer):
    process = _process
    process.steps += 1
    if _on and process.steps == WITHOUT_CALL and not process.calls:
        _say(f"{_tag()} {_nothing_watched()}")
    next_one = process.taken.get(optimizer)
    if next_one is not None:
        process.taken[optimizer] = next_one + 1
    if not process.told:
        process.step = process.taken.get(optimizer)


def _name_of(parameter):
    reference, name = _names.get(id(parameter), (None, None))
    return name if reference is not None and reference() is parameter else None


def _note_optimizer(optimizer):
    if all(reference() is not optimizer for reference in _process.optimizers):
        _process.optimizers.append(weakref.ref(optimizer))


def watch(optimizer, model=None, step=None):
    """Ends a step after each optimizer.step(), so that observe asks the device once; `model` gives parameters names.

    step   the number of the step that comes next, where a run goes on from a checkpoint

    The optimizer's state is what inputs are rebuilt from, and its weights, gradients and moments are looked at after a
    failure. Returns the optimizer. Steps are counted from `step`, else from the number in the optimizer's state (Adam's) or groups
    (dion's), else from 0; of a loaded state without a number none is written. end_step() and begin_step() know better.
    """
    for name, parameter in model.named_parameters() if model is not None else ():
        _names[id(parameter)] = (weakref.ref(parameter), name)
    _note_optimizer(optimizer)
    if step is not None:
        _process.taken[optimizer] = step
    _hooks.append(("watch", optimizer.register_step_pre_hook(functools.partial(_before_step, object()))))
    _hooks.append(("watch", optimizer.register_step_post_hook(_after_step)))
    return optimizer


def begin_step(step):
    """Says which step the next calls belong to, where no optimizer is watched: once before the first is enough, as
    end_step(step) says it of the others."""
    _process.step, _process.told = step, True


def end_step(step=None, optimizer=None):
    """Ends an optimizer step: the one place where observe waits for the device.

    step       the number of the step that ends here, for sidecars; counted where it is left out
    optimizer  whose state the inputs of bad calls may be rebuilt from, while its gradients are still there

    Raises NonFiniteOutput where raising is asked for and a call of this step was bad.
    """
    if not _on:
        return
    try:
        _finish_step(step, optimizer)
    finally:
        if step is not None:
            begin_step(step + 1)
        elif _process.told and _process.step is not None:
            _process.step += 1


def _recording():
    """Whether a step is just recorded into a CUDA graph: to wait for the device would break the graph."""
    return any(_capturing_graph(device) for device in list(_process.totals))


def _forget_kept():
    called, _process.called = _process.called, []
    for spot in called:
        spot.known = spot.called = False


def _finish_step(step, optimizer):
    process = _process
    process.ended = True
    message = None
    if (process.pending or process.graphs) and not _guarded(_recording):
        message = _guarded(_end_step, step, optimizer)
    _guarded(_forget_kept)
    if message and _settings.raises and _settings.mode == "observe":
        raise NonFiniteOutput(message)


def configure(**settings):
    """Says in code what the environment can say; a name of FIELDS each, `on=True` to switch capturing on.

    Raises TypeError for a name that is not there and ValueError for a value that is not understood; then nothing is
    changed. Counters of sampling go on.
    """
    global _on
    values = {}
    for name, value in settings.items():
        if name not in FIELDS:
            raise TypeError(f"{name!r} is not one of {', '.join(FIELDS)}")
        try:
            values[name] = value if value is None else FIELDS[name][1](str(value))
        except (KeyError, ValueError):
            raise ValueError(f"{name}={value!r} is not understood") from None
    for name, value in values.items():
        setattr(_settings, name, value)
    for problem in _repair_window(_settings):
        _say(f"{_tag()} {problem}")
    _on = _settings.on
    if _on:
        _process.stopped = None


def summary():
    """One line: what was looked at, what was not and what would look at it, what was bad and what was not written."""
    process, settings = _process, _settings
    skipped = process.calls - process.looked
    parts = [f"looked at {process.looked} of {process.calls} calls"]
    if skipped:
        parts.append(f"{skipped} not looked at{_which_calls()}")
    if len(process.pending):
        parts.append(f"{len(process.pending)} verdicts not read, as no step ended after them")
    for reason, count in process.unwatched.items():
        parts.append(f"{count} with {reason}")
    if process.failures:
        parts.append(f"{process.failures} bad, the first at call {process.first_bad}")
        parts.extend(_narrower())
    for reason, count in process.suppressed.items():
        parts.append(f"{count} not written: {reason}")
    if process.stopped:
        parts.append(f"stopped: {process.stopped}")
    return f"{_tag()} {'; '.join(parts)}"


def _which_calls():
    """The settings that left calls out, as a user would change them."""
    settings = _settings
    reasons = []
    if settings.every > 1:
        reasons.append(f"NANSCOPE_CAPTURE_EVERY={settings.every}, 1 looks at all")
    if settings.first:
        reasons.append(f"0..{settings.first - 1} before NANSCOPE_CAPTURE_FROM={settings.first}")
    if settings.until is not None and _process.calls > settings.until:
        reasons.append(f"{settings.until}..{_process.calls - 1} after NANSCOPE_CAPTURE_UNTIL={settings.until}")
    return f" ({'; '.join(reasons)})" if reasons else ""


def _narrower():
    """The window for the next run: after the last healthy call that was looked at, up to the first bad one."""
    process, settings = _process, _settings
    if settings.every == 1 or process.first_bad is None:
        return []
    begin = 0 if process.last_good is None else process.last_good + 1
    window = f"NANSCOPE_CAPTURE_EVERY=1 NANSCOPE_CAPTURE_FROM={begin} NANSCOPE_CAPTURE_UNTIL={process.first_bad + 1}"
    return [f"the next run can look closer with {window}"]


def _nothing_watched():
    """Who switched it on and gets no capture would take the run for a healthy one."""
    return (
        f"no call was seen in {_process.steps} optimizer steps: no function that is watched ran, or it ran as a part of "
        "something compiled, which TORCH_COMPILE_DISABLE=1 runs as it is written; wrap() and patched() watch others"
    )


def _at_exit():
    """Reads what nobody asked for, and says what was not looked at; silent where there is nothing to say."""
    if _process.pid != os.getpid():
        return
    if _process.calls == 0:
        if _on and _process.steps:
            _say(f"{_tag()} {_nothing_watched()}")
        return
    if _on and _process.pending:
        if not _process.ended:
            _warn_unended("while it ran")
        _guarded(_end_step, None, None)
    process = _process
    if process.calls > process.looked or process.failures or process.unwatched or process.stopped:
        _say(summary())


atexit.register(_at_exit)
for _problem in _problems:
    _say(f"{_tag()} {_problem}")


def _main():
    """python nanscope_capture.py TRAINER.py [arguments]: the trainer with everything installed."""
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        return
    if not os.path.exists(sys.argv[1]):
        sys.exit(f"nanscope_capture.py TRAINER.py [arguments]: there is no {sys.argv[1]}")
    here = os.path.dirname(os.path.abspath(__file__))
    sys.argv = sys.argv[1:]
    # The trainer may import this file, too: both have to be one module.
    sys.modules["nanscope_capture"] = sys.modules["nanscope.capture"] = sys.modules["__main__"]
    if here in sys.path:
        sys.path.remove(here)
    sys.path.insert(0, os.path.dirname(os.path.abspath(sys.argv[0])))
    install(on=_settings.on if os.environ.get("NANSCOPE_CAPTURE") else True)
    # What the trainer imports is watched when it is.
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    _main()
