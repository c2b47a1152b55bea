// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "program.h"
#include "workfolder.h"

using namespace nanscope::testing;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

namespace {

class Spread : public ::testing::Test
{
protected:
    std::vector<std::string> plant(const std::string& op, const std::string& step, const std::string& tile) const
    {
        return {"spread", m_capture, "--variant", "gns-gram", "--op", op, "--iteration", step, "--tile", tile};
    }

    WorkFolder m_folder;
    std::string m_capture = writeCapture(m_folder / "a.pt");
};

std::vector<std::string> with(std::vector<std::string> arguments, const std::vector<std::string>& more)
{
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
}

} // namespace

TEST_F(Spread, ShowsHowATileSpreads)
{
    const auto film = run(plant("q", "4", "8,0,8,8"));
    EXPECT_EQ(film.status, 0) << film.err;
    EXPECT_THAT(
        film.out, StartsWith("a.pt, matrix 0: gns-gram in fp16, fused\nPlanted: nan in q of step 4, rows 8–15 × "));
    EXPECT_THAT(film.out, HasSubstr("rectangle: rows 8–15 × columns 0–7 are NaN  (planted here)"));
    EXPECT_THAT(film.out, HasSubstr("rows: the whole of rows 8–15 is NaN"));
    EXPECT_THAT(film.out, HasSubstr("╳"));
    EXPECT_THAT(film.out, HasSubstr("It does not end like the dump"));
}

TEST_F(Spread, AnswersInJson)
{
    const auto json = run(with(plant("q", "4", "8,0,8,8"), {"--value", "stale:0.5", "--mirrored", "--json"})).json();
    EXPECT_EQ(json["schema"], "nanscope.spread/1");
    EXPECT_EQ(json["plant"]["value"], "stale:0.5");
    EXPECT_EQ(json["plant"]["tile"], nlohmann::ordered_json({8, 0, 8, 8}));
    EXPECT_EQ(json["plant"]["mirrored"], true);
    EXPECT_EQ(json["ends_like_dump"], false);
    ASSERT_EQ(json["ops"].size(), 22);
    int planted = 0;
    for (const auto& op : json["ops"]) {
        planted += op["planted"] == true ? 1 : 0;
        EXPECT_EQ(op["nan"], 0);
    }
    EXPECT_EQ(planted, 1);
    EXPECT_EQ(json["ops"][0]["distance"], 0);
    EXPECT_GT(json["ops"].back()["distance"], 0.01);
}

TEST_F(Spread, ListsThePlacesThatEndLikeTheDump)
{
    const auto list = run({"spread", m_capture, "--like-dump", "--variant", "gns-gram", "--json"}).json();
    EXPECT_EQ(list["damage"]["name"], "single element");
    EXPECT_EQ(list["ends_like"]["tried"], 17);
    ASSERT_EQ(list["ends_like"]["places"].size(), 1);
    const auto place = list["ends_like"]["places"][0];
    EXPECT_EQ(place["op"], "update");
    EXPECT_EQ(place["iteration"], 5);
    // The line it tells to run ends like the dump indeed.
    const auto text = run({"spread", m_capture, "--like-dump", "--variant", "gns-gram"});
    EXPECT_THAT(text.out, HasSubstr("or code after the iteration (1 of 17 simulated bad tiles)."));
    const auto& tile = place["tile"];
    const auto film =
        run(plant("update", "5", tile[0].dump() + "," + tile[1].dump() + "," + tile[2].dump() + "," + tile[3].dump()));
    EXPECT_THAT(film.out, HasSubstr("It ends like the dump"));
    EXPECT_THAT(run({"explain", m_capture}).out, HasSubstr("a bad tile in the last write ends like this, or code"));
}

TEST_F(Spread, RefusesWhatIsNotThere)
{
    const struct
    {
        std::vector<std::string> arguments;
        const char* says;
    } cases[] = {{plant("q", "9", "0,0"), "has no q in step 9, it has 5 steps"},
        {plant("qq", "4", "0,0"), "no op 'qq'"}, {plant("norm", "0", "0,0"), "one number"},
        {plant("q", "4", "0,24"), "24 × 24"}, {plant("q", "4", "0"), "ROW,COL"}, {plant("q", "4", "0,-1"), "'-1'"},
        {with(plant("q", "4", "0,0"), {"--value", "nope"}), "stale:NUMBER"},
        {with(plant("q", "4", "0,0"), {"--batch", "3"}), "no matrix 3"}, {{"spread", m_capture}, "--variant"},
        {{"spread", m_capture, "--variant", "gns-gran", "--like-dump"}, "gns-gram"}};
    for (const auto& [arguments, says] : cases) {
        const auto refused = run(arguments);
        EXPECT_EQ(refused.status, 2) << refused.out;
        EXPECT_THAT(refused.err, HasSubstr(says));
    }
}

TEST_F(Spread, AHealthyCaptureHasNoPlaces)
{
    const auto healthy = run({"spread", writeCapture(m_folder / "b.pt", {24, 40, false, false}), "--like-dump"});
    EXPECT_EQ(healthy.status, 4);
    EXPECT_THAT(healthy.err, HasSubstr("finite"));
    const auto stale = run({"spread", m_folder / "b.pt", "--variant", "gns-gram", "--op", "q", "--iteration", "3",
        "--tile", "0,0", "--value", "stale:1e300"});
    EXPECT_THAT(stale.out, Not(HasSubstr("ends like the dump"))) << "finite in and out is no likeness";
    EXPECT_THAT(stale.out, Not(HasSubstr("inf %")));
    EXPECT_THAT(stale.out, Not(HasSubstr("nan %")));
}
