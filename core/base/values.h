// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

namespace nanscope {

/// Numbers that are kept elsewhere, as floats or as doubles; each is read as a double. Copied like a span.
class ValueView
{
public:
    class Iterator
    {
    public:
        // Also to the older algorithms, as that of vector<bool>: a vector made of a range takes its room at once.
        using iterator_category = std::random_access_iterator_tag;
        using value_type = double;
        using difference_type = std::ptrdiff_t;
        using reference = double;
        using pointer = void;

        Iterator() = default;
        Iterator(const float* narrow, const double* wide)
            : m_narrow(narrow)
            , m_wide(wide)
        { }

        double operator*() const { return m_narrow != nullptr ? static_cast<double>(*m_narrow) : *m_wide; }
        double operator[](difference_type i) const { return *(*this + i); }
        Iterator& operator+=(difference_type by)
        {
            m_narrow += m_narrow != nullptr ? by : 0;
            m_wide += m_wide != nullptr ? by : 0;
            return *this;
        }
        Iterator& operator-=(difference_type by) { return *this += -by; }
        Iterator& operator++() { return *this += 1; }
        Iterator& operator--() { return *this += -1; }
        Iterator operator++(int) { return std::exchange(*this, *this + 1); }
        Iterator operator--(int) { return std::exchange(*this, *this - 1); }
        friend Iterator operator+(Iterator it, difference_type by) { return it += by; }
        friend Iterator operator+(difference_type by, Iterator it) { return it += by; }
        friend Iterator operator-(Iterator it, difference_type by) { return it -= by; }
        friend difference_type operator-(const Iterator& a, const Iterator& b)
        {
            return a.m_narrow != nullptr ? a.m_narrow - b.m_narrow : a.m_wide - b.m_wide;
        }
        bool operator==(const Iterator&) const = default;
        std::strong_ordering operator<=>(const Iterator& other) const { return *this - other <=> 0; }

    private:
        const float* m_narrow = nullptr; ///< one of both, at most
        const double* m_wide = nullptr;
    };

    ValueView() = default;
    ValueView(std::span<const float> narrow)
        : m_narrow(narrow)
    { }
    ValueView(std::span<const double> wide)
        : m_wide(wide)
    { }
    ValueView(const std::vector<float>& narrow)
        : m_narrow(narrow)
    { }
    ValueView(const std::vector<double>& wide)
        : m_wide(wide)
    { }

    std::size_t size() const { return m_narrow.size() + m_wide.size(); }
    bool empty() const { return size() == 0; }
    double operator[](std::size_t i) const { return m_wide.empty() ? static_cast<double>(m_narrow[i]) : m_wide[i]; }
    Iterator begin() const
    {
        return m_wide.empty() ? Iterator(m_narrow.data(), nullptr) : Iterator(nullptr, m_wide.data());
    }
    Iterator end() const { return begin() + static_cast<std::ptrdiff_t>(size()); }

    ValueView subview(std::size_t offset, std::size_t count) const
    {
        return m_wide.empty() ? ValueView(m_narrow.subspan(offset, count)) : ValueView(m_wide.subspan(offset, count));
    }

    /// Calls `f` with the span of floats or of doubles that it is, for what is to be read fast.
    template <class F>
    decltype(auto) visit(const F& f) const
    {
        return m_wide.empty() ? f(m_narrow) : f(m_wide);
    }

    friend bool operator==(const ValueView& a, const ValueView& b)
    {
        return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
    }

private:
    std::span<const float> m_narrow; ///< one of both is empty
    std::span<const double> m_wide;
};

/// Numbers that are kept as floats where each is one exactly, as those of bf16, fp16 and fp32 are, and as doubles
/// else: a large layer's matrices take half of the memory.
class Values
{
public:
    Values() = default;
    Values(std::vector<float> narrow)
        : m_narrow(std::move(narrow))
    { }
    Values(std::vector<double> wide)
        : m_wide(std::move(wide))
    { }

    operator ValueView() const { return view(); }
    ValueView view() const { return m_wide.empty() ? ValueView(m_narrow) : ValueView(m_wide); }

    std::size_t size() const { return m_narrow.size() + m_wide.size(); }
    bool empty() const { return size() == 0; }
    double operator[](std::size_t i) const { return m_wide.empty() ? static_cast<double>(m_narrow[i]) : m_wide[i]; }
    ValueView::Iterator begin() const { return view().begin(); }
    ValueView::Iterator end() const { return view().end(); }
    friend bool operator==(const Values& a, const Values& b) { return a.view() == b.view(); }

    /// What is no float becomes the nearest one where floats are kept.
    void set(std::size_t i, double value)
    {
        if (m_wide.empty()) {
            m_narrow[i] = static_cast<float>(value);
        } else {
            m_wide[i] = value;
        }
    }

    std::vector<double> doubles() const& { return {begin(), end()}; }
    std::vector<double> doubles() &&
    {
        return m_narrow.empty() ? std::move(m_wide) : std::vector<double>(m_narrow.begin(), m_narrow.end());
    }

private:
    std::vector<float> m_narrow; ///< one of both is empty
    std::vector<double> m_wide;
};

/// The value below which so large a share lies, of an even number the upper one of two; zero where there is none.
template <class T>
T quantileOf(std::vector<T> values, double share = 0.5)
{
    if (values.empty()) {
        return {};
    }
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size()));
    std::nth_element(values.begin(), at, values.end());
    return *at;
}

} // namespace nanscope
