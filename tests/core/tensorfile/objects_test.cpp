// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// What torch and Python put into a pickle besides plain tensors.
#include <gmock/gmock.h>

#include "core/tensorfile/tensorfile.h"
#include "fixtures.h"

namespace nanscope {

using namespace fixtures;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

const std::string twoByTwo = tensor("FloatStorage", "0", 4, {2, 2}, {2, 1});

std::string called(const std::string& module, const std::string& name, const std::string& arguments)
{
    return global(module, name) + "(" + arguments + "tR";
}

class Objects : public testing::Test
{
protected:
    tensorfile::TensorFile open(const std::string& body)
    {
        const auto file = tensorfile::openTensorFile(
            m_folder.write("x.pt", torchFile(pickle(body), {bytesOf(std::vector<float> {1, 2, 3, 4})})));
        EXPECT_TRUE(file) << (file ? "" : sentence(file.error()));
        return file.value_or(tensorfile::TensorFile {});
    }

    std::string refusal(const std::string& body)
    {
        const auto file = tensorfile::openTensorFile(
            m_folder.write("x.pt", torchFile(pickle(body), {bytesOf(std::vector<float> {1, 2, 3, 4})})));
        return file ? "opened" : sentence(file.error());
    }

    static std::vector<float> valuesOf(const tensorfile::PickleValue& value)
    {
        std::vector<float> out(4);
        EXPECT_NE(value.tensor(), nullptr);
        EXPECT_TRUE(value.tensor() != nullptr && value.tensor()->read(0, std::span(out)));
        return out;
    }

    TemporaryFolder m_folder;
};

TEST_F(Objects, ParametersAreTheTensorsTheyWrap)
{
    const auto wrapped = twoByTwo + "\x88" + global("collections", "OrderedDict") + ")R";
    EXPECT_THAT(valuesOf(open(called("torch._utils", "_rebuild_parameter", wrapped)).root), ElementsAre(1, 2, 3, 4));
    EXPECT_THAT(valuesOf(open(called("torch._utils", "_rebuild_parameter_with_state", wrapped + "}")).root),
        ElementsAre(1, 2, 3, 4));
}

TEST_F(Objects, SubclassesAreRebuiltFromTheirType)
{
    const auto arguments = "(" + storage("FloatStorage", "0", 4) + integer(0) + tuple({2, 2}) + tuple({2, 1}) + "\x89"
        + global("collections", "OrderedDict") + ")Rt";
    const auto body = called("torch._tensor", "_rebuild_from_type_v2",
        global("torch._utils", "_rebuild_tensor_v2") + global("torch.nn.parameter", "Buffer") + arguments + "}");
    EXPECT_THAT(valuesOf(open(body).root), ElementsAre(1, 2, 3, 4));
    const auto foreign = called("torch._tensor", "_rebuild_from_type_v2",
        global("my.lib", "rebuild") + global("my.lib", "Type") + arguments + "}");
    EXPECT_TRUE(std::holds_alternative<tensorfile::OpaqueObject>(open(foreign).root.value));
}

TEST_F(Objects, AnUntypedStorageTakesTheTypeBesideIt)
{
    const auto untyped = "(" + text("storage") + global("torch.storage", "UntypedStorage") + text("0") + text("cpu")
        + integer(16) + "tQ";
    const auto body = called("torch._utils", "_rebuild_tensor_v3",
        untyped + integer(0) + tuple({2, 2}) + tuple({2, 1}) + "\x89" + global("collections", "OrderedDict") + ")R"
            + global("torch", "float32"));
    const auto file = open(body);
    EXPECT_THAT(valuesOf(file.root), ElementsAre(1, 2, 3, 4));
    EXPECT_EQ(file.root.tensor()->dtype(), DType::float32);
}

TEST_F(Objects, ATypeWeDoNotKnowIsOpaqueNotGuessed)
{
    const auto untyped = "(" + text("storage") + global("torch.storage", "UntypedStorage") + text("0") + text("cpu")
        + integer(16) + "tQ";
    const auto body = called("torch._utils", "_rebuild_tensor_v3",
        untyped + integer(0) + tuple({2, 2}) + tuple({2, 1}) + "\x89" + global("collections", "OrderedDict") + ")R"
            + global("torch", "float4_e2m1fn_x2"));
    EXPECT_TRUE(std::holds_alternative<tensorfile::OpaqueObject>(open(body).root.value));
    EXPECT_THAT(open(body).opaque, ElementsAre("torch float4_e2m1fn_x2"));
}

TEST_F(Objects, ANegatedViewIsNotShownAsWhatItIsNot)
{
    const auto body = [](const std::string& metadata) {
        return called("torch._utils", "_rebuild_tensor_v2",
            storage("FloatStorage", "0", 4) + integer(0) + tuple({2, 2}) + tuple({2, 1}) + "\x89"
                + global("collections", "OrderedDict") + ")R" + metadata);
    };
    EXPECT_NE(open(body("N")).root.tensor(), nullptr);
    EXPECT_NE(open(body("}")).root.tensor(), nullptr);
    const auto negated = open(body(dict({{"neg", "\x88"}})));
    EXPECT_EQ(negated.root.tensor(), nullptr);
    EXPECT_THAT(negated.opaque, ElementsAre(HasSubstr("negated or conjugated")));
}

TEST_F(Objects, DictsOfEveryKindAreDicts)
{
    const auto pair = "(" + text("a") + integer(1) + "t";
    for (const auto& body : {dict({{"a", integer(1)}}), called("collections", "OrderedDict", "](" + pair + "e"),
             called("collections", "defaultdict", global("builtins", "int")) + "(" + text("a") + integer(1) + "u",
             called("builtins", "dict", dict({{"a", integer(1)}}))}) {
        const auto file = open(body);
        ASSERT_NE(file.root.find("a"), nullptr) << body;
        EXPECT_EQ(std::get<std::int64_t>(file.root.find("a")->value), 1);
        EXPECT_EQ(file.root.find("b"), nullptr);
    }
    EXPECT_THAT(refusal(called("collections", "OrderedDict", "](" + text("a") + "e")), HasSubstr("not made of pairs"));
}

TEST_F(Objects, SizesTuplesAndSetsAreLists)
{
    const std::vector<std::int64_t> three {4, 5, 6};
    for (const auto& body :
        {tuple(three), "](" + integer(4) + integer(5) + integer(6) + "e", called("torch", "Size", tuple(three)),
            called("builtins", "set", "](" + integer(4) + integer(5) + integer(6) + "e"),
            called("__builtin__", "frozenset", tuple(three))}) {
        const auto root = open(body).root;
        const auto* list = std::get_if<tensorfile::PickleList>(&root.value);
        ASSERT_NE(list, nullptr) << body;
        ASSERT_EQ(list->size(), 3U) << body;
        EXPECT_EQ(std::get<std::int64_t>(list->at(1).value), 5);
    }
    EXPECT_THAT(std::get<tensorfile::PickleList>(open(called("torch", "Size", "")).root.value), IsEmpty());
}

TEST_F(Objects, PlainValuesKeepTheirKind)
{
    const auto root = open(dict({{"none", "N"}, {"yes", "\x88"}, {"no", "\x89"}, {"int", integer(-7)},
                               {"long", integer(std::int64_t {1} << 40)}, {"real", real(-0.5)}, {"text", text("µ 山")},
                               {"device", called("torch", "device", text("cuda") + integer(3))}}))
                          .root;
    EXPECT_TRUE(std::holds_alternative<std::monostate>(root.find("none")->value));
    EXPECT_TRUE(std::get<bool>(root.find("yes")->value));
    EXPECT_FALSE(std::get<bool>(root.find("no")->value));
    EXPECT_EQ(std::get<std::int64_t>(root.find("int")->value), -7);
    EXPECT_EQ(std::get<std::int64_t>(root.find("long")->value), std::int64_t {1} << 40);
    EXPECT_EQ(std::get<double>(root.find("real")->value), -0.5);
    EXPECT_EQ(std::get<std::string>(root.find("text")->value), "µ 山");
    EXPECT_EQ(std::get<std::string>(root.find("device")->value), "cuda");
}

TEST_F(Objects, ASharedTensorIsOneTensorInTwoPlaces)
{
    const auto body = "}(" + text("a") + twoByTwo + "q\x01" + text("b") + "h\x01u";
    const auto file = open(body);
    EXPECT_THAT(valuesOf(*file.root.find("a")), ElementsAre(1, 2, 3, 4));
    EXPECT_THAT(valuesOf(*file.root.find("b")), ElementsAre(1, 2, 3, 4));
    EXPECT_EQ(file.root.find("a")->tensor()->storageKey(), file.root.find("b")->tensor()->storageKey());
}

TEST_F(Objects, OtherPeoplesObjectsAreNamedOnceHoweverOftenTheyOccur)
{
    std::string body = "](";
    for (int i = 0; i < 50; ++i) {
        body += called("my.lib", "Config", integer(i));
    }
    const auto file = open(body + twoByTwo + "e");
    EXPECT_THAT(file.opaque, ElementsAre("my.lib Config"));
    EXPECT_THAT(valuesOf(std::get<tensorfile::PickleList>(file.root.value).back()), ElementsAre(1, 2, 3, 4));
}

TEST_F(Objects, TensorsDescribedWronglyAreRefused)
{
    const auto rebuild = [](const std::string& arguments) {
        return called("torch._utils", "_rebuild_tensor_v2", arguments);
    };
    const auto bytes = storage("FloatStorage", "0", 4);
    for (const auto& body : {rebuild(bytes), rebuild(bytes + integer(0) + tuple({2, 2})),
             rebuild(integer(1) + integer(0) + tuple({2, 2}) + tuple({2, 1})),
             rebuild(bytes + text("0") + tuple({2, 2}) + tuple({2, 1})),
             rebuild(bytes + integer(0) + integer(4) + tuple({2, 1})),
             rebuild(bytes + integer(0) + "(" + text("2") + "t" + tuple({1})),
             called("torch._utils", "_rebuild_parameter", ""), called("torch._tensor", "_rebuild_from_type_v2", "N")}) {
        EXPECT_THAT(refusal(body), HasSubstr("not described the way torch does")) << body;
    }
}

} // namespace
} // namespace nanscope
