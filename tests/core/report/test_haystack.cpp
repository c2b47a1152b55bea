// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// Lines of training logs that speak of tokens, keys, hosts and homes, and hold nothing private: they stay as they are.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "core/report/input/reportinput.h"
#include "core/report/redact/redaction.h"
#include "handmade.h"

using namespace nanscope;

namespace {

class Hay : public testing::TestWithParam<const char*>
{
    handmade::HomeFolder m_home {"/nobody"};
};

const char* const hay[] = {
    // Tokens that are counted.
    "tokens=1024",
    "tokens_per_second: 12",
    "num_tokens=524288 max_tokens: 4096",
    "tokens/s: 125,001 | mfu=52.3%",
    "token: 50256",
    "pad_token_id: 50256",
    "{\"pad_token_id\": 0, \"eos_token_id\": 2, \"vocab_size\": 32000}",
    "bos_token='<s>', eos_token='</s>', unk_token='<unk>', pad_token='[PAD]'",
    "pad_token=eos_token",
    "eos_token: <|endoftext|>",
    "\"sep_token\": \"[SEP]\", \"mask_token\": \"[MASK]\"",
    "image_token: <image>",
    "time_per_token: 12.345ms",
    "first_token_latency: 0.123s",
    "total_tokens: 1.31e+12",
    "n_token=7.5B",
    "tokenizer: meta-llama/Llama-3.1-8B-Instruct",
    "tokenizer_path=./tokenizer.model",
    "next_token=the",
    "Special tokens have been added in the vocabulary, make sure the word embeddings are fine-tuned or trained.",
    "max_token_length: 128k tokens",
    "loss_per_token=2.3456789e+00",
    "ValueError: unexpected token: '}' at line 3",
    // Secrets that are none.
    "auth: none",
    "password: null",
    "secret=True",
    "hf_token=None",
    "use_auth_token=False",
    "api_key: ''",
    "HF_TOKEN=",
    "token=<your token>",
    "password=$DB_PASSWORD",
    "WANDB_API_KEY=${WANDB_API_KEY}",
    "api_key: ********",
    "hf_token = os.environ[\"HF_TOKEN\"]",
    "login(token=args.hf_token)",
    "password = self._read(stream, default)",
    "password=password",
    "def ask(prompt='Password: ', stream=None):",
    "password: required",
    "token: missing",
    "    tokenizer = AutoTokenizer.from_pretrained(path, token=token, use_fast=True)",
    "password_file=/etc/wandb.pw",
    "api_key_id: 12",
    "secret_name: wandb",
    "key=value",
    "KeyError: 'model.layers.0.self_attn.q_proj.weight'",
    "query_key_value: (3072, 1024)",
    "primary_key=step",
    "keys: dict_keys(['loss', 'lr'])",
    "num_key_value_heads: 8",
    "forward_pass=12.3ms backward_pass=24.6ms",
    "author: nobody in particular",
    "authenticated: yes",
    "W&B API key is configured. Use `wandb login --relogin` to force relogin",
    "wandb: (1) Create a W&B account",
    "Bearer token is missing",
    "basic block 3",
    "cookie: none",
    // Digests, ids, symbols and files.
    "commit 5bdc3988496c4232b4ef53764cb81c92aabbccdd",
    "sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "git rev 20aadcbed7efa7d2086b79b33be102751f60a53a (dirty)",
    "hash=5f3a1c7e5b2d8046e4c1907bd5fa3862",
    "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-3f2a91c7-e5b2-d804-6e4c-1907bd5fa386)",
    "MIG-GPU-3f2a91c7-e5b2-d804-6e4c-1907bd5fa386/1/0",
    "run id 261f0b1e2560418f913d2037370fd967",
    "wandb: Run data is saved locally in ./wandb/run-20240214_195452-kt2awly2",
    "mlruns/0/cb0096518b0e4c66a94428555f05420b/metrics/loss",
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEENS_6detail5ArrayIPcLi1EEEEEviT0_T1_",
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel",
    "void cutlass::Kernel<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x2_tn_align8>(Params)",
    "triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_3_0d1d2d3de4de(grid=1)",
    "/opt/torchinductor/ab/cabq3x7k2m9q4w8z3p6r5t1v0abcdefghij2k4m6p8r3t5v7x.py:12",
    "/opt/spack/openmpi/4.0.5/gcc-8.3.1-h2g75yiqzwc5uct75ifhx5wz7uautdpr/bin/mpic++",
    "dion_nan_captures/dion_nan_capture_rank0_shape1x160x96_pid27434_1795234396390.pt",
    "LLVM ERROR: Cannot select: intrinsic %llvm.nvvm.shfl.sync.bfly.i32",
    // Folders, hosts and names of everybody.
    "/scratch/checkpoints/step_1000",
    "/lustre/data/train.bin",
    "/fsx/models/llama/7B",
    "/gpfs/datasets/c4",
    "/scratch/run-3/log.txt",
    "/work/logs/x",
    "/nfs/shared/venv/bin/python3.11",
    "see https://pytorch.org/docs/stable/notes/numerical_accuracy.html",
    "https://github.com/pytorch/pytorch/issues/12345",
    "https://huggingface.co/docs/transformers",
    "https://docs.nvidia.com/deeplearning/nccl/",
    "https://docs.wandb.ai/guides",
    "raw.githubusercontent.com/x/y/main/z.py",
    "torch.nn.functional.scaled_dot_product_attention",
    "torch.distributed.run",
    "self.model.net.weight",
    "encoder.layers.0.net: finite",
    "threading.local() is thread-local",
    "sklearn.cluster.KMeans",
    "model.layers.11.mlp.experts.in",
    "train.en.de",
    "torch 2.11.0, cuda 12.8, nccl 2.27.5, cudnn==9.1.0.70",
    "cudnn/8.0.4.30-cuda-10.2",
    "nvidia-cublas-cu12==12.8.4.1",
    "losses[0,1] = 3",
    "layers[00-11] on rank[00-07]",
    "x[1-2]",
    "File \"train.py\", line 12, in step",
    "{\"role\": \"user\", \"content\": \"hi\"}",
    "user: 12.3s system: 1.2s",
    "[rank0]:     loss = (logits @ labels.T).mean()",
    "@torch.compile(fullgraph=True)",
    "2025-07-13 21:48:00,598 INFO step 3 done in 00:00:12",
    "step 5: update_norm=3.1e-02 identity_error=1.2e-07",
    "[default0]:Step 6: train_loss=nan, grad_norm=nan",
    "--master_port=29510 --nproc-per-node=8 --seed 1337",
    "NCCL_SOCKET_IFNAME=ib0 OMP_NUM_THREADS=8 CUDA_VISIBLE_DEVICES=0,1,2,3",
    "lr=3.0e-04 wd=0.1 betas=(0.9,0.95)",
};

} // namespace

TEST_P(Hay, StaysByteForByte)
{
    EXPECT_EQ(report::redact(GetParam()), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Of, Hay, testing::ValuesIn(hay));

TEST(Haystack, WhatNanscopeSaysItselfStays)
{
    const auto input = handmade::reportInput();
    for (const auto& text : {report::markdownReport(input), report::htmlReport(input), report::jsonReport(input)}) {
        EXPECT_EQ(report::redact(text), text);
    }
    EXPECT_TRUE(report::suspicionsOf(input, {}).empty());
}

TEST(Haystack, LogsOfTheFieldHoldNoKeys)
{
    const auto logs = std::filesystem::path(NANSCOPE_SHARED_DATA) / "logs";
    if (!std::filesystem::exists(logs)) {
        GTEST_SKIP() << "the shared logs are not here";
    }
    for (const auto* name :
        {"SYNTHETIC_kempnerforge_console__plain.log", "two_col_txt__pytorch__torchtitan__llama3_cuda.txt",
            "jsonl__gongghao__openpi__train_log.jsonl", "llmc_main_log__KellerJordan__modded-nanogpt__main.log",
            "nanogpt_console__jackokeefe11__nanoGPT__kt2awly2-output.log"}) {
        std::ifstream file(logs / name);
        std::string line;
        for (int i = 0; i < 500 && std::getline(file, line); ++i) {
            EXPECT_EQ(report::redact(line), line);
        }
    }
}
