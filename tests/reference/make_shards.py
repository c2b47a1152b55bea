# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""Writes data/shards/: dumps of DTensors as the capture wrapper makes them, one folder per case and one file per rank.

expected.json lists, per case, the logical tensors as DTensor.full_tensor() gives them (dtype, shape and bits, row-major),
the placements, and each rank's coordinate and its part's shape. Four or eight processes talk over gloo.

    python tests/reference/make_shards.py
    python tests/reference/make_shards.py --folder torch26 --cases rows,grid,sliced,sum   (with another torch)
"""

import argparse
import json
import logging
import os
import pathlib
import warnings

import torch
import torch.distributed as dist
import torch.multiprocessing
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from torch.distributed.tensor.placement_types import _StridedShard

from make_torchfiles import bits_of

FOLDER = pathlib.Path(__file__).parent / "data" / "shards"
INF = float("inf")
NAN = float("nan")


def numbers(*shape, dtype=torch.float32):
    """Small whole numbers and quarters: exact in every format and in every order of addition."""
    generator = torch.Generator().manual_seed(3)
    return (torch.randint(-40, 41, shape, generator=generator) / 4).to(dtype)


def with_faults(tensor):
    """A NaN and an infinity in the last column but one, so that they lie in different parts."""
    tensor = tensor.clone()
    tensor[..., -1, -2] = NAN
    tensor[..., 0, -2] = -INF
    return tensor


def line():
    return init_device_mesh("cpu", (dist.get_world_size(),), mesh_dim_names=("dp",))


def grid():
    return init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))


def spread(tensor, mesh, *placements):
    return distribute_tensor(tensor, mesh, list(placements))


def part(value, mesh, *placements):
    return DTensor.from_local(value, mesh, list(placements), run_check=False)


def strided(shape):
    """dp outside of tp, but tp cut first: what FSDP over tensor parallel makes."""
    placements = [_StridedShard(dim=0, split_factor=2), Shard(0)]
    return distribute_tensor(with_faults(numbers(*shape)), grid(), placements, src_data_rank=None)


def reordered():
    """The same without a strided placement: the order of the cuts stands beside the placements."""
    from torch.distributed.tensor._dtensor_spec import DTensorSpec, ShardOrderEntry, TensorMeta

    mesh = grid()
    whole = with_faults(numbers(7, 4))
    dp, tp = mesh.get_coordinate()
    halves = list(whole.chunk(2)[tp].chunk(2))
    meta = TensorMeta(whole.shape, whole.stride(), whole.dtype)
    order = (ShardOrderEntry(tensor_dim=0, mesh_dims=(1, 0)),)
    spec = DTensorSpec(mesh, (Shard(0), Shard(0)), meta, shard_order=order)
    tensor = DTensor.from_local(
        halves[dp].clone(), mesh, [Shard(0), Shard(0)], run_check=False, shape=whole.shape, stride=whole.stride()
    )
    tensor._spec = spec
    return tensor


def reduced(op, dtype, *values):
    """Every rank has its own value in column 0, and one quarter of a small number elsewhere."""
    local = numbers(3, 4, dtype=dtype)
    local[:, 0] = values[dist.get_rank()]
    return part(local, line(), Partial(op))


def sliced():
    mesh = grid()["tp"]
    whole = numbers(6, 4) + 100 * (dist.get_rank() // 2)
    return part(whole.chunk(2)[mesh.get_coordinate()[0]].clone(), mesh, Shard(0))


def flattened():
    """A dimension made of the first and the last of three: it steps through the table of ranks in two strides."""
    mesh = init_device_mesh("cpu", (2, 2, 2), mesh_dim_names=("a", "b", "c"))
    return spread(with_faults(numbers(7, 4)), mesh["a", "c"]._flatten("ac"), Shard(0))


CASES = {
    "rows": lambda: spread(with_faults(numbers(7, 6)), line(), Shard(0)),
    "columns": lambda: spread(with_faults(numbers(5, 3)), line(), Shard(1)),
    "replicas": lambda: spread(with_faults(numbers(3, 4)), line(), Replicate()),
    "grid": lambda: spread(with_faults(numbers(7, 5)), grid(), Shard(0), Shard(1)),
    "twice": lambda: spread(with_faults(numbers(7, 4)), grid(), Shard(0), Shard(0)),
    "strided": lambda: strided((8, 3)),
    "uneven_strided": lambda: strided((7, 3)),
    "reordered": reordered,
    "batch": lambda: spread(with_faults(numbers(3, 4, 5, dtype=torch.bfloat16)), grid(), Replicate(), Shard(0)),
    "middle": lambda: spread(with_faults(numbers(2, 5, 4, dtype=torch.float64)), grid(), Shard(2), Shard(1)),
    "vector": lambda: spread(numbers(11, dtype=torch.float16), line(), Shard(0)),
    "permuted": lambda: spread(with_faults(numbers(6, 4)), DeviceMesh("cpu", [[0, 2], [1, 3]]), Shard(1), Shard(0)),
    "descending": lambda: spread(numbers(6, 4), DeviceMesh("cpu", [[3, 1], [0, 2]]), Shard(1), Shard(0)),
    "parameter": lambda: torch.nn.Parameter(spread(numbers(6, 4), grid(), Replicate(), Shard(0))),
    "sliced": sliced,
    "flattened": flattened,
    "whole_numbers": lambda: spread(torch.arange(21).reshape(7, 3), line(), Shard(0)),
    "sum": lambda: reduced("sum", torch.float32, 1.5, -2.0, 0.25, 8.0),
    "sum_overflow": lambda: reduced("sum", torch.float16, 30000.0, 30000.0, 30000.0, 30000.0),
    "sum_overflow_bf16": lambda: reduced("sum", torch.bfloat16, 3e38, 3e38, 1e38, 1e38),
    "sum_cancels": lambda: reduced("sum", torch.float32, INF, -INF, 1.0, 1.0),
    "largest": lambda: reduced("max", torch.float32, 1.0, -INF, 7.5, 2.0),
    "smallest": lambda: reduced("min", torch.bfloat16, 1.0, -3.0, 7.5, 2.0),
    "sum_of_rows": lambda: part(numbers(2, 6, dtype=torch.bfloat16) * (1 + grid().get_coordinate()[1]), grid(), Partial(), Shard(0)),
}
EIGHT = {"flattened"}
KEPT = {"reordered"}  # detach() forgets the order of the cuts


def describe(tensor):
    whole = tensor.full_tensor()
    return {
        "dtype": str(whole.dtype).removeprefix("torch."),
        "shape": list(whole.shape),
        "bits": bits_of(whole),
        "coordinate": tensor.device_mesh.get_coordinate(),
        "mesh": tensor.device_mesh.mesh.tolist(),
        "local": list(tensor.to_local().shape),
        "placements": [str(placement) for placement in tensor.placements],
    }


def work(rank, world, names, folder, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=port, RANK=str(rank), WORLD_SIZE=str(world))
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    dist.init_process_group("gloo", rank=rank, world_size=world)
    for name in names:
        case = folder / name
        case.mkdir(parents=True, exist_ok=True)
        tensor = CASES[name]()
        output = tensor if name in KEPT else tensor.detach()
        payload = {"input": tensor, "output": output, "rank": rank, "shape": tuple(tensor.shape)}
        if tensor.to_local().numel() > 0 or tensor.device_mesh.get_coordinate() is not None:
            torch.save(payload | {"dtype": str(tensor.dtype), "epsilon": 1e-8}, case / f"dump_rank{rank}.pt")
            (case / f"facts{rank}.json").write_text(json.dumps(describe(tensor)))
    dist.barrier()
    dist.destroy_process_group()


def collect(folder, names):
    """One file of all that the ranks wrote down."""
    expected = {}
    for name in names:
        facts = {path.stem.removeprefix("facts"): path for path in (folder / name).glob("facts*.json")}
        expected[name] = {rank: json.loads(facts[rank].read_text()) for rank in sorted(facts, key=int)}
        for path in facts.values():
            path.unlink()
    lines = [f'"{name}": {json.dumps(expected[name], sort_keys=True)}' for name in names]
    (folder / "expected.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", default="")
    parser.add_argument("--cases", default=",".join(CASES))
    wanted = parser.parse_args()
    names = wanted.cases.split(",")
    folder = FOLDER / wanted.folder
    for world, chosen in ((4, [n for n in names if n not in EIGHT]), (8, [n for n in names if n in EIGHT])):
        if chosen:
            torch.multiprocessing.spawn(work, (world, chosen, folder, str(29650 + world)), nprocs=world)
    collect(folder, names)


if __name__ == "__main__":
    main()
