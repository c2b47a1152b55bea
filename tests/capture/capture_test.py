# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""resources/python/nanscope_capture.py, with the torch that is there, on the CPU and, where there is one, on a GPU.

    python tests/capture/capture_test.py
"""

import base64
import contextlib
import errno
import functools
import hashlib
import importlib
import io
import json
import math
import multiprocessing
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest
from pathlib import Path
from unittest import mock

import torch
import torch.distributed as dist

HELPER = Path(__file__).resolve().parents[2] / "resources" / "python" / "nanscope_capture.py"
sys.path.insert(0, str(HELPER.parent))

import muon  # noqa: E402
import nanscope_capture as capture  # noqa: E402

# A process that forks must have no threads of OpenMP yet.
torch.set_num_threads(1)

FORK = multiprocessing.get_context("fork")
NAN = float("nan")
NAME = re.compile(r"dion_nan_capture_rank(\d+)_shape(\d+(?:x\d+)*)_pid(\d+)_(\d+)\.pt")
TORCHS = "torch.optim._muon"
needs_torchs_muon = unittest.skipUnless(TORCHS in sys.modules, f"torch {torch.__version__} has no torch.optim.Muon")
needs_precisions_of_backends = unittest.skipUnless(
    None not in capture._products(), f"torch {torch.__version__} has one precision of fp32 products for all backends"
)


def newton_schulz(X, epsilon=1e-7):
    """Muon's iteration on matrices or batches of them, in bf16."""
    Y = X.bfloat16()
    tall = Y.shape[-2] > Y.shape[-1]
    Y = Y.mT if tall else Y
    Y = Y / (Y.norm(dim=(-2, -1), keepdim=True) + epsilon)
    for _ in range(5):
        A = Y @ Y.mT
        Y = 3.4445 * Y + (-4.7750 * A + 2.0315 * (A @ A)) @ Y
    return Y.mT if tall else Y


def broken(X, epsilon=1e-7):
    """One tile of NaN, always."""
    Y = newton_schulz(X, epsilon)
    Y[..., 2:4, 5:8] = NAN
    return Y


def as_installed(folder):
    """This folder's muon.py as pip installs KellerJordan's; returns where."""
    info = folder / "muon_optimizer-0.1.0.dist-info"
    info.mkdir(parents=True)
    shutil.copy(muon.__file__, folder)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: muon-optimizer\nVersion: 0.1.0\n")
    data = Path(muon.__file__).read_bytes()
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
    (info / "RECORD").write_text(f"muon.py,sha256={digest},{len(data)}\n")
    return folder


def published():
    """As if this folder's muon.py were what KellerJordan published."""
    return mock.patch.object(capture, "PUBLISHED", {capture._text_hash(muon.zeropower_via_newtonschulz5): "muon"})


def draw(*shape, dtype=torch.float32, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def bits(tensor):
    return tensor.detach().contiguous().view(torch.uint8).flatten().tolist()


class Case(unittest.TestCase):
    records = False  # of the run; the folders of most tests hold captures alone, in forked processes, too
    finds = False  # copies by their names: this file has a newton_schulz itself

    def setUp(self):
        if not self.records:
            self.enterContext(mock.patch.object(capture, "_record_run_once"))
        if not self.finds:
            self.enterContext(mock.patch.object(capture, "_find_copies", lambda _: None))
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.text = self.enterContext(contextlib.redirect_stderr(io.StringIO()))
        self.addCleanup(self.forget)
        self.forget()

    def enterContext(self, context):  # unittest has it since Python 3.11
        result = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        return result

    def forget(self):
        capture.uninstall()
        capture._process = capture._Process()
        capture._settings, _ = capture._settings_of({})
        capture._on = False

    def on(self, mode="strict", **settings):
        settings.setdefault("min_free_bytes", 0)
        capture.configure(on=True, mode=mode, directory=self.folder, **settings)

    def dumps(self):
        return sorted(path for path in self.folder.iterdir() if NAME.fullmatch(path.name))

    def sidecars(self):
        return [json.loads(path.with_suffix(".json").read_text()) for path in self.dumps()]

    def only(self):
        """The one dump there is, and its sidecar."""
        (path,) = self.dumps()
        return torch.load(path, weights_only=True), json.loads(path.with_suffix(".json").read_text())


class Off(Case):
    def test_nothing_is_done(self):
        watched = capture.wrap(broken)
        X = draw(8, 12)
        with mock.patch.object(capture, "_watched", side_effect=AssertionError("looked")):
            self.assertEqual(bits(watched(X)), bits(broken(X)))
        self.assertEqual(list(self.folder.iterdir()), [])
        self.assertEqual(capture._process.calls, 0)

    def test_it_costs_one_branch(self):
        """Only the flag is asked before the function is called: the byte code up to the first call shows it."""
        import dis

        names = []
        for step in dis.get_instructions(capture.wrap(newton_schulz)):
            if step.opname.startswith("LOAD_GLOBAL"):
                names.append(step.argval)
            if step.opname.startswith("RETURN"):
                break
        self.assertEqual(names, ["_on"])

    def test_signature_and_name_stay(self):
        watched = capture.wrap(newton_schulz)
        self.assertEqual(watched.__name__, "newton_schulz")
        self.assertEqual(str(capture.inspect.signature(watched)), "(X, epsilon=1e-07)")


class Settings(Case):
    def test_variables(self):
        settings, problems = capture._settings_of(
            {"NANSCOPE_CAPTURE": "1", "NANSCOPE_CAPTURE_MODE": "strict", "NANSCOPE_CAPTURE_EVERY": "10"}
        )
        self.assertEqual(problems, [])
        self.assertTrue(settings.on)
        self.assertEqual((settings.mode, settings.every, settings.raises), ("strict", 10, False))
        self.assertEqual(settings.directory, "./nanscope_captures")

    def test_variables_of_dion_mean_strict(self):
        settings, _ = capture._settings_of({"DION_NAN_CAPTURE": "TRUE"})
        self.assertEqual((settings.on, settings.mode, settings.raises), (True, "strict", True))
        self.assertEqual(settings.directory, "./dion_nan_captures")
        settings, _ = capture._settings_of({"DION_NAN_CAPTURE": "yes"})
        self.assertFalse(settings.on)
        settings, _ = capture._settings_of(
            {"DION_NAN_CAPTURE": "1", "DION_NAN_CAPTURE_DIR": "/x", "DION_NAN_CAPTURE_RAISE": "False"}
        )
        self.assertEqual((settings.directory, settings.raises), ("/x", False))

    def test_nonsense_is_said_and_not_taken(self):
        settings, problems = capture._settings_of({"NANSCOPE_CAPTURE": "1", "NANSCOPE_CAPTURE_EVERY": "often"})
        self.assertEqual(settings.every, 1)
        self.assertIn("NANSCOPE_CAPTURE_EVERY='often' is not understood", problems[0])

    def test_empty_window_is_said_and_reset(self):
        settings, problems = capture._settings_of({"NANSCOPE_CAPTURE_FROM": "9", "NANSCOPE_CAPTURE_UNTIL": "9"})
        self.assertEqual((settings.first, settings.until), (0, None))
        self.assertIn("empty", problems[0])

    def test_configure_refuses_what_it_does_not_know(self):
        with self.assertRaises(TypeError):
            capture.configure(on=True, evry=3)
        with self.assertRaises(ValueError):
            capture.configure(on=True, mode="loud")
        self.assertFalse(capture._on)

    def as_a_whole(self, takes, variant):
        """A process of its own, whose optimizer knows nothing, run by the helper."""
        script = self.folder / "train.py"
        script.write_text(
            f"import sys, torch\n{takes} import Muon\n"
            "assert sys.argv[1:] == ['--lr', '1']\n"
            "p = torch.nn.Parameter(torch.ones(4, 6)); p.grad = torch.full((4, 6), float('inf'))\n"
            "Muon([p]).step()\n"
            "print('went on')\n"
        )
        environment = {**os.environ, "NANSCOPE_CAPTURE_DIR": str(self.folder), "NANSCOPE_CAPTURE_MIN_FREE_BYTES": "0"}
        ran = subprocess.run(
            [sys.executable, HELPER, script, "--lr", "1"], capture_output=True, text=True, env=environment, timeout=120
        )
        self.assertEqual((ran.returncode, ran.stdout), (0, "went on\n"), ran.stderr)
        self.assertIn("[nanscope capture] non-finite Newton-Schulz output on rank 0, shape (4, 6); dumped", ran.stderr)
        self.assertEqual(self.only()[1]["variant"], variant)

    def run_by_helper(self, *arguments, **environment):
        return subprocess.run(
            [sys.executable, HELPER, *arguments],
            capture_output=True,
            text=True,
            env={**os.environ, "NANSCOPE_CAPTURE_DIR": str(self.folder / "dumps"), **environment},
            timeout=120,
        )

    def test_switched_off_in_the_environment_as_a_whole(self):
        script = self.folder / "train.py"
        script.write_text("import nanscope_capture\nprint(nanscope_capture._on)\n")
        for environment, on in [({}, True), ({"NANSCOPE_CAPTURE": "1"}, True), ({"NANSCOPE_CAPTURE": "0"}, False)]:
            with self.subTest(environment):
                ran = self.run_by_helper(script, **environment)
                self.assertEqual((ran.returncode, ran.stdout), (0, f"{on}\n"), ran.stderr)

    def test_help_and_a_trainer_that_is_not_there(self):
        for option in ("-h", "--help"):
            ran = self.run_by_helper(option)
            self.assertEqual((ran.returncode, ran.stdout.strip()), (0, capture.__doc__.strip()), ran.stderr)
        ran = self.run_by_helper("nowhere.py")
        self.assertEqual((ran.returncode, ran.stdout), (1, ""))
        self.assertEqual(ran.stderr, "nanscope_capture.py TRAINER.py [arguments]: there is no nowhere.py\n")

    def test_from_the_environment_as_a_whole(self):
        place = as_installed(self.folder / "site-packages")
        with mock.patch.dict(os.environ, {"PYTHONPATH": str(place)}):
            self.as_a_whole("from muon", "keller-jordan")

    @needs_torchs_muon
    def test_from_the_environment_with_torchs_own(self):
        self.as_a_whole("from torch.optim", "torch-muon")


class Checksum(Case):
    def reference(self, tensor):
        """The definition once more, in Python's integers."""
        batch = tensor.reshape(-1, *tensor.shape[-2:])

        def weight(i):
            z = ((i + 1) * 0x9E3779B97F4A7C15) % 2**64
            z = z - 2**64 if z >= 2**63 else z
            z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
            z = z - 2**64 if z >= 2**63 else z
            return (z ^ (z >> 27)) | 1

        def words(row):
            data = bytes(bits(row))
            size = 8 if len(data) % 8 == 0 else row.element_size()
            return [int.from_bytes(data[i : i + size], "little", signed=True) for i in range(0, len(data), size)]

        by_row = by_column = 0
        for b, matrix in enumerate(batch):
            rows = [words(row) for row in matrix]
            by_row += weight(b) * sum(weight(r) * sum(row) for r, row in enumerate(rows))
            by_column += weight(b) * sum(weight(c) * sum(column) for c, column in enumerate(zip(*rows)))
        return "%016x%016x" % (by_row % 2**64, by_column % 2**64)

    def test_is_as_documented(self):
        for shape in ((3, 4), (3, 5), (2, 3, 8), (1, 7, 3)):
            for dtype in (torch.float32, torch.bfloat16, torch.float16, torch.float64):
                tensor = draw(*shape, dtype=dtype)
                self.assertEqual(capture.checksum(tensor), self.reference(tensor), (shape, dtype))

    def test_layout_does_not_matter(self):
        tensor = draw(6, 8)
        flat = torch.zeros(49)
        flat[1:] = tensor.flatten()
        for other in (tensor.T.contiguous().T, flat[1:].view(6, 8), torch.cat((tensor, tensor), 1)[:, :8]):
            self.assertEqual(capture.checksum(other), capture.checksum(tensor))

    def test_sees_bits_and_places(self):
        tensor = draw(6, 8)
        sums = {capture.checksum(tensor)}
        for i in range(6):
            for j in range(8):
                other = tensor.clone()
                other.view(torch.int32)[i, j] ^= 1
                sums.add(capture.checksum(other))
        for a, b in (((0, 0), (0, 7)), ((0, 0), (5, 0)), ((1, 2), (3, 5))):
            other = tensor.clone()
            other[a], other[b] = tensor[b].clone(), tensor[a].clone()
            sums.add(capture.checksum(other))
        zero = torch.zeros(6, 8)
        sums |= {capture.checksum(zero), capture.checksum(-zero)}
        self.assertEqual(len(sums), 1 + 48 + 3 + 2)

    def test_matrices_of_a_batch(self):
        batch = draw(3, 4, 6)
        self.assertEqual(capture._checksums(batch), [capture._checksums(matrix)[0] for matrix in batch])
        self.assertEqual(len(set(capture._checksums(batch))), 3)
        whole = capture._hex(capture._whole(capture._matrix_sums(batch)).tolist())
        self.assertEqual(whole, capture.checksum(batch))

    def test_finite(self):
        for dtype in (torch.float32, torch.bfloat16, torch.float16, torch.float64):
            for value in (NAN, float("inf"), -float("inf")):
                tensor = draw(5, 7, dtype=dtype)
                tensor[4, 6] = value
                self.assertFalse(capture._finite(tensor), (dtype, value))
                self.assertEqual(capture._damage(tensor), (1, [4, 6]))
            self.assertTrue(capture._finite(draw(5, 7, dtype=dtype)))
        # The sums of these do not fit, and both are finite.
        self.assertTrue(capture._finite(torch.full((64, 64), 6e4, dtype=torch.float16)))
        self.assertTrue(capture._finite(torch.full((64, 64), 3e38)))


class Strict(Case):
    def test_dump_and_sidecar(self):
        self.on()
        X = draw(12, 20)
        Y = capture.wrap(broken, nothing_else=True)(X, epsilon=1e-6)
        dump, sidecar = self.only()
        self.assertEqual(set(dump), {"input", "output", "rank", "shape", "dtype", "epsilon", "nonce"})
        self.assertEqual(bits(dump["input"]), bits(X))
        self.assertEqual(bits(dump["output"]), bits(Y))
        self.assertEqual((dump["rank"], dump["shape"], dump["epsilon"]), (0, (12, 20), 1e-6))
        self.assertEqual(dump["dtype"], "torch.float32")
        self.assertEqual(sidecar["schema"], "nanscope.sidecar/1")
        self.assertEqual((sidecar["mode"], sidecar["epsilon"], sidecar["nothing_else"]), ("strict", 1e-6, True))
        self.assertEqual(sidecar["output"]["nonfinite"], 6)
        self.assertEqual(sidecar["output"]["first_nonfinite"], [2, 5])
        self.assertNotIn("variant", sidecar)
        self.assertEqual(sidecar["input"]["checksum_before"], capture.checksum(X))
        self.assertEqual(sidecar["environment"]["versions"]["torch"], torch.__version__)
        name = NAME.fullmatch(self.dumps()[0].name)
        self.assertEqual((name[1], name[2], name[3]), ("0", "12x20", str(os.getpid())))
        self.assertLess(abs(int(name[4]) - time.time() * 1000), 60_000)
        self.assertIn("dumped to", self.text.getvalue())
        self.assertEqual([p.name for p in self.folder.iterdir() if p.name.startswith(".")], [])

    def test_finite_leaves_nothing(self):
        self.on()
        capture.wrap(newton_schulz)(draw(8, 12))
        self.assertEqual(list(self.folder.iterdir()), [])
        self.assertEqual(self.text.getvalue(), "")

    def test_raises_after_the_dump_where_asked(self):
        self.on(raises=True)
        with self.assertRaisesRegex(RuntimeError, r"non-finite Newton-Schulz output on rank 0, shape \(8, 12\); dump"):
            capture.wrap(broken)(draw(8, 12))
        self.assertTrue(self.only()[1]["raised"])

    def test_the_line_of_dion(self):
        capture._settings, _ = capture._settings_of({"DION_NAN_CAPTURE": "1", "DION_NAN_CAPTURE_DIR": str(self.folder)})
        capture._on = True
        with self.assertRaisesRegex(RuntimeError, r"^\[dion NaN capture\] .*dumped to .*\.pt$"):
            capture.wrap(broken)(draw(8, 12))

    def test_batches_and_epsilon_tensors(self):
        self.on()
        capture.wrap(broken)(draw(3, 8, 12, dtype=torch.bfloat16), epsilon=torch.tensor(1e-8))
        dump, sidecar = self.only()
        self.assertEqual(dump["epsilon"], float(torch.tensor(1e-8)))
        self.assertEqual(sidecar["output"]["first_nonfinite"], [0, 2, 5])
        self.assertEqual(len(sidecar["output"]["batch"]), 3)

    def test_strides_stay(self):
        self.on()
        X = draw(20, 12).T
        capture.wrap(broken)(X)
        dump, sidecar = self.only()
        self.assertEqual(dump["input"].stride(), X.stride())
        self.assertEqual(sidecar["input"]["stride"], list(X.stride()))

    def test_a_part_of_a_large_storage_is_written_alone(self):
        self.on()
        capture.wrap(broken)(draw(4000, 12)[:8])
        self.assertLess(self.dumps()[0].stat().st_size, 20_000)

    def test_works_in_place(self):
        def inside(X):
            X.div_(X.norm())
            X[0, 0] = NAN

        self.on()
        X = draw(8, 12)
        before = X.clone()
        capture.wrap(inside)(X)
        dump, sidecar = self.only()
        self.assertEqual(bits(dump["input"]), bits(before))
        self.assertEqual(bits(dump["output"]), bits(X))
        self.assertTrue(sidecar["input"]["changed"])
        self.assertTrue(sidecar["output"]["in_place"])

    def test_returns_a_view(self):
        def view(X):
            X[1, 1] = NAN
            return X.T

        self.on()
        X = draw(8, 12)
        Y = capture.wrap(view)(X)
        self.assertEqual(Y.data_ptr(), X.data_ptr())
        _, sidecar = self.only()
        self.assertTrue(sidecar["output"]["aliases_input"])
        self.assertFalse(sidecar["output"]["in_place"])

    def test_an_input_that_did_not_change(self):
        self.on()
        capture.wrap(broken)(draw(8, 12))
        sidecar = self.only()[1]
        self.assertFalse(sidecar["input"]["changed"])
        self.assertFalse(sidecar["output"]["aliases_input"])

    def test_exception_passes_through(self):
        class Odd(ValueError):
            pass

        def raising(X):
            raise Odd("no")

        self.on()
        with self.assertRaises(Odd):
            capture.wrap(raising)(draw(8, 12))
        dump, sidecar = self.only()
        self.assertNotIn("output", dump)
        self.assertEqual(sidecar["exception"], "Odd: no")
        self.assertEqual({retry["error"] for retry in sidecar["retries"]}, {"Odd: no"})
        self.assertFalse(getattr(capture._local, "busy", False))

    def test_keyboard_interrupt_is_no_failure(self):
        def interrupted(X):
            raise KeyboardInterrupt

        self.on(retries=0)
        with self.assertRaises(KeyboardInterrupt):
            capture.wrap(interrupted)(draw(8, 12))
        self.assertEqual(self.dumps(), [])

    def test_other_inputs_pass_through(self):
        self.on()
        watched = capture.wrap(lambda X: X * NAN)
        for X in (torch.ones(3), torch.ones(2, 2, 2, 2), torch.ones(2, 2, dtype=torch.complex64)):
            watched(X)
        self.assertEqual(capture.wrap(lambda number: number + 1)(1), 2)
        self.assertEqual(self.dumps(), [])

    def test_tuples(self):
        self.on()
        capture.wrap(lambda X: (X * NAN, 1))(draw(8, 12))
        self.assertEqual(len(self.dumps()), 1)

    def test_a_watched_function_inside_another_is_not_watched(self):
        self.on()
        inner = capture.wrap(broken)
        capture.wrap(lambda X: inner(X))(draw(8, 12))
        self.assertEqual(len(self.dumps()), 1)


class Identity(Case):
    def identity(self, function):
        self.on()
        capture.wrap(function)(draw(8, 12))
        return self.only()[1]["function"]

    def test_function(self):
        found = self.identity(broken)
        self.assertEqual((found["module"], found["qualname"]), (__name__, "broken"))
        self.assertEqual((found["file"], found["defaults"]), ("capture_test.py", {"epsilon": 1e-7}))
        self.assertEqual(found["line"], broken.__code__.co_firstlineno)
        text = capture.textwrap.dedent(capture.inspect.getsource(broken))
        self.assertEqual(found["source_sha256"], capture.hashlib.sha256(text.encode()).hexdigest())

    def test_closure_partial_and_wrappers(self):
        coefficients, secret = [3.4445, -4.775, 2.0315], torch.ones(3)

        def inner(X, scale, epsilon=1e-7):
            return broken(X * coefficients[0] * secret[0] * scale, epsilon)

        @functools.wraps(inner)
        def outer(*args, **kwargs):
            return inner(*args, **kwargs)

        found = self.identity(functools.partial(outer, scale=2.0))
        self.assertEqual(found["qualname"], inner.__qualname__)
        self.assertEqual(found["closure"], {"coefficients": coefficients})
        self.assertEqual(found["partial"], {"scale": 2.0})

    def test_object_in_a_lambda_like_dion(self):
        class Gram:
            def __init__(self):
                self.use_kernels, self.resets = True, (2,)

            def __call__(self, X):
                return broken(X)

        gns = Gram()
        found = self.identity(lambda X, epsilon=None: gns(X))
        self.assertEqual(found["closure"]["gns"]["resets"], [2])
        self.assertTrue(found["closure"]["gns"]["use_kernels"])

    def test_compiled(self):
        found = self.identity(torch.compile(broken, backend="eager"))
        self.assertTrue(found["compiled"])
        self.assertEqual(found["qualname"], "broken")

    def variant(self, function, *arguments):
        found = capture._identity(function)
        return capture._named_variant(found["module"], found["qualname"], capture._bound(function, arguments, {}))[0]

    def test_variant_only_of_what_is_known_as_it_is_called(self):
        self.assertEqual(self.variant(muon.zeropower_via_newtonschulz5, None), "keller-jordan")
        self.assertEqual(self.variant(muon.zeropower_via_newtonschulz5, None, 6), "keller-jordan@6x")
        for no_count in (0, True, 6.0, None, "6", 101):
            self.assertIsNone(self.variant(muon.zeropower_via_newtonschulz5, None, no_count), no_count)
        self.assertIsNone(self.variant(broken, None))

    @needs_torchs_muon
    def test_variant_of_torchs_own(self):
        function = sys.modules[TORCHS]._zeropower_via_newtonschulz
        self.assertEqual(self.variant(function, None, (3.4445, -4.7750, 2.0315), 5, 1e-7), "torch-muon")
        self.assertEqual(self.variant(function, None, (2, -1.5, 0.5), 5, 1e-7), "torch-muon@5x2_-1.5_0.5")
        self.assertEqual(self.variant(function, None, [3.4445, -4.7750, 2.0315], 7, 1e-7), "torch-muon@7x")
        for none in ((2, -1.5), (2, -1.5, NAN), (2, -1.5, 1e20), (2, -1.5, 10**400), (2, -1.5, "1"), None, "quintic", ()):
            self.assertIsNone(self.variant(function, None, none, 5, 1e-7), none)

    def test_of_several_entries_the_one_that_fits(self):
        def newton_schulz(x, steps, coefficient_type="quintic", tp_group=None, use_syrk=False, normalize_in_double=False):
            return x * NAN

        newton_schulz.__module__, newton_schulz.__qualname__ = capture.EMERGING, "newton_schulz"
        self.enterContext(mock.patch.object(capture, "_published_as", lambda _, identity: identity["module"]))
        before = torch.get_float32_matmul_precision()
        for arguments, precision, expected in (
            ({"steps": 5}, "highest", ("emerging-quintic", None)),
            ({"steps": 5}, "medium", ("emerging-quintic", "bf16")),
            ({"steps": 5, "normalize_in_double": True}, "high", ("emerging-double-norm", None)),
            ({"steps": 8, "coefficient_type": "polar_express"}, "medium", ("emerging-polar-express", "bf16")),
            ({"steps": 7}, "highest", ("emerging-quintic@7x", None)),
            ({"steps": 7, "coefficient_type": "polar_express"}, "highest", ("emerging-polar-express@7x", None)),
            ({"steps": 5, "coefficient_type": "custom"}, "highest", (None, None)),
            ({"steps": 7, "coefficient_type": "cubic5"}, "highest", (None, None)),
        ):
            self.forget()
            self.on("observe", keep=True, retries=0)
            torch.set_float32_matmul_precision(precision)
            capture.wrap(newton_schulz)(draw(8, 12), **arguments)
            torch.set_float32_matmul_precision(before)
            capture.end_step()
            sidecar = self.only()[1]
            self.assertEqual((sidecar.get("variant"), sidecar.get("precision")), expected, arguments)
            for path in self.folder.iterdir():
                path.unlink()

    def test_precision_of_emerging_is_what_the_device_makes_of_the_setting(self):
        cuda, cpu, hopper, volta = torch.device("cuda"), torch.device("cpu"), (9, 0), (7, 0)
        old = (None, None)
        for around, device, capability, dtype, expected in (
            (("high", None, ("tf32", "tf32")), cuda, hopper, torch.float32, "tf32"),
            (("high", None, old), cuda, hopper, torch.float32, "tf32"),
            (("high", None, ("tf32", "tf32")), cuda, hopper, torch.bfloat16, None),
            (("high", None, ("tf32", "tf32")), cuda, volta, torch.float32, None),
            (("high", None, ("ieee", "tf32")), cuda, hopper, torch.float32, None),
            (("high", torch.bfloat16, ("tf32", "tf32")), cuda, hopper, torch.float32, None),
            (("high", None, ("tf32", "tf32")), cpu, hopper, torch.float32, None),
            (("highest", None, ("ieee", "ieee")), cuda, hopper, torch.float32, None),
            (("medium", None, ("tf32", "bf16")), cuda, hopper, torch.float32, "bf16"),
            (("medium", None, ("tf32", "bf16")), cpu, hopper, torch.float32, "bf16"),
            ((None, None, ("tf32", "none")), cuda, hopper, torch.float32, None),
        ):
            call = mock.Mock(around=around, device=device, dtype=dtype)
            with mock.patch.object(torch.cuda, "get_device_capability", return_value=capability):
                with mock.patch.object(torch.version, "cuda", "12.8"):
                    found = capture._known_precision({"module": capture.EMERGING}, call)
                    self.assertIsNone(capture._known_precision({"module": "another"}, call))
                    with mock.patch.dict(os.environ, {"NVIDIA_TF32_OVERRIDE": "0"}):
                        self.assertNotEqual(capture._known_precision({"module": capture.EMERGING}, call), "tf32")
                with mock.patch.object(torch.version, "cuda", None):  # ROCm
                    self.assertNotEqual(capture._known_precision({"module": capture.EMERGING}, call), "tf32")
            self.assertEqual(found, expected, (around, device, capability, dtype))

    def test_packages_and_how_they_call(self):
        """timm and pytorch-optimizer run torch's iteration with coefficients of their choice."""
        jordan, other = (3.4445, -4.7750, 2.0315), (2.0, -1.5, 0.5)
        timm = {"steps": 5, "safety_factor": 1.0, "dtype": torch.bfloat16, "scale_eps": False}
        others = {"num_steps": 5, "safety_factor": 1.0, "dtype": torch.bfloat16}
        quintic = {"coefficient_type": "quintic", "steps": 5, "use_syrk": False, "tp_group": None}
        matrix = ("pytorch_optimizer.optimizer.utils.matrix", "zero_power_via_newton_schulz_5")
        emerging = (capture.EMERGING, "newton_schulz")
        for home, name, arguments, expected in (
            ("timm.optim.muon", "zeropower_via_newtonschulz", {**timm, "coefficients": [jordan]}, "torch-muon"),
            ("timm.optim.muon", "zeropower_via_newtonschulz", {**timm, "coefficients": [jordan, other]},
                "torch-muon@5x3.4445_-4.775_2.0315+2.0_-1.5_0.5"),
            ("timm.optim.muon", "zeropower_via_newtonschulz", {**timm, "coefficients": [jordan, other], "steps": 1},
                "torch-muon@1x3.4445_-4.775_2.0315"),
            ("timm.optim.muon", "zeropower_via_newtonschulz",
                {**timm, "coefficients": [jordan], "dtype": torch.float16}, None),
            (*matrix, {**others, "weights": [jordan]}, "torch-muon"),
            (*matrix, {**others, "weights": jordan}, "torch-muon"),
            (*matrix, {**others, "weights": [other]}, "torch-muon@5x2.0_-1.5_0.5"),
            (*matrix, {**others, "weights": "polar_express"}, None),
            (*emerging, {**quintic, "normalize_in_double": False}, "emerging-quintic"),
            (*emerging, {**quintic, "normalize_in_double": True}, "emerging-double-norm"),
            (*emerging, quintic, "emerging-quintic"),  # as of 0.3.0, which has no such argument
            (*emerging, {"steps": 5}, None),
        ):
            variant, source = capture._named_variant(home, name, arguments)
            self.assertEqual(variant, expected, (home, arguments))
            self.assertIsNotNone(source)

    def sidecar_of(self, module, name="zeropower_via_newtonschulz5"):
        """Of a failure of a module that is imported anew."""
        self.forget()
        sys.modules.pop(module, None)
        self.addCleanup(sys.modules.pop, module, None)
        importlib.invalidate_caches()
        self.on(retries=0)
        capture.wrap(getattr(importlib.import_module(module), name))(draw(8, 12) * NAN, 5)
        sidecar = self.only()[1]
        for path in self.folder.iterdir():
            if path.is_file():
                path.unlink()
        return sidecar

    def test_a_file_of_a_known_name_is_no_known_code(self):
        """Users have a muon.py of their own, with other numbers in it."""
        self.addCleanup(sys.modules.__setitem__, "muon", muon)
        here = self.folder / "here"
        here.mkdir()
        self.enterContext(mock.patch.object(sys, "path", [str(here), *sys.path]))
        for module in ("muon", "normuon"):
            shutil.copy(muon.__file__, here / f"{module}.py")
            sidecar = self.sidecar_of(module)
            self.assertNotIn("variant", sidecar)
            self.assertEqual(sidecar["named_like"], "keller-jordan")
            with published():
                sidecar = self.sidecar_of(module)
            self.assertNotIn("named_like", sidecar)
            self.assertEqual(sidecar["variant"], "keller-jordan")

    def test_a_copy_under_another_name_of_its_file_is_like_it(self):
        here = self.folder / "here"
        here.mkdir()
        self.enterContext(mock.patch.object(sys, "path", [str(here), *sys.path]))
        shutil.copy(muon.__file__, here / "my_muon.py")
        sidecar = self.sidecar_of("my_muon")
        self.assertEqual((sidecar["named_like"], sidecar.get("variant")), ("keller-jordan", None))

    def test_a_published_text_is_known_wherever_it_stands(self):
        """Trainers copy the function to files of their own, and lay it out and annotate it anew."""
        here = self.folder / "here"
        here.mkdir()
        self.enterContext(mock.patch.object(sys, "path", [str(here), *sys.path]))
        text = Path(muon.__file__).read_text()
        (head, tail) = text.split("def zeropower_via_newtonschulz5(G, steps=5):\n")
        tail = tail.replace("X = G.bfloat16()", "X = (\n        G.bfloat16()  # rounded\n    )", 1)
        signature = "def zeropower_via_newtonschulz5(G: torch.Tensor, steps: int = 5) -> torch.Tensor:\n"
        same = head + "@torch.no_grad()\n" + signature + '    """Of ours."""\n' + tail
        edits = (("-4.7750", "-4.7751"), ("steps: int = 5", "steps: int = 6"), ("@torch.no_grad()", "@masked"))
        masked = "def masked(function):\n    return function\n\n\n"
        with published():
            (here / "my_muon.py").write_text(same)
            sidecar = self.sidecar_of("my_muon")
            self.assertEqual((sidecar["variant"], sidecar.get("named_like")), ("keller-jordan", None))
            self.assertIn("KellerJordan", sidecar["variant_from"])
            for before, after in edits:
                self.assertIn(before, same)
                (here / "my_muon.py").write_text(same.replace(before, after)
                    .replace("import torch\n", "import torch\n\n\n" + masked, 1))
                sidecar = self.sidecar_of("my_muon")
                self.assertEqual((sidecar.get("variant"), sidecar["named_like"]), (None, "keller-jordan"), after)

    def test_a_text_has_the_same_hash_in_each_python(self):
        """What is in PUBLISHED was made with Python 3.11."""

        def few(X, *, scale=(1, 2.5), **rest):
            Y = X @ X.mT if scale else -X
            for a, b in (scale, [3, 4]):
                Y = a * Y[..., 0] + (lambda Z: Z)(b)
            assert Y is not None, f"{Y!r}"
            return Y

        self.assertEqual(capture._text_hash(few),
            "e233fc4a413ee5ab1966cf203508afb3fdccc845831670bdde6a9f5918deb5e9")

    def test_an_installed_file_is_known_while_nobody_edits_it(self):
        self.addCleanup(sys.modules.__setitem__, "muon", muon)
        place = as_installed(self.folder / "site-packages")
        self.enterContext(mock.patch.object(sys, "path", [str(place), *sys.path]))
        self.assertEqual(self.sidecar_of("muon")["variant"], "keller-jordan")
        with open(place / "muon.py", "a") as file:
            file.write("# edited\n")
        self.assertEqual(self.sidecar_of("muon").get("named_like"), "keller-jordan")
        (place / "muon_optimizer-0.1.0.dist-info" / "RECORD").write_text("")
        self.assertEqual(self.sidecar_of("muon").get("named_like"), "keller-jordan")
        (place / "muon_optimizer-0.1.0.dist-info" / "RECORD").unlink()
        self.assertEqual(self.sidecar_of("muon")["variant"], "keller-jordan")
        # muon is also the name of another project, and what pip calls editable is the user's folder.
        (place / "muon_optimizer-0.1.0.dist-info").rename(place / "muon-0.1.0.dist-info")
        (place / "muon-0.1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: muon\nVersion: 0.1.0\n")
        self.assertEqual(self.sidecar_of("muon").get("named_like"), "keller-jordan")

    def test_what_was_put_around_known_code_is_not_known(self):
        """A mask of the user's around KellerJordan's function is no KellerJordan's any more; no_grad of torch's is nothing."""

        def masked(function):
            @functools.wraps(function)
            def inner(G, steps=5):
                return function(G, steps) * 1.0

            return inner

        function = muon.zeropower_via_newtonschulz5
        compiled = functools.partial(torch.compile, backend="eager")
        autocast = torch.autocast("cpu", torch.bfloat16)
        arounds = ((masked, False), (lambda f: masked(compiled(f)), False), (autocast, False), (compiled, True), (torch.no_grad(), True))
        for around, known in (*arounds, (lambda f: capture.wrap(f), True)):
            self.forget()
            self.on(retries=0)
            with published():
                capture.wrap(around(function))(draw(8, 12) * NAN, 5)
            sidecar = self.only()[1]
            self.assertEqual((sidecar.get("variant"), sidecar.get("named_like")),
                ("keller-jordan", None) if known else (None, "keller-jordan"))
            self.assertEqual(sidecar["function"]["wrappers"] == [], known)
            for path in self.folder.iterdir():
                path.unlink()

    def test_who_names_it_is_believed(self):
        self.on(retries=0)
        capture.wrap(muon.zeropower_via_newtonschulz5, variant="turbo-muon")(draw(8, 12) * NAN, 5)
        sidecar = self.only()[1]
        self.assertEqual((sidecar["variant"], sidecar.get("named_like")), ("turbo-muon", None))

    def test_user_may_name_it(self):
        self.on()
        capture.wrap(broken, variant="keller-jordan", precision="bf16")(draw(8, 12))
        sidecar = self.only()[1]
        self.assertEqual((sidecar["variant"], sidecar["precision"]), ("keller-jordan", "bf16"))


class Retries(Case):
    def retries(self, function, X, **settings):
        self.on(**settings)
        capture.wrap(function)(X)
        return self.only()[1]["retries"]

    def test_same_bits_every_time(self):
        found = self.retries(broken, draw(8, 12, dtype=torch.bfloat16), retries=3)
        self.assertEqual([retry["how"] for retry in found], ["same", "fp32", "same", "same"])
        same = [retry for retry in found if retry["how"] == "same"]
        self.assertTrue(all(retry["equal_to_output"] for retry in same))
        self.assertEqual({(retry["nonfinite"], tuple(retry["first_nonfinite"])) for retry in same}, {(6, (2, 5))})
        self.assertEqual(len({retry["checksum"] for retry in same}), 1)

    def test_a_race_goes_away(self):
        calls = []

        def flaky(X):
            calls.append(X)
            return broken(X) if len(calls) == 1 else newton_schulz(X)

        found = self.retries(flaky, draw(8, 12), retries=4)
        self.assertEqual([retry["finite"] for retry in found], [True] * 4)
        self.assertEqual([retry["equal_to_output"] for retry in found], [False] * 4)

    def test_fp32_of_a_cast_that_overflows(self):
        found = self.retries(lambda X: X * 4e4, torch.full((8, 12), 2.0, dtype=torch.float16), retries=1)
        self.assertEqual([(retry["how"], retry["finite"]) for retry in found], [("same", False), ("fp32", True)])

    def test_they_get_the_input_as_it_was(self):
        def inside(X):
            X.mul_(2)
            X[0, 0] = NAN if X[1, 1] < 3 else 0
            return X

        found = self.retries(inside, torch.ones(8, 12), retries=2)
        self.assertEqual([retry["finite"] for retry in found], [False, False])

    def test_random_numbers_and_gradients_are_left_alone(self):
        import random

        def drawing(X):
            noise = torch.rand(1) + random.random()
            self.assertTrue(X.requires_grad or not torch.is_grad_enabled())
            return X * noise * NAN

        self.on(retries=3)
        random.seed(5)
        torch.manual_seed(5)
        drawing(draw(8, 12).requires_grad_())
        expected = (torch.rand(1).item(), random.random())
        random.seed(5)
        torch.manual_seed(5)
        capture.wrap(drawing)(draw(8, 12).requires_grad_())
        self.assertEqual((torch.rand(1).item(), random.random()), expected)

    def test_what_was_set_around_the_call_is_set_again(self):
        """Emerging-Optimizers sets the precision of products for the call alone; a step may be under autocast."""
        before = torch.get_float32_matmul_precision()
        for mode in ("observe", "strict"):
            self.forget()
            self.on(mode, retries=2)
            seen = []

            def asking(X):
                seen.append((torch.get_float32_matmul_precision(), torch.is_autocast_enabled("cpu")))
                return X @ X.mT * NAN

            X = draw(8, 12, dtype=torch.bfloat16)
            with torch.autocast("cpu", dtype=torch.bfloat16):
                torch.set_float32_matmul_precision("medium")
                Y = capture.wrap(asking)(X)
                torch.set_float32_matmul_precision(before)
            capture.end_step()
            self.assertEqual(seen, [("medium", True), ("medium", True), ("highest", False), ("medium", True)], mode)
            self.assertEqual((torch.get_float32_matmul_precision(), torch.is_autocast_enabled("cpu")), (before, False))
            flags = self.only()[1]["environment"]["flags"]
            self.assertEqual((flags["float32_matmul_precision"], flags["autocast_cpu"]), ("medium", True))
            for path in self.folder.iterdir():
                path.unlink()
            del Y

    def test_a_precision_that_torch_does_not_tell_is_left_alone(self):
        def untold():
            raise RuntimeError("it was set in the newer way")

        self.on("observe", retries=1)
        X = draw(8, 12)
        seen = []
        watched = capture.wrap(lambda X: seen.append(torch.is_autocast_enabled("cpu")) or X * NAN)
        with mock.patch.object(torch, "get_float32_matmul_precision", untold):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                watched(X)
            capture.end_step()
        self.assertEqual(seen, [True, True])
        self.assertIsNone(capture._process.stopped)
        self.assertIsNone(self.only()[1]["environment"]["flags"]["float32_matmul_precision"])

    def precisions(self):
        """All that torch tells of the precision of fp32 products, backend by backend."""
        backends = torch.backends
        try:
            legacy = torch.get_float32_matmul_precision()
        except RuntimeError:
            legacy = None
        places = (backends, backends.cudnn, backends.mkldnn)
        places += tuple(place for whole in places[1:] for place in (whole.conv, whole.rnn))
        return legacy, [place.fp32_precision for place in (*places, *capture._matmuls())]

    def forget_precisions(self):
        torch.set_float32_matmul_precision("highest")
        if None not in capture._products():
            torch.backends.fp32_precision = "none"
            for matmul in capture._matmuls():
                matmul.fp32_precision = "none"

    def mixed(self, precision, cuda, mkldnn, whole="none"):
        self.forget_precisions()
        self.addCleanup(self.forget_precisions)
        torch.set_float32_matmul_precision(precision)
        torch.backends.cuda.matmul.fp32_precision = cuda
        torch.backends.mkldnn.matmul.fp32_precision = mkldnn
        torch.backends.fp32_precision = whole
        return self.precisions()

    def captured(self, mode, function, X):
        """The sidecar of a bad call in observe or strict, where the function may raise when it is called again."""
        self.forget()
        self.on(mode, retries=1)
        Y = capture.wrap(function)(X)
        capture.end_step()
        del Y
        sidecar = self.only()[1]
        for path in self.folder.iterdir():
            path.unlink()
        return sidecar

    @needs_precisions_of_backends
    def test_precisions_are_as_they_were_afterwards(self):
        states = (("high", "ieee", "tf32"), ("medium", "ieee", "none"), ("high", "none", "none"), ("high", "tf32", "ieee"))
        for state in states:
            for raises in (False, True):
                for mode in ("observe", "strict"):
                    before = self.mixed(*state)
                    seen = []

                    def asking(X):
                        seen.append(self.precisions())
                        if raises and len(seen) > 1:
                            raise ValueError("not again")
                        return X * NAN

                    sidecar = self.captured(mode, asking, draw(8, 12, dtype=torch.bfloat16))
                    self.assertEqual(self.precisions(), before, (state, mode))
                    self.assertEqual([retry["how"] for retry in sidecar["retries"]], ["same", "fp32"])
                    self.assertEqual(seen[1], before)
                    self.assertEqual((seen[2][0], seen[2][1][-2:]), ("highest", ["ieee", "ieee"]))
                    # What is inherited still is.
                    follows = [place == "none" for place in before[1][-2:]]
                    torch.backends.fp32_precision = "tf32"
                    after = [place == "tf32" for place in self.precisions()[1][-2:]]
                    self.assertEqual(after, [a or b == "tf32" for a, b in zip(follows, before[1][-2:])], (state, mode))

    @needs_precisions_of_backends
    def test_what_a_backend_was_told_for_the_call_alone_is_told_again(self):
        before = self.mixed("high", "ieee", "ieee")
        seen = []

        def asking(X):
            seen.append(self.precisions()[1][-2:])
            return X * NAN

        self.on("observe", retries=1)
        X = draw(8, 12)
        torch.backends.cuda.matmul.fp32_precision = "tf32"
        Y = capture.wrap(asking)(X)
        torch.backends.cuda.matmul.fp32_precision = "ieee"
        capture.end_step()
        del Y
        self.assertEqual(seen, [["tf32", "ieee"]] * 2)
        self.assertEqual(self.precisions(), before)
        self.assertEqual(self.only()[1]["environment"]["flags"]["fp32_precision"], "tf32")

    @needs_precisions_of_backends
    def test_fp32_is_left_out_where_the_precision_is_not_told_or_not_to_be_put_back(self):
        untold = "in fp32, as torch does not tell the precision of fp32 products"
        inherited = "in fp32, as the precision of fp32 products could not be put back as it is"
        for state, skipped in ((("highest", "tf32", "none"), untold), (("high", "none", "none", "tf32"), inherited)):
            for mode in ("observe", "strict"):
                before = self.mixed(*state)
                sidecar = self.captured(mode, lambda X: X * NAN, draw(8, 12, dtype=torch.bfloat16))
                self.assertEqual(self.precisions(), before, (state, mode))
                self.assertEqual([retry["how"] for retry in sidecar["retries"]], ["same"], (state, mode))
                self.assertEqual(sidecar["retries_skipped"], skipped)
                torch.backends.fp32_precision = "ieee"
                self.assertEqual(self.precisions()[1][-1], "ieee")

    @needs_precisions_of_backends
    def test_nothing_is_called_again_under_another_precision(self):
        """What the caller had set is known, but what is set now could not be put back."""
        self.mixed("high", "ieee", "ieee")
        seen = []
        self.on("observe", retries=2)
        X = draw(8, 12)
        Y = capture.wrap(lambda X: seen.append(0) or X * NAN)(X)
        torch.backends.cuda.matmul.fp32_precision = "none"
        torch.backends.fp32_precision = "tf32"
        before = self.precisions()
        capture.end_step()
        del Y
        sidecar = self.only()[1]
        skipped = "the precision of fp32 products could not be put back as it is"
        self.assertEqual((seen, sidecar["retries"], sidecar["retries_skipped"]), ([0], [], skipped))
        self.assertEqual(sidecar["environment"]["flags"]["fp32_precision"], "ieee")
        self.assertEqual(self.precisions(), before)

    def test_a_torch_with_one_precision_for_all_backends(self):
        self.addCleanup(self.forget_precisions)
        seen = []
        self.on("observe", retries=1)
        X = draw(8, 12, dtype=torch.bfloat16)
        with mock.patch.object(capture, "_matmuls", lambda: (object(), None)):
            torch.set_float32_matmul_precision("medium")
            Y = capture.wrap(lambda X: seen.append(torch.get_float32_matmul_precision()) or X * NAN)(X)
            torch.set_float32_matmul_precision("high")
            capture.end_step()
            del Y
        self.assertEqual(seen, ["medium", "medium", "highest"])
        self.assertEqual(torch.get_float32_matmul_precision(), "high")

    def test_fp32_is_left_out_where_torch_tells_nothing(self):
        def untold():
            raise RuntimeError("it was set in the newer way")

        with mock.patch.object(torch, "get_float32_matmul_precision", untold):
            for mode in ("observe", "strict"):
                sidecar = self.captured(mode, lambda X: X * NAN, draw(8, 12, dtype=torch.bfloat16))
                self.assertEqual([retry["how"] for retry in sidecar["retries"]], ["same"], mode)
                self.assertIn("in fp32, as torch does not tell", sidecar["retries_skipped"])

    def test_time_is_limited(self):
        def slow(X):
            time.sleep(0.05)
            return X * NAN

        begin = time.monotonic()
        self.on(retries=1000, retry_seconds=0.2)
        capture.wrap(slow)(draw(8, 12))
        self.assertLess(time.monotonic() - begin, 5)
        sidecar = self.only()[1]
        self.assertIn("NANSCOPE_CAPTURE_RETRY_SECONDS=0.2", sidecar["retries_skipped"])
        self.assertLess(len(sidecar["retries"]), 20)

    def test_a_buffer_of_the_function_keeps_what_the_training_gets(self):
        buffer = torch.zeros(8, 12)
        calls = []

        def static(X):
            calls.append(0)
            buffer.copy_(X)
            buffer[0, 0] = NAN if len(calls) == 1 else 7
            return buffer

        self.on()
        Y = capture.wrap(static)(draw(8, 12))
        self.assertTrue(Y[0, 0].isnan())
        self.assertEqual(bits(self.only()[0]["output"]), bits(Y))

    def test_other_tensors_are_counted_and_large_ones_not_kept(self):
        self.on()
        watched = capture.wrap(lambda X, epsilon, other: X * NAN)
        watched(draw(8, 12), torch.tensor(1e-7), torch.ones(4))
        watched(draw(8, 12), torch.tensor(1e-7), torch.ones(40))
        few, many = self.sidecars()
        self.assertEqual((few["call"]["other_tensors"], len(few["retries"])), (1, 8))
        self.assertEqual((many["call"]["other_tensors"], many["retries"]), (1, []))
        self.assertIn("another large tensor", many["retries_skipped"])

    def test_none_for_functions_that_talk_to_others(self):
        def sharded(X, group=None):
            return X * NAN

        for ranks, told, count in ((None, True, 0), (2, False, 0), (2, True, 0), (1, False, 2), (None, False, 2)):
            self.forget()
            self.on(retries=2)
            group = None if ranks is None else dist.ProcessGroup(0, ranks)
            # How many ranks train says nothing of whether a matrix is a part.
            with mock.patch.dict(os.environ, {"WORLD_SIZE": "8"}):
                capture.wrap(sharded, collective=told)(draw(8, 12), group=group)
            sidecar = self.only()[1]
            skipped = None if count else "the call needs every rank"
            self.assertEqual((len(sidecar["retries"]), sidecar["retries_skipped"]), (count, skipped), (ranks, told))
            self.assertEqual(sidecar["call"]["ranks"], ranks or 1)
            for path in self.folder.iterdir():
                path.unlink()

    def test_a_mesh_is_a_group_and_a_partial_gives_it_too(self):
        def sharded(X, over=None):
            return X * NAN

        group = dist.ProcessGroup(0, 2)
        self.on(retries=2)
        capture.wrap(functools.partial(sharded, over=group))(draw(8, 12))
        with mock.patch.object(torch.distributed.device_mesh, "DeviceMesh", types.SimpleNamespace):
            capture.wrap(sharded)(draw(8, 12), over=types.SimpleNamespace(size=lambda: 2))
        self.assertEqual([s["retries_skipped"] for s in self.sidecars()], ["the call needs every rank"] * 2)

    def test_code_that_talks_to_others_is_called_again_where_there_are_none_or_its_user_says_so(self):
        def averaging(X):
            if dist.is_initialized():
                dist.all_reduce(X)
            return X * NAN

        for world, told, count in (("1", None, 2), ("2", None, 0), ("2", False, 2)):
            self.forget()
            self.on(retries=2)
            with mock.patch.dict(os.environ, {"WORLD_SIZE": world}):
                capture.wrap(averaging, collective=told)(draw(8, 12))
            self.assertEqual(len(self.only()[1]["retries"]), count, (world, told))
            for path in self.folder.iterdir():
                path.unlink()


def sometimes(bad):
    """A function that is broken at the calls with these numbers, and only the first time."""
    calls = []

    def function(X):
        calls.append(0)
        return (broken if len(calls) - 1 in bad else newton_schulz)(X)

    return function


class Talk(Case):
    """What is called again by one rank alone while others train."""

    NAMED = (
        lambda X: my_all_reduce(X),  # noqa: F821
        lambda X, group=None: group.broadcast(X),
        lambda X, ring=None: ring.ncclSend(X),
        lambda X, ring=None: ring.allReduce(X),
        lambda X: dist.P2POp(X),
        lambda X: AllReduce.apply(X),  # noqa: F821
        lambda X: X.redistribute().full_tensor(),
        lambda X: dist.gather(X),
        lambda X: [dist.all_gather(row) for row in X],
    )
    ALONE = (
        newton_schulz,
        torch.compile(newton_schulz),
        lambda X: torch.broadcast_to(X, X.shape),
        lambda X: X.scatter_add_(0, X, X),
        lambda X: functools.reduce(torch.matmul, [X]),
        lambda X: X / dist.get_world_size() if dist.is_initialized() else X,
    )

    def test_code_with_names_of_talk_is_told_from_what_tensors_do(self):
        with mock.patch.dict(os.environ, {"WORLD_SIZE": "2"}):
            for functions, talks in ((self.NAMED, True), (self.ALONE, False)):
                for place, function in enumerate(functions):
                    spot = capture._Spot(function, dict.fromkeys(("name", "collective")))
                    self.assertEqual(capture._may_talk(types.SimpleNamespace(spot=spot)), talks, place)

    def retries_of(self, mode, function):
        self.on(mode, retries=2)
        X = draw(8, 12)
        capture.wrap(function)(X)
        capture.end_step()
        count = len(self.only()[1]["retries"])
        self.forget()
        for path in self.folder.glob("*.*"):
            path.unlink()
        return count

    def test_what_is_sent_is_counted_by_whatever_name(self):
        total = dist.reduce
        dist.init_process_group("gloo", init_method=f"file://{self.folder}/rendezvous", rank=0, world_size=1)
        self.addCleanup(dist.destroy_process_group)
        for mode in ("strict", "observe"):
            self.assertEqual(self.retries_of(mode, lambda X: (total(X, 0), broken(X))[1]), 2, "alone in the world")
            with mock.patch.object(capture, "_world", lambda: 2):
                self.assertEqual(self.retries_of(mode, lambda X: (total(X, 0), broken(X))[1]), 0)
                self.assertEqual(self.retries_of(mode, broken), 2)
                with mock.patch.object(capture, "_talk_so_far", lambda: None):
                    self.assertEqual(self.retries_of(mode, broken), 0, "a backend that does not count")

    def test_what_talked_once_is_not_called_again(self):
        total, calls = dist.reduce, []
        dist.init_process_group("gloo", init_method=f"file://{self.folder}/rendezvous", rank=0, world_size=1)
        self.addCleanup(dist.destroy_process_group)

        def at_times(X):
            calls.append(0)
            if len(calls) == 1:
                total(X, 0)
                return newton_schulz(X)
            return broken(X)

        self.on(retries=2)
        watched = capture.wrap(at_times)
        with mock.patch.object(capture, "_world", lambda: 2):
            watched(draw(8, 12)), watched(draw(8, 12))
        self.assertEqual([self.only()[1]["retries"], len(calls)], [[], 2])

    def test_ranks_that_torch_is_not_told_of(self):
        spot = capture._Spot(lambda X, mpi: mpi.Allreduce(X), dict.fromkeys(("name", "collective")))
        call = types.SimpleNamespace(spot=spot)
        self.assertFalse(capture._may_talk(call))
        for name in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"):
            with mock.patch.dict(os.environ, {name: "2"}):
                self.assertTrue(capture._may_talk(call), name)


class Controls(Case):
    def controls(self):
        return sorted(path for path in self.folder.iterdir() if path.name.startswith("nanscope_control"))

    def test_last_healthy_call_of_the_shape(self):
        self.on()
        watched = capture.wrap(sometimes({3}))
        inputs = [draw(8, 12, seed=i) for i in range(2)] + [draw(6, 12), draw(8, 12, seed=9)]
        for X in inputs:
            watched(X)
        (path,) = self.controls()
        self.assertRegex(path.name, rf"^nanscope_control_rank0_shape8x12_pid{os.getpid()}_\d+\.pt$")
        control = torch.load(path, weights_only=True)
        self.assertEqual(bits(control["input"]), bits(inputs[1]))
        self.assertEqual(bits(control["output"]), bits(newton_schulz(inputs[1])))
        self.assertEqual(self.only()[1]["controls"], [path.name])

    def test_none_of_a_call_with_other_numbers(self):
        """Coefficients that were changed make the healthy call one of another function."""
        for before, files in (({"steps": 5}, 1), ({"steps": 5, "abc": (2, -1.5)}, 1), ({"steps": 6}, 0)):
            self.forget()
            self.on()
            watched = capture.wrap(lambda X, eps, steps, *, abc=(2, -1.5): X / (steps if X[0, 0] == 0 else NAN))
            watched(torch.zeros(8, 12), eps=1e-7, **before)
            watched(draw(8, 12), 1e-7, 5)
            self.assertEqual(len(self.only()[1]["controls"]), files, before)
            for path in self.folder.iterdir():
                path.unlink()

    def test_none_where_nothing_fails_or_nobody_wants_them(self):
        self.on()
        capture.wrap(newton_schulz)(draw(8, 12))
        self.assertEqual(list(self.folder.iterdir()), [])
        watched = capture.wrap(sometimes({1}), control=False)
        watched(draw(8, 12)), watched(draw(8, 12))
        self.assertEqual(self.controls(), [])

    def test_observe_keeps_them_where_told(self):
        for told in (False, True):
            self.forget()
            self.on("observe", controls=told)
            watched = capture.wrap(sometimes({1}))
            held = []
            for i in range(2):
                held.append(watched(draw(8, 12, seed=i)))
                capture.end_step()
            self.assertEqual(len(self.controls()), int(told))
        self.assertEqual(bits(torch.load(self.controls()[0], weights_only=True)["input"]), bits(draw(8, 12, seed=0)))


class Stale(Case):
    def test_a_stale_matrix_of_a_bad_output_is_found(self):
        kept = []

        def stale(X):
            Y = newton_schulz(X)
            if kept:
                Y[1] = kept[0][0]
                Y[0, 0, 0] = NAN
            kept.append(Y)
            return Y

        self.on()
        watched = capture.wrap(stale)
        watched(draw(3, 8, 12, seed=1)), watched(draw(3, 8, 12, seed=2))
        sidecar = self.only()[1]
        self.assertEqual(sidecar["stale"], [{"matrix": 1, "call": 0, "of": 0}])
        self.assertEqual([entry["call"] for entry in sidecar["earlier_outputs"]], [0])
        self.assertEqual(sidecar["earlier_outputs"][0]["batch"], capture._checksums(kept[0]))

    def test_a_finite_one_where_asked(self):
        kept = newton_schulz(draw(8, 12))
        self.on(stale=True)
        watched = capture.wrap(lambda X: kept.clone())
        watched(draw(8, 12, seed=1)), watched(draw(8, 12, seed=1))
        self.assertEqual(self.dumps(), [])
        watched(draw(8, 12, seed=2))
        dump, sidecar = self.only()
        self.assertEqual(sidecar["reason"], "the output of an earlier call")
        self.assertEqual(bits(dump["input"]), bits(draw(8, 12, seed=2)))

    def test_outputs_without_a_finite_value_are_not_stale(self):
        self.on(retries=0)
        watched = capture.wrap(lambda X: X * NAN)
        watched(draw(2, 8, 12, seed=1)), watched(draw(2, 8, 12, seed=2))
        sidecars = [json.loads(path.read_text()) for path in self.folder.glob("dion*.json")]
        self.assertEqual([sidecar["stale"] for sidecar in sidecars], [[], []])

    def test_zeros_are_not_stale(self):
        self.on(stale=True)
        watched = capture.wrap(lambda X: X * 0)
        watched(draw(8, 12, seed=1).abs()), watched(draw(8, 12, seed=2).abs())
        self.assertEqual(self.dumps(), [])

    def test_observe_with_checksums_of_outputs(self):
        self.on("observe", outputs=True)
        watched = capture.wrap(sometimes({1}))
        X = draw(8, 12)
        Y = [watched(X)]
        capture.end_step()
        Y.append(watched(X))
        capture.end_step()
        sidecar = self.only()[1]
        self.assertEqual(sidecar["earlier_outputs"][0]["checksum"], capture.checksum(Y[0]))
        self.assertEqual(sidecar["output"]["checksum_at_call"], capture.checksum(Y[1]))


class Observe(Case):
    def test_nothing_waits_for_the_device_in_a_call(self):
        """On a CPU nothing shows a wait, so the ways to one are closed while the call is made."""
        self.on("observe")
        watched = capture.wrap(lambda X: X + 1)

        def wait(*_):
            raise AssertionError("waited for the device")

        with contextlib.ExitStack() as closed:
            for name in ("item", "tolist", "cpu", "__bool__", "__float__", "__int__", "numpy"):
                closed.enter_context(mock.patch.object(torch.Tensor, name, wait))
            for name in ("clone", "copy_"):
                closed.enter_context(mock.patch.object(torch.Tensor, name, wait))
            for _ in range(3):
                watched(draw(8, 12))
        self.assertIsNone(capture._process.stopped)
        self.assertEqual(len(capture._process.pending), 3)

    def test_input_that_is_alive(self):
        self.on("observe")
        X = draw(8, 12)
        Y = capture.wrap(broken)(X)
        self.assertEqual(self.dumps(), [])
        capture.end_step(step=17)
        dump, sidecar = self.only()
        self.assertEqual((bits(dump["input"]), bits(dump["output"])), (bits(X), bits(Y)))
        self.assertEqual((sidecar["input"]["from"], sidecar["step"]), ("alive after the step", 17))
        self.assertEqual(sidecar["output"]["from"], "alive after the step")
        self.assertEqual(len(sidecar["retries"]), 8)

    def test_input_that_was_changed_is_not_taken(self):
        for change in (lambda X: X.add_(1), lambda X: X.data.add_(1)):
            self.forget()
            self.on("observe")
            X = draw(8, 12)
            Y = capture.wrap(broken)(X)
            change(X)
            capture.end_step()
            self.assertEqual(self.dumps(), [])
            (path,) = self.folder.glob("*.json")
            sidecar = json.loads(path.read_text())
            path.unlink()
            self.assertIsNone(sidecar["input"]["from"])
            self.assertIn("written to before the end of the step", sidecar["input"]["missing"])
            self.assertIn("NANSCOPE_CAPTURE_MODE=strict", sidecar["input"]["missing"])
            del Y

    def test_input_that_is_gone(self):
        self.on("observe")
        capture.wrap(broken)(draw(8, 12))
        capture.end_step()
        self.assertEqual(self.dumps(), [])
        (path,) = self.folder.glob("dion_nan_capture*.json")
        sidecar = json.loads(path.read_text())
        self.assertIn("NANSCOPE_CAPTURE_KEEP=1", sidecar["input"]["missing"])
        self.assertIn("dumped to", self.text.getvalue())

    def test_keep_holds_it(self):
        self.on("observe", keep=True)
        capture.wrap(broken)(draw(8, 12))
        capture.end_step()
        self.assertEqual(bits(self.only()[0]["input"]), bits(draw(8, 12)))
        self.assertIn("output", self.only()[0])

    def test_keep_copies_what_the_function_works_in(self):
        """Before its first call nobody knows that it will."""

        def run(X, bad):
            Y = broken(X) if X[0, 0] == bad else newton_schulz(X)
            return X.copy_(Y)

        for number in range(3):
            self.forget()
            self.on("observe", keep=True)
            works = capture.wrap(functools.partial(run, bad=number))
            for call in range(3):
                X = draw(8, 12, seed=call)
                X[0, 0] = call
                works(X)
                capture.end_step()
            sidecar = json.loads(next(self.folder.glob("dion_nan_capture*.json")).read_text())
            self.assertEqual(sidecar["input"]["from"], "copied at the call" if number else None)
            if number:
                expected = draw(8, 12, seed=number)
                expected[0, 0] = number
                self.assertEqual(bits(self.only()[0]["input"]), bits(expected))
            for path in self.folder.iterdir():
                path.unlink()

    def test_keep_copies_what_the_caller_writes_to_afterwards(self):
        """muon_fsdp2 and torchtitan's DistMuon put the result where the input was."""
        self.on("observe", keep=True)
        watched = capture.wrap(sometimes({1, 3}))
        for step in range(2):
            for i in range(2):
                X = draw(8, 12, seed=i)
                X.copy_(watched(X))
            capture.end_step(step)
        found = [json.loads(path.read_text()) for path in self.folder.glob("*.json")]
        first, second = sorted(found, key=lambda s: s["call"]["index"])
        self.assertIsNone(first["input"]["from"])
        self.assertIn("strict copies it", first["input"]["missing"])
        self.assertNotIn("KEEP", first["input"]["missing"])
        self.assertEqual(second["input"]["from"], "copied at the call")

    def test_output_that_is_gone_is_made_again(self):
        self.on("observe")
        X = draw(8, 12)
        capture.wrap(broken)(X)
        capture.end_step()
        dump, sidecar = self.only()
        self.assertEqual(bits(dump["output"]), bits(broken(X)))
        self.assertEqual(sidecar["output"]["from"], "made again")
        self.assertEqual({retry["equal_to_output"] for retry in sidecar["retries"]}, {None})

    def test_output_that_is_gone_and_does_not_come_again(self):
        X = draw(8, 12)
        for outputs, equal in ((True, False), (False, None)):
            self.forget()
            self.on("observe", outputs=outputs)
            capture.wrap(sometimes({0}))(X)
            capture.end_step()
            dump, sidecar = self.only()
            self.assertNotIn("output", dump)
            self.assertEqual({(r["finite"], r["equal_to_output"]) for r in sidecar["retries"]}, {(True, equal)})
            for path in self.folder.iterdir():
                path.unlink()

    def test_hook_is_believed_only_if_it_fits(self):
        X = draw(8, 12)
        self.on("observe")
        optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(2))])
        hook = lambda optimizer, call: [draw(8, 12, seed=3), (draw(8, 12), {"by": "me"})]  # noqa: E731
        capture.wrap(broken, rebuild=hook)(draw(8, 12))
        capture.end_step(optimizer=optimizer)
        dump, sidecar = self.only()
        self.assertEqual(bits(dump["input"]), bits(X))
        self.assertEqual((sidecar["input"]["from"], sidecar["input"]["rebuilt"]), ("rebuilt", {"by": "me"}))

    def test_hook_that_raises_costs_only_the_input(self):
        self.on("observe")

        def hook(optimizer, call):
            raise KeyError("nothing here")

        capture.wrap(broken, rebuild=hook)(draw(8, 12))
        capture.end_step(optimizer=object())
        self.assertEqual(len(list(self.folder.glob("*.json"))), 1)
        self.assertIsNone(capture._process.stopped)

    def test_raises_at_the_end_of_the_step(self):
        self.on("observe", raises=True)
        X = draw(8, 12)
        capture.wrap(broken)(X)
        with self.assertRaises(capture.NonFiniteOutput):
            capture.end_step()

    def test_large_finite_values_are_not_accused(self):
        self.on("observe")
        X = draw(8, 12)
        Y = capture.wrap(lambda X: torch.full((64, 64), 3e38))(X)
        capture.end_step()
        self.assertEqual(list(self.folder.iterdir()), [])
        del Y

    def test_works_in_place(self):
        def inside(X):
            X[0, 0] = NAN

        self.on("observe")
        X = draw(8, 12)
        capture.wrap(inside)(X)
        capture.end_step()
        self.assertEqual(self.dumps(), [])
        (path,) = self.folder.glob("*.json")
        sidecar = json.loads(path.read_text())
        self.assertIsNone(sidecar["input"]["from"])
        self.assertTrue(sidecar["output"]["in_place"])
        self.assertEqual(sidecar["output"]["checksum"], capture.checksum(X))
        self.assertEqual(sidecar["output"]["nonfinite"], 1)

    def test_returns_a_view(self):
        """Of an input that it leaves as it was, and that is bad as it comes."""
        self.on("observe")
        X = draw(8, 12)
        X[1, 1] = NAN
        Y = capture.wrap(lambda X: X.T)(X)
        self.assertEqual(Y.data_ptr(), X.data_ptr())
        capture.end_step()
        dump, sidecar = self.only()
        self.assertEqual((bits(dump["input"]), bits(dump["output"])), (bits(X), bits(X.T)))
        self.assertEqual((sidecar["output"]["aliases_input"], sidecar["output"]["in_place"]), (True, False))

    def test_exception(self):
        def raising(X):
            raise ValueError("no")

        self.on("observe")
        with self.assertRaises(ValueError):
            capture.wrap(raising)(draw(8, 12))
        self.assertEqual(self.only()[1]["input"]["from"], "after the call")

    def test_nobody_ends_a_step(self):
        self.on("observe")
        watched = capture.wrap(sometimes({7}))
        held = [draw(4, 6, seed=1)]
        with mock.patch.object(capture, "UNREAD", 20):
            for _ in range(20):
                watched(held[0])
        self.assertEqual(len(self.dumps()), 1)
        self.assertIn("end_step() once a step", self.text.getvalue())

    def test_more_calls_in_a_step_than_a_block_has(self):
        self.on("observe")
        watched = capture.wrap(sometimes({3, 300, 599}), name="f")
        X = draw(4, 6)
        for _ in range(600):
            watched(X)
        capture.end_step()
        self.assertEqual([sidecar["call"]["index"] for sidecar in self.sidecars()], [3, 300, 599])
        self.assertEqual(capture._process.verdicts, 600)
        ring = self.sidecars()[-1]["ring"]
        self.assertEqual((len(ring), ring[-1][0], ring[-1][2]), (256, 599, "f"))


    def test_observe_finds_a_finite_one_where_asked(self):
        kept = newton_schulz(draw(8, 12))
        for keep in (True, False):
            self.forget()
            self.on("observe", stale=True, keep=keep)
            watched = capture.wrap(lambda X: X * 0 if X[0, 0] == 0 else kept.clone())
            inputs = [draw(8, 12, seed=seed) for seed in (1, 1, 2)]
            for X in inputs[:2]:
                watched(X)
                capture.end_step()
            self.assertEqual(self.dumps(), [], "repeats of an input")
            watched(inputs[2])
            capture.end_step()
            dump, sidecar = self.only()
            self.assertEqual(sidecar["reason"], "the output of an earlier call")
            self.assertEqual((sidecar["output"]["from"], len(sidecar["controls"])), ("alive after the step", 1))
            self.assertEqual(bits(dump["input"]), bits(inputs[2]))
            self.assertEqual(sidecar["output"]["checksum"], capture.checksum(kept))
            self.assertIn("stale Newton-Schulz output on rank 0", self.text.getvalue())
            for path in self.folder.iterdir():
                path.unlink()


COUNT = 0


def counting(X):
    global COUNT
    COUNT += 1
    return X * NAN


class Kept(Case):
    """What a function keeps from call to call: another end of the same input says nothing then."""

    def keeps(self, function, mode="strict", given=()):
        """Of a failure in the third step."""
        self.forget()
        self.on(mode, keep=mode == "observe")
        watched = capture.wrap(function)
        for step in range(3):
            watched(draw(8, 12) * (NAN if step == 2 else 1), *given)
            capture.end_step()
        (path, *_) = self.dumps() or sorted(self.folder.glob("*.json"))
        sidecar = json.loads(path.with_suffix(".json").read_text())
        for path in self.folder.iterdir():
            path.unlink()
        return sidecar["call"]["keeps"], sidecar["call"]["random"]

    def test_nothing_or_what_never_changes(self):
        steps, table = [3.4, 4.7], torch.ones(3)
        cache, aten = {}, torch.ops.aten  # of which every method of a tensor may be asked

        def cached(X):
            return newton_schulz(X) * cache.setdefault(X.shape, torch.ones(()))

        class Iteration:
            def __init__(self):
                self.steps, self.calls = 5, 0

            def __call__(self, X):
                return newton_schulz(X) * self.steps

        for mode in ("strict", "observe"):
            for function in (newton_schulz, lambda X: X * steps[0] + table.sum(), cached, Iteration(), lambda X: aten.mul(X, 2)):
                self.assertEqual(self.keeps(function, mode)[0], "the same", (mode, function))
        object_ = Iteration()
        self.assertEqual(self.keeps(functools.partial(Iteration.__call__, object_))[0], "the same")

    def test_what_changes(self):
        mean, calls = torch.ones(100, 1), 0
        means, numbers = {}, []

        def moving(X):
            mean.add_(1)
            return newton_schulz(X)

        def counted(X):
            nonlocal calls
            calls += 1
            return newton_schulz(X)

        def in_a_dict(X):
            means["mean"] = X.mean()
            return newton_schulz(X)

        def through_another(X):
            return moving(X)

        class Iteration:
            def __init__(self):
                self.calls = 0

            def run(self, X):
                self.calls += 1
                return newton_schulz(X)

            __call__ = run

        functions = (moving, counted, in_a_dict, through_another, counting, Iteration(), Iteration().run)
        for function in (*functions, lambda X: numbers.append(0) or newton_schulz(X)):
            for mode in ("strict", "observe"):
                self.assertEqual(self.keeps(function, mode)[0], "other values", (mode, function))

    def test_random_numbers(self):
        import random

        own = torch.Generator()
        self.assertEqual(self.keeps(newton_schulz), ("the same", False))
        self.assertEqual(self.keeps(lambda X: X * torch.rand(1))[1], True)
        self.assertEqual(self.keeps(lambda X: X * random.random())[1], True)
        self.assertEqual(self.keeps(lambda X: X * torch.rand(1, generator=own))[0], "other values")

    def test_too_much_to_look_at(self):
        many = list(range(100_000))
        self.assertEqual(self.keeps(lambda X: X * many[1])[0], "not known")
        self.assertEqual(self.keeps(lambda X, table: X * table[1], "strict", (many,))[0], "not known")

    def test_what_the_call_is_given_and_changes(self):
        """Of a state in an argument the call made again has another than the call had."""

        class Scaler:
            def __init__(self):
                self.scale = 1.0

        def by_dict(X, state):
            state["step"] = state.get("step", 0) + 1
            return newton_schulz(X)

        def by_moment(X, state):
            state["v"] = state["v"] * 0.9 + X.square().mean(-1)
            return newton_schulz(X)

        def by_nested(X, group):
            group["params"][0].add_(1)
            return newton_schulz(X)

        def by_object(X, scaler):
            scaler.scale *= 2
            return newton_schulz(X)

        def by_number(X, v):
            v.mul_(0.9)
            return newton_schulz(X)

        for function, given, observe in (
            (by_dict, {}, "other values"),
            (by_moment, {"v": torch.ones(100)[:8]}, "not known"),
            (by_nested, {"params": [torch.ones(100)], "lr": 0.1}, "not known"),
            (by_object, Scaler(), "not known"),
            (by_number, torch.ones(()), "other values"),
        ):
            self.assertEqual(self.keeps(function, "strict", (given,))[0], "other values", function)
            # What observe could not look at before the call it finds changed only if a call made again changes it.
            self.assertIn(self.keeps(function, "observe", (given,))[0], (observe, "other values"), function)

    def test_what_the_caller_changes_until_the_end_of_the_step(self):
        for group in ({"scale": 1.0}, {"scale": 1.0, "params": [torch.ones(2, 2)]}):
            self.forget()
            self.on("observe", keep=True)
            watched = capture.wrap(lambda X, group: newton_schulz(X) * group["scale"])
            group["scale"] = NAN
            watched(draw(8, 12), group)
            group["scale"] = 1.0
            capture.end_step()
            self.assertEqual(self.only()[1]["call"]["keeps"], "not known" if "params" in group else "other values")
            for path in self.folder.iterdir():
                path.unlink()

    def test_what_the_call_is_given_and_never_changes(self):
        class Numbers:
            scale = 2.0

        for given in (
            (1e-7, 5, None, "word", (3.4, -4.7, 2.0), torch.float32, torch.device("cpu"), torch.Size((1, 2))),
            (torch.tensor(1e-7), [3.4, -4.7], {"eps": 1e-7}, torch.linalg.norm, math.sqrt),
        ):
            for mode in ("strict", "observe"):
                found = self.keeps(lambda X, *_: newton_schulz(X), mode, given)
                self.assertEqual(found, ("the same", False), (mode, given))
        self.assertEqual(self.keeps(lambda X, n: newton_schulz(X) * n.scale, "strict", (Numbers(),))[0], "the same")
        self.assertEqual(self.keeps(lambda X, n: newton_schulz(X) * n.scale, "observe", (Numbers(),))[0], "not known")

    def test_what_cannot_be_looked_into(self):
        ones = iter([1.0] * 1000)
        for mode in ("strict", "observe"):
            self.assertEqual(self.keeps(lambda X: newton_schulz(X) * next(ones), mode)[0], "not known")
            self.assertEqual(self.keeps(lambda X: newton_schulz(X) * ones.__next__(), mode)[0], "not known")
            self.assertEqual(self.keeps(lambda X, i: newton_schulz(X) * next(i), mode, (ones,))[0], "not known")
            linear = torch.nn.Linear(12, 12)
            self.assertEqual(self.keeps(lambda X: linear(newton_schulz(X).float()), mode)[0], "not known")
        self.assertEqual(self.keeps(lambda X: newton_schulz(X) * globals()["COUNT"])[0], "not known")

    def test_generators_that_are_given_or_reached(self):
        import random

        reached = random.Random(1)
        for own in (torch.Generator(), random.Random(1)):
            for mode in ("strict", "observe"):
                self.assertEqual(self.keeps(lambda X, generator: newton_schulz(X), mode, (own,))[1], True)
        self.assertEqual(self.keeps(lambda X: newton_schulz(X) * reached.random())[1], True)
        draw_one = reached.random
        self.assertEqual(self.keeps(lambda X: newton_schulz(X) * draw_one())[1], True)
        try:
            import numpy
        except ImportError:
            return
        own = numpy.random.default_rng(1)
        self.assertEqual(self.keeps(lambda X: newton_schulz(X) * float(own.normal()))[1], True)
        self.assertEqual(self.keeps(lambda X, r: newton_schulz(X) * float(r.normal()), "strict", (own,))[1], True)

    def test_what_methods_and_properties_keep(self):
        class State:
            def __init__(self):
                self.calls = 0

            def count(self):
                self.calls += 1
                return 1.0

            @property
            def counted(self):
                return self.count()

            def __getitem__(self, _):
                return self.count()

        class Layer(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("mean", torch.ones(100))

            def forward(self, X):
                self.mean = self.mean * 0.9
                return newton_schulz(X)

        state, layer = State(), Layer()
        for function in (
            lambda X: newton_schulz(X) * state.count(),
            lambda X: newton_schulz(X) * state.counted,
            lambda X: newton_schulz(X) * state[0],
            lambda X: newton_schulz(X) * getattr(state, "count")(),
            lambda X: layer(X),
        ):
            self.assertEqual(self.keeps(function)[0], "other values")

    def module(self, name, text):
        path = self.folder.parent / f"{self.folder.name}-modules"
        path.mkdir(exist_ok=True)
        self.addCleanup(shutil.rmtree, path, True)
        (path / f"{name}.py").write_text(text)
        if str(path) not in sys.path:
            sys.path.insert(0, str(path))
            self.addCleanup(sys.path.remove, str(path))
        self.addCleanup(sys.modules.pop, name, None)
        self.addCleanup(capture._is_users.cache_clear)
        importlib.invalidate_caches()
        return importlib.import_module(name)

    def test_state_in_another_module_of_a_flat_repository(self):
        self.module("ns_state", "class S:\n    calls = 0\ndef count():\n    S.calls += 1\n    return 1.0\n")
        for line in ("ns_state.count()", "count()", "late()"):
            text = (
                "import ns_state\nfrom ns_state import count\ndef late():\n    import ns_state as other\n"
                f"    return other.count()\ndef orthogonalize(X):\n    return X * {line}\n"
            )
            orthogonalize = self.module("ns_flat", text).orthogonalize
            sys.modules.pop("ns_flat")
            for mode in ("strict", "observe"):
                self.assertEqual(self.keeps(orthogonalize, mode)[0], "other values", (line, mode))
        text = "import ns_state\ndef orthogonalize(X):\n    return X * ns_state.S.calls\n"
        self.assertEqual(self.keeps(self.module("ns_reads", text).orthogonalize)[0], "the same")

    def test_what_a_trainer_sets_for_one_step(self):
        """It is another by the end of the step in observe; what is set for good is none of that."""

        class Scale:
            value = 1.0

        for back, expected in ((1.0, "other values"), (NAN, "the same")):
            self.forget()
            self.on("observe", keep=True)
            watched = capture.wrap(lambda X: newton_schulz(X) * Scale.value)
            for step in range(3):
                Scale.value = NAN if step == 2 else 1.0
                watched(draw(8, 12))
                Scale.value = back if step == 2 else 1.0
                capture.end_step()
            self.assertEqual(self.only()[1]["call"]["keeps"], expected)
            for path in self.folder.iterdir():
                path.unlink()

    def test_what_is_written_around_a_function_of_ones_own(self):
        """None of it keeps a value of the training."""
        import dataclasses
        import logging

        logger, lock = logging.getLogger("ns"), threading.Lock()

        @dataclasses.dataclass(frozen=True)
        class Options:
            steps: int = 5

        options = Options()

        @functools.lru_cache
        def scale(steps):
            return steps / 5

        def plain(X):
            with lock:
                logger.debug("called")
            return torch.nn.functional.normalize(newton_schulz(X) * scale(options.steps) * math.sqrt(1))

        for function in (
            plain,
            torch.no_grad()(plain),
            torch.inference_mode(False)(plain),
            torch.autocast("cpu", enabled=False)(plain),
            torch.compile(plain, backend="eager"),
            functools.partial(plain),
            capture.wrap(plain),
        ):
            found = capture._kept_by(function)
            self.assertEqual(capture._compared(found, capture._kept_by(function)), "the same", function)
            self.assertFalse(found.random)

    def test_what_each_call_made_again_puts_back(self):
        """After eight of them it is what it was."""
        side = [0]

        def turns(X):
            if not torch.is_grad_enabled():
                side[0] = 1 - side[0]
            return newton_schulz(X)

        self.assertEqual(self.keeps(turns)[0], "other values")

    def test_functions_that_are_known_stay_decided(self):
        jordan = (3.4445, -4.7750, 2.0315)
        cases = [(muon.zeropower_via_newtonschulz5, (5,))]
        if TORCHS in sys.modules:
            cases.append((sys.modules[TORCHS]._zeropower_via_newtonschulz, (jordan, 5, 1e-7)))
        for function, given in cases:
            for mode in ("strict", "observe"):
                self.assertEqual(self.keeps(function, mode, given), ("the same", False), (function, mode))


class Dumb(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, kinds, args=(), kwargs=None):
        raise RuntimeError(f"no {function}")


def four_bits():
    """Two values in each byte; None where torch has no such format."""
    kind = getattr(torch, "float4_e2m1fn_x2", None)
    return None if kind is None else torch.zeros(8, 12, dtype=torch.uint8).view(kind)


class CountsInItsGroups(torch.optim.Optimizer):
    """As dion's: the count is in the groups, and the state is there before the first step."""

    def __init__(self, parameters, lr):
        super().__init__(parameters, {"lr": lr, "step": 0})
        for parameter in self.param_groups[0]["params"]:
            self.state[parameter]["momentum"] = torch.zeros_like(parameter)

    def step(self, closure=None):
        self.param_groups[0]["step"] += 1


class Steps(Case):
    def step(self):
        """Of the only capture, which is removed."""
        sidecar = self.only()[1]
        for path in self.folder.iterdir():
            path.unlink()
        return sidecar.get("step")

    def test_of_two_optimizers_each_counts_its_own(self):
        for begin in (capture.install, None):
            self.forget()
            self.on()
            model = Net()
            if begin:
                begin()
            optimizers = [muon.Muon([model.up.weight]), torch.optim.SGD([model.down.weight], lr=0.1)]
            for optimizer in optimizers:
                capture.watch(optimizer)
            for step in range(4):
                for parameter in model.parameters():
                    parameter.grad = torch.ones_like(parameter) * (NAN if step == 3 else 1)
                with contextlib.ExitStack() as stack:
                    if not begin:
                        stack.enter_context(capture.patched("muon:zeropower_via_newtonschulz5"))
                    for optimizer in optimizers:
                        optimizer.step()
            self.assertEqual(self.step(), 3, begin)

    def test_a_run_that_goes_on(self):
        def resumed(kind, told=None, **options):
            """The step that is recorded in the second after two that were loaded."""
            self.forget()
            self.on()
            weight = torch.nn.Parameter(torch.ones(8, 12))
            first, second = (kind([weight], lr=0.1, **options) for _ in range(2))

            def steps(optimizer):
                for _ in range(2):
                    weight.grad = torch.ones_like(weight)
                    optimizer.step()

            steps(first)
            second.load_state_dict(first.state_dict())
            capture.watch(second, step=told)
            calls = []
            watched = capture.wrap(lambda X: broken(X) if len(calls) == 2 else X)
            # After the hooks of watch(), so within the step.
            second.register_step_pre_hook(lambda *_: calls.append(0) or watched(draw(8, 12)) is None or None)
            steps(second)
            return self.step()

        self.assertIsNone(resumed(torch.optim.SGD, momentum=0.9), "its state has no number")
        self.assertEqual(resumed(torch.optim.SGD, told=17, momentum=0.9), 18)
        self.assertEqual(resumed(torch.optim.AdamW), 3, "its state counts")
        self.assertEqual(resumed(CountsInItsGroups), 3, "its groups count")

    def test_flags_and_zeros_in_a_state_are_no_steps(self):
        """Moonlight notes of each parameter, when it is made, whether it is Muon's; muon_fsdp2 makes its moments then."""
        ways = ({"use_muon": True}, 0), ({"m": torch.zeros(2)}, 0), ({"use_muon": True, "m": torch.ones(2)}, None), ({"n": 7}, None)
        for noted, expected in ways:
            optimizer = torch.optim.SGD([torch.nn.Parameter(draw(8, 12))], lr=0.1)
            optimizer.state[optimizer.param_groups[0]["params"][0]].update(noted)
            self.assertEqual(capture._steps_taken(optimizer), expected, noted)

    def test_a_state_that_raises_when_it_is_looked_at_leaves_the_training_alone(self):
        """As of four bits to a value, for which torch has no operations, and of subclasses that answer nothing."""
        for make in (lambda: draw(8, 12).as_subclass(Dumb), four_bits):
            kept = make()
            if kept is None:
                continue
            self.forget()
            self.on(retries=0)
            weight = torch.nn.Parameter(draw(8, 12))
            weight.grad = draw(8, 12)
            optimizer = torch.optim.SGD([weight], lr=0.1)
            optimizer.state[weight]["momentum"] = kept
            with self.assertRaises((RuntimeError, NotImplementedError)):
                capture._steps_taken(optimizer)
            capture.watch(optimizer).register_step_pre_hook(lambda *_: capture.wrap(broken)(draw(8, 12)) is None or None)
            optimizer.step()
            self.assertIsNone(capture._process.stopped)
            sidecar = self.only()[1]
            self.assertNotIn("step", sidecar)
            (state,) = sidecar["state"]
            self.assertEqual((state["weight_finite_before"], state["momentum_finite"], state["state_finite_before"]), (True, None, None))
            for path in self.folder.iterdir():
                path.unlink()

    def test_who_ends_steps_may_say_which_is_first(self):
        for said, expected in ((None, None), (40, 40)):
            self.forget()
            self.on()
            if said is not None:
                capture.begin_step(said)
            capture.wrap(broken)(draw(8, 12))
            self.assertEqual(self.step(), expected)
        capture.end_step(40)
        capture.wrap(broken)(draw(8, 12))
        self.assertEqual(self.step(), 41)


class Nested(torch.optim.Optimizer):
    """Calls another optimizer's step in its own, before and after a call of the function itself."""

    def __init__(self, parameters, inner, function):
        super().__init__(parameters, {})
        self.inner, self.function = inner, function

    def step(self, closure=None):
        self.function(draw(8, 12))
        if self.inner is not None:
            self.inner.step()
        self.function(draw(8, 12))


class Raising(torch.optim.Optimizer):
    def step(self, closure=None):
        raise KeyError("here")


class Ordinal(Case):
    """The step() calls of all optimizers of a process are counted as one."""

    def setUp(self):
        super().setUp()
        self.on("strict", retries=0, max_dumps=1000, per_minute=1000)
        self.function = capture.wrap(lambda X: X * NAN)

    def optimizer(self, inner=None):
        return Nested([torch.nn.Parameter(torch.ones(2, 2))], inner, self.function)

    def numbers(self):
        by_call = sorted(self.sidecars(), key=lambda sidecar: sidecar["call"]["index"])
        return [sidecar["optimizer_step"] for sidecar in by_call]

    def watched(self, how, *optimizers):
        if "install" in how:
            capture.install()
        if "watch" in how:
            for optimizer in optimizers:
                capture.watch(optimizer)

    def test_of_two_optimizers_in_turns(self):
        for how in ("install", "watch", "install watch"):
            self.setUp()
            first, second = self.optimizer(), self.optimizer()
            self.watched(how, first, second)
            for one in (first, second, second, first):
                one.step()
            self.assertEqual(self.numbers(), [0, 0, 1, 1, 2, 2, 3, 3], how)
            for path in self.folder.iterdir():
                path.unlink()

    def test_an_optimizer_that_calls_another(self):
        for how in ("install", "watch", "install watch"):
            self.setUp()
            inner = self.optimizer()
            outer = self.optimizer(inner)
            self.watched(how, inner, outer)
            for one in (outer, inner, outer):
                one.step()
            self.assertEqual(self.numbers(), [0, 0, 0, 0, 1, 1, 2, 2, 2, 2], how)
            for path in self.folder.iterdir():
                path.unlink()

    def test_none_where_no_step_runs(self):
        optimizer = self.optimizer()
        optimizer.step()
        self.watched("watch", optimizer)
        self.function(draw(8, 12))
        optimizer.step()
        self.function(draw(8, 12))
        self.assertEqual(self.numbers(), [None, None, None, 0, 0, None])

    def test_a_step_that_raised_is_over(self):
        raising, optimizer = Raising([torch.nn.Parameter(torch.ones(2, 2))], {}), self.optimizer()
        self.watched("watch", raising, optimizer)
        for one in (raising, optimizer, raising, raising, optimizer):
            with contextlib.suppress(KeyError):
                one.step()
        self.assertEqual(self.numbers(), [1, 1, 4, 4])

    def test_it_is_that_of_the_call_in_observe(self):
        self.on("observe", retries=0, max_dumps=1000)
        optimizer = self.optimizer()
        capture.watch(optimizer)
        for _ in range(3):
            optimizer.step()
        self.assertEqual([s["optimizer_step"] for s in map(json.loads, self.texts())], [0, 0, 1, 1, 2, 2])

    def texts(self):
        found = [path.read_text() for path in self.folder.glob("*.json")]
        return sorted(found, key=lambda text: json.loads(text)["call"]["index"])


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.up = torch.nn.Linear(12, 20, bias=False)
        self.down = torch.nn.Linear(20, 12, bias=False)

    def forward(self, x):
        return self.down(torch.relu(self.up(x)))


def train(steps=10, model=None, poison=None, watch=False, kind=muon.Muon, **options):
    """A small real training; returns the model. The gradient of `poison` becomes NaN in the last step."""
    model = model or Net()
    optimizer = kind(model.parameters(), lr=0.02, **options)
    if watch:
        capture.watch(optimizer, model)
    data = torch.Generator().manual_seed(3)
    for step in range(steps):
        x = torch.randn(16, 12, generator=data)
        optimizer.zero_grad()
        (model(x) - x.flip(1)).square().mean().backward()
        if poison is not None and step == steps - 1:
            dict(model.named_parameters())[poison].grad[1, 2] = NAN
        optimizer.step()
    return model


class State(Case):
    def test_a_list_that_is_cut_says_so(self):
        self.on(retries=0)
        others = [torch.nn.Parameter(torch.ones(3, 5)), torch.nn.Parameter(torch.ones(12))]
        weights = [torch.nn.Parameter(torch.ones(8, 12)) for _ in range(70)]
        optimizers = [torch.optim.SGD([*part, *others]) for part in (weights[:40], weights[40:])]
        for optimizer in optimizers:
            capture.watch(optimizer)
        capture.wrap(broken)(draw(8, 12))
        sidecar = self.only()[1]
        self.assertEqual(len(sidecar["state"]), 64)
        self.assertEqual(sidecar["state_of"], {"parameters": 70, "listed": 64, "shards": False, "transposes": True})

    def test_of_a_matrix_that_was_gathered_the_part_of_this_rank_is_listed(self):
        """Megatron's TensorParallelMuon hands the whole over, and notes on the parameter where it was split."""
        for ranks, shards in ((2, True), (1, False)):
            self.forget()
            self.on(retries=0)
            weight = torch.nn.Parameter(draw(8 // ranks, 12))
            weight.partition_dim, weight.grad = 0, draw(8 // ranks, 12) * NAN
            optimizer = Stepping([weight], lambda gradient, buffer: draw(8, 12), lambda X: broken(X)[: 8 // ranks])
            optimizer.pg_collection = types.SimpleNamespace(tp=dist.ProcessGroup(0, ranks))
            capture.watch(optimizer).step()
            sidecar = self.only()[1]
            (state,) = sidecar["state"]
            self.assertEqual((state["grad_finite"], state["weight_finite_before"]), (False, True))
            self.assertEqual([len(sidecar["parameters"]), sidecar["state_of"]["shards"]], [1, shards])
            self.assertEqual(sidecar["weights_before"]["shards"], shards)
            for path in self.folder.iterdir():
                path.unlink()

    def test_of_no_optimizer_nothing_is_listed(self):
        self.on(retries=0)
        capture.wrap(broken)(draw(8, 12))
        sidecar = self.only()[1]
        self.assertEqual((sidecar["state"], sidecar["state_of"]), ([], {"parameters": 0, "listed": 0, "shards": False, "transposes": True}))

    def test_a_shape_that_no_call_had_in_an_earlier_step(self):
        """As of the second of two optimizers: what is looked at before a step are weights of shapes that calls had."""
        self.on()
        for shape in ((6, 4), (8, 12)):
            weight = torch.nn.Parameter(draw(*shape))
            weight.grad = draw(*shape)
            capture.watch(Stepping([weight], lambda gradient, buffer: gradient, lambda X: X * NAN)).step()
        self.assertIsNone(capture._process.stopped)
        before = [s["state"][0]["weight_finite_before"] for s in sorted(self.sidecars(), key=lambda s: s["call"]["index"])]
        self.assertEqual(before, [True, None])

    def test_only_what_is_a_moment_of_the_parameter_is_asked(self):
        for kept, finite in (
            (torch.full((8, 12), NAN), False),
            (torch.zeros(8, 12), True),
            (torch.zeros(96, dtype=torch.uint8), None),
            (torch.zeros(8, 12, dtype=torch.int8), None),
            (torch.zeros(8), None),
            (0.95, None),
            (None, None),
        ):
            self.forget()
            self.on(retries=0)
            weight = torch.nn.Parameter(torch.ones(8, 12))
            optimizer = torch.optim.SGD([weight])
            optimizer.state[weight]["momentum"] = kept
            capture.watch(optimizer)
            capture.wrap(broken)(draw(8, 12))
            self.assertIsNone(capture._process.stopped, kept)
            (state,) = self.only()[1]["state"]
            self.assertEqual(state["momentum_finite"], finite, kept)
            for path in self.folder.iterdir():
                path.unlink()


class Stepping(torch.optim.Optimizer):
    """Hands what `update` makes of the gradient and the moment to a function that always fails."""

    def __init__(self, parameters, update, function):
        super().__init__(parameters, {})
        self.update, self.function = update, capture.wrap(function)

    @torch.no_grad()
    def step(self, closure=None):
        for weight in self.param_groups[0]["params"]:
            buffer = self.state[weight].setdefault("momentum_buffer", torch.zeros_like(weight))
            weight.add_(self.function(self.update(weight.grad, buffer.add_(weight.grad))))


def broken_(X):
    return X.copy_(broken(X))


class Written(Case):
    """Many optimizers write to the gradient, and some functions to the moment, before a bad call is looked at."""

    # What the function is given; the function; what is known of the moment, which is finite, as is the gradient.
    WAYS = (
        (lambda gradient, buffer: gradient + buffer, broken, True),
        (lambda gradient, buffer: gradient, broken, True),
        (lambda gradient, buffer: gradient.mul(2), broken, True),
        (lambda gradient, buffer: gradient.mul_(2), broken, True),
        (lambda gradient, buffer: gradient.mul_(2).bfloat16(), lambda X: broken(X).float(), True),
        (lambda gradient, buffer: (torch._foreach_mul_([gradient], 2), gradient.clone())[1], broken, True),
        (lambda gradient, buffer: gradient.data.lerp_(buffer, 0.9), broken, True),
        (lambda gradient, buffer: buffer, broken, True),
        (lambda gradient, buffer: buffer, broken_, None),
        (lambda gradient, buffer: buffer.view(1, 8, 12), lambda X: broken_(X)[0], None),
        (lambda gradient, buffer: buffer.clone(), broken_, True),
    )

    def test_the_gradient_is_what_the_step_began_with_and_a_moment_that_was_written_to_is_not_known(self):
        for number, (update, function, known) in enumerate(self.WAYS):
            for mode in ("observe", "strict"):
                self.forget()
                self.on(mode, retries=0)
                weight = torch.nn.Parameter(draw(8, 12))
                optimizer = capture.watch(Stepping([weight], update, function))
                weight.grad = draw(8, 12, seed=1)
                optimizer.step()
                self.assertIsNone(capture._process.stopped, (number, mode))
                (path,) = self.folder.glob("dion_nan_capture*.json")
                sidecar = json.loads(path.read_text())
                (state,) = sidecar["state"]
                self.assertEqual((state["grad_finite"], state["momentum_finite"]), (True, known), (number, mode))
                for path in self.folder.iterdir():
                    path.unlink()

    def test_a_moment_that_was_bad_is_not_said_of_the_gradient(self):
        for kind in (muon.Muon, getattr(torch.optim, "Muon", None)):
            if kind is None:
                continue
            self.forget()
            self.on("observe", retries=0)
            weight = torch.nn.Parameter(draw(8, 12))
            optimizer = kind([weight], lr=0.1)
            capture.watch(optimizer)
            capture.install()
            weight.grad = draw(8, 12, seed=1)
            optimizer.step()
            optimizer.state[weight]["momentum_buffer"][1, 2] = NAN
            weight.grad = draw(8, 12, seed=2)
            optimizer.step()
            (state,) = self.only()[1]["state"]
            # KellerJordan's has left the moment in the gradient by then.
            self.assertEqual((state["grad_finite"], state["momentum_finite"]), (True, False))
            self.assertEqual(state["state_finite_before"], False)
            for path in self.folder.iterdir():
                path.unlink()

    def test_a_moment_that_goes_bad_within_the_step_was_finite_before(self):
        """As where an optimizer sums a copy of its gradient over ranks, of which one had a bad one."""
        self.on("observe", retries=0)
        weight = torch.nn.Parameter(draw(8, 12))
        optimizer = capture.watch(Stepping([weight], lambda gradient, buffer: buffer, newton_schulz))
        for bad in (0, NAN):
            weight.grad = draw(8, 12, seed=1)
            optimizer.update = lambda gradient, buffer: buffer.add_(bad)
            optimizer.step()
        sidecar = self.only()[1]
        (state,) = sidecar["state"]
        self.assertEqual([state["grad_finite"], state["momentum_finite"], state["state_finite_before"]], [True, False, True])
        self.assertEqual(sidecar["weights_before"]["bad"], 0)

    def test_a_weight_that_is_not_used_may_hold_anything(self):
        self.on("observe", retries=0)
        used, unused = (torch.nn.Parameter(draw(8, 12)) for _ in range(2))
        unused.data[2, 3] = NAN
        optimizer = Stepping([used], lambda gradient, buffer: gradient, broken)
        optimizer.add_param_group({"params": [unused]})
        used.grad = draw(8, 12)
        capture.watch(optimizer)
        capture._before_step(capture._EVERY_OPTIMIZER, optimizer)
        marks = capture._process.marks[optimizer][1]
        self.assertEqual(list(marks), [id(used)])

    def test_a_loss_or_closures_make_other_gradients(self):
        for argument, makes in ((torch.tensor(1.0), True), ([print], True), (print, True), (None, False), (3, False)):
            self.assertEqual(capture._may_make_gradients(argument), makes, argument)

    def test_a_state_that_is_packed_or_kept_elsewhere_is_not_known(self):
        matrix = torch.zeros(8, 12)
        for state, known in (
            ({}, None),
            ({"step": torch.tensor(3.0)}, None),
            ({"momentum_buffer": matrix, "step": 3, "flag": True}, True),
            ({"momentum_buffer": matrix, "step": torch.tensor(3)}, True),
            ({"exp_avg": matrix, "scale": torch.tensor(NAN)}, False),
            ({"exp_avg": matrix, "scale": torch.tensor([NAN, 1.0])}, False),
            ({"momentum_buffer": matrix, "moved": (0.5, 2.0), "word": "nan"}, True),
            ({"momentum_buffer": matrix, "best": float("inf")}, None),
            ({"momentum_buffer": matrix, "moved": (0.5, NAN)}, None),
            ({"momentum_buffer": matrix, "root": torch.tensor(complex(NAN, 0))}, None),
            ({"momentum_buffer": matrix, "scale": torch.zeros(2).as_subclass(Dumb)}, None),
            ({"momentum_buffer": matrix, "packed": torch.zeros(96, dtype=torch.uint8)}, None),
            ({"momentum_buffer": matrix, "inner": {"m": matrix}}, None),
        ):
            self.forget()
            self.on(retries=0)
            weight = torch.nn.Parameter(draw(8, 12))
            weight.grad = draw(8, 12)
            optimizer = Stepping([weight], lambda gradient, buffer: gradient, broken)
            optimizer.state[weight].update(state)
            capture.watch(optimizer).step()
            self.assertEqual(self.only()[1]["state"][0]["state_finite_before"], known, state)
            for path in self.folder.iterdir():
                path.unlink()

    def test_what_is_kept_besides_the_state_is_not_known(self):
        """As of one that stacks its momenta; a list of its weights is none."""
        for put, known in (
            (lambda one, weight: None, True),
            (lambda one, weight: setattr(one, "weights", [weight]), True),
            (lambda one, weight: one.param_groups[0].update(lr=torch.tensor(0.1)), True),
            (lambda one, weight: setattr(one, "momenta", {(8, 12): draw(1, 8, 12)}), None),
            (lambda one, weight: one.param_groups[0].update(momenta=[draw(8, 12)]), None),
            (lambda one, weight: one.state.update(momenta={"0": draw(8, 12)}), None),
        ):
            self.forget()
            self.on(retries=0)
            weight = torch.nn.Parameter(draw(8, 12))
            weight.grad = draw(8, 12)
            optimizer = Stepping([weight], lambda gradient, buffer: gradient, broken)
            optimizer.state[weight]["momentum_buffer"] = torch.zeros(8, 12)
            put(optimizer, weight)
            capture.watch(optimizer).step()
            self.assertIsNone(capture._process.stopped)
            self.assertEqual(self.only()[1]["state"][0]["state_finite_before"], known)
            for path in self.folder.iterdir():
                path.unlink()

    def test_of_several_steps_within_that_of_another_each_is_looked_at(self):
        self.on(retries=0)
        weight = torch.nn.Parameter(draw(8, 12))
        weight.grad = draw(8, 12)
        inner = capture.watch(Stepping([weight], lambda gradient, buffer: buffer, newton_schulz))

        class Twice(torch.optim.Optimizer):
            def step(self, closure=None):
                inner.step()
                inner.state[weight]["momentum_buffer"].fill_(NAN)
                inner.step()

        capture.watch(Twice([torch.nn.Parameter(draw(3))], {})).step()
        (state,) = self.only()[1]["state"]
        self.assertEqual((state["weight_finite_before"], state["state_finite_before"]), (True, False))

    def test_a_gradient_that_no_step_was_seen_to_begin_with_is_not_known(self):
        self.on(retries=0)
        weight = torch.nn.Parameter(draw(8, 12))
        optimizer = capture.watch(torch.optim.SGD([weight], lr=0.1))
        weight.grad = draw(8, 12)
        capture.wrap(broken)(draw(8, 12))
        optimizer.step()
        capture.wrap(broken)(draw(8, 12))
        weight.grad = draw(8, 12)  # the same values, in another tensor
        capture.wrap(broken)(draw(8, 12))
        self.assertEqual([s["state"][0]["grad_finite"] for s in self.sidecars()], [None] * 3)

    def test_what_a_closure_makes_is_not_known(self):
        self.on(retries=0)
        weight = torch.nn.Parameter(draw(8, 12))
        optimizer = capture.watch(torch.optim.SGD([weight], lr=0.1))
        weight.grad = draw(8, 12) * NAN

        def closure():
            weight.grad = draw(8, 12)
            capture.wrap(broken)(draw(8, 12))

        optimizer.step(closure)
        optimizer.step(closure=closure)
        self.assertEqual([s["state"][0]["grad_finite"] for s in self.sidecars()], [None] * 2)

    def test_nothing_is_noted_while_it_is_off(self):
        weight = torch.nn.Parameter(draw(8, 12))
        optimizer = capture.watch(torch.optim.SGD([weight], lr=0.1))
        weight.grad = draw(8, 12)
        optimizer.step()
        self.assertEqual(len(capture._process.marks), 0)


class Training(Case):
    published = True  # as is the package that the file stands for

    def setUp(self):
        super().setUp()
        if self.published:
            self.enterContext(published())

    kind = muon.Muon
    target = "muon:zeropower_via_newtonschulz5"
    variant, epsilon = "keller-jordan", None
    origin, rebuilt = "alive after the step", None  # as it is the gradient, changed in place

    def train(self, **options):
        return train(kind=self.kind, **options)

    def place(self):
        module, _, name = self.target.partition(":")
        return sys.modules[module], name

    @contextlib.contextmanager
    def spied(self, seen):
        """Notes what goes into the function, below whatever watches it, which is not told of that."""
        original = vars(self.place()[0])[self.place()[1]]

        @functools.wraps(original)
        def spy(X, *arguments):
            seen.append(X.clone())
            return original(X, *arguments)

        with mock.patch.object(*self.place(), spy), mock.patch.object(capture, "_wrapper", return_value=[]):
            yield

    def weights(self, model):
        return [bits(parameter) for parameter in model.parameters()]

    def test_bits_are_the_same(self):
        for options in ({}, {"nesterov": False}):
            expected = self.weights(self.train(**options))
            for mode in ("observe", "strict"):
                self.forget()
                self.on(mode, keep=True, controls=True, outputs=True, stale=True)
                capture.install()
                self.assertEqual(self.weights(self.train(**options)), expected, (options, mode))
                self.assertEqual(capture._process.looked, 20)
                self.assertEqual(capture._process.verdicts, 20)
                self.assertEqual(self.text.getvalue(), "")

    def test_bits_are_the_same_after_a_failure(self):
        expected = self.weights(self.train(poison="up.weight"))
        for mode in ("observe", "strict"):
            self.forget()
            self.on(mode)
            capture.install()
            self.assertEqual(self.weights(self.train(poison="up.weight")), expected, mode)
            self.assertEqual(len(self.dumps()), 1)
            for path in self.folder.iterdir():
                path.unlink()

    def test_a_gradient_after_the_step(self):
        """KellerJordan's step leaves in it what went into the iteration, torch's leaves it as it was."""
        self.on("observe", retries=0)
        weight = torch.nn.Parameter(draw(8, 12))
        optimizer = self.kind([weight], lr=0.1)
        capture.watch(optimizer)
        weight.grad = draw(8, 12, seed=1)
        seen = []
        with self.spied(seen):
            capture.install()
            weight.grad[1, 2] = NAN
            optimizer.step()
        dump, sidecar = self.only()
        self.assertEqual(bits(dump["input"]), bits(seen[0]))
        self.assertEqual(bits(weight.grad) == bits(seen[0]), self.rebuilt is None)

    def test_input_is_had_after_the_step(self):
        for options in ({}, {"nesterov": False}):
            self.forget()
            self.on("observe")
            seen = []
            with self.spied(seen):
                capture.install()
                self.train(poison="down.weight", watch=True, **options)
            dump, sidecar = self.only()
            self.assertEqual(bits(dump["input"]), bits(seen[19]))
            if not options:
                self.assertEqual(sidecar["input"]["from"], self.origin)
                self.assertEqual((sidecar["input"]["rebuilt"] or {}).get("parameter"), self.rebuilt)
            self.assertEqual((sidecar["variant"], sidecar["step"], sidecar.get("epsilon")), (self.variant, 9, self.epsilon))
            self.assertEqual([p["name"] for p in sidecar["parameters"]], ["down.weight"])
            state, turned = sidecar["state"]
            self.assertEqual((turned["parameter"], turned["weight_finite"]), ("up.weight", True))
            self.assertEqual((state["parameter"], state["weight_finite"]), ("down.weight", False))
            self.assertEqual(state["weight_finite_before"], True)
            self.assertEqual((state["weight_nonfinite"], state["weight_first_nonfinite"]), (240, [0, 0]))
            self.assertEqual((state["grad_finite"], state["momentum_finite"]), (False, False))
            self.assertEqual(sidecar["state_of"], {"parameters": 2, "listed": 2, "shards": False, "transposes": True})
            self.assertEqual(sidecar["weights_before"], {"looked_at": 2, "bad": 0, "first": None, "shards": False})
            for path in self.folder.iterdir():
                path.unlink()

    def test_a_weight_that_was_bad_before_the_step(self):
        for mode in ("observe", "strict"):
            self.forget()
            self.on(mode, retries=0)
            capture.install()
            model = self.train(steps=3, watch=True)
            with torch.no_grad():
                model.up.weight[1, 2] = NAN
            self.train(steps=1, model=model, watch=True)
            before = {}
            for path in self.folder.glob("dion*.json"):
                sidecar = json.loads(path.read_text())
                self.assertEqual(sidecar["weights_before"], {"looked_at": 2, "bad": 1, "first": "up.weight", "shards": False})
                for state in sidecar["state"]:
                    before.setdefault(state["parameter"], []).append(state["weight_finite_before"])
            # The first step's optimizer is gone; its parameters are those of the second.
            self.assertEqual({name: set(found) for name, found in before.items()},
                {"up.weight": {False}, "down.weight": {True}}, mode)
            for path in self.folder.iterdir():
                path.unlink()

    def test_patched_is_undone(self):
        module, name = self.place()
        original = vars(module)[name]
        self.on()
        with capture.patched(self.target):
            self.assertIsNot(vars(module)[name], original)
            self.train(poison="up.weight")
        self.assertIs(vars(module)[name], original)
        self.assertEqual(len(self.dumps()), 1)


@needs_torchs_muon
class TrainingWithTorchsOwn(Training):
    published = False
    kind = getattr(torch.optim, "Muon", None)
    target = f"{TORCHS}:_zeropower_via_newtonschulz"
    variant, epsilon = "torch-muon", 1e-7
    origin, rebuilt = "rebuilt", "down.weight"


class Watching(Case):
    def test_stacks_are_rebuilt(self):
        """As dion batches: momentum * buffer + gradient of every matrix, cast to bf16, and a zero matrix."""
        parameters = [torch.nn.Parameter(torch.zeros(8, 12)) for _ in range(2)]
        optimizer = torch.optim.SGD(parameters, lr=0.1, momentum=0.9)
        for i, parameter in enumerate(parameters):
            parameter.grad = draw(8, 12, seed=i)
            optimizer.state[parameter]["momentum_buffer"] = draw(8, 12, seed=10 + i)
        one = lambda i: draw(8, 12, seed=10 + i).mul(0.9).add(draw(8, 12, seed=i)).bfloat16()  # noqa: E731
        self.on("observe")
        capture.wrap(broken)(torch.stack([one(0), one(1), torch.zeros(8, 12, dtype=torch.bfloat16)]))
        capture.end_step(optimizer=optimizer)
        sidecar = self.only()[1]
        self.assertEqual(sidecar["input"]["rebuilt"]["of"], "a stack of momentum buffer * momentum + gradient")

    def test_state_of_other_names_is_rebuilt(self):
        """An optimizer of one's own: its state has no known name, its beta is in a tuple, or in the code alone."""
        for group, beta, form in (
            ({"betas": (0.8, 0.99)}, 0.8, "betas"),
            ({"weight_decay": 0.9}, 0.95, "0.95"),
        ):
            self.forget()
            parameter = torch.nn.Parameter(torch.zeros(8, 12))
            optimizer = torch.optim.SGD([{"params": [parameter], **group}], lr=0.1)
            optimizer.param_groups[0].pop("momentum")
            parameter.grad = draw(8, 12, seed=1)
            parameter.grad[3, 4] = NAN
            optimizer.state[parameter] = {"step": 3, "v": draw(12), "m": draw(8, 12, seed=2)}
            self.on("observe")
            update = parameter.grad.lerp(optimizer.state[parameter]["m"], beta)
            kept = bits(update)
            capture.wrap(broken)(update)
            del update
            capture.end_step(optimizer=optimizer)
            dump, sidecar = self.only()
            self.assertEqual(sidecar["input"]["rebuilt"]["of"], f'gradient.lerp(state["m"], {form})')
            self.assertEqual(bits(dump["input"]), kept)
            for path in self.folder.iterdir():
                path.unlink()

    def test_patched_methods_and_taken_names(self):
        home, taker = types.ModuleType("home_of_ns"), types.ModuleType("taker_of_ns")

        class Gram:
            def __call__(self, X):
                return broken(X)

        home.function = lambda X: X * NAN
        home.Gram, taker.mine = Gram, home.function
        with mock.patch.dict(sys.modules, {"home_of_ns": home, "taker_of_ns": taker}):
            self.on()
            with capture.patched("home_of_ns:function"), capture.patched("home_of_ns:Gram.__call__"):
                taker.mine(draw(8, 12))
                Gram()(draw(6, 10))
            self.assertEqual(len(self.dumps()), 2)
            taker.mine(draw(8, 12))
            Gram()(draw(6, 10))
            self.assertEqual(len(self.dumps()), 2)

    def test_patched_methods_without_an_object(self):
        """As MuonClip of ms-swift has its iteration: what is watched is given no object as its matrix, nor is it afterwards."""

        class Base:
            @staticmethod
            def function(X):
                return X * NAN

            @classmethod
            def of_class(cls, X):
                return X * NAN

        class Heir(Base):
            pass

        home = types.ModuleType("home_of_ns")
        home.Base, home.Heir = Base, Heir
        with mock.patch.dict(sys.modules, {"home_of_ns": home}):
            self.on()
            for target in ("Base.function", "Base.of_class", "Heir.function"):
                name = target.partition(".")[2]
                before = vars(Base)[name]
                with capture.patched(f"home_of_ns:{target}"):
                    getattr(Heir(), name)(draw(8, 12))
                self.assertIs(vars(Base)[name], before)
                self.assertNotIn(name, vars(Heir))
                self.assertTrue(getattr(Heir(), name)(draw(8, 12)).isnan().all())
            self.assertEqual(len(self.dumps()), 3)

    def test_install_and_uninstall(self):
        found = capture.install()
        torchs = [f"{TORCHS}:_zeropower_via_newtonschulz"] if TORCHS in sys.modules else []
        self.assertEqual(found, [*torchs, "muon:zeropower_via_newtonschulz5"])
        self.assertEqual(capture.install(), found)
        self.assertEqual(len(capture._hooks), 2)
        capture.uninstall()
        self.assertFalse(hasattr(muon.zeropower_via_newtonschulz5, "nanscope_capture"))
        self.assertEqual([finder for finder in sys.meta_path if isinstance(finder, capture._Finder)], [])
        self.on("observe")
        with mock.patch.object(capture, "_finish_step") as finish:
            train(steps=1)
        finish.assert_not_called()

    def test_install_imports_nothing_and_sees_what_is_imported_later(self):
        text = "def zeropower_via_newtonschulz5(G, steps=5):\n    return G * float('nan')\n"
        (self.folder / "normuon.py").write_text(text)
        (self.folder / "flash_muon").mkdir()
        (self.folder / "flash_muon" / "muon.py").write_text("raise SystemExit('a stranger that was imported')\n")
        (self.folder / "takes.py").write_text("from normuon import zeropower_via_newtonschulz5 as mine\n")
        self.enterContext(mock.patch.object(sys, "path", [str(self.folder), *sys.path]))
        self.addCleanup(lambda: [sys.modules.pop(name, None) for name in ("normuon", "takes")])
        self.on()
        capture.install()
        self.assertNotIn("normuon", sys.modules)
        import takes

        takes.mine(draw(8, 12))
        self.assertEqual(self.only()[1]["named_like"], "keller-jordan")

    def test_healthy_calls_are_told_apart_though_the_function_is_wrapped_anew(self):
        self.on()
        function = sometimes({1})
        for seed in range(2):
            capture.wrap(function)(draw(8, 12, seed=seed))
        self.assertEqual(len(self.only()[1]["controls"]), 1)


COPY = """
import torch

class Own(torch.optim.SGD):
    @staticmethod
    def newton_schulz(X):
        return X * 1.0

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for weight in group["params"]:
                weight.add_(iterate(weight.grad, self), alpha=-0.1)

def iterate(X, optimizer):
    from numbers_of_ns import newton_schulz_coefficients
    assert newton_schulz_coefficients(X) is X
    return _zeropower_via_newton_schulz_5(optimizer.newton_schulz(X))

def _zeropower_via_newton_schulz_5(X, steps=5):
    return X * 2.0

def newton_schulz_with(X, Y):
    return X

def gram_newton_schulz(X, momentum):
    return X + momentum
"""


class Copies(Case):
    """Of known functions, by their names, in files of other names: as most trainers have them."""

    finds = True

    def setUp(self):
        super().setUp()
        (self.folder / "own_trainer.py").write_text(COPY)
        (self.folder / "numbers_of_ns.py").write_text("def newton_schulz_coefficients(X):\n    return X\n")
        self.enterContext(mock.patch.object(sys, "path", [str(self.folder), *sys.path]))
        for name in ("own_trainer", "numbers_of_ns", "taker_of_ns"):
            self.addCleanup(sys.modules.pop, name, None)
        importlib.invalidate_caches()
        self.trainer = importlib.import_module("own_trainer")

    def step(self, bad=False, kind=None):
        weight = torch.nn.Parameter(draw(8, 12))
        weight.grad = draw(8, 12, seed=1)
        if bad:
            weight.grad[1, 2] = NAN
        (kind or self.trainer.Own)([weight], lr=0.1).step()
        return bits(weight)

    def test_are_watched_from_the_first_step_on(self):
        expected = self.step()
        for mode in ("observe", "strict"):
            self.forget()
            self.on(mode, retries=2)
            capture.install()
            self.assertEqual(self.step(), expected)
            self.assertEqual(capture._process.looked, 2)
            targets = {patch.target for patch in capture._installed}
            mine = {"own_trainer:Own.newton_schulz", "own_trainer:_zeropower_via_newton_schulz_5", "own_trainer:gram_newton_schulz"}
            self.assertEqual({target for target in targets if target.startswith("own_trainer:")}, mine)
            self.assertIn("own_trainer:Own.newton_schulz", self.text.getvalue())
            self.step(bad=True)
            first, second = self.sidecars()
            names = {sidecar["function"]["qualname"] for sidecar in (first, second)}
            self.assertEqual(names, {"Own.newton_schulz", "_zeropower_via_newton_schulz_5"})
            self.assertEqual((first.get("variant"), first["retries"]), (None, []))
            capture.uninstall()
            self.assertIsInstance(vars(self.trainer.Own)["newton_schulz"], staticmethod)
            self.assertFalse(hasattr(self.trainer._zeropower_via_newton_schulz_5, "nanscope_capture"))
            for path in self.folder.glob("dion*"):
                path.unlink()

    def test_what_an_optimizer_holds_is_left_alone(self):
        """A checkpoint holds functions by their names, and refuses one that has another's."""
        weight = torch.nn.Parameter(draw(8, 12))
        weight.grad = draw(8, 12, seed=1)
        function = self.trainer._zeropower_via_newton_schulz_5
        optimizers = [self.trainer.Own([{"params": [weight], "function": function}], lr=0.1) for _ in range(2)]
        self.on()
        capture.install()
        optimizers[0].step()
        self.assertIs(self.trainer._zeropower_via_newton_schulz_5, function)
        for optimizer in optimizers:
            torch.save(optimizer.state_dict(), io.BytesIO())

    def test_one_that_calls_another_is_left_alone(self):
        """The inner one iterates, and its code is the one that may be known."""
        self.trainer.newton_schulz = eval("lambda X: _zeropower_via_newton_schulz_5(X)", vars(self.trainer))
        self.on()
        capture.install()
        self.step()
        self.assertFalse(hasattr(self.trainer.newton_schulz, "nanscope_capture"))
        self.assertTrue(hasattr(self.trainer._zeropower_via_newton_schulz_5, "nanscope_capture"))

    def test_with_other_tensors_is_left_alone(self):
        """A function that adds the momentum itself is given no input of an iteration."""
        self.on()
        capture.install()
        self.step()
        X = draw(8, 12)
        self.assertEqual(bits(self.trainer.gram_newton_schulz(X, X * NAN)), bits(X * NAN))
        self.assertEqual(self.trainer.gram_newton_schulz(2, 3), 5)
        self.assertEqual((self.dumps(), capture._process.looked, capture._process.calls), ([], 2, 3))
        self.assertIn("1 with tensors besides the input", capture.summary())

    def test_is_not_called_again_unless_its_text_is_known(self):
        """Nobody has said that it talks to no other rank, and keeps no state."""
        self.on()
        capture.install()
        self.step(bad=True)
        for sidecar in self.sidecars():
            self.assertEqual(sidecar["retries"], [])
            self.assertIn("by its name alone", sidecar["retries_skipped"])
        shutil.copy(muon.__file__, self.folder / "taker_of_ns.py")
        copy = importlib.import_module("taker_of_ns")
        known = capture.wrap(copy.zeropower_via_newtonschulz5, found=True, name="known")
        with published():
            known(draw(6, 12) * NAN)
        (known,) = (sidecar for sidecar in self.sidecars() if sidecar["function"]["name"] == "known")
        self.assertEqual((len(known["retries"]), known["variant"]), (8, "keller-jordan"))

    def test_of_packages_that_the_optimizer_is_not_of_are_left_alone(self):
        with mock.patch.object(capture, "_is_users", return_value=False):
            self.on()
            capture.install()
            self.step(kind=torch.optim.SGD)
            self.assertEqual(self.text.getvalue(), "")
            self.step()
            self.assertIn("own_trainer:_zeropower_via_newton_schulz_5", self.text.getvalue())

    def test_nothing_is_looked_for_where_only_watch_is_asked_for(self):
        self.on()
        weight = torch.nn.Parameter(draw(8, 12))
        weight.grad = draw(8, 12)
        capture.watch(self.trainer.Own([weight], lr=0.1)).step()
        self.assertEqual((capture._process.calls, self.text.getvalue()), (0, ""))


class Sampling(Case):
    def test_window_is_said_with_what_would_look_closer(self):
        self.on("observe", every=10)
        watched = capture.wrap(sometimes({20, 25}))
        X = draw(4, 6)
        for _ in range(30):
            watched(X)
            capture.end_step()
        self.assertEqual((capture._process.looked, capture._process.calls), (3, 30))
        text = capture.summary()
        self.assertIn("looked at 3 of 30 calls; 27 not looked at (NANSCOPE_CAPTURE_EVERY=10, 1 looks at all)", text)
        self.assertIn("NANSCOPE_CAPTURE_EVERY=1 NANSCOPE_CAPTURE_FROM=11 NANSCOPE_CAPTURE_UNTIL=21", text)
        self.assertEqual(text.count("\n"), 0)

    def test_from_and_until(self):
        self.on("strict", first=5, until=8, retries=0)
        watched = capture.wrap(sometimes({4, 6, 8}))
        for _ in range(10):
            watched(draw(4, 6))
        self.assertEqual([sidecar["call"]["index"] for sidecar in self.sidecars()], [6])
        self.assertIn("0..4 before NANSCOPE_CAPTURE_FROM=5; 8..9 after NANSCOPE_CAPTURE_UNTIL=8", capture.summary())

    def test_said_at_exit(self):
        for every, said in ((1, False), (5, True)):
            self.forget()
            self.on(every=every)
            for _ in range(5):
                capture.wrap(newton_schulz)(draw(4, 6))
            with contextlib.redirect_stderr(io.StringIO()) as text:
                capture._at_exit()
            self.assertEqual("not looked at" in text.getvalue(), said)

    def test_a_run_without_a_watched_call_is_no_healthy_one(self):
        for watched, said in ((False, ""), (True, "no call was seen in 2 optimizer steps")):
            self.forget()
            self.on()
            model = Net()
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            if watched:
                capture.watch(optimizer)
            for _ in range(2):
                model(draw(3, 12)).sum().backward()
                optimizer.step()
            with contextlib.redirect_stderr(io.StringIO()) as text:
                capture._at_exit()
            self.assertIn(said, text.getvalue())
            self.assertEqual(bool(text.getvalue()), watched)

    def test_without_a_watched_call_it_is_said_soon(self):
        self.on()
        model = Net()
        optimizer = capture.watch(torch.optim.SGD(model.parameters(), lr=0.1))
        said = []
        for step in range(10):
            model(draw(3, 12)).sum().backward()
            with contextlib.redirect_stderr(io.StringIO()) as text:
                optimizer.step()
            said.append(text.getvalue())
        self.assertEqual([step for step, text in enumerate(said) if text], [7])
        self.assertIn("no call was seen in 8 optimizer steps: no function that is watched ran", said[7])

    def test_what_is_unread_at_exit_is_read(self):
        for ends in (False, True):
            self.forget()
            self.on("observe")
            if ends:
                capture.end_step()
            X = draw(4, 6)
            capture.wrap(broken)(X)
            with contextlib.redirect_stderr(io.StringIO()) as text:
                capture._at_exit()
            self.assertEqual(len(self.dumps()), 1)
            self.assertEqual("no step was ended while it ran" in text.getvalue(), not ends)
            for path in self.folder.iterdir():
                path.unlink()


class Limits(Case):
    def test_what_was_bad_and_not_written_is_counted(self):
        self.on(max_dumps=1, retries=0)
        watched = capture.wrap(sometimes({0, 2, 3}))
        for seed in range(4):
            watched(draw(8, 12, seed=seed))
        watched(draw(12, 8))
        with mock.patch.object(capture, "_write_scene", side_effect=OSError("no")):
            capture.wrap(broken)(draw(6, 10))
        capture.configure(on=True)
        capture.wrap(broken)(draw(10, 6))
        suppressed = [sidecar["limits"]["suppressed"] for sidecar in self.sidecars()]
        limit = "NANSCOPE_CAPTURE_MAX_DUMPS=1 per shape"
        self.assertIn({limit: 2, "it could not be written": 1}, suppressed)
        self.assertIn({}, suppressed)

    def test_dumps_per_shape(self):
        self.on(max_dumps=2)
        watched = capture.wrap(broken)
        for _ in range(5):
            watched(draw(8, 12)), watched(draw(6, 12))
        self.assertEqual(len(self.dumps()), 4)
        self.assertIn("6 not written: NANSCOPE_CAPTURE_MAX_DUMPS=2 per shape", capture.summary())

    def test_a_thousand_failures_a_second(self):
        for mode, ends in (("strict", False), ("observe", True), ("observe", False)):
            self.forget()
            self.text.truncate(0)
            self.on(mode, max_dumps=100000, per_minute=5, retries=1)
            watched = capture.wrap(lambda X: X * NAN)
            X = draw(8, 12)
            begin = time.monotonic()
            for _ in range(1000):
                watched(X)
                if ends:
                    capture.end_step()
            capture.end_step()
            self.assertLess(time.monotonic() - begin, 20)
            self.assertEqual(len(self.dumps()), 5, mode)
            self.assertLess(self.text.getvalue().count("\n"), 10)
            self.assertIn("995 not written", capture.summary())
            for path in self.folder.iterdir():
                path.unlink()

    def test_a_minute_later_there_is_room_again(self):
        self.on(per_minute=1)
        watched = capture.wrap(broken)
        watched(draw(8, 12)), watched(draw(8, 12))
        with mock.patch.object(capture.time, "monotonic", lambda now=time.monotonic: now() + 61):
            watched(draw(8, 12))
        self.assertEqual(len(self.dumps()), 2)

    def test_bytes(self):
        self.on(max_bytes=100)
        capture.wrap(broken)(draw(80, 120))
        self.assertEqual(self.dumps(), [])
        (path,) = self.folder.glob("*.json")
        sidecar = json.loads(path.read_text())
        self.assertIn("NANSCOPE_CAPTURE_MAX_BYTES=100", sidecar["limits"]["no_tensors"])
        self.assertEqual(sidecar["fingerprint"]["output"][0]["nan"], 6)

    def test_free_disk(self):
        self.on(min_free_bytes=1 << 60)
        capture.wrap(broken)(draw(8, 12))
        self.assertEqual(self.dumps(), [])
        self.assertEqual(len(list(self.folder.glob("*.json"))), 1)

    def test_larger_than_memory(self):
        self.on()
        with mock.patch.object(capture, "_free_memory", lambda: 100):
            capture.wrap(broken)(draw(8, 12))
        self.assertEqual(self.dumps(), [])
        self.assertEqual(len(list(self.folder.glob("*.json"))), 1)


    def test_no_room_for_a_copy(self):
        """A tensor of 64 MiB where 16 are left: whatever the helper has no room for, the function runs once."""
        X = torch.ones(4096, 4096)

        def child(result, mode):
            self.on(mode, retries=2)
            calls = []

            def inside(X):
                calls.append(0)
                X[0, 0] = NAN

            taken = int(re.search(r"VmSize:\s+(\d+)", Path("/proc/self/status").read_text())[1]) << 10
            resource.setrlimit(resource.RLIMIT_AS, (taken + (16 << 20), taken + (16 << 20)))
            text = io.StringIO()
            with contextlib.redirect_stderr(text):
                capture.wrap(inside)(X)
                capture.end_step()
            result.put((len(calls), bool(X[0, 0].isnan()), text.getvalue()))

        for mode in ("strict", "observe"):
            calls, done, text = in_child(child, mode)
            self.assertEqual((calls, done), (1, True), mode)
            self.assertIn("the training goes on", text)
            self.assertEqual([path for path in self.folder.iterdir() if path.suffix == ".pt"], [])


class BadDisks(Case):
    def goes_on(self, count=3):
        watched = capture.wrap(broken)
        for i in range(count):
            Y = watched(draw(8, 12, seed=i))
            self.assertEqual(bits(Y), bits(broken(draw(8, 12, seed=i))))
        lines = [line for line in self.text.getvalue().splitlines() if "stopped capturing" in line]
        self.assertEqual(len(lines), 1, self.text.getvalue())
        self.assertFalse(capture._on)
        self.assertIn("the training goes on", lines[0])
        return lines[0]

    def test_folder_cannot_be_made(self):
        (self.folder / "file").write_text("")
        capture.configure(on=True, mode="strict", directory=self.folder / "file" / "below")
        self.assertRegex(self.goes_on(), "NotADirectoryError.*while writing to")

    def test_read_only_folder(self):
        """Root writes anywhere, so a child of another user does it where the tests run as root."""
        closed = self.folder / "closed"
        closed.mkdir(mode=0o555)
        self.folder.chmod(0o755)
        closed.chmod(0o555)

        def child(result):
            if os.geteuid() == 0:
                os.setuid(65534)
            capture.configure(on=True, mode="strict", directory=closed, min_free_bytes=0)
            text = io.StringIO()
            with contextlib.redirect_stderr(text):
                for _ in range(3):
                    capture.wrap(broken)(draw(8, 12))
            result.put(text.getvalue())

        text = in_child(child)
        self.assertEqual(text.count("stopped capturing"), 1, text)
        self.assertIn("PermissionError", text)
        self.assertEqual(list(closed.iterdir()), [])

    def test_disk_that_is_full(self):
        self.on()
        with mock.patch.object(capture.os, "fsync", side_effect=OSError(errno.ENOSPC, "No space left on device")):
            self.assertRegex(self.goes_on(), "No space left.*while writing to")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_disk_that_is_full_in_the_middle_of_a_tensor(self):
        """A limit of the size of files stops torch.save() half-way."""

        def child(result):
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
            self.on()
            text = io.StringIO()
            with contextlib.redirect_stderr(text):
                for _ in range(3):
                    capture.wrap(broken)(draw(400, 120))
            result.put(text.getvalue())

        text = in_child(child)
        self.assertEqual(text.count("stopped capturing"), 1, text)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_raising_is_still_done_where_nothing_can_be_written(self):
        self.on(raises=True)
        with mock.patch.object(capture.os, "fsync", side_effect=OSError(errno.ENOSPC, "No space left on device")):
            with self.assertRaisesRegex(RuntimeError, "could not be written"):
                capture.wrap(broken)(draw(8, 12))

    def test_any_error_of_the_helper(self):
        for mode, place in (("strict", "_copy_before"), ("strict", "_finite"), ("observe", "_sums")):
            self.forget()
            self.text.truncate(0)
            self.on(mode)
            with mock.patch.object(capture, place, side_effect=RuntimeError("a bug")):
                if mode == "strict":
                    self.assertIn("a bug", self.goes_on())
                else:
                    calls = []
                    capture.wrap(lambda X: calls.append(0) or broken(X))(draw(8, 12))
                    self.assertEqual(len(calls), 1)
                    self.assertIn("a bug", capture._process.stopped)


def in_child(function, *arguments):
    """What the function puts into the queue that it is given, in a forked process."""
    result = FORK.SimpleQueue()
    process = FORK.Process(target=function, args=(result, *arguments))
    process.start()
    process.join(60)
    if process.exitcode != 0:
        process.kill()
        raise AssertionError(f"the child ended with {process.exitcode}")
    return result.get()


class Names(Case):
    def test_one_millisecond_for_many_threads(self):
        self.on(max_dumps=10000, per_minute=10000, retries=0)
        watched = capture.wrap(lambda X: X * NAN)
        self.addCleanup(sys.setswitchinterval, sys.getswitchinterval())
        sys.setswitchinterval(1e-5)
        with mock.patch.object(capture.time, "time_ns", lambda: 1_700_000_000_000_000_000):
            threads = [
                threading.Thread(target=lambda: [watched(draw(4, 6)) for _ in range(5)], daemon=True) for _ in range(8)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(60)
        self.forty_of_a_row()

    def test_a_name_that_is_taken_in_the_last_moment(self):
        """As the one before, but nobody sees that a name is taken until it is given."""
        self.on(max_dumps=10000, per_minute=10000, retries=0)
        watched = capture.wrap(lambda X: X * NAN)
        with mock.patch.object(capture.time, "time_ns", lambda: 1_700_000_000_000_000_000):
            with mock.patch.object(capture.os.path, "exists", lambda path: False):
                for _ in range(40):
                    watched(draw(4, 6))
        self.forty_of_a_row()

    def forty_of_a_row(self):
        stamps = sorted(int(NAME.fullmatch(path.name)[4]) for path in self.dumps())
        self.assertEqual(stamps, list(range(1_700_000_000_000, 1_700_000_000_040)))
        self.assertEqual(len(self.sidecars()), 40)
        self.assertEqual(sorted(s["call"]["index"] for s in self.sidecars()), list(range(40)))

    def test_four_forked_processes(self):
        self.on(max_dumps=10000, per_minute=10000, retries=0)
        watched = capture.wrap(lambda X: X * NAN)
        watched(draw(4, 6))

        def child(same_name):
            if same_name:
                # Even with one process id (two machines may share it) nothing is overwritten.
                capture.os.getpid = lambda: 4711
                capture._process.pid = 4711
            capture.time.time_ns = lambda: 1_700_000_000_000_000_000
            for _ in range(5):
                watched(draw(4, 6))

        for same_name in (False, True):
            children = [FORK.Process(target=child, args=(same_name,)) for _ in range(4)]
            for process in children:
                process.start()
            for process in children:
                process.join(60)
                self.assertEqual(process.exitcode, 0)
        names = [NAME.fullmatch(path.name) for path in self.dumps()]
        self.assertEqual(len(names), 1 + 20 + 20)
        self.assertEqual(len({name[3] for name in names}), 1 + 4 + 1)
        for path in self.dumps():
            torch.load(path, weights_only=True)
            self.assertTrue(path.with_suffix(".json").exists())

    def test_a_bare_dump_of_that_name_is_left_alone(self):
        self.on()
        with mock.patch.object(capture.time, "time_ns", lambda: 5_000_000):
            other = self.folder / f"dion_nan_capture_rank0_shape4x6_pid{os.getpid()}_5.pt"
            other.write_bytes(b"of another wrapper")
            capture.wrap(lambda X: X * NAN)(draw(4, 6))
        self.assertEqual(other.read_bytes(), b"of another wrapper")
        self.assertFalse(other.with_suffix(".json").exists())
        self.assertEqual([NAME.fullmatch(path.name)[4] for path in self.dumps()], ["5", "6"])

    def test_file_system_without_links(self):
        self.on()
        with mock.patch.object(capture.os, "link", side_effect=OSError(errno.EPERM, "no links")):
            capture.wrap(broken)(draw(8, 12)), capture.wrap(broken)(draw(8, 12))
        self.assertEqual(len(self.sidecars()), 2)
        self.assertEqual(len(list(self.folder.iterdir())), 4)

    def test_clock_that_jumps_back(self):
        self.on(per_minute=100, max_dumps=100)
        watched = capture.wrap(broken)
        clock = iter(range(100_000))
        values = [9_000_000, 8_000_000, 9_000_000, 8_000_000, 1_000_000]
        with mock.patch.object(capture.time, "time_ns", lambda: values[next(clock) // 2 % 5]):
            for _ in range(10):
                watched(draw(8, 12))
        self.assertEqual(len(self.dumps()), 10)
        self.assertEqual(sorted(s["call"]["index"] for s in self.sidecars()), list(range(10)))

    def test_killed_while_writing(self):
        """At each of many moments; what has a final name can be read, and no dump is without its sidecar."""
        self.on(max_dumps=100000, per_minute=100000, retries=0)
        watched = capture.wrap(lambda X: X * NAN)
        X = draw(60, 80)

        def endless():
            while True:
                watched(X)

        for delay in range(8):
            child = FORK.Process(target=endless)
            child.start()
            time.sleep(0.1 + 0.013 * delay)
            os.kill(child.pid, signal.SIGKILL)
            child.join()
        self.assertGreater(len(self.dumps()), 8)
        for path in self.dumps():
            self.assertEqual(bits(torch.load(path, weights_only=True)["input"]), bits(X))
            json.loads(path.with_suffix(".json").read_text())
        for path in self.folder.glob("*.json"):
            json.loads(path.read_text())

    def test_the_dump_comes_last(self):
        """Stopped between its two names, a capture has its sidecar and no dump."""
        self.on()
        link = os.link

        def dies(source, target):
            if target.endswith(".pt"):
                os.kill(os.getpid(), signal.SIGKILL)
            link(source, target)

        def child():
            capture.os.link = dies
            capture.wrap(broken)(draw(8, 12))

        process = FORK.Process(target=child)
        process.start()
        process.join(60)
        self.assertEqual(process.exitcode, -signal.SIGKILL)
        self.assertEqual(self.dumps(), [])
        self.assertEqual(len(list(self.folder.glob("dion_nan_capture*.json"))), 1)


class Json(Case):
    def test_no_nan_in_it(self):
        self.on()
        capture.wrap(lambda X, limit=float("inf"): X * NAN)(draw(4, 6))
        text = self.dumps()[0].with_suffix(".json").read_text()
        json.loads(text, parse_constant=lambda name: self.fail(name))
        self.assertEqual(json.loads(text)["call"]["arguments"]["limit"], "inf")

    def test_stays_below_what_readers_take(self):
        self.on()
        capture.wrap(broken, parameters=["x" * 30_000] * 200)(draw(8, 12))
        path = self.dumps()[0].with_suffix(".json")
        self.assertLess(path.stat().st_size, 1 << 20)

    def test_ring_is_compact(self):
        self.on(max_dumps=1)
        watched = capture.wrap(sometimes({400}))
        for _ in range(401):
            watched(draw(4, 6))
        self.assertLess(self.dumps()[0].with_suffix(".json").stat().st_size, 120_000)
        self.assertEqual(len(self.only()[1]["ring"]), 256)


class Privacy(Case):
    def test_fingerprint_writes_no_tensors(self):
        self.on(privacy="fingerprint")
        watched = capture.wrap(sometimes({1}))
        watched(draw(8, 12)), watched(draw(8, 12))
        (path,) = self.folder.iterdir()
        self.assertEqual(path.suffix, ".json")
        print_ = json.loads(path.read_text())["fingerprint"]
        self.assertAlmostEqual(print_["input"][0]["frobenius"], float(draw(8, 12).norm()), 4)
        self.assertAlmostEqual(
            print_["input"][0]["singular_values"][-1], float(torch.linalg.svdvals(draw(8, 12))[0]), 4
        )
        self.assertEqual(print_["output"][0]["nan"], 6)

    def test_rotation_keeps_singular_values_and_hides_the_rest(self):
        torch.manual_seed(1)
        state = torch.get_rng_state()
        self.on(privacy="rotate")
        X = draw(8, 12)
        capture.wrap(lambda X: X.clone().fill_(NAN))(X)
        dump, sidecar = self.only()
        self.assertTrue(torch.equal(torch.get_rng_state(), state))
        self.assertEqual(sidecar["privacy"], "rotate")
        self.assertGreater(float((dump["input"] - X).abs().max()), 0.1)
        torch.testing.assert_close(torch.linalg.svdvals(dump["input"]), torch.linalg.svdvals(X))
        self.assertTrue(dump["output"].isnan().all())


class RunRecord(Case):
    records = True

    def record(self):
        (path,) = self.folder.glob("nanscope_run_rank0_pid*.json")
        self.assertRegex(path.name, rf"^nanscope_run_rank0_pid{os.getpid()}_\d{{13}}\.json$")
        return json.loads(path.read_text())

    def test_once_in_a_process_that_nothing_goes_wrong_in(self):
        for mode in ("observe", "strict"):
            self.on(mode=mode)
            for seed in range(3):
                capture.wrap(newton_schulz)(draw(8, 12, seed=seed))
        record = self.record()
        self.assertEqual(record["schema"], "nanscope.run/1")
        self.assertEqual((record["rank"], record["pid"]), (0, os.getpid()))
        self.assertEqual(record["packages"]["torch"], torch.__version__)
        self.assertIn("numpy", record["packages"])
        self.assertEqual(record["launch"]["world_size"], 1)
        self.assertEqual(record["launch"]["launcher"], "python")
        self.assertIsNone(record["gpu"], "the matrix lay on the CPU")
        self.assertEqual([path.name for path in self.folder.iterdir() if path.name.startswith(".")], [])

    def test_a_forked_process_writes_its_own(self):
        self.on()
        capture.wrap(newton_schulz)(draw(8, 12))
        child = FORK.Process(target=lambda: capture.wrap(newton_schulz)(draw(8, 12)))
        child.start()
        child.join()
        self.assertEqual(len(list(self.folder.glob("nanscope_run_*.json"))), 2)

    def test_what_is_secret_or_tells_the_user_is_left_out(self):
        home = os.path.expanduser("~")
        argv = [f"{home}/train.py", "--wandb-key", "abc123", "--api_token=abc123", "--lr=3e-4", "--data", f"{home}/set"]
        environ = {"NCCL_DEBUG": "INFO", "TORCH_AUTH_TOKEN": "abc123", "CUDA_HOME": f"{home}/cuda", "EDITOR": "vi"}
        with mock.patch.object(sys, "argv", argv), mock.patch.dict(os.environ, environ):
            self.on()
            capture.wrap(newton_schulz)(draw(8, 12))
        record = self.record()
        self.assertEqual(
            record["launch"]["argv"],
            ["~/train.py", "--wandb-key", "(left out)", "--api_token=(left out)", "--lr=3e-4", "--data", "~/set"],
        )
        self.assertEqual(record["variables"]["NCCL_DEBUG"], "INFO")
        self.assertEqual(record["variables"]["CUDA_HOME"], "~/cuda")
        self.assertNotIn("EDITOR", record["variables"])
        self.assertNotIn("abc123", json.dumps(record))

    def test_launchers(self):
        for variable, name in (("TORCHELASTIC_RUN_ID", "torchrun"), ("SLURM_PROCID", "srun"), ("PMI_RANK", "mpirun")):
            with mock.patch.dict(os.environ, {variable: "1"}):
                self.assertEqual(capture._launch()["launcher"], name)

    def test_the_driver_is_a_package_of_its_own(self):
        driver = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Sun Jul 27"
        self.assertEqual(capture._packages({"driver": driver})["nvidia_driver"], "580.65.06")
        self.assertNotIn("nvidia_driver", capture._packages({"driver": None}))

    def test_one_that_cannot_be_written_costs_only_itself(self):
        with mock.patch.object(capture, "_write_run_record", side_effect=OSError("disk")):
            self.on()
            capture.wrap(broken)(draw(8, 12))
        self.assertEqual(len(self.dumps()), 1)
        self.assertIn("could not be written down: OSError: disk; the rest goes on", self.text.getvalue())


class WithoutMemory(Case):
    """Of what stands for other tensors nothing can be said, and nothing is ended by it."""

    def test_weights_that_stand_for_others(self):
        for mode in ("strict", "observe"):
            self.forget()
            self.on(mode)
            weights = [torch.nn.Parameter(Standing(draw(8, 12))), torch.nn.Parameter(draw(8, 12))]
            for weight in weights:
                weight.grad = torch.zeros(8, 12)
            optimizer = Stepping(weights, lambda gradient, buffer: gradient, lambda X: X * NAN)
            capture.watch(optimizer)
            optimizer.step()
            self.assertIsNone(capture._process.stopped)
            stands, plain = self.sidecars()[0]["state"]
            self.assertEqual([stands[f"weight_{word}"] for word in ("finite_before", "finite", "nonfinite")], [None] * 3)
            self.assertTrue(plain["weight_finite_before"])
            for path in self.folder.iterdir():
                path.unlink()

    def test_an_input_and_an_output_that_stand_for_others(self):
        self.on()
        capture.wrap(lambda X: X)(Standing(draw(8, 12)))
        capture.wrap(lambda X: Standing(X * NAN))(draw(8, 12))
        self.assertIsNone(capture._process.stopped)
        self.assertEqual(sum(capture._process.unwatched.values()), 2)


class Compile(Case):
    def test_inside_a_graph_it_calls_through(self):
        self.on()
        watched = capture.wrap(lambda X: X * NAN)
        for backend in ("eager", "aot_eager"):
            compiled = torch.compile(lambda X: watched(X) + 1, fullgraph=True, backend=backend)
            self.assertTrue(compiled(draw(8, 12)).isnan().all())
        self.assertEqual(self.dumps(), [])

    def test_around_a_graph_it_looks(self):
        self.on()
        watched = capture.wrap(torch.compile(lambda X: X * NAN, fullgraph=True, backend="aot_eager"))
        watched(draw(8, 12))
        self.assertEqual(len(self.dumps()), 1)

    def test_inference_mode(self):
        for mode in ("strict", "observe"):
            self.forget()
            self.on(mode)
            with torch.inference_mode():
                X = draw(8, 12)
                Y = capture.wrap(broken)(X)
                capture.end_step()
            self.assertIsNone(capture._process.stopped)
            self.assertEqual(len(self.dumps()), 1)
            for path in self.folder.iterdir():
                path.unlink()
            del Y


def as_rank(function, rank, ranks, folder, arguments):
    os.environ.update({"RANK": str(rank), "WORLD_SIZE": str(ranks)})
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/rendezvous", rank=rank, world_size=ranks)
    function(rank, folder, *arguments)
    # Gloo's threads may abort a process whose peer is gone already.
    dist.barrier()
    sys.stderr.flush()
    os._exit(0)


def spread(function, folder, *arguments, ranks=2):
    """Runs function(rank, folder, ...) in processes that make up a group of gloo.

    They are forked from one that did nothing yet, as autograd and gloo do not bear a parent with threads.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["torch", "torch.distributed.tensor"])
    common = (ranks, folder, arguments)
    children = [context.Process(target=as_rank, args=(function, rank, *common)) for rank in range(ranks)]
    for process in children:
        process.start()
    for process in children:
        process.join(90)
        if process.exitcode != 0:
            process.kill()
            raise AssertionError(f"a rank ended with {process.exitcode}")
    (folder / "rendezvous").unlink(missing_ok=True)


def train_in_ddp(rank, folder, watched):
    from torch.nn.parallel import DistributedDataParallel

    if watched:
        capture.configure(on=True, mode="observe", directory=folder, min_free_bytes=0)
        capture.install()
    model = DistributedDataParallel(Net())
    train(steps=4, model=model)
    torch.save([bits(p) for p in model.module.parameters()], folder / f"weights{int(watched)}-{rank}.pt")
    if watched:
        X = draw(8, 12)
        capture.wrap(broken if rank == 1 else newton_schulz)(X)
        capture.end_step()


def call_with_shards(rank, folder):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Shard, distribute_tensor

    mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("dp",))
    for mode in ("strict", "observe"):
        capture.configure(on=True, mode=mode, directory=folder, min_free_bytes=0)
        X = distribute_tensor(draw(8, 12), mesh, [Shard(0)])
        Y = capture.wrap(lambda X: X * NAN)(X)
        capture.end_step(step=3)
        del Y


def call_with_shards_as_parameters(rank, folder):
    """As under FSDP, where the iteration gets the whole matrix."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor

    mesh = init_device_mesh("cpu", (2, 1), mesh_dim_names=("dp", "tp"))
    for placements in ([Shard(0), Replicate()], [Replicate(), Shard(1)], [Replicate(), Replicate()]):
        capture.configure(on=True, mode="strict", directory=folder, min_free_bytes=0, retries=0)
        weights = [torch.nn.Parameter(distribute_tensor(draw(8, 12), mesh, placements))]
        optimizer = torch.optim.SGD([*weights, torch.nn.Parameter(draw(8, 12))])
        capture.watch(optimizer)
        capture.wrap(broken)(draw(8, 12))
        capture._process.optimizers.clear()


def step_on_shards(rank, folder):
    """Of a DTensor's gradient the part is written to, as by optimizers that take each rank's own."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Shard, distribute_tensor

    mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("dp",))

    def receive(g):
        """As an optimizer whose rank 0 has made the updates of all."""
        dist.scatter(g.to_local(), [torch.full((4, 12), NAN)] * 2 if rank == 0 else None, src=0)
        return g.to_local()

    ways = (
        lambda g: g.full_tensor(),
        lambda g: g.to_local().mul_(NAN),
        lambda g: (torch._foreach_mul_([g], NAN), g.full_tensor())[1],
        receive,
    )
    for update in ways:
        capture.configure(on=True, mode="strict", directory=folder, min_free_bytes=0, retries=0)
        weight = torch.nn.Parameter(distribute_tensor(draw(8, 12), mesh, [Shard(0)]))
        weight.grad = distribute_tensor(draw(8, 12), mesh, [Shard(0)])
        optimizer = Stepping([weight], lambda gradient, buffer, make=update: make(gradient), lambda X: X * NAN)
        capture.watch(optimizer)
        with contextlib.suppress(RuntimeError):  # nobody makes an update of what came out
            optimizer.step()
        capture._process.optimizers.clear()


class Standing(torch.Tensor):
    """Has no memory: stands for another tensor, as torchao's weights in fewer bits do for their values and scales."""

    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

    def __init__(self, inner):
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, function, _, args=(), kwargs=None):
        def inner(value):
            return value.inner if isinstance(value, cls) else value

        result = function(*map(inner, args), **(kwargs or {}))
        return cls(result) if isinstance(result, torch.Tensor) else result


def call_with_what_is_gathered(rank, folder):
    """As functional collectives leave it: the call itself is the first that waits."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor

    mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("dp",))
    for mode in ("strict", "observe"):
        capture.configure(on=True, mode=mode, directory=folder, min_free_bytes=0)
        X = distribute_tensor(draw(8, 12), mesh, [Shard(0)]).redistribute(placements=[Replicate()], async_op=True)
        X = X.to_local()
        Y = capture.wrap(broken if rank == 1 else newton_schulz)(X)
        capture.end_step()
        del Y


def call_with_shards_besides(rank, folder):
    """A DTensor that is not the input, and a sum that is not made yet, which no rank may ask for alone."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import DTensor, Partial, Replicate, distribute_tensor

    mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("dp",))
    capture.configure(on=True, mode="strict", directory=folder, min_free_bytes=0)
    X, scale = (distribute_tensor(value, mesh, [Replicate()]) for value in (draw(8, 12), torch.tensor([1.0, 2.0])))
    capture.wrap(lambda X, scale, epsilon: X * NAN)(X, scale, DTensor.from_local(torch.tensor(0.5), mesh, [Partial()]))


def talk_to_others(rank, folder):
    """Only one rank has a bad output. Calls made again would meet the other's sums in the middle of something else."""
    capture.configure(on=True, mode="strict", directory=folder, min_free_bytes=0)

    def tensor_parallel(X):
        A = X @ X.mT
        dist.all_reduce(A)
        return A @ X * (NAN if rank == 1 else 1)

    for _ in range(3):
        capture.wrap(tensor_parallel)(draw(8, 12))
        gradient = torch.full((8, 8), 1.0)
        dist.all_reduce(gradient)
        assert gradient.eq(2).all(), gradient


def keep_healthy_parts(rank, folder):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Shard, distribute_tensor

    mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("dp",))
    capture.configure(on=True, mode="strict", directory=folder, min_free_bytes=0)
    factors = iter((1.0, NAN))
    watched = capture.wrap(lambda X: X * next(factors))
    for _ in range(2):
        watched(distribute_tensor(draw(8, 12), mesh, [Shard(0)]))


class Ranks(Case):
    def of_ranks(self):
        """(rank, the dump, its sidecar) of each."""
        found = zip(self.dumps(), self.sidecars())
        return [(s["environment"]["rank"], torch.load(path, weights_only=True), s) for path, s in found]

    def test_what_is_gathered_for_the_call(self):
        spread(call_with_what_is_gathered, self.folder)
        self.assertEqual([rank for rank, _, _ in self.of_ranks()], [1, 1])
        for _, dump, _ in self.of_ranks():
            self.assertEqual(bits(dump["input"]), bits(draw(8, 12)))

    def test_shards_besides_the_input(self):
        spread(call_with_shards_besides, self.folder)
        self.assertEqual([(rank, s["call"]["keeps"]) for rank, _, s in self.of_ranks()], [(0, "the same"), (1, "the same")])

    def test_a_function_whose_code_talks_to_others_is_not_called_again(self):
        spread(talk_to_others, self.folder)
        found = [(rank, s["retries"], s["retries_skipped"]) for rank, _, s in self.of_ranks()]
        why = "the function's code may talk to other ranks; wrap(collective=False) says that it does not"
        self.assertEqual(found, [(1, [], why)] * 3)

    def test_a_healthy_part_is_no_control(self):
        spread(keep_healthy_parts, self.folder)
        self.assertEqual([s["controls"] for _, _, s in self.of_ranks()], [[], []])
        self.assertEqual(list(self.folder.glob("nanscope_control*")), [])

    def test_gradients_of_shards_that_were_written_to(self):
        spread(step_on_shards, self.folder)
        for rank in range(2):
            of = [s for s in self.sidecars() if s["environment"]["rank"] == rank]
            self.assertEqual([[p["grad_finite"] for p in s["state"]] for s in of], [[True]] * 4)

    def test_parameters_that_are_shards(self):
        spread(call_with_shards_as_parameters, self.folder)
        for rank in range(2):
            found = [s["state_of"] for s in self.sidecars() if s["environment"]["rank"] == rank]
            whole = {"parameters": 2, "listed": 2, "shards": False, "transposes": True}
            self.assertEqual(found, [{**whole, "shards": True, "transposes": True}, whole, whole])

    def test_ddp(self):
        """Both ranks train as they do without the helper; rank 1 alone has a bad call."""
        for watched in (False, True):
            spread(train_in_ddp, self.folder, watched)
        for rank in range(2):
            plain = torch.load(self.folder / f"weights0-{rank}.pt")
            self.assertEqual(torch.load(self.folder / f"weights1-{rank}.pt"), plain)
        sidecars = [json.loads(path.read_text()) for path in self.folder.glob("dion_nan_capture_rank1*.json")]
        self.assertEqual([s["environment"]["rank"] for s in sidecars], [1])
        self.assertEqual([s["environment"]["world"] for s in sidecars], [2])
        self.assertEqual(list(self.folder.glob("dion_nan_capture_rank0*")), [])

    def test_dtensor(self):
        spread(call_with_shards, self.folder)
        for rank in range(2):
            paths = [path for path in self.dumps() if NAME.fullmatch(path.name)[1] == str(rank)]
            self.assertEqual(len(paths), 2)
            for path in paths:
                dump = torch.load(path, weights_only=True)
                sidecar = json.loads(path.with_suffix(".json").read_text())
                self.assertEqual(sidecar["part"].pop("call"), paths.index(path))
                self.assertEqual(bits(dump["input"]), bits(draw(8, 12)[4 * rank : 4 * rank + 4]))
                self.assertEqual(
                    sidecar["part"],
                    {
                        "shape": [8, 12],
                        "strides": [12, 1],
                        "placements": ["Shard(0)"],
                        "mesh": {"shape": [2], "names": ["dp"], "ranks": [0, 1], "coordinate": [rank]},
                        "rank": rank,
                    },
                )
                self.assertEqual(sidecar["retries_skipped"], "the call needs every rank")

    def test_a_forked_worker_begins_anew(self):
        self.on("observe")
        X = draw(8, 12)
        capture.wrap(broken)(X)

        def child(result):
            result.put((len(capture._process.pending), capture._process.calls, capture._process.pid == os.getpid()))

        self.assertEqual(in_child(child), (0, 0, True))
        capture.end_step()
        self.assertEqual(len(self.dumps()), 1)


    def test_a_worker_that_is_forked_in_the_middle_of_a_call(self):
        """Another thread holds the lock then, and nobody lets go of it in the child."""
        self.on()

        def child(result):
            capture.wrap(broken)(draw(8, 12))
            result.put(capture._process.calls)

        held, over = threading.Event(), threading.Event()

        def holding():
            with capture._process.lock:
                held.set()
                over.wait(120)

        other = threading.Thread(target=holding)
        other.start()
        held.wait(60)
        try:
            self.assertEqual(in_child(child), 1)
        finally:
            over.set()
            other.join()
        self.assertEqual(len(self.dumps()), 1)


class Graphs(Case):
    """What is decided without CUDA."""

    def test_strict_refuses_with_one_line(self):
        self.on()
        watched = capture.wrap(broken)
        with mock.patch.object(capture, "_capturing_graph", lambda device: True):
            watched(draw(8, 12)), watched(draw(8, 12))
        self.assertEqual(self.dumps(), [])
        self.assertEqual(self.text.getvalue().count("CUDA graph"), 1)
        self.assertIn("2 with calls recorded into a CUDA graph", capture.summary())

    def test_observe_leaves_a_number(self):
        self.on("observe")
        X = draw(8, 12)
        capture.wrap(newton_schulz)(X)  # as one warms up
        with mock.patch.object(capture, "_capturing_graph", lambda device: True):
            capture.wrap(newton_schulz)(X)
        capture.end_step()
        self.assertEqual(self.text.getvalue(), "")
        with mock.patch.object(capture, "_capturing_graph", lambda device: True):
            capture.wrap(broken)(X)
            with mock.patch.object(capture, "_end_step", side_effect=AssertionError("waited in a recording")):
                capture.end_step()
        self.assertEqual(self.text.getvalue(), "")
        capture.end_step()
        self.assertIn("inside a CUDA graph", self.text.getvalue())
        self.assertIsNone(capture._process.stopped)

    def test_observe_takes_no_memory_in_a_recording(self):
        self.on("observe")
        with mock.patch.object(capture, "_capturing_graph", lambda device: True):
            capture.wrap(broken)(draw(8, 12))
        self.assertEqual(capture._process.totals, {})
        self.assertIn("1 with calls recorded into a CUDA graph before any that was not", capture.summary())


@unittest.skipUnless(torch.cuda.is_available(), "torch finds no GPU here")
class OnAGpu(Case):
    """In a process of its own: the tests above fork, which a process that has started CUDA must not."""

    def in_a_process(self, code):
        """What a program prints that begins with the helper switched on, for captures in self.folder."""
        begin = f"""
import sys
sys.path[:0] = [{str(HELPER.parent)!r}, {str(Path(__file__).parent)!r}]
import torch
import nanscope_capture as capture
from capture_test import broken, draw, newton_schulz
X = draw(96, 160).cuda()
def on(mode, **settings):
    capture.configure(on=True, mode=mode, directory={str(self.folder)!r}, min_free_bytes=0, **settings)
"""
        done = subprocess.run([sys.executable, "-c", begin + code], capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout + done.stderr

    def test_both_ways_find_it_and_retry_on_another_stream(self):
        for mode in ("strict", "observe"):
            with self.subTest(mode):
                self.in_a_process(f"""
on({mode!r})
watched = capture.wrap(broken)
Y = watched(X)
capture.end_step()
""")
                (path,) = self.dumps()
                dump, sidecar = torch.load(path, weights_only=True), json.loads(path.with_suffix(".json").read_text())
                self.assertEqual(bits(dump["input"]), bits(draw(96, 160)))
                self.assertEqual(int(dump["output"].isnan().sum()), 2 * 3)
                retries = {retry["how"]: retry for retry in sidecar["retries"]}
                self.assertEqual(set(retries), {"same", "stream"})
                self.assertTrue(all(retry["equal_to_output"] for retry in retries.values()), retries)
                self.assertIn(torch.cuda.get_device_name(), json.dumps(sidecar))
                shutil.rmtree(self.folder)
                self.folder.mkdir()

    def test_observe_does_not_wait_for_the_gpu(self):
        text = self.in_a_process("""
on("observe")
watched = capture.wrap(newton_schulz)
watched(X)
capture.end_step()
torch.cuda.set_sync_debug_mode("error")
for _ in range(20):
    watched(X)
torch.cuda.set_sync_debug_mode("default")
capture.end_step()
print("calls looked at:", capture._process.looked)
""")
        self.assertIn("calls looked at: 21", text)
        self.assertEqual(self.dumps(), [])

    def test_a_graph_that_is_replayed_with_a_bad_input_is_reported(self):
        text = self.in_a_process("""
on("observe")
watched = capture.wrap(newton_schulz)
other = torch.cuda.Stream()
with torch.cuda.stream(other):
    watched(X)
torch.cuda.current_stream().wait_stream(other)
capture.end_step()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    Y = watched(X)
graph.replay()
capture.end_step()
print("finite" if torch.isfinite(Y).all() else "not finite", flush=True)
X[3, 4] = float("nan")
graph.replay()
capture.end_step()
X.fill_(1)
graph.replay()
capture.end_step()
print("third:", bool(torch.isfinite(Y).all()), flush=True)
print(capture.summary())
""")
        first, _, rest = text.partition("finite\n")
        self.assertNotIn("non-finite", first)
        self.assertEqual(text.count("inside a CUDA graph on cuda:0"), 1, text)
        self.assertIn("third: True", rest)

    def test_a_graph_can_be_made_while_strict_watches(self):
        text = self.in_a_process("""
on("strict")
watched = capture.wrap(newton_schulz)
watched(X)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    Y = watched(X)
graph.replay()
print("finite:", bool(torch.isfinite(Y).all()))
""")
        self.assertIn("finite: True", text)
        self.assertIn("strict cannot watch calls inside a CUDA graph", text)

    def test_a_write_from_another_stream_shows_in_the_input(self):
        """The input is overwritten while it is read: strict's copy from before is what is kept."""
        self.in_a_process("""
on("strict")
def racing(X):
    with torch.cuda.stream(torch.cuda.Stream()):
        X[5, 7] = float("nan")
    torch.cuda.synchronize()
    return newton_schulz(X)
capture.wrap(racing)(X)
""")
        dump, sidecar = self.only()
        self.assertEqual(bits(dump["input"]), bits(draw(96, 160)))
        self.assertTrue(sidecar["input"]["changed"], sidecar["input"])

    def test_tf32_that_torch_was_set_to_is_noted(self):
        self.in_a_process("""
torch.backends.cuda.matmul.fp32_precision = "tf32"
on("strict")
def in_fp32(X):
    Y = X / X.norm()
    Y = 1.5 * Y - 0.5 * (Y @ Y.mT) @ Y
    Y[2:4, 5:8] = float("nan")
    return Y
capture.wrap(in_fp32)(X)
""")
        self.assertEqual(self.only()[1]["environment"]["flags"]["fp32_precision"], "tf32")


if __name__ == "__main__":
    unittest.main()
