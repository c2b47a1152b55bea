// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// TensorBoard's event files: records of "length, its checksum, a protobuf message, its checksum", each a step with
// scalars. What is written as tensor (TensorFlow 2, Keras) is taken where it is one number. A record's place in the
// file stands for its line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/ingest/log/columnmap.h"
#include "core/ingest/log/logsource.h"

namespace nanscope::ingest {

/// "events.out.tfevents.<time>.<host>...": a file name as TensorBoard's writers make it.
bool isEventFileName(const std::string& name);

Result<std::unique_ptr<LogSource>> openEventFile(const std::filesystem::path& path, const std::string& relative,
    std::int64_t offset, std::int64_t firstRecord, const std::vector<Series>& stored, const ColumnMap& columns);

} // namespace nanscope::ingest
