// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// Settings that a log prints, and those of configuration files in the run's folder.
#include <filesystem>

#include <gmock/gmock.h>

#include "core/ingest/settings/configfile.h"
#include "core/ingest/settings/settingsink.h"
#include "core/ingest/text/pythonjson.h"
#include "core/session/session.h"
#include "logfolder.h"

namespace nanscope {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;
using testing::SizeIs;
using Strings = std::vector<std::string>;

Strings textOf(const std::vector<Setting>& settings)
{
    Strings all;
    for (const auto& one : settings) {
        all.push_back(one.name + '=' + one.value + ':' + std::to_string(one.line));
    }
    return all;
}

class Settings : public LogFolder
{
protected:
    Strings in(const std::string& log) { return textOf(read("train.log", log).settings); }

    Strings file(const std::string& name, const std::string& text) { return textOf(read(name, text).settings); }

    std::string refusal(const std::string& name, const std::string& text)
    {
        const auto contents = ingest::readLog(m_folder.write(name, text), name);
        return contents ? "" : contents.error().what;
    }
};

TEST_F(Settings, ofMegatronsArguments)
{
    EXPECT_THAT(in("using world size: 16\n------------------------ arguments ------------------------\n"
                   "  adam_eps ........................................ 1e-08\n"
                   "  data_path ....................................... ['/data/a b', '/data/c']\n"
                   "  a_name_that_is_longer_than_all_the_dots_there_are  None\n"
                   "  lr .............................................. 0.00015\n"
                   "-------------------- end of arguments ---------------------\n"
                   "  lr .............................................. 7\n"),
        ElementsAre("adam_eps=1e-08:3", "data_path=['/data/a b', '/data/c']:4",
            "a_name_that_is_longer_than_all_the_dots_there_are=None:5", "lr=0.00015:6"));
}

TEST_F(Settings, ofDeepSpeedsConfigurationAndTheObjectsInIt)
{
    const std::string head = "[2021-06-10 20:47:51,885] [INFO] [config.py:904:print] ";
    EXPECT_THAT(in(head + "DeepSpeedEngine configuration:\n" + head
                    + "  zero_config  {\n    \"stage\": 0, \n    \"ratio\": 1.0\n}\n" + head
                    + "  amp_enabled .................. False\n" + head
                    + "  json = {\n    \"fp16\": {\n        \"enabled\": true, \n        \"initial_scale_power\": 12\n "
                      "   }\n}\n"
                    + head + "something else\n"),
        ElementsAre("zero_config.stage=0:3", "zero_config.ratio=1.0:4", "amp_enabled=False:6", "fp16.enabled=true:9",
            "fp16.initial_scale_power=12:10"));
}

TEST_F(Settings, ofTorchtitanInJsonOfEachRankItsOwn)
{
    const auto log = read("train.log",
        "[rank0]:[titan] 2026-04-21 08:46:29,657 - root - INFO - Running with configs: {\n"
        "[rank1]:[titan] 2026-04-21 08:46:29,657 - root - INFO - Running with configs: {\n"
        "[rank0]:  \"training\": {\n[rank1]:  \"training\": {\n[rank0]:    \"steps\": 1000,\n[rank1]:    \"steps\": "
        "2000,\n"
        "[rank0]:    \"dims\": [\n[rank0]:      1,\n[rank0]:      -1\n[rank0]:    ],\n[rank1]:    \"eps\": 1e-08\n"
        "[rank0]:    \"compile\": false,\n[rank0]:    \"seed\": null\n[rank0]:  }\n[rank1]:  }\n[rank0]:}\n[rank1]:}\n"
        "[rank0]:[titan] 2026-04-21 08:46:29,657 - root - INFO - CUDA capacity: NVIDIA H100 80GB HBM3 with 79.18GiB "
        "memory\n");
    EXPECT_THAT(textOf(log.settings),
        ElementsAre("training.steps=1000:5", "training.dims=[1, -1]:7", "training.compile=false:12",
            "training.seed=null:13", "training.steps=2000:6", "training.eps=1e-08:11",
            "gpu.name=NVIDIA H100 80GB HBM3:18"));
    EXPECT_EQ(log.settings[0].rank, 0);
    EXPECT_EQ(log.settings[4].rank, 1);
    EXPECT_EQ(log.settings[0].source, "train.log");
}

TEST_F(Settings, ofTorchtitanAsADictOfPython)
{
    EXPECT_THAT(
        in("[titan] 2026-04-21 - root - INFO - Running with args: {'job': {'name': \"it's\", 'print': True}, 'lr': "
           "8e-4, 'betas': (0.9, 0.95), 'only': (1,), 'x': None, 'path': 'C:\\\\a'}\n"),
        ElementsAre("job.name=it's:1", "job.print=true:1", "lr=8e-4:1", "betas=[0.9, 0.95]:1", "only=[1]:1", "x=null:1",
            "path=C:\\a:1"));
}

TEST_F(Settings, aCheckpointOfTorchtitanHasItsStepFromTheInterval)
{
    const std::string titan = "[titan] 2026-04-21 08:46:29,657 - root - INFO - ";
    const std::string save =
        titan + "Saving the checkpoint.\n" + titan + "Finished saving the checkpoint in 3.10 seconds.\n";
    const auto row = [&](int step) {
        return titan + "step: " + std::to_string(step)
            + "  loss: 2.5  grad_norm: 1.0  memory: 6.48GiB(20%)  mfu: 0.25%\n";
    };
    const auto log = read("train.log",
        titan + "Running with configs: {\n  \"checkpoint\": {\n    \"interval\": 20\n  }\n}\n" + row(10) + save
            + row(20) + save + save + row(40));
    ASSERT_THAT(log.checkpoints, SizeIs(1)) << "step 10 is none of the interval's, the third is some later step's";
    EXPECT_EQ(log.checkpoints[0].step, 20);
    EXPECT_EQ(log.checkpoints[0].fact, CheckpointFact::saved);
    EXPECT_EQ(log.checkpoints[0].line, 11);
    const auto silent = read("silent.log", row(1) + save + row(10) + save + row(11) + save + save + row(12));
    ASSERT_THAT(silent.checkpoints, SizeIs(1)) << "without an interval only where each step has a row";
    EXPECT_EQ(silent.checkpoints[0].step, 11);
}

TEST_F(Settings, ofNanoGptFromItsFileAndItsCommandLine)
{
    EXPECT_THAT(in("Overriding config with config/train_shakespeare_char.py:\n# a small model\nout_dir = "
                   "'out-shakespeare-char'\n"
                   "eval_interval = 250 # keep frequent because we'll overfit\nlearning_rate = 1e-3\n\nOverriding: "
                   "dtype = float16\n"
                   "tokens per iteration will be: 16,384\nlearning_rate = 5\n"),
        ElementsAre(
            "out_dir=out-shakespeare-char:3", "eval_interval=250:4", "learning_rate=1e-3:5", "dtype=float16:7"));
}

TEST_F(Settings, ofHuggingFacesTrainingArguments)
{
    EXPECT_THAT(
        in("01/25/2023 23:28:32 - INFO - __main__ - Training/evaluation parameters TrainingArguments(\n_n_gpu=3,\n"
           "accelerator_config={'split_batches': False, 'even_batches': True},\nadam_epsilon=1e-08,\ndebug=[],\n"
           "hub_token=<HUB_TOKEN>,\nlearning_rate=3e-05,\n)\nlearning_rate=4,\n"),
        ElementsAre("_n_gpu=3:2", "accelerator_config={'split_batches': False, 'even_batches': True}:3",
            "adam_epsilon=1e-08:4", "debug=[]:5", "learning_rate=3e-05:7"));
}

TEST_F(Settings, ofComposerAndOthersThatPrintTheirOwnWay)
{
    EXPECT_THAT(in("******************************\nConfig:\nmodel:\n  d_model: 768\n  name: mpt\nlr: 0.1\n"
                   "******************************\nlr: 0.2\n"),
        ElementsAre("model.d_model=768:4", "model.name=mpt:5", "lr=0.1:6"));
    EXPECT_THAT(in("Model config:\n{\n  \"n_layer\": 12\n}\nCOMPUTE_DTYPE: torch.bfloat16 (auto-detected)\n"),
        ElementsAre("n_layer=12:3", "COMPUTE_DTYPE=torch.bfloat16:5"));
    EXPECT_THAT(in("Setting hyperparameter lr=0.02\nI0811 pyconfig.py:584] Config param steps: 10\n"),
        ElementsAre("lr=0.02:1", "steps=10:2"));
}

TEST_F(Settings, ofTheMachine)
{
    EXPECT_THAT(
        in("Running Python 3.12.7 (main, Oct 16 2024)\nRunning PyTorch 2.7.0.dev20250208+cu126 compiled for CUDA 12.6\n"
           "| NVIDIA-SMI 550.144.03             Driver Version: 550.144.03     CUDA Version: 12.4     |\n"
           "|   0  NVIDIA H100 80GB HBM3          On  |   00000000:61:00.0 Off |                    0 |\n"
           "|   1  NVIDIA H100 80GB HBM3          On  |   00000000:62:00.0 Off |                    0 |\n"
           "node1:12:34 [0] NCCL INFO NCCL version 2.21.5+cuda12.4NCCL version 2.21.5+cuda12.4\n"),
        ElementsAre("python.version=3.12.7:1", "torch.version=2.7.0.dev20250208+cu126:2", "torch.cuda=12.6:2",
            "driver.version=550.144.03:3", "driver.cuda=12.4:3", "gpu.name=NVIDIA H100 80GB HBM3:4",
            "nccl.version=2.21.5+cuda12.4:6"));
    EXPECT_THAT(in("[rank 0] INFO     Detected GPU: NVIDIA A100-SXM4-40GB \xe2\x86\x92 312 bf16 TFLOPS\n"),
        ElementsAre("gpu.name=NVIDIA A100-SXM4-40GB:1"));
    EXPECT_THAT(in("GPU: NVIDIA B200 | Peak FLOPS (BF16): 2.25e+15\n"), ElementsAre("gpu.name=NVIDIA B200:1"));
    EXPECT_THAT(in("GPU capacity: NVIDIA A100 (0) with 79.15GiB memory\n"), ElementsAre("gpu.name=NVIDIA A100:1"));
    EXPECT_THAT(in("PyTorch version: 2.1.0+cu121\nCUDA used to build PyTorch: 12.1\nGPU 0: NVIDIA L4\n"),
        ElementsAre("torch.version=2.1.0+cu121:1", "torch.cuda=12.1:2", "gpu.name=NVIDIA L4:3"));
}

TEST_F(Settings, ofPackagesAreTheirVersions)
{
    EXPECT_THAT(in("gram-newton-schulz==0.1.5\n[pip3] quack-kernels==0.4.0\n[conda] triton    3.1.0  pypi_0  pypi\n"
                   "quack_version: 0.4.1\ndion.__version__ = 0.2.0\n"),
        ElementsAre("gram-newton-schulz.version=0.1.5:1", "quack-kernels.version=0.4.0:2", "triton.version=3.1.0:3",
            "quack.version=0.4.1:4", "dion.version=0.2.0:5"));
    EXPECT_THAT(in("if a==1 then b\nassert x==2.0, y\n[pip3] numpy\nversion: 2.0\nthis version is 2.0\n"), IsEmpty());
}

TEST_F(Settings, thatALineOnlyResemblesAreNone)
{
    EXPECT_THAT(in("print0(f\"Running PyTorch {torch.version.__version__} compiled for CUDA {torch.version.cuda}\")\n"
                   "Please install PyTorch version 2.0\nGPU 0: 45% busy\nlr = 5\nlr=5,\n  lr ..... 5\nlr: 5\n"
                   "Overriding nothing\n| 0  loss          On  | better |\nNCCL version unknown\n{\"lr\": 5\n"),
        IsEmpty());
}

TEST_F(Settings, aBlockThatRanksPrintIntoEachOtherLosesNoLine)
{
    const auto log = read("train.log",
        "Running with configs: {\n  \"a\": 1,\nNaN/Inf loss at step 7 (consecutive=1)\n  \"b\": 2\n}\n"
        "------------------------ arguments ------------------------\n  lr .... 1\nNaN/Inf loss at step 8 "
        "(consecutive=2)\n"
        "  wd .... 2\n");
    EXPECT_THAT(textOf(log.settings), ElementsAre("lr=1:7", "wd=2:9"));
    ASSERT_THAT(log.events, SizeIs(2));
    EXPECT_EQ(log.events[0].step, 7);
    EXPECT_EQ(log.events[1].step, 8);
}

TEST_F(Settings, blocksWithoutEndAreLeft)
{
    std::string text = "Running with configs: {\n";
    for (int i = 0; i < 6000; ++i) {
        text += "  \"k" + std::to_string(i) + "\": 1,\n";
    }
    EXPECT_THAT(in(text + "}\n"), IsEmpty());
    std::string dotted = "DeepSpeedEngine configuration:\n";
    for (int i = 0; i < 60; ++i) {
        dotted += "something else\n";
    }
    EXPECT_THAT(in(dotted + "  lr .... 1\n"), IsEmpty());
}

TEST_F(Settings, saidTwiceAreKeptOnce)
{
    EXPECT_THAT(in("Overriding: lr = 1\nOverriding: lr = 1\nOverriding: lr = 2\n"), ElementsAre("lr=1:1", "lr=2:3"));
    EXPECT_THAT(in("[rank0]: Overriding: lr = 1\n[rank1]: Overriding: lr = 1\n"), SizeIs(2));
}

TEST_F(Settings, inJsonFilesKeepTheirSpellingAndTheirLine)
{
    const auto log = read("config.json",
        "\xef\xbb\xbf{\n  \"optimizer\": {\"name\": \"Muon\",\n    \"lr\": 3.0e-4, \"betas\": [0.9, 0.95]},\n  "
        "\"eps\": NaN,\n"
        "  \"big\": 123456789012345678901234567890,\n  \"layers\": [{\"dim\": 1}, {\"dim\": 2}],\n  \"none\": null, "
        "\"on\": true,\n"
        "  \"empty\": [], \"table\": {}, \"text\": \"a\\nb \\u00e4\", \"a.b\": 1\n}\n");
    EXPECT_EQ(log.format, "config");
    EXPECT_THAT(textOf(log.settings),
        ElementsAre("optimizer.name=Muon:2", "optimizer.lr=3.0e-4:3", "optimizer.betas=[0.9, 0.95]:3", "eps=NaN:4",
            "big=123456789012345678901234567890:5", "layers.0.dim=1:6", "layers.1.dim=2:6", "none=null:7", "on=true:7",
            "empty=[]:8", "text=a\nb \xc3\xa4:8", "a.b=1:8"));
}

TEST_F(Settings, inYamlFilesFollowNoAlias)
{
    EXPECT_THAT(
        file("hparams.yaml",
            "# a comment\nlr: &rate 1e-4\nwarmup: *rate\noptimizer: &o\n  name: muon   # which\n  betas: [0.9, 0.95]\n"
            "copy: *o\nother:\n  <<: *o\n  steps:\n  - 1\n  - 2\nnothing:\ntext: |\n  two\n  lines\n? [a, b]\n: "
            "3\nlast: 'x'\n"),
        ElementsAre("lr=1e-4:2", "warmup=1e-4:3", "optimizer.name=muon:5", "optimizer.betas=[0.9, 0.95]:6",
            "other.steps=[1, 2]:10", "nothing=null:13", "text=two\nlines\n:14", "?=[a, b]:17", "?=3:17", "last=x:19"));
}

TEST_F(Settings, inYamlFilesABillionLaughsAreNone)
{
    std::string text = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n";
    for (int i = 1; i < 40; ++i) {
        const auto before = std::to_string(i - 1);
        text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
        for (int k = 0; k < 9; ++k) {
            text += (k == 0 ? "*a" : ", *a") + before;
        }
        text += "]\n";
    }
    EXPECT_THAT(file("config.yaml", text), Contains("a0=[lol, lol, lol, lol, lol, lol, lol, lol, lol]:1"));
}

TEST_F(Settings, inTomlFilesOfKempnerForge)
{
    EXPECT_THAT(file("train_config.toml",
                    "# 7B\n[train]\nbatch_size = 8\nlr = 3e-4\ncompile = true\n\n[checkpoint]\ndir = \"ckpt\"\nexclude "
                    "= [\"a\", \"b\"]\n"
                    "at = 2026-01-02T03:04:05Z\n[[data]]\nname = \"x\"\n[[data]]\nname = \"y\"\n"),
        testing::UnorderedElementsAre("train.batch_size=8:3", "train.lr=0.0003:4", "train.compile=true:5",
            "checkpoint.dir=ckpt:8", "checkpoint.exclude=[a, b]:9", "checkpoint.at=2026-01-02T03:04:05Z:10",
            "data.0.name=x:12", "data.1.name=y:14"));
}

TEST_F(Settings, inTomlFilesKeysOfTooManyPartsAreRefused)
{
    const auto parts = [](int count, const std::string& part) {
        std::string key = part;
        for (int i = 0; i < count; ++i) {
            key += '.' + part;
        }
        return key;
    };
    for (const auto& key :
        {parts(400'000, "a"), parts(100'000, "\"=\""), parts(100'000, "'#'"), parts(100'000, " 1 ")}) {
        EXPECT_EQ(refusal("config.toml", key + " = 1\n"), "the configuration is nested too deep");
        EXPECT_EQ(refusal("config.toml", "x = [\"\"\"a\"b\"\"\", {" + key + " = 1}]\n"),
            "the configuration is nested too deep");
    }
    EXPECT_THAT(file("config.toml", parts(14, "a") + " = 1\n"), SizeIs(1));
    std::string floats = "x = [0.5";
    for (int i = 0; i < 60; ++i) {
        floats += ", 0.5";
    }
    EXPECT_THAT(
        file("config.toml", floats + "]\ny = \"" + parts(60, "a") + "\" # " + parts(60, "a") + "\n"), SizeIs(2));
}

TEST_F(Settings, ofWandbAreUnwrapped)
{
    EXPECT_THAT(file("config.yaml",
                    "wandb_version: 1\n\n_wandb:\n  desc: null\n  value:\n    python_version: 3.12\nlr:\n  desc: "
                    "null\n  value: 0.1\n"
                    "model:\n  desc: null\n  value:\n    dim: 5\n    value: 6\n"),
        ElementsAre("lr=0.1:9", "model.dim=5:13", "model.value=6:14"));
    EXPECT_THAT(
        file("wandb-metadata.json", "{\"gpu\": \"NVIDIA H100\", \"gpu_count\": 8, \"args\": [\"--lr\", \"1\"]}"),
        ElementsAre("gpu=NVIDIA H100:1", "gpu_count=8:1", "args=[--lr, 1]:1"));
}

TEST_F(Settings, thatNobodyShouldReadAreLeftOut)
{
    EXPECT_THAT(file("config.json",
                    "{\"wandb\": {\"api_key\": \"0123\", \"project\": \"p\"}, \"password\": \"x\", \"HF_TOKEN\": "
                    "\"y\", \"max_tokens\": 5,"
                    " \"aws_secret_access_key\": \"z\", \"tokenizer\": \"gpt2\"}"),
        ElementsAre("wandb.project=p:1", "max_tokens=5:1", "tokenizer=gpt2:1"));
}

TEST_F(Settings, areBounded)
{
    std::string many = "{";
    for (int i = 0; i < 6000; ++i) {
        many += (i == 0 ? "\"k" : ", \"k") + std::to_string(i) + "\": 1";
    }
    EXPECT_THAT(file("config.json", many + "}"), SizeIs(5000));
    const auto value = read("config.json", "{\"a\": \"" + std::string(5000, 'x') + "\"}").settings.at(0).value;
    EXPECT_EQ(value, std::string(1000, 'x'));
    std::string deep;
    for (int i = 0; i < 60; ++i) {
        deep += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
    }
    EXPECT_THAT(file("config.yaml", deep + std::string(60, ' ') + "b: 1\nc: 2\n"), ElementsAre("c=2:62"));
    EXPECT_THAT(file("config.yaml", "a: 1\n" + std::string(1 << 20, '#') + "\n"), IsEmpty())
        << "larger than a configuration";
}

TEST_F(Settings, aFileThatIsMeantToHoldThemAndIsBrokenIsNamed)
{
    EXPECT_THAT(refusal("config.json", "{\n  \"a\": 1,\n  \"b\": [1, 2\n"), HasSubstr("not valid JSON"));
    EXPECT_THAT(refusal("args.json", "{"), HasSubstr("not valid JSON"));
    EXPECT_THAT(refusal("config.yaml", "a: [1, 2\nb: 3\n"), HasSubstr("the configuration is not valid YAML near line"));
    EXPECT_THAT(refusal("config.toml", "a = 1\nb = = 2\n"), HasSubstr("the configuration is not valid TOML at line 2"));
    EXPECT_EQ(refusal("my_config_template.yaml", "a: {{ name }}\nb: ]\n"), "") << "perhaps a template";
}

TEST_F(Settings, aFileThatHoldsNoneGivesNothing)
{
    EXPECT_THAT(file("config.json", ""), IsEmpty());
    EXPECT_THAT(file("config.json", "[1, 2, {\"lr\": 3}]"), IsEmpty());
    EXPECT_THAT(file("config.yaml", "just a sentence\n"), IsEmpty());
    EXPECT_THAT(file("config.yaml", "- a\n- b: 1\n"), IsEmpty());
    EXPECT_THAT(file("config.yaml", "# nothing\n"), IsEmpty());
    EXPECT_THAT(file("hparams.yaml", std::string("\0\1\2", 3)), IsEmpty());
}

TEST_F(Settings, ofAnEnvironmentAreKnownByTheirSchema)
{
    EXPECT_THAT(file("node7.json",
                    "{\n  \"schema\": \"nanscope.env/1\",\n  \"packages\": {\n    \"torch\": \"2.11.0\"\n  }\n}\n"),
        ElementsAre("schema=nanscope.env/1:2", "packages.torch=2.11.0:4"));
    EXPECT_THAT(file("node7.json", "{\"schema\": \"other/1\", \"packages\": {\"torch\": \"2.11.0\"}}\n"), IsEmpty());
}

TEST(ConfigNames, areThoseUnderWhichRunsLeaveTheirs)
{
    for (const std::string yes :
        {"config.json", "a/hparams.yaml", "lightning_logs/version_0/hparams.yaml", "wandb/r/files/config.yaml",
            "ds_config.json", "ds_config_zero3.json", "train_config.toml", "Config.YAML", "out/.hydra/config.yaml",
            "wandb/r/files/wandb-metadata.json", "training_args.json", "checkpoint-5/config.json"}) {
        EXPECT_TRUE(ingest::hasConfigName(yes)) << yes;
    }
    for (const std::string no : {"tokenizer_config.json", "generation_config.json", "configs/train/7b_config.toml",
             "conf/config.yaml", "trainer_state.json", "metrics.jsonl", "examples/config.json", "config.txt",
             "docker-compose.yml", "config"}) {
        EXPECT_FALSE(ingest::hasConfigName(no)) << no;
    }
}

TEST(PythonLiterals, BecomeJson)
{
    EXPECT_EQ(ingest::jsonOfPython("{'a': \"it's \\\"x\\\"\", 'b': (1, 2,), 'c': [None, True]}"),
        R"({"a": "it's \"x\"", "b": [1, 2], "c": [null, true]})");
    EXPECT_EQ(ingest::jsonOfPython(R"({'p': 'C:\\a', 'q': '\'', 'r': '\x41'})"),
        R"({"p": "C:\\a", "q": "'", "r": "\u0041"})");
    EXPECT_EQ(ingest::jsonOfPython("{'cut"), "{\"cut\"");
}

class ImportedSettings : public testing::Test
{
protected:
    TemporaryFolder m_folder;
};

TEST_F(ImportedSettings, OfARunAreStoredAndReadAnewWhenTheFileChanges)
{
    m_folder.write("run/config.yaml", "lr: 0.1\n");
    m_folder.write("run/.hydra/overrides.yaml", "- lr=0.1\n");
    m_folder.write("run/configs/other_config.yaml", "lr: 7\n");
    m_folder.write("run/rank_3/hparams.yaml", "seed: 5\n");
    m_folder.write("run/train.log", "Step 5: train_loss=1.5000, grad_norm=0.2500\nOverriding: lr = 0.2\n");
    auto session = session::Session::open(m_folder.path() / "s.nanscope", session::OpenMode::create);
    ASSERT_TRUE(session);
    const auto import = [&] {
        EXPECT_TRUE(ingest::importRun(m_folder.path() / "run", *session));
        return textOf(session->load()->settings);
    };
    EXPECT_THAT(import(), ElementsAre("lr=0.1:1", "seed=5:1", "lr=0.2:2"));
    EXPECT_THAT(import(), SizeIs(3)) << "nothing twice";
    m_folder.write("run/config.yaml", "lr: 0.1\nsteps: 9\n");
    EXPECT_THAT(import(), ElementsAre("lr=0.1:1", "steps=9:2", "seed=5:1", "lr=0.2:2"));
}

TEST_F(ImportedSettings, OfABrokenFileAreARejectionAndTheRestIsRead)
{
    m_folder.write("run/config.json", "{\"lr\": \n");
    m_folder.write("run/train.log", "Step 0: train_loss=1.5000, grad_norm=0.2500\n");
    const auto run = ingest::readRun(m_folder.path() / "run");
    ASSERT_TRUE(run);
    ASSERT_THAT(run->rejected, SizeIs(1));
    EXPECT_EQ(run->rejected[0].path, "config.json");
    EXPECT_THAT(run->rejected[0].reason, HasSubstr("the configuration is not valid JSON"));
    EXPECT_THAT(run->series, Not(IsEmpty()));
}

TEST(SharedSettings, OfAMegatronRunThatReallyWas)
{
    const std::string file = std::string(NANSCOPE_SHARED_DATA)
        + "/logs/megatron_console__bigscience-workshop__bigscience__meg_ds_3d_gpt2_perf_n16-ds-on.out";
    if (!std::filesystem::exists(file)) {
        GTEST_SKIP() << "shared data is not here";
    }
    const auto log = ingest::readLog(file, "a.out");
    ASSERT_TRUE(log);
    EXPECT_THAT(textOf(log->settings),
        IsSupersetOf({"lr=0.00015:132", "fp16.initial_scale_power=12:760", "gradient_clipping=1.0:749",
            "activation_checkpointing_config.cpu_checkpointing=false:675"}));
}

} // namespace
} // namespace nanscope
