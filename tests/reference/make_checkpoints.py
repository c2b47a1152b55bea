# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""Writes data/checkpoints/: the same parameters as torch.distributed.checkpoint saves them from two ranks ("sharded"), as
one file of torch.save ("trainer.pt") and as two files of safetensors with their index ("hf").

expected.json gives, per parameter, its shape, dtype, what torch counts in it and the place of the first value that is
not finite. The two ranks talk over gloo; safetensors are written by hand, after the format's description.

    python tests/reference/make_checkpoints.py
"""

import json
import logging
import os
import pathlib
import shutil
import warnings

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
import torch.multiprocessing
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor

FOLDER = pathlib.Path(__file__).parent / "data" / "checkpoints"
NAN = float("nan")
INF = float("inf")
NAMES = {torch.float32: "F32", torch.bfloat16: "BF16", torch.int64: "I64"}


def parameters():
    """Name, tensor, and the dimension over which two ranks share it (None: one rank saves it)."""
    generator = torch.Generator().manual_seed(5)
    experts = torch.randn(3, 4, 6, generator=generator)
    experts[1, 3, 5] = NAN
    experts[2, 0, 0] = INF
    head = torch.randn(10, 4, generator=generator)
    head[7, 2] = -INF
    mask = torch.zeros(4, 4)
    mask[0, 1] = -INF
    moment = torch.randn(3, 4, 6, generator=generator)
    moment[0, 2, 1] = NAN
    return [
        ("model.experts", experts, 1),
        ("model.head", head, 0),
        ("model.bias", torch.randn(5, generator=generator).to(torch.bfloat16), None),
        ("model.mask", mask, None),
        ("model.lowest", torch.tensor([INF, -INF]), None),
        ("optimizer.experts.exp_avg", moment, 0),
        ("optimizer.experts.step", torch.tensor(7.0), None),
        ("ids", torch.arange(5), None),
    ]


def expected():
    out = {}
    for name, tensor, _ in parameters():
        if not tensor.is_floating_point():
            continue
        bad = torch.nonzero(~torch.isfinite(tensor))
        finite = tensor[torch.isfinite(tensor)].float()
        out[name] = {
            "shape": list(tensor.shape),
            "dtype": str(tensor.dtype).removeprefix("torch."),
            "nan": int(torch.isnan(tensor).sum()),
            "pos_inf": int((tensor == INF).sum()),
            "neg_inf": int((tensor == -INF).sum()),
            "absmax": float(finite.abs().max()) if len(finite) else 0.0,
            "first": bad[0].tolist() if len(bad) else [],
        }
    return out


def nested():
    """As a trainer's dict: model and optimizer apart, objects among the tensors, one tensor under two names."""
    tree = {}
    for name, tensor, _ in parameters():
        *above, last = name.split(".")
        place = tree
        for key in above:
            place = place.setdefault(key, {})
        place[last] = tensor
    tree["model"]["tied"] = tree["model"]["head"]
    return tree | {"epoch": 3, "step": 15, "history": [0.5, "text", None]}


def write_safetensors(path, tensors):
    header, contents = {}, b""
    for name, tensor in tensors:
        raw = bytes(tensor.contiguous().reshape(-1).view(torch.uint8).tolist())
        header[name] = {"dtype": NAMES[tensor.dtype], "shape": list(tensor.shape),
                        "data_offsets": [len(contents), len(contents) + len(raw)]}
        contents += raw
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + contents)


def write_hf(folder):
    folder.mkdir()
    tensors = [(name, tensor) for name, tensor, _ in parameters() if name.startswith("model.")]
    weight_map = {}
    for i, part in enumerate((tensors[:2], tensors[2:])):
        file = f"model-0000{i + 1}-of-00002.safetensors"
        write_safetensors(folder / file, part)
        weight_map |= {name: file for name, _ in part}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))


def save_sharded(rank, folder):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29541", RANK=str(rank), WORLD_SIZE="2")
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    dist.init_process_group("gloo", rank=rank, world_size=2)
    mesh = init_device_mesh("cpu", (2,))
    state = {name: tensor if dim is None else distribute_tensor(tensor, mesh, [Shard(dim)])
             for name, tensor, dim in parameters()}
    state["model.copied"] = distribute_tensor(torch.ones(2, 2), mesh, [Replicate()])
    dcp.save(state | {"epoch": 3}, checkpoint_id=folder)
    dist.destroy_process_group()


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    # A relative path, or .metadata would hold the name of a folder of this machine.
    os.chdir(FOLDER)
    torch.multiprocessing.spawn(save_sharded, args=("sharded",), nprocs=2)
    torch.save(nested(), "trainer.pt")
    write_hf(pathlib.Path("hf"))
    pathlib.Path("expected.json").write_text(json.dumps(expected(), indent=1) + "\n")


if __name__ == "__main__":
    main()
