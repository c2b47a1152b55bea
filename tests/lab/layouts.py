# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""How the ranks of a real run hold the model: each a whole of its own, DistributedDataParallel, or fully_shard (FSDP2).

Parameters of fully_shard are DTensors, cut in their first dimension: of 3 experts and two ranks one has two, of four
ranks one has none.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor
from torch.nn.parallel import DistributedDataParallel


def spread(model: nn.Module, layout: str, ranks: int) -> nn.Module:
    """What is called in the place of the model. fully_shard gives the model other parameters."""
    if layout == "ddp":
        return DistributedDataParallel(model)
    if layout == "fsdp":
        mesh = init_device_mesh("cpu", (ranks,), mesh_dim_names=("dp",))
        for name in ("first", "second"):
            fully_shard(getattr(model, name), mesh=mesh)
        fully_shard(model, mesh=mesh)
    return model


def part_of(whole: Tensor, rank: int, ranks: int) -> Tensor:
    """As fully_shard cuts it."""
    chunks = whole.chunk(ranks)
    return chunks[rank] if rank < len(chunks) else whole[:0]


def whole_of(tensor: Tensor) -> Tensor:
    """Every rank has to ask."""
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def local_of(tensor: Tensor) -> Tensor:
    """What this rank holds; what is written to it is written to the tensor."""
    return tensor.to_local() if isinstance(tensor, DTensor) else tensor


def as_held(whole: Tensor, like: Tensor, rank: int, ranks: int) -> Tensor:
    """A tensor of the values of `whole` that is spread as `like` is."""
    if not isinstance(like, DTensor):
        return whole
    held = torch.zeros_like(like)
    held.to_local().copy_(part_of(whole, rank, ranks))
    return held


def change_whole(tensor: Tensor, rank: int, ranks: int, change: Callable[[Tensor], None]) -> None:
    """Changes a tensor as a whole, whoever holds which part: every rank has to do the same."""
    if not isinstance(tensor, DTensor):
        change(tensor)
        return
    whole = tensor.full_tensor()
    change(whole)
    tensor.to_local().copy_(part_of(whole, rank, ranks))


def is_everywhere(condition: bool) -> bool:
    """Whether it holds on every rank, each of which has to ask."""
    flag = torch.tensor(int(condition))
    dist.all_reduce(flag, op=dist.ReduceOp.MIN)
    return bool(flag)
