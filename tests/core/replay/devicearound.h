// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// A device that hands everything on to the CPU device; a test overrides what it wants to watch or to stop.
#pragma once

#include <memory>

#include "core/replay/device/device.h"

namespace nanscope::test {

class DeviceAround : public Device
{
public:
    Environment environment() const override { return m_inner->environment(); }
    bool native(Precision precision) const override { return m_inner->native(precision); }
    std::int64_t batchLimit(const Program& program) const override { return m_inner->batchLimit(program); }
    Result<void> prepare(const Program& program, std::int64_t batch) override
    {
        return m_inner->prepare(program, batch);
    }
    Result<void> upload(std::span<const double> input) override { return m_inner->upload(input); }
    Result<void> run(const Instruction& instruction) override { return m_inner->run(instruction); }
    Result<void> overwrite(
        BufferId buffer, std::int64_t element, const Region& region, std::span<const double> values) override
    {
        return m_inner->overwrite(buffer, element, region, values);
    }
    Result<void> rescan(const Instruction& instruction) override { return m_inner->rescan(instruction); }
    Result<std::vector<Scan>> scans() override { return m_inner->scans(); }
    Result<void> download(BufferId buffer, std::int64_t element, std::span<double> out) override
    {
        return m_inner->download(buffer, element, out);
    }
    Result<TileMap> tileMap(BufferId buffer, std::int64_t element) override
    {
        return m_inner->tileMap(buffer, element);
    }

private:
    std::unique_ptr<Device> m_inner = makeEigenDevice(1);
};

} // namespace nanscope::test
