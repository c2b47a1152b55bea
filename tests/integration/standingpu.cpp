// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Stands in for nanscope-worker on a machine with a GPU, where there is none: "cuda:0" computes on core's own CPU
// device, so that its bits are known, and has what else sets a GPU apart. STANDIN_GPU names it, comma-separated:
//   cold=MS       the first replay waits so long, as for CUDA's libraries
//   sm=70         formats that such a GPU lacks are refused, not emulated
//   largest=N     a program with a larger matrix finds no memory
//   fault=N       the process ends at its N-th instruction, as at a kernel that faults
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/rpc/deviceserver.h"
#include "core/rpc/server.h"
#include "tests/core/replay/devicearound.h"

namespace nanscope {

namespace {

std::int64_t trait(const std::string& name, std::int64_t otherwise)
{
    const char* given = std::getenv("STANDIN_GPU");
    const auto all = "," + std::string(given == nullptr ? "" : given);
    const auto at = all.find("," + name + "=");
    return at == std::string::npos ? otherwise : std::atoll(all.c_str() + at + name.size() + 2);
}

class StandInGpu : public test::DeviceAround
{
public:
    StandInGpu()
        : DeviceAround(replay::makeEigenDevice())
    { }

    Environment environment() const override
    {
        auto environment = DeviceAround::environment();
        environment.device = "cuda:0";
        environment.hardware = fmt::format("Stand-in GPU sm_{}", m_capability);
        environment.cuda = "runtime 13.0, driver 13.0";
        environment.flags = "tf32=off";
        return environment;
    }

    bool native(Precision precision) const override
    {
        return m_capability >= 80 || (precision != Precision::bf16 && precision != Precision::tf32);
    }

    Result<void> prepare(const replay::Program& program, std::int64_t batch) override
    {
        if (!native(program.precision)) {
            return failure(ErrorKind::unsupported,
                fmt::format("cuda:0 does not compute in {}; the CPU emulates it", name(program.precision)));
        }
        for (const auto& buffer : program.buffers) {
            if (buffer.rows * buffer.cols > m_largest) {
                return failure(ErrorKind::refused, "cuda:0 has not enough memory for this replay");
            }
        }
        return DeviceAround::prepare(program, batch);
    }

    Result<void> run(const replay::Instruction& instruction) override
    {
        std::this_thread::sleep_for(std::exchange(m_cold, std::chrono::milliseconds(0)));
        if (--m_untilFault == 0) {
            fmt::print(stderr, "torch: CUDA error: an illegal memory access was encountered\n");
            std::fflush(stderr);
            std::_Exit(1);
        }
        return DeviceAround::run(instruction);
    }

private:
    std::chrono::milliseconds m_cold {trait("cold", 0)};
    std::int64_t m_capability = trait("sm", 90);
    std::int64_t m_largest = trait("largest", INT64_MAX);
    std::int64_t m_untilFault = trait("fault", -1);
};

Result<std::unique_ptr<replay::Device>> makeDevice(const std::string& name)
{
    if (name == "cpu") {
        return replay::makeEigenDevice();
    }
    if (name == "cuda:0") {
        return std::make_unique<StandInGpu>();
    }
    return failure(ErrorKind::usage, fmt::format("there is no {}; this machine has cuda:0", name));
}

int serveDevice(const std::string& name)
{
    const auto device = makeDevice(name);
    if (!device) {
        std::cout << nlohmann::json {{"error", sentence(device.error())},
            {"kind", static_cast<int>(device.error().kind)}}
                  << '\n';
        return 2;
    }
    return rpc::serveDevice(std::cin, std::cout, **device);
}

} // namespace

} // namespace nanscope

int main(int argc, char** argv)
{
    const std::string_view command = argc > 1 ? argv[1] : "";
    if (argc == 4 && command == "serve") {
        return nanscope::serveDevice(argv[3]);
    }
    if (argc == 2 && command == "serve") {
        return nanscope::rpc::serveStandardStreams(
            {"eigen", {{"cpu", "this CPU"}, {"cuda:0", "Stand-in GPU"}}, {}}, nanscope::makeDevice);
    }
    std::cerr << "standin-gpu: serve or serve --device NAME\n";
    return 2;
}
