// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "core/report/report.h"

using nanscope::report::redact;

TEST(Redact, HomePathsKeepTheirRelativePart)
{
    EXPECT_EQ(redact("dumped to /home/alice/runs/x.pt"), "dumped to <home>/runs/x.pt");
    EXPECT_EQ(redact("/Users/bob.smith/work"), "<home>/work");
    EXPECT_EQ(redact("/mnt/nfs/home/carol/log"), "<home>/log");
    EXPECT_EQ(redact("(\"/home/alice\")"), "(\"<home>\")");
    EXPECT_EQ(redact("/home/a/x:/home/b/y"), "<home>/x:<home>/y");
}

TEST(Redact, WindowsHomesMayHoldSpaces)
{
    EXPECT_EQ(redact(R"(C:\Users\John Doe\runs\x.pt)"), R"(<home>\runs\x.pt)");
    EXPECT_EQ(redact("D:/Users/jd/x"), "<home>/x");
    EXPECT_EQ(redact(R"(cd C:\Users\jd)"), "cd <home>");
}

TEST(Redact, UsersAndMails)
{
    EXPECT_EQ(redact("mail alice.b@uni-x.example.org now"), "mail <email> now");
    EXPECT_EQ(redact("alice@node12:~$ torchrun"), "<user>@<host>:~$ torchrun");
    EXPECT_EQ(redact("USER=alice LOGNAME: bob"), "USER=<user> LOGNAME: <user>");
    EXPECT_EQ(redact("/scratch/alice/run"), "/scratch/<user>/run");
}

TEST(Redact, HostNamesInLogPrefixes)
{
    EXPECT_EQ(redact("Nov 21 04:12:58 login7 kernel: NVRM: Xid"), "Nov 21 04:12:58 <host> kernel: NVRM: Xid");
    EXPECT_EQ(redact("gpuhost3:411:502 [0] NCCL INFO Bootstrap"), "<host>:411:502 [0] NCCL INFO Bootstrap");
    EXPECT_EQ(redact("node-12: Step 3: loss 1.0"), "<host>: Step 3: loss 1.0");
    EXPECT_EQ(redact("[node12:41234] mpi abort"), "[<host>:41234] mpi abort");
    EXPECT_EQ(redact("  host      : n12.cluster.example"), "  host      : <host>");
    EXPECT_EQ(redact("MASTER_ADDR=trainbox"), "MASTER_ADDR=<host>");
    EXPECT_EQ(redact("tcp://trainbox:29500"), "tcp://<host>:29500");
    EXPECT_EQ(redact("events.out.tfevents.1664284826.DESKTOP-27.7852.0.v2"),
        "events.out.tfevents.1664284826.<host>.7852.0.v2");
    EXPECT_EQ(redact("on gpu4.ai.internal at"), "on <host> at");
}

TEST(Redact, AddressesGoAndVersionsStay)
{
    EXPECT_EQ(redact("peer 10.12.0.3:29500"), "peer <ip>:29500");
    EXPECT_EQ(redact("fe80::1ff:fe23:4567:890a up"), "<ip> up");
    EXPECT_EQ(redact("nvidia-cudnn-cu12==9.1.0.70"), "nvidia-cudnn-cu12==9.1.0.70");
    EXPECT_EQ(redact("torch 2.11.0 at 04:12:58"), "torch 2.11.0 at 04:12:58");
    EXPECT_EQ(redact("std::vector<c10::Half>"), "std::vector<c10::Half>");
}

TEST(Redact, WhatAMaintainerNeedsStays)
{
    const char* const lines[] = {"[default0]:Step 6: train_loss=nan, grad_norm=nan", "[rank1]: RuntimeError: bad",
        "rank0: loss 3", "cuda:0 GPU-3f2a", "File \"train.py\", line 12, in step", "X @ X.mT", "step5: 1",
        "dion_nan_captures/dion_nan_capture_rank0_shape1x160x96_pid27434_1795234396390.pt"};
    for (const auto* line : lines) {
        EXPECT_EQ(redact(line), line);
    }
}

TEST(Redact, LongLinesAreNoTrouble)
{
    const std::string line(1 << 20, 'a');
    EXPECT_EQ(redact(line), line);
}
