// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/rpc/server.h"

#include <iostream>

#include "app/nanscope/shared/command.h"
#include "core/base/try.h"
#include "core/rpc/deviceserver.h"

namespace nanscope {

namespace {

class Serve : public Command
{
public:
    explicit Serve(CLI::App& root)
        : Command(root, "serve", "Replay on request: JSON lines in, JSON lines out, for the window")
    {
        options().add("--device", m_device, "Only run programs of replays on this device, for a process that judges");
    }

    Result<int> run(Terminal& terminal) override;

private:
    std::string m_device;
};

Result<int> Serve::run(Terminal&)
{
    const auto device = TRY(replay::makeCoreDevice(m_device.empty() ? "cpu" : m_device));
    if (!m_device.empty()) {
        return rpc::serveDevice(std::cin, std::cout, *device);
    }
    const auto environment = device->environment();
    rpc::ServiceInfo info {environment.engine, {{environment.device, environment.hardware}},
        {"this is nanscope's own CPU device; GPUs and torch need nanscope-worker"}};
    return rpc::serveStandardStreams(info, replay::makeCoreDevice);
}

} // namespace

std::unique_ptr<Command> makeServe(CLI::App& root)
{
    return std::make_unique<Serve>(root);
}

} // namespace nanscope
