// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/nanscope-worker/agree.h"
#include "core/base/json.h"
#include "core/platform/systemerror.h"
#include "core/report/report.h"
#include "core/rpc/server.h"
#include "gpu/gpu.h"

namespace {

constexpr int exitUsage = 2;

constexpr std::string_view help =
    R"(nanscope-worker: replays on the torch it was built with, for nanscope and its window

  nanscope-worker serve      takes requests as JSON lines on standard input and answers on standard output
  nanscope-worker env        prints torch, CUDA and the devices found as one JSON object
  nanscope-worker agree CAPTURE --variant V [--precision P] [--repeats N]
                             replays on every GPU here and says as one JSON object whether they give the same bits
  nanscope-worker --version
)";

nlohmann::ordered_json environmentJson()
{
    const auto info = nanscope::torchInfo();
    auto devices = nlohmann::ordered_json::array();
    for (const auto& device : info.devices) {
        devices.push_back({{"name", device.name}, {"hardware", device.hardware}, {"capability", device.capability},
            {"memory_bytes", device.memoryBytes}});
    }
    return {{"schema", "nanscope.worker/1"}, {"nanscope", NANSCOPE_VERSION}, {"torch", info.torch},
        {"cuda_runtime", info.cudaRuntime}, {"cuda_driver", info.cudaDriver}, {"scan_kernel", info.scanKernel},
        {"threads", info.threads}, {"devices", devices}, {"notes", info.notes}};
}

} // namespace

int main(int argc, char** argv)
{
    nanscope::platform::failAtFileSizeLimit();
    if (argc > 1 && std::string_view(argv[1]) == "agree") {
        return nanscope::runAgree(argc - 1, argv + 1);
    }
    const std::string_view command = argc == 2 ? argv[1] : "";
    if (command == "serve") {
        return nanscope::rpc::serveStandardStreams(nanscope::torchServiceInfo(), nanscope::makeTorchDevice);
    }
    if (command == "env") {
        fmt::print("{}\n", nanscope::jsonText(environmentJson(), 2));
        return 0;
    }
    if (command == "--version") {
        fmt::print("nanscope-worker {} with torch {}\n", NANSCOPE_VERSION, nanscope::torchInfo().torch);
        return 0;
    }
    if (command == "--help" || command == "-h") {
        fmt::print("{}", help);
        return 0;
    }
    fmt::print(stderr, "{}", help);
    return exitUsage;
}
