// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/reproduce/readme.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

namespace nanscope {

namespace {

constexpr std::size_t lineWidth = 110;

/// Below its name, in lines that fit a screen.
std::string entry(std::string_view name, const std::string& text)
{
    std::string result(name);
    std::size_t width = lineWidth;
    std::istringstream words(text);
    for (std::string word; words >> word; width += word.size() + 1) {
        const bool fits = width + 1 + word.size() <= lineWidth;
        result += (fits ? " " : "\n  ") + word;
        width = fits ? width : 1;
    }
    return result + "\n";
}

} // namespace

bool Material::reproducedByNumbers() const
{
    return std::any_of(numbers.begin(), numbers.end(),
        [](const ExpectedNumbers& row) { return row.precision == row.own && row.likeDump; });
}

std::string whyThatStatus(const Material& from)
{
    if (from.reproducedByNumbers()) {
        return from.verdict.blame == Blame::upstream
            ? "The input was not finite already, and every variant passes that on."
            : "A variant that may have run ends like the dump, on any machine.";
    }
    if (from.options.synthetic && from.verdict.blame == Blame::numerics) {
        return "The twin does not show it. What mattered is not in the singular values: ask for the capture.";
    }
    return "No variant that may have run ends like the dump: either something else ran, or the fault is not in the "
           "numbers. python repro.py --impl MODULE:FUNCTION calls your function on a machine like the one that failed, "
           "and ends with 0 where a result is not finite.";
}

std::string captureSentence(const Material& from)
{
    if (from.options.synthetic) {
        return fmt::format("A synthetic twin of the captured input: the same singular values, size and format, with "
                           "random directions (seed {}). None of the captured numbers is in it.",
            from.options.seed);
    }
    return fmt::format("Input and output of {} of the {} captured {}, bit for bit. They may be private, and nothing in "
                       "them is redacted.",
        from.capture.elements.size(), from.capture.captured, from.capture.captured == 1 ? "matrix" : "matrices");
}

std::string readmeLines(const Material& from)
{
    const auto program =
        fmt::format("Runs the call again: python repro.py needs torch and no GPU. It ends with 0 where "
                    "the damage is reproduced, 1 where it is not, 2 where it cannot run. Expected is {}. {}",
            from.reproducedByNumbers() ? 0 : 1, whyThatStatus(from));
    const auto numbers =
        fmt::format("What each variant that may have run is expected to give, and the sha256 of {}.", captureName);
    return entry("repro.py", program) + entry("expected.json", numbers) + entry(captureName, captureSentence(from));
}

} // namespace nanscope
