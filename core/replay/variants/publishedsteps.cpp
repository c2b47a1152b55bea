// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/variants/published.h"

namespace nanscope::replay::published {

const Schedule& jordan()
{
    static const Schedule steps(5, Coefficients {3.4445, -4.7750, 2.0315});
    return steps;
}

const Schedule& you()
{
    static const Schedule steps {
        {4.0848, -6.8946, 2.9270},
        {3.9505, -6.3029, 2.6377},
        {3.7418, -5.5913, 2.3037},
        {2.8769, -3.1427, 1.2046},
        {2.8366, -3.0525, 1.2012},
    };
    return steps;
}

const Schedule& polarExpress()
{
    static const Schedule steps {
        {8.28721201814563, -23.595886519098837, 17.300387312530933},
        {4.107059111542203, -2.9478499167379106, 0.5448431082926601},
        {3.9486908534822946, -2.908902115962949, 0.5518191394370137},
        {3.3184196573706015, -2.488488024314874, 0.51004894012372},
        {2.300652019954817, -1.6689039845747493, 0.4188073119525673},
        {1.891301407787398, -1.2679958271945868, 0.37680408948524835},
        {1.8750014808534479, -1.2500016453999487, 0.3750001645474248},
        {1.875, -1.25, 0.375},
    };
    return steps;
}

Schedule polarExpressFive()
{
    return {polarExpress().begin(), polarExpress().begin() + 5};
}

const Schedule& polarExpressSafe()
{
    static const Schedule steps {
        {8.156554524902461, -22.48329292557795, 15.878769915207462},
        {4.042929935166739, -2.808917465908714, 0.5000178451051316},
        {3.8916678022926607, -2.772484153217685, 0.5060648178503393},
        {3.285753657755655, -2.3681294933425376, 0.46449024233003106},
        {2.3465413258596377, -1.7097828382687081, 0.42323551169305323},
    };
    return steps;
}

Schedule hybrid()
{
    Schedule steps(8, jordan().front());
    steps.resize(10, Coefficients {2.0, -1.5, 0.5});
    return steps;
}

const Schedule& cans()
{
    static const Schedule steps {
        {8.4703, -25.1081, 18.6293},
        {4.1828, -3.1087, 0.5806},
        {3.9619, -2.9541, 0.5630},
        {3.2866, -2.4647, 0.5074},
        {2.2737, -1.6447, 0.4162},
    };
    return steps;
}

} // namespace nanscope::replay::published
