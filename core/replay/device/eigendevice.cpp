// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <thread>

#include <fmt/format.h>

#include "core/platform/platform.h"
#include "core/replay/device/device.h"
#include "core/replay/device/gemm.h"
#include "core/replay/device/halfsums.h"
#include "core/replay/program/formats.h"
#include "core/tensorfile/scan/scantensor.h"

namespace nanscope::replay {

namespace {

// fp64 programs live in doubles, all others in floats whose values are numbers of their format.
template <class T>
class Engine
{
public:
    /// Takes the memory of the one before where it fits: fresh pages cost as much as a product of small matrices.
    Engine(const Program& program, std::int64_t batch, int threads, std::unique_ptr<Engine> before)
        : m_plans(program.buffers)
        , m_memoryOf(program.sharedMemory())
        , m_batch(batch)
        , m_threads(threads)
        , m_scalars(static_cast<std::size_t>(program.scalarCount * batch))
        , m_scans(static_cast<std::size_t>(program.scanCount * batch))
    {
        for (const auto length : program.vectorLengths) {
            m_vectors.emplace_back(static_cast<std::size_t>(length * batch));
        }
        auto old = before ? std::move(before->m_buffers) : Buffers();
        before.reset();
        m_buffers.resize(1 + std::ranges::max(m_memoryOf));
        for (std::size_t i = 0; i < m_plans.size(); ++i) {
            if (auto& memory = m_buffers[m_memoryOf[i]]; !memory.numbers) {
                memory = taken(old, static_cast<std::size_t>(m_plans[i].rows * m_plans[i].cols * batch));
            }
        }
    }

    void upload(ValueView input)
    {
        input.visit([this](auto values) {
            for (std::int64_t element = 0; element < m_batch; ++element) {
                const auto to = matrix(0, element);
                uploadMatrix(values.data() + static_cast<std::size_t>(element) * to.size(), to);
            }
        });
    }

    void run(const Instruction& instruction, const CancelToken& cancel)
    {
        m_cancel = cancel;
        for (std::int64_t element = 0; element < m_batch; ++element) {
            execute(instruction, element);
        }
        rescan(instruction);
    }

    void rescan(const Instruction& instruction)
    {
        if (instruction.scanSlot < 0) {
            return;
        }
        for (std::int64_t element = 0; element < m_batch; ++element) {
            m_scans[static_cast<std::size_t>(instruction.scanSlot * m_batch + element)] = scanOf(instruction, element);
        }
    }

    void overwrite(BufferId buffer, std::int64_t element, const Region& region, std::span<const double> values)
    {
        const auto& plan = m_plans[static_cast<std::size_t>(buffer)];
        const auto to = matrix(buffer, element);
        auto next = values.begin();
        for (std::int64_t r = region.row; r < region.row + region.rows; ++r) {
            for (std::int64_t c = region.col; c < region.col + region.cols; ++c) {
                const auto flat = plan.transposed ? c * plan.cols + r : r * plan.cols + c;
                to[static_cast<std::size_t>(flat)] = static_cast<T>(roundTo(plan.format, *next++));
            }
        }
    }

    std::vector<Scan> scans() const { return m_scans; }

    Values download(BufferId buffer, std::int64_t element, const std::optional<Region>& part)
    {
        const auto& plan = m_plans[static_cast<std::size_t>(buffer)];
        const auto data = matrix(buffer, element);
        const auto [row, col, rows, cols] =
            part.value_or(plan.transposed ? Region {0, 0, plan.cols, plan.rows} : Region {0, 0, plan.rows, plan.cols});
        std::vector<T> out;
        out.reserve(static_cast<std::size_t>(rows * cols));
        for (std::int64_t r = row; r < row + rows; ++r) {
            if (!plan.transposed) {
                const auto line = data.begin() + r * plan.cols + col;
                out.insert(out.end(), line, line + cols);
                continue;
            }
            for (std::int64_t c = col; c < col + cols; ++c) {
                out.push_back(data[static_cast<std::size_t>(c * plan.cols + r)]);
            }
        }
        return out;
    }

    TileMap tileMap(BufferId buffer, std::int64_t element)
    {
        const auto& plan = m_plans[static_cast<std::size_t>(buffer)];
        return tensorfile::tileMatrix(
            matrix(buffer, element), plan.rows, plan.cols, plan.transposed, tensorfile::smallestNormal(plan.format));
    }

private:
    /// Zeros of which a page takes no memory until it is written: an input is handed over while no other buffer does.
    struct Memory
    {
        Memory() = default;
        explicit Memory(std::size_t count)
            : numbers(static_cast<T*>(std::calloc(std::max<std::size_t>(1, count), sizeof(T))))
            , size(count)
        {
            if (!numbers) {
                throw std::bad_alloc();
            }
        }

        struct Free
        {
            void operator()(T* memory) const { std::free(memory); }
        };
        std::unique_ptr<T[], Free> numbers;
        std::size_t size = 0;
    };
    using Buffers = std::vector<Memory>;

    /// What a buffer holds is written before it is read.
    static Memory taken(Buffers& old, std::size_t size)
    {
        const auto fits =
            std::ranges::find_if(old, [&](const Memory& one) { return one.size >= size && one.size <= 2 * size; });
        if (fits == old.end()) {
            return Memory(size);
        }
        auto memory = std::move(*fits);
        old.erase(fits);
        return memory;
    }

    template <class From>
    void uploadMatrix(const From* from, std::span<T> to) const
    {
        const auto& plan = m_plans[0];
        if (!plan.transposed) {
            std::transform(from, from + to.size(), to.begin(), [](From x) { return static_cast<T>(x); });
            return;
        }
        for (std::int64_t r = 0; r < plan.rows; ++r) {
            for (std::int64_t c = 0; c < plan.cols; ++c) {
                to[static_cast<std::size_t>(r * plan.cols + c)] = static_cast<T>(from[c * plan.rows + r]);
            }
        }
    }

    std::span<T> matrix(BufferId buffer, std::int64_t element)
    {
        const auto& plan = m_plans[static_cast<std::size_t>(buffer)];
        const auto size = static_cast<std::size_t>(plan.rows * plan.cols);
        const auto& memory = m_buffers[m_memoryOf[static_cast<std::size_t>(buffer)]];
        return {memory.numbers.get() + static_cast<std::size_t>(element) * size, size};
    }

    T& scalar(const Instruction& in, std::int64_t element)
    {
        return m_scalars[static_cast<std::size_t>(in.scalar * m_batch + element)];
    }

    std::span<T> vector(const Instruction& in, std::int64_t element)
    {
        auto& all = m_vectors[static_cast<std::size_t>(in.vector)];
        const auto size = all.size() / static_cast<std::size_t>(m_batch);
        return std::span(all).subspan(static_cast<std::size_t>(element) * size, size);
    }

    static void round(Precision format, std::span<T> values)
    {
        if constexpr (std::is_same_v<T, float>) {
            roundTo(format, values);
        }
    }

    void execute(const Instruction& in, std::int64_t element)
    {
        switch (in.code) {
        case Code::cast:
            return elementwise(in, element, [](T a) { return a; });
        case Code::norm:
            return norm(in, element);
        case Code::denominator:
            return denominator(in, element);
        case Code::divide:
            return elementwise(in, element, [d = scalar(in, element)](T a) { return a / d; });
        case Code::scale:
            return elementwise(in, element, [f = static_cast<T>(in.alpha)](T a) { return f * a; });
        case Code::add:
            return add(in, element);
        case Code::gemm:
            return product(in, element);
        case Code::addDiagonal:
            return addDiagonal(in, element);
        case Code::rowNorms:
            return reduceRows(in, element, [](T x) { return static_cast<double>(x * x); });
        case Code::rowAbsSums:
            return reduceRows(in, element, [](T x) { return static_cast<double>(std::abs(x)); });
        case Code::reciprocal:
        case Code::rsqrt:
            return invert(in, element);
        case Code::scaleRows:
        case Code::scaleColumns:
            return scaleLines(in, element);
        }
    }

    template <class F>
    void elementwise(const Instruction& in, std::int64_t element, F f)
    {
        const auto a = matrix(in.a, element);
        const auto out = matrix(in.out, element);
        if (in.code != Code::cast || in.a != in.out) {
            std::transform(a.begin(), a.end(), out.begin(), f);
        }
        round(in.round, out);
    }

    void norm(const Instruction& in, std::int64_t element)
    {
        // Squares and their sum overflow and underflow where T does, unless the variant asks for fp64; the summation
        // itself is exact enough to stand for any order torch may use.
        const bool exact = in.round == Precision::fp64;
        double sum = 0;
        for (const T x : matrix(in.a, element)) {
            sum += exact ? static_cast<double>(x) * static_cast<double>(x) : static_cast<double>(x * x);
        }
        const double root = exact ? std::sqrt(sum) : static_cast<double>(std::sqrt(static_cast<T>(sum)));
        scalar(in, element) = static_cast<T>(roundTo(in.round, root));
    }

    void denominator(const Instruction& in, std::int64_t element)
    {
        T& value = scalar(in, element);
        const T scaled = value * static_cast<T>(in.alpha);
        const T beta = static_cast<T>(in.beta);
        const T sum = in.clamp ? (scaled < beta ? beta : scaled) : scaled + beta;
        const double rounded = roundTo(in.round, static_cast<double>(sum));
        value = static_cast<T>(stepUlps(in.round, rounded, in.normUlps));
    }

    void add(const Instruction& in, std::int64_t element)
    {
        const auto a = matrix(in.a, element);
        const auto b = matrix(in.b, element);
        const auto out = matrix(in.out, element);
        const T alpha = static_cast<T>(in.alpha);
        const T beta = static_cast<T>(in.beta);
        for (std::size_t i = 0; i < out.size(); ++i) {
            out[i] = alpha * a[i] + beta * b[i];
        }
        round(in.round, out);
    }

    std::span<const T> operand(BufferId buffer, std::int64_t element, Precision format, std::vector<T>& rounded)
    {
        const auto data = matrix(buffer, element);
        if (format != Precision::tf32) {
            return data;
        }
        rounded.assign(data.begin(), data.end());
        round(format, rounded);
        return rounded;
    }

    void product(const Instruction& in, std::int64_t element)
    {
        const auto& planA = m_plans[static_cast<std::size_t>(in.a)];
        const auto& planOut = m_plans[static_cast<std::size_t>(in.out)];
        const auto out = matrix(in.out, element);
        GemmShape<T> shape;
        shape.a = operand(in.a, element, in.round, m_roundedA).data();
        shape.b = in.a == in.b ? shape.a : operand(in.b, element, in.round, m_roundedB).data();
        shape.out = out.data();
        shape.rows = planOut.rows;
        shape.cols = planOut.cols;
        shape.inner = in.transposeA ? planA.rows : planA.cols;
        shape.transposeA = in.transposeA;
        shape.transposeB = in.transposeB;
        if (in.round == Precision::fp16Acc16) {
            return productInHalfSums(in, element, shape);
        }
        if (isSymmetricProduct(in, shape)) {
            gemmSymmetric(shape, m_threads, m_cancel);
        } else {
            gemm(shape, m_threads, m_cancel);
        }
        finishProduct(in, element, out);
    }

    void productInHalfSums(const Instruction& in, std::int64_t element, const GemmShape<T>& shape)
    {
        if constexpr (std::is_same_v<T, float>) {
            const auto* c = in.c < 0 ? nullptr : matrix(in.c, element).data();
            multiplyInHalfSums({shape, in.alpha, in.beta, c}, m_threads, m_cancel);
        }
    }

    /// Half of a large one need not be computed. What is smaller keeps the order of sums in which verdicts were tried.
    static bool isSymmetricProduct(const Instruction& in, const GemmShape<T>& shape)
    {
        constexpr std::int64_t largeFrom = 384;
        const auto elements = static_cast<std::size_t>(shape.rows * shape.rows);
        return in.a == in.b && shape.rows == shape.cols && shape.rows >= largeFrom
            && (in.transposeA != in.transposeB
                || (shape.inner == shape.rows && isSymmetric(std::span<const T>(shape.a, elements), shape.rows)));
    }

    void finishProduct(const Instruction& in, std::int64_t element, std::span<T> out)
    {
        const T alpha = static_cast<T>(in.alpha);
        if (in.c >= 0) {
            const auto c = matrix(in.c, element);
            const T beta = static_cast<T>(in.beta);
            for (std::size_t i = 0; i < out.size(); ++i) {
                out[i] = alpha * out[i] + beta * c[i];
            }
        } else if (alpha != 1) {
            for (T& x : out) {
                x *= alpha;
            }
        }
        round(in.round == Precision::tf32 ? Precision::fp32 : in.round, out);
    }

    void addDiagonal(const Instruction& in, std::int64_t element)
    {
        const auto a = matrix(in.a, element);
        const auto out = matrix(in.out, element);
        const auto& plan = m_plans[static_cast<std::size_t>(in.out)];
        std::copy(a.begin(), a.end(), out.begin());
        for (std::int64_t i = 0; i < std::min(plan.rows, plan.cols); ++i) {
            out[static_cast<std::size_t>(i * plan.cols + i)] += static_cast<T>(in.alpha);
        }
        round(in.round, out);
    }

    template <class F>
    void reduceRows(const Instruction& in, std::int64_t element, F f)
    {
        const auto a = matrix(in.a, element);
        const auto out = vector(in, element);
        const auto cols = static_cast<std::size_t>(m_plans[static_cast<std::size_t>(in.a)].cols);
        std::vector<double> sums(out.size());
        for (std::size_t i = 0; i < a.size(); ++i) {
            sums[in.transposeA ? i % cols : i / cols] += f(a[i]);
        }
        std::transform(sums.begin(), sums.end(), out.begin(), [&](double sum) {
            const T total = static_cast<T>(sum);
            return in.code == Code::rowNorms ? std::sqrt(total) : total;
        });
        round(in.round, out);
    }

    // max() as torch's clamp_min: a NaN stays one.
    void invert(const Instruction& in, std::int64_t element)
    {
        const T floor = static_cast<T>(in.beta);
        const T factor = static_cast<T>(in.alpha) * (in.scalar >= 0 ? scalar(in, element) : T {1});
        for (T& x : vector(in, element)) {
            const T clamped = x < floor ? floor : x;
            x = in.code == Code::rsqrt ? 1 / std::sqrt(clamped) : factor / clamped;
        }
        round(in.round, vector(in, element));
        if (in.normUlps != 0) {
            for (T& x : vector(in, element)) {
                x = static_cast<T>(stepUlps(in.round, static_cast<double>(x), in.normUlps));
            }
        }
    }

    void scaleLines(const Instruction& in, std::int64_t element)
    {
        const auto a = matrix(in.a, element);
        const auto out = matrix(in.out, element);
        const auto factors = vector(in, element);
        const auto cols = static_cast<std::size_t>(m_plans[static_cast<std::size_t>(in.out)].cols);
        const bool rows = in.code == Code::scaleRows;
        for (std::size_t i = 0; i < out.size(); ++i) {
            out[i] = a[i] * factors[rows ? i / cols : i % cols];
        }
        round(in.round, out);
    }

    Scan scanOf(const Instruction& in, std::int64_t element)
    {
        if (in.scalar >= 0 && in.out < 0) {
            return tensorfile::scanMatrix(
                std::span<const T>(&scalar(in, element), 1), 1, 1, false, tensorfile::smallestNormal(in.round));
        }
        const auto& plan = m_plans[static_cast<std::size_t>(in.out)];
        return tensorfile::scanMatrix(
            matrix(in.out, element), plan.rows, plan.cols, plan.transposed, tensorfile::smallestNormal(plan.format));
    }

    std::vector<BufferPlan> m_plans;
    std::vector<std::size_t> m_memoryOf; ///< index into m_buffers
    std::int64_t m_batch;
    int m_threads;
    Buffers m_buffers;
    std::vector<T> m_scalars;
    std::vector<std::vector<T>> m_vectors;
    std::vector<Scan> m_scans;
    std::vector<T> m_roundedA;
    std::vector<T> m_roundedB;
    CancelToken m_cancel;
};

class EigenDevice : public Device
{
public:
    explicit EigenDevice(int threads)
        : m_threads(threads > 0 ? threads : static_cast<int>(std::max(1U, std::thread::hardware_concurrency())))
    { }

    Environment environment() const override
    {
        Environment result;
        result.engine = fmt::format("eigen {}.{}.{}", NANSCOPE_EIGEN_VERSION);
        result.device = "cpu";
        result.hardware = platform::cpuDescription();
        result.threads = m_threads;
        result.flags = fmt::format("gemm={}", gemmInstructionSet());
        return result;
    }

    bool native(Precision precision) const override
    {
        return precision == Precision::fp64 || precision == Precision::fp32;
    }

    // One matrix at a time keeps the peak at one workspace whatever the batch is.
    std::int64_t batchLimit(const Program& /*program*/) const override { return 1; }

    Result<void> prepare(const Program& program, std::int64_t batch) override
    {
        const bool wide = program.precision == Precision::fp64;
        try {
            if (wide) {
                m_float.reset();
                m_double = std::make_unique<Engine<double>>(program, batch, m_threads, std::move(m_double));
            } else {
                m_double.reset();
                m_float = std::make_unique<Engine<float>>(program, batch, m_threads, std::move(m_float));
            }
        } catch (const std::bad_alloc&) {
            const auto bytes = program.workspaceBytes(wide ? sizeof(double) : sizeof(float)) * batch;
            return failure(ErrorKind::refused,
                fmt::format("the replay needs {} MiB of memory and the system has not got them", bytes >> 20));
        }
        return {};
    }

    Result<void> upload(ValueView input) override
    {
        m_double ? m_double->upload(input) : m_float->upload(input);
        return {};
    }

    Result<void> run(const Instruction& instruction) override
    {
        m_double ? m_double->run(instruction, cancelToken()) : m_float->run(instruction, cancelToken());
        return {};
    }

    Result<void> overwrite(
        BufferId buffer, std::int64_t element, const Region& region, std::span<const double> values) override
    {
        m_double ? m_double->overwrite(buffer, element, region, values)
                 : m_float->overwrite(buffer, element, region, values);
        return {};
    }

    Result<void> rescan(const Instruction& instruction) override
    {
        m_double ? m_double->rescan(instruction) : m_float->rescan(instruction);
        return {};
    }

    Result<std::vector<Scan>> scans() override { return m_double ? m_double->scans() : m_float->scans(); }

    Result<Values> download(BufferId buffer, std::int64_t element, const std::optional<Region>& part) override
    {
        return m_double ? m_double->download(buffer, element, part) : m_float->download(buffer, element, part);
    }

    Result<TileMap> tileMap(BufferId buffer, std::int64_t element) override
    {
        return m_double ? m_double->tileMap(buffer, element) : m_float->tileMap(buffer, element);
    }

private:
    int m_threads;
    std::unique_ptr<Engine<float>> m_float;
    std::unique_ptr<Engine<double>> m_double;
};

} // namespace

std::unique_ptr<Device> makeEigenDevice(int threads)
{
    return std::make_unique<EigenDevice>(threads);
}

Result<std::unique_ptr<Device>> makeCoreDevice(const std::string& name)
{
    if (name != "cpu") {
        return failure(ErrorKind::usage,
            fmt::format(
                "there is no device '{}' here: nanscope itself replays on 'cpu' alone, other devices are reached "
                "through nanscope-worker, which the window uses",
                name));
    }
    return makeEigenDevice();
}

} // namespace nanscope::replay
