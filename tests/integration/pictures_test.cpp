// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Films and frames out of a `nanscope serve` that runs as a process of its own.
#include <algorithm>
#include <thread>

#include <gmock/gmock.h>

#include "core/platform/childprocess.h"
#include "core/platform/sharedmemory.h"
#include "core/rpc/answers.h"
#include "core/rpc/client.h"
#include "core/rpc/requests.h"
#include "program.h"
#include "workfolder.h"

using namespace nanscope;
using namespace nanscope::testing;
using Json = nlohmann::ordered_json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

namespace fs = std::filesystem;

namespace {

using namespace std::chrono_literals;

/// The process itself, not a shell around it: it is killed by its number.
const platform::ChildProgram program {NANSCOPE_PROGRAM, {"serve"}, {}};

/// True while somebody may still fetch this block.
bool left(const std::string& name)
{
    return fs::exists("/dev/shm" + name);
}

class Pictures : public ::testing::Test
{
protected:
    void SetUp() override { m_capture = writeCapture(m_folder / "a.pt"); }

    replay::FilmRequest film(Precision precision) const
    {
        return {m_capture, {"torch-muon", precision, Lowering::eager, {}, {}, "cpu", false}, 0, {}};
    }

    /// A sweep that takes its time.
    Json longSweep(int id)
    {
        const auto big = writeCapture(m_folder / "big.pt", {1024, 1024, false, true});
        return {{"id", id}, {"do", "sweep"}, {"captures", {big}}, {"variants", {"torch-muon", "gns-gram", "dion-ns5"}},
            {"precisions", {"fp64", "fp32", "bf16"}}};
    }

    WorkFolder m_folder;
    std::string m_capture;
};

/// Lines, as the window sends and reads them.
class Lines
{
public:
    Lines()
        : m_process(platform::ChildProcess::start(program).value())
    { }

    void send(const std::string& line) { ASSERT_TRUE(m_process.writeLine(line, later())); }
    void send(Json request, int id)
    {
        request["id"] = id;
        send(request.dump());
    }

    Json receive()
    {
        std::string line;
        const auto got = m_process.readLine(line, later());
        return got && *got == platform::ChildProcess::Got::line ? Json::parse(line) : Json();
    }

    /// The next answer that is no progress.
    Json answer()
    {
        auto json = receive();
        while (json.contains("progress")) {
            json = receive();
        }
        return json;
    }

    Json answerWith(const char* key)
    {
        auto json = receive();
        while (!json.is_null() && !json.contains(key)) {
            json = receive();
        }
        return json;
    }

    void kill() { m_process.kill(); }
    void end() { m_process.end(later()); }

private:
    static platform::ChildProcess::Clock::time_point later() { return platform::ChildProcess::Clock::now() + 60s; }

    platform::ChildProcess m_process;
};

void expectSame(const OpTrace& got, const OpTrace& wanted)
{
    EXPECT_EQ(got.op, wanted.op);
    EXPECT_EQ(got.batches, wanted.batches);
    EXPECT_EQ(got.tiles, wanted.tiles);
}

} // namespace

TEST_F(Pictures, FilmsAndFramesAreThoseOfThisProcess)
{
    auto client = rpc::ServiceClient::start(program).value();
    for (auto request : {film(Precision::bf16), film(Precision::fp64)}) {
        for (const auto& against : {replay::Against {}, replay::againstFp64(request.cell)}) {
            request.against = against;
            const auto got = client.film(request);
            ASSERT_TRUE(got) << sentence(got.error());
            const auto wanted = replay::replayFilm(request, replay::makeCoreDevice).value();
            ASSERT_EQ(got->ops.size(), wanted.ops.size());
            for (std::size_t op = 0; op < wanted.ops.size(); ++op) {
                expectSame(got->ops[op], wanted.ops[op]);
            }
            EXPECT_EQ(got->distances, wanted.distances);
            const replay::FrameRequest one {request, 4, replay::Region {1, 2, 3, 4}};
            const auto frame = client.frame(one);
            ASSERT_TRUE(frame) << sentence(frame.error());
            const auto same = replay::FrameReplay(replay::makeCoreDevice).frame(one).value();
            expectSame(frame->trace, same.trace);
            EXPECT_EQ(frame->floats, same.floats);
            EXPECT_EQ(frame->doubles, same.doubles);
        }
    }
}

TEST_F(Pictures, AgainstTheCapturedOutputTheDumpsNanShows)
{
    auto client = rpc::ServiceClient::start(program).value();
    auto request = film(Precision::fp32);
    request.against.kind = replay::Against::Kind::output;
    const auto got = client.film(request);
    ASSERT_TRUE(got) << sentence(got.error());
    EXPECT_EQ(got->ops.back().batches.at(0).nan, 1);
}

TEST_F(Pictures, WrongRequestsAreOneSentenceAndTheServiceGoesOn)
{
    auto client = rpc::ServiceClient::start(program).value();
    auto request = film(Precision::fp32);
    request.capture = m_folder / "none.pt";
    EXPECT_THAT(sentence(client.film(request).error()), HasSubstr("none.pt"));
    request.capture = m_capture;
    request.batch = 9;
    EXPECT_THAT(sentence(client.frame({request, 0, {}}).error()), HasSubstr("no matrix 9"));
    request.batch = 0;
    EXPECT_THAT(sentence(client.frame({request, 99, {}}).error()), HasSubstr("no op 99"));
    EXPECT_THAT(sentence(client.frame({request, 0, replay::Region {0, 0, 999, 1}}).error()), HasSubstr("within"));
    request.cell.device = "cuda:9";
    EXPECT_THAT(sentence(client.film(request).error()), HasSubstr("cuda:9"));
    request.cell.device = "cpu";
    EXPECT_TRUE(client.film(request));
}

TEST_F(Pictures, TheyOvertakeSweepsThatWait)
{
    Lines service;
    service.send(longSweep(1).dump());
    service.send(longSweep(2).dump());
    service.send(rpc::filmToJson(film(Precision::fp32)), 3);
    service.send(Json {{"do", "cancel"}, {"job", 1}}, 4);
    service.send(Json {{"do", "cancel"}, {"job", 2}}, 5);
    std::vector<int> ended;
    while (ended.size() < 3) {
        const auto answer = service.answer();
        ASSERT_TRUE(answer.is_object());
        if (answer["id"] <= 3 && (answer.contains("done") || answer.contains("cancelled"))) {
            ended.push_back(answer["id"]);
        }
        rpc::discardAnswer(answer);
    }
    EXPECT_THAT(ended, ElementsAre(1, 3, 2));
}

TEST_F(Pictures, CancelEndsOneThatRuns)
{
    Lines service;
    auto request = film(Precision::fp64);
    request.capture = writeCapture(m_folder / "big.pt", {1024, 1024, false, true});
    request.cell.steps = 100;
    service.send(rpc::filmToJson(request), 1);
    EXPECT_EQ(service.receive()["progress"]["unit"], "ops");
    service.send(Json {{"do", "cancel"}, {"job", 1}}, 2);
    EXPECT_THAT((std::vector {service.answer(), service.answer()}),
        UnorderedElementsAre(Json {{"id", 2}, {"done", true}}, Json {{"id", 1}, {"cancelled", true}}));
    service.send(rpc::filmToJson(film(Precision::fp32)), 3);
    EXPECT_TRUE(rpc::unpackFilm(service.answer()));
}

TEST_F(Pictures, TheClientCancelsToo)
{
    auto client = rpc::ServiceClient::start(program).value();
    JobContext job;
    int reports = 0;
    job.progress = [&](const Progress& progress) {
        EXPECT_EQ(progress.job, "film");
        if (++reports == 3) {
            job.cancel.cancel();
        }
    };
    auto request = film(Precision::fp64);
    request.capture = writeCapture(m_folder / "big.pt", {1024, 1024, false, true});
    request.cell.steps = 100;
    const auto stopped = client.film(request, job);
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().kind, ErrorKind::cancelled);
    EXPECT_TRUE(client.film(film(Precision::fp32)));
}

TEST_F(Pictures, BlocksThatNobodyFetchesMakeRoomForLaterOnes)
{
    Lines service;
    std::vector<std::string> names;
    for (int id = 1; id <= 6; ++id) {
        service.send(rpc::filmToJson(film(Precision::fp32)), id);
        names.push_back(service.answerWith("film")["film"]["block"]["name"]);
        service.answerWith("done");
    }
    std::vector<bool> there;
    std::transform(names.begin(), names.end(), std::back_inserter(there), left);
    EXPECT_THAT(there, ElementsAre(false, false, true, true, true, true));
    service.end();
    for (const auto& name : names) {
        EXPECT_FALSE(left(name)) << "the end of the process";
    }
}

TEST_F(Pictures, AProcessThatWasKilledLeavesNothingOnceTheNextOneRuns)
{
    Lines killed;
    killed.send(rpc::filmToJson(film(Precision::fp32)), 1);
    const auto answer = killed.answerWith("film");
    const std::string name = answer["film"]["block"]["name"];
    killed.kill();
    const Lines next;
    for (int i = 0; i < 200 && left(name); ++i) {
        std::this_thread::sleep_for(50ms);
    }
    EXPECT_FALSE(left(name));
    EXPECT_THAT(sentence(rpc::unpackFilm(answer).error()), HasSubstr("gone"));
}

TEST_F(Pictures, ReadingThemLeavesNothing)
{
    Lines service;
    for (int id = 1; id <= 10; ++id) {
        service.send(rpc::frameToJson({film(Precision::fp32), static_cast<std::size_t>(id), {}}), id);
        const auto answer = service.answerWith("frame");
        ASSERT_TRUE(rpc::unpackFrame(answer));
        EXPECT_FALSE(left(answer["frame"]["block"]["name"]));
    }
}
