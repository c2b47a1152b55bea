// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/samples.h"

#include <cmath>
#include <fstream>

#include <QDir>

#include "core/model/verdict.h"

namespace nanscope::test {

namespace {

Capture makeCapture(std::string file, int rank)
{
    Capture capture;
    capture.file = std::move(file);
    capture.path = "/nowhere/" + capture.file;
    capture.rank = rank;
    capture.input.shape = {1, 160, 96};
    return capture;
}

CaptureVerdict makeVerdict(std::string file, Role role, int rank, std::int64_t step)
{
    CaptureVerdict verdict;
    verdict.capture = std::move(file);
    verdict.role = role;
    verdict.rank = rank;
    verdict.step = {step, step + 1};
    verdict.stepSource = StepSource::console;
    verdict.blame = role == Role::birth ? Blame::implementation : Blame::downstream;
    verdict.causedBy = role == Role::birth ? "" : "birth.pt";
    return verdict;
}

} // namespace

std::shared_ptr<RunData> makeRun()
{
    auto run = std::make_shared<RunData>();
    run->name = "made-up";
    run->root = "/nowhere";
    run->captures = {makeCapture("a.pt", 1), makeCapture("b.pt", 10), makeCapture("birth.pt", 0)};
    run->captures[0].input.shape = {1, 96, 160};
    return run;
}

std::shared_ptr<Diagnosis> makeDiagnosis()
{
    auto diagnosis = std::make_shared<Diagnosis>();
    diagnosis->captures = {makeVerdict("birth.pt", Role::birth, 0, 5), makeVerdict("b.pt", Role::downstream, 10, 6),
        makeVerdict("a.pt", Role::downstream, 1, 7)};
    diagnosis->captures[0].kind = "kernel or launch order";
    diagnosis->captures[0].summary = "every plausible variant stays finite";
    diagnosis->captures[0].speaksFor = {{"24 of 24 finite", "replay"}, {"grad_norm is <calm>", "console.log:21"}};
    diagnosis->captures[0].next = {{{}, "run it again", {}, {}, {}}};
    diagnosis->triage = {3, 1, 0, 2, 0};
    return diagnosis;
}

Cell makeCell(const std::string& variant, Precision precision, Outcome outcome)
{
    Cell cell;
    cell.capture = "birth.pt";
    cell.variant = variant;
    cell.precision = precision;
    cell.outcome = outcome;
    return cell;
}

SweepGrid makeGrid(
    const QStringList& variants, int identified, const std::vector<Precision>& precisions, const QStringList& devices)
{
    SweepGrid grid {{}, precisions, precisions};
    for (const QString& variant : variants) {
        for (const QString& device : devices) {
            SweepRow& row = grid.rows.emplace_back();
            row.cell.variant = variant.toStdString();
            row.cell.device = device.toStdString();
            row.identified = variants.indexOf(variant) < identified;
        }
    }
    return grid;
}

replay::CellRequest askedFor(const Cell& cell)
{
    return {cell.variant, cell.precision, cell.lowering, std::nullopt, std::nullopt, cell.device};
}

MatrixPicture makePicture(std::int64_t rows, std::int64_t cols)
{
    const auto count = static_cast<std::size_t>(rows * cols);
    MatrixPicture picture;
    picture.tiles.rows = rows;
    picture.tiles.cols = cols;
    picture.tiles.height = static_cast<std::int32_t>(rows);
    picture.tiles.width = static_cast<std::int32_t>(cols);
    picture.tiles.min.assign(count, 0.1F);
    picture.tiles.max.assign(count, 0.1F);
    picture.tiles.absmax.assign(count, 0.1F);
    picture.tiles.classes.assign(count, classNormal);
    picture.floats.assign(count, 0.1F);
    return picture;
}

void setElement(MatrixPicture& picture, std::int64_t row, std::int64_t col, float value)
{
    const auto at = static_cast<std::size_t>(row * picture.tiles.cols + col);
    picture.floats[at] = value;
    picture.tiles.absmax[at] = std::isfinite(value) ? std::abs(value) : 0;
    picture.tiles.classes[at] = std::isnan(value) ? classNan
        : std::isinf(value)                       ? (value > 0 ? classPosInf : classNegInf)
        : value == 0                              ? classZero
                                                  : classNormal;
}

std::string sampleCapture()
{
    const QString folder = QStringLiteral(NANSCOPE_SAMPLE "/dion_nan_captures/");
    return (folder + QDir(folder).entryList({QStringLiteral("*.pt")}).value(0)).toStdString();
}

replay::CellRequest cellRequest(const char* variant, Precision precision, Lowering lowering)
{
    replay::CellRequest made;
    made.variant = variant;
    made.precision = precision;
    made.lowering = lowering;
    return made;
}

TracePoint point(std::int64_t step, double value)
{
    return {step, value, stateOf(value)};
}

void writeSpikes(const std::filesystem::path& folder)
{
    std::ofstream csv(folder / "spikes.csv");
    csv << "step,loss\n";
    for (int step = 1; step <= 150; ++step) {
        csv << step << (step > 120 && step <= 125 ? ",7\n" : ",2\n");
    }
}

} // namespace nanscope::test
