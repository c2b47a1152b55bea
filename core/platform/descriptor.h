// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include <unistd.h>

namespace nanscope::platform {

/// Owns a file descriptor.
class Descriptor
{
public:
    explicit Descriptor(int number = -1)
        : m_number(number)
    { }
    Descriptor(Descriptor&& other) noexcept
        : m_number(std::exchange(other.m_number, -1))
    { }
    Descriptor& operator=(Descriptor&& other) noexcept
    {
        std::swap(m_number, other.m_number);
        return *this;
    }
    ~Descriptor() { close(); }

    int get() const { return m_number; }
    bool open() const { return m_number >= 0; }
    int release() { return std::exchange(m_number, -1); }
    void close()
    {
        if (const int number = std::exchange(m_number, -1); number >= 0) {
            ::close(number);
        }
    }

private:
    int m_number;
};

} // namespace nanscope::platform
