# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""Writes data/torchfiles/: files by torch.save (and numpy.save where NumPy is) with what they hold.

expected.json lists, per file, every tensor by its path in the nest: dtype, shape, strides, offset and the bits of
its elements in row-major order, as torch reads them back; and every plain value the same way.

    python tests/reference/make_torchfiles.py
"""

import collections
import io
import json
import pathlib
import zipfile

import torch

FOLDER = pathlib.Path(__file__).parent / "data" / "torchfiles"
INTEGER = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def bits_of(tensor):
    """Hexadecimal of the elements' bytes, row-major, little-endian."""
    flat = tensor.detach().clone(memory_format=torch.contiguous_format).reshape(-1)
    return bytes(flat.untyped_storage()[: flat.numel() * flat.element_size()]).hex()


def describe(value, path, out):
    if isinstance(value, torch.Tensor):
        out["tensors"][path] = {
            "dtype": str(value.dtype).removeprefix("torch."),
            "shape": list(value.shape),
            "strides": list(value.stride()),
            "offset": value.storage_offset(),
            "bits": bits_of(value),
        }
    elif isinstance(value, dict):
        for key, held in value.items():
            describe(held, f"{path}/{key}", out)
    elif isinstance(value, (list, tuple)):
        out["lengths"][path] = len(value)
        for place, held in enumerate(value):
            describe(held, f"{path}/{place}", out)
    elif isinstance(value, (torch.dtype, torch.device)):
        out["values"][path] = str(value)
    else:
        out["values"][path] = value


def random_bits(dtype, shape, generator):
    size = torch.empty((), dtype=dtype).element_size()
    count = size
    for extent in shape:
        count *= extent
    raw = torch.randint(0, 256, (count,), dtype=torch.uint8, generator=generator)
    if dtype == torch.bool:
        return (raw % 2).to(torch.bool).reshape(shape)
    return raw.view(dtype).reshape(shape)


def all_dtypes(generator):
    names = """float64 float32 float16 bfloat16 float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz
        float8_e8m0fnu complex32 complex64 complex128 int64 int32 int16 int8 uint64 uint32 uint16 uint8 bool"""
    found = {name: getattr(torch, name) for name in names.split() if hasattr(torch, name)}
    return {name: random_bits(dtype, (3, 4), generator) for name, dtype in found.items()}


def views(generator):
    base = random_bits(torch.bfloat16, (6, 10), generator)
    cube = random_bits(torch.float32, (2, 3, 4), generator)
    return {
        "base": base,
        "transposed": base.t(),
        "columns": base[:, 2:7],
        "every second": base[::2, ::3],
        "offset": base[3:],
        "expanded rows": base[1:2].expand(5, 10),
        "expanded columns": base[:, 4:5].expand(6, 7),
        "one value": base[2, 3].expand(3, 4),
        "windows": torch.as_strided(base, (5, 4), (3, 2), 7),
        "scalar": base[1, 1],
        "row": base[4],
        "column": base[:, 5],
        "cube": cube,
        "cube permuted": cube.permute(2, 0, 1),
        "cube transposed": cube.transpose(1, 2),
        "cube slice": cube[:, 1:, ::2],
    }


def nest():
    shared = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    return {
        "list": [1, -2, 3.5, "four", None, True, False],
        "tuple": (shared, (1, (2, (3,)))),
        "ordered": collections.OrderedDict([("b", shared), ("a", shared[1])]),
        "default": collections.defaultdict(list, {"k": [7]}),
        "size": torch.Size([4, 5, 6]),
        "dtype": torch.bfloat16,
        "numbers": [0, 255, 256, 65535, 65536, -1, 2**31 - 1, -(2**31), 2**31, 2**62, -(2**63)],
        "text": "grün \u2211 \U0001f642",
        "float": [1e-8, 1e300, -0.0],
        7: "integer key",
        "empty": {"list": [], "tuple": (), "dict": {}},
        "again": [shared, shared],
    }


def parameters(generator):
    plain = torch.nn.Parameter(torch.randn(2, 3, generator=generator))
    marked = torch.nn.Parameter(torch.randn(3, generator=generator), requires_grad=False)
    marked.group = "muon"
    tensor = torch.randn(4, generator=generator)
    tensor.note = "from hook"
    return {
        "parameter": plain,
        "with attribute": marked,
        "tensor with attribute": tensor,
        "buffer": torch.nn.Buffer(torch.randn(2, generator=generator)),
        "state": torch.nn.Linear(3, 2).state_dict(),
    }


def capture(generator):
    matrix = (torch.randn(2, 24, 16, generator=generator) * 0.01).to(torch.bfloat16)
    output = matrix * 3
    output[1, 8:16, 4:8] = float("nan")
    output[0, 3, 5] = float("inf")
    return {
        "input": matrix,
        "output": output,
        "rank": 3,
        "shape": tuple(matrix.shape),
        "dtype": str(matrix.dtype),
        "epsilon": 1e-8,
    }


def as_big_endian(data):
    """The archive as a big-endian machine would have written it; torch swaps it back when it loads."""
    out = io.BytesIO()
    width = 4
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as new:
        for info in old.infolist():
            content = old.read(info)
            if info.filename.endswith("/byteorder"):
                content = b"big"
            elif "/data/" in info.filename:
                content = b"".join(content[i : i + width][::-1] for i in range(0, len(content), width))
            new.writestr(zipfile.ZipInfo(info.filename, (1980, 1, 1, 0, 0, 0)), content)
    return out.getvalue()


def save(name, value, expected, **options):
    path = FOLDER / name
    torch.save(value, path, **options)
    record(path, expected)


def record(path, expected):
    out = {"tensors": {}, "values": {}, "lengths": {}}
    describe(torch.load(path, weights_only=False), "", out)
    expected[path.name] = out


def numpy_files(expected):
    try:
        import numpy
    except ImportError:
        return
    array = numpy.linspace(-2, 3, 24).reshape(2, 3, 4)
    kinds = {"f8": array, "f4": array.astype("<f4"), "f2": array.astype("<f2"), "big": array.astype(">f4")}
    kinds |= {"fortran": numpy.asfortranarray(array), "i4": (array * 100).astype("<i4"), "scalar": numpy.float32(1.5)}
    for kind, values in kinds.items():
        path = FOLDER / f"{kind}.npy"
        numpy.save(path, values)
        held = numpy.ascontiguousarray(numpy.load(path)).reshape(numpy.shape(values))
        native = held.astype(held.dtype.newbyteorder("<"))
        facts = {"dtype": str(native.dtype), "shape": list(native.shape), "bits": native.tobytes().hex()}
        expected[path.name] = {"tensors": {"": facts}, "values": {}, "lengths": {}}


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    generator = torch.Generator().manual_seed(20)
    expected = {}
    save("dtypes.pt", all_dtypes(generator), expected)
    save("views.pt", views(generator), expected)
    save("nest.pt", nest(), expected)
    for protocol in (3, 4, 5):
        save(f"nest_protocol{protocol}.pt", nest(), expected, pickle_protocol=protocol)
    save("parameters.pt", parameters(generator), expected)
    save("capture.pt", capture(generator), expected)
    save("empty.pt", {"none": torch.empty(0), "rows": torch.empty(3, 0), "scalar": torch.tensor(2.5)}, expected)
    save("bare.pt", torch.randn(5, 7, generator=generator, dtype=torch.float64), expected)
    plain = FOLDER / "bigendian.pt"
    torch.save({"input": torch.randn(4, 6, generator=generator), "output": torch.arange(5, dtype=torch.int32)}, plain)
    plain.write_bytes(as_big_endian(plain.read_bytes()))
    record(plain, expected)
    torch.serialization.set_crc32_options(False)
    save("without_checksums.pt", {"input": torch.randn(4, 4, generator=generator)}, expected)
    torch.serialization.set_crc32_options(True)
    beside = {"input": torch.ones(2, 2), "module": torch.nn.Linear(2, 2), "lazy": torch.ones(2, dtype=torch.cfloat).conj()}
    torch.save(beside, FOLDER / "objects.pt")
    torch.save({"input": torch.ones(2, 2)}, FOLDER / "old_format.pt", _use_new_zipfile_serialization=False)
    numpy_files(expected)
    (FOLDER / "expected.json").write_text(json.dumps(expected, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
