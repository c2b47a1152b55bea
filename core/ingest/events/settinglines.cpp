// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/events/settinglines.h"

#include <array>

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

} // namespace nanscope::ingest
