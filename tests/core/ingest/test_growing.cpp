// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// A log read in pieces, at any cut, gives what it gives when it is read at once.
#include <algorithm>
#include <set>

#include <gmock/gmock.h>

#include "core/ingest/logscanner.h"
#include "logfolder.h"

namespace nanscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Growing : public LogFolder
{
protected:
    /// Every point and event as a text of its own that begins with its line number, in order.
    static std::multiset<std::string> flat(const ingest::LogContents& contents)
    {
        std::multiset<std::string> all;
        for (const auto& series : contents.series) {
            for (const auto& point : series.points) {
                all.insert(std::to_string(point.line) + " " + series.name + "/" + std::to_string(series.segment) + "@"
                    + std::to_string(point.step) + "=" + std::to_string(point.value));
            }
        }
        for (const auto& event : contents.events) {
            all.insert(std::to_string(event.line) + " " + std::string(name(event.kind)) + " " + event.text);
        }
        return all;
    }

    static std::multiset<std::string> without(std::multiset<std::string> all, std::int64_t line)
    {
        std::erase_if(all, [&](const std::string& one) { return one.starts_with(std::to_string(line) + " "); });
        return all;
    }
};

const std::string console = "Step 0: train_loss=1.0000, grad_norm=2.0000\n"
                            "Step 1: train_loss=nan, grad_norm=2.5000\n"
                            "NVRM: Xid 79\n"
                            "Step 0: train_loss=1.5000, grad_norm=2.0000\n"
                            "step:5/10 val_loss:3.5000 train_time:10ms\n";

TEST_F(Growing, AnyCutOfAConsoleLosesAndRepeatsNothingOfTheOtherLines)
{
    const auto whole = flat(read("whole.log", console));
    for (std::size_t cut = 1; cut < console.size(); ++cut) {
        const auto path = m_folder.write("grow.log", console.substr(0, cut));
        const auto first = ingest::readLog(path, "grow.log");
        ASSERT_TRUE(first);
        m_folder.write("grow.log", console);
        auto scanner = ingest::LogScanner::open(path, "grow.log", first->bytes, first->lines, first->series);
        ASSERT_TRUE(scanner);
        const auto second = scanner->next(1'000'000, {});
        auto both = flat(*first);
        both.merge(flat(second));
        // A last line without its break is believed where it looks complete; what follows in it is then passed over.
        const auto cutLine = 1 + std::count(console.begin(), console.begin() + static_cast<std::ptrdiff_t>(cut), '\n');
        const bool tailTaken = first->bytes == static_cast<std::int64_t>(cut) && console[cut - 1] != '\n';
        EXPECT_EQ(without(both, tailTaken ? cutLine : 0), without(whole, tailTaken ? cutLine : 0)) << "cut at " << cut;
        EXPECT_EQ(second.lines, 5) << "cut at " << cut;
        EXPECT_EQ(second.bytes, static_cast<std::int64_t>(console.size()));
    }
}

TEST_F(Growing, PiecesOfAnySizeGiveTheWhole)
{
    const auto path = m_folder.write("a.log", console);
    const auto whole = flat(read("a.log", console));
    for (const std::size_t most : {1, 2, 3, 1000}) {
        auto scanner = ingest::LogScanner::open(path, "a.log");
        ASSERT_TRUE(scanner);
        std::multiset<std::string> all;
        std::int64_t bytes = 0;
        while (!scanner->finished()) {
            const auto piece = scanner->next(most, {});
            EXPECT_GE(piece.bytes, bytes);
            bytes = piece.bytes;
            all.merge(flat(piece));
        }
        EXPECT_EQ(all, whole) << most;
    }
}

TEST_F(Growing, SegmentsGoOnBehindWhatIsStored)
{
    const auto path = m_folder.write("a.log", "Step 0: train_loss=1.0000\nStep 5: train_loss=1.0000\n");
    const auto first = ingest::readLog(path, "a.log");
    ASSERT_TRUE(first);
    m_folder.write("a.log", "Step 2: train_loss=2.0000\nStep 3: train_loss=3.0000\n", true);
    auto scanner = ingest::LogScanner::open(path, "a.log", first->bytes, first->lines, first->series);
    ASSERT_TRUE(scanner);
    const auto second = scanner->next(1000, {});
    EXPECT_THAT(steps(find(second, "loss", {}, 1)), ElementsAre(2, 3));
    EXPECT_EQ(find(second, "loss", {}, 1).points[0].line, 3);
}

TEST_F(Growing, CountedRowsGoOnCounting)
{
    const auto path = m_folder.write("a.jsonl", "{\"loss\":3}\n{\"loss\":2}\n");
    const auto first = ingest::readLog(path, "a.jsonl");
    ASSERT_TRUE(first);
    m_folder.write("a.jsonl", "{\"loss\":1}\n", true);
    auto scanner = ingest::LogScanner::open(path, "a.jsonl", first->bytes, first->lines, first->series);
    ASSERT_TRUE(scanner);
    EXPECT_THAT(steps(find(scanner->next(1000, {}), "loss")), ElementsAre(2));
}

TEST_F(Growing, CancelStopsALongLogAndKeepsItsPlace)
{
    std::string text;
    for (int i = 0; i < 20'000; ++i) {
        text += "Step " + std::to_string(i) + ": train_loss=1.0000\n";
    }
    auto scanner = ingest::LogScanner::open(m_folder.write("a.log", text), "a.log");
    ASSERT_TRUE(scanner);
    CancelToken cancel;
    cancel.cancel();
    EXPECT_EQ(scanner->next(1'000'000, cancel).lines, 0);
    EXPECT_FALSE(scanner->finished());
    const auto rest = scanner->next(1'000'000, {});
    EXPECT_TRUE(scanner->finished());
    EXPECT_THAT(steps(find(rest, "loss")), testing::SizeIs(20'000));
}

TEST_F(Growing, BinaryFilesAreNoLogsWhateverTheirName)
{
    std::string binary;
    for (int i = 0; i < 4096; ++i) {
        binary += static_cast<char>(i % 7 + 1);
    }
    binary += "\nStep 0: train_loss=1.0000\n";
    const auto log = read("console", binary);
    EXPECT_THAT(log.series, IsEmpty());
    EXPECT_EQ(log.format, "");
    const auto named = ingest::readLog(m_folder.write("console.log", binary), "console.log");
    ASSERT_FALSE(named);
    EXPECT_EQ(named.error().kind, ErrorKind::unsupported);
    EXPECT_THAT(named.error().what, HasSubstr("not text"));
}

TEST_F(Growing, Utf16IsRefusedWithAdviceWithAndWithoutItsMark)
{
    const auto wide = [](const std::string& text, bool big) {
        std::string bytes;
        for (const char c : text) {
            bytes += big ? std::string(1, '\0') + c : c + std::string(1, '\0');
        }
        return bytes;
    };
    const std::string text = "Step 0: train_loss=1.0000\n";
    for (const auto& bytes :
        {"\xff\xfe" + wide(text, false), "\xfe\xff" + wide(text, true), wide(text, false), wide(text, true)}) {
        const auto refused = ingest::readLog(m_folder.write("a.log", bytes), "a.log");
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().kind, ErrorKind::unsupported);
        EXPECT_THAT(refused.error().what, HasSubstr("UTF-8"));
    }
}

TEST_F(Growing, ALogCutInPlaceBeginsWithAHoleOfZeros)
{
    const auto log = read("a.log", std::string(1'000'000, '\0') + "Step 7: train_loss=1.0000\n");
    EXPECT_THAT(steps(find(log, "loss")), ElementsAre(7));
}

TEST_F(Growing, AThousandNamesAreEnoughAndTheRestIsSaid)
{
    std::string line = "{\"step\":1";
    for (int i = 0; i < 1100; ++i) {
        line += ",\"v" + std::to_string(i) + "\":" + std::to_string(i);
    }
    const auto log = read("a.jsonl", line + "}\n");
    EXPECT_THAT(log.series, testing::SizeIs(1000));
    ASSERT_THAT(log.events, testing::SizeIs(1));
    EXPECT_THAT(log.events[0].text, HasSubstr("more than 1000 different values"));
}

TEST_F(Growing, StepsThatNeverStopFallingAreCountedAndKept)
{
    std::string text;
    for (int i = 3000; i > 0; --i) {
        text += "{\"step\":" + std::to_string(i) + ",\"loss\":1}\n";
    }
    const auto log = read("a.jsonl", text);
    int last = 0;
    std::int64_t losses = 0;
    std::vector<double> given;
    for (const auto& series : log.series) {
        last = std::max(last, series.segment);
        losses += series.name == "loss" ? series.pointCount : 0;
        if (series.name == "step") {
            given = values(series);
        }
    }
    EXPECT_EQ(last, 1000);
    EXPECT_EQ(losses, 3000) << "no point is lost";
    EXPECT_THAT(given, testing::SizeIs(testing::Ge(1999U)));
    EXPECT_EQ(given.back(), 1) << "what the log calls its step is kept as a value";
    ASSERT_THAT(log.events, testing::SizeIs(1));
    EXPECT_THAT(log.events[0].text, HasSubstr("went back 1000 times"));
}

} // namespace
} // namespace nanscope
