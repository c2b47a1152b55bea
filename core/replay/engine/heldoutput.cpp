// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/engine/heldoutput.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace nanscope::replay {

bool turnsDirections(const Program& program)
{
    return std::any_of(program.code.begin(), program.code.end(),
        [](const Instruction& in) { return in.label == OpName::equalize || in.label == OpName::aolScale; });
}

double relativeDistance(ValueView a, ValueView b)
{
    double difference = 0;
    double reference = 0;
    for (std::size_t i = 0; i < b.size(); ++i) {
        difference += (a[i] - b[i]) * (a[i] - b[i]);
        reference += b[i] * b[i];
    }
    return difference == 0 ? 0.0 : std::sqrt(difference / reference);
}

namespace {

Result<void> bringHere(Reference& reference)
{
    if (!reference.there) {
        return {};
    }
    return reference.there->download().map([&](Values values) { reference = {nullptr, {}, std::move(values)}; });
}

} // namespace

HeldOutput::HeldOutput(Device& device, const Program& program, std::int64_t element)
    : m_device(device)
    , m_buffer(program.output)
    , m_element(element)
    , m_cols(program.shape.cols)
{ }

Result<void> HeldOutput::fetch()
{
    if (m_values) {
        return {};
    }
    return m_device.download(m_buffer, m_element).map([this](Values values) { m_values = std::move(values); });
}

Result<Values> HeldOutput::take()
{
    return fetch().map([this] { return *std::exchange(m_values, std::nullopt); });
}

Result<std::vector<double>> HeldOutput::gainsAlong(const std::vector<SingularDirection>& directions)
{
    if (directions.empty()) {
        return std::vector<double>();
    }
    std::vector<double> rows;
    for (const auto& direction : directions) {
        rows.insert(rows.end(), direction.left.begin(), direction.left.end());
    }
    if (auto gains = m_device.gainsAlong(m_buffer, m_element, rows)) {
        return std::move(*gains);
    }
    return fetch().map([&] { return replay::gainsAlong(directions, *m_values, m_cols); });
}

Result<Reference> HeldOutput::asReference()
{
    if (auto kept = m_device.keep(m_buffer, m_element)) {
        return Reference {&m_device, std::move(kept)};
    }
    return take().map([](Values values) { return Reference {nullptr, {}, std::move(values)}; });
}

Result<double> HeldOutput::distanceTo(Reference& reference)
{
    if (reference.there && reference.device == &m_device) {
        if (const auto distance = reference.there->distanceOf(m_buffer, m_element)) {
            return *distance;
        }
    }
    return bringHere(reference).and_then([this] { return fetch(); }).map([&] {
        return relativeDistance(*m_values, reference.here);
    });
}

} // namespace nanscope::replay
