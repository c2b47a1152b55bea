// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// Names that are harder to find than alice's, and everyday text that must not be torn apart.
#include <cstdlib>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "core/report/input/reportinput.h"
#include "core/report/redact/redaction.h"
#include "handmade.h"

using namespace nanscope;
using handmade::HomeFolder;
using testing::HasSubstr;
using testing::Not;

namespace {

report::Redactor redactorOf(const std::string& text)
{
    report::Redactor redactor(true, {});
    redactor.learn(text);
    redactor(text);
    return redactor;
}

} // namespace

TEST(Privacy, TheReportersOwnHomeIsFoundWhereverItLies)
{
    const HomeFolder home("/data/people/mx-4711");
    EXPECT_EQ(report::redact("dumped to /data/people/mx-4711/run/x.pt"), "dumped to <home>/run/x.pt");
    EXPECT_EQ(report::redact("HOME=/data/people/mx-4711"), "HOME=<home>");
    EXPECT_EQ(report::redact("/data/people/mx-4711:/data/people/mx-4711/b"), "<home>:<home>/b");
    EXPECT_EQ(report::redact("/data/people/mx-47112/x"), "/data/people/mx-47112/x")
        << "somebody else, and no rule knows them";
}

TEST(Privacy, AHomeThatEndsWithASlashIsStillTheHome)
{
    for (const auto* path : {"/data/people/mx-4711/", "/data/people/mx-4711//"}) {
        const HomeFolder home(path);
        EXPECT_EQ(report::redact("dumped to /data/people/mx-4711/run/x.pt"), "dumped to <home>/run/x.pt");
        EXPECT_EQ(report::redact("HOME=/data/people/mx-4711"), "HOME=<home>");
    }
}

TEST(Privacy, AHomeOfOneSlashHidesNothing)
{
    for (const auto* path : {"/", "//", ""}) {
        const HomeFolder home(path);
        EXPECT_EQ(report::redact("/opt/x //y"), "/opt/x //y");
    }
}

TEST(Privacy, ARelativeHomeHidesNothing)
{
    const HomeFolder home("run");
    EXPECT_EQ(report::redact("run 5 of run"), "run 5 of run");
}

TEST(Privacy, HomesOfEveryKindOfName)
{
    EXPECT_EQ(report::redact("/home/j.o'neil/x"), "<home>'neil/x") << "a quote ends a path, as it does in a shell";
    EXPECT_EQ(report::redact("/home/müller/x"), "<home>/x");
    EXPECT_EQ(report::redact("/home/山田/x"), "<home>/x");
    EXPECT_THAT(report::redact("/home/ford+42@lab/x"), Not(testing::ContainsRegex("ford|lab")));
    EXPECT_EQ(report::redact("/Users/a-b_c/Library"), "<home>/Library");
    EXPECT_EQ(report::redact("file:///home/bob/x"), "file://<home>/x");
    EXPECT_EQ(report::redact("\"/home/bob\",\"/home/carol\""), "\"<home>\",\"<home>\"");
    EXPECT_EQ(report::redact("/lustre/fs1/home/bob/x"), "<home>/x");
    EXPECT_EQ(report::redact("cd /root"), "cd <home>");
    EXPECT_EQ(report::redact("/root/.cache"), "<home>/.cache");
}

TEST(Privacy, WordsThatOnlyLookLikeHomesStay)
{
    for (const auto* text : {"/rootfs/x", "the root of it", "/opt/homebrew/bin", "home/alice", "/usr/share/users.txt",
             "chroot /srv", "at /roots"}) {
        EXPECT_EQ(report::redact(text), text);
    }
}

TEST(Privacy, HostsInEveryVariableOfALauncher)
{
    EXPECT_EQ(report::redact("SLURM_NODELIST=gpu[01-04]"), "SLURM_NODELIST=<host>");
    EXPECT_EQ(report::redact("SLURMD_NODENAME: trainbox"), "SLURMD_NODENAME: <host>");
    EXPECT_EQ(report::redact("hostname=trainbox"), "hostname=<host>");
    EXPECT_EQ(report::redact("rdzv_endpoint=trainbox:29500"), "rdzv_endpoint=<host>:29500");
    EXPECT_EQ(
        report::redact("[default0]:trainbox:411:502 [0] NCCL INFO x"), "[default0]:<host>:411:502 [0] NCCL INFO x");
    EXPECT_EQ(report::redact("2026-11-21T04:13:16+00:00 trainbox kernel: NVRM"),
        "2026-11-21T04:13:16+00:00 <host> kernel: NVRM");
    EXPECT_EQ(report::redact("ip-10-0-3-7: loss 3"), "<host>: loss 3");
    EXPECT_EQ(report::redact("nccl://trainbox:1"), "nccl://<host>:1");
}

TEST(Privacy, EveryLineOfALongTextIsSearched)
{
    std::string text;
    for (int i = 0; i < 1000; ++i) {
        text += "node-" + std::to_string(i) + ": step " + std::to_string(i) + "\n";
    }
    EXPECT_EQ(redactorOf(text).counts().hosts, 1000);
}

TEST(Privacy, CountsAreKeptByKind)
{
    const auto counts =
        redactorOf("alice.b@uni.example.org /home/bob/x /scratch/carol 10.0.0.7 tcp://trainbox:1").counts();
    EXPECT_EQ(counts.emails, 1);
    EXPECT_EQ(counts.homes, 1);
    EXPECT_EQ(counts.users, 1);
    EXPECT_EQ(counts.addresses, 1);
    EXPECT_EQ(counts.hosts, 1);
    EXPECT_EQ(counts.secrets + counts.suspicions, 0);
}

TEST(Privacy, RedactingTwiceChangesNothingMore)
{
    for (const auto* text : {"/home/alice/x on trainbox7.internal", "USER=bob MASTER_ADDR=trainbox", "bob@node12:~$ x",
             "peer 10.12.0.3:29500", "Nov 21 04:12:58 login7 kernel: x"}) {
        const auto once = report::redact(text);
        EXPECT_EQ(report::redact(once), once);
        EXPECT_NE(once, text);
    }
}

TEST(Privacy, TextThatIsNotUtf8IsNotLost)
{
    EXPECT_EQ(report::redact("a\xff\xfe /home/alice/x"), "a\xff\xfe <home>/x");
}

TEST(Privacy, NamesInOldEncodingsAreHiddenWhole)
{
    EXPECT_EQ(report::redact("/home/j\xfcrgen/x"), "<home>/x");
    EXPECT_EQ(report::redact("/home/\xe9lodie/x and /data/\xe9lodie/y"), "<home>/x and /data/<user>/y");
    EXPECT_EQ(report::redact("j\xfcrgen@uni.example.org or \xf6nder@node12"), "<email> or <user>@<host>");
    EXPECT_EQ(report::redact("~j\xfcrgen/x, logged in as j\xfcrgen"), "<home>/x, logged in as <user>");
    EXPECT_EQ(report::redact("C:\\Users\\j\xfcrgen\\x"), "<home>\\x");
    EXPECT_EQ(redactorOf("/home/j\xfcrgen/x").made().front().text, "/home/j\xfcrgen");
    const HomeFolder home("/data/people/m\xfcller");
    EXPECT_EQ(report::redact("/data/people/m\xfcller/x"), "<home>/x");
}

TEST(Privacy, WhatIsNotANameKeepsItsOldEncoding)
{
    for (const auto* text : {"\xa0loss \xc3 3", "\xf4\x8f\x9e\x80 is a character \xff", "a\xed\xa0\x80 b", "\xc0\xaf",
             "cut off \xf4\x8f"}) {
        EXPECT_EQ(report::redact(text), text);
    }
}

TEST(Privacy, NamesOfEveryScriptAreHiddenWhole)
{
    EXPECT_EQ(report::redact("önder@node12"), "<user>@<host>");
    EXPECT_EQ(report::redact("~jürgen/x"), "<home>/x");
    EXPECT_EQ(report::redact("/home/山田/x /data/山田/y"), "<home>/x /data/<user>/y");
}

TEST(Privacy, AReportHidesNamesInEveryFieldItShows)
{
    auto input = handmade::reportInput();
    const std::string secret = "/home/zaphod/run";
    auto& verdict = input.diagnosis.captures[0];
    verdict.summary = secret;
    verdict.kind = secret;
    verdict.question = secret;
    verdict.speaksFor = {{secret, secret}};
    verdict.speaksAgainst = {{secret, secret}};
    verdict.notTestable = {{secret, secret}};
    verdict.next = {{{}, secret, secret, {}, {}}};
    verdict.facts.damage.text = secret;
    verdict.members[0].firstBad = secret;
    input.diagnosis.headline = secret;
    input.run.rejected = {{secret, secret}};
    input.run.series[0].source = secret;
    input.run.events[0].source = secret;
    input.cells[0].error = secret;
    input.cells[0].environment.engine = secret;
    input.commandLine = secret;
    for (const auto& report : {report::markdownReport(input), report::jsonReport(input)}) {
        EXPECT_THAT(report, Not(HasSubstr("zaphod")));
        EXPECT_THAT(report, HasSubstr("home"));
    }
    for (const auto& report : {report::markdownReport(input, {false}), report::jsonReport(input, {false})}) {
        EXPECT_THAT(report, HasSubstr("zaphod"));
    }
}
