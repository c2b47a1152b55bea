// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/findings/spikerules.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <iterator>
#include <optional>

#include "core/replay/variants/nearest.h"

namespace nanscope::diagnose::cards {

namespace {

/// ZClip's own, against norms that do not move at all.
constexpr double leastSigma = 1e-6;

double squared(double value)
{
    return value * value;
}

/// The limit that the values so far set for the next one.
class Limit
{
public:
    explicit Limit(const SpikeRule& rule)
        : m_rule(rule)
    { }

    std::optional<double> value() const
    {
        if (m_count < m_rule.fewest) {
            return std::nullopt;
        }
        switch (m_rule.baseline) {
        case Baseline::maxOfFirst:
            return m_rule.factor * m_max;
        case Baseline::mean:
            return m_rule.factor * windowMean();
        case Baseline::sigmas:
            return windowMean() + m_rule.factor * windowSigma();
        case Baseline::ema:
            return m_rule.factor * m_mean;
        case Baseline::emaSigmas:
            return m_mean + m_rule.factor * (std::sqrt(m_variance) + leastSigma);
        }
        return std::nullopt;
    }

    void add(double value)
    {
        m_max = m_count < m_rule.window ? std::max(m_max, std::abs(value)) : m_max;
        m_window.push_back(value);
        if (m_window.size() > m_rule.window) {
            m_window.pop_front();
        }
        ++m_count;
        average(value);
    }

private:
    /// Summed anew each time: a running sum would never forget the rounding of one huge value.
    double windowMean() const
    {
        double sum = 0;
        for (const auto value : m_window) {
            sum += value;
        }
        return sum / static_cast<double>(m_window.size());
    }

    double windowSigma() const
    {
        const double mean = windowMean();
        double sum = 0;
        for (const auto value : m_window) {
            sum += squared(value - mean);
        }
        return m_window.size() < 2 ? 0 : std::sqrt(sum / static_cast<double>(m_window.size() - 1));
    }

    /// Moving averages begin as the plain ones of the first `fewest` values.
    void average(double value)
    {
        if (m_rule.decay == 0) {
            return;
        }
        if (m_count <= m_rule.fewest) {
            m_mean = windowMean();
            m_variance = squared(windowSigma());
            return;
        }
        m_mean = m_rule.decay * m_mean + (1 - m_rule.decay) * value;
        m_variance = m_rule.decay * m_variance + (1 - m_rule.decay) * squared(value - m_mean);
    }

    const SpikeRule& m_rule;
    std::deque<double> m_window;
    std::size_t m_count = 0;
    double m_max = 0;
    double m_mean = 0;
    double m_variance = 0;
};

void learn(Limit& limit, double value, const std::optional<double>& most, Outliers how)
{
    if (!most || how == Outliers::learned) {
        limit.add(value);
    } else if (how == Outliers::clipped) {
        limit.add(*most);
    }
}

/// A value that does not move is no outlier of itself.
bool isOutlier(double value, double limit, Baseline baseline)
{
    return value > 0 && (baseline == Baseline::sigmas ? value > limit : value >= limit);
}

} // namespace

const std::vector<SpikeRule>& spikeRules()
{
    static const std::vector<SpikeRule> rules {
        {"llm-foundry", "loss", Baseline::mean, 100, 100, 2, 5, 0, Outliers::learned,
            "loss at least 2 times the mean of the last 100 for 5 logged steps in a row (llm-foundry, KillLossSpike)"},
        {"megatron", "loss", Baseline::maxOfFirst, 100, 100, 10, 1, 0, Outliers::learned,
            "loss at least 10 times the largest of the first 100 (Megatron-LM, rerun state machine)"},
        {"olmo", "loss", Baseline::sigmas, 128, 64, 6, 1, 0, Outliers::learned,
            "loss over the mean of the last 128 by 6 standard deviations (OLMo-core, SkipStepOptimizer)"},
        {"lightning", "loss", Baseline::mean, 10, 1, 3, 1, 0, Outliers::ignored,
            "loss over the mean of the last 10 by 2 times that mean (Lightning, SpikeDetection, rtol 2.0)"},
        {"entrenar", "loss", Baseline::ema, 1, 1, 3, 1, 0.95, Outliers::ignored,
            "loss over 3 times its moving average, decay 0.95 (entrenar issues 127 and 292)"},
        {"zclip", "grad_norm", Baseline::emaSigmas, 25, 25, 2.5, 1, 0.97, Outliers::clipped,
            "grad_norm over its moving average, decay 0.97, by 2.5 moving standard deviations (ZClip, arXiv "
            "2504.02507)"},
    };
    return rules;
}

const SpikeRule& defaultSpikeRule()
{
    return spikeRules().front();
}

Result<const SpikeRule*> findSpikeRule(std::string_view name)
{
    const auto& rules = spikeRules();
    const auto found =
        std::find_if(rules.begin(), rules.end(), [&](const SpikeRule& rule) { return rule.name == name; });
    if (found == rules.end()) {
        std::vector<std::string_view> names;
        std::ranges::transform(rules, std::back_inserter(names), &SpikeRule::name);
        return replay::unknownName("spike rule", name, names);
    }
    return &*found;
}

std::vector<Spike> spikesOf(const std::vector<Point>& points, const SpikeRule& rule)
{
    std::vector<Spike> spikes;
    Limit limit(rule);
    Spike open;
    std::size_t length = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
        const auto most = limit.value();
        const bool outlier = most && isOutlier(points[i].value, *most, rule.baseline);
        if (outlier) {
            open = length == 0 ? Spike {i, i, *most} : Spike {open.first, i, open.limit};
            ++length;
        } else {
            length = 0;
        }
        if (length == rule.inARow) {
            spikes.push_back(open);
        } else if (length > rule.inARow) {
            spikes.back().last = i;
        }
        learn(limit, points[i].value, outlier ? most : std::nullopt, rule.outliers);
    }
    return spikes;
}

} // namespace nanscope::diagnose::cards
