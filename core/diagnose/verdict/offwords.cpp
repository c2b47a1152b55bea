// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/diagnose/verdict/explain.h"
#include "core/model/words.h"
#include "core/replay/variants/variantname.h"

namespace nanscope::diagnose::verdict {

namespace {

struct NamedFactor
{
    double value;
    const char* text;
};

/// What optimizers multiply the result of a matrix by for its shape.
const char* formulaOf(double factor, const Facts& facts)
{
    constexpr double near = 0.01;
    const auto rows = static_cast<double>(facts.rows);
    const auto cols = static_cast<double>(facts.cols);
    const double larger = std::sqrt(std::max(rows, cols));
    const std::array formulas {NamedFactor {0.2 * larger, "0.2·√max(rows, cols)"},
        NamedFactor {std::sqrt(std::max(1.0, rows / cols)), "√max(1, rows/cols)"},
        NamedFactor {std::sqrt(rows / cols), "√(rows/cols)"}, NamedFactor {larger, "√max(rows, cols)"}};
    const auto* found = std::ranges::find_if(formulas, [factor](const NamedFactor& one) {
        return std::abs(one.value - 1) > near && std::abs(factor - one.value) <= near * one.value;
    });
    return found == formulas.end() ? nullptr : found->text;
}

/// "2.53 (0.2·√max(rows, cols))"
std::string factorText(const Facts& facts)
{
    const auto* formula = formulaOf(facts.off.factor, facts);
    const auto factor = fmt::format("{:.3g}", facts.off.factor);
    return formula == nullptr ? factor : fmt::format("{} ({})", factor, formula);
}

std::string variantsText(const std::vector<std::string>& names)
{
    constexpr std::size_t listed = 3;
    return names.size() <= listed ? fmt::format("{}", fmt::join(names, " or "))
                                  : fmt::format("{} or one of {} like it", names.front(), names.size() - 1);
}

std::string stepsText(const OffOutput& off)
{
    return fmt::format("{} step{} in place of {}", off.steps, off.steps == 1 ? "" : "s", off.ownSteps);
}

/// ", to 0.16 %"; empty of what is so to the last bit
std::string fitText(const OffOutput& off)
{
    return off.fit > 0 ? ", to " + percentText(off.fit) : std::string();
}

std::string sayOtherSteps(const Considered& c)
{
    const auto& off = c.facts.off;
    if (const auto ran = ranInOtherSteps(c)) {
        return fmt::format("--ran {} says so", *ran);
    }
    return off.factor == 1
        ? fmt::format("\"variant\": \"{}\" in its sidecar says so", replay::withSteps(off.variants.front(), off.steps))
        : std::string();
}

/// Where values are damaged, they come first.
std::string withDamage(const Facts& facts, std::string text)
{
    return facts.outputFinite ? text : fmt::format("{}; {}", facts.damage.text, text);
}

} // namespace

std::string offOutputText(const Facts& facts)
{
    const auto& off = facts.off;
    const auto* output = facts.outputFinite ? "the output is" : "where the output is finite it is";
    switch (off.as) {
    case OffAs::unknown:
        break;
    case OffAs::input:
        return "the output is the input, bit for bit";
    case OffAs::multiple:
        return fmt::format("{} {} times {}{}", output, variantsText(off.variants), factorText(facts), fitText(off));
    case OffAs::otherSteps:
        return fmt::format("{} {} with {}{}{}", output, variantsText(off.variants), stepsText(off),
            off.factor == 1 ? std::string() : fmt::format(", times {}", factorText(facts)), fitText(off));
    case OffAs::notOfInput:
        return "the output has no direction in common with its input: it is of another one, its values are not where "
               "the function puts them, or the function lost them in its roundings";
    }
    return {};
}

std::optional<std::string> ranInOtherSteps(const Considered& c)
{
    const auto& off = c.facts.off;
    const bool isAnswer = off.as == OffAs::otherSteps && off.factor == 1 && c.identified.how != IdentifiedBy::sidecar;
    return isAnswer ? std::optional(replay::withSteps(off.variants.front(), off.steps)) : std::nullopt;
}

std::optional<Words> wordsOfOff(const Considered& c)
{
    const auto& facts = c.facts;
    auto text = withDamage(facts, offOutputText(facts));
    switch (facts.off.as) {
    case OffAs::unknown:
        break;
    case OffAs::input:
        return Words {"the input, unchanged", std::move(text),
            "did the function run on this call, and is its result what was dumped? If both, it wrote nothing, or it "
            "works in place and the input was not cloned before"};
    case OffAs::multiple:
        return Words {"a known function, times a factor", std::move(text),
            "does code after the function scale the result (a factor for its shape, a learning rate)? If it does, dump "
            "what the function itself returns: that can be judged in full"};
    case OffAs::otherSteps:
        return Words {"a known function, in another number of steps", std::move(text),
            fmt::format("is it called for {} step{}? With as many it can be judged in full", facts.off.steps,
                facts.off.steps == 1 ? "" : "s"),
            sayOtherSteps(c)};
    case OffAs::notOfInput:
        return Words {"unlike its input", std::move(text),
            "was the dumped input cloned before the call, so that nothing wrote to it later, and does the result keep "
            "its rows and columns (a transposed matrix that was reshaped does not)?"};
    }
    return std::nullopt;
}

} // namespace nanscope::diagnose::verdict
