// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Replays and verdicts on a device of another process: `nanscope serve --device cpu`, which has to give the same bits,
// and torch's CPU.
#include "core/rpc/remotedevice.h"

#include <chrono>
#include <cmath>
#include <csignal>
#include <fstream>
#include <random>
#include <sstream>
#include <thread>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "core/replay/engine/capturecells.h"
#include "core/replay/engine/replay.h"
#include "core/replay/program/programjson.h"
#include "core/replay/variants/catalogue.h"
#include "core/rpc/deviceserver.h"
#include "core/session/sessiontypes.h"
#include "program.h"
#include "tests/core/replay/devicearound.h"
#include "workfolder.h"

using namespace nanscope::testing;
using ::testing::HasSubstr;
using ::testing::Not;

namespace nanscope {

namespace {

std::unique_ptr<replay::Device> remote()
{
    auto device = rpc::RemoteDevice::start({NANSCOPE_PROGRAM, {"serve", "--device", "cpu"}, {}});
    if (!device) {
        throw std::runtime_error(device.error().what);
    }
    return std::move(*device);
}

Values numbers(std::size_t count)
{
    std::mt19937 random(7);
    std::normal_distribution<float> normal;
    std::vector<float> values(count);
    for (auto& value : values) {
        value = normal(random);
    }
    return values;
}

/// All that a replay gives is asked for.
replay::Replay replayed(replay::Device& device, const replay::Variant& variant, Precision precision)
{
    replay::ReplayOptions options;
    options.precision = precision;
    options.tileMaps = true;
    options.keepOutput = true;
    options.spectralNorms = true;
    auto replay = replay::replay(variant, {2, 24, 40}, numbers(2 * 24 * 40), device, options);
    if (!replay) {
        throw std::runtime_error(replay.error().what);
    }
    return std::move(*replay);
}

TEST(RemoteDevice, IsWhatItsProcessIs)
{
    const auto there = remote();
    const auto here = replay::makeEigenDevice();
    EXPECT_EQ(there->environment(), here->environment());
    for (const auto precision : allPrecisions()) {
        EXPECT_EQ(there->native(precision), here->native(precision)) << name(precision);
    }
}

TEST(RemoteDevice, GivesTheSameBits)
{
    const auto there = remote();
    const auto here = replay::makeEigenDevice();
    const replay::Catalogue catalogue;
    for (const auto* variant : catalogue.all()) {
        for (const auto precision : {Precision::fp64, Precision::bf16, Precision::fp16Acc16}) {
            const auto expected = replayed(*here, *variant, precision);
            const auto found = replayed(*there, *variant, precision);
            EXPECT_EQ(found.outputs, expected.outputs) << variant->name;
            EXPECT_EQ(found.spectralNorms, expected.spectralNorms) << variant->name;
            ASSERT_EQ(found.ops.size(), expected.ops.size());
            for (std::size_t i = 0; i < found.ops.size(); ++i) {
                EXPECT_EQ(found.ops[i].batches, expected.ops[i].batches) << variant->name << " " << i;
                ASSERT_EQ(found.ops[i].tiles.size(), expected.ops[i].tiles.size());
                for (std::size_t k = 0; k < found.ops[i].tiles.size(); ++k) {
                    EXPECT_EQ(found.ops[i].tiles[k].min, expected.ops[i].tiles[k].min);
                    EXPECT_EQ(found.ops[i].tiles[k].max, expected.ops[i].tiles[k].max);
                    EXPECT_EQ(found.ops[i].tiles[k].absmax, expected.ops[i].tiles[k].absmax);
                    EXPECT_EQ(found.ops[i].tiles[k].classes, expected.ops[i].tiles[k].classes);
                }
            }
        }
    }
}

TEST(RemoteDevice, GivesTheSameCells)
{
    const WorkFolder folder;
    const auto file = tensorfile::openCapture(writeCapture(folder / "a.pt")).value();
    const auto here = replay::makeEigenDevice();
    const auto there = remote();
    auto expected = replay::CaptureCells::of(file, {}).value();
    auto found = replay::CaptureCells::of(file, {}).value();
    for (const auto precision : {Precision::fp64, Precision::bf16}) {
        const replay::CellRequest request {"torch-muon", precision, Lowering::eager, {}, {}};
        const auto one = expected.cell(request, *here, {});
        // The reference is on the one and the other on the other.
        const auto other = found.cell(request, precision == Precision::fp64 ? *here : *there, {});
        ASSERT_TRUE(one && other);
        EXPECT_EQ(other->outcome, one->outcome);
        EXPECT_EQ(other->gauges.back().distanceToFp64, one->gauges.back().distanceToFp64);
        EXPECT_EQ(other->gauges.back().distanceToFp64.has_value(), precision != Precision::fp64);
    }
}

TEST(RemoteDevice, TakesAPlantedFault)
{
    const auto there = remote();
    const auto here = replay::makeEigenDevice();
    const auto variant = replay::Catalogue().find("gns-gram");
    const auto program = replay::compileProgram(**variant, {1, 24, 40}, {});
    ASSERT_TRUE(program);
    const std::vector<double> fault {NAN, INFINITY, -INFINITY, 0.125};
    std::vector<Scan> scans[2];
    std::size_t which = 0;
    for (auto* device : {there.get(), here.get()}) {
        ASSERT_TRUE(device->prepare(*program, 1));
        ASSERT_TRUE(device->upload(numbers(24 * 40)));
        for (const auto& instruction : program->code) {
            ASSERT_TRUE(device->run(instruction));
            if (instruction.label == OpName::normalize) {
                ASSERT_TRUE(device->overwrite(instruction.out, 0, {3, 5, 2, 2}, fault));
                ASSERT_TRUE(device->rescan(instruction));
            }
        }
        const auto taken = device->scans();
        ASSERT_TRUE(taken);
        scans[which++] = *taken;
    }
    EXPECT_EQ(scans[0], scans[1]);
}

TEST(RemoteDevice, HandsOverAPartAsTheWhole)
{
    const auto device = remote();
    const auto program = replay::compileProgram(**replay::Catalogue().find("torch-muon"), {1, 40, 24}, {});
    ASSERT_TRUE(program && device->prepare(*program, 1) && device->upload(numbers(24 * 40)));
    for (const auto& instruction : program->code) {
        ASSERT_TRUE(device->run(instruction));
    }
    const auto whole = device->download(program->output, 0);
    const auto part = device->download(program->output, 0, replay::Region {3, 5, 2, 4});
    ASSERT_TRUE(whole && part);
    ASSERT_EQ(part->size(), 8U);
    for (std::size_t i = 0; i < 8; ++i) {
        EXPECT_EQ((*part)[i], (*whole)[(3 + i / 4) * 24 + 5 + i % 4]);
    }
    const auto outside = device->download(program->output, 0, replay::Region {39, 0, 2, 1});
    ASSERT_FALSE(outside);
    EXPECT_EQ(outside.error().kind, ErrorKind::usage);
    EXPECT_FALSE(device->lost());
}

TEST(RemoteDevice, IsLostOnceItsProcessIsStopped)
{
    const WorkFolder folder;
    const auto path = folder / "pid";
    auto device = rpc::RemoteDevice::start(
        {"/bin/sh", {"-c", "echo $$ > '" + path + "'; exec '" NANSCOPE_PROGRAM "' serve --device cpu"}, {}}, {},
        {.silence = std::chrono::milliseconds(1500)});
    ASSERT_TRUE(device) << device.error().what;
    const auto program = replay::compileProgram(**replay::Catalogue().find("torch-muon"), {1, 4, 6}, {});
    ASSERT_TRUE((*device)->prepare(*program, 1));
    int pid = 0;
    std::ifstream(path) >> pid;
    ASSERT_GT(pid, 0);
    ASSERT_EQ(::kill(pid, SIGSTOP), 0);
    const auto answer = (*device)->prepare(*program, 1);
    ASSERT_FALSE(answer);
    EXPECT_THAT(answer.error().what,
        HasSubstr("the worker and cpu have given no sign of life for 1.5 s and were ended: the process was stopped, or "
                  "the machine is short of memory; start again, or choose the CPU"));
    ASSERT_TRUE((*device)->lost());
    EXPECT_EQ((*device)->lost()->kind, ErrorKind::io);
    EXPECT_NE(::kill(pid, 0), 0) << "it was ended";
}

TEST(RemoteDevice, IsWaitedForAsLongAsItSaysThatItWorks)
{
    const std::string script = R"(read -r line; echo '{"hello":{"engine":"x","device":"y","beats":true,"sessions":)"
        + std::to_string(session::sessionSchemaVersion)
        + R"(}}'; read -r line; for i in 1 2 3 4; do sleep 0.5; echo '{"working":true}'; done; echo '{"done":true}')";
    auto device =
        rpc::RemoteDevice::start({"/bin/sh", {"-c", script}, {}}, {}, {.silence = std::chrono::milliseconds(1500)});
    ASSERT_TRUE(device) << device.error().what;
    const auto program = replay::compileProgram(**replay::Catalogue().find("torch-muon"), {1, 4, 6}, {});
    EXPECT_TRUE((*device)->prepare(*program, 1));
}

/// Takes its time.
class SlowDevice : public test::DeviceAround
{
    Result<void> prepare(const replay::Program& program, std::int64_t batch) override
    {
        std::this_thread::sleep_for(std::chrono::milliseconds(1500));
        return DeviceAround::prepare(program, batch);
    }
};

TEST(RemoteDevice, SaysThatItWorksWhereThatIsAskedFor)
{
    const auto program = replay::compileProgram(**replay::Catalogue().find("torch-muon"), {1, 4, 6}, {});
    const nlohmann::ordered_json prepare {
        {"do", "prepare"}, {"program", replay::programToJson(*program)}, {"batch", 1}};
    const auto answers = [&](const char* hello) {
        std::istringstream in(std::string(hello) + "\n" + prepare.dump() + "\n");
        std::ostringstream out;
        SlowDevice device;
        EXPECT_EQ(rpc::serveDevice(in, out, device), 0);
        return out.str();
    };
    EXPECT_THAT(answers(R"({"do":"hello","beats":true})"), HasSubstr("{\"working\":true}\n{\"done\":true"));
    EXPECT_THAT(answers(R"({"do":"hello"})"), Not(HasSubstr("working"))) << "an older one would take it for an answer";
}

TEST(RemoteDevice, SaysWhyItIsNotThere)
{
    const auto none = rpc::RemoteDevice::start({NANSCOPE_PROGRAM, {"serve", "--device", "cuda:7"}, {}});
    ASSERT_FALSE(none);
    EXPECT_THAT(none.error().what, HasSubstr("cuda:7"));
    const auto silent =
        rpc::RemoteDevice::start({"/bin/sleep", {"60"}, {}}, {}, {.hello = std::chrono::milliseconds(100)});
    ASSERT_FALSE(silent);
    EXPECT_THAT(silent.error().what, HasSubstr("does not say what it is"));
    CancelToken cancel;
    cancel.cancel();
    const auto unwanted = rpc::RemoteDevice::start({"/bin/sleep", {"60"}, {}}, cancel);
    ASSERT_FALSE(unwanted);
    EXPECT_EQ(unwanted.error().kind, ErrorKind::cancelled);
}

TEST(RemoteDevice, FailsFromTheEndOfItsProcessOn)
{
    // Answers hello and dies of the next line.
    const std::string script = R"(read -r line; echo '{"hello":{"engine":"x","device":"y","sessions":)"
        + std::to_string(session::sessionSchemaVersion) + R"(}}'; read -r line; echo out of memory >&2; exit 9)";
    auto device = rpc::RemoteDevice::start({"/bin/sh", {"-c", script}, {}});
    ASSERT_TRUE(device) << device.error().what;
    const auto program = replay::compileProgram(**replay::Catalogue().find("torch-muon"), {1, 4, 6}, {});
    const auto first = (*device)->prepare(*program, 1);
    ASSERT_FALSE(first);
    EXPECT_THAT(first.error().what, HasSubstr("out of memory"));
    const auto second = (*device)->prepare(*program, 1);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().what, first.error().what);
    ASSERT_TRUE((*device)->lost());
    EXPECT_EQ((*device)->lost()->what, first.error().what);
}

TEST(RemoteDevice, IsLostOnceAnAnswerCannotBeRead)
{
    // The block of a matrix is not there, as where the process ended once it had answered.
    const std::string script = R"(read -r line; echo '{"hello":{"engine":"x","device":"y","sessions":)"
        + std::to_string(session::sessionSchemaVersion) + R"(}}'; while read -r line; do echo '{}'; done)";
    auto device = rpc::RemoteDevice::start({"/bin/sh", {"-c", script}, {}});
    ASSERT_TRUE(device) << device.error().what;
    const auto program = replay::compileProgram(**replay::Catalogue().find("torch-muon"), {1, 4, 6}, {});
    ASSERT_TRUE((*device)->prepare(*program, 1));
    EXPECT_FALSE((*device)->lost());
    EXPECT_FALSE((*device)->download(0, 0));
    ASSERT_TRUE((*device)->lost());
    EXPECT_THAT((*device)->lost()->what, HasSubstr("gave what cannot be read"));
}

TEST(RemoteDevice, StopsWhenCancelled)
{
    const auto device = remote();
    const auto program = replay::compileProgram(**replay::Catalogue().find("torch-muon"), {1, 512, 1024}, {});
    ASSERT_TRUE(device->prepare(*program, 1));
    ASSERT_TRUE(device->upload(numbers(512 * 1024)));
    CancelToken cancel;
    device->heed(cancel);
    for (const auto& instruction : program->code) {
        ASSERT_TRUE(device->run(instruction));
    }
    cancel.cancel();
    const auto scans = device->scans();
    ASSERT_FALSE(scans);
    EXPECT_EQ(scans.error().kind, ErrorKind::cancelled);
    EXPECT_EQ(device->prepare(*program, 1).error().kind, ErrorKind::cancelled);
    ASSERT_TRUE(device->lost());
    EXPECT_EQ(device->lost()->kind, ErrorKind::cancelled) << "it is the user who does not want it any more";
}

/// `nanscope diagnose --device other` and the like, where that is what `arguments` start.
class VerdictElsewhere : public ::testing::Test
{
protected:
    VerdictElsewhere() { writeCapture(m_folder / "a.pt", {64, 96}); }

    Finished on(const std::string& program, std::vector<std::string> arguments) const
    {
        const auto path = m_folder / "worker";
        return onWorker("exec '" + program + "' serve --device cpu", std::move(arguments));
    }

    Finished onWorker(const std::string& script, std::vector<std::string> arguments) const
    {
        const auto path = m_folder / "worker";
        writeText(path, "#!/bin/sh\n" + script + "\n");
        std::filesystem::permissions(path, std::filesystem::perms::owner_all);
        arguments.insert(arguments.end(), {"--device", "other", "--json"});
        return run(arguments, "NANSCOPE_WORKER='" + path + "' ");
    }

    WorkFolder m_folder;
};

TEST_F(VerdictElsewhere, IsTheSameToTheLastDigit)
{
    const auto here = run({"diagnose", m_folder / "a.pt", "--json"});
    const auto there = on(NANSCOPE_PROGRAM, {"diagnose", m_folder / "a.pt"});
    EXPECT_EQ(there.status, here.status) << there.err;
    auto expected = here.json();
    auto found = there.json();
    EXPECT_TRUE(expected["replayed_on"].is_null());
    EXPECT_THAT(found["replayed_on"].get<std::string>(), HasSubstr("eigen"));
    expected.erase("replayed_on");
    found.erase("replayed_on");
    EXPECT_TRUE(found == expected);
}

TEST_F(VerdictElsewhere, IsTheSameOnTorch)
{
    const std::string worker = NANSCOPE_WORKER_PROGRAM;
    if (worker.empty()) {
        GTEST_SKIP() << "nanscope-worker is not built";
    }
    const auto here = run({"diagnose", m_folder / "a.pt", "--json"});
    const auto there = on(worker, {"diagnose", m_folder / "a.pt"});
    EXPECT_EQ(there.status, here.status) << there.err;
    const auto expected = here.json()["captures"][0];
    const auto found = there.json()["captures"][0];
    for (const auto* key : {"verdict", "rule", "role", "question"}) {
        EXPECT_EQ(found[key], expected[key]) << key;
    }
    ASSERT_EQ(found["members"].size(), expected["members"].size());
    ASSERT_GT(found["members"].size(), 0U);
    for (std::size_t i = 0; i < found["members"].size(); ++i) {
        const auto& member = found["members"][i];
        EXPECT_EQ(member["variant"], expected["members"][i]["variant"]);
        EXPECT_EQ(member["finite"], expected["members"][i]["finite"]);
        if (member["slack_percent"].is_number()) {
            EXPECT_NEAR(member["slack_percent"], expected["members"][i]["slack_percent"], 0.1);
        }
    }
}

TEST_F(VerdictElsewhere, GoesOnOnTheCpuWhereTheDeviceFails)
{
    const std::filesystem::path run1 = m_folder / "run";
    std::filesystem::create_directory(run1);
    writeCapture(run1 / "a.pt", {64, 96});
    writeCapture(run1 / "b.pt", {96, 64});
    auto expected = run({"diagnose", run1.string(), "--json"}).json();
    // So many requests are answered: in the first capture, and in the second.
    for (const auto* requests : {"20", "400"}) {
        const auto there = onWorker(
            std::string("sed -u ") + requests + "q | '" NANSCOPE_PROGRAM "' serve --device cpu", {"diagnose", run1});
        EXPECT_EQ(there.status, 0) << there.err;
        auto found = there.json();
        EXPECT_THAT(found["replayed_on"].get<std::string>(), HasSubstr("which failed after "));
        EXPECT_THAT(found["replayed_on"].get<std::string>(), HasSubstr("the others on the CPU"));
        EXPECT_EQ(found["captures"], expected["captures"]) << requests;
    }
}

TEST_F(VerdictElsewhere, IsWrittenIntoReports)
{
    const auto report = m_folder / "report.md";
    const auto made = on(NANSCOPE_PROGRAM, {"report", m_folder / "a.pt", "-o", report});
    EXPECT_EQ(made.status, 0) << made.err;
    std::ifstream stream(report);
    const std::string text {std::istreambuf_iterator<char>(stream), {}};
    EXPECT_THAT(text, HasSubstr("Replayed on eigen"));
    EXPECT_THAT(text, HasSubstr("--device other"));
}

TEST_F(VerdictElsewhere, MeasuresThere)
{
    const std::vector<std::string> measure {"measure", "scale", m_folder / "a.pt", "--variant", "torch-muon"};
    auto here = measure;
    here.push_back("--json");
    const auto expected = run(here);
    const auto found = on(NANSCOPE_PROGRAM, measure);
    EXPECT_EQ(found.status, expected.status) << found.err;
    EXPECT_FALSE(found.json().is_discarded());
}

TEST_F(VerdictElsewhere, SaysThatThereIsNoSuchDevice)
{
    const auto none = run({"diagnose", m_folder / "a.pt", "--device", "cuda:0"}, "NANSCOPE_WORKER=/nowhere/worker ");
    EXPECT_EQ(none.status, 2);
    EXPECT_THAT(none.err, HasSubstr("There is no nanscope-worker"));
    // What the worker says where no GPU can be used.
    const auto worker = m_folder / "worker";
    writeText(worker,
        fmt::format("#!/bin/sh\nwhile read -r request; do echo '{{\"error\":\"no GPU\",\"kind\":{}}}'; done\n",
            static_cast<int>(ErrorKind::unsupported)));
    fs::permissions(worker, fs::perms::owner_all);
    for (const auto& arguments : {std::vector<std::string> {"diagnose", m_folder / "a.pt"},
             {"measure", "scale", m_folder / "a.pt", "--variant", "gns-gram"},
             {"report", m_folder / "a.pt", "-o", m_folder / "r.md"}}) {
        auto there = arguments;
        there.insert(there.end(), {"--device", "cuda:0"});
        const auto refused = run(there, "NANSCOPE_WORKER='" + worker + "' ");
        EXPECT_EQ(refused.status, 2) << arguments[0];
        EXPECT_EQ(refused.err, "No GPU\n");
    }
}

} // namespace

} // namespace nanscope
