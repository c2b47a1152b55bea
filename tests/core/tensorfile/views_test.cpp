// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// Views of one storage: slices, transposes, expansions and batches, read as torch indexes them.
#include <algorithm>
#include <numeric>

#include <gmock/gmock.h>

#include "core/tensorfile/scan/scantensor.h"
#include "core/tensorfile/tensorsource.h"
#include "fixtures.h"

namespace nanscope {

using namespace fixtures;

namespace {

class Views : public testing::Test
{
protected:
    tensorfile::Tensor view(
        const Shape& shape, const Shape& strides, std::int64_t offset = 0, const ZipOptions& options = {})
    {
        const auto body = pickle(tensor("IntStorage", "0", 120, shape, strides, offset));
        return opened(torchFile(body, {bytesOf(m_numbers)}, options));
    }

    tensorfile::Tensor opened(const std::string& bytes)
    {
        const auto file = tensorfile::openTensorFile(m_folder.write("x.pt", bytes));
        EXPECT_TRUE(file) << (file ? "" : sentence(file.error()));
        return file && file->root.tensor() != nullptr ? *file->root.tensor() : tensorfile::Tensor {};
    }

    static std::vector<double> values(const tensorfile::Tensor& tensor, std::int64_t batch = 0)
    {
        std::vector<double> out(static_cast<std::size_t>(tensor.matrices().elements()));
        const auto read = tensor.read(batch, std::span(out));
        EXPECT_TRUE(read) << (read ? "" : sentence(read.error()));
        return out;
    }

    /// The elements a view has by the rule of strides, without the code under test.
    std::vector<double> expected(const Shape& shape, const Shape& strides, std::int64_t offset)
    {
        std::vector<double> out;
        Shape index(shape.size(), 0);
        const auto total = std::accumulate(shape.begin(), shape.end(), std::int64_t {1}, std::multiplies<>());
        for (std::int64_t i = 0; i < total; ++i) {
            auto place = offset;
            for (std::size_t d = 0; d < shape.size(); ++d) {
                place += index[d] * strides[d];
            }
            out.push_back(m_numbers[static_cast<std::size_t>(place)]);
            for (auto d = shape.size(); d-- > 0;) {
                if (++index[d] < shape[d]) {
                    break;
                }
                index[d] = 0;
            }
        }
        return out;
    }

    void expectView(const Shape& shape, const Shape& strides, std::int64_t offset = 0)
    {
        const auto tensor = view(shape, strides, offset);
        std::vector<double> all;
        for (std::int64_t batch = 0; batch < tensor.matrices().batch; ++batch) {
            const auto part = values(tensor, batch);
            all.insert(all.end(), part.begin(), part.end());
        }
        EXPECT_EQ(all, expected(shape, strides, offset)) << shapeText(shape) << " by " << shapeText(strides);
    }

    static std::vector<std::int32_t> numbers()
    {
        std::vector<std::int32_t> values(120);
        std::iota(values.begin(), values.end(), 1000);
        return values;
    }

    TemporaryFolder m_folder;
    const std::vector<std::int32_t> m_numbers = numbers();
};

TEST_F(Views, SlicesAndTransposesAreReadInTheirOwnOrder)
{
    expectView({10, 12}, {12, 1});
    expectView({12, 10}, {1, 12});
    expectView({5, 6}, {24, 2}, 13);
    expectView({3, 4}, {1, 30}, 7);
    expectView({120}, {1});
    expectView({7}, {17}, 1);
    expectView({}, {}, 119);
}

TEST_F(Views, ExpandedDimensionsRepeatWhatTheyShow)
{
    expectView({4, 12}, {0, 1}, 24);
    expectView({10, 4}, {12, 0}, 5);
    expectView({4, 5}, {0, 0}, 77);
    expectView({3, 10, 12}, {0, 12, 1});
}

TEST_F(Views, BatchesMayLieInAnyOrder)
{
    expectView({2, 5, 12}, {60, 12, 1});
    expectView({12, 2, 5}, {1, 60, 12});
    expectView({2, 3, 4, 5}, {60, 20, 5, 1});
    expectView({4, 3, 2, 5}, {5, 20, 60, 1});
    expectView({5, 4, 3, 2}, {1, 5, 20, 60});
}

TEST_F(Views, EmptyOnesHaveNoElementsAndNoScans)
{
    for (const auto& shape : {Shape {0, 12}, Shape {10, 0}, Shape {0}, Shape {3, 0, 4}}) {
        const auto tensor = view(shape, Shape(shape.size(), 1));
        EXPECT_EQ(tensor.elements(), 0) << shapeText(shape);
        const auto scans = tensorfile::scanTensor(tensor);
        ASSERT_TRUE(scans);
        for (const auto& scan : *scans) {
            EXPECT_EQ(scan.count, 0);
            EXPECT_TRUE(scan.finite());
            EXPECT_FALSE(scan.allZero()) << "nothing is not zero";
        }
    }
}

TEST_F(Views, ContiguityIsThatOfTorch)
{
    EXPECT_TRUE(view({10, 12}, {12, 1}).contiguous());
    EXPECT_TRUE(view({1, 12}, {99, 1}).contiguous()) << "the stride of a single row is of no account";
    EXPECT_TRUE(view({0, 12}, {5, 7}).contiguous());
    EXPECT_FALSE(view({12, 10}, {1, 12}).contiguous());
    EXPECT_FALSE(view({4, 12}, {0, 1}).contiguous());
    EXPECT_FALSE(view({5, 12}, {24, 1}).contiguous());
}

TEST_F(Views, TheLastElementThatFitsIsReadAndTheNextIsNot)
{
    EXPECT_EQ(values(view({1}, {1}, 119)), std::vector<double> {1119});
    const auto body = pickle(tensor("IntStorage", "0", 120, {2}, {1}, 119));
    EXPECT_FALSE(tensorfile::openTensorFile(m_folder.write("x.pt", torchFile(body, {bytesOf(m_numbers)}))));
}

TEST_F(Views, BigEndianStoragesAreTurnedElementByElement)
{
    std::string swapped;
    for (const auto number : m_numbers) {
        const auto bytes = little(static_cast<std::uint64_t>(number), 4);
        swapped.append(bytes.rbegin(), bytes.rend());
    }
    const auto body = pickle(tensor("IntStorage", "0", 120, {5, 6}, {1, 20}, 3));
    const auto tensor = opened(zip({{"a/data.pkl", body}, {"a/byteorder", "big"}, {"a/data/0", swapped}}));
    EXPECT_EQ(values(tensor), expected({5, 6}, {1, 20}, 3));
    const auto bits = tensor.readBits(0);
    ASSERT_TRUE(bits);
    EXPECT_EQ(static_cast<unsigned>(bits->at(0)), 1003U & 0xffU) << "in the machine's own order";
    EXPECT_EQ(tensorfile::scanTensor(tensor).value().at(0).absmax, 1003 + 4 + 5 * 20);
}

TEST_F(Views, SixtyFourBitSizesChangeNothing)
{
    for (const bool descriptors : {false, true}) {
        EXPECT_EQ(values(view({12, 10}, {1, 12}, 0, {true, descriptors, ""})), expected({12, 10}, {1, 12}, 0));
    }
}

TEST_F(Views, TileMapsFollowTheView)
{
    const auto map = tensorfile::tileTensor(view({12, 10}, {1, 12}), 0);
    ASSERT_TRUE(map);
    EXPECT_EQ(map->height, 12);
    EXPECT_EQ(map->width, 10);
    const auto all = expected({12, 10}, {1, 12}, 0);
    for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ(map->absmax.at(i), static_cast<float>(all[i])) << i;
    }
    EXPECT_FALSE(tensorfile::tileTensor(view({10, 12}, {12, 1}), 1)) << "there is no second matrix";
}

TEST_F(Views, AMatrixThatDoesNotExistIsAnError)
{
    const auto tensor = view({2, 5, 12}, {60, 12, 1});
    std::vector<double> room(60);
    EXPECT_TRUE(tensor.read(1, std::span(room)));
    for (const std::int64_t batch : {-1, 2, 1000}) {
        EXPECT_FALSE(tensor.read(batch, std::span(room))) << batch;
        EXPECT_FALSE(tensor.readBits(batch)) << batch;
    }
}

TEST_F(Views, ATensorOfNoFileSaysSo)
{
    const tensorfile::Tensor nothing;
    std::vector<double> room(1);
    EXPECT_FALSE(nothing.read(0, std::span(room)));
    EXPECT_FALSE(tensorfile::checksumMatches(nothing, {}));
    EXPECT_FALSE(tensorfile::scanTensor(nothing));
}

} // namespace
} // namespace nanscope
