// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <limits>
#include <memory>
#include <ostream>
#include <string>

#include <QString>
#include <QStringList>

#include "core/model/fwd.h"
#include "core/model/model.h"
#include "ui/heatmap/matrixpicture.h"
#include "ui/jobs/replayservice.h"
#include "ui/sweep/cellgridmodel.h"
#include "ui/timeline/trace.h"

/// Readable failures: found by GoogleTest beside the type it prints.
inline void PrintTo(const QString& text, std::ostream* out)
{
    *out << '"' << text.toStdString() << '"';
}

inline void PrintTo(const QStringList& texts, std::ostream* out)
{
    *out << '[' << texts.join(QStringLiteral(", ")).toStdString() << ']';
}

namespace nanscope::test {

constexpr int patienceMs = 120000;
constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr float floatInf = std::numeric_limits<float>::infinity();
constexpr float floatNan = std::numeric_limits<float>::quiet_NaN();

inline ServiceProgram realService()
{
    return {QStringLiteral(NANSCOPE_PROGRAMS "/nanscope"), {QStringLiteral("serve")}, false};
}

/// fakeservice.sh says what the modes are.
inline ServiceProgram fakeService(const char* mode, const QString& marker = {}, bool worker = false)
{
    return {
        QStringLiteral("/bin/sh"), {QStringLiteral(NANSCOPE_FAKE_SERVICE), QString::fromLatin1(mode), marker}, worker};
}

/// The first capture of the sample run.
std::string sampleCapture();

/// Three captures of two ranks: a birth on rank 0, two that descend from it, in the order a folder lists them (birth
/// last).
std::shared_ptr<RunData> makeRun();
std::shared_ptr<Diagnosis> makeDiagnosis();

Cell makeCell(const std::string& variant, Precision precision, Outcome outcome);

/// A row for each variant and device.
SweepGrid makeGrid(const QStringList& variants, int identified = 0,
    const std::vector<Precision>& precisions = sweepPrecisions(), const QStringList& devices = {QStringLiteral("cpu")});
/// What asks for a cell with the usual epsilon and steps.
replay::CellRequest askedFor(const Cell& cell);
replay::CellRequest cellRequest(const char* variant, Precision precision, Lowering lowering = Lowering::eager);

/// Every element its own tile, all of magnitude 0.1 but for what the test changes.
MatrixPicture makePicture(std::int64_t rows, std::int64_t cols);
void setElement(MatrixPicture& picture, std::int64_t row, std::int64_t col, float value);

/// A log of a loss of 2 that is 7 from step 121 to 125: a spike to llm-foundry and to Lightning, and none to Megatron.
void writeSpikes(const std::filesystem::path& folder);

TracePoint point(std::int64_t step, double value);

} // namespace nanscope::test
