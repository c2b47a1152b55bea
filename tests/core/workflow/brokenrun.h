// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "tests/core/session/temporaryfolder.h"

namespace nanscope {

/// One fp32 tensor as safetensors has it: eight bytes of size, a header, the values.
inline std::string safetensors(const std::string& name, const std::vector<float>& values)
{
    const auto bytes = values.size() * sizeof(float);
    auto header = R"({")" + name + R"(":{"dtype":"F32","shape":[)" + std::to_string(values.size())
        + R"(],"data_offsets":[0,)" + std::to_string(bytes) + "]}}";
    header.resize((header.size() + 7) / 8 * 8, ' ');
    const std::uint64_t size = header.size();
    return std::string(reinterpret_cast<const char*>(&size), sizeof(size)) + header
        + std::string(reinterpret_cast<const char*>(values.data()), bytes);
}

inline const std::vector<float> good {1, -2, 3, 0};
inline const std::vector<float> bad {1, std::numeric_limits<float>::quiet_NaN(), 3, 0};

/// A run whose loss is NaN from step 400 on, with checkpoints every 100 steps: nothing is logged that proves them.
class BrokenRun
{
public:
    BrokenRun()
    {
        std::string log;
        for (int step = 0; step < 440; ++step) {
            log += R"({"step": )" + std::to_string(step) + R"(, "loss": )" + (step < 400 ? "2.5" : "NaN") + "}\n";
        }
        folder.write("train.jsonl", log);
    }

    void write(std::int64_t step, const std::vector<float>& values, const std::string& tensor = "model.weight",
        const std::string& file = "model.safetensors") const
    {
        put("step-" + std::to_string(step) + '/' + file, values, tensor);
    }

    void put(
        const std::string& file, const std::vector<float>& values, const std::string& tensor = "model.weight") const
    {
        std::filesystem::create_directories((folder.path() / file).parent_path());
        folder.write(file, safetensors(tensor, values));
    }

    TemporaryFolder folder;
};

} // namespace nanscope
