// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/ingest/log/logsource.h"

namespace nanscope::ingest {

/// True for names under which runs leave their configuration: config.json, hparams.yaml, ds_config.json,
/// train_config.toml, wandb-metadata.json. Not for those in folders of configurations to choose from.
bool hasConfigName(const std::string& relative);

/// What `nanscope env --json` wrote, under whatever name.
bool isEnvironment(const std::filesystem::path& path);

/// The settings that were read of a file as all that it holds; those without a rank get the one of its place.
std::unique_ptr<LogSource> settingsSource(
    const std::string& text, const std::string& relative, std::vector<Setting> settings);

Result<std::unique_ptr<LogSource>> openConfig(const std::filesystem::path& path, const std::string& relative);

} // namespace nanscope::ingest
