// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "app/nanscope-worker/agree.h"

#include <cstdio>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/json.h"
#include "core/report/report.h"
#include "gpu/agreement.h"

namespace nanscope {

namespace {

using Json = nlohmann::ordered_json;

constexpr int exitDone = 0;
constexpr int exitInternal = 1;
constexpr int exitUsage = 2;
constexpr int exitNothing = 4;

void print(const Json& answer)
{
    fmt::print("{}\n", jsonText(answer));
}

int fail(const Error& error)
{
    const int status = error.kind == ErrorKind::internal || error.kind == ErrorKind::cancelled ? exitInternal
        : error.kind == ErrorKind::usage                                                       ? exitUsage
                                                                                               : exitNothing;
    print({{"schema", "nanscope.agreement/1"}, {"error", error.what}, {"path", error.path}, {"status", status}});
    return status;
}

Json deviceJson(const replay::DeviceHashes& device)
{
    auto hashes = Json::array();
    for (const auto& hash : device.hashes) {
        hashes.push_back(hash.hex());
    }
    return {{"name", device.name}, {"hardware", device.hardware}, {"hashes", std::move(hashes)}};
}

Json answerJson(const GpuAgreement& answer)
{
    auto devices = Json::array();
    for (const auto& device : answer.agreement.devices) {
        devices.push_back(deviceJson(device));
    }
    Json nccl = nullptr;
    if (answer.range) {
        nccl = {{"version", ncclVersion()}, {"least", answer.range->least.hex()}, {"most", answer.range->most.hex()},
            {"equal", answer.range->equal()}};
    }
    const auto& agree = answer.agreement.agree;
    return {{"schema", "nanscope.agreement/1"}, {"agree", agree ? Json(*agree) : Json(nullptr)},
        {"odd", answer.agreement.odd}, {"text", answer.agreement.text}, {"devices", std::move(devices)}, {"nccl", nccl},
        {"notes", answer.notes}};
}

Result<replay::AgreementRequest> parse(int argc, char** argv)
{
    CLI::App app;
    replay::AgreementRequest request;
    std::string precision;
    app.add_option("capture", request.capture.path)->required();
    app.add_option("--variant", request.variant)->required();
    app.add_option("--precision", precision);
    app.add_option("--repeats", request.repeats)->check(CLI::Range(1, 1000));
    try {
        app.parse(argc, argv);
    } catch (const CLI::Error& error) {
        return failure(ErrorKind::usage, error.what());
    }
    if (!precision.empty()) {
        request.precision = parsePrecision(precision);
        if (!request.precision) {
            return failure(ErrorKind::usage, fmt::format("there is no precision '{}'", precision));
        }
    }
    return request;
}

} // namespace

int runAgree(int argc, char** argv)
{
    const auto request = parse(argc, argv);
    const auto answer = request ? agreeOnGpus(*request) : tl::make_unexpected(request.error());
    if (!answer) {
        return fail(answer.error());
    }
    print(answerJson(*answer));
    return exitDone;
}

} // namespace nanscope
