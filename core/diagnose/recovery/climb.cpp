// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/recovery/climb.h"

namespace nanscope::diagnose {

namespace {

constexpr double spikeFactor = 2;
constexpr std::size_t spikeWindow = 100;
constexpr std::size_t fewestBefore = 10;

} // namespace

void ClimbSearch::look(const Point& point)
{
    m_looked = true;
    if (point.step >= m_step || point.state != PointState::finite) {
        return;
    }
    const double mean = m_window.empty() ? 0 : m_sum / static_cast<double>(m_window.size());
    const double against = m_start != nullptr ? m_level : mean;
    const bool high = m_window.size() >= fewestBefore && against > 0 && point.value >= spikeFactor * against;
    if (high && m_start == nullptr) {
        m_start = &point;
        m_level = mean;
        m_length = 0;
    }
    if (!high || ++m_length > spikeWindow) {
        m_start = nullptr;
    }
    m_window.push_back(point.value);
    m_sum += point.value;
    if (m_window.size() > spikeWindow) {
        m_sum -= m_window.front();
        m_window.pop_front();
    }
}

} // namespace nanscope::diagnose
