// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/rpc/client.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "core/rpc/requests.h"

namespace nanscope {

namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

/// Answers hello, and every sweep with what `onSweep` does; there $id is the job's.
std::string service(const std::string& onSweep)
{
    return R"(
hello='{"id":1,"hello":{"engine":"fake 1.0","devices":[{"name":"cuda:0","hardware":"a GPU"}],"notes":["a note"]}}'
cell() { echo "{\"id\":$id,\"cell\":{\"variant\":\"gns-gram\",\"precision\":\"$1\",\"device\":\"cuda:0\"}}"; }
while read -r line; do
  id=${line##*\"id\":}; id=${id%%[,\}]*}
  case "$line" in
    *'"hello"'*) echo "$hello" ;;
    *'"sweep"'*) )"
        + onSweep + R"( ;;
  esac
done)";
}

platform::ChildProgram shell(const std::string& script)
{
    return {"/bin/sh", {"-c", script}, {}};
}

rpc::ServiceClient started(const std::string& onSweep)
{
    auto client = rpc::ServiceClient::start(shell(service(onSweep)));
    if (!client) {
        throw std::runtime_error(sentence(client.error()));
    }
    return std::move(*client);
}

std::string startError(
    const std::string& script, std::chrono::milliseconds patience = rpc::ServiceClient::helloPatience)
{
    const auto client = rpc::ServiceClient::start(shell(script), {}, patience);
    return client ? "it started" : sentence(client.error());
}

/// Two cells.
replay::SweepRequest request()
{
    replay::SweepRequest result;
    result.captures = {"a.pt"};
    result.variants = {"gns-gram"};
    result.precisions = {Precision::fp64, Precision::bf16};
    result.devices = {"cuda:0"};
    return result;
}

struct Swept
{
    Result<void> result;
    std::vector<Precision> cells;
    std::vector<Progress> progress;
};

Swept sweptBy(rpc::ServiceClient& client, const std::function<void(CancelToken&)>& onCell = {})
{
    Swept swept;
    JobContext job;
    job.progress = [&](const Progress& progress) { swept.progress.push_back(progress); };
    swept.result = client.sweep(request(), {}, job, [&](const Cell& cell) {
        swept.cells.push_back(cell.precision);
        if (onCell) {
            onCell(job.cancel);
        }
    });
    return swept;
}

std::string errorOf(const Swept& swept)
{
    return swept.result ? "no error" : sentence(swept.result.error());
}

TEST(ServiceClient, HearsWhatTheServiceIs)
{
    const auto client = started("");
    EXPECT_EQ(client.info().engine, "fake 1.0");
    EXPECT_THAT(client.info().devices, ElementsAre(testing::Pair("cuda:0", "a GPU")));
    EXPECT_THAT(client.info().notes, ElementsAre("a note"));
}

TEST(ServiceClient, SweepsOneAfterTheOther)
{
    auto client =
        started(R"(echo "{\"id\":$id,\"progress\":{\"job\":\"sweep\",\"done\":1,\"total\":2,\"unit\":\"cells\"}}";)"
                R"( cell fp64; echo "a library prints this"; cell bf16; echo "{\"id\":$id,\"done\":true}")");
    for (int i = 0; i < 3; ++i) {
        const auto swept = sweptBy(client);
        EXPECT_EQ(errorOf(swept), "no error");
        EXPECT_THAT(swept.cells, ElementsAre(Precision::fp64, Precision::bf16));
        ASSERT_EQ(swept.progress.size(), 1U);
        EXPECT_EQ(swept.progress[0].total, 2);
        EXPECT_EQ(swept.progress[0].unit, "cells");
    }
}

TEST(ServiceClient, OneThatNeverServesIsOneSentence)
{
    EXPECT_EQ(startError("echo first >&2; echo second >&2; echo 'no torch' >&2; exit 7"),
        "The worker ended with status 7 (\"no torch\"): /bin/sh");
    EXPECT_EQ(startError("kill -11 $$"), "The worker was ended by signal 11: /bin/sh");
    EXPECT_EQ(startError("cat >/dev/null", 20ms), "The worker does not say what it is within 0.02 s: /bin/sh");
    EXPECT_EQ(startError("exec yes"), "The worker sends what is no answer and was stopped: /bin/sh");
    EXPECT_EQ(startError("exec yes '{}'", 20ms), "The worker does not say what it is within 0.02 s: /bin/sh");
    EXPECT_EQ(startError("exec cat /dev/zero"), "The worker sends a line without end and was stopped: /bin/sh");
    EXPECT_THAT(startError("echo '{\"id\":1,\"hello\":7}'; exit 0"), StartsWith("The worker ended with status 0"));
}

TEST(ServiceClient, WhatIsDoneIsKeptWhenTheServiceDies)
{
    auto client = started("cell fp64; echo 'a fault' >&2; exit 9");
    const auto swept = sweptBy(client);
    EXPECT_EQ(errorOf(swept), "The worker ended with status 9 (\"a fault\"): /bin/sh");
    EXPECT_THAT(swept.cells, ElementsAre(Precision::fp64));
    EXPECT_EQ(errorOf(sweptBy(client)), "The worker is gone: /bin/sh");
}

TEST(ServiceClient, ErrorsOfTheServiceAreHandedOn)
{
    auto named = started(R"(echo "{\"id\":$id,\"error\":\"the disk is full\"}")");
    EXPECT_EQ(errorOf(sweptBy(named)), "The worker says: the disk is full: /bin/sh");
    auto nameless = started(R"(echo '{"error":"what is this"}')");
    EXPECT_EQ(errorOf(sweptBy(nameless)), "The worker says: what is this: /bin/sh");
}

TEST(ServiceClient, TooFewCellsAndTooManyAreSaid)
{
    auto few = started(R"(cell fp64; echo "{\"id\":$id,\"done\":true}")");
    EXPECT_EQ(errorOf(sweptBy(few)), "The worker left out 1 of the cells: /bin/sh");
    auto many = started("while :; do cell fp64; done");
    const auto swept = sweptBy(many);
    EXPECT_EQ(errorOf(swept), "The worker sends what is no answer and was stopped: /bin/sh");
    EXPECT_EQ(swept.cells.size(), 2U);
    auto others = started("id=99; while :; do cell fp64; done");
    EXPECT_THAT(errorOf(sweptBy(others)), HasSubstr("no answer"));
}

TEST(ServiceClient, CancelIsALineAndTheServiceGoesOn)
{
    auto client = started(
        R"(cell fp64; read -r line; case "$line" in *'"cancel"'*) echo "{\"id\":$id,\"cancelled\":true}";; esac)");
    for (int i = 0; i < 2; ++i) {
        const auto swept = sweptBy(client, [](CancelToken& token) { token.cancel(); });
        ASSERT_FALSE(swept.result);
        EXPECT_EQ(swept.result.error().kind, ErrorKind::cancelled);
        EXPECT_EQ(swept.cells.size(), 1U);
    }
}

TEST(ServiceClient, OneThatIgnoresCancelIsKilled)
{
    auto client = started("trap '' INT TERM; cell fp64; sleep 1000");
    const auto swept = sweptBy(client, [](CancelToken& token) { token.cancel(); });
    ASSERT_FALSE(swept.result);
    EXPECT_EQ(swept.result.error().kind, ErrorKind::cancelled);
    EXPECT_EQ(errorOf(sweptBy(client)), "The worker is gone: /bin/sh");
}

TEST(ServiceClient, ASweepNobodyCancelledDidNotSucceed)
{
    auto client = started(R"(echo "{\"id\":$id,\"cancelled\":true}")");
    const auto swept = sweptBy(client);
    EXPECT_EQ(errorOf(swept), "The worker was stopped by somebody else: /bin/sh");
    EXPECT_EQ(swept.result.error().kind, ErrorKind::io);
}

TEST(ServiceClient, StartIsCancelledToo)
{
    CancelToken token;
    token.cancel();
    const auto client = rpc::ServiceClient::start(shell("cat >/dev/null"), token);
    ASSERT_FALSE(client);
    EXPECT_EQ(client.error().kind, ErrorKind::cancelled);
}

TEST(ServiceRequest, ASweepComesBackAsItWasSent)
{
    auto sent = request();
    sent.lowerings = {Lowering::fused, Lowering::eager};
    sent.epsilon = 1.0 / 3;
    sent.steps = 7;
    sent.deep = true;
    sent.cells = {{sent.variants.front(), Precision::fp16, Lowering::fused, 1e-3, {}, "cuda:1", true}};
    const auto line = rpc::sweepToJson({sent, {"run.nanscope", "cafe"}}).dump();
    EXPECT_EQ(line.find('\n'), std::string::npos);
    const auto json = rpc::parseServiceLine(line);
    EXPECT_EQ(json["do"], "sweep");
    EXPECT_EQ(json["session"], "run.nanscope");
    const auto order = rpc::sweepFromJson(json, {});
    ASSERT_TRUE(order);
    EXPECT_EQ(order->kept, (rpc::KeptIn {"run.nanscope", "cafe"}));
    const auto* back = &order->request;
    EXPECT_EQ(back->captures, sent.captures);
    EXPECT_EQ(back->variants, sent.variants);
    EXPECT_EQ(back->precisions, sent.precisions);
    EXPECT_EQ(back->lowerings, sent.lowerings);
    EXPECT_EQ(back->devices, sent.devices);
    EXPECT_EQ(back->epsilon, sent.epsilon);
    EXPECT_EQ(back->steps, sent.steps);
    EXPECT_EQ(back->cells, sent.cells);
    EXPECT_TRUE(back->deep);
    const auto plain = rpc::sweepFromJson(rpc::sweepToJson({request(), {}}), {});
    ASSERT_TRUE(plain);
    EXPECT_EQ(plain->kept, rpc::KeptIn());
    EXPECT_TRUE(plain->request.lowerings.empty());
    EXPECT_TRUE(plain->request.cells.empty());
    EXPECT_FALSE(plain->request.epsilon || plain->request.steps || plain->request.deep);
}

TEST(ServiceRequest, DeepGaugesComeBackAsTheyWereSent)
{
    replay::DeepRequest sent;
    sent.capture = "a.pt";
    sent.cell = {"gns-gram", Precision::fp16, Lowering::eager, 1e-3, 4, "cuda:1", false};
    sent.batch = 2;
    const auto json = rpc::parseServiceLine(rpc::deepToJson({sent, {"run.nanscope", "cafe"}}).dump());
    EXPECT_EQ(json["do"], "deep");
    EXPECT_EQ(json["session"], "run.nanscope");
    const auto back = rpc::deepFromJson(json, {});
    ASSERT_TRUE(back);
    EXPECT_EQ(back->request, sent);
    EXPECT_EQ(back->kept, (rpc::KeptIn {"run.nanscope", "cafe"}));
}

} // namespace

} // namespace nanscope
