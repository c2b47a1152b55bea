# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""Captures and logs made byte by byte, so that they can say anything."""

from __future__ import annotations

import binascii
import json
import math
import struct
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

FLOATS = {"float32": "FloatStorage", "float64": "DoubleStorage", "bfloat16": "BFloat16Storage", "int64": "LongStorage"}


def npy(path: Path, shape: str, data: bytes, kind: str = "<f4", fortran: bool = False, pad: int = 0) -> None:
    """A NumPy file whose header has this text for the shape."""
    header = f"{{'descr': '{kind}', 'fortran_order': {fortran}, 'shape': {shape}, }}" + " " * pad + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def safetensors(path: Path, tensors: dict[str, object], data: bytes) -> None:
    """A safetensors file with this header."""
    header = json.dumps(tensors).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + data)


def floats(count: int, first: float = 1.0, value: float = 0.0) -> bytes:
    """`count` float32, small and all different but where `value` fills them."""
    if value or math.isnan(value):
        return struct.pack("<f", value) * count
    return struct.pack(f"<{count}f", *(first / (3 + i % 97) * (-1 if i % 3 else 1) for i in range(count)))


@dataclass
class Storage:
    """A tensor as a pickle describes it: nothing of it has to be true."""

    key: str
    shape: Sequence[int]
    strides: Sequence[int]
    offset: int = 0
    count: int | None = None
    kind: str = "FloatStorage"


@dataclass
class Raw:
    """Bytes of a pickle as they are."""

    code: bytes


def pickled(value: object) -> bytes:
    """The opcodes that push a value."""
    if isinstance(value, Raw):
        return value.code
    if value is None or isinstance(value, bool):
        return {None: b"N", True: b"\x88", False: b"\x89"}[value]
    if isinstance(value, int):
        if -(2**31) <= value < 2**31:
            return b"J" + struct.pack("<i", value)
        raw = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
        return b"\x8a" + bytes([len(raw)]) + raw
    if isinstance(value, float):
        return b"G" + struct.pack(">d", value)
    if isinstance(value, str):
        raw = value.encode("utf-8", "surrogateescape")
        return b"X" + struct.pack("<I", len(raw)) + raw
    if isinstance(value, Storage):
        return tensor_code(value)
    if isinstance(value, dict):
        return b"}(" + b"".join(pickled(key) + pickled(item) for key, item in value.items()) + b"u"
    if isinstance(value, list):
        return b"](" + b"".join(map(pickled, value)) + b"e"
    if isinstance(value, tuple):
        return b"(" + b"".join(map(pickled, value)) + b"t"
    raise TypeError(type(value))


def tensor_code(tensor: Storage) -> bytes:
    """What torch pickles for a tensor."""
    count = tensor.count
    if count is None:
        count = math.prod(tensor.shape)
    kept = b"(" + pickled("storage") + f"ctorch\n{tensor.kind}\n".encode() + pickled(tensor.key) + pickled("cpu")
    kept += pickled(count) + b"tQ"
    arguments = b"(" + kept + pickled(tensor.offset) + pickled(tuple(tensor.shape)) + pickled(tuple(tensor.strides))
    return b"ctorch._utils\n_rebuild_tensor_v2\n" + arguments + b"\x89ccollections\nOrderedDict\n)RtR"


def archive(path: Path, pickle: bytes, storages: dict[str, bytes]) -> None:
    """The zip archive that torch.save writes, with this pickle."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as out:
        out.writestr("archive/data.pkl", pickle)
        out.writestr("archive/byteorder", "little")
        for key, contents in storages.items():
            out.writestr(f"archive/data/{key}", contents)
        out.writestr("archive/version", "3\n")


def pt(path: Path, root: object, storages: dict[str, bytes]) -> None:
    archive(path, b"\x80\x02" + pickled(root) + b".", storages)


def capture(
    path: Path, rows: int = 4, cols: int = 6, epsilon: float = 1e-7, output: float = math.nan, first: float = 1.0
) -> Path:
    """A capture as dion's wrapper writes it: a finite input, an output of one value (nan, or 0 for finite ones)."""
    count = rows * cols
    strides = (cols, 1)
    inside = {
        "input": Storage("0", (rows, cols), strides),
        "output": Storage("1", (rows, cols), strides),
        "rank": 0,
        "shape": [rows, cols],
        "dtype": "torch.float32",
        "epsilon": epsilon,
    }
    pt(path, inside, {"0": floats(count, first), "1": floats(count, 0.5, output)})
    return path


def step_line(step: int, loss: object) -> str:
    return f"step:{step}/100000 train_loss:{loss}\n"


def log_text(first: int, losses: Sequence[float]) -> str:
    """A console as modded-nanogpt writes it."""
    return "".join(step_line(first + i, repr(loss)) for i, loss in enumerate(losses))


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def message(field: int, contents: bytes) -> bytes:
    """A length-delimited field of a protobuf message."""
    return varint(field << 3 | 2) + varint(len(contents)) + contents


def wandb_row(step: int, **values: float) -> bytes:
    """A record of W&B's history."""
    items = b"".join(
        message(1, message(1, key.encode()) + message(16, json.dumps(value).encode()))
        for key, value in {**values, "_step": step}.items()
    )
    return varint(1 << 3) + varint(step) + message(2, items + message(2, b"\x08" + varint(step)))


def wandb_file(path: Path, records: Sequence[bytes]) -> None:
    """W&B's own file: chunks with a checksum in blocks of 32 KiB."""
    out = bytearray(b":W&B\xe1\xbe\x00")
    for record in records:
        at, first = 0, True
        while first or at < len(record):
            left = 32768 - len(out) % 32768
            if left < 8:
                out += bytes(left)
                continue
            part = record[at : at + left - 7]
            at += len(part)
            kind = (1 if at == len(record) else 2) if first else (4 if at == len(record) else 3)
            first = False
            checked = bytes([kind]) + part
            out += struct.pack("<IH", binascii.crc32(checked), len(part)) + checked
    path.write_bytes(out)


def crc32c_table() -> list[int]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ 0x82F63B78 * (byte & 1)
        table.append(byte)
    return table


CRC32C = crc32c_table()


def masked_crc(data: bytes) -> int:
    """TensorFlow's checksum of a record."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ CRC32C[(crc ^ byte) & 255]
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def event_record(data: bytes) -> bytes:
    length = struct.pack("<Q", len(data))
    return length + struct.pack("<I", masked_crc(length)) + data + struct.pack("<I", masked_crc(data))


def scalar_event(step: int, tag: str, value: float) -> bytes:
    """A scalar as TensorBoard has it."""
    summary = message(1, message(1, tag.encode()) + b"\x15" + struct.pack("<f", value))
    return b"\x09" + struct.pack("<d", 1.7e9 + step) + b"\x10" + varint(step) + message(5, summary)


def event_start() -> bytes:
    return event_record(b"\x09" + struct.pack("<d", 1.7e9) + message(3, b"brain.Event:2"))


def zstd_of(byte: int, blocks: int) -> bytes:
    """A Zstandard frame of `blocks` times 128 KiB of one byte: four bytes each."""
    frame = bytearray(b"\x28\xb5\x2f\xfd\x00\x38")  # no single segment, a window of 128 KiB
    for i in range(blocks):
        frame += struct.pack("<I", (131072 << 3) | (1 << 1) | (i == blocks - 1))[:3] + bytes([byte])
    return bytes(frame)
