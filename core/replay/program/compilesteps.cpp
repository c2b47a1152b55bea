// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// The steps of the standard and the Gram forms.
#include <algorithm>
#include <utility>

#include "core/replay/program/compile.h"
#include "core/replay/program/formats.h"

namespace nanscope::replay {

namespace {

class Steps
{
public:
    explicit Steps(Emitter& emitter)
        : m_e(emitter)
    { }

    void standard(std::optional<BufferId> firstGram)
    {
        const auto gram = firstGram ? *firstGram : m_e.gramSized();
        const auto scaled = m_e.gramSized();
        const auto squared = m_e.gramSized();
        const auto steps = m_e.steps();
        for (std::size_t i = 0; i < steps.size(); ++i) {
            const auto& [a, b, c] = steps[i];
            const int iteration = static_cast<int>(i) + 1;
            if (i > 0 || !firstGram) {
                formGram(gram, iteration);
            }
            if (c == 0 && m_e.fused()) {
                update(gram, a, b, iteration);
                continue;
            }
            m_e.label(polynomial(gram, scaled, squared, b, c), OpName::polynomial, iteration);
            update(squared, a, 1, iteration);
        }
    }

    void gram()
    {
        auto r = m_e.gramSized();
        auto q = m_e.gramSized();
        auto next = m_e.gramSized();
        const auto z = m_e.gramSized();
        const auto temporary = m_e.gramSized();
        bool haveQ = false;
        const auto steps = m_e.steps();
        for (std::size_t i = 0; i < steps.size(); ++i) {
            const auto [a, b, c] = steps[i];
            const int iteration = static_cast<int>(i) + 1;
            if (i == 0 || restartsBefore(i)) {
                if (haveQ) {
                    m_e.label(multiplyX(q), OpName::restart, iteration);
                    m_e.swapX();
                    haveQ = false;
                }
                formGram(r, iteration);
            }
            m_e.label(polynomial(r, temporary, z, b, c), OpName::z, iteration);
            if (haveQ) {
                m_e.label(multiplyByZ(next, z, q, a, temporary), OpName::q, iteration);
                std::swap(q, next);
            } else {
                auto& first = m_e.emit(Code::addDiagonal, q, z);
                first.alpha = m_e.fromLeft() ? a : roundTo(m_e.compute(), a);
                m_e.label(first, OpName::q, iteration);
                haveQ = true;
            }
            if (i + 1 < steps.size() && !restartsBefore(i + 1)) {
                multiplyByZ(next, z, r, a, temporary);
                // R is free now; Z (RZ) + a (RZ) goes back into it.
                m_e.label(accumulate(r, z, next, a, next, temporary), OpName::r, iteration);
                m_e.markGram(r);
            }
        }
        m_e.label(multiplyX(q), OpName::update, static_cast<int>(steps.size()));
        m_e.swapX();
    }

private:
    void formGram(BufferId out, int iteration)
    {
        m_e.label(m_e.gramProduct(out), OpName::gram, iteration);
        m_e.markGram(out);
    }

    // X <- Q X or X Q: the product that both forms end a step or a restart with.
    Instruction& multiplyX(BufferId q, double alpha = 1, double beta = 0)
    {
        auto& product =
            m_e.left() ? m_e.gemm(m_e.spare(), alpha, q, m_e.x()) : m_e.gemm(m_e.spare(), alpha, m_e.x(), q);
        if (beta != 0) {
            product.beta = beta;
            product.c = m_e.x();
        }
        return product;
    }

    // Leaves b A + c A A in `out`; where c is 0 nobody forms A A.
    Instruction& polynomial(BufferId gram, BufferId scaled, BufferId out, double b, double c)
    {
        if (c == 0) {
            return m_e.scale(out, b, gram);
        }
        if (m_e.fused()) {
            return m_e.gemm(out, c, gram, gram, b, gram);
        }
        if (m_e.fuseElementwise()) {
            m_e.gemm(out, 1, gram, gram);
            return m_e.add(out, b, gram, c, out);
        }
        if (m_e.variant().form == Form::standardScaled || m_e.fromLeft()) {
            m_e.scale(scaled, c, gram);
            m_e.gemm(out, 1, scaled, gram);
        } else {
            m_e.gemm(out, 1, gram, gram);
            m_e.scale(out, c, out);
        }
        m_e.scale(scaled, b, gram);
        return m_e.add(out, 1, scaled, 1, out);
    }

    // X <- a X + factor B X.
    void update(BufferId b, double a, double factor, int iteration)
    {
        if (m_e.fused() && !m_e.variant().addInPlace) {
            m_e.label(multiplyX(b, factor, a), OpName::update, iteration);
            m_e.swapX();
            return;
        }
        multiplyX(b, factor);
        if (m_e.fuseElementwise() || m_e.variant().addInPlace) {
            m_e.label(m_e.add(m_e.x(), a, m_e.x(), 1, m_e.spare()), OpName::update, iteration);
            return;
        }
        m_e.scale(m_e.x(), a, m_e.x());
        m_e.label(m_e.add(m_e.x(), 1, m_e.x(), 1, m_e.spare()), OpName::update, iteration);
    }

    // out = left right + a base: one step of Q or of R.
    Instruction& accumulate(BufferId out, BufferId left, BufferId right, double a, BufferId base, BufferId temporary)
    {
        if (m_e.fused()) {
            return m_e.gemm(out, 1, left, right, a, base);
        }
        m_e.gemm(out, 1, left, right);
        if (m_e.fuseElementwise()) {
            return m_e.add(out, a, base, 1, out);
        }
        m_e.scale(temporary, a, base);
        return m_e.add(out, 1, temporary, 1, out);
    }

    // out = other Z + a other, or Z other + a other.
    Instruction& multiplyByZ(BufferId out, BufferId z, BufferId other, double a, BufferId temporary)
    {
        return m_e.fromLeft() ? accumulate(out, z, other, a, other, temporary)
                              : accumulate(out, other, z, a, other, temporary);
    }

    bool restartsBefore(std::size_t step) const
    {
        const auto& list = m_e.variant().restarts;
        return step > 0 && std::find(list.begin(), list.end(), static_cast<int>(step)) != list.end();
    }

    Emitter& m_e;
};

} // namespace

void emitSteps(Emitter& e, std::optional<BufferId> gram)
{
    if (e.gramForm()) {
        Steps(e).gram();
    } else {
        Steps(e).standard(gram);
    }
}

} // namespace nanscope::replay
