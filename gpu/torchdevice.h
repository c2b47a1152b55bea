// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/replay/device/device.h"
#include "gpu/gpu.h"
#include "gpu/kernels/cudainfo.h"
#include "gpu/kernels/scan.cuh"
#include "gpu/torchops.h"

namespace nanscope {

/// Executes programs with one ATen call per instruction. On the CPU every format but fp64 lives in fp32 tensors whose
/// values are numbers of the format; on a GPU each buffer has its own. A batch of one uses torch's 2-D calls (mm,
/// addmm), a larger one the batched ones (bmm, baddbmm), as eager code does with such tensors.
class TorchDevice : public replay::Device
{
public:
    TorchDevice(at::Device device, Environment environment, int computeCapability, GpuLost lost = {});

    Environment environment() const override { return m_environment; }
    bool native(Precision precision) const override;
    std::int64_t batchLimit(const replay::Program& program) const override;
    Result<void> prepare(const replay::Program& program, std::int64_t batch) override;
    Result<void> upload(ValueView input) override;
    Result<void> run(const replay::Instruction& instruction) override;
    Result<void> overwrite(replay::BufferId buffer, std::int64_t element, const replay::Region& region,
        std::span<const double> values) override;
    Result<void> rescan(const replay::Instruction& instruction) override;
    Result<std::vector<Scan>> scans() override;
    Result<Values> download(
        replay::BufferId buffer, std::int64_t element, const std::optional<replay::Region>& part) override;
    Result<TileMap> tileMap(replay::BufferId buffer, std::int64_t element) override;
    Result<std::optional<double>> largestEigenvalue(replay::BufferId buffer, std::int64_t element) override;
    std::optional<std::vector<double>> gainsAlong(
        replay::BufferId buffer, std::int64_t element, std::span<const double> directions) override;
    std::optional<replay::KeptMatrix> keep(replay::BufferId buffer, std::int64_t element) override;
    std::optional<replay::Eigenbasis> eigenbasisOfGram(
        ValueView matrix, const MatrixShape& shape, std::span<const double> columns) override;

private:
    bool onGpu() const { return m_device.is_cuda(); }
    template <class Work>
    auto compute(Work work) -> decltype(work());
    /// One matrix per batch element. Eager code iterates a tall matrix as a transposed view: its elementwise results
    /// keep that layout, products do not, and which of the two BLAS sees decides about last bits. So each buffer has
    /// either layout, as the same call in eager code would leave it.
    struct Buffer
    {
        at::Tensor flat; ///< batch x rows x cols elements, contiguous
        at::Tensor view; ///< batch x rows x cols
        bool columnMajor = false;
    };

    Buffer& held(replay::BufferId id) { return m_buffers[static_cast<std::size_t>(id)]; }
    at::Tensor& buffer(replay::BufferId id) { return held(id).view; }
    at::Tensor matrix(replay::BufferId id, std::int64_t element);
    std::optional<double> distance(const at::Tensor& from, replay::BufferId buffer, std::int64_t element);
    void setLayout(replay::BufferId id, bool columnMajor);
    replay::BufferPlan memoryPlan(replay::BufferId id) const;
    const replay::BufferPlan& plan(replay::BufferId id) const { return m_plans[static_cast<std::size_t>(id)]; }
    at::Tensor& scalar(const replay::Instruction& in) { return m_scalars[static_cast<std::size_t>(in.scalar)]; }
    at::Tensor& vector(const replay::Instruction& in) { return m_vectors[static_cast<std::size_t>(in.vector)]; }
    std::int64_t emulationBytes(Precision precision) const;
    std::int64_t workspaceBytes(const replay::Program& program) const;
    std::optional<CudaMemory> memory() const;

    void chooseThreads(const replay::Program& program, std::int64_t batch);
    void allocate(const replay::Program& program, std::int64_t batch);
    void execute(const replay::Instruction& in);
    void norm(const replay::Instruction& in);
    void denominator(const replay::Instruction& in);
    void add(const replay::Instruction& in);
    void gemm(const replay::Instruction& in);
    void gemmInHalfSums(const replay::Instruction& in);
    void addDiagonal(const replay::Instruction& in);
    void reduceRows(const replay::Instruction& in);
    void invert(const replay::Instruction& in);
    void scaleLines(const replay::Instruction& in);
    at::Tensor operand(replay::BufferId id, bool transpose, Precision format, at::Tensor& rounded);
    void finish(const replay::Instruction& in);
    void scanResult(const replay::Instruction& in);
    TileMap tileMapOnGpu(const at::Tensor& matrix, const replay::BufferPlan& layout);
    void scanOnGpu(const at::Tensor& matrices, const replay::BufferPlan& layout, std::int64_t slot);

    at::Device m_device;
    Environment m_environment; ///< its thread count is that of the program last prepared
    int m_threads; ///< as many as torch would take
    int m_capability; ///< 10 * major + minor, 0 on the CPU
    std::int64_t m_batch = 0;
    std::int64_t m_needed = 0; ///< bytes of the program last prepared
    std::vector<replay::BufferPlan> m_plans;
    std::vector<Buffer> m_buffers;
    std::vector<at::Tensor> m_scalars; ///< batch x 1 x 1 each
    std::vector<at::Tensor> m_vectors; ///< batch x rows x 1 each
    std::vector<Scan> m_scans; ///< on the CPU
    std::vector<std::int64_t> m_slotElements; ///< elements per matrix, for the scans that lie on the GPU
    at::Tensor m_slots; ///< on a GPU: int64 [slot, batch, scan::totalsWords]
    at::Tensor m_scanWorkspace;
    at::Tensor m_roundScratch;
    at::Tensor m_roundedA;
    at::Tensor m_roundedB;
    GpuLost m_lost;
};

} // namespace nanscope
