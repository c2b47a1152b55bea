// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What goes into the device and comes out of it; torchdevice.cpp has what is computed in between.
#include <cstring>
#include <utility>
#include <vector>

#include <ATen/Parallel.h>
#include <ATen/ops/from_blob.h>
#if defined(NANSCOPE_SCAN_KERNEL)
#include <c10/cuda/CUDAStream.h>
#endif

#include "core/replay/program/formats.h"
#include "core/tensorfile/scan/scantensor.h"
#include "gpu/torchdevice.h"
#include "gpu/torchguard.h"

namespace nanscope {

namespace {

void storeScans(const at::Tensor& matrices, const replay::BufferPlan& layout, Scan* into)
{
    const auto smallest = tensorfile::smallestNormal(layout.format);
    const auto elements = static_cast<std::size_t>(matrices.size(1) * matrices.size(2));
    const auto scanAll = [&](const auto* data) {
        at::parallel_for(0, matrices.size(0), 1, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
                const std::span matrix(data + static_cast<std::size_t>(i) * elements, elements);
                into[i] =
                    tensorfile::scanMatrix(matrix, matrices.size(1), matrices.size(2), layout.transposed, smallest);
            }
        });
    };
    if (matrices.scalar_type() == at::kDouble) {
        scanAll(matrices.const_data_ptr<double>());
    } else {
        scanAll(matrices.const_data_ptr<float>());
    }
}

template <class T>
Values valuesOf(const at::Tensor& matrix)
{
    std::vector<T> values(static_cast<std::size_t>(matrix.numel()));
    at::from_blob(values.data(), matrix.sizes(), c10::CppTypeToScalarType<T>::value).copy_(matrix);
    return values;
}

#if defined(NANSCOPE_SCAN_KERNEL)
scan::Format scanFormat(at::ScalarType type)
{
    switch (type) {
    case at::kDouble:
        return scan::Format::fp64;
    case at::kBFloat16:
        return scan::Format::bf16;
    case at::kHalf:
        return scan::Format::fp16;
    default:
        return scan::Format::fp32;
    }
}
#endif

} // namespace

// What lies in memory, seen as row-major matrices.
replay::BufferPlan TorchDevice::memoryPlan(replay::BufferId id) const
{
    auto result = plan(id);
    if (m_buffers[static_cast<std::size_t>(id)].columnMajor) {
        std::swap(result.rows, result.cols);
        result.transposed = !result.transposed;
    }
    return result;
}

Result<void> TorchDevice::upload(ValueView input)
{
    return guarded(m_device, [&]() -> Result<void> {
        setLayout(0, plan(0).transposed);
        auto& into = buffer(0);
        if (static_cast<std::int64_t>(input.size()) != into.numel()) {
            return failure(
                ErrorKind::internal, fmt::format("{} values for a buffer of {}", input.size(), into.numel()));
        }
        const auto rows = plan(0).transposed ? plan(0).cols : plan(0).rows;
        const auto cols = plan(0).transposed ? plan(0).rows : plan(0).cols;
        input.visit([&](auto values) {
            using T = typename decltype(values)::value_type;
            // from_blob() asks for a pointer it could write through; the view is only read.
            const auto view =
                at::from_blob(const_cast<T*>(values.data()), {m_batch, rows, cols}, c10::CppTypeToScalarType<T>::value);
            into.copy_(plan(0).transposed ? view.mT() : view);
        });
        return {};
    });
}

void TorchDevice::scanResult(const replay::Instruction& in)
{
    const bool ofScalar = in.out < 0;
    const auto layout = ofScalar ? replay::BufferPlan {1, 1, false, in.round} : memoryPlan(in.out);
    const auto matrices = ofScalar ? scalar(in) : held(in.out).flat.view({m_batch, layout.rows, layout.cols});
    if (onGpu()) {
        scanOnGpu(matrices, layout, in.scanSlot);
    } else {
        storeScans(matrices, layout, m_scans.data() + in.scanSlot * m_batch);
    }
}

void TorchDevice::scanOnGpu(const at::Tensor& matrices, const replay::BufferPlan& layout, std::int64_t slot)
{
    m_slotElements[static_cast<std::size_t>(slot)] = layout.rows * layout.cols;
    auto into = m_slots.select(0, slot);
#if defined(NANSCOPE_SCAN_KERNEL)
    scan::Job job;
    job.data = matrices.const_data_ptr();
    job.format = scanFormat(matrices.scalar_type());
    job.batch = m_batch;
    job.layout = {layout.rows, layout.cols, layout.transposed};
    job.totals = reinterpret_cast<scan::Totals*>(into.mutable_data_ptr<std::int64_t>());
    auto* stream = c10::cuda::getCurrentCUDAStream(m_device.index()).stream();
    const char* problem = scan::launch(job, m_scanWorkspace.mutable_data_ptr(), stream);
    TORCH_CHECK(problem == nullptr, "the scan kernel did not start: ", problem == nullptr ? "" : problem);
#else
    into.copy_(scanWithTorch(matrices, layout.transposed));
#endif
}

Result<void> TorchDevice::rescan(const replay::Instruction& instruction)
{
    return guarded(m_device, [&]() -> Result<void> {
        if (instruction.scanSlot >= 0) {
            scanResult(instruction);
        }
        return {};
    });
}

Result<void> TorchDevice::overwrite(
    replay::BufferId id, std::int64_t element, const replay::Region& region, std::span<const double> values)
{
    return guarded(m_device, [&]() -> Result<void> {
        auto whole = buffer(id).select(0, element);
        if (plan(id).transposed) {
            whole = whole.mT();
        }
        std::vector<double> rounded(values.begin(), values.end());
        for (auto& value : rounded) {
            value = replay::roundTo(plan(id).format, value);
        }
        const auto from =
            at::from_blob(rounded.data(), {region.rows, region.cols}, at::TensorOptions().dtype(at::kDouble));
        whole.narrow(0, region.row, region.rows).narrow(1, region.col, region.cols).copy_(from);
        return {};
    });
}

Result<std::vector<Scan>> TorchDevice::scans()
{
    if (!onGpu()) {
        return m_scans;
    }
    return guarded(m_device, [&]() -> Result<std::vector<Scan>> {
        const auto fetched = m_slots.cpu();
        const auto* words = fetched.const_data_ptr<std::int64_t>();
        std::vector<Scan> result;
        for (std::size_t slot = 0; slot < m_slotElements.size(); ++slot) {
            for (std::int64_t i = 0; i < m_batch; ++i, words += scan::totalsWords) {
                scan::Totals totals;
                std::memcpy(static_cast<void*>(&totals), words, sizeof totals);
                result.push_back(scanFromTotals(totals, m_slotElements[slot]));
            }
        }
        return result;
    });
}

Result<Values> TorchDevice::download(replay::BufferId id, std::int64_t element)
{
    return guarded(m_device, [&]() -> Result<Values> {
        const auto matrix = buffer(id).select(0, element);
        const auto view = plan(id).transposed ? matrix.mT() : matrix;
        return view.scalar_type() == at::kDouble ? valuesOf<double>(view) : valuesOf<float>(view);
    });
}

Result<TileMap> TorchDevice::tileMap(replay::BufferId id, std::int64_t element)
{
    return guarded(m_device, [&]() -> Result<TileMap> {
        const auto layout = memoryPlan(id);
        const auto matrix = held(id).flat.view({m_batch, -1}).select(0, element);
        const auto count = static_cast<std::size_t>(matrix.numel());
        const auto smallest = tensorfile::smallestNormal(layout.format);
        if (matrix.scalar_type() == at::kDouble) {
            const auto host = matrix.cpu();
            return tensorfile::tileMatrix(
                std::span(host.const_data_ptr<double>(), count), layout.rows, layout.cols, layout.transposed, smallest);
        }
        const auto host = matrix.to(at::kCPU, at::kFloat);
        return tensorfile::tileMatrix(
            std::span(host.const_data_ptr<float>(), count), layout.rows, layout.cols, layout.transposed, smallest);
    });
}

} // namespace nanscope
