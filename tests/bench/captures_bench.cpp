// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The list of captures with many of them: filling it, sorting by every column, filtering as one types. Prints the
// times that docs/decisions/0006 quotes.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include <QApplication>
#include <QElapsedTimer>
#include <QLineEdit>
#include <QStyleFactory>
#include <QTableView>

#include "core/model/verdict.h"
#include "ui/captures/capturespane.h"
#include "ui/shared/theme.h"

namespace nanscope {
namespace {

constexpr int ranks = 64;

std::shared_ptr<RunData> makeRun(int count)
{
    auto run = std::make_shared<RunData>();
    run->name = "many";
    run->root = "/nowhere";
    for (int i = 0; i < count; ++i) {
        Capture capture;
        capture.id = i + 1;
        capture.rank = i * 7919 % ranks;
        capture.file = "dion_nan_capture_rank" + std::to_string(*capture.rank) + "_" + std::to_string(i) + ".pt";
        capture.path = "/nowhere/" + capture.file;
        capture.input.shape = {1, 64 * (1 + i % 5), 96 * (1 + i % 3)};
        run->captures.push_back(std::move(capture));
    }
    return run;
}

std::shared_ptr<Diagnosis> judge(const RunData& run)
{
    auto diagnosis = std::make_shared<Diagnosis>();
    for (std::size_t i = 0; i < run.captures.size(); ++i) {
        CaptureVerdict verdict;
        verdict.captureId = run.captures[i].id;
        verdict.capture = run.captures[i].file;
        verdict.rank = run.captures[i].rank;
        verdict.role = i == 0 ? Role::birth : Role::downstream;
        verdict.blame = i == 0 ? Blame::implementation : Blame::downstream;
        verdict.causedBy = i == 0 ? "" : run.captures[0].file;
        const auto step = static_cast<std::int64_t>(i / ranks);
        verdict.step = {step, step + 1};
        verdict.summary = "made up";
        diagnosis->captures.push_back(std::move(verdict));
    }
    return diagnosis;
}

template <class Work>
void timed(const char* what, Work work)
{
    QElapsedTimer clock;
    clock.start();
    work();
    // What the user waits for ends with the painted list.
    QApplication::processEvents();
    std::printf("  %-28s %8.1f ms\n", what, static_cast<double>(clock.nsecsElapsed()) / 1e6);
    std::fflush(stdout);
}

void measure(int count)
{
    const auto run = makeRun(count);
    const auto diagnosis = judge(*run);
    CapturesPane pane;
    pane.resize(400, 800);
    pane.show();
    QApplication::processEvents();
    std::printf("%d captures\n", count);
    timed("fill", [&] { pane.setRun(run, diagnosis); });
    for (int column = 0; column < 5; ++column) {
        const std::string name = "sort by column " + std::to_string(column);
        timed(name.c_str(), [&] { pane.view()->sortByColumn(column, Qt::DescendingOrder); });
    }
    auto* box = pane.findChild<QLineEdit*>();
    for (const char* text : {"rank:1", "!rank:1", "rank:1 /_[0-9]*7\\.pt/", "128", ""}) {
        const std::string name = "filter \"" + std::string(text) + "\"";
        timed(name.c_str(), [&] { box->setText(QString::fromLatin1(text)); });
    }
}

} // namespace
} // namespace nanscope

int main(int argc, char** argv)
{
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) {
        qputenv("QT_QPA_PLATFORM", "offscreen");
    }
    QApplication app(argc, argv);
    QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
    nanscope::applyTheme(nanscope::ThemeChoice::light);
    for (int i = 1; i < argc; ++i) {
        nanscope::measure(std::atoi(argv[i]));
    }
    if (argc == 1) {
        nanscope::measure(10'000);
        nanscope::measure(100'000);
    }
    return 0;
}
