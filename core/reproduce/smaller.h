// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/instruments/target.h"
#include "core/reproduce/expectation.h"

namespace nanscope::reproduce {

/// What a report says of a matrix: how each variant that may have run ends on it, in its own format and in fp64, and
/// where it first leaves the finite. Answers with the output of `leading` where all of them end so, and with none
/// else: what kept only the damage might accuse a variant that had stayed finite, or need another reason to blow up.
/// It is asked first about the matrix that the rows are of. Fails when its work is done.
class Claim : public instruments::Target
{
public:
    /// The rows live as long as this. `work`: about so many flops may be spent.
    Claim(const std::vector<ExpectedNumbers>& rows, const ExpectedNumbers& leading, double work);

    instruments::TargetFacts facts() const override;
    Result<instruments::Reply> call(const instruments::Question& question, const CancelToken& cancel) override;
    Result<instruments::Burst> burst(const instruments::Question& question, const instruments::BurstOptions& options,
        const JobContext& job) override;

    /// The last matrix of which all held, and what the leading variant made of it.
    const instruments::Matrices& least() const { return m_least; }
    Shown shown() const;
    std::int64_t calls() const { return m_calls; } ///< on matrices other than the first
    bool spent() const { return m_work <= 0; }

private:
    Result<PlainReplay> replayed(
        const ExpectedNumbers& row, const instruments::Question& question, const CancelToken& cancel);
    Result<bool> othersHold(const instruments::Question& question, const CancelToken& cancel);
    Result<instruments::Reply> keep(const instruments::Question& question, std::vector<double> output);

    const std::vector<ExpectedNumbers>& m_rows;
    const ExpectedNumbers& m_leading;
    std::unique_ptr<replay::Device> m_device;
    double m_work;
    std::int64_t m_calls = 0;
    instruments::Matrices m_least;
    std::vector<double> m_output; ///< of the least; empty before the first
};

/// A capture that was made smaller, and how.
struct Smaller
{
    ReducedCapture capture; ///< with what stands for the dump in `shown`
    Shape before;
    std::int64_t nonZero = 0; ///< elements that are left
    std::int64_t calls = 0; ///< candidates that were replayed
    bool exhausted = false; ///< no more calls were allowed: less may do
    std::string kept; ///< what of the shape had to stay: "more columns than rows, both sides multiples of 8"
    std::string leading; ///< the variant and format that ends like the dump
    std::size_t others = 0; ///< replays that had to end as they do on the whole
};

/// The smallest part found on which every variant that may have run ends as on the whole, one of them like the dump. A
/// refusal says in its own words why the whole is kept.
Result<Smaller> smallerCapture(
    const ReducedCapture& whole, const std::vector<ExpectedNumbers>& numbers, const JobContext& job);

} // namespace nanscope::reproduce
