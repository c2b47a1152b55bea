// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <vector>

#include <QString>

#include "core/instruments/scale.h"

namespace nanscope {

/// A scale at which somebody looked, in binades from the capture's own.
struct ScaleLook
{
    double at = 0;
    double scale = 1;
    std::optional<Outcome> outcome; ///< none: there was no output
    std::optional<std::size_t> edge; ///< the look is one of the two sides of this edge
};

/// What lies between two looks, or beyond the last.
struct ScaleStretch
{
    enum class Kind {
        alike, ///< both ends ended alike; nobody looked between
        between, ///< they did not: the edge is somewhere here
        unseen ///< no number of the input's type is that large or small
    };
    double from = 0;
    double to = 0;
    Kind kind = Kind::alike;
    std::optional<Outcome> outcome; ///< of `alike`
};

struct ScaleMark
{
    instruments::ScaleEdge edge;
    double at = 0; ///< of firstOutside
    QString place; ///< which end of which format it is; empty where none explains it
};

/// The answer of the scale instrument on an axis of binades.
struct ScalePicture
{
    std::vector<ScaleLook> looks; ///< ascending
    std::vector<ScaleStretch> stretches; ///< ascending, without gaps
    std::vector<ScaleMark> edges; ///< as the answer has them
    double lowest = 0; ///< looked at
    double highest = 0;

    bool hasSilence() const; ///< some look gave no output
    std::optional<std::size_t> nearestEdge(bool up) const; ///< to the capture's own scale, on this side
};

/// `epsilon` is what it was called with, where that is known.
ScalePicture makeScalePicture(const instruments::ScaleAnswer& answer, std::optional<double> epsilon);

/// "+14.5 binades", with a real minus sign.
QString binadesText(double binades);

/// "finite to zero at ×2.31e+04 (+14.5 binades): the norm rounds to Inf in fp16".
QString scaleEdgeText(const ScaleMark& mark);

/// What is known of one look.
QString scaleLookText(const ScalePicture& picture, std::size_t look);

/// What is known of any place, and how far the next edges are.
QString scalePlaceText(const ScalePicture& picture, double at);

/// The whole in a sentence: how far the capture's own scale is from the nearest edge on either side.
QString scaleSummary(const ScalePicture& picture);

/// A line for each look and each edge, tab-separated, a heading first.
QString scaleTsv(const ScalePicture& picture);

} // namespace nanscope
