// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include <sys/types.h>
#include <unistd.h>

#include "core/platform/childprocess.h"

namespace nanscope::platform {

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

/// A running child and our ends of its pipes, which never block.
struct Spawned
{
    pid_t pid = -1;
    Descriptor input;
    Descriptor output;
    Descriptor errors;
};

Result<Spawned> spawn(const ChildProgram& program);

} // namespace nanscope::platform
