// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "gpu/probe/capturewrapper.h"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>
#include <utility>

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "gpu/probe/nonfinite.h"
#include "gpu/torchguard.h"

namespace nanscope {

namespace {

std::string_view variable(const char* name)
{
    const char* value = std::getenv(name);
    return value == nullptr ? std::string_view() : std::string_view(value);
}

std::optional<bool> switchIn(const char* name)
{
    const auto word = lowered(variable(name));
    if (word == "1" || word == "true" || word == "yes" || word == "on") {
        return true;
    }
    return word == "0" || word == "false" || word == "no" || word == "off" ? std::optional(false) : std::nullopt;
}

template <class Number>
void takeNumber(const char* name, Number& number)
{
    if (const auto value = numberIn<Number>(variable(name)); value && !(*value < Number {})) {
        number = *value;
    }
}

void takeFolder(const char* name, std::filesystem::path& folder)
{
    if (const auto text = variable(name); !text.empty()) {
        folder = text;
    }
}

std::optional<DType> dtypeOf(const at::Tensor& tensor)
{
    switch (tensor.scalar_type()) {
    case at::kDouble:
        return DType::float64;
    case at::kFloat:
        return DType::float32;
    case at::kHalf:
        return DType::float16;
    case at::kBFloat16:
        return DType::bfloat16;
    case at::kFloat8_e4m3fn:
        return DType::float8_e4m3fn;
    case at::kFloat8_e5m2:
        return DType::float8_e5m2;
    default:
        return std::nullopt;
    }
}

/// A copy on the host, row by row.
tensorfile::TensorToWrite hostCopy(const std::string& name, const at::Tensor& tensor)
{
    const auto copy = tensor.detach().cpu().contiguous();
    const auto* first = static_cast<const std::byte*>(copy.const_data_ptr());
    return {name, dtypeOf(copy).value(), copy.sizes().vec(), {first, first + copy.nbytes()}};
}

bool isBad(const at::Tensor& output)
{
    return nonFiniteFlag(output).item<std::uint8_t>() != 0;
}

} // namespace

CaptureSettings captureSettingsOfEnvironment()
{
    CaptureSettings settings;
    if (switchIn("DION_NAN_CAPTURE").value_or(false)) {
        settings.on = true;
        settings.folder = "./dion_nan_captures";
        takeFolder("DION_NAN_CAPTURE_DIR", settings.folder);
        settings.raises = switchIn("DION_NAN_CAPTURE_RAISE").value_or(true);
    }
    settings.on = switchIn("NANSCOPE_CAPTURE").value_or(settings.on);
    settings.raises = switchIn("NANSCOPE_CAPTURE_RAISE").value_or(settings.raises);
    takeFolder("NANSCOPE_CAPTURE_DIR", settings.folder);
    takeNumber("NANSCOPE_CAPTURE_RETRIES", settings.callsAgain);
    takeNumber("NANSCOPE_CAPTURE_MAX_DUMPS", settings.limits.perShape);
    takeNumber("NANSCOPE_CAPTURE_MAX_BYTES", settings.limits.bytes);
    takeNumber("NANSCOPE_CAPTURE_MIN_FREE_BYTES", settings.limits.freeBytes);
    takeNumber("RANK", settings.rank);
    return settings;
}

CaptureWrapper::CaptureWrapper(Function function, probe::WatchedFunction about, CaptureSettings settings)
    : m_function(std::move(function))
    , m_about(std::move(about))
    , m_settings(std::move(settings))
    , m_writer(m_settings.folder, m_settings.limits)
{ }

at::Tensor CaptureWrapper::operator()(const at::Tensor& input)
{
    return m_settings.on && dtypeOf(input) && input.layout() == at::kStrided ? watched(input) : m_function(input);
}

at::Tensor CaptureWrapper::watched(const at::Tensor& input)
{
    const auto before = input.detach().clone();
    auto output = m_function(input);
    if (!isBad(output)) {
        return output;
    }
    ++m_badCalls;
    const auto line = fmt::format("[nanscope capture] non-finite Newton-Schulz output on rank {}, shape ({}); {}",
        m_settings.rank, fmt::join(input.sizes(), ", "), report(before, input, output));
    if (m_settings.raises) {
        throw NonFiniteOutput(line);
    }
    say(line);
    return output;
}

/// What came of it, as the end of a line. The training is not to end by what it is watched with.
std::string CaptureWrapper::report(const at::Tensor& before, const at::Tensor& input, const at::Tensor& output)
try {
    const at::NoGradGuard noGradients;
    const auto path = m_writer.write(m_about, sceneOf(before, input, output));
    return path ? "dumped to " + path->string() : "not written: " + sentence(path.error());
} catch (const std::exception& error) {
    return "not written: " + firstLine(error.what());
}

probe::BadCall CaptureWrapper::sceneOf(const at::Tensor& before, const at::Tensor& input, const at::Tensor& output)
{
    probe::BadCall call;
    call.rank = m_settings.rank;
    call.step = m_step;
    call.input = hostCopy("input", before);
    call.output = hostCopy("output", output);
    call.inputAfter = probe::checksumOf(hostCopy("input", input).bytes);
    call.again = callAgain(before);
    return call;
}

std::vector<probe::CallAgain> CaptureWrapper::callAgain(const at::Tensor& before)
{
    std::vector<probe::CallAgain> again;
    const int calls = m_about.takesInputAlone ? m_settings.callsAgain : 0;
    try {
        for (int call = 0; call < calls; ++call) {
            const auto output = m_function(before.clone());
            again.push_back({!isBad(output), probe::checksumOf(hostCopy("output", output).bytes)});
        }
    } catch (const std::exception& error) {
        say("[nanscope capture] the call made again failed: " + firstLine(error.what()));
    }
    return again;
}

void CaptureWrapper::say(const std::string& line) const
{
    if (m_settings.log) {
        m_settings.log(line);
    } else {
        std::fprintf(stderr, "%s\n", line.c_str());
    }
}

} // namespace nanscope
