// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// The fuzzer of one kind of file: fuzz_reading --kind=NAME [libFuzzer's options] CORPUS..
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>

#include <unistd.h>

#include "reading.h"

namespace {

const nanscope::fuzz::Kind* chosen = nullptr;

std::filesystem::path scratch()
{
    static const auto path = std::filesystem::temp_directory_path() / ("nanscope-fuzz-" + std::to_string(::getpid()));
    std::filesystem::create_directories(path);
    return path;
}

} // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv)
{
    const std::string option = "--kind=";
    for (int i = 1; i < *argc; ++i) {
        const std::string given = (*argv)[i];
        chosen = given.starts_with(option) ? nanscope::fuzz::findKind(given.substr(option.size())) : chosen;
    }
    if (chosen == nullptr) {
        std::fputs("say --kind=NAME, one of:", stderr);
        for (const auto& kind : nanscope::fuzz::kinds()) {
            std::fprintf(stderr, " %s", std::string(kind.name).c_str());
        }
        std::fputs("\n", stderr);
        std::exit(2);
    }
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    // A verdict takes as long as a thousand readings.
    constexpr std::size_t judgedOneIn = 32;
    const std::string bytes(reinterpret_cast<const char*>(data), size);
    nanscope::fuzz::readAsKind(*chosen, bytes, scratch(), std::hash<std::string> {}(bytes) % judgedOneIn == 0);
    return 0;
}
