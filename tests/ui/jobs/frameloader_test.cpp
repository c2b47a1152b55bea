// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include <QDir>
#include <QSignalSpy>
#include <QTest>

#include <gtest/gtest.h>

#include "tests/ui/samples.h"
#include "ui/jobs/frameloader.h"

namespace nanscope {

namespace {

using test::patienceMs;

replay::FilmRequest filmRequest(Precision precision = Precision::fp32)
{
    return {test::sampleCapture(), {"torch-muon", precision, Lowering::eager, {}, {}, "cpu", false}, 0, {}};
}

/// Keeps what a loader says.
class Heard
{
public:
    explicit Heard(ReplayService* service)
        : loader(service)
    {
        QObject::connect(&loader, &FrameLoader::filmReady, [this](const auto& film) { films.push_back(film); });
        QObject::connect(&loader, &FrameLoader::frameReady, [this](const auto& frame) { frames.push_back(frame); });
        QObject::connect(&loader, &FrameLoader::filmFailed, [this](const QString& why) { failures << why; });
        QObject::connect(&loader, &FrameLoader::frameFailed, [this](const QString& why) { failures << why; });
        QObject::connect(&loader, &FrameLoader::filmProgressed, [this](const Progress&) { ++reports; });
    }

    bool wait()
    {
        return QTest::qWaitFor([this] { return !loader.busy(); }, patienceMs);
    }

    FrameLoader loader;
    std::vector<std::shared_ptr<const replay::ReplayedFilm>> films;
    std::vector<std::shared_ptr<const replay::ReplayedFrame>> frames;
    QStringList failures;
    int reports = 0;
};

} // namespace

TEST(FrameLoader, BringsFilmsAndFrames)
{
    ReplayService service({test::realService()});
    Heard heard(&service);
    auto wanted = filmRequest(Precision::bf16);
    wanted.against = replay::againstFp64(wanted.cell);
    heard.loader.requestFilm(wanted);
    heard.loader.requestFrame({wanted, 4, replay::Region {0, 0, 2, 3}});
    EXPECT_TRUE(heard.loader.busy());
    ASSERT_TRUE(heard.wait());
    EXPECT_EQ(heard.failures, QStringList());
    ASSERT_EQ(heard.films.size(), 1U);
    ASSERT_EQ(heard.frames.size(), 1U);
    EXPECT_GE(heard.reports, 1) << "thinned out, but not silent";
    const auto same = replay::replayFilm(wanted, replay::makeCoreDevice).value();
    EXPECT_EQ(heard.films[0]->ops.back().tiles, same.ops.back().tiles);
    EXPECT_EQ(heard.films[0]->distances, same.distances);
    EXPECT_EQ(heard.frames[0]->doubles.size(), 6U);
    EXPECT_EQ(heard.frames[0]->trace.tiles, same.ops[4].tiles);
}

TEST(FrameLoader, OnlyTheNewestIsAnswered)
{
    ReplayService service({test::realService()});
    Heard heard(&service);
    for (std::size_t op = 0; op < 6; ++op) {
        heard.loader.requestFrame({filmRequest(), op, {}});
        if (op == 2) {
            ASSERT_TRUE(QTest::qWaitFor([&] { return service.settled(); }, patienceMs));
        }
    }
    ASSERT_TRUE(heard.wait());
    QTest::qWait(50);
    ASSERT_EQ(heard.frames.size(), 1U);
    EXPECT_EQ(heard.frames[0]->op, 5U);
    EXPECT_EQ(heard.failures, QStringList());
}

TEST(FrameLoader, TwoLoadersOfOneServiceBothHear)
{
    ReplayService service({test::realService()});
    Heard left(&service);
    Heard right(&service);
    left.loader.requestFilm(filmRequest(Precision::fp16));
    right.loader.requestFilm(filmRequest(Precision::fp64));
    ASSERT_TRUE(left.wait() && right.wait());
    ASSERT_TRUE(left.films.size() == 1 && right.films.size() == 1);
    EXPECT_EQ(left.films[0]->cell.precision, Precision::fp16);
    EXPECT_EQ(right.films[0]->cell.precision, Precision::fp64);
}

TEST(FrameLoader, WhatIsDroppedIsNotHeardOf)
{
    ReplayService service({test::realService()});
    Heard heard(&service);
    heard.loader.requestFilm(filmRequest());
    heard.loader.drop();
    EXPECT_FALSE(heard.loader.busy());
    heard.loader.requestFrame({filmRequest(), 2, {}});
    ASSERT_TRUE(heard.wait());
    EXPECT_EQ(heard.films.size(), 0U);
    EXPECT_EQ(heard.frames.size(), 1U);
    EXPECT_EQ(heard.failures, QStringList());
}

TEST(FrameLoader, TheServicesSentenceIsHandedOn)
{
    ReplayService service({test::realService()});
    Heard heard(&service);
    auto wanted = filmRequest();
    wanted.capture = "/nowhere/x.pt";
    heard.loader.requestFilm(wanted);
    ASSERT_TRUE(heard.wait());
    ASSERT_EQ(heard.failures.size(), 1);
    EXPECT_TRUE(heard.failures[0].contains(QStringLiteral("/nowhere/x.pt")));
}

TEST(FrameLoader, AProcessThatDiesIsSaidAndTheNextRequestStartsAnother)
{
    ReplayService service({test::fakeService("dies"), test::realService()});
    Heard heard(&service);
    heard.loader.requestFilm(filmRequest());
    ASSERT_TRUE(heard.wait());
    ASSERT_EQ(heard.failures.size(), 1);
    EXPECT_TRUE(heard.failures[0].contains(QStringLiteral("ended with status 9")));
    EXPECT_FALSE(service.alive());
    heard.loader.requestFilm(filmRequest());
    EXPECT_TRUE(service.alive());
}

TEST(FrameLoader, RequestsWaitForTheProgramThatAnswers)
{
    ReplayService service({test::fakeService("stillborn"), test::realService()});
    Heard heard(&service);
    heard.loader.requestFilm(filmRequest());
    ASSERT_TRUE(heard.wait());
    EXPECT_EQ(heard.films.size(), 1U);
}

TEST(FrameLoader, WithoutAProgramThereIsASentence)
{
    ReplayService none({});
    Heard heard(&none);
    heard.loader.requestFrame({filmRequest(), 0, {}});
    ASSERT_TRUE(heard.wait());
    EXPECT_EQ(heard.failures.size(), 1);
    ReplayService stillborn({test::fakeService("stillborn")});
    Heard other(&stillborn);
    other.loader.requestFilm(filmRequest());
    ASSERT_TRUE(other.wait());
    EXPECT_EQ(other.failures.size(), 1);
}

TEST(FrameLoader, MayGoBeforeItsAnswersCome)
{
    ReplayService service({test::realService()});
    {
        Heard gone(&service);
        gone.loader.requestFilm(filmRequest());
        ASSERT_TRUE(QTest::qWaitFor([&] { return service.settled(); }, patienceMs));
    }
    Heard heard(&service);
    heard.loader.requestFilm(filmRequest());
    ASSERT_TRUE(heard.wait());
    EXPECT_EQ(heard.films.size(), 1U);
}

} // namespace nanscope
