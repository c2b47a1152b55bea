// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/nanscope/shared/command.h"
#include "app/nanscope/shared/factlist.h"
#include "app/nanscope/shared/functionoptions.h"
#include "core/base/try.h"
#include "core/platform/platform.h"

namespace nanscope {

namespace fs = std::filesystem;

namespace {

class Env : public Command
{
public:
    explicit Env(CLI::App& root)
        : Command(root, "env", "Versions, GPUs, driver and variables of this training environment, for a report")
    {
        options().add("--python", m_python, "The training's Python; default: VIRTUAL_ENV or CONDA_PREFIX");
        options().addFlag("--no-redact", m_open, "Keep host names, user names, home paths and keys");
    }

    Result<int> run(Terminal& terminal) override;

private:
    Result<fs::path> pythonPrefix() const;

    std::string m_python;
    bool m_open = false;
};

std::string readText(const fs::path& path, std::size_t most)
{
    std::ifstream stream(path, std::ios::binary);
    std::string text(most, '\0');
    stream.read(text.data(), static_cast<std::streamsize>(most));
    text.resize(static_cast<std::size_t>(std::max<std::streamsize>(stream.gcount(), 0)));
    return text;
}

/// Value of the first line "KEY<separator>value", without quotes and blanks around it.
std::string valueOf(const std::string& text, std::string_view key)
{
    for (std::size_t begin = 0; begin < text.size();) {
        const auto end = std::min(text.find('\n', begin), text.size());
        auto line = text.substr(begin, end - begin);
        begin = end + 1;
        if (!line.starts_with(key)) {
            continue;
        }
        line.erase(0, line.find_first_not_of("=: \t\"", key.size()));
        line.erase(line.find_last_not_of(" \t\"") + 1);
        return line;
    }
    return {};
}

std::string firstLine(const std::string& text)
{
    return text.substr(0, text.find('\n'));
}

void addSystem(FactList& facts)
{
    facts.group("system");
    facts.add("os", valueOf(readText("/etc/os-release", 16384), "PRETTY_NAME"));
    facts.add("kernel", firstLine(readText("/proc/sys/kernel/osrelease", 256)));
    facts.add("cpu", platform::cpuDescription());
    facts.add("threads", std::to_string(std::thread::hardware_concurrency()));
    facts.add("memory", valueOf(readText("/proc/meminfo", 4096), "MemTotal"));
}

void addGpus(FactList& facts)
{
    facts.group("gpu");
    facts.add("driver", firstLine(readText("/proc/driver/nvidia/version", 1024)));
    std::error_code error;
    for (const auto& entry : fs::directory_iterator("/proc/driver/nvidia/gpus", error)) {
        const auto information = readText(entry.path() / "information", 4096);
        facts.add(entry.path().filename().string(),
            fmt::format("{}, {}", valueOf(information, "Model:"), valueOf(information, "GPU UUID:")));
    }
}

/// "torch-2.11.0+cpu.dist-info" holds both name and version, so no file is opened and no Python is run.
std::map<std::string, std::string> installed(const fs::path& prefix)
{
    std::map<std::string, std::string> packages;
    std::error_code error;
    for (const auto& library : fs::directory_iterator(prefix / "lib", error)) {
        std::error_code inner;
        for (const auto& entry : fs::directory_iterator(library.path() / "site-packages", inner)) {
            const auto name = entry.path().filename().string();
            const auto dash = name.find('-');
            if (name.ends_with(".dist-info") && dash != std::string::npos) {
                packages[name.substr(0, dash)] = name.substr(dash + 1, name.size() - dash - 1 - 10);
            }
        }
    }
    return packages;
}

bool concernsTraining(const std::string& package)
{
    constexpr std::string_view starts[] = {"torch", "triton", "nvidia", "dion", "gram_newton", "quack", "flash_attn",
        "deepspeed", "transformer_engine", "apex", "numpy", "cuda", "muon", "emerging", "flash_muon", "dmuon"};
    return std::any_of(std::begin(starts), std::end(starts), [&](auto start) { return package.starts_with(start); });
}

void addPackages(FactList& facts, const fs::path& prefix)
{
    facts.group("packages");
    facts.add("python", prefix.string());
    for (const auto& [name, version] : installed(prefix)) {
        if (concernsTraining(name)) {
            facts.addVersion(name, version);
        }
    }
}

bool concernsNumbers(std::string_view variable)
{
    constexpr std::string_view starts[] = {"TORCH", "PYTORCH_", "CUDA_", "NCCL_", "CUBLAS", "NVIDIA_", "OMP_", "MKL_",
        "TRITON_", "HIP_", "ROCR_", "DION_", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GLOO_"};
    return std::any_of(std::begin(starts), std::end(starts), [&](auto start) { return variable.starts_with(start); });
}

void addVariables(FactList& facts)
{
    facts.group("variables");
    const auto all = readText("/proc/self/environ", std::size_t {1} << 20);
    for (std::size_t begin = 0; begin < all.size();) {
        const auto end = std::min(all.find('\0', begin), all.size());
        const auto entry = all.substr(begin, end - begin);
        const auto equals = entry.find('=');
        if (equals != std::string::npos && concernsNumbers(entry)) {
            facts.add(entry.substr(0, equals), entry.substr(equals + 1));
        }
        begin = end + 1;
    }
}

Result<fs::path> Env::pythonPrefix() const
{
    if (m_python.empty()) {
        const auto active = platform::environmentVariable("VIRTUAL_ENV").value_or("");
        return active.empty() ? platform::environmentVariable("CONDA_PREFIX").value_or("") : active;
    }
    const auto program = programPath(m_python);
    std::error_code ignored;
    if (!fs::is_regular_file(program, ignored)) {
        return failure(ErrorKind::io, "there is no such Python", m_python);
    }
    return program.parent_path().parent_path();
}

Result<int> Env::run(Terminal& terminal)
{
    const auto prefix = TRY(pythonPrefix());
    FactList facts;
    addSystem(facts);
    addGpus(facts);
    addPackages(facts, prefix);
    addVariables(facts);
    if (!m_open) {
        facts.redactAll();
    }
    terminal.answer([&] { return facts.json("nanscope.env/1"); }, [&] { return facts.text(); });
    return exitDone;
}

} // namespace

std::unique_ptr<Command> makeEnv(CLI::App& root)
{
    return std::make_unique<Env>(root);
}

} // namespace nanscope
