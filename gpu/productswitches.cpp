// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "gpu/productswitches.h"

#include <string_view>
#include <type_traits>

#include <ATen/Context.h>
#include <fmt/format.h>

namespace nanscope {

namespace {

std::string_view onOff(bool value)
{
    return value ? "on" : "off";
}

// A plain bool before torch 2.9, three states since.
template <class T>
std::string_view reduction(T allowed)
{
    if constexpr (std::is_same_v<T, bool>) {
        return onOff(allowed);
    } else {
        return onOff(allowed == T::AllowReducedPrecisionWithSplitK);
    }
}

} // namespace

ProductSwitches::ProductSwitches(Precision format)
    : m_format(format)
{
    auto& context = at::globalContext();
    if (m_format == Precision::tf32) {
        context.setAllowTF32CuBLAS(true);
    } else if (m_format == Precision::fp16Acc16) {
        m_before = context.allowFP16AccumulationCuBLAS();
        context.setAllowFP16AccumulationCuBLAS(true);
    }
}

ProductSwitches::~ProductSwitches()
{
    auto& context = at::globalContext();
    if (m_format == Precision::tf32) {
        context.setAllowTF32CuBLAS(m_before);
    } else if (m_format == Precision::fp16Acc16) {
        context.setAllowFP16AccumulationCuBLAS(m_before);
    }
}

// torch's own defaults are kept: they are what the training ran with. tf32 and sums in fp16 are switched on for their
// own products only.
std::string cudaFlags(Precision format)
{
    const auto& context = at::globalContext();
    return fmt::format("bf16_reduction={} fp16_reduction={} fp16_accumulation={} scan={}",
        reduction(context.allowBF16ReductionCuBLAS()), reduction(context.allowFP16ReductionCuBLAS()),
        onOff(format == Precision::fp16Acc16 || context.allowFP16AccumulationCuBLAS()), NANSCOPE_SCAN_NAME);
}

} // namespace nanscope
