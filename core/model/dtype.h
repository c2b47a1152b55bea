// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace nanscope {

/// Element types torch, safetensors or NumPy can write. Names are torch's without the "torch." prefix.
enum class DType {
    float64,
    float32,
    float16,
    bfloat16,
    float8_e4m3fn,
    float8_e4m3fnuz,
    float8_e5m2,
    float8_e5m2fnuz,
    float8_e8m0fnu,
    complex32,
    complex64,
    complex128,
    int64,
    int32,
    int16,
    int8,
    uint64,
    uint32,
    uint16,
    uint8,
    boolean,
};

/// Bytes per element.
std::size_t sizeOf(DType dtype);

/// Short name as the command line and the reports print it: "fp64 fp32 fp16 bf16", else torch's name.
std::string_view shortName(DType dtype);

/// torch's name without "torch.": "bfloat16".
std::string_view torchName(DType dtype);

/// Accepts short names and torch names, with or without "torch.".
std::optional<DType> parseDType(std::string_view name);

/// True for the types that have NaN and infinity and that a scan understands.
bool isFloating(DType dtype);

/// Number format of a replay: what operands and results are rounded to. tf32 rounds operands of products only,
/// fp16Acc16 is fp16 whose products are summed in fp16, too (core/replay/device/halfsums.h).
enum class Precision { fp64, fp32, tf32, bf16, fp16, fp16Acc16 };

std::string_view name(Precision precision);
std::optional<Precision> parsePrecision(std::string_view name);

constexpr Precision lastPrecision = Precision::fp16Acc16;
/// In the order of the enumeration.
std::span<const Precision> allPrecisions();
/// Those that are meant where none are named: all but fp16Acc16, in which nobody computes who did not ask for it.
std::span<const Precision> usualPrecisions();

/// The format that matrices are held in between operations: fp32 for tf32, fp16 for fp16Acc16.
Precision heldIn(Precision precision);

/// Largest finite magnitude of the format.
double largestFinite(Precision precision);

/// Distance from 1 to the next larger number of the format (2^-52, 2^-23, 2^-10, 2^-7, 2^-10, 2^-10).
double epsilonOf(Precision precision);

} // namespace nanscope
