// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// A device that hands everything on, to the CPU device where no other is given, but measures nothing itself; a test
// overrides what it wants to watch or to stop.
#pragma once

#include <memory>
#include <utility>

#include "core/replay/device/device.h"

namespace nanscope::test {

class DeviceAround : public replay::Device
{
public:
    explicit DeviceAround(std::unique_ptr<replay::Device> inner = replay::makeEigenDevice(1))
        : m_inner(std::move(inner))
    { }

    Environment environment() const override { return m_inner->environment(); }
    bool native(Precision precision) const override { return m_inner->native(precision); }
    std::int64_t batchLimit(const replay::Program& program) const override { return m_inner->batchLimit(program); }
    Result<void> prepare(const replay::Program& program, std::int64_t batch) override
    {
        return m_inner->prepare(program, batch);
    }
    Result<void> upload(ValueView input) override { return m_inner->upload(input); }
    Result<void> run(const replay::Instruction& instruction) override { return m_inner->run(instruction); }
    Result<void> overwrite(replay::BufferId buffer, std::int64_t element, const replay::Region& region,
        std::span<const double> values) override
    {
        return m_inner->overwrite(buffer, element, region, values);
    }
    Result<void> rescan(const replay::Instruction& instruction) override { return m_inner->rescan(instruction); }
    Result<std::vector<Scan>> scans() override { return m_inner->scans(); }
    Result<Values> download(
        replay::BufferId buffer, std::int64_t element, const std::optional<replay::Region>& part) override
    {
        return m_inner->download(buffer, element, part);
    }
    Result<TileMap> tileMap(replay::BufferId buffer, std::int64_t element) override
    {
        return m_inner->tileMap(buffer, element);
    }

protected:
    replay::Device& inner() { return *m_inner; }

private:
    std::unique_ptr<replay::Device> m_inner;
};

} // namespace nanscope::test
