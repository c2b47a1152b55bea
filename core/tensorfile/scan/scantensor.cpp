// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/tensorfile/scan/scantensor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <type_traits>

#include "core/base/try.h"
#include "core/model/scan.h"
#include "core/tensorfile/convert.h"
#include "core/tensorfile/scan/scankernels.h"
#include "core/tensorfile/tensorstream.h"

namespace nanscope::tensorfile {

namespace {

const ScanKernels& choose()
{
#if defined(NANSCOPE_X86_KERNELS)
    const char* asked = std::getenv("NANSCOPE_ISA");
    const std::string_view limit = asked == nullptr ? "" : asked;
    if (limit == "baseline") {
        return baselineKernels;
    }
    if (limit != "avx2" && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
        && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")) {
        return avx512Kernels;
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        return avx2Kernels;
    }
#endif
    return baselineKernels;
}

} // namespace

const ScanKernels& scanKernels()
{
    static const ScanKernels& kernels = choose();
    return kernels;
}

namespace {

struct BfloatBits
{
    using Bits = std::uint16_t;
    static constexpr Bits infinity = 0x7f80;
    static double value(Bits bits) { return bfloat16ToFloat(bits); }
    static auto kernel() { return scanKernels().bfloat16; }
    static auto tileKernel() { return scanKernels().tileBfloat16; }
};

struct HalfBits
{
    using Bits = std::uint16_t;
    static constexpr Bits infinity = 0x7c00;
    static double value(Bits bits) { return halfToFloat(bits); }
    static auto kernel() { return scanKernels().half; }
    static auto tileKernel() { return scanKernels().tileHalf; }
};

struct SingleBits
{
    using Bits = std::uint32_t;
    static constexpr Bits infinity = 0x7f800000;
    static double value(Bits bits) { return std::bit_cast<float>(bits); }
    static auto kernel() { return scanKernels().single; }
    static auto tileKernel() { return scanKernels().tileSingle; }
};

struct DoubleBits
{
    using Bits = std::uint64_t;
    static constexpr Bits infinity = 0x7ff0000000000000;
    static double value(Bits bits) { return std::bit_cast<double>(bits); }
    static auto kernel() { return scanKernels().twofold; }
    static auto tileKernel() { return scanKernels().tileTwofold; }
};

/// Gathers the scan of one matrix from dense blocks of its lines. Lines are the columns of the original where
/// `transposed`; `lineLength` is how many elements each has, `lines` how many there are.
template <class Format>
class MatrixScan
{
public:
    using Bits = typename Format::Bits;

    MatrixScan(std::int64_t lines, std::int64_t lineLength, bool transposed, Bits subnormalBelow)
        : m_lines(lines)
        , m_length(lineLength)
        , m_transposed(transposed)
        , m_subnormalBelow(subnormalBelow)
    { }

    void add(const Bits* bits, std::int64_t firstLine, std::int64_t lines, std::int64_t firstPosition,
        std::int64_t positions)
    {
        const auto before = m_sums.nonFinite();
        Format::kernel()(bits, static_cast<std::size_t>(lines * positions), m_subnormalBelow, m_sums);
        addDiagonal(bits, firstLine, lines, firstPosition, positions);
        if (m_sums.nonFinite() != before && (m_transposed || m_first < 0)) {
            findFirst(bits, firstLine, lines, firstPosition, positions);
        }
    }

    Scan finish() const
    {
        Scan scan;
        scan.count = m_lines * m_length;
        scan.nan = m_sums.nan;
        scan.posInf = m_sums.posInf;
        scan.negInf = m_sums.negInf;
        scan.zero = m_sums.zero;
        scan.subnormal = m_sums.subnormal;
        scan.absmax = Format::value(static_cast<Bits>(m_sums.largest));
        const bool any = m_sums.smallest < Format::infinity;
        scan.minNonzero = any ? Format::value(static_cast<Bits>(m_sums.smallest)) : 0;
        for (const auto lane : m_sums.squares) {
            scan.sumSquares += lane;
        }
        scan.trace = m_trace;
        scan.firstNonFinite = m_first;
        scan.firstClass = m_class;
        return scan;
    }

private:
    static Bits magnitude(Bits bits) { return static_cast<Bits>(bits & static_cast<Bits>(~Bits {0}) >> 1); }

    static ValueClass classOf(Bits bits)
    {
        if (magnitude(bits) != Format::infinity) {
            return ValueClass::nan;
        }
        return bits == Format::infinity ? ValueClass::posInf : ValueClass::negInf;
    }

    void addDiagonal(const Bits* bits, std::int64_t firstLine, std::int64_t lines, std::int64_t firstPosition,
        std::int64_t positions)
    {
        const auto begin = std::max(firstLine, firstPosition);
        const auto end = std::min(firstLine + lines, firstPosition + positions);
        for (auto at = begin; at < end; ++at) {
            const auto value = bits[(at - firstLine) * positions + (at - firstPosition)];
            if (magnitude(value) < Format::infinity) {
                m_trace += Format::value(value);
            }
        }
    }

    void findFirst(const Bits* bits, std::int64_t firstLine, std::int64_t lines, std::int64_t firstPosition,
        std::int64_t positions)
    {
        for (std::int64_t line = 0; line < lines; ++line) {
            // In a later column only an earlier row can come first.
            const auto end =
                m_transposed && m_first >= 0 ? std::min(positions, m_first / m_lines - firstPosition) : positions;
            for (std::int64_t position = 0; position < end; ++position) {
                const auto value = bits[line * positions + position];
                if (magnitude(value) >= Format::infinity) {
                    note(firstLine + line, firstPosition + position, value);
                    break;
                }
            }
            if (!m_transposed && m_first >= 0) {
                return;
            }
        }
    }

    void note(std::int64_t line, std::int64_t position, Bits value)
    {
        m_first = m_transposed ? position * m_lines + line : line * m_length + position;
        m_class = classOf(value);
    }

    std::int64_t m_lines;
    std::int64_t m_length;
    bool m_transposed;
    Bits m_subnormalBelow;
    ScanSums m_sums;
    double m_trace = 0;
    std::int64_t m_first = -1;
    ValueClass m_class = ValueClass::normal;
};

// A scan takes fifty times the room of a 1x1 matrix in a file.
constexpr std::int64_t mostMatrices = 65536;

template <class Format>
typename Format::Bits bitsBelow(double smallest)
{
    if constexpr (std::is_same_v<Format, DoubleBits>) {
        return std::bit_cast<std::uint64_t>(smallest);
    } else {
        return std::bit_cast<std::uint32_t>(static_cast<float>(smallest));
    }
}

template <>
std::uint16_t bitsBelow<BfloatBits>(double)
{
    return 0x0080;
}

template <>
std::uint16_t bitsBelow<HalfBits>(double)
{
    return 0x0400;
}

/// Types without a kernel of their own are scanned as doubles, which hold their values and classes.
template <class Format>
struct AsStored
{
    static const typename Format::Bits* bits(DType, const TensorBlock& block, std::vector<double>&)
    {
        return reinterpret_cast<const typename Format::Bits*>(block.bits);
    }
};

struct AsDouble
{
    static const std::uint64_t* bits(DType dtype, const TensorBlock& block, std::vector<double>& values)
    {
        values.resize(block.elements());
        convert(dtype, block.bits, block.elements(), values.data());
        return reinterpret_cast<const std::uint64_t*>(values.data());
    }
};

template <class Format, class View = AsStored<Format>>
Result<Scan> scanOne(TensorStream& stream, const Tensor& tensor, std::int64_t batch)
{
    const auto shape = tensor.matrices();
    const bool transposed = stream.transposed();
    MatrixScan<Format> scan(transposed ? shape.cols : shape.rows, transposed ? shape.rows : shape.cols, transposed,
        bitsBelow<Format>(smallestNormalOf(tensor.dtype())));
    std::vector<double> values;
    const auto read = stream.matrix(batch, [&](const TensorBlock& block) {
        scan.add(View::bits(tensor.dtype(), block, values), block.firstLine, block.lines, block.firstPosition,
            block.positions);
    });
    return read.map([&] { return scan.finish(); });
}

Result<Scan> scanBatch(TensorStream& stream, const Tensor& tensor, std::int64_t batch)
{
    switch (tensor.dtype()) {
    case DType::bfloat16:
        return scanOne<BfloatBits>(stream, tensor, batch);
    case DType::float16:
        return scanOne<HalfBits>(stream, tensor, batch);
    case DType::float32:
        return scanOne<SingleBits>(stream, tensor, batch);
    case DType::float64:
        return scanOne<DoubleBits>(stream, tensor, batch);
    default:
        return scanOne<DoubleBits, AsDouble>(stream, tensor, batch);
    }
}

template <class Format, class T>
Scan scanMemory(std::span<const T> data, std::int64_t rows, std::int64_t cols, bool transposed, double smallest)
{
    MatrixScan<Format> scan(rows, cols, transposed, bitsBelow<Format>(smallest));
    if (rows > 0 && cols > 0) {
        scan.add(reinterpret_cast<const typename Format::Bits*>(data.data()), 0, rows, 0, cols);
    }
    return scan.finish();
}

} // namespace

Result<ScannedTensor> scanVerifying(
    const Tensor& tensor, std::shared_ptr<const platform::FileReader> file, const ReadWatch& watch)
{
    if (!isReal(tensor.dtype())) {
        return failure(
            ErrorKind::unsupported, "The tensor holds complex numbers, which cannot be scanned", pathOf(tensor));
    }
    const auto batches = tensor.matrices().batch;
    if (batches > mostMatrices) {
        return failure(ErrorKind::refused,
            "The tensor is a batch of more than 65,536 matrices; dump a convolution's weight as its iteration takes "
            "it, "
            "flattened to two dimensions",
            pathOf(tensor));
    }
    auto stream = TRY(TensorStream::open(tensor, std::move(file), watch));
    ScannedTensor result;
    for (std::int64_t batch = 0; batch < batches; ++batch) {
        result.batches.push_back(TRY(scanBatch(stream, tensor, batch)));
    }
    if (stream.readsWholeStorage()) {
        result.checksumMatches = stream.crc() == *tensor.source()->find(tensor.storageKey())->crc;
    }
    return result;
}

Result<std::vector<Scan>> scanTensor(const Tensor& tensor)
{
    return scanVerifying(tensor).map([](ScannedTensor scanned) { return std::move(scanned.batches); });
}

Scan scanMatrix(
    std::span<const float> data, std::int64_t rows, std::int64_t cols, bool transposed, double smallestNormal)
{
    return scanMemory<SingleBits>(data, rows, cols, transposed, smallestNormal);
}

Scan scanMatrix(
    std::span<const double> data, std::int64_t rows, std::int64_t cols, bool transposed, double smallestNormal)
{
    return scanMemory<DoubleBits>(data, rows, cols, transposed, smallestNormal);
}

double smallestNormal(Precision precision)
{
    switch (precision) {
    case Precision::fp64:
        return 0x1p-1022;
    case Precision::fp16:
    case Precision::fp16Acc16:
        return 0x1p-14;
    case Precision::fp32:
    case Precision::tf32:
    case Precision::bf16:
        break;
    }
    return 0x1p-126;
}

TileMap cutIntoTiles(std::int64_t rows, std::int64_t cols)
{
    const auto step = [](std::int64_t length) { return std::max<std::int64_t>((length + maxTiles - 1) / maxTiles, 1); };
    TileMap map;
    map.rows = rows;
    map.cols = cols;
    map.tileRows = step(rows);
    map.tileCols = step(cols);
    map.height = static_cast<std::int32_t>((rows + map.tileRows - 1) / map.tileRows);
    map.width = static_cast<std::int32_t>((cols + map.tileCols - 1) / map.tileCols);
    return map;
}

namespace {

/// What orders like the values of a format, as TileSums has it, back as bits.
template <class Format>
typename Format::Bits fromOrder(std::int64_t order)
{
    using Bits = typename Format::Bits;
    constexpr auto magnitude = static_cast<Bits>(static_cast<Bits>(~Bits {0}) >> 1);
    const auto bits = static_cast<Bits>(order);
    return order < 0 ? static_cast<Bits>(bits ^ magnitude) : bits;
}

float clampToFloat(double value)
{
    constexpr double largest = std::numeric_limits<float>::max();
    return static_cast<float>(std::clamp(value, -largest, largest)) + 0.0F; // no negative zero
}

/// Values of a tile, or of a part of it; nothing is said of extremes where nothing is finite.
struct TileValues
{
    float low = 0;
    float high = 0;
    std::uint8_t classes = 0;

    bool anyFinite() const { return (classes & (classNormal | classZero | classSubnormal)) != 0; }
};

template <class Format>
TileValues valuesOf(const TileSums& sums)
{
    const auto classes = static_cast<std::uint8_t>(sums.classes);
    if (sums.low > sums.high) {
        return {0, 0, classes};
    }
    return {clampToFloat(Format::value(fromOrder<Format>(sums.low))),
        clampToFloat(Format::value(fromOrder<Format>(sums.high))), classes};
}

} // namespace

void addTile(TileMap& map, const TileSums& sums)
{
    const auto values = valuesOf<SingleBits>(sums);
    map.min.push_back(values.low);
    map.max.push_back(values.high);
    map.absmax.push_back(std::max(std::abs(values.low), std::abs(values.high)));
    map.classes.push_back(values.classes);
}

namespace {

/// Tiles of a rows x cols matrix that is fed in blocks of lines, lines being columns where `transposed`.
template <class Format>
class TileBuilder
{
public:
    using Bits = typename Format::Bits;

    TileBuilder(std::int64_t rows, std::int64_t cols, bool transposed, Bits subnormalBelow)
        : m_transposed(transposed)
        , m_subnormalBelow(subnormalBelow)
        , m_map(cutIntoTiles(rows, cols))
        , m_band(static_cast<std::size_t>(transposed ? m_map.height : m_map.width))
    {
        const auto tiles = static_cast<std::size_t>(m_map.height) * static_cast<std::size_t>(m_map.width);
        m_map.min.resize(tiles);
        m_map.max.resize(tiles);
        m_map.absmax.resize(tiles);
        m_map.classes.resize(tiles);
    }

    /// Lines that lie close, each of `positions` elements.
    void add(const Bits* bits, std::int64_t firstLine, std::int64_t lines, std::int64_t firstPosition,
        std::int64_t positions)
    {
        const auto high = m_transposed ? m_map.tileCols : m_map.tileRows;
        const auto end = firstLine + lines;
        for (auto line = firstLine; line < end && positions > 0;) {
            const auto next = std::min((line / high + 1) * high, end);
            addBand({bits + (line - firstLine) * positions, static_cast<std::size_t>(positions),
                        static_cast<std::size_t>(next - line), static_cast<std::size_t>(positions)},
                line / high, firstPosition);
            line = next;
        }
    }

    TileMap finish() { return std::move(m_map); }

private:
    void addBand(TileLines lines, std::int64_t band, std::int64_t firstPosition)
    {
        const auto wide = m_transposed ? m_map.tileRows : m_map.tileCols;
        const auto first = firstPosition / wide;
        const auto last = (firstPosition + static_cast<std::int64_t>(lines.positions) - 1) / wide;
        lines.tile = static_cast<std::size_t>(wide);
        lines.offset = static_cast<std::size_t>(firstPosition % wide);
        std::fill_n(m_band.begin(), last - first + 1, TileSums {});
        Format::tileKernel()(lines, m_subnormalBelow, m_band.data());
        for (auto across = first; across <= last; ++across) {
            const auto tile = m_transposed ? across * m_map.width + band : band * m_map.width + across;
            put(static_cast<std::size_t>(tile), valuesOf<Format>(m_band[static_cast<std::size_t>(across - first)]));
        }
    }

    void put(std::size_t tile, TileValues values)
    {
        const TileValues before {m_map.min[tile], m_map.max[tile], m_map.classes[tile]};
        if (before.anyFinite()) {
            values.low = values.anyFinite() ? std::min(values.low, before.low) : before.low;
            values.high = values.anyFinite() ? std::max(values.high, before.high) : before.high;
        }
        m_map.min[tile] = values.low;
        m_map.max[tile] = values.high;
        m_map.absmax[tile] = std::max(std::abs(values.low), std::abs(values.high));
        m_map.classes[tile] = values.classes | before.classes;
    }

    bool m_transposed;
    Bits m_subnormalBelow;
    TileMap m_map;
    std::vector<TileSums> m_band; ///< a row of tiles as the lines lie
};

template <class Format, class T>
TileMap tileMemory(std::span<const T> data, std::int64_t rows, std::int64_t cols, bool transposed, double smallest)
{
    TileBuilder<Format> builder(
        transposed ? cols : rows, transposed ? rows : cols, transposed, bitsBelow<Format>(smallest));
    builder.add(reinterpret_cast<const typename Format::Bits*>(data.data()), 0, rows, 0, cols);
    return builder.finish();
}

template <class Format, class View = AsStored<Format>>
Result<TileMap> tileStream(TensorStream& stream, const Tensor& tensor, std::int64_t batch)
{
    const auto shape = tensor.matrices();
    TileBuilder<Format> builder(
        shape.rows, shape.cols, stream.transposed(), bitsBelow<Format>(smallestNormalOf(tensor.dtype())));
    std::vector<double> values;
    const auto read = stream.matrix(batch, [&](const TensorBlock& block) {
        builder.add(View::bits(tensor.dtype(), block, values), block.firstLine, block.lines, block.firstPosition,
            block.positions);
    });
    return read.map([&] { return builder.finish(); });
}

} // namespace

TileMap tileMatrix(
    std::span<const float> data, std::int64_t rows, std::int64_t cols, bool transposed, double smallestNormal)
{
    return tileMemory<SingleBits>(data, rows, cols, transposed, smallestNormal);
}

TileMap tileMatrix(
    std::span<const double> data, std::int64_t rows, std::int64_t cols, bool transposed, double smallestNormal)
{
    return tileMemory<DoubleBits>(data, rows, cols, transposed, smallestNormal);
}

Result<ScannedMatrix> scanByRows(std::int64_t rows, std::int64_t cols, double smallestNormal, const RowsOf& rowsOf)
{
    constexpr std::int64_t elementsAtOnce = std::int64_t {1} << 20;
    const auto most = std::max<std::int64_t>(1, elementsAtOnce / std::max<std::int64_t>(1, cols));
    MatrixScan<DoubleBits> scan(rows, cols, false, bitsBelow<DoubleBits>(smallestNormal));
    TileBuilder<DoubleBits> tiles(rows, cols, false, bitsBelow<DoubleBits>(smallestNormal));
    for (std::int64_t first = 0; first < rows; first += most) {
        const auto count = std::min(most, rows - first);
        const auto values = TRY(rowsOf(first, count));
        const auto* bits = reinterpret_cast<const std::uint64_t*>(values.data());
        scan.add(bits, first, count, 0, cols);
        tiles.add(bits, first, count, 0, cols);
    }
    return ScannedMatrix {scan.finish(), tiles.finish()};
}

Result<TileMap> tileTensor(const Tensor& tensor, std::int64_t batch)
{
    if (!isReal(tensor.dtype())) {
        return failure(
            ErrorKind::unsupported, "The tensor holds complex numbers, which a tile map cannot show", pathOf(tensor));
    }
    auto stream = TRY(TensorStream::open(tensor));
    switch (tensor.dtype()) {
    case DType::bfloat16:
        return tileStream<BfloatBits>(stream, tensor, batch);
    case DType::float16:
        return tileStream<HalfBits>(stream, tensor, batch);
    case DType::float32:
        return tileStream<SingleBits>(stream, tensor, batch);
    case DType::float64:
        return tileStream<DoubleBits>(stream, tensor, batch);
    default:
        return tileStream<DoubleBits, AsDouble>(stream, tensor, batch);
    }
}

} // namespace nanscope::tensorfile
