// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The session of ten million points that the benchmarks of the window share.
#pragma once

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "core/session/session.h"

namespace nanscope::bench {

constexpr int ranks = 4;
constexpr int stepsPerRank = 1'250'000;
constexpr int points = 2 * ranks * stepsPerRank;
const std::vector<std::string> names {"loss", "grad_norm"};

inline Series makeSeries(const std::string& name, int rank, std::mt19937& generator)
{
    std::normal_distribution<double> noise(0, 0.05);
    Series series;
    series.name = name;
    series.rank = rank;
    series.points.reserve(stepsPerRank);
    for (int step = 0; step < stepsPerRank; ++step) {
        const bool bad = step % 250'000 == 123'456;
        const double value =
            bad ? std::numeric_limits<double>::quiet_NaN() : 2 + 8 * std::exp(-step / 2e5) + noise(generator);
        series.points.push_back({step, value, stateOf(value), step + 1});
    }
    return series;
}

inline bool makeSession(const std::filesystem::path& path)
{
    auto session = session::Session::open(path, session::OpenMode::create);
    if (!session || !session->setRun("bench", path.parent_path().string())) {
        return false;
    }
    std::mt19937 generator(7);
    for (int rank = 0; rank < ranks; ++rank) {
        const std::string source = "rank" + std::to_string(rank) + ".jsonl";
        std::vector<Series> series;
        for (const std::string& name : names) {
            series.push_back(makeSeries(name, rank, generator));
        }
        if (!session->addLog(source, "jsonl", {}, {series, {}})) {
            return false;
        }
    }
    return true;
}

/// In MiB, from /proc/self/status.
inline double memory(const std::string& what)
{
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with(what)) {
            return std::stod(line.substr(what.size() + 1)) / 1024;
        }
    }
    return 0;
}

} // namespace nanscope::bench
