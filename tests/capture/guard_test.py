# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""resources/python/nanscope_guard.py, with the torch that is there, on the CPU and in several processes.

    python tests/capture/guard_test.py
"""

import datetime
import logging
import math
import multiprocessing
import os
import queue as queues
import signal
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

import torch
import torch.distributed as dist

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "resources" / "python"))

import muon  # noqa: E402
import nanscope_guard as guards  # noqa: E402

torch.set_num_threads(1)

INF = float("inf")
NAN = float("nan")
PATIENCE = 60  # s, of what ends at once where nothing is wrong


def in_processes(function, ranks, timeout=PATIENCE):
    """What `function(rank)` returned on every rank, in order; None of one that was killed."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["torch", "torch.distributed.tensor"])
    with tempfile.TemporaryDirectory() as folder:
        queue = context.Queue()
        processes = [context.Process(target=_run, args=(function, rank, ranks, folder, timeout, queue))
                     for rank in range(ranks)]
        for process in processes:
            process.start()
        results = [None] * ranks
        until = time.monotonic() + 2 * PATIENCE
        waiting = set(range(ranks))
        while waiting and time.monotonic() < until:
            try:
                rank, result = queue.get(timeout=0.2)
                results[rank] = result
                waiting.discard(rank)
            except queues.Empty:
                waiting = {rank for rank in waiting if processes[rank].is_alive()}
        for process in processes:
            process.join(timeout=5)
            process.kill()
        return results


def _run(function, rank, ranks, folder, timeout, queue):
    logging.disable(logging.CRITICAL)
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/rendezvous", rank=rank, world_size=ranks,
                            timeout=datetime.timedelta(seconds=timeout))
    try:
        queue.put((rank, function(rank)))
    except Exception as error:
        queue.put((rank, f"{type(error).__name__}: {error}"))
    queue.close()
    queue.join_thread()
    os._exit(0)  # gloo waits for ranks that were killed


def bits(tensor):
    return tensor.detach().contiguous().view(torch.int32).flatten().tolist()


class Lines(logging.Handler):
    """What is logged."""

    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        self.lines.append(record.getMessage())


def logger():
    log = logging.Logger("test")
    lines = Lines()
    log.addHandler(lines)
    return log, lines.lines


class AnyNonfinite(unittest.TestCase):
    def test_every_value_in_every_place(self):
        for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16):
            finite = torch.linspace(-1, 1, 35).reshape(5, 7).to(dtype)
            finite[0, 0] = torch.finfo(dtype).max
            finite[1, 1] = torch.finfo(dtype).min
            self.assertFalse(guards.any_nonfinite(finite), dtype)
            for value in (NAN, INF, -INF):
                for place in range(35):
                    bad = finite.clone()
                    bad.view(-1)[place] = value
                    self.assertTrue(guards.any_nonfinite(bad), (dtype, value, place))

    def test_other_types(self):
        self.assertTrue(guards.any_nonfinite(torch.tensor([1 + 1j, complex(0, NAN)])))
        self.assertFalse(guards.any_nonfinite(torch.tensor([1 + 1j])))
        self.assertTrue(guards.any_nonfinite(torch.tensor([1.0, NAN]).to(torch.float8_e5m2)))
        self.assertFalse(guards.any_nonfinite(torch.tensor([1.0, 2.0]).to(torch.float8_e4m3fn)))
        self.assertFalse(guards.any_nonfinite(torch.tensor([2**62])))
        self.assertFalse(guards.any_nonfinite(torch.empty(0, 4)))
        self.assertTrue(guards.any_nonfinite(torch.tensor([[0, INF], [1, 0]]).to_sparse()))
        self.assertTrue(guards.any_nonfinite(torch.tensor(NAN)))
        strided = torch.zeros(6, 6)
        strided[1, 1] = NAN
        self.assertFalse(guards.any_nonfinite(strided[::2, ::2]), "what lies between is not its own")
        self.assertTrue(guards.any_nonfinite(strided.mT[1::2]))

    def test_distributed_tensors_of_every_placement(self):
        for rank, (wrong, asked) in enumerate(in_processes(_ask_placements, 2)):
            self.assertEqual(wrong, [], rank)
            self.assertEqual(asked, 14)

    def test_averages(self):
        for rank, wrong in enumerate(in_processes(_ask_averages, 2)):
            if wrong == NO_AVERAGES:
                self.skipTest(f"gloo of torch {torch.__version__} takes no averages")
            self.assertEqual(wrong, [], rank)


NO_AVERAGES = "no averages"
HUGE = 3e38


def _ask_averages(rank):
    from torch.distributed.tensor import Partial

    try:
        dist.all_reduce(torch.ones(1), op=dist.ReduceOp.AVG)
    except RuntimeError:
        return NO_AVERAGES
    return _wrong_of(rank, [
        ("finite parts", Partial("avg"), ([1.0, 2.0], [3.0, 4.0])),
        ("huge parts", Partial("avg"), ([HUGE, 2.0], [HUGE, 4.0])),
        ("NaN in a part", Partial("avg"), ([1.0, 2.0], [NAN, 4.0])),
    ])


def _wrong_of(rank, cases):
    """Names of those that are answered otherwise than their whole is."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import DTensor

    mesh = init_device_mesh("cpu", (2,))
    wrong = []
    for name, placement, parts in cases:
        tensor = DTensor.from_local(torch.tensor(parts[rank]), mesh, [placement], run_check=False)
        whole = tensor.full_tensor().isfinite().all().item()
        # full_tensor() of replicas is this rank's own.
        expected = name == "one replica drifted" or not whole
        if guards.any_nonfinite(tensor) is not expected:
            wrong.append(name)
    return wrong


def _ask_placements(rank):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import DTensor, Partial, Replicate, Shard

    mesh = init_device_mesh("cpu", (2,))
    cases = [
        ("finite shards", Shard(0), ([1.0, 2.0], [3.0, 4.0])),
        ("NaN in a shard", Shard(0), ([1.0, 2.0], [NAN, 4.0])),
        ("Inf in the other", Shard(0), ([-INF, 2.0], [3.0, 4.0])),
        ("finite replicas", Replicate(), ([1.0, 2.0], [1.0, 2.0])),
        ("one replica drifted", Replicate(), ([1.0, 2.0], [1.0, NAN])),
        ("finite parts", Partial("sum"), ([1.0, 2.0], [3.0, 4.0])),
        ("finite parts, infinite sum", Partial("sum"), ([HUGE, 2.0], [HUGE, 4.0])),
        ("parts that cancel to NaN", Partial("sum"), ([INF, 2.0], [-INF, 4.0])),
        ("NaN in a part", Partial("sum"), ([1.0, NAN], [3.0, 4.0])),
        ("infinite part, finite minimum", Partial("min"), ([INF, 2.0], [3.0, 4.0])),
        ("infinite part, infinite maximum", Partial("max"), ([INF, 2.0], [3.0, 4.0])),
    ]
    wrong = _wrong_of(rank, cases)
    uneven = DTensor.from_local(torch.full((3 - 3 * rank, 2), NAN), mesh, [Shard(0)], run_check=False, shape=(3, 2),
                                stride=(2, 1))
    if not guards.any_nonfinite(uneven):
        wrong.append("empty shard beside a bad one")
    if guards.any_nonfinite(torch.tensor([NAN if rank else 1.0])) is not bool(rank):
        wrong.append("a tensor of one rank is its own")
    if not guards.any_nonfinite(torch.tensor([NAN if rank else 1.0]), across_ranks=True):
        wrong.append("across ranks")
    return wrong, len(cases) + 3


def _train(rank, guarded, group=None, sharded=False):
    """Five updates of a weight of ones; the second has a NaN on rank 1. A replica each, or a shard each."""
    weight = torch.ones(4)
    guard = guards.NonFiniteGuard(group)
    for step in range(5):
        update = torch.full((4,), 1.0 + (rank if sharded else 0))
        if step == 1 and rank == 1:
            update[2] = NAN
        if guarded == "alone" and guards.any_nonfinite(update):
            continue  # what every rank does for itself
        if guarded == "together" and guard(update, step=step):
            continue
        weight -= 0.1 * update
    return bits(weight), guard.skipped


class Together(unittest.TestCase):
    """What goes wrong without agreement, and does not with it."""

    def test_replicas_drift_apart_where_each_rank_decides(self):
        (first, _), (second, _) = in_processes(_drift_alone, 2)
        self.assertNotEqual(first, second)

    def test_replicas_stay_equal_where_ranks_agree(self):
        (first, skipped), (second, other) = in_processes(_stay_together, 2)
        self.assertEqual(first, second)
        self.assertEqual((skipped, other), (1, 1))
        expected = torch.ones(4)
        for _ in range(4):
            expected -= 0.1 * torch.ones(4)
        self.assertEqual(first, bits(expected), "as if the batch had not been")

    def test_a_group_of_one_does_not_protect(self):
        """The group that Newton-Schulz works in: dion PR 79, second commit."""
        (first, _), (second, _) = in_processes(_wrong_group, 2)
        self.assertNotEqual(first, second)

    def test_shards_are_torn_where_each_rank_decides(self):
        alone = in_processes(_torn_alone, 2)
        self.assertNotEqual(alone[0][0], alone[1][0], "one shard made five updates, one four")
        together = in_processes(_torn_together, 2)
        self.assertEqual([result[1] for result in together], [1, 1])

    def test_nothing_changes_where_all_is_finite(self):
        (first, skipped), _ = in_processes(_finite, 2)
        self.assertEqual(skipped, 0)
        self.assertEqual(first, bits(_finite_alone()))

    def test_unequal_numbers_of_matrices_wait_for_ever(self):
        idle, waiting = in_processes(_asks_for_each, 2, timeout=2)
        self.assertEqual(idle, "agreed")
        self.assertRegex(waiting, "did not answer .*; no word of rank 0$")

    def test_noting_them_does_not(self):
        self.assertEqual(in_processes(_asks_once, 2), [True, True])

    def test_a_rank_that_was_killed_is_named(self):
        answers = in_processes(_one_is_killed, 3, timeout=20)
        self.assertIsNone(answers[2])
        for rank in range(2):
            self.assertRegex(str(answers[rank]), f"did not answer .*this one, rank {rank}; no word of rank (0, |1, )?2$")
        self.assertTrue(any(str(answer).endswith("no word of rank 2") for answer in answers), answers)

    def test_ranks_at_different_steps_are_told(self):
        for answer in in_processes(_at_different_steps, 2):
            self.assertRegex(str(answer), r"RuntimeError: Ranks are at different steps, 7 to 8")


def _drift_alone(rank):
    return _train(rank, "alone")


def _stay_together(rank):
    return _train(rank, "together")


def _wrong_group(rank):
    groups = [dist.new_group([0]), dist.new_group([1])]
    return _train(rank, "together", groups[rank])


def _torn_alone(rank):
    weight, _ = _train(rank, "alone")
    return [round((1 - value) * 10) for value in torch.tensor(weight, dtype=torch.int32).view(torch.float32).tolist()], rank


def _torn_together(rank):
    return _train(rank, "together", sharded=True)


def _finite_alone():
    weight = torch.ones(4)
    for step in range(5):
        weight -= 0.1 * torch.full((4,), float(step))
    return weight


def _finite(rank):
    weight = torch.ones(4)
    guard = guards.NonFiniteGuard(check_steps=True)
    for step in range(5):
        update = torch.full((4,), float(step))
        if guard(update, step=step):
            continue
        weight -= 0.1 * update
    return bits(weight), guard.skipped


def _asks_for_each(rank):
    guard = guards.NonFiniteGuard()
    for _ in range(2 + rank):
        guard(torch.ones(2))
    # Rank 0 is done, and has gone on to something else.
    time.sleep(0 if rank else 8)
    return "agreed"


def _asks_once(rank):
    guard = guards.NonFiniteGuard()
    for matrix in range(2 + rank):
        guard.note(torch.full((2,), NAN if matrix == 2 else 1.0))
    return guard.agree()


def _one_is_killed(rank):
    guard = guards.NonFiniteGuard()
    guard(torch.ones(2))
    if rank == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.5)
    guard(torch.ones(2))
    return "agreed"


def _at_different_steps(rank):
    guard = guards.NonFiniteGuard(check_steps=True)
    return guard(torch.ones(2), step=7 + rank)


class Protect(unittest.TestCase):
    kind = muon.Muon
    home, function = "muon", "zeropower_via_newtonschulz5"

    def setUp(self):
        torch.manual_seed(7)
        self.weight = torch.nn.Parameter(torch.randn(8, 6))

    def muon(self):
        return self.kind([self.weight], lr=0.1, momentum=0.9, weight_decay=0.1)

    def step(self, optimizer, bad=False):
        self.weight.grad = torch.full_like(self.weight, NAN) if bad else torch.randn(8, 6)
        optimizer.step()

    def test_a_bad_step_leaves_no_trace(self):
        optimizer = self.muon()
        log, lines = logger()
        guard = guards.protect(optimizer, guards.NonFiniteGuard(log=log))
        self.step(optimizer)
        weight = self.weight.detach().clone()
        momentum = optimizer.state[self.weight]["momentum_buffer"].clone()
        self.step(optimizer, bad=True)
        self.assertEqual(bits(self.weight), bits(weight))
        self.assertEqual(bits(optimizer.state[self.weight]["momentum_buffer"]), bits(momentum))
        self.assertEqual(guard.skipped, 1)
        self.assertEqual(lines, ["[nan_guard_fallback] rank 0: non-finite Newton-Schulz output at step 2; skipping update "
                                 "on all ranks"])
        self.step(optimizer)
        self.assertFalse(guards.any_nonfinite(self.weight))

    def test_momentum_of_a_finite_gradient_stays(self):
        optimizer = self.muon()
        guards.protect(optimizer, guards.NonFiniteGuard(log=logger()[0]))
        self.step(optimizer)
        weight = self.weight.detach().clone()
        before = optimizer.state[self.weight]["momentum_buffer"].clone()
        module = sys.modules[self.home]
        original = getattr(module, self.function)
        with mock.patch.object(module, self.function, lambda *given, **named: original(*given, **named) * NAN):
            self.step(optimizer)
        self.assertEqual(bits(self.weight), bits(weight))
        self.assertNotEqual(bits(optimizer.state[self.weight]["momentum_buffer"]), bits(before))

    def test_good_steps_are_the_same_bits(self):
        results = []
        for protected in (False, True):
            self.setUp()
            optimizer = self.muon()
            if protected:
                guards.protect(optimizer)
            for _ in range(4):
                self.step(optimizer)
            results.append(bits(self.weight))
        self.assertEqual(*results)

    def test_state_of_a_first_bad_step_is_gone(self):
        optimizer = torch.optim.Adam([self.weight])
        guards.protect(optimizer, guards.NonFiniteGuard(log=logger()[0]))
        self.step(optimizer, bad=True)
        self.assertEqual(dict(optimizer.state[self.weight]), {})
        self.step(optimizer)
        self.assertEqual(optimizer.state[self.weight]["step"].item(), 1)

    def test_weights_that_were_bad_before_are_told(self):
        optimizer = self.muon()
        guard = guards.protect(optimizer, guards.NonFiniteGuard(log=logger()[0]))
        with torch.no_grad():
            self.weight[0, 0] = NAN
        with self.assertRaisesRegex(RuntimeError, "not finite before this step"):
            self.step(optimizer)
        guard.protection.remove()
        self.step(optimizer)


@unittest.skipUnless(hasattr(torch.optim, "Muon"), f"torch {torch.__version__} has no torch.optim.Muon")
class ProtectTorchsOwn(Protect):
    kind = getattr(torch.optim, "Muon", None)
    home, function = "torch.optim._muon", "_zeropower_via_newtonschulz"


class Detector(unittest.TestCase):
    def test_counts_as_documented(self):
        log, lines = logger()
        detector = guards.NaNDetector(max_consecutive=2, max_history=3, log=log)
        losses = [2.5, NAN, 2.0, INF, -INF, NAN, 1.5]
        answers = [detector.check_loss(loss, step) for step, loss in enumerate(losses)]
        self.assertEqual(answers, [math.isfinite(loss) for loss in losses])
        self.assertEqual(detector.state, guards.NaNState(0, 4, 1.5, 6, [1, 3, 4]))
        self.assertEqual(lines[0], "NaN/Inf loss at step 1 (consecutive: 1, total: 1)")
        self.assertEqual(sum("Too many consecutive NaNs" in line for line in lines), 1)
        self.assertFalse(detector.should_rollback)
        again = guards.NaNDetector()
        again.load_state_dict(detector.state_dict())
        self.assertEqual(again.state, detector.state)

    def test_stops_after_so_many_in_a_row(self):
        detector = guards.NaNDetector(max_consecutive=2, log=logger()[0])
        for step, (loss, stop) in enumerate([(NAN, False), (1.0, False), (NAN, False), (NAN, True), (NAN, True)]):
            detector.check_loss(torch.tensor(loss), step)
            self.assertEqual(detector.should_rollback, stop, step)

    def test_actions(self):
        with self.assertRaisesRegex(ValueError, "expected warn/skip/raise"):
            guards.NaNDetector(action="ignore")
        with self.assertRaisesRegex(RuntimeError, "NaN/Inf loss at step 9"):
            guards.NaNDetector(action="raise").check_loss(NAN, 9)
        self.assertFalse(guards.NaNDetector(action="skip", log=logger()[0]).check_loss(NAN, 9))

    def test_names_the_first_bad_gradient(self):
        model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Linear(3, 3))
        for parameter in model.parameters():
            parameter.grad = torch.zeros_like(parameter)
        log, lines = logger()
        detector = guards.NaNDetector(log=log)
        self.assertTrue(detector.check_gradients(model, 1))
        model[1].weight.grad[1, 1] = -INF
        model[1].bias.grad[0] = NAN
        self.assertFalse(detector.check_gradients(model, 2))
        self.assertIn("NaN/Inf gradient in 1.weight at step 2", lines[0])

    def test_one_rank_stops_all(self):
        for rank, (answers, rollback, lines) in enumerate(in_processes(_detect, 2)):
            self.assertEqual(answers, [True, False, False])
            self.assertTrue(rollback)
            seen = "NaN/Inf loss at step 1" if rank else "NaN/Inf detected on another rank at step 1"
            self.assertIn(seen, lines[0])


def _detect(rank):
    logging.disable(logging.NOTSET)
    log, lines = logger()
    detector = guards.NaNDetector(max_consecutive=2, log=log)
    answers = [detector.check_loss(NAN if rank and step else 1.0, step) for step in range(3)]
    return answers, detector.should_rollback, lines


if __name__ == "__main__":
    unittest.main()
