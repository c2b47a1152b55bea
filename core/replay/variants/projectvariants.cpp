// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "core/replay/variants/published.h"

namespace nanscope::replay::published {

namespace {

constexpr const char* dionSource = "microsoft/dion 0a059a4, dion/";

std::vector<Variant> ofDion()
{
    Variant triton;
    triton.steps = you();
    triton.lowering = Lowering::fused;
    triton.family = "you";

    Variant express = triton;
    express.steps = polarExpressSafe();
    express.safetyFactor = 1.02;
    express.epsilon = 1e-6;
    express.normFactor = 1.02;
    express.family = "polar-express";

    Variant twoStage;
    twoStage.steps = hybrid();
    twoStage.epsilon = 1e-6;
    twoStage.tall = TallRule::multiplyRight;
    twoStage.family = "hybrid";

    return {
        named(triton, "dion-ns5-triton", "dion newton_schulz_triton",
            std::string(dionSource) + "newton_schulz_triton.py"),
        named(express, "dion-polar-express-triton", "dion polar_express_triton",
            std::string(dionSource) + "polar_express.py"),
        named(twoStage, "dion-hybrid", "dion hybrid_newton_schulz (a branch)",
            "microsoft/dion 3d1214d, jcl/hybrid-newton-schulz"),
    };
}

std::vector<Variant> ofNanogpt()
{
    Variant modded;
    modded.steps = polarExpressSafe();
    modded.lowering = Lowering::fused;
    modded.epsilon = 1e-6;
    modded.ignoresCallerEpsilon = true;
    modded.normFactor = 1.02;
    modded.safetyFactor = 1.02;
    modded.tall = TallRule::multiplyRight;
    modded.family = "polar-express";

    Variant split = modded;
    split.addInPlace = true;

    Variant nanochat = modded;
    nanochat.lowering = Lowering::eager;
    nanochat.normFactor = 1.01;
    nanochat.equalizeRows = true;
    nanochat.rescaleOutput = true;
    nanochat.family = "nanochat";

    const std::string source = "KellerJordan/modded-nanogpt f411b3d, train_gpt.py";
    return {
        named(modded, "modded-nanogpt", "modded-nanogpt polar_express", source),
        named(split, "modded-nanogpt-split", "modded-nanogpt polar_express, large matrices", source),
        named(nanochat, "nanochat", "nanochat: rows equalized, result rescaled",
            "karpathy/nanochat 92d63d4, nanochat/optim.py"),
    };
}

std::vector<Variant> ofGram()
{
    Variant gram = gramNewtonSchulz();
    gram.tall = TallRule::multiplyRight;
    Variant standard = gram;
    standard.form = Form::standard;
    standard.restarts.clear();

    Variant deepspeed = gramNewtonSchulz();
    deepspeed.steps = jordan();
    deepspeed.safetyFactor = 1;
    deepspeed.lowering = Lowering::eager;
    deepspeed.form = Form::gramFromLeft;
    deepspeed.family = "jordan";
    Variant fromBf16 = deepspeed;
    fromBf16.normalizeIn = Precision::bf16;

    const std::string gns = "gram-newton-schulz 0.1.6 (PyPI), gram_newton_schulz.py";
    const std::string after = "deepspeedai/DeepSpeed after PR 8533, original_muon.py";
    return {
        named(standard, "gns-standard-0.1.6", "gram-newton-schulz 0.1.6, standard loop", gns),
        named(gram, "gns-gram-0.1.6", "Gram Newton-Schulz 0.1.6, right products for tall matrices", gns),
        named(deepspeed, "deepspeed-gram-8533", "DeepSpeed, normalized before the cast, fp32 gradients", after),
        named(fromBf16, "deepspeed-gram-8533-bf16", "DeepSpeed, normalized before the cast, bf16 gradients", after),
    };
}

std::vector<Variant> ofTurboMuon()
{
    Variant turbo;
    turbo.steps = {
        {4.6051, -9.6552, 5.6769},
        {4.7505, -6.0861, 2.1790},
        {2.7763, -2.3190, 0.5523},
        {2.4231, -2.2861, 0.8193},
    };
    turbo.normalization = Normalization::aol;
    turbo.lowering = Lowering::fused;
    turbo.family = "turbo-muon";

    Variant flash = kellerJordan();
    flash.form = Form::standard;
    return {
        named(turbo, "turbo-muon", "Turbo-Muon (AOL) and dion newton_schulz_triton_fast",
            "thib-s/flash-newton-schulz cdb03db, newton_schulz_triton.py"),
        named(flash, "flash-muon", "flash-muon fast_newtonschulz", "nil0x9/flash-muon 80ac87f, flash_muon/muon.py"),
    };
}

Variant paperLike(Schedule steps, const char* family)
{
    Variant v = kellerJordan();
    v.steps = std::move(steps);
    v.normFactor = 1.01;
    v.family = family;
    return v;
}

std::vector<Variant> ofPolarExpress()
{
    // The factor is in all steps but the steady last one.
    auto eight = withSafetyFactor(polarExpress(), 1.01);
    eight.back() = polarExpress().back();
    Variant five = paperLike(withSafetyFactor(polarExpressFive(), 1.01), "polar-express-paper-5");
    five.safetyFactor = 1.01;
    // Computed at import with the factor inside the recursion, so that these are other digits than those printed.
    const Schedule computed {
        {8.237312490495555, -23.1577474145582, 16.68056841144592},
        {4.082441999064836, -2.8930477353325887, 0.5252849256975651},
        {3.9263479922546556, -2.8547468034765293, 0.5318022422894989},
        {3.2982187133085143, -2.424541981026706, 0.48632008358844075},
        {2.297036943455258, -1.636625581259032, 0.40026284559536324},
        {1.8763805351440388, -1.2347896577722206, 0.35891887501668285},
        {1.8564423485632715, -1.2132449880964424, 0.35680034878400435},
        {1.8564327152541042, -1.2132319436823145, 0.35679681879874264},
    };
    Variant cans = paperLike(published::cans(), "cans");
    cans.normFactor = 1;
    cans.published = false;
    const std::string basic = "NoahAmsel/PolarExpress 7f0fb57, polar_express/basic.py";
    return {
        named(paperLike(eight, "polar-express-paper"), "polar-express", "Polar Express as in its paper, eight steps",
            basic),
        named(five, "polar-express-5", "Polar Express as in its paper, five steps", basic),
        named(paperLike(computed, "polar-express-paper"), "polar-express-package",
            "Polar Express as its package computes it, eight steps",
            "NoahAmsel/PolarExpress 458c71b, polar_express/_core.py"),
        named(cans, "cans", "CANS coefficients in Muon's loop, without safety factor",
            "arXiv 2506.10935 as in NVIDIA-NeMo/Emerging-Optimizers fd77292"),
    };
}

} // namespace

std::vector<Variant> projectVariants()
{
    std::vector<Variant> all;
    for (auto&& part : {ofDion(), ofNanogpt(), ofGram(), ofTurboMuon(), ofPolarExpress()}) {
        all.insert(all.end(), part.begin(), part.end());
    }
    return all;
}

} // namespace nanscope::replay::published
