// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <zlib.h>

#include "core/report/input/reportinput.h"
#include "core/report/reportfiles.h"
#include "core/tensorfile/capture/capturefile.h"
#include "handmade.h"
#include "tests/core/session/temporaryfolder.h"

using namespace nanscope;
using testing::HasSubstr;
using testing::Not;

namespace fs = std::filesystem;

namespace {

std::size_t littleEndian(const std::string& bytes, std::size_t at, std::size_t width)
{
    std::size_t value = 0;
    for (std::size_t i = width; i-- > 0;) {
        value = value << 8U | static_cast<unsigned char>(bytes[at + i]);
    }
    return value;
}

std::string inflated(std::string bytes, std::size_t size)
{
    std::string text(size, '\0');
    z_stream stream {};
    inflateInit2(&stream, -15);
    stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(text.data());
    stream.avail_out = static_cast<uInt>(text.size());
    const auto end = inflate(&stream, Z_FINISH);
    inflateEnd(&stream);
    return end == Z_STREAM_END ? text : "does not inflate";
}

/// The files of a zip without comments, by their local headers.
std::map<std::string, std::string> unzipped(const fs::path& path)
{
    const auto zip = contentsOf(path);
    std::map<std::string, std::string> files;
    for (std::size_t at = 0; zip.compare(at, 4, "PK\x03\x04") == 0;) {
        const auto packed = littleEndian(zip, at + 18, 4);
        const auto name = zip.substr(at + 30, littleEndian(zip, at + 26, 2));
        const auto begin = at + 30 + name.size() + littleEndian(zip, at + 28, 2);
        auto bytes = zip.substr(begin, packed);
        const auto size = littleEndian(zip, at + 22, 4);
        files[name] = littleEndian(zip, at + 8, 2) == 8 ? inflated(std::move(bytes), size) : std::move(bytes);
        const auto crc = crc32(0, reinterpret_cast<const Bytef*>(files[name].data()), static_cast<uInt>(size));
        EXPECT_EQ(crc, littleEndian(zip, at + 14, 4)) << name;
        at = begin + packed;
    }
    return files;
}

class Bundle : public testing::Test
{
protected:
    /// Of a tensor with so many bytes.
    void writeCapture(std::size_t bytes)
    {
        const auto path = m_folder / "dump.pt";
        const tensorfile::TensorToWrite input {
            "input", DType::uint8, {1, static_cast<std::int64_t>(bytes)}, std::vector<std::byte>(bytes)};
        ASSERT_TRUE(tensorfile::writePt(path, {{"input", input}}));
        for (auto& capture : m_input.run.captures) {
            capture.path = path.string();
            capture.identity = tensorfile::openCapture(path)->capture.identity;
        }
    }

    std::map<std::string, std::string> zipOf(const report::BundleOptions& options)
    {
        const auto written = report::writeBundle(m_folder / "report.zip", m_input, options);
        EXPECT_TRUE(written) << (written ? "" : written.error().what);
        m_capture = written ? written->capture : report::BundledCapture::notAsked;
        return unzipped(m_folder / "report.zip");
    }

    TemporaryFolder m_folder;
    report::ReportInput m_input = handmade::reportInput();
    report::BundledCapture m_capture = report::BundledCapture::notAsked;
};

} // namespace

TEST_F(Bundle, HoldsTheReportInEveryFormWithItsPictures)
{
    const auto files = zipOf({});
    report::ReportOptions options;
    EXPECT_EQ(files.at("report.html"), report::htmlReport(m_input, options));
    EXPECT_EQ(files.at("report.json"), report::jsonReport(m_input, options));
    options.imageStem = "report";
    EXPECT_EQ(files.at("report.md"), report::markdownReport(m_input, options));
    for (const auto& image : report::reportImages(m_input, options)) {
        EXPECT_EQ(files.at(image.file), image.png);
    }
    for (const auto& [name, text] : files) {
        EXPECT_THAT(files.at("README.txt"), HasSubstr(name == "README.txt" ? "" : name + "\n"));
    }
}

TEST_F(Bundle, IsRedactedInEveryFile)
{
    for (const auto& [name, text] : zipOf({})) {
        EXPECT_THAT(text, Not(HasSubstr("alice"))) << name;
    }
    report::BundleOptions options;
    options.report.redactions = {{"gns-gram", "our-kernel", 0}};
    for (const auto& [name, text] : zipOf(options)) {
        EXPECT_THAT(text, Not(HasSubstr("gns-gram"))) << name;
    }
}

TEST_F(Bundle, HasNoCaptureUnlessAskedFor)
{
    writeCapture(1000);
    auto files = zipOf({});
    EXPECT_EQ(m_capture, report::BundledCapture::notAsked);
    EXPECT_THAT(files.at("README.txt"), HasSubstr("tensors may be private"));
    files = zipOf({{}, true});
    EXPECT_EQ(m_capture, report::BundledCapture::included);
    EXPECT_EQ(files.at(report::mainCapture(m_input)->file), contentsOf(m_folder / "dump.pt"));
    EXPECT_THAT(files.at("README.txt"), HasSubstr("Nothing in it is redacted"));
}

TEST_F(Bundle, ACaptureWhoseNameTellsSomethingIsCalledCapture)
{
    writeCapture(10);
    report::BundleOptions options {{}, true};
    const auto name = report::mainCapture(m_input)->file;
    options.report.redactions = {{name.substr(0, 6), "x", 0}};
    EXPECT_TRUE(zipOf(options).contains("capture.pt"));
}

TEST_F(Bundle, LeavesOutACaptureThatDoesNotFit)
{
    writeCapture(100'000);
    EXPECT_FALSE(zipOf({{}, true, 100'000}).contains(report::mainCapture(m_input)->file));
    EXPECT_EQ(m_capture, report::BundledCapture::tooLarge);
    EXPECT_LE(fs::file_size(m_folder / "report.zip"), 100'000U);
    fs::remove(m_folder / "dump.pt");
    EXPECT_THAT(zipOf({{}, true}).at("README.txt"), HasSubstr("could not be read"));
    EXPECT_EQ(m_capture, report::BundledCapture::notReadable);
}

TEST_F(Bundle, HoldsTheReproducerWholeOrNotAtAll)
{
    report::BundleOptions options;
    options.reproducer = {
        {{"repro.py", "print()\n"}, {"capture_min.pt", std::string(5000, 'T')}}, "repro.py\n  Runs it.\n"};
    auto files = zipOf(options);
    EXPECT_EQ(files.at("repro.py"), "print()\n");
    EXPECT_EQ(files.at("capture_min.pt"), std::string(5000, 'T'));
    EXPECT_THAT(files.at("README.txt"), HasSubstr("\nrepro.py\n  Runs it.\nThe capture is not here"));
    // Bytes that do not get shorter, more than there is room for.
    std::string noise(200'000, '\0');
    std::mt19937 random(1);
    std::generate(noise.begin(), noise.end(), [&] { return static_cast<char>(random()); });
    options.reproducer.files[1].bytes = noise;
    options.limit = 150'000;
    files = zipOf(options);
    EXPECT_FALSE(files.contains("repro.py"));
    EXPECT_FALSE(files.contains("capture_min.pt"));
    EXPECT_THAT(files.at("README.txt"), HasSubstr("repro.py is not here: with it the bundle would be larger"));
    EXPECT_THAT(files.at("report.md"), HasSubstr("repro.py is not here: with it the bundle would be larger"));
    EXPECT_THAT(files.at("report.md"), Not(HasSubstr("python repro.py")));
}

TEST_F(Bundle, EveryFaceOfTheReportNamesTheReproducer)
{
    report::BundleOptions options;
    options.reproducer = {{{"repro.py", "print()\n"}, {"expected.json", "{}"}, {"capture_min.pt", "T"}},
        "repro.py\n  Runs it.\n", 0, "A variant ends like the dump.", "A twin of it.", R"('opt:f {"steps":6}')"};
    const auto files = zipOf(options);
    for (const auto* name : {"report.md", "report.html"}) {
        const auto& text = files.at(name);
        EXPECT_THAT(text, HasSubstr("exit status is 0 if the fault is reproduced, 1 if not, 2 if it cannot run"))
            << name;
        EXPECT_THAT(text, HasSubstr("Expected is 0. A variant ends like the dump.")) << name;
        EXPECT_THAT(text, HasSubstr("With torch alone")) << name;
        EXPECT_THAT(text, HasSubstr("python repro.py --impl ")) << name;
        EXPECT_THAT(text, HasSubstr("A twin of it.")) << name;
    }
    EXPECT_THAT(files.at("report.md"), HasSubstr(R"(--impl 'opt:f {"steps":6}'   # your function)"));
    const auto json = nlohmann::json::parse(files.at("report.json"))["reproducer"];
    EXPECT_EQ(json["run"], "python repro.py");
    EXPECT_EQ(json["needs"], nlohmann::json::array({"torch"}));
    EXPECT_EQ(json["expected_status"], 0);
    EXPECT_EQ(json["statuses"]["2"], "cannot run");
    EXPECT_EQ(json["files"], nlohmann::json::array({"repro.py", "expected.json", "capture_min.pt"}));
}

TEST_F(Bundle, AReportAloneSaysHowToGetTheReproducer)
{
    EXPECT_THAT(report::markdownReport(m_input), HasSubstr("--bundle report.zip"));
    EXPECT_THAT(report::markdownReport(m_input), Not(HasSubstr("python repro.py")));
    EXPECT_EQ(nlohmann::json::parse(report::jsonReport(m_input))["reproducer"], nullptr);
    report::BundleOptions options;
    options.reproducer = {{}, "There is no repro.py: the capture is a part."};
    const auto files = zipOf(options);
    EXPECT_THAT(files.at("report.md"), HasSubstr("There is no repro.py: the capture is a part."));
    const auto json = nlohmann::json::parse(files.at("report.json"))["reproducer"];
    EXPECT_EQ(json["run"], nullptr);
    EXPECT_EQ(json["why"], "There is no repro.py: the capture is a part.");
}

TEST_F(Bundle, TheReproducerThatAReportNamesIsThatOfItsCapture)
{
    m_input.variantFiles = {"/home/me/mine.json"};
    m_input.ran = {"mine:fp16"};
    m_input.nothingElse = true;
    EXPECT_THAT(report::markdownReport(m_input),
        HasSubstr("nanscope report tile --variant-file mine.json --ran mine:fp16 --nothing-else --bundle report.zip"));
    auto other = m_input.run.captures.front();
    other.file = "second.pt";
    m_input.run.captures.push_back(other);
    auto verdict = m_input.diagnosis.captures.front();
    verdict.capture = other.file;
    m_input.diagnosis.captures.push_back(verdict);
    m_input.about = other.file;
    EXPECT_THAT(report::markdownReport(m_input),
        HasSubstr(" --capture second.pt --variant-file mine.json --ran mine:fp16 --nothing-else --bundle report.zip"));
    m_input.nothingElse = false;
    m_input.otherCode = true;
    EXPECT_THAT(report::markdownReport(m_input), HasSubstr(" --ran mine:fp16 --other-code --bundle report.zip"));
    EXPECT_EQ(nlohmann::json::parse(report::jsonReport(m_input))["about"], "second.pt");
    EXPECT_TRUE(nlohmann::json::parse(report::jsonReport(m_input))["go_on"].is_null());
    m_input.goOn = "iterate in bf16; then go on";
    EXPECT_EQ(nlohmann::json::parse(report::jsonReport(m_input))["go_on"], "iterate in bf16; then go on");
}

TEST_F(Bundle, NoReproducerIsPromisedThatCannotBe)
{
    auto& capture = m_input.run.captures.front();
    capture.input.batches.front().nan = 1;
    EXPECT_THAT(report::markdownReport(m_input), HasSubstr("--bundle report.zip --with-capture"))
        << "there is no synthetic twin of NaN";
    capture.part = "rows 0 to 3";
    EXPECT_THAT(report::markdownReport(m_input), Not(HasSubstr("repro.py")));
}

TEST_F(Bundle, LeavesOutTheJsonWhereSectionsAreLeftOut)
{
    report::BundleOptions options;
    options.report.sections.erase(report::ReportSection::console);
    const auto files = zipOf(options);
    EXPECT_FALSE(files.contains("report.json"));
    EXPECT_THAT(files.at("README.txt"), Not(HasSubstr("report.json")));
}

TEST_F(Bundle, AFolderHoldsTheSame)
{
    const auto written = report::writeBundle(m_folder / "new" / "bundle", m_input, {});
    ASSERT_TRUE(written);
    const auto files = zipOf({});
    EXPECT_EQ(written->files.size(), files.size());
    for (const auto& [name, text] : files) {
        EXPECT_EQ(contentsOf(m_folder / "new" / "bundle" / name), text);
    }
}

TEST_F(Bundle, IsItsOwnersAloneAsAZipAndUnpacked)
{
    const auto before = ::umask(0);
    EXPECT_TRUE(report::writeBundle(m_folder / "new" / "bundle", m_input, {}));
    EXPECT_TRUE(report::writeBundle(m_folder / "report.zip", m_input, {}));
    ::umask(before);
    EXPECT_EQ(fs::status(m_folder / "new").permissions(), fs::perms {0700});
    for (const auto& entry : fs::recursive_directory_iterator(m_folder.path())) {
        EXPECT_EQ(entry.status().permissions(), entry.is_directory() ? fs::perms {0700} : fs::perms {0600}) << entry;
    }
    const auto zip = contentsOf(m_folder / "report.zip");
    const auto central = littleEndian(zip, zip.rfind("PK\x05\x06") + 16, 4);
    ASSERT_EQ(zip.compare(central, 4, "PK\x01\x02"), 0);
    EXPECT_EQ(littleEndian(zip, central + 5, 1), 3U) << "made on a Unix";
    EXPECT_EQ(littleEndian(zip, central + 40, 2), 0100600U);
}

TEST_F(Bundle, ACaptureWhoseEndingSteersATerminalGetsAPlainOne)
{
    writeCapture(100);
    const auto old = report::mainCapture(m_input)->file;
    const std::string hostile = "a.p\x1b[2J\u202Et";
    for (auto& capture : m_input.run.captures) {
        capture.file = capture.file == old ? hostile : capture.file;
    }
    for (auto& verdict : m_input.diagnosis.captures) {
        verdict.capture = verdict.capture == old ? hostile : verdict.capture;
    }
    EXPECT_TRUE(zipOf({{}, true}).contains("capture.pt"));
}

TEST_F(Bundle, WhatCannotBeWrittenIsOneSentenceAndLeavesNothing)
{
    const auto nowhere = report::writeBundle(m_folder / "missing" / "report.zip", m_input, {});
    ASSERT_FALSE(nowhere);
    EXPECT_THAT(sentence(nowhere.error()), HasSubstr("report.zip"));
    EXPECT_FALSE(report::writeBundle(m_folder / "report.zip", m_input, {{}, false, 100}));
    EXPECT_TRUE(fs::is_empty(m_folder.path()));
}

TEST(ReportFiles, TheEndingOfTheNameIsTheFormat)
{
    EXPECT_EQ(report::reportFormatOf("a/b.html"), report::ReportFormat::html);
    EXPECT_EQ(report::reportFormatOf("b.markdown"), report::ReportFormat::markdown);
    EXPECT_EQ(report::reportFormatOf("b.json"), report::ReportFormat::json);
    EXPECT_EQ(report::reportFormatOf("b.zip"), std::nullopt);
}

TEST(ReportFiles, PicturesAreNamedAfterTheMarkdown)
{
    const auto files = report::reportFiles(handmade::reportInput(), {}, report::ReportFormat::markdown, "bug.md");
    ASSERT_GT(files.size(), 1U);
    for (std::size_t i = 1; i < files.size(); ++i) {
        EXPECT_THAT(files[i].name, testing::StartsWith("bug-"));
        EXPECT_THAT(files[0].bytes, HasSubstr("(" + files[i].name + ")"));
    }
    report::ReportOptions plain;
    plain.figures = false;
    EXPECT_EQ(report::reportFiles(handmade::reportInput(), plain, report::ReportFormat::markdown, "bug.md").size(), 1U);
}

TEST(ReportInput, MayBeAboutAnotherCaptureThanTheFirstBirth)
{
    auto input = handmade::reportInput();
    const auto first = report::mainVerdict(input)->capture;
    auto other = input.diagnosis.captures.front();
    other.capture = "other.pt";
    input.diagnosis.captures.push_back(other);
    input.about = "other.pt";
    EXPECT_EQ(report::mainVerdict(input)->capture, "other.pt");
    input.about = "unknown.pt";
    EXPECT_EQ(report::mainVerdict(input)->capture, first);
}
