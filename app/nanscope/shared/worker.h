// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/nanscope/shared/terminal.h"
#include "core/replay/device/device.h"
#include "core/rpc/client.h"

namespace nanscope {

class Options;

namespace diagnose {
struct DiagnoseOptions;
} // namespace diagnose

/// What nanscope-worker prints when it is run with these arguments, though it may have failed. It is ended where the
/// user does not want to wait any longer, or (ErrorKind::busy) where it has not ended within `patience`.
Result<std::string> askWorker(const std::vector<std::string>& arguments, const CancelToken& cancel,
    std::optional<std::chrono::seconds> patience = {});

/// The devices a sweep was asked for, by who has them.
struct SweepDevices
{
    std::vector<std::string> own; ///< core's
    std::vector<std::string> ofWorker;
    std::optional<rpc::ServiceClient> worker; ///< there where ofWorker names any
    bool complete = true; ///< false: some that were asked for are not to be had

    bool any() const { return !own.empty() || worker.has_value(); }
};

/// Starts the worker where a device needs it. A device that is not to be had is one sentence, and fails only where
/// no other is left.
Result<SweepDevices> openDevices(const std::vector<std::string>& names, Terminal& terminal);

/// A device by its name. One that is not there is wrong usage, as in a sweep.
Result<std::unique_ptr<replay::Device>> openDevice(const std::string& name, const CancelToken& cancel);

/// --device of a command that judges.
void addJudgingDevice(Options& options, std::string& device);

/// Opens it where it is another than core's own.
Result<void> replayOn(const std::string& device, diagnose::DiagnoseOptions& options, Terminal& terminal);

} // namespace nanscope
