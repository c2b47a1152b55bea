// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/model/model.h"

namespace nanscope::workflow {

/// The bad values that were told of a run. What several of its logs say, a console beside a table, a copy or a log that
/// was rotated away, is one value; logs of different attempts tell of different ones.
class ToldValues
{
public:
    /// Whether this first bad value of a series, which holds its points, is another than those that were told before;
    /// it counts as told from now on.
    bool takeNew(const Series& series, const Point& first);

    /// What a log told before it was begun anew may come again.
    void forget(const std::string& source);

private:
    struct Value
    {
        std::string source;
        int attempt = 0;
        std::optional<int> rank;
        PointState state = PointState::nan;
        std::int64_t step = 0;
        bool stepInferred = false;
        std::map<std::int64_t, double> before; ///< the last finite values, by step

        bool isToldBy(const Value& other) const;
        bool goesOnFrom(const Value& other) const;
        bool agreesWith(const Value& other) const;
    };

    static Value valueOf(const Series& series, const Point& first);

    std::map<std::string, std::vector<Value>> m_told; ///< by the name of the series
};

} // namespace nanscope::workflow
