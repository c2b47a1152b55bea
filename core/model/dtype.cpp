// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/model/dtype.h"

#include <array>
#include <cfloat>
#include <cstdint>

namespace nanscope {

namespace {

struct DTypeInfo
{
    DType dtype;
    std::string_view torch;
    std::string_view brief;
    std::size_t size;
    bool floating;
};

constexpr std::array dtypes {
    DTypeInfo {DType::float64, "float64", "fp64", 8, true},
    DTypeInfo {DType::float32, "float32", "fp32", 4, true},
    DTypeInfo {DType::float16, "float16", "fp16", 2, true},
    DTypeInfo {DType::bfloat16, "bfloat16", "bf16", 2, true},
    DTypeInfo {DType::float8_e4m3fn, "float8_e4m3fn", "float8_e4m3fn", 1, true},
    DTypeInfo {DType::float8_e4m3fnuz, "float8_e4m3fnuz", "float8_e4m3fnuz", 1, true},
    DTypeInfo {DType::float8_e5m2, "float8_e5m2", "float8_e5m2", 1, true},
    DTypeInfo {DType::float8_e5m2fnuz, "float8_e5m2fnuz", "float8_e5m2fnuz", 1, true},
    DTypeInfo {DType::float8_e8m0fnu, "float8_e8m0fnu", "float8_e8m0fnu", 1, true},
    DTypeInfo {DType::complex32, "complex32", "complex32", 4, false},
    DTypeInfo {DType::complex64, "complex64", "complex64", 8, false},
    DTypeInfo {DType::complex128, "complex128", "complex128", 16, false},
    DTypeInfo {DType::int64, "int64", "int64", 8, false},
    DTypeInfo {DType::int32, "int32", "int32", 4, false},
    DTypeInfo {DType::int16, "int16", "int16", 2, false},
    DTypeInfo {DType::int8, "int8", "int8", 1, false},
    DTypeInfo {DType::uint64, "uint64", "uint64", 8, false},
    DTypeInfo {DType::uint32, "uint32", "uint32", 4, false},
    DTypeInfo {DType::uint16, "uint16", "uint16", 2, false},
    DTypeInfo {DType::uint8, "uint8", "uint8", 1, false},
    DTypeInfo {DType::boolean, "bool", "bool", 1, false},
};

const DTypeInfo& info(DType dtype)
{
    return dtypes[static_cast<std::size_t>(dtype)];
}

struct PrecisionInfo
{
    Precision precision;
    std::string_view name;
    double largest;
    double epsilon;
};

constexpr std::array precisions {
    PrecisionInfo {Precision::fp64, "fp64", DBL_MAX, 0x1p-52},
    PrecisionInfo {Precision::fp32, "fp32", FLT_MAX, 0x1p-23},
    PrecisionInfo {Precision::tf32, "tf32", FLT_MAX, 0x1p-10},
    PrecisionInfo {Precision::bf16, "bf16", 0x1.FEp127, 0x1p-7},
    PrecisionInfo {Precision::fp16, "fp16", 65504.0, 0x1p-10},
    PrecisionInfo {Precision::fp16Acc16, "fp16-acc16", 65504.0, 0x1p-10},
};

constexpr std::array all {
    Precision::fp64, Precision::fp32, Precision::tf32, Precision::bf16, Precision::fp16, Precision::fp16Acc16};
static_assert(precisions.size() == all.size() && all.back() == lastPrecision);

} // namespace

std::size_t sizeOf(DType dtype)
{
    return info(dtype).size;
}

std::string_view shortName(DType dtype)
{
    return info(dtype).brief;
}

std::string_view torchName(DType dtype)
{
    return info(dtype).torch;
}

std::optional<DType> parseDType(std::string_view name)
{
    constexpr std::string_view prefix = "torch.";
    if (name.starts_with(prefix)) {
        name.remove_prefix(prefix.size());
    }
    for (const auto& entry : dtypes) {
        if (name == entry.torch || name == entry.brief) {
            return entry.dtype;
        }
    }
    return std::nullopt;
}

bool isFloating(DType dtype)
{
    return info(dtype).floating;
}

std::string_view name(Precision precision)
{
    return precisions[static_cast<std::size_t>(precision)].name;
}

std::optional<Precision> parsePrecision(std::string_view name)
{
    for (const auto& entry : precisions) {
        if (name == entry.name) {
            return entry.precision;
        }
    }
    return std::nullopt;
}

std::span<const Precision> allPrecisions()
{
    return all;
}

std::span<const Precision> usualPrecisions()
{
    return allPrecisions().first(all.size() - 1);
}

Precision heldIn(Precision precision)
{
    switch (precision) {
    case Precision::tf32:
        return Precision::fp32;
    case Precision::fp16Acc16:
        return Precision::fp16;
    default:
        return precision;
    }
}

double largestFinite(Precision precision)
{
    return precisions[static_cast<std::size_t>(precision)].largest;
}

double epsilonOf(Precision precision)
{
    return precisions[static_cast<std::size_t>(precision)].epsilon;
}

} // namespace nanscope
