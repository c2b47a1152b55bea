// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/tensorfile/capture/capturefile.h"
#include "core/tensorfile/scan/scantensor.h"
#include "fixtures.h"

namespace nanscope {

using namespace fixtures;
using testing::HasSubstr;

namespace {

class HostileTest : public testing::Test
{
protected:
    Result<tensorfile::TensorFile> open(const std::string& bytes)
    {
        return tensorfile::openTensorFile(folder.write("x.pt", bytes));
    }

    /// The file is refused with one sentence that holds `words` and names the file last.
    void expectRefused(const std::string& bytes, const std::string& words)
    {
        const auto file = open(bytes);
        ASSERT_FALSE(file) << words;
        const auto text = sentence(file.error());
        EXPECT_THAT(text, HasSubstr(words));
        EXPECT_TRUE(text.ends_with("/x.pt")) << text;
        EXPECT_EQ(text.find('\n'), std::string::npos);
    }

    void expectPickleRefused(const std::string& body, const std::string& words)
    {
        expectRefused(torchFile(pickle(body), {bytesOf(smallInput())}), words);
    }

    void expectTensorRefused(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& strides,
        std::int64_t offset, const std::string& words)
    {
        expectPickleRefused(tensor("FloatStorage", "0", 24, shape, strides, offset), words);
    }

    TemporaryFolder folder;
};

std::string repeat(const std::string& text, std::size_t times)
{
    std::string out;
    for (std::size_t i = 0; i < times; ++i) {
        out += text;
    }
    return out;
}

/// Bytes of heap and mappings this process may add before an allocation fails, for as long as it lives.
class MemoryLimit
{
public:
    explicit MemoryLimit(std::size_t extra)
    {
        ::getrlimit(RLIMIT_AS, &m_before);
        std::size_t pages = 0;
        std::ifstream("/proc/self/statm") >> pages;
        auto limit = m_before;
        limit.rlim_cur = pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) + extra;
        ::setrlimit(RLIMIT_AS, &limit);
    }
    ~MemoryLimit() { ::setrlimit(RLIMIT_AS, &m_before); }
    MemoryLimit(const MemoryLimit&) = delete;
    MemoryLimit& operator=(const MemoryLimit&) = delete;

private:
    rlimit m_before {};
};

} // namespace

TEST_F(HostileTest, EmptyMissingAndForeignFilesGetASentence)
{
    expectRefused("", "is empty");
    expectRefused("hello, I am not a tensor file at all", "no file of torch.save");
    expectRefused(std::string(5000, '\0'), "disk was full");
    expectRefused("PK", "cut off");
    EXPECT_THAT(
        sentence(tensorfile::openTensorFile(folder.path() / "none.pt").error()), HasSubstr("there is no such file"));
}

TEST_F(HostileTest, FoldersPipesAndLoopsGetASentence)
{
    std::filesystem::create_directory(folder.path() / "folder.pt");
    EXPECT_THAT(sentence(tensorfile::openTensorFile(folder.path() / "folder.pt").error()),
        HasSubstr("is a folder, not a file"));
    std::filesystem::create_symlink("loop.pt", folder.path() / "loop.pt");
    EXPECT_THAT(sentence(tensorfile::openTensorFile(folder.path() / "loop.pt").error()), HasSubstr("form a loop"));
    ASSERT_EQ(::mkfifo((folder.path() / "pipe.pt").c_str(), 0600), 0);
    EXPECT_THAT(sentence(tensorfile::openTensorFile(folder.path() / "pipe.pt").error()), HasSubstr("pipe"));
}

TEST_F(HostileTest, NoPermissionGetsASentence)
{
    if (::geteuid() == 0) {
        GTEST_SKIP() << "root may read everything";
    }
    const auto path = folder.write("x.pt", smallCapture());
    std::filesystem::permissions(path, std::filesystem::perms::none);
    EXPECT_THAT(sentence(tensorfile::openTensorFile(path).error()), HasSubstr("permission is denied"));
}

TEST_F(HostileTest, TarFilesOfOldTorchAreRecognised)
{
    auto tar = std::string(512, '\0');
    tar.replace(0, 8, "storages");
    tar.replace(257, 5, "ustar");
    expectRefused(tar, "old format");
}

TEST_F(HostileTest, NamesThatRepeatOrLeaveTheArchiveAreRefused)
{
    const auto body = pickle("N");
    expectRefused(zip({{"a/data.pkl", body}, {"a/data.pkl", body}}), "same name");
    for (const char* name : {"../data/0", "a/../../x", "/etc/passwd", "a\\..\\b", "C:x"}) {
        expectRefused(zip({{"a/data.pkl", body}, {name, "x"}}), "leads out of the archive");
    }
    expectRefused(zip({{"a/data.pkl", body}, {std::string("a/d\0x", 5), "x"}}), "leads out of the archive");
    expectRefused(zip({{"a/data.pkl", body}, {"b/data.pkl", body}}), "two of torch's archives");
    expectRefused(zip({{"a/else", body}}), "no data.pkl");
}

TEST_F(HostileTest, CompressedAndEncryptedEntriesAreRefusedUnread)
{
    expectRefused(zip({{"a/data.pkl", "\x4b\x04", 8}}), "compressed");
    Entry bomb {"a/data/0", std::string(100, 'z'), 8};
    bomb.statedSize = std::uint64_t {1} << 31;
    expectRefused(zip({{"a/data.pkl", pickle("N")}, bomb}), "compressed");
    expectRefused(zip({{"a/data.pkl", pickle("N"), 0, 1}}), "encrypted");
}

TEST_F(HostileTest, EntriesThatOverlapOrLeaveTheFileAreRefused)
{
    Entry first {"a/data.pkl", pickle("N")};
    Entry second {"a/data/0", std::string(64, 'x')};
    second.statedOffset = 10;
    expectRefused(zip({first, second}), "share the same bytes");
    second.statedOffset = 0;
    expectRefused(zip({first, second}), "share the same bytes");
    second.statedOffset = 0xfffffff0;
    expectRefused(zip({first, second}), "outside the file");
    second.statedOffset.reset();
    second.statedSize = 0x7fffffff;
    expectRefused(zip({first, second}), "outside the file");
    second.statedSize = ~std::uint64_t {0};
    expectRefused(zip({first, second}, {true, false, ""}), "outside the file");
}

TEST_F(HostileTest, AHeaderThatContradictsTheDirectoryIsRefused)
{
    Entry entry {"a/data.pkl", pickle("N")};
    entry.localName = "a/data.pkx";
    expectRefused(zip({entry}), "contradicts");
    entry.localName = "a/data.pkl.longer";
    expectRefused(zip({entry}), "contradicts");
    for (const std::size_t field : {4U + 4U, 6U, 14U, 22U}) { // method, flags, checksum, size
        auto bytes = zip({{"a/data.pkl", pickle("N")}});
        bytes[field] = static_cast<char>(bytes[field] ^ 4);
        expectRefused(bytes, "contradicts");
    }
}

TEST_F(HostileTest, AWrongChecksumIsFoundInHeadersAtOnceAndInTensorsWhenScanned)
{
    expectRefused(zip({{"a/data.pkl", pickle("N"), 0, 0, 1U}}), "checksum");
    const auto body = pickle(dict({{"input", tensor("FloatStorage", "0", 24, {6, 4}, {4, 1})}}));
    const auto path =
        folder.write("x.pt", zip({{"a/data.pkl", body}, {"a/data/0", bytesOf(smallInput()), 0, 0, 0x1234U}}));
    auto capture = tensorfile::openCapture(path);
    ASSERT_TRUE(capture);
    const auto scanned = tensorfile::scanCapture(*capture);
    ASSERT_FALSE(scanned);
    EXPECT_THAT(sentence(scanned.error()), HasSubstr("checksum"));
    EXPECT_TRUE(capture->capture.input.batches.empty());
}

TEST_F(HostileTest, AbsurdShapesStridesAndOffsetsAreRefused)
{
    constexpr auto huge = std::int64_t {1} << 62;
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    expectTensorRefused({25}, {1}, 0, "beyond the end");
    expectTensorRefused({24}, {1}, 1, "beyond the end");
    expectTensorRefused({6, 4}, {-4, 1}, 23, "negative stride");
    expectTensorRefused({6, 4}, {4, 1}, -1, "negative stride or offset");
    expectTensorRefused({-6, 4}, {4, 1}, 0, "negative size");
    expectTensorRefused({huge, huge}, {0, 0}, 0, "can be counted");
    expectTensorRefused({huge, huge, 0}, {0, 0, 1}, 0, "can be counted");
    expectTensorRefused({2, 2}, {huge, huge}, huge, "beyond the end");
    expectTensorRefused({3}, {most}, 0, "beyond the end");
    expectTensorRefused({2}, {1}, most, "beyond the end");
    expectTensorRefused({1 << 20, 1 << 20}, {0, 0}, 0, "repeats");
    expectTensorRefused({6, 4}, {4}, 0, "do not fit together");
    expectPickleRefused(tensor("FloatStorage", "0", 25, {6, 4}, {4, 1}), "fewer bytes");
    expectPickleRefused(tensor("FloatStorage", "0", -1, {6, 4}, {4, 1}), "fewer bytes");
    expectPickleRefused(tensor("FloatStorage", "7", 24, {6, 4}, {4, 1}), "missing");
}

TEST_F(HostileTest, ByteOrdersThatDoNotExistAreRefused)
{
    expectRefused(zip({{"a/data.pkl", pickle("N")}, {"a/byteorder", "middle"}}), "neither little nor big");
}

TEST_F(HostileTest, NoSpellingOfACallRunsAndTheTensorBesideItLoads)
{
    const auto marker = folder.path() / "executed";
    const auto command = text("touch " + marker.string());
    const auto arguments = "(" + command + "t";
    const std::vector<std::string> spellings {
        global("os", "system") + arguments + "R",
        global("posix", "system") + arguments + "R",
        global("builtins", "eval") + arguments + "R",
        global("subprocess", "Popen") + arguments + "R",
        global("torch", "os.system") + arguments + "R",
        global("torch._utils", std::string("_rebuild_tensor_v2\0", 19)) + arguments + "R",
        text("os") + text("system") + "\x93" + arguments + "R",
        "\x8c\x02os\x8c\x06system\x93" + arguments + "R",
        "(" + command + "ios\nsystem\n",
        "(" + global("os", "system") + command + "o",
        global("os", "system") + arguments + "\x81",
        global("os", "system") + arguments + "}\x92",
        global("builtins", "getattr") + "(" + global("os", "__dict__") + text("system") + "tR" + arguments + "R",
        global("collections", "OrderedDict") + ")R" + "}(" + text("__class__") + global("os", "system") + "ub",
        "\x82\x05" + arguments + "R",
        "Pos.system\n",
        text("x") + "Q",
    };
    for (const auto& spelling : spellings) {
        const auto body = dict({{"bad", spelling}, {"input", tensor("FloatStorage", "0", 24, {6, 4}, {4, 1})}});
        const auto file = open(torchFile(pickle(body), {bytesOf(smallInput())}));
        ASSERT_TRUE(file) << spelling << sentence(file.error());
        ASSERT_NE(file->root.find("input"), nullptr);
        EXPECT_NE(file->root.find("input")->tensor(), nullptr) << spelling;
        EXPECT_FALSE(file->opaque.empty()) << spelling;
    }
    EXPECT_FALSE(std::filesystem::exists(marker));
}

TEST_F(HostileTest, StateGivenToAnOpaqueObjectIsDropped)
{
    const auto body = dict({{"bad", global("evil", "Class") + ")\x81" + "}(" + text("a") + integer(1) + "ub"},
        {"appended", global("evil", "List") + ")R(" + integer(1) + "e"},
        {"set", global("evil", "Map") + ")R" + text("k") + integer(2) + "s"}});
    const auto file = open(torchFile(pickle(body), {}));
    ASSERT_TRUE(file) << sentence(file.error());
    EXPECT_EQ(std::get<tensorfile::OpaqueObject>(file->root.find("bad")->value).name, "evil Class");
    EXPECT_EQ(file->opaque, (std::vector<std::string> {"evil Class", "evil List", "evil Map"}));
}

TEST_F(HostileTest, PicklesThatClaimMoreThanTheyHoldAreRefused)
{
    expectPickleRefused("X\xff\xff\xff\xff", "more bytes than it has");
    expectPickleRefused("\x8d" + little(~std::uint64_t {0}, 8), "more bytes than it has");
    expectPickleRefused("\x96" + little(std::uint64_t {1} << 62, 8), "more bytes than it has");
    expectPickleRefused("\x8b\xff\xff\xff\x7f", "more bytes than it has");
    expectPickleRefused("\x8b\xff\xff\xff\xff", "more bytes than it has");
    expectPickleRefused("Nr\xff\xff\xff\xff", "more memory than its size");
    expectPickleRefused("Np99999999999\n", "more memory than its size");
    expectPickleRefused("h\x05", "did not make");
    expectPickleRefused("0", "more objects than it made");
    expectPickleRefused("t", "more objects than it made");
    expectPickleRefused("N(\x85", "it made");
    expectPickleRefused("\xff", "instruction that does not exist");
    expectPickleRefused("I12x\n", "not one");
    expectPickleRefused("(NNNd", "key without a value");
    expectRefused(torchFile("\x80\x02}", {}), "no end");
    expectRefused(torchFile("\x80\x09N.", {}), "protocol newer");
    expectRefused(torchFile("", {}), "no end");
}

TEST_F(HostileTest, BigNumbersBecomeOpaque)
{
    const auto file = open(torchFile(pickle(dict({{"long", "\x8a\x0a" + std::string(10, '\x7f')},
                                         {"text", "L123456789012345678901234567890L\n"}, {"minus", "\x8a\x01\xff"}})),
        {}));
    ASSERT_TRUE(file) << sentence(file.error());
    EXPECT_TRUE(std::holds_alternative<tensorfile::OpaqueObject>(file->root.find("long")->value));
    EXPECT_TRUE(std::holds_alternative<tensorfile::OpaqueObject>(file->root.find("text")->value));
    EXPECT_EQ(std::get<std::int64_t>(file->root.find("minus")->value), -1);
}

TEST_F(HostileTest, DeepNestingAndSelfReferenceAreRefusedWithoutRecursion)
{
    expectPickleRefused(
        repeat("]", 50) + repeat("a", 49) + "0" + repeat("(", 200000) + repeat("t", 200000), "100 deep");
    expectPickleRefused("]q\x01h\x01"
                        "a",
        "contains itself");
    expectPickleRefused("}q\x01" + text("k") + "h\x01s", "contains itself");
    expectPickleRefused("]q\x01"
                        "(h\x01h\x01h\x01"
                        "e",
        "contains itself");
}

TEST_F(HostileTest, BombsAreRefusedWithinTheirMemory)
{
    const MemoryLimit limit(std::size_t {256} << 20);
    // Each level holds the one before it ten times.
    auto laughs = std::string("]q\0", 3) + text("lol") + "a0";
    for (int level = 1; level < 60; ++level) {
        laughs += "](" + repeat("h" + std::string(1, static_cast<char>(level - 1)), 10) + "eq"
            + std::string(1, static_cast<char>(level)) + "0";
    }
    expectPickleRefused(laughs + "h" + std::string(1, '\x3b'), "unfolds to many times");
    const auto longText = text(std::string(1 << 20, 'x'))
        + "q\x01"
          "0]("
        + repeat("h\x01", 100000) + "e";
    expectPickleRefused(longText, "unfolds to many times");
    expectPickleRefused("(" + repeat("]", 3000000) + "t", "unfolds to many times");
    const auto pairs = "(" + repeat("N", 20000)
        + "tq\x01"
          "0";
    const auto ordered = global("collections", "OrderedDict")
        + "q\x02"
          "0";
    expectPickleRefused(pairs + ordered + "(" + repeat("h\x02h\x01\x85R", 2000) + "t", "not made of pairs");
    const auto dictOnce = "}(" + repeat("NN", 10000)
        + "uq\x01"
          "0";
    expectPickleRefused(dictOnce + ordered + "(" + repeat("h\x02h\x01\x85R", 2000) + "t", "more objects than its size");
}

TEST_F(HostileTest, ManyPerfectlySmallMatricesAreRefusedBeforeTheyCostMemory)
{
    const std::int64_t count = 100000;
    const auto body = pickle(tensor("ByteStorage", "0", count, {count, 1, 1}, {1, 1, 1}));
    const auto file = open(torchFile(body, {std::string(static_cast<std::size_t>(count), 'x')}));
    ASSERT_TRUE(file) << sentence(file.error());
    const auto scanned = tensorfile::scanTensor(*file->root.tensor());
    ASSERT_FALSE(scanned);
    EXPECT_EQ(scanned.error().kind, ErrorKind::refused);
}

} // namespace nanscope
