// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

#include <ATen/core/Tensor.h>

#include "core/probe/capturewriter.h"

namespace nanscope {

/// A watched function returned NaN or Inf, and raising was asked for.
class NonFiniteOutput : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

struct CaptureSettings
{
    bool on = false;
    std::filesystem::path folder = "./nanscope_captures";
    bool raises = false; ///< NonFiniteOutput once the capture is written; else the training goes on
    int callsAgain = 8; ///< of a function that takes its input alone
    int rank = 0;
    probe::CaptureLimits limits {};
    std::function<void(const std::string& line)> log {}; ///< one line without its end; standard error by default
};

/// By the variables of docs/capture.md: NANSCOPE_CAPTURE, _DIR, _RAISE, _RETRIES, _MAX_DUMPS, _MAX_BYTES,
/// _MIN_FREE_BYTES, those of dion's pull request 78, and RANK. What is not understood leaves the default.
CaptureSettings captureSettingsOfEnvironment();

/// A Newton-Schulz function that writes down its input and its output where that is not finite, and how the same call
/// ends when it is made again. As dion's wrapper it copies every input and waits for every output while it is on, which
/// can hide a race; off, it costs a branch. Nothing that goes wrong while it writes reaches the training. One thread.
///
///     CaptureWrapper newtonSchulz(orthogonalize, {.module = "muon.cpp", .name = "orthogonalize", .epsilon = 1e-7});
///     const auto update = newtonSchulz(momentum);
class CaptureWrapper
{
public:
    /// From [m, n] or [batch, m, n], any floating dtype and device, to the same shape.
    using Function = std::function<at::Tensor(const at::Tensor& input)>;

    CaptureWrapper(
        Function function, probe::WatchedFunction about, CaptureSettings settings = captureSettingsOfEnvironment());

    /// What the function returns, and throws. NonFiniteOutput where that was asked for.
    at::Tensor operator()(const at::Tensor& input);

    /// Number of the update that comes next: without it the log has to tell.
    void setStep(std::int64_t step) { m_step = step; }

    std::int64_t badCalls() const { return m_badCalls; }

private:
    at::Tensor watched(const at::Tensor& input);
    std::string report(const at::Tensor& before, const at::Tensor& input, const at::Tensor& output);
    probe::BadCall sceneOf(const at::Tensor& before, const at::Tensor& input, const at::Tensor& output);
    std::vector<probe::CallAgain> callAgain(const at::Tensor& before);
    void say(const std::string& line) const;

    Function m_function;
    probe::WatchedFunction m_about;
    CaptureSettings m_settings;
    probe::CaptureWriter m_writer;
    std::optional<std::int64_t> m_step;
    std::int64_t m_badCalls = 0;
};

} // namespace nanscope
