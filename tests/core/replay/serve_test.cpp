// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/rpc/server.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iostream>
#include <mutex>
#include <random>
#include <sstream>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "core/replay/variants/catalogue.h"
#include "core/replay/variants/variant.h"
#include "core/rpc/requests.h"
#include "core/session/session.h"
#include "core/tensorfile/tensorfile.h"
#include "tests/core/replay/devicearound.h"
#include "tests/core/replay/runningservice.h"
#include "tests/core/session/temporaryfolder.h"

namespace nanscope {

namespace {

using SortedJson = nlohmann::json;
using namespace std::chrono_literals;
using testing::HasSubstr;

/// core's own device, held back at an instruction until the test lets it go on.
class Gate
{
public:
    void pass()
    {
        std::unique_lock lock(m_mutex);
        ++m_arrived;
        m_wake.notify_all();
        m_wake.wait(lock, [this] { return m_open; });
    }
    void open()
    {
        const std::lock_guard lock(m_mutex);
        m_open = true;
        m_wake.notify_all();
    }
    void waitForArrival()
    {
        std::unique_lock lock(m_mutex);
        m_wake.wait(lock, [this] { return m_arrived > 0; });
    }
    int arrived()
    {
        const std::lock_guard lock(m_mutex);
        return m_arrived;
    }

private:
    std::mutex m_mutex;
    std::condition_variable m_wake;
    bool m_open = false;
    int m_arrived = 0;
};

class GatedDevice : public test::DeviceAround
{
public:
    explicit GatedDevice(Gate& gate, std::chrono::milliseconds perInstruction = {})
        : m_gate(gate)
        , m_perInstruction(perInstruction)
    { }
    Result<void> run(const replay::Instruction& instruction) override
    {
        m_gate.pass();
        std::this_thread::sleep_for(m_perInstruction);
        return DeviceAround::run(instruction);
    }

private:
    Gate& m_gate;
    std::chrono::milliseconds m_perInstruction;
};

tensorfile::TensorToWrite tensor(std::string name, const Shape& shape, std::uint32_t seed)
{
    std::mt19937 engine(seed);
    std::normal_distribution<float> normal;
    tensorfile::TensorToWrite result {std::move(name), DType::float32, shape, {}};
    std::int64_t count = 1;
    for (const auto size : shape) {
        count *= size;
    }
    std::vector<float> values;
    for (std::int64_t i = 0; i < count; ++i) {
        values.push_back(normal(engine));
    }
    result.bytes.resize(values.size() * sizeof(float));
    std::memcpy(result.bytes.data(), values.data(), result.bytes.size());
    return result;
}

class Serve : public testing::Test, protected test::RunningService
{
protected:
    Gate gate; ///< a sweep that no test waits for passes it until finish()

    void SetUp() override
    {
        for (const std::uint32_t i : {0U, 1U}) {
            const Shape shape {1, 12 + i, 20};
            const auto path = m_folder / fmt::format("capture{}.pt", i);
            ASSERT_TRUE(tensorfile::writePt(path, {{"input", tensor("input", shape, i)}, {"epsilon", 1e-7}}));
            m_captures.push_back(path.string());
        }
    }

    void TearDown() override
    {
        gate.open();
        finish();
    }

    SortedJson sweep(int id) const
    {
        return {{"id", id}, {"do", "sweep"}, {"captures", m_captures}, {"variants", {"dion-ns5"}},
            {"precisions", {"fp32", "fp64"}}, {"lowerings", {"eager"}}};
    }

    /// Some cells of the first captures in a session of their own.
    std::filesystem::path sweepIntoSession()
    {
        auto path = m_folder / "run.nanscope";
        auto request = sweep(5);
        request["session"] = path.string();
        send(request.dump());
        receiveUntil([](const SortedJson& answer) { return answer.contains("done"); });
        return path;
    }

    TemporaryFolder m_folder;
    std::vector<std::string> m_captures;
};

TEST_F(Serve, saysWhatItIs)
{
    start();
    send(R"({"id":1,"do":"hello"})");
    const auto answer = receive();
    EXPECT_EQ(answer["id"], 1);
    EXPECT_EQ(answer["hello"]["engine"], "eigen test");
    EXPECT_EQ(answer["hello"]["devices"][0]["name"], "cpu");
    EXPECT_EQ(answer["hello"]["devices"][0]["hardware"], "some processor");
    EXPECT_EQ(answer["hello"]["notes"][0], "no GPU: none here");
    EXPECT_EQ(finish(), 0);
}

TEST_F(Serve, sweepAnswersEveryCellAndThenDone)
{
    start();
    send(sweep(2).dump());
    std::vector<std::string> cells;
    int reports = 0;
    const auto last = receiveUntil([&](const SortedJson& answer) {
        EXPECT_EQ(answer["id"], 2);
        if (answer.contains("cell")) {
            const auto& cell = answer["cell"];
            EXPECT_EQ(cell["outcome"], "finite") << cell;
            EXPECT_FALSE(cell.contains("ops"));
            cells.push_back(cell["capture"].get<std::string>() + " " + cell["precision"].get<std::string>());
        }
        reports += answer.contains("progress") ? 1 : 0;
        return answer.contains("done") || answer.contains("error");
    });
    EXPECT_EQ(last["done"], true) << last;
    EXPECT_EQ(cells,
        (std::vector<std::string> {"capture0.pt fp64", "capture0.pt fp32", "capture1.pt fp64", "capture1.pt fp32"}));
    EXPECT_GE(reports, 4);
}

TEST_F(Serve, cellsAreStoredWithTheirTilesInTheSessionThatIsNamed)
{
    start();
    const auto path = m_folder / "run.nanscope";
    auto request = sweep(5);
    request["session"] = path.string();
    send(request.dump());
    const auto last =
        receiveUntil([](const SortedJson& answer) { return answer.contains("done") || answer.contains("error"); });
    ASSERT_EQ(last["done"], true) << last;
    finish();
    auto session = session::Session::open(path, session::OpenMode::readOnly);
    ASSERT_TRUE(session) << session.error().what;
    const auto cells = session->cells();
    ASSERT_TRUE(cells) << cells.error().what;
    ASSERT_EQ(cells->size(), 4U);
    const auto traces = session->opTraces(cells->front().id);
    ASSERT_TRUE(traces) << traces.error().what;
    ASSERT_FALSE(traces->empty());
    EXPECT_FALSE(traces->front().tiles.empty());
}

TEST_F(Serve, deepGaugesAreAnsweredAsTheCellTheyAreKeptWith)
{
    start();
    const auto path = sweepIntoSession();
    const SortedJson request {{"id", 6}, {"do", "deep"}, {"capture", m_captures[0]}, {"variant", "dion-ns5"},
        {"precision", "bf16"}, {"session", path.string()}};
    for (const int id : {6, 7}) {
        auto each = request;
        each["id"] = id;
        send(each.dump());
        int reports = 0;
        const auto answer = receiveUntil([&](const SortedJson& line) {
            reports += line.contains("progress") ? 1 : 0;
            return !line.contains("progress");
        });
        ASSERT_TRUE(answer.contains("deep")) << answer;
        const auto& cell = answer["deep"];
        EXPECT_EQ(cell["precision"], "bf16");
        EXPECT_EQ(cell["outcome"], "finite");
        EXPECT_GT(cell["gauges"].back()["iterate_distance"].get<double>(), 0);
        EXPECT_TRUE(cell["gauges"][0].contains("absmax_x")) << "the others are there, too";
        EXPECT_GT(reports, 10);
        EXPECT_EQ(receive(), SortedJson({{"id", id}, {"done", true}}));
    }
    finish();
    const auto cells = session::Session::open(path, session::OpenMode::readOnly)->cells();
    const auto kept =
        std::find_if(cells->begin(), cells->end(), [](const Cell& cell) { return cell.precision == Precision::bf16; });
    ASSERT_NE(kept, cells->end()) << "it was not there and was replayed";
    EXPECT_TRUE(kept->deep);
    EXPECT_EQ(std::count_if(cells->begin(), cells->end(), [](const Cell& cell) { return cell.deep.has_value(); }), 1);
}

TEST_F(Serve, deepGaugesAreNotKeptInAnotherRunsSession)
{
    start();
    const auto path = sweepIntoSession();
    ASSERT_TRUE(session::Session::open(path, session::OpenMode::readWrite)->setRun("one", "/one"));
    SortedJson request {{"id", 6}, {"do", "deep"}, {"capture", m_captures[0]}, {"variant", "dion-ns5"},
        {"precision", "bf16"}, {"session", path.string()}, {"run", session::hashText("another run")}};
    send(request.dump());
    EXPECT_THAT(receive().value("error", ""), HasSubstr("another run's"));
    request["session"] = (m_folder / "gone.nanscope").string();
    send(request.dump());
    EXPECT_THAT(receive().value("error", ""), HasSubstr("is gone"));
    finish();
    const auto cells = session::Session::open(path, session::OpenMode::readOnly)->cells();
    EXPECT_TRUE(std::none_of(cells->begin(), cells->end(), [](const Cell& cell) { return cell.deep.has_value(); }));
    EXPECT_FALSE(std::filesystem::exists(m_folder / "gone.nanscope"));
}

TEST_F(Serve, deepGaugesNeedAKnownCellAndComeWithASweepToo)
{
    start();
    send(SortedJson({{"id", 1}, {"do", "deep"}, {"capture", m_captures[0]}, {"precision", "bf16"}}).dump());
    EXPECT_EQ(receive()["error"], "\"variant\" is not a string");
    auto wrong = sweep(2);
    wrong["gauges"] = "shallow";
    send(wrong.dump());
    EXPECT_EQ(receive()["error"], "\"gauges\" is not null or \"deep\"");
    auto right = sweep(3);
    right["gauges"] = "deep";
    send(right.dump());
    int measured = 0;
    receiveUntil([&](const SortedJson& line) {
        measured += line.contains("cell") && line["cell"].contains("deep") ? 1 : 0;
        return line.contains("done");
    });
    EXPECT_EQ(measured, 4);
}

TEST_F(Serve, aCliffIsAnsweredBeforeASweepThatWaits)
{
    start([this](const std::string&) -> Result<std::unique_ptr<replay::Device>> {
        return std::make_unique<GatedDevice>(gate);
    });
    send(sweep(2).dump());
    gate.waitForArrival();
    send(sweep(3).dump());
    SortedJson cliff {{"id", 4}, {"do", "cliff"}, {"capture", m_captures[0]}, {"variant", "dion-ns5"},
        {"precision", "bf16"}, {"scale", 1.5}, {"roundings", 2}};
    send(cliff.dump());
    // Lines are read in their order: the answer to this one says that the cliff waits.
    send(R"({"id":9,"do":"nothing known"})");
    receiveUntil([](const SortedJson& each) { return each["id"] == 9; });
    gate.open();
    int reports = 0;
    const auto answer = receiveUntil([&](const SortedJson& each) {
        EXPECT_NE(each["id"], 3);
        reports += each["id"] == 4 && each.contains("progress") ? 1 : 0;
        return each.contains("cliff") || (each["id"] == 4 && each.contains("error"));
    });
    EXPECT_EQ(answer["cliff"]["scale"], 1.5);
    EXPECT_EQ(answer["cliff"]["replays"].size(), 2U);
    EXPECT_EQ(answer["cliff"]["limits"].size(), 5U);
    EXPECT_EQ(reports, 2);
    EXPECT_EQ(receiveUntil([](const SortedJson& each) { return each["id"] == 4; })["done"], true);
}

TEST_F(Serve, framesOfTwoCellsInTurnsAreReplayedOnceEach)
{
    gate.open();
    start([this](const std::string&) -> Result<std::unique_ptr<replay::Device>> {
        return std::make_unique<GatedDevice>(gate);
    });
    int id = 0;
    const auto costOf = [&](const char* precision, const char* verb = "frame") {
        const int before = gate.arrived();
        send(SortedJson({{"id", ++id}, {"do", verb}, {"capture", m_captures[0]}, {"variant", "dion-ns5"},
                            {"precision", precision}, {"op", 9}})
                 .dump());
        const auto last =
            receiveUntil([](const SortedJson& each) { return each.contains("done") || each.contains("error"); });
        EXPECT_EQ(last["done"], true) << last;
        return gate.arrived() - before;
    };
    const int whole = costOf("bf16");
    EXPECT_GT(whole, 0);
    EXPECT_EQ(costOf("fp64"), whole);
    EXPECT_EQ(costOf("bf16"), 0);
    EXPECT_EQ(costOf("fp64"), 0);
    costOf("fp32", "film");
    EXPECT_EQ(costOf("bf16"), whole) << "a film gets their memory back";
}

TEST_F(Serve, aVariantIsWhatTheNewestRequestSaysItIs)
{
    gate.open();
    start([this](const std::string&) -> Result<std::unique_ptr<replay::Device>> {
        return std::make_unique<GatedDevice>(gate);
    });
    const auto ask = [&](const char* verb, int steps) {
        SortedJson variant {{"base", "dion-ns5"}, {"name", "served"}, {"steps", SortedJson::array()}};
        for (int i = 0; i < steps; ++i) {
            variant["steps"].push_back({2, -1.5, 0.5});
        }
        send(SortedJson({{"id", steps}, {"do", verb}, {"capture", m_captures[0]}, {"variant", "served"},
                            {"precision", "fp32"}, {"roundings", 1}, {"op", 2}, {"definitions", {variant}}})
                 .dump());
        SortedJson answer;
        receiveUntil([&](const SortedJson& each) {
            answer = each.contains("cliff") || each.contains("error") ? each : answer;
            return each.contains("done") || each.contains("error");
        });
        return answer;
    };
    EXPECT_EQ(ask("cliff", 2)["cliff"]["limits"].size(), 2U);
    EXPECT_EQ(ask("cliff", 3)["cliff"]["limits"].size(), 3U);
    ask("frame", 3);
    const int before = gate.arrived();
    ask("frame", 3);
    EXPECT_EQ(gate.arrived(), before) << "it is kept";
    ask("frame", 4);
    EXPECT_GT(gate.arrived(), before) << "what is kept is of another one of this name";
    finish();
}

TEST_F(Serve, cancelStopsAtTheNextInstruction)
{
    start([this](const std::string&) -> Result<std::unique_ptr<replay::Device>> {
        return std::make_unique<GatedDevice>(gate);
    });
    send(sweep(2).dump());
    gate.waitForArrival();
    send(R"({"id":3,"do":"cancel","job":2})");
    const auto answer = receiveUntil([](const SortedJson& each) { return each["id"] == 3; });
    EXPECT_EQ(answer["done"], true);
    const int before = gate.arrived();
    gate.open();
    const auto last = receiveUntil([](const SortedJson& each) { return !each.contains("progress"); });
    EXPECT_EQ(last, SortedJson({{"id", 2}, {"cancelled", true}}));
    EXPECT_EQ(gate.arrived(), before);
}

TEST_F(Serve, waitingJobsAreCancelledToo)
{
    start([this](const std::string&) -> Result<std::unique_ptr<replay::Device>> {
        return std::make_unique<GatedDevice>(gate);
    });
    send(sweep(2).dump());
    gate.waitForArrival();
    send(sweep(3).dump());
    send(R"({"id":4,"do":"cancel","job":3})");
    receiveUntil([](const SortedJson& each) { return each["id"] == 4; });
    gate.open();
    const auto third = receiveUntil([](const SortedJson& each) { return each["id"] == 3; });
    EXPECT_EQ(third["cancelled"], true);
}

TEST_F(Serve, endOfInputCancelsWhatRunsAndReturns)
{
    gate.open();
    // Left alone, the sweep would take seconds.
    start([this](const std::string&) -> Result<std::unique_ptr<replay::Device>> {
        return std::make_unique<GatedDevice>(gate, 10ms);
    });
    send(sweep(2).dump());
    gate.waitForArrival();
    hangUp();
    const auto last = receiveUntil([](const SortedJson& each) { return !each.contains("progress"); });
    EXPECT_EQ(last, SortedJson({{"id", 2}, {"cancelled", true}}));
    EXPECT_EQ(finish(), 0);
}

TEST_F(Serve, linesThatAreNoRequestsAreAnsweredAndTheServiceGoesOn)
{
    start();
    for (const char* line :
        {"{", "[]", "7", "\"x\"", "\xff\xfe", "{\"do\":\"hello\"}", "{\"id\":1.5,\"do\":\"hello\"}"}) {
        send(line);
        const auto answer = receive();
        EXPECT_TRUE(answer["error"].is_string()) << line << " " << answer;
        EXPECT_FALSE(answer.contains("id")) << line;
    }
    for (const char* line : {R"({"id":7})", R"({"id":7,"do":"dance"})", R"({"id":7,"do":"cancel","job":99})",
             R"({"id":7,"do":"sweep","captures":"x"})", R"({"id":7,"do":"sweep","precisions":["fp8"]})",
             R"({"id":7,"do":"sweep","steps":0})", R"({"id":7,"do":"sweep","steps":101})",
             R"({"id":7,"do":"sweep","epsilon":"small"})", R"({"id":7,"do":"sweep","session":3})",
             R"({"id":7,"do":"sweep"})", R"({"id":7,"do":"film"})", R"({"id":7,"do":"frame"})",
             R"({"id":7,"do":"film","capture":"none.pt","variant":"gns-gram","precision":"fp16"})",
             R"({"id":7,"do":"frame","capture":"none.pt","variant":"gns-gram","precision":"fp16","op":1})",
             R"({"id":7,"do":"cliff"})",
             R"({"id":7,"do":"cliff","capture":"none.pt","variant":"gns-gram","precision":"fp16"})",
             R"({"id":7,"do":"cliff","capture":"none.pt","variant":"gns-gram","precision":"fp16","scale":0})",
             R"({"id":7,"do":"cliff","capture":"none.pt","variant":"gns-gram","precision":"fp16","safety":"much"})",
             R"({"id":7,"do":"cliff","capture":"none.pt","variant":"gns-gram","precision":"fp16","roundings":1.5})",
             R"({"id":7,"do":"sweep","captures":["x.pt"],"variants":["nobody"],"precisions":["fp32"]})"}) {
        send(line);
        const auto answer = receive();
        EXPECT_EQ(answer["id"], 7) << line;
        EXPECT_TRUE(answer["error"].is_string()) << line << " " << answer;
    }
    send("");
    send(R"({"id":8,"do":"hello"})");
    EXPECT_TRUE(receive().contains("hello"));
}

TEST_F(Serve, oversizedAndDeeplyNestedLinesAreRefused)
{
    start();
    send(R"({"id":1,"do":")" + std::string(rpc::maxRequestBytes, 'x') + "\"}");
    EXPECT_TRUE(receive()["error"].is_string());
    send(R"({"id":2,"do":"sweep","captures":)" + std::string(1000000, '[') + "}");
    EXPECT_TRUE(receive()["error"].is_string());
    send(R"({"id":3,"do":"hello"})");
    EXPECT_EQ(receive()["id"], 3);
}

TEST_F(Serve, aCaptureThatCannotBeReadFailsItsCellsOnly)
{
    start();
    auto request = sweep(2);
    request["captures"] = {(m_folder / "missing.pt").string(), m_captures[0]};
    send(request.dump());
    int failed = 0;
    int computed = 0;
    const auto last = receiveUntil([&](const SortedJson& answer) {
        if (answer.contains("cell")) {
            const auto& error = answer["cell"].value("error", SortedJson());
            const bool bad = error.is_string() && !error.get<std::string>().empty();
            (bad ? failed : computed) += 1;
        }
        return answer.contains("done") || answer.contains("error");
    });
    EXPECT_EQ(last["done"], true);
    EXPECT_EQ(failed, 2);
    EXPECT_EQ(computed, 2);
}

TEST_F(Serve, aSessionThatCannotBeOpenedIsOneSentence)
{
    start();
    auto request = sweep(2);
    request["session"] = m_captures[0];
    send(request.dump());
    const auto answer = receive();
    EXPECT_EQ(answer["id"], 2);
    EXPECT_TRUE(answer["error"].is_string());
}

TEST_F(Serve, answersOfTwoThreadsNeverMix)
{
    start();
    send(sweep(1000).dump());
    for (int i = 0; i < 200; ++i) {
        send(fmt::format(R"({{"id":{},"do":"hello"}})", i));
    }
    int hellos = 0;
    bool done = false;
    while (hellos < 200 || !done) {
        const auto answer = receive();
        ASSERT_TRUE(answer.is_object());
        hellos += answer.contains("hello") ? 1 : 0;
        done = done || answer.contains("done");
    }
}

} // namespace

} // namespace nanscope
