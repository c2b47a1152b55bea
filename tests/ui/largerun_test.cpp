// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// More than anybody expects: ten thousand captures of 512 ranks, a matrix larger than the memory.
#include <array>
#include <cstring>
#include <fstream>

#include <nlohmann/json.hpp>

#include <QAction>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTableView>

#include "core/model/verdict.h"
#include "core/session/session.h"
#include "tests/ui/openwindow.h"
#include "ui/captures/capturemodel.h"
#include "ui/captures/capturespane.h"
#include "ui/faulttree/faulttreepane.h"
#include "ui/findings/findingspane.h"
#include "ui/heatmap/heatmap.h"
#include "ui/jobs/readrun.h"
#include "ui/rollback/rollbackpane.h"
#include "ui/tensors/tensorspane.h"
#include "ui/verdict/verdictpane.h"

namespace nanscope {

namespace {

namespace fs = std::filesystem;

constexpr std::array<char, 2> nanBits {'\xc0', '\x7f'};
constexpr std::array<char, 2> oneBits {'\x80', '\x3f'};

/// A capture of zeros in bf16, all hole but for the header and what is put into it.
class SparseCapture
{
public:
    SparseCapture(const fs::path& folder, int rank, std::int64_t number, std::int64_t size)
        : m_bytes(2 * size * size)
    {
        const std::string shape = std::to_string(size) + "x" + std::to_string(size);
        const fs::path path = folder
            / ("dion_nan_capture_rank" + std::to_string(rank) + "_shape1x" + shape + "_pid1_"
                + std::to_string(1792231455000 + number) + ".safetensors");
        m_file.open(path, std::ios::binary);
        std::string header = tensor("input", size, 0) + ", " + tensor("output", size, m_bytes);
        header = "{" + header + "}";
        header.resize((header.size() + 7) / 8 * 8, ' ');
        const std::uint64_t length = header.size();
        m_file.write(reinterpret_cast<const char*>(&length), sizeof(length));
        m_file << header;
        m_begin = m_file.tellp();
        put(2 * m_bytes - 2, {0, 0});
    }

    void put(std::int64_t at, const std::array<char, 2>& bits)
    {
        m_file.seekp(m_begin + at);
        m_file.write(bits.data(), bits.size());
    }

    std::int64_t outputBegin() const { return m_bytes; }

private:
    static std::string tensor(const char* name, std::int64_t size, std::int64_t begin)
    {
        const std::string extent = std::to_string(size);
        return "\"" + std::string(name) + R"(": {"dtype": "BF16", "shape": [1, )" + extent + ", " + extent
            + "], \"data_offsets\": [" + std::to_string(begin) + ", " + std::to_string(begin + 2 * size * size) + "]}";
    }

    std::ofstream m_file;
    std::int64_t m_bytes;
    std::streamoff m_begin = 0;
};

class LargeRun : public test::OpenWindow
{ };

} // namespace

TEST_F(LargeRun, TenThousandCapturesOf512Ranks)
{
    constexpr int captures = 10000;
    const fs::path run = folder / "run";
    fs::create_directory(run);
    for (int i = 0; i < captures; ++i) {
        SparseCapture capture(run, i % 512, i, 8);
        // Identities of .safetensors are their contents.
        for (int bit = 0; bit < 14; ++bit) {
            capture.put(2 * bit + 2, (i >> bit & 1) != 0 ? oneBits : std::array<char, 2> {0, 0x3f});
        }
        capture.put(i == 0 ? capture.outputBegin() : 0, nanBits);
        capture.put(capture.outputBegin() + 2, nanBits);
    }
    start({});
    ASSERT_TRUE(open(run));
    QTableView* list = window->panes().captures->view();
    ASSERT_EQ(list->model()->rowCount(), captures);
    EXPECT_EQ(window->workspace().capture()->rank, 0);
    for (int i = 0; i < 200; ++i) {
        QTest::keyClick(list, Qt::Key_Down);
    }
    ASSERT_TRUE(settle());
    EXPECT_EQ(list->currentIndex().row(), 200);
    ASSERT_NE(window->panes().tensors->outputMap()->picture(), nullptr) << "of the last one";
    auto* box = window->panes().captures->findChild<QLineEdit*>();
    ASSERT_NE(box, nullptr);
    box->setText(QStringLiteral("rank:511"));
    EXPECT_TRUE(waitUntil([&] { return list->model()->rowCount() == captures / 512; }));
    box->clear();
    EXPECT_TRUE(waitUntil([&] { return list->model()->rowCount() == captures; }));
    EXPECT_FALSE(window->grab().isNull());
}

TEST_F(LargeRun, AnswersAreWeighedBesideTheWindow)
{
    const fs::path run = copySample();
    constexpr int later = 900'000;
    for (int i = 0; i < 250; ++i) {
        SparseCapture capture(run / "dion_nan_captures", 1, later + i, 8);
        capture.put(2 * i % 64, nanBits);
        capture.put(2 * (i / 32), oneBits);
        capture.put(capture.outputBegin(), nanBits);
    }
    start({});
    ASSERT_TRUE(open(run));
    Workspace& workspace = window->workspace();
    const auto& captures = workspace.loaded().run->captures;
    ASSERT_GT(captures.size(), 200U);
    const auto& judged = workspace.loaded().known()->captures;
    const auto accused = std::ranges::find(judged, Blame::implementation, &CaptureVerdict::blame);
    ASSERT_NE(accused, judged.end());
    const auto of = std::ranges::find(captures, accused->capture, &Capture::file);
    window->panes().captures->selectCapture(static_cast<int>(of - captures.begin()));
    const auto shown = [&] {
        const QModelIndex row = window->panes().captures->view()->currentIndex();
        return row.siblingAtColumn(CaptureModel::VerdictColumn).data().toString();
    };
    ASSERT_EQ(shown(), QStringLiteral("implementation"));
    Observations observed;
    observed.called = {{of->file, 0, 10}};
    workspace.setObserved(observed);
    EXPECT_EQ(shown(), QStringLiteral("implementation")) << "the window does not wait for it";
    EXPECT_TRUE(waitUntil([&] { return shown() != QStringLiteral("implementation"); }));
    workspace.undoAnswer();
    EXPECT_TRUE(waitUntil([&] { return shown() == QStringLiteral("implementation"); }));
}

TEST_F(LargeRun, VerdictsArriveWhileOthersAreBeingReached)
{
    const fs::path run = folder / "run";
    fs::create_directory(run);
    constexpr int captures = 2;
    for (int i = 0; i < captures; ++i) {
        constexpr std::int64_t size = 768;
        SparseCapture capture(run, i, i, size);
        for (std::int64_t bit = 0; bit < size; ++bit) {
            capture.put(2 * (bit * size + (bit * (3 + 2 * i)) % size), oneBits);
        }
        for (std::int64_t at = 0; at < size * size; ++at) {
            capture.put(capture.outputBegin() + 2 * at, nanBits);
        }
    }
    start({});
    QString beforeReplays;
    int arrivals = 0;
    QObject::connect(&window->workspace(), &Workspace::verdictsArrived, window.get(), [&](bool ofSelected) {
        ++arrivals;
        const CaptureVerdict* verdict = window->workspace().verdict();
        if (ofSelected && verdict && verdict->summary.empty()) {
            beforeReplays = window->panes().verdict->headline();
            EXPECT_EQ(verdict->facts.damage.shape, DamageShape::wholeElement);
        }
    });
    ASSERT_TRUE(open(run));
    EXPECT_GE(arrivals, 1);
    EXPECT_EQ(beforeReplays, QStringLiteral("Judging…"));
    EXPECT_NE(window->workspace().verdict()->rule, RuleId::unjudged);
}

TEST_F(LargeRun, MatrixLargerThanTheMemoryIsShownAndNotReplayed)
{
    const fs::path run = folder / "run";
    fs::create_directory(run);
    {
        SparseCapture capture(run, 0, 0, 30000);
        for (int i = 0; i < 30000; ++i) {
            capture.put(2 * i, oneBits);
        }
        capture.put(capture.outputBegin() + 2 * 30000, nanBits);
    }
    start();
    ASSERT_TRUE(open(run));
    const MatrixPicture* output = window->panes().tensors->outputMap()->picture();
    ASSERT_NE(output, nullptr);
    EXPECT_EQ(output->scan.nan, 1);
    const CaptureVerdict* verdict = window->workspace().verdict();
    ASSERT_NE(verdict, nullptr);
    EXPECT_NE(verdict->summary.find("could not be judged"), std::string::npos);
    EXPECT_NE(verdict->summary.find("30000 × 30000"), std::string::npos) << verdict->summary;
    EXPECT_EQ(verdict->facts.damage.rowBegin, 1);
    // Another run is open at once, whatever was still being read.
    ASSERT_TRUE(open(copySample()));
    EXPECT_EQ(window->workspace().loaded().run->captures.size(), 10U);
}

TEST_F(LargeRun, WhatOnlyTheNewestPointsWereJudgedByIsStillSaidWhenOpenedAgain)
{
    const fs::path sample = copySample();
    {
        auto session = session::Session::open(sample / "sample.nanscope", session::OpenMode::readWrite);
        ASSERT_TRUE(session);
        auto json = nlohmann::ordered_json::parse(*session->diagnosis());
        json["judged_from"]["newest_points"] = 250'000;
        ASSERT_TRUE(session->setDiagnosis(json.dump()));
    }
    start({});
    ASSERT_TRUE(open(sample));
    EXPECT_TRUE(window->panes().findings->newestLabel()->text().contains(countLabel(250'000)));
    EXPECT_EQ(window->panes().rollback->newestLabel()->text(), window->panes().findings->newestLabel()->text());
    window->workspace().rescan();
    ASSERT_TRUE(settle());
    EXPECT_TRUE(window->panes().findings->newestLabel()->text().isEmpty()) << "judged again, by every point";
}

} // namespace nanscope
