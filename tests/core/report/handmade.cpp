// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "handmade.h"
#include "core/model/verdict.h"
#include "core/report/input/reportinput.h"

#include <limits>

namespace nanscope::handmade {

Scan finiteScan(std::int64_t count, double absmax, double frobenius)
{
    Scan scan;
    scan.count = count;
    scan.absmax = absmax;
    scan.minNonzero = absmax / 1024;
    scan.sumSquares = frobenius * frobenius;
    return scan;
}

Capture birthCapture()
{
    Capture capture;
    capture.file = "dion_nan_capture_rank0_shape1x160x96_pid7_1795234396390.pt";
    capture.path = "/home/alice/runs/tile/" + capture.file;
    capture.identity = "5f3a";
    capture.rank = 0;
    capture.pid = 7;
    capture.timestampMs = 1795234396390;
    capture.timestampFromName = true;
    capture.epsilon = 1e-8;
    capture.input = {{1, 160, 96}, DType::bfloat16, {finiteScan(15360, 0.25, 3)}};
    auto output = finiteScan(15360, 0.5, 9.5);
    output.nan = 1024;
    output.firstNonFinite = 32 * 96 + 64;
    output.firstClass = ValueClass::nan;
    capture.output = CaptureTensor {{1, 160, 96}, DType::bfloat16, {output}};
    return capture;
}

CaptureVerdict birthVerdict()
{
    CaptureVerdict verdict;
    verdict.captureId = 3;
    verdict.capture = birthCapture().file;
    verdict.rank = 0;
    verdict.step = {5, 6};
    verdict.stepSource = StepSource::console;
    verdict.blame = Blame::implementation;
    verdict.kind = "kernel or launch order";
    verdict.summary = "Every plausible variant stays finite on this input.";
    verdict.variant = {{"gns-standard", "gns-gram"}, IdentifiedBy::fit, 0.005, 0.093, "dion-ns5",
        {{"gns-gram", 0.005}, {"dion-ns5", 0.093}, {"broken", std::numeric_limits<double>::quiet_NaN()}}, false};
    verdict.members = {{"gns-gram", "bf16", 8, 8, 0, 5.1, 0.8, 11, ""},
        {"dion-ns5", "fp16", 8, 2, 1, std::nullopt, std::nullopt, std::numeric_limits<double>::infinity(),
            "step 3 gram"}};
    verdict.facts.damage = {
        DamageShape::rectangle, "rows 32–63 × columns 64–95 are NaN", 0, 32, 64, 64, 96, 1024, 1024, {{0x7fc0, 1024}}};
    verdict.speaksFor = {{"8 of 8 roundings finite", "replay"}, {"grad_norm flat up to the birth", "console.log:21"}};
    verdict.speaksAgainst = {{"not reproduced here", "replay"}};
    verdict.notTestable = {{"a race that the capture's own synchronisation hides", "output"}};
    verdict.next = {{"kernels-off", "run 1 h with use_triton=False", {}, {Seen::gone, Seen::stays}, {}},
        {"swap-gpus", "swap two GPUs", {}, {Seen::moves}, {}}};
    return verdict;
}

Cell failingCell()
{
    Cell cell;
    cell.id = 12;
    cell.capture = birthCapture().file;
    cell.variant = "keller-jordan";
    cell.precision = Precision::fp16;
    cell.lowering = Lowering::fused;
    cell.epsilon = 1e-7;
    cell.outcome = Outcome::nan;
    cell.firstNonFinite = NonFinite {3, OpName::gram, {12, 5}, ValueClass::nan, 384};
    cell.birth = cell.firstNonFinite;
    cell.batches = {{0, Outcome::nan, cell.firstNonFinite}};
    cell.gauges = {{1, 1.01, 1.05, std::nullopt, 0.3, std::numeric_limits<double>::infinity(), std::nullopt},
        {2, 1.04, 1.05, 2.5, std::numeric_limits<double>::quiet_NaN(), 0.7, 0.002}};
    cell.seconds = 0.25;
    cell.environment = {"eigen 3.4.0", "cpu", "avx2", "", 2, ""};
    return cell;
}

RunData run()
{
    RunData run;
    run.name = "tile";
    run.root = "/home/alice/runs/tile";
    run.captures = {birthCapture()};
    Series loss;
    loss.name = "loss";
    loss.rank = 0;
    loss.source = "console.log";
    loss.points = {
        {5, 0.9958, PointState::finite, 21}, {6, std::numeric_limits<double>::quiet_NaN(), PointState::nan, 23}};
    loss.pointCount = 2;
    loss.firstStep = 5;
    loss.lastStep = 6;
    loss.nan = 1;
    run.series = {loss};
    Event dumped;
    dumped.kind = EventKind::captureDumped;
    dumped.rank = 0;
    dumped.capture = birthCapture().file;
    dumped.text = "[dion NaN capture] dumped to /home/alice/runs/tile/" + birthCapture().file;
    dumped.source = "console.log";
    dumped.line = 22;
    run.events = {dumped};
    return run;
}

Diagnosis diagnosis()
{
    Diagnosis diagnosis;
    diagnosis.run = "tile";
    diagnosis.triage = {25, 1, 0, 24, 0};
    diagnosis.headline = "25 captures, 1 birth: rank 0, between the log lines of steps 5 and 6";
    CaptureVerdict later;
    later.capture = "later.pt";
    later.role = Role::downstream;
    later.blame = Blame::downstream;
    later.causedBy = birthCapture().file;
    diagnosis.captures = {birthVerdict(), later};
    diagnosis.findings = {
        {"P1", FindingState::fired, "Loss is NaN", "error", 6, 0, {{"console.log", 23, "loss=nan"}}, {"stop"}}};
    return diagnosis;
}

report::ReportInput reportInput()
{
    return {run(), diagnosis(), {failingCell()}, "nanscope report /home/alice/runs/tile -o out.md"};
}

TileMap flatMap(int rows, int cols, float magnitude)
{
    const auto tiles = static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols);
    TileMap map;
    map.rows = rows;
    map.cols = cols;
    map.height = rows;
    map.width = cols;
    map.min.assign(tiles, -magnitude);
    map.max.assign(tiles, magnitude);
    map.absmax.assign(tiles, magnitude);
    map.classes.assign(tiles, magnitude > 0 ? classNormal : classZero);
    return map;
}

} // namespace nanscope::handmade
