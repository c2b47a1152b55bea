// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// A small run written by hand: one birth on rank 0, one descendant, a log with a NaN loss.
#pragma once

#include <cstdlib>

#include "core/model/fwd.h"
#include "core/report/input/reportinput.h"
#include "core/report/report.h"

namespace nanscope::handmade {

Scan finiteScan(std::int64_t count, double absmax, double frobenius);
Capture birthCapture();
CaptureVerdict birthVerdict();
Cell failingCell();
RunData run();
Diagnosis diagnosis();
report::ReportInput reportInput();

/// rows x cols matrix, one tile per element, all finite with the magnitude given.
TileMap flatMap(int rows, int cols, float magnitude);

/// Sets HOME for one test.
class HomeFolder
{
public:
    explicit HomeFolder(const char* path)
        : m_before(std::getenv("HOME") != nullptr ? std::getenv("HOME") : "")
    {
        setenv("HOME", path, 1);
    }
    ~HomeFolder() { setenv("HOME", m_before.c_str(), 1); }
    HomeFolder(const HomeFolder&) = delete;
    HomeFolder& operator=(const HomeFolder&) = delete;

private:
    std::string m_before;
};

} // namespace nanscope::handmade
