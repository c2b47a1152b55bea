// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/replay/engine/replay.h"
#include "core/replay/variants/variant.h"
#include "core/tensorfile/tensorfile.h"

namespace nanscope {

/// One file of tests/reference/data/replay or data/variants: an input and what torch made of it.
struct Vectors
{
    tensorfile::TensorFile file;
    MatrixShape shape;
    std::vector<double> input;
    double epsilon = 0;

    bool has(const std::string& key) const { return file.root.find(key) != nullptr; }

    std::vector<double> read(const std::string& key) const
    {
        const auto* value = file.root.find(key);
        EXPECT_NE(value, nullptr) << key;
        std::vector<double> all;
        const auto& tensor = *value->tensor();
        for (std::int64_t i = 0; i < shape.batch; ++i) {
            std::vector<double> one(static_cast<std::size_t>(shape.elements()));
            EXPECT_TRUE(tensor.read(i, std::span(one))) << key;
            all.insert(all.end(), one.begin(), one.end());
        }
        return all;
    }
};

inline Vectors loadVectors(const std::string& name)
{
    Vectors v;
    auto file = tensorfile::openTensorFile(NANSCOPE_TEST_DATA "/" + name + ".pt");
    EXPECT_TRUE(file) << sentence(file.error());
    v.file = *file;
    v.shape = v.file.root.find("input")->tensor()->matrices();
    v.input = v.read("input");
    v.epsilon = std::get<double>(v.file.root.find("epsilon")->value);
    return v;
}

inline std::vector<double> joined(const replay::Replay& replayed)
{
    std::vector<double> all;
    for (const auto& output : replayed.outputs) {
        all.insert(all.end(), output.begin(), output.end());
    }
    return all;
}

/// The vectors hold the unprotected schedule with eight steps under its plain name, with our five under this one.
inline std::string keyOf(const replay::Variant& variant, Precision precision)
{
    const std::string suffix = variant.name == "polar-express-unprotected" ? "-5/" : "/";
    return std::string(variant.name) + suffix + std::string(name(precision));
}

inline replay::Replay replayOn(
    const Vectors& v, const replay::Variant& variant, Precision precision, const replay::Rounding& rounding)
{
    const auto device = replay::makeEigenDevice(1);
    replay::ReplayOptions options;
    options.precision = precision;
    options.rounding = rounding;
    options.epsilon = v.epsilon;
    options.keepOutput = true;
    const auto directions = replay::signalDirections(v.shape, v.input);
    options.directions = &directions;
    auto result = replay::replay(variant, v.shape, v.input, *device, options);
    EXPECT_TRUE(result) << (result ? "" : result.error().what);
    return *result;
}

} // namespace nanscope
