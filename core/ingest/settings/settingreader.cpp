// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/settings/settingreader.h"

#include <algorithm>
#include <array>
#include <functional>

#include <fmt/format.h>
#include <re2/re2.h>

#include "core/ingest/settings/settingsink.h"
#include "core/ingest/text/consoletext.h"
#include "core/ingest/text/pythonjson.h"

namespace nanscope::ingest {

namespace {

constexpr std::array lines {
    // nanoGPT, dion, MaxText, nanochat
    SettingLine {nullptr, R"(^Overriding: (?P<name>\w+) = (?P<value>.*))"},
    SettingLine {nullptr, R"(^Setting hyperparameter (?P<name>\w+)=(?P<value>.*))"},
    SettingLine {nullptr, R"(\bConfig param (?P<name>\w+): (?P<value>.*))"},
    SettingLine {nullptr, R"(^(?P<name>COMPUTE_DTYPE): (?P<value>\S+))"},

    // torchtitan, lingua and OLMo-core; KempnerForge; nanochat; PyTorch's collect_env; nvidia-smi
    SettingLine {"gpu.name", R"(\b(?:CUDA|GPU) capacity: (?P<value>.+?)(?: \(\d+\))? with [\d.]+GiB memory)"},
    SettingLine {"gpu.name", R"(^Detected GPU: (?P<value>.+?) \xe2\x86\x92 )"},
    SettingLine {"gpu.name", R"(^GPU: (?P<value>.+?) \| Peak FLOPS)"},
    SettingLine {"gpu.name", R"(^GPU \d+: (?P<value>(?:NVIDIA|AMD|Tesla|Quadro|GeForce) .+?)(?: \(UUID: .*\))?$)"},
    SettingLine {"gpu.name", R"(^\|\s+\d+\s+(?P<value>[A-Z]\S.*?)\s{2,}(?:On|Off|N/A)\s+\|\s+[0-9A-F]{8}:)"},
    SettingLine {"driver.version", R"(\| NVIDIA-SMI .*Driver Version: (?P<value>[\d.]+))"},
    SettingLine {"driver.cuda", R"(\| NVIDIA-SMI .*CUDA Version: (?P<value>[\d.]+))"},
    SettingLine {"driver.version", R"(^Nvidia driver version: (?P<value>\d[\d.]*))"},

    // modded-nanogpt, PyTorch's collect_env, DeepSpeed's ds_report, NCCL
    SettingLine {"torch.version", R"(\bRunning [Pp]y[Tt]orch (?P<value>\d\S*) compiled for CUDA)"},
    SettingLine {"torch.cuda", R"(\bRunning [Pp]y[Tt]orch \S+ compiled for CUDA (?P<value>\d[\d.]*))"},
    SettingLine {"torch.version", R"(\bPyTorch version: (?P<value>\d[\w.+-]*))"},
    SettingLine {"torch.version", R"(^torch version \.+ (?P<value>\d[\w.+-]*))"},
    SettingLine {"torch.cuda", R"(^CUDA used to build PyTorch: (?P<value>\d[\d.]*))"},
    SettingLine {"torch.cuda", R"(^torch cuda version \.+ (?P<value>\d[\d.]*))"},
    SettingLine {"python.version", R"(\bRunning Python (?P<value>\d[\d.]*))"},
    SettingLine {"triton.version", R"(\bRunning Triton version (?P<value>\d[\w.+]*))"},
    SettingLine {"nccl.version", R"(\bNCCL version (?P<value>\d+\.\d+\.\d+(?:\+cuda\d+\.\d+)?))"},
    // pip freeze, PyTorch's collect_env, and what people print of a package.
    SettingLine {nullptr, R"(^(?:\[pip3?\] )?(?P<name>[A-Za-z][\w.-]*)==(?P<value>\d[\w.+!-]*)$)", ".version"},
    SettingLine {nullptr, R"(^\[conda\] (?P<name>[A-Za-z][\w.-]*)\s+(?P<value>\d[\w.+!-]*)(?:\s|$))", ".version"},
    SettingLine {nullptr,
        R"(^(?P<name>[A-Za-z][\w-]*?)(?:[._]version|\.__version__)\s*[:=]?\s*(?P<value>\d+\.\d[\w.+!-]*)$)",
        ".version"},
    SettingLine {"torchtitan.version", R"(\btorchtitan version: (?P<value>\S+) \(0\.0\.0 means)"},
};

constexpr std::array headings {
    // torchtitan; nanochat; DeepSpeed; Megatron-LM; Hugging Face; nanoGPT; Composer
    ConfigHeading {ConfigBlock::json, R"(Running with (?:args|configs): (?P<rest>\{.*))"},
    ConfigHeading {ConfigBlock::json, R"(^Model config:$)"},
    ConfigHeading {ConfigBlock::json, R"(^\[.*\]   json = (?P<rest>\{)$)"},
    ConfigHeading {ConfigBlock::dotted, R"(DeepSpeedEngine configuration:$)"},
    ConfigHeading {ConfigBlock::dotted, R"(^-{8,} arguments -{8,}$)"},
    ConfigHeading {ConfigBlock::fields, R"(\b(?:[A-Z]\w*Arguments|[A-Z]{3,}Config|TrainingConfig)\($)"},
    ConfigHeading {ConfigBlock::assigned, R"(^Overriding config with \S+:$)"},
    ConfigHeading {ConfigBlock::yaml, R"(^Config:$)"},
};

} // namespace

std::span<const SettingLine> settingLines()
{
    return lines;
}

std::span<const ConfigHeading> configHeadings()
{
    return headings;
}

namespace {

constexpr std::size_t mostBlocks = 1024;
constexpr std::size_t mostBytes = 4 << 20;
constexpr std::size_t mostBlockLines = 5000;
constexpr std::size_t mostGiven = 100'000;
constexpr int mostStrange = 50;

/// A line between the braces of an object that is printed with indents.
bool isPartOfObject(std::string_view text)
{
    static const RE2 element(R"([\w.+-]+,?)", RE2::Latin1);
    text = trimmed(text);
    return std::string_view("\"'{}[]").find(text.front()) != std::string_view::npos || RE2::FullMatch(text, element);
}

bool isPartOfYaml(std::string_view text)
{
    static const RE2 pattern(R"(\s*(?:- .*|[\w./ -]+:(?: .*)?))", RE2::Latin1);
    return RE2::FullMatch(text, pattern);
}

} // namespace

void SettingReader::start(ConfigBlock block, std::string_view rest, const LogLine& line, LogBuilder& builder)
{
    if (m_blocks.size() >= mostBlocks && !m_blocks.contains(line.process())) {
        return;
    }
    const auto open = m_blocks.insert_or_assign(line.process(), Block {}).first;
    open->second.kind = block;
    if (!rest.empty()) {
        auto first = line;
        first.text = rest;
        takeJson(open, first, builder);
    }
}

bool SettingReader::takeBlock(const LogLine& line, LogBuilder& builder)
{
    const auto open = m_blocks.empty() ? m_blocks.end() : m_blocks.find(line.process());
    if (open == m_blocks.end() || !line.whole) {
        return false;
    }
    switch (open->second.kind) {
    case ConfigBlock::json:
        return takeJson(open, line, builder);
    case ConfigBlock::dotted:
        return takeDotted(open, line, builder);
    case ConfigBlock::fields:
        return takeField(open, line, builder);
    case ConfigBlock::assigned:
        return takeAssigned(open, line, builder);
    default:
        return takeYaml(open, line, builder);
    }
}

bool SettingReader::leaveOut(Blocks::iterator open)
{
    m_bytes -= std::min(m_bytes, open->second.text.size());
    m_blocks.erase(open);
    return false;
}

bool SettingReader::append(Blocks::iterator open, const LogLine& line)
{
    auto& block = open->second;
    if (block.lines.size() >= mostBlockLines || m_bytes + line.text.size() >= mostBytes) {
        return leaveOut(open);
    }
    block.text += line.text;
    block.text += '\n';
    block.lines.push_back(line.number);
    m_bytes += line.text.size() + 1;
    return true;
}

bool SettingReader::takeJson(Blocks::iterator open, const LogLine& line, LogBuilder& builder)
{
    auto& block = open->second;
    if (!isPartOfObject(line.text) || !append(open, line)) {
        return m_blocks.contains(line.process()) && leaveOut(open);
    }
    for (std::size_t i = 0; i < line.text.size(); ++i) {
        const char c = line.text[i];
        if (block.inString && c == '\\') {
            ++i;
        } else if (c == '"') {
            block.inString = !block.inString;
        } else if (!block.inString) {
            block.depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
        }
    }
    if (block.depth <= 0) {
        finish(open, line, builder);
    }
    return true;
}

void SettingReader::finish(Blocks::iterator open, const LogLine& line, LogBuilder& builder)
{
    auto block = std::move(open->second);
    leaveOut(open);
    m_bytes -= std::min(m_bytes, block.text.size());
    if (!block.prefix.empty()) {
        m_blocks[line.process()].kind = ConfigBlock::dotted;
    }
    SettingSink sink;
    const bool python = block.text.starts_with("{'");
    const auto read = block.kind == ConfigBlock::yaml
        ? readYamlSettings(block.text, sink)
        : readJsonSettings(python ? jsonOfPython(block.text) : block.text, sink);
    if (!read) {
        return;
    }
    for (auto& setting : sink.take()) {
        const auto at = static_cast<std::size_t>(std::max<std::int64_t>(setting.line, 1)) - 1;
        give(block.prefix + setting.name, std::move(setting.value), block.lines[std::min(at, block.lines.size() - 1)],
            line, builder);
    }
}

/// "[DATE] [INFO] [config.py:904:print]   amp_enabled .................. False" of DeepSpeed, and the same without the
/// brackets of Megatron. Names that are longer than the dots have two spaces behind them.
bool SettingReader::takeDotted(Blocks::iterator open, const LogLine& line, LogBuilder& builder)
{
    static const RE2 pattern(R"((?:\[[^\]]*\] ?)*  (\w[\w.-]*) (?:\.+ | )(.*))", RE2::Latin1);
    std::string name;
    std::string value;
    if (line.text.find("end of arguments") != std::string_view::npos) {
        leaveOut(open);
        return true;
    }
    if (!RE2::FullMatch(line.text, pattern, &name, &value)) {
        return ++open->second.strange > mostStrange && leaveOut(open);
    }
    open->second.strange = 0;
    if (value != "{") {
        give(name, value, line.number, line, builder);
        return true;
    }
    // An object of its own, behind which the dots go on.
    auto first = line;
    first.text = value;
    open->second.kind = ConfigBlock::json;
    open->second.prefix = name + '.';
    return takeJson(open, first, builder);
}

bool SettingReader::takeField(Blocks::iterator open, const LogLine& line, LogBuilder& builder)
{
    static const RE2 pattern(R"(\s*(\w+)=(.*),)", RE2::Latin1);
    std::string name;
    std::string value;
    if (trimmed(line.text) == ")") {
        leaveOut(open);
        return true;
    }
    if (!RE2::FullMatch(line.text, pattern, &name, &value)) {
        return ++open->second.strange > mostStrange && leaveOut(open);
    }
    open->second.strange = 0;
    give(name, std::string(unquoted(value)), line.number, line, builder);
    return true;
}

/// The file that nanoGPT prints ends with the first line that is no assignment.
bool SettingReader::takeAssigned(Blocks::iterator open, const LogLine& line, LogBuilder& builder)
{
    static const RE2 pattern(R"((\w+) *= *('[^']*'|"[^"]*"|[^#'"]+?)\s*(?:#.*)?)", RE2::Latin1);
    std::string name;
    std::string value;
    if (line.text.starts_with('#')) {
        return true;
    }
    if (!RE2::FullMatch(line.text, pattern, &name, &value)) {
        return leaveOut(open);
    }
    give(name, std::string(unquoted(value)), line.number, line, builder);
    return true;
}

bool SettingReader::takeYaml(Blocks::iterator open, const LogLine& line, LogBuilder& builder)
{
    if (line.text.starts_with("**********") && !open->second.lines.empty()) {
        finish(open, line, builder);
        return true;
    }
    if (!isPartOfYaml(line.text)) {
        return leaveOut(open);
    }
    return append(open, line);
}

void SettingReader::take(std::string_view name, std::string_view value, const LogLine& line, LogBuilder& builder)
{
    give(std::string(name), std::string(trimmed(value)), line.number, line, builder);
}

void SettingReader::give(std::string name, std::string value, std::int64_t at, const LogLine& line, LogBuilder& builder)
{
    const auto rank = line.rank ? line.rank : builder.fileRank();
    const auto key = std::hash<std::string>()(fmt::format("{} {}={}", rank.value_or(-1), name, value));
    if (isSecret(name) || m_given.contains(key)) {
        return;
    }
    if (m_given.size() < mostGiven) {
        m_given.insert(key);
    }
    Setting setting;
    setting.name = std::move(name);
    setting.value = std::move(value);
    setting.rank = rank;
    setting.line = at;
    builder.setting(std::move(setting));
}

} // namespace nanscope::ingest
