// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace nanscope {

/// Where each block begins at a cache line. Kernels sum what lies before their first aligned vector by itself, so that
/// the last bits of a sum depend on where its numbers lie.
template <class T>
struct CacheLineAllocator
{
    using value_type = T;
    static constexpr std::align_val_t line {64};

    CacheLineAllocator() = default;
    template <class U>
    CacheLineAllocator(const CacheLineAllocator<U>& /*other*/)
    { }

    T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), line)); }
    void deallocate(T* block, std::size_t /*count*/) { ::operator delete(block, line); }
    bool operator==(const CacheLineAllocator&) const = default;
};

template <class T>
using AlignedVector = std::vector<T, CacheLineAllocator<T>>;

} // namespace nanscope
