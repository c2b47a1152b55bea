// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Where the NaN of one planted fault goes, without computing a number: in a product each bad element takes its whole
// row or column with it, in a norm everything. Exact for a NaN; an infinity spreads over the same elements once the
// iteration has begun.
#pragma once

#include <vector>

#include "core/replay/analysis/badblocks.h"
#include "core/replay/engine/plant.h"

namespace nanscope::replay {

class SpreadModel
{
public:
    /// `mirrored` as in PlantedFault. Keeps the program.
    SpreadModel(Program program, bool mirrored);

    const Program& program() const { return m_program; }

    /// What is bad of each op's result, in the capture's own orientation; one number counts as a 1 x 1 matrix. The
    /// place is an instruction as from plantingPoint().
    std::vector<BadBlocks> film(std::size_t place, const Region& region) const;

    /// The last of them alone, simplified.
    BadBlocks end(std::size_t place, const Region& region) const;

private:
    Program m_program;
    std::vector<bool> m_symmetric;
};

/// The places of a program a tile can go bad in: what each op of an iteration wrote. Instructions, in their order.
std::vector<std::size_t> placesIn(const Program& program);

} // namespace nanscope::replay
