// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "gpu/torchdevice.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/ScalarOps.h>
#include <ATen/ops/add.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/baddbmm.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/div.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/linalg_eigh.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/mv.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <fmt/format.h>

#if defined(NANSCOPE_CUDA_KERNELS)
#include <c10/cuda/CUDAStream.h>
#endif

#include "core/replay/device/halfsums.h"
#include "core/replay/engine/spectrum.h"
#include "core/replay/program/formats.h"
#include "core/tensorfile/scan/scantensor.h"
#include "gpu/kernels/cudainfo.h"
#include "gpu/productswitches.h"
#include "gpu/torchguard.h"

namespace nanscope {

namespace {

// Enough to batch what is small; what is large runs one matrix at a time, so that the peak is one workspace.
constexpr std::int64_t cpuBatchBytes = std::int64_t {64} << 20;

// About a millisecond of one core. Below it a second thread gains nothing, and on a busy machine each wait for it
// costs more than the product.
constexpr double singleThreadFlops = 1e8;

double largestProduct(const replay::Program& program)
{
    double largest = 0;
    for (const auto& in : program.code) {
        if (in.code == replay::Code::gemm) {
            const auto& a = program.buffers[static_cast<std::size_t>(in.a)];
            const auto& out = program.buffers[static_cast<std::size_t>(in.out)];
            const auto inner = static_cast<double>(in.transposeA ? a.rows : a.cols);
            largest = std::max(largest, 2.0 * static_cast<double>(out.rows) * static_cast<double>(out.cols) * inner);
        }
    }
    return largest;
}

at::Tensor wrapped(double value)
{
    return at::native::wrapped_scalar_tensor(value);
}

bool gpuAnswers(at::Device device)
{
    try {
        c10::impl::VirtualGuardImpl(device.type()).synchronizeDevice(device.index());
        return true;
    } catch (const std::exception&) {
        return false;
    }
}

} // namespace

TorchDevice::TorchDevice(at::Device device, Environment environment, int computeCapability, GpuLost lost)
    : m_device(device)
    , m_environment(std::move(environment))
    , m_threads(m_environment.threads)
    , m_capability(computeCapability)
    , m_lost(std::move(lost))
{ }

/// Whatever fails without need of memory is asked about: only a broken CUDA context fails to wait for itself, too.
template <class Work>
auto TorchDevice::compute(Work work) -> decltype(work())
{
    auto result = guarded(m_device, work);
    if (!result && result.error().kind == ErrorKind::internal && m_lost && !gpuAnswers(m_device)) {
        m_lost(result.error());
    }
    if (!result && result.error().kind == ErrorKind::refused && onGpu()) {
        return failure(ErrorKind::refused, shortOfMemory(m_device.str(), m_needed, memory()));
    }
    return result;
}

/// Of a GPU that answers. One that is full may not even be looked at; what is computed next says so.
std::optional<CudaMemory> TorchDevice::memory() const
{
    const auto found = guarded(
        m_device, [this]() -> Result<std::optional<CudaMemory>> { return onGpu() ? cudaMemory() : std::nullopt; });
    return found.value_or(std::nullopt);
}

bool TorchDevice::native(Precision precision) const
{
    switch (precision) {
    case Precision::fp64:
    case Precision::fp32:
        return true;
    case Precision::fp16:
        return onGpu();
    case Precision::fp16Acc16:
        return onGpu() && m_capability >= 70; // before Volta torch asks cuBLAS for sums in fp32
    case Precision::tf32:
    case Precision::bf16:
        return onGpu() && m_capability >= 80;
    }
    return false;
}

/// Per element. Emulation keeps copies: of the result in 16 bits, of both operands in tf32, and of operands and result
/// where sums are rounded.
std::int64_t TorchDevice::emulationBytes(Precision precision) const
{
    if (onGpu() || native(precision)) {
        return 0;
    }
    constexpr std::int64_t single = sizeof(float);
    return precision == Precision::tf32 ? 2 * single : precision == Precision::fp16Acc16 ? 2 + 4 * single : 2;
}

std::int64_t TorchDevice::workspaceBytes(const replay::Program& program) const
{
    std::int64_t bytes = 0;
    std::int64_t largest = 0;
    for (const auto& plan : program.buffers) {
        const auto elements = plan.rows * plan.cols;
        bytes += elements * static_cast<std::int64_t>(c10::elementSize(storageType(plan.format, onGpu())));
        largest = std::max(largest, elements);
    }
    return bytes + emulationBytes(program.precision) * largest;
}

std::int64_t TorchDevice::batchLimit(const replay::Program& program) const
{
    const auto gpu = memory();
    const auto budget = gpu ? gpu->free / 2 : cpuBatchBytes;
    return std::max<std::int64_t>(1, budget / std::max<std::int64_t>(1, workspaceBytes(program)));
}

Result<void> TorchDevice::prepare(const replay::Program& program, std::int64_t batch)
{
    if (onGpu() && !native(program.precision)) {
        return failure(ErrorKind::unsupported,
            fmt::format("{} does not compute in {}; the CPU emulates it", m_device.str(), name(program.precision)));
    }
    m_needed = workspaceBytes(program) * batch;
    return compute([&]() -> Result<void> {
        if (onGpu()) {
            m_environment.flags = cudaFlags(program.precision);
        }
        chooseThreads(program, batch);
        allocate(program, batch);
        return {};
    });
}

void TorchDevice::chooseThreads(const replay::Program& program, std::int64_t batch)
{
    const bool single = !onGpu() && largestProduct(program) * static_cast<double>(batch) < singleThreadFlops;
    m_environment.threads = single ? 1 : m_threads;
    if (at::get_num_threads() != m_environment.threads) {
        at::set_num_threads(m_environment.threads);
    }
}

void TorchDevice::allocate(const replay::Program& program, std::int64_t batch)
{
    m_batch = batch;
    m_plans = program.buffers;
    m_buffers.clear();
    std::int64_t largest = 1;
    for (const auto& plan : m_plans) {
        const auto options = at::TensorOptions().device(m_device).dtype(storageType(plan.format, onGpu()));
        m_buffers.push_back({at::empty({batch * plan.rows * plan.cols}, options), {}, false});
        largest = std::max(largest, plan.rows * plan.cols);
    }
    for (std::size_t id = 0; id < m_plans.size(); ++id) {
        setLayout(static_cast<replay::BufferId>(id), false);
    }
    m_scalars.assign(static_cast<std::size_t>(program.scalarCount), at::Tensor());
    m_vectors.assign(program.vectorLengths.size(), at::Tensor());
    m_scans.assign(static_cast<std::size_t>(program.scanCount * batch), Scan());
    if (onGpu()) {
        const auto options = at::TensorOptions().device(m_device);
        m_slots = at::zeros({program.scanCount, batch, scan::totalsWords}, options.dtype(at::kLong));
        m_slotElements.assign(static_cast<std::size_t>(program.scanCount), 0);
#if defined(NANSCOPE_CUDA_KERNELS)
        const auto bytes = static_cast<std::int64_t>(scan::workspaceBytes(largest, sizeof(double), batch));
        m_scanWorkspace = at::zeros({bytes}, options.dtype(at::kByte));
#endif
    }
}

void TorchDevice::setLayout(replay::BufferId id, bool columnMajor)
{
    auto& target = held(id);
    const auto rows = plan(id).rows;
    const auto cols = plan(id).cols;
    target.columnMajor = columnMajor;
    target.view = columnMajor ? target.flat.view({m_batch, cols, rows}).mT() : target.flat.view({m_batch, rows, cols});
}

Result<void> TorchDevice::run(const replay::Instruction& instruction)
{
    return compute([&]() -> Result<void> {
        execute(instruction);
        finish(instruction);
        if (instruction.scanSlot >= 0) {
            scanResult(instruction);
        }
        return {};
    });
}

void TorchDevice::execute(const replay::Instruction& in)
{
    if (in.out >= 0 && in.out != in.a && in.out != in.b) {
        setLayout(in.out, in.code != replay::Code::gemm && held(in.a).columnMajor);
    }
    switch (in.code) {
    case replay::Code::cast:
        if (in.a != in.out) {
            buffer(in.out).copy_(buffer(in.a));
        }
        return;
    case replay::Code::norm:
        return norm(in);
    case replay::Code::denominator:
        return denominator(in);
    case replay::Code::divide:
        at::div_out(buffer(in.out), buffer(in.a), scalar(in));
        return;
    case replay::Code::scale:
        at::mul_out(buffer(in.out), buffer(in.a), wrapped(in.alpha));
        return;
    case replay::Code::add:
        return add(in);
    case replay::Code::gemm:
        return gemm(in);
    case replay::Code::addDiagonal:
        return addDiagonal(in);
    case replay::Code::rowNorms:
    case replay::Code::rowAbsSums:
        return reduceRows(in);
    case replay::Code::reciprocal:
    case replay::Code::rsqrt:
        return invert(in);
    case replay::Code::scaleRows:
    case replay::Code::scaleColumns:
        return scaleLines(in);
    }
}

void TorchDevice::norm(const replay::Instruction& in)
{
    const auto& x = buffer(in.a);
    const auto type = storageType(in.round, onGpu());
    // torch narrows nothing on the way.
    const auto wide = c10::promoteTypes(type, x.scalar_type());
    const auto wanted = wide == x.scalar_type() ? std::optional<at::ScalarType>() : wide;
    auto value = at::linalg_vector_norm(x, 2, at::IntArrayRef {-2, -1}, true, wanted).to(type);
    roundInPlace(value, in.round, m_roundScratch);
    scalar(in) = value;
}

// Computed in fp32 whatever the scalar is held in, so that it is rounded once.
void TorchDevice::denominator(const replay::Instruction& in)
{
    const auto type = storageType(in.round, onGpu());
    const auto wide = type == at::kDouble ? at::kDouble : at::kFloat;
    const auto value = scalar(in).to(wide);
    const auto scaled = in.alpha == 1 ? value : at::mul(value, in.alpha);
    auto result = in.clamp ? scaled.clamp_min(in.beta) : at::add(scaled, in.beta);
    roundInPlace(result, in.round, m_roundScratch);
    if (in.normUlps != 0) {
        result = moveUlps(result, in.round, in.normUlps);
    }
    scalar(in) = result.to(type);
}

void TorchDevice::add(const replay::Instruction& in)
{
    auto& out = buffer(in.out);
    const auto& a = buffer(in.a);
    const auto& b = buffer(in.b);
    if (in.alpha == 1) {
        at::add_out(out, a, b, in.beta);
    } else if (in.beta == 1) {
        at::add_out(out, b, a, in.alpha);
    } else {
        const auto wide = a.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
        at::add_out(out, at::mul(a.to(wide), in.alpha), b, in.beta);
    }
}

at::Tensor TorchDevice::operand(replay::BufferId id, bool transpose, Precision format, at::Tensor& rounded)
{
    at::Tensor values = buffer(id);
    if (format == Precision::tf32 && !onGpu()) {
        roundToTf32(values, rounded);
        values = rounded;
    }
    if (m_batch == 1) {
        values = values.select(0, 0);
    }
    return transpose ? values.mT() : values;
}

void TorchDevice::gemm(const replay::Instruction& in)
{
    if (in.round == Precision::fp16Acc16 && !onGpu()) {
        return gemmInHalfSums(in);
    }
    const ProductSwitches switches(onGpu() ? in.round : Precision::fp32);
    const auto a = operand(in.a, in.transposeA, in.round, m_roundedA);
    const auto b = operand(in.b, in.transposeB, in.round, in.a == in.b ? m_roundedA : m_roundedB);
    const bool single = m_batch == 1;
    auto out = single ? buffer(in.out).select(0, 0) : buffer(in.out);
    if (in.c < 0 && in.alpha == 1) {
        single ? at::mm_out(out, a, b) : at::bmm_out(out, a, b);
        return;
    }
    const auto& added = in.c < 0 ? buffer(in.out) : buffer(in.c);
    const double beta = in.c < 0 ? 0 : in.beta;
    if (single) {
        at::addmm_out(out, added.select(0, 0), a, b, beta, in.alpha);
    } else {
        at::baddbmm_out(out, added, a, b, beta, in.alpha);
    }
}

/// torch on a CPU has no such product.
void TorchDevice::gemmInHalfSums(const replay::Instruction& in)
{
    const auto a = buffer(in.a).contiguous();
    const auto b = buffer(in.b).contiguous();
    const auto c = in.c < 0 ? at::Tensor() : buffer(in.c).contiguous();
    auto& out = buffer(in.out);
    const auto elementOf = [](const at::Tensor& matrices, std::int64_t element) {
        return matrices.const_data_ptr<float>() + element * matrices.size(1) * matrices.size(2);
    };
    for (std::int64_t i = 0; i < m_batch; ++i) {
        auto result = out.select(0, i);
        const replay::GemmShape<float> shape {elementOf(a, i), elementOf(b, i), result.mutable_data_ptr<float>(),
            result.size(0), result.size(1), a.size(in.transposeA ? 1 : 2), in.transposeA, in.transposeB};
        replay::multiplyInHalfSums(
            {shape, in.alpha, in.beta, c.defined() ? elementOf(c, i) : nullptr}, m_environment.threads, cancelToken());
    }
}

void TorchDevice::addDiagonal(const replay::Instruction& in)
{
    auto& out = buffer(in.out);
    if (in.a != in.out) {
        out.copy_(buffer(in.a));
    }
    out.diagonal(0, 1, 2).add_(in.alpha);
}

// Vectors are rounded where Instruction::round says so and live in fp32 or fp64 whatever their format.
void TorchDevice::reduceRows(const replay::Instruction& in)
{
    const auto& x = buffer(in.a);
    const auto wide = x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    const double order = in.code == replay::Code::rowNorms ? 2 : 1;
    const std::int64_t along = in.transposeA ? -2 : -1;
    const auto sums = at::linalg_vector_norm(x, order, at::IntArrayRef(&along, 1), true, wide);
    vector(in) = in.transposeA ? sums.mT().contiguous() : sums;
    roundInPlace(vector(in), in.round, m_roundScratch);
}

void TorchDevice::invert(const replay::Instruction& in)
{
    const auto clamped = vector(in).clamp_min(in.beta);
    if (in.code == replay::Code::rsqrt) {
        vector(in) = at::rsqrt(clamped);
    } else if (in.scalar >= 0) {
        vector(in) = at::div(at::mul(scalar(in).to(clamped.scalar_type()), in.alpha), clamped);
    } else {
        vector(in) = at::div(at::full_like(clamped, in.alpha), clamped);
    }
    roundInPlace(vector(in), in.round, m_roundScratch);
    if (in.normUlps != 0) {
        vector(in) = moveUlps(vector(in), in.round, in.normUlps);
    }
}

void TorchDevice::scaleLines(const replay::Instruction& in)
{
    const auto factors = in.code == replay::Code::scaleRows ? vector(in) : vector(in).mT();
    buffer(in.out).copy_(at::mul(buffer(in.a), factors));
}

// Where a buffer is held in its own format, torch has rounded already.
void TorchDevice::finish(const replay::Instruction& in)
{
    if (in.out >= 0 && buffer(in.out).scalar_type() == at::kFloat) {
        roundInPlace(held(in.out).flat, in.round, m_roundScratch);
    }
}

// What goes into the device and comes out of it.

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

/// The very numbers, on the host. from_blob() asks for a pointer it could write through; the view is only read.
template <class T>
at::Tensor viewOf(std::span<const T> values, at::IntArrayRef sizes)
{
    return at::from_blob(const_cast<T*>(values.data()), sizes, c10::CppTypeToScalarType<T>::value);
}

template <class T>
Values valuesOf(const at::Tensor& matrix)
{
    std::vector<T> values(static_cast<std::size_t>(matrix.numel()));
    at::from_blob(values.data(), matrix.sizes(), c10::CppTypeToScalarType<T>::value).copy_(matrix);
    return values;
}

#if defined(NANSCOPE_CUDA_KERNELS)
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
    return compute([&]() -> Result<void> {
        setLayout(0, plan(0).transposed);
        auto& into = buffer(0);
        if (static_cast<std::int64_t>(input.size()) != into.numel()) {
            return failure(
                ErrorKind::internal, fmt::format("{} values for a buffer of {}", input.size(), into.numel()));
        }
        const auto rows = plan(0).transposed ? plan(0).cols : plan(0).rows;
        const auto cols = plan(0).transposed ? plan(0).rows : plan(0).cols;
        input.visit([&](auto values) {
            const auto view = viewOf(values, {m_batch, rows, cols});
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
#if defined(NANSCOPE_CUDA_KERNELS)
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
    return compute([&]() -> Result<void> {
        if (instruction.scanSlot >= 0) {
            scanResult(instruction);
        }
        return {};
    });
}

Result<void> TorchDevice::overwrite(
    replay::BufferId id, std::int64_t element, const replay::Region& region, std::span<const double> values)
{
    return compute([&]() -> Result<void> {
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
    return compute([&]() -> Result<std::vector<Scan>> {
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

/// In the capture's own orientation.
at::Tensor TorchDevice::matrix(replay::BufferId id, std::int64_t element)
{
    const auto held = buffer(id).select(0, element);
    return plan(id).transposed ? held.mT() : held;
}

Result<Values> TorchDevice::download(
    replay::BufferId id, std::int64_t element, const std::optional<replay::Region>& part)
{
    return compute([&]() -> Result<Values> {
        auto view = matrix(id, element);
        if (part) {
            view = view.narrow(0, part->row, part->rows).narrow(1, part->col, part->cols);
        }
        return view.scalar_type() == at::kDouble ? valuesOf<double>(view) : valuesOf<float>(view);
    });
}

#if defined(NANSCOPE_CUDA_KERNELS)
TileMap TorchDevice::tileMapOnGpu(const at::Tensor& matrix, const replay::BufferPlan& layout)
{
    scan::TileJob job;
    job.data = matrix.const_data_ptr();
    job.format = scanFormat(matrix.scalar_type());
    job.grid = tileGridOf(layout.rows, layout.cols, layout.transposed);
    const auto options = at::TensorOptions().device(m_device).dtype(at::kInt);
    auto tiles = at::empty({job.grid.height * job.grid.width, scan::tileWords}, options);
    job.tiles = reinterpret_cast<scan::Tile*>(tiles.mutable_data_ptr<std::int32_t>());
    auto* stream = c10::cuda::getCurrentCUDAStream(m_device.index()).stream();
    const char* problem = scan::launch(job, stream);
    TORCH_CHECK(problem == nullptr, "the tile kernel did not start: ", problem == nullptr ? "" : problem);
    const auto fetched = tiles.cpu();
    return tileMapFrom(job.grid, reinterpret_cast<const scan::Tile*>(fetched.const_data_ptr<std::int32_t>()));
}
#endif

Result<TileMap> TorchDevice::tileMap(replay::BufferId id, std::int64_t element)
{
    return compute([&]() -> Result<TileMap> {
        const auto layout = memoryPlan(id);
        const auto matrix = held(id).flat.view({m_batch, -1}).select(0, element);
#if defined(NANSCOPE_CUDA_KERNELS)
        if (onGpu()) {
            return tileMapOnGpu(matrix, layout);
        }
#endif
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

Result<std::optional<double>> TorchDevice::largestEigenvalue(replay::BufferId id, std::int64_t element)
{
    return compute([&]() -> Result<std::optional<double>> {
        const auto size = plan(id).rows;
        const auto matrix = buffer(id).select(0, element).to(at::kFloat);
        if (!at::isfinite(matrix).all().item<bool>()) {
            return std::optional<double>();
        }
        const auto multiply = [&](std::span<const float> x, std::span<float> out) {
            const auto there = viewOf(x, {size}).to(m_device);
            at::from_blob(out.data(), {size}, at::kFloat).copy_(at::mv(matrix, there));
        };
        return std::optional(replay::largestEigenvalue(multiply, size));
    });
}

namespace {

/// A few rows at a time: a copy of them in fp64 is small beside the matrix.
template <class Work>
void byRows(const at::Tensor& matrix, const Work& work)
{
    constexpr std::int64_t elements = std::int64_t {1} << 22;
    const auto most = std::max<std::int64_t>(1, elements / matrix.size(1));
    for (std::int64_t first = 0; first < matrix.size(0); first += most) {
        work(first, std::min(most, matrix.size(0) - first));
    }
}

} // namespace

std::optional<std::vector<double>> TorchDevice::gainsAlong(
    replay::BufferId id, std::int64_t element, std::span<const double> directions)
{
    const auto gains = compute([&]() -> Result<std::vector<double>> {
        const auto x = matrix(id, element);
        const auto count = static_cast<std::int64_t>(directions.size()) / x.size(0);
        const auto u = viewOf(directions, {count, x.size(0)}).to(m_device);
        auto images = at::zeros({count, x.size(1)}, u.options());
        byRows(x, [&](std::int64_t first, std::int64_t rows) {
            images.addmm_(u.narrow(1, first, rows), x.narrow(0, first, rows).to(at::kDouble));
        });
        return valuesOf<double>(at::linalg_vector_norm(images, 2, at::IntArrayRef {1})).doubles();
    });
    return gains ? std::optional(*gains) : std::nullopt;
}

std::optional<replay::KeptMatrix> TorchDevice::keep(replay::BufferId id, std::int64_t element)
{
    const auto kept = compute([&]() -> Result<at::Tensor> {
        const auto x = matrix(id, element);
        // What is kept on a GPU leaves a quarter of it to replays.
        const auto gpu = memory();
        if (gpu && gpu->free - static_cast<std::int64_t>(x.nbytes()) < gpu->total / 4) {
            return failure(ErrorKind::refused, "the memory is for replays");
        }
        return x.clone();
    });
    if (!kept) {
        return std::nullopt;
    }
    return replay::KeptMatrix {
        [this, from = *kept](replay::BufferId buffer, std::int64_t i) { return distance(from, buffer, i); },
        [this, from = *kept] { return compute([&]() -> Result<Values> { return valuesOf<double>(from); }); }};
}

std::optional<double> TorchDevice::distance(const at::Tensor& from, replay::BufferId buffer, std::int64_t element)
{
    const auto distance = compute([&]() -> Result<double> {
        const auto x = matrix(buffer, element);
        auto sums = at::zeros({2}, from.options().dtype(at::kDouble));
        byRows(x, [&](std::int64_t first, std::int64_t rows) {
            const auto reference = from.narrow(0, first, rows).to(at::kDouble);
            const auto difference = x.narrow(0, first, rows).to(at::kDouble).sub(reference);
            sums.add_(at::stack({difference.square().sum(), reference.square().sum()}));
        });
        const auto squares = valuesOf<double>(sums);
        return squares[0] == 0 ? 0.0 : std::sqrt(squares[0] / squares[1]);
    });
    return distance ? std::optional(*distance) : std::nullopt;
}

std::optional<replay::Eigenbasis> TorchDevice::eigenbasisOfGram(
    ValueView matrix, const MatrixShape& shape, std::span<const double> columns)
{
    const auto size = std::min(shape.rows, shape.cols);
    const auto basis = compute([&]() -> Result<replay::Eigenbasis> {
        const auto gram = [&] { // X in doubles is gone before the decomposition asks for memory
            const auto x = matrix.visit([&](auto values) {
                return viewOf(values, {shape.rows, shape.cols}).to(m_device).to(at::kDouble);
            });
            return shape.rows > shape.cols ? at::mm(x.mT(), x) : at::mm(x, x.mT());
        }();
        const auto [values, vectors] = at::linalg_eigh(gram);
        const auto there = viewOf(columns, {size, static_cast<std::int64_t>(columns.size()) / size}).to(m_device);
        return replay::Eigenbasis {
            valuesOf<double>(values).doubles(), valuesOf<double>(at::mm(vectors.mT(), there)).doubles()};
    });
    return basis ? std::optional(*basis) : std::nullopt;
}

} // namespace nanscope
