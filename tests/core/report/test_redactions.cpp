// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// What a reader of the report could still learn about the reporter, and what the window shows them beforehand.
#include <gmock/gmock.h>

#include "core/report/input/reportinput.h"
#include "core/report/redact/redaction.h"
#include "handmade.h"

using namespace nanscope;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

namespace nanscope::report {

bool operator==(const Redaction& a, const Redaction& b)
{
    return a.text == b.text && a.replacement == b.replacement && a.count == b.count;
}

void PrintTo(const Redaction& redaction, std::ostream* stream)
{
    *stream << redaction.text << " -> " << redaction.replacement << " ×" << redaction.count;
}

} // namespace nanscope::report

namespace {

std::vector<report::Redaction> redactionsIn(const std::string& text)
{
    report::Redactor redactor(true, {});
    redactor.learn(text);
    redactor(text);
    return redactor.made();
}

} // namespace

TEST(Redactions, AreListedInTheOrderTheyAreMet)
{
    EXPECT_THAT(redactionsIn("tcp://trainbox:1 and tcp://trainbox:2"),
        ElementsAre(report::Redaction {"trainbox", "<host>", 2}));
    EXPECT_THAT(redactionsIn("mail a.b@uni.example.org, then /home/alice/x"),
        ElementsAre(
            report::Redaction {"a.b@uni.example.org", "<email>", 1}, report::Redaction {"/home/alice", "<home>", 1}));
    EXPECT_THAT(redactionsIn("step 3: loss 1.0"), ElementsAre());
}

TEST(Redactions, NameOnlyWhatIsPrivate)
{
    EXPECT_THAT(
        redactionsIn(R"(C:\Users\John Doe\x)"), ElementsAre(report::Redaction {R"(C:\Users\John Doe)", "<home>", 1}));
    EXPECT_THAT(redactionsIn("USER=alice"), ElementsAre(report::Redaction {"alice", "<user>", 1}));
    EXPECT_THAT(redactionsIn("peer 10.12.0.3:29500"), ElementsAre(report::Redaction {"10.12.0.3", "<ip>", 1}));
}

TEST(Redactions, OfAReportAreThoseOfItsText)
{
    const auto input = handmade::reportInput();
    EXPECT_THAT(report::reportRedactions(input), ElementsAre(report::Redaction {"/home/alice", "<home>", 2}));
    report::ReportOptions options;
    options.sections = {report::ReportSection::claim};
    EXPECT_THAT(report::reportRedactions(input, options), ElementsAre());
    EXPECT_THAT(report::reportRedactions(input, {false}), ElementsAre());
}

TEST(Redactions, ANameSeenOnceIsKnownInEveryFolder)
{
    EXPECT_EQ(report::redact("/home/alice/x and /data/alice/y"), "<home>/x and /data/<user>/y");
    EXPECT_EQ(report::redact("/mnt/pool/alice-runs, USER=alice"), "/mnt/pool/<user>-runs, USER=<user>");
    EXPECT_EQ(report::redact("alice@node12:~$ ls /nvme/alice"), "<user>@<host>:~$ ls /nvme/<user>");
    EXPECT_EQ(report::redact("/home/max/x absmax max|Q| /data/maxima"), "<home>/x absmax max|Q| /data/maxima");
    EXPECT_EQ(report::redact("/home/ubuntu/x /opt/ubuntu/y"), "<home>/x /opt/ubuntu/y");
    EXPECT_EQ(report::redact("/home/data/x /mnt/data/y"), "<home>/x /mnt/data/y");
}

TEST(Redactions, AHostSeenOnceIsKnownInEveryLine)
{
    EXPECT_EQ(
        report::redact("MASTER_ADDR=gpu-box-7\nrank 3 on gpu-box-7 died"), "MASTER_ADDR=<host>\nrank 3 on <host> died");
    EXPECT_EQ(report::redact("MASTER_ADDR=train\ntrain loss 3"), "MASTER_ADDR=<host>\ntrain loss 3");
}

TEST(Redactions, AReportKnowsTheNamesOfAllItsParts)
{
    auto input = handmade::reportInput();
    input.diagnosis.captures[0].summary = "the checkpoint in /data/alice/ckpt is finite";
    EXPECT_THAT(report::markdownReport(input), HasSubstr("/data/&lt;user\\>/ckpt"));
    EXPECT_THAT(report::jsonReport(input), HasSubstr("/data/<user>/ckpt"));
    EXPECT_THAT(report::htmlReport(input), HasSubstr("/data/&lt;user&gt;/ckpt"));
}

TEST(Redactions, NamesAreLearntFromEveryPathOfTheInput)
{
    report::ReportInput input;
    input.run.name = "x";
    input.diagnosis.headline = "see /data/alice/x and /data/bob/x, /data/carol/x, /data/dave/x, /data/erin/x";
    input.diagnosis.captures = {handmade::birthVerdict()};
    input.run.root = "/home/alice/x";
    input.commandLine = "nanscope report /home/bob/x";
    input.run.captures = {handmade::birthCapture()};
    input.run.captures[0].path = "/home/carol/x.pt";
    input.run.events = {handmade::run().events[0]};
    input.run.events[0].text = "in /home/dave/x";
    input.run.rejected = {{"/home/erin/x", "cut off"}};
    for (const auto& text : {report::markdownReport(input), report::jsonReport(input)}) {
        EXPECT_THAT(text, Not(testing::ContainsRegex("alice|bob|carol|dave|erin")));
    }
}

TEST(Redactions, AKeySeenOnceIsKnownInEveryLine)
{
    EXPECT_EQ(report::redact("password=hunter2\nlogin by hunter2, not hunter22"),
        "password=<secret>\nlogin by <secret>, not hunter22");
    EXPECT_EQ(report::redact("password=training, training loss 3"), "password=<secret>, training loss 3");
}

TEST(Redactions, HostsInTorchrunLines)
{
    EXPECT_EQ(report::redact("torchrun --rdzv-endpoint=trainbox:29500 --master-addr trainbox t.py"),
        "torchrun --rdzv-endpoint=<host>:29500 --master-addr <host> t.py");
    EXPECT_EQ(report::redact("[c10d] The client socket has failed to connect to [trainbox]:29500 (errno: 111)"),
        "[c10d] The client socket has failed to connect to [<host>]:29500 (errno: 111)");
    EXPECT_EQ(report::redact("The IPv6 network addresses of (trainbox, 29500) cannot be retrieved"),
        "The IPv6 network addresses of (<host>, 29500) cannot be retrieved");
    EXPECT_EQ(report::redact("The node 'trainbox_41234_0' has joined round 0"),
        "The node '<host>_41234_0' has joined round 0");
    EXPECT_EQ(report::redact("TCPStore server started on trainbox:29500"), "TCPStore server started on <host>:29500");
    EXPECT_EQ(report::redact("mpirun -np 8 -H boxa:4,boxb:4 python t.py"), "mpirun -np 8 -H <host> python t.py");
    EXPECT_EQ(report::redact("srun -N 2 -w gpu[01-02] t"), "srun -N 2 -w <host> t");
    EXPECT_EQ(report::redact("ssh -p 22 gpu01 nvidia-smi"), "ssh -p 22 <host> nvidia-smi");
    EXPECT_EQ(report::redact("rank 3 at ip-10-0-3-7.ec2"), "rank 3 at <host>");
    EXPECT_EQ(report::redact(R"(copy \\filer\share\x)"), R"(copy \\<host>\share\x)");
}

TEST(Redactions, AddressesAfterAnEqualsSign)
{
    EXPECT_EQ(report::redact("MASTER_ADDR=10.1.2.3"), "MASTER_ADDR=<ip>");
    EXPECT_EQ(report::redact("--rdzv_endpoint=10.1.2.3:29500"), "--rdzv_endpoint=<ip>:29500");
    EXPECT_EQ(report::redact("alice@10.1.2.3"), "<user>@<ip>");
    EXPECT_EQ(
        report::redact("nvidia-cudnn-cu12==9.1.0.70 cudnn=9.1.0.70"), "nvidia-cudnn-cu12==9.1.0.70 cudnn=9.1.0.70");
}

TEST(Redactions, PeopleInAddressesAndLogins)
{
    EXPECT_EQ(report::redact("https://alice:s3cret@git.example.org/x.git"), "https://<user>@<host>/x.git");
    EXPECT_EQ(report::redact("müller@uni.example.org"), "<email>");
    EXPECT_EQ(report::redact("ALICE@UNI.EXAMPLE.ORG,bob@x.org"), "<email>,<email>");
    EXPECT_EQ(report::redact("alice@n1:~$ ls"), "<user>@<host>:~$ ls");
    EXPECT_EQ(report::redact("wandb: Currently logged in as: alice (lab)"), "wandb: Currently logged in as: <user>");
    EXPECT_EQ(report::redact("https://wandb.ai/alice/muon/runs/1"), "https://wandb.ai/<user>/muon/runs/1");
    EXPECT_EQ(report::redact("out = w1@x.view(-1, 3); y = a@b"), "out = w1@x.view(-1, 3); y = a@b");
}

TEST(Redactions, HomesOfOtherSystems)
{
    EXPECT_EQ(report::redact("/home2/alice/x /homes/bob/y"), "<home>/x <home>/y");
    EXPECT_EQ(report::redact("/afs/site/user/a/alice/x"), "<home>/x");
    EXPECT_EQ(report::redact("cat ~alice/x"), "cat <home>/x");
    EXPECT_EQ(report::redact("/lscratch/alice/x"), "/lscratch/<user>/x");
    EXPECT_EQ(report::redact(R"(c:\users\alice\x)"), R"(<home>\x)");
    EXPECT_EQ(report::redact(R"("C:\\Users\\alice\\x")"), R"("<home>\\x")");
    EXPECT_EQ(report::redact("about ~3 steps, x~y"), "about ~3 steps, x~y");
}

TEST(Redactions, KeysAndTokens)
{
    EXPECT_EQ(report::redact("WANDB_API_KEY=0123abc"), "WANDB_API_KEY=<secret>");
    EXPECT_EQ(report::redact("HF_TOKEN=\"abc\""), "HF_TOKEN=\"<secret>\"");
    EXPECT_EQ(report::redact("login hf_abcdefghijklmnopqrstuv ok"), "login <secret> ok");
    EXPECT_EQ(report::redact("MAX_TOKENS=4096 tokens: 5"), "MAX_TOKENS=4096 tokens: 5");
    report::Redactor redactor(true, {});
    redactor("WANDB_API_KEY=0123abc");
    EXPECT_EQ(redactor.counts().secrets, 1);
}

TEST(Redactions, NewRulesChangeNothingTheSecondTime)
{
    for (const auto* text : {"torchrun --master-addr trainbox", "https://a:b@c.example/x", "~alice/x",
             "WANDB_API_KEY=x1", "connect to [trainbox]:2", "alice@10.1.2.3", "MASTER_ADDR=10.1.2.3", "ssh gpu01"}) {
        const auto once = report::redact(text);
        EXPECT_NE(once, text);
        EXPECT_EQ(report::redact(once), once);
    }
}

TEST(Suspicions, SayWhereTheyStandAndHowOften)
{
    const std::string key = "q7Xv2LmB9sTzR4kWcN8yHdJ3pGfA6uEo";
    auto input = handmade::reportInput();
    input.run.events[0].text = "pushed by " + key + " and " + key;
    input.diagnosis.headline = "pulled by " + key;
    const auto found = report::suspicionsOf(input, {});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].text, key);
    EXPECT_EQ(found[0].where, "diagnosis.headline");
    EXPECT_EQ(found[0].count, 3);
    EXPECT_EQ(report::masked(found[0]), "q7Xv...Eo");
    input.diagnosis.headline = "";
    EXPECT_EQ(report::suspicionsOf(input, {})[0].where, "console.log:22");
    EXPECT_THAT(report::markdownReport(input), HasSubstr("texts that look like keys 2"));
}

TEST(Suspicions, AreNoneOnceTheUserKeepsThemOrTheProgramKnowsThem)
{
    const std::string key = "q7Xv2LmB9sTzR4kWcN8yHdJ3pGfA6uEo";
    auto input = handmade::reportInput();
    input.run.events[0].text = "pushed by " + key;
    report::ReportOptions options;
    options.redactions = {{key, key, 0}};
    EXPECT_TRUE(report::suspicionsOf(input, options).empty());
    EXPECT_THAT(report::jsonReport(input, options), HasSubstr("pushed by " + key));
    input.run.captures[0].identity = key;
    EXPECT_TRUE(report::suspicionsOf(input, {}).empty());
}

TEST(Given, ReplacesFirstEverywhereAndIsFinal)
{
    report::Redactor redactor(true, {{"alice", "user@lab.example.org", 0}, {"alice.b", "B", 0}, {"", "x", 0}});
    EXPECT_EQ(
        redactor("alice.b and alice on /srv/alice_x"), "B and user@lab.example.org on /srv/user@lab.example.org_x");
    EXPECT_EQ(redactor.counts().given, 3);
}

TEST(Given, KeepsWhatTheUserWantsToKeep)
{
    report::Redactor redactor(true, {{"/home/shared-models", "/home/shared-models", 0}});
    EXPECT_EQ(redactor("/home/shared-models/x /home/alice/y"), "/home/shared-models/x <home>/y");
}

TEST(Given, WorksWithoutTheRules)
{
    report::Redactor redactor(false, {{"node12", "N", 0}});
    EXPECT_EQ(redactor("/home/alice on node12"), "/home/alice on N");
}

TEST(Given, SurvivesTextThatLooksLikeItsPlaceholders)
{
    report::Redactor redactor(true, {{"alice", "A", 0}, {"\uE000", "B", 0}});
    EXPECT_EQ(redactor("\uFDD0\uE001 alice \uFDD0").find("alice"), std::string::npos);
    report::Redactor other(true, {{"bob", "A", 0}});
    EXPECT_EQ(other("x\uFDD0"), "x\uFFFD");
}

TEST(Given, ReachesEveryFaceOfTheReport)
{
    const auto input = handmade::reportInput();
    report::ReportOptions options;
    options.redactions = {{"gns-gram", "our-kernel", 0}};
    for (const auto& text : {report::markdownReport(input, options), report::htmlReport(input, options),
             report::jsonReport(input, options)}) {
        EXPECT_THAT(text, HasSubstr("our-kernel"));
        EXPECT_THAT(text, Not(HasSubstr("gns-gram")));
    }
    EXPECT_THAT(report::markdownReport(input, options), HasSubstr("chosen by the reporter"));
    options.redact = false;
    EXPECT_THAT(report::jsonReport(input, options), HasSubstr("our-kernel"));
}
