// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/variants/sessionvariants.h"

#include <gmock/gmock.h>

#include "core/replay/variants/catalogue.h"
#include "core/replay/variants/variantjson.h"
#include "tests/core/session/temporaryfolder.h"

namespace nanscope {

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class SessionVariants : public testing::Test
{
protected:
    static replay::Variant made(const std::string& name, double a = 2)
    {
        replay::Variant variant;
        variant.name = name;
        variant.title = "of a test";
        variant.steps = {{a, -1.5, 0.5}};
        return variant;
    }

    void store(const std::string& name, const std::string& definition)
    {
        ASSERT_TRUE(m_session->setVariant({name, definition}, false));
    }

    void sweep(const std::string& variant)
    {
        Cell cell;
        cell.capture = "a.pt";
        cell.variant = variant;
        ASSERT_TRUE(m_session->addCell(cell));
    }

    replay::Catalogue m_catalogue;
    TemporaryFolder m_folder;
    Result<session::Session> m_session = session::Session::open(m_folder / "a.nanscope", session::OpenMode::create);
};

TEST_F(SessionVariants, AreKnownOnceTheyAreTaken)
{
    store("taken", replay::variantToJson(made("taken", 3)).dump());
    ASSERT_FALSE(m_catalogue.find("taken"));
    EXPECT_THAT(replay::takeVariants(*m_session, m_catalogue).value(), IsEmpty());
    ASSERT_TRUE(m_catalogue.find("taken"));
    EXPECT_EQ(**m_catalogue.find("taken"), made("taken", 3));
    EXPECT_THAT(replay::takeVariants(*m_session, m_catalogue).value(), IsEmpty()) << "again changes nothing";
}

TEST_F(SessionVariants, AreKeptWhereTheyWereAddedAndAskedFor)
{
    ASSERT_TRUE(m_catalogue.add(made("kept")));
    ASSERT_TRUE(m_catalogue.add(made("not-asked-for")));
    EXPECT_THAT(replay::keepVariants(*m_session, m_catalogue, {"kept", "keller-jordan"}).value(), IsEmpty());
    const auto stored = m_session->variants().value();
    ASSERT_THAT(stored, SizeIs(1));
    EXPECT_EQ(replay::variantsFromText(stored[0].definition, {}).value(), std::vector {made("kept")});
}

TEST_F(SessionVariants, NeverTakeTheNameOfABuiltInOne)
{
    auto shadow = made("keller-jordan", 7);
    store("keller-jordan", replay::variantToJson(shadow).dump());
    sweep("keller-jordan");
    sweep("torch-muon");
    const auto notes = replay::takeVariants(*m_session, m_catalogue).value();
    ASSERT_THAT(notes, SizeIs(1));
    EXPECT_THAT(notes[0], HasSubstr("'keller-jordan' that the session keeps is left out"));
    EXPECT_NE(**m_catalogue.find("keller-jordan"), shadow);
    const auto cells = replay::cellsThatHold(*m_session, m_catalogue).value();
    ASSERT_THAT(cells, SizeIs(1)) << "the other was swept with something else";
    EXPECT_EQ(cells[0].variant, "torch-muon");
}

TEST_F(SessionVariants, OfAStrangerAreReadAsAFileIs)
{
    const auto two =
        "[" + replay::variantToJson(made("two")).dump() + "," + replay::variantToJson(made("more")).dump() + "]";
    store("broken", "{");
    store("deep", std::string(1000, '['));
    store("two", two);
    store("anothers", replay::variantToJson(made("somebody")).dump());
    store("infinite", R"({"name": "infinite", "steps": [[1e999, 0, 0]]})");
    store("odd name", replay::variantToJson(made("odd name")).dump());
    store("long", std::string(static_cast<std::size_t>(session::maxDefinitionBytes) + 1, ' '));
    store("fine", replay::variantToJson(made("fine")).dump());
    EXPECT_THAT(replay::takeVariants(*m_session, m_catalogue).value(), SizeIs(7));
    EXPECT_TRUE(m_catalogue.find("fine"));
    for (const auto* name : {"broken", "deep", "two", "more", "anothers", "somebody", "infinite", "odd name", "long"}) {
        EXPECT_FALSE(m_catalogue.find(name)) << name;
    }
}

TEST_F(SessionVariants, ThatDifferFromWhatIsKnownAreRefusedWithWhatDiffers)
{
    auto theirs = made("disputed", 3);
    theirs.epsilon = 0.5;
    store("disputed", replay::variantToJson(theirs).dump());
    sweep("disputed");
    ASSERT_TRUE(m_catalogue.add(made("disputed", 2)));
    for (const auto& refused :
        {replay::takeVariants(*m_session, m_catalogue), replay::keepVariants(*m_session, m_catalogue, {"disputed"})}) {
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().kind, ErrorKind::usage);
        EXPECT_THAT(refused.error().what, HasSubstr("another variant 'disputed' (steps, epsilon differ)"));
    }
    EXPECT_THAT(replay::cellsThatHold(*m_session, m_catalogue).value(), IsEmpty()) << "of the other one";
    EXPECT_THAT(m_session->cells().value(), SizeIs(1)) << "which the session goes on keeping";
}

TEST_F(SessionVariants, ThatDifferInWordsOnlyAreTheSame)
{
    auto before = made("renamed");
    before.title = "before";
    store("renamed", replay::variantToJson(before).dump());
    sweep("renamed");
    ASSERT_TRUE(m_catalogue.add(made("renamed")));
    EXPECT_THAT(replay::takeVariants(*m_session, m_catalogue).value(), IsEmpty());
    EXPECT_THAT(replay::cellsThatHold(*m_session, m_catalogue).value(), SizeIs(1));
    EXPECT_THAT(replay::keepVariants(*m_session, m_catalogue, {"renamed"}).value(), IsEmpty());
    EXPECT_THAT(m_session->variants()->at(0).definition, HasSubstr("of a test"));
    EXPECT_THAT(m_session->cells().value(), SizeIs(1));
}

TEST_F(SessionVariants, DropCellsThatWereKeptWithoutADefinition)
{
    ASSERT_TRUE(m_catalogue.add(made("late")));
    sweep("late");
    sweep("torch-muon");
    sweep("nobody-knows");
    EXPECT_THAT(replay::cellsThatHold(*m_session, m_catalogue).value(), SizeIs(2)) << "nobody knows what 'late' was";
    EXPECT_THAT(replay::keepVariants(*m_session, m_catalogue, {"late"}).value(),
        ElementsAre(HasSubstr("Dropped 1 cell of 'late'")));
    EXPECT_THAT(m_session->cells().value(), SizeIs(2));
    sweep("late");
    EXPECT_THAT(replay::keepVariants(*m_session, m_catalogue, {"late"}).value(), IsEmpty());
    EXPECT_THAT(replay::cellsThatHold(*m_session, m_catalogue).value(), SizeIs(3));
}

} // namespace

} // namespace nanscope
