// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Memory that one process fills and another of the same user reads. The filler's file lock tells a block in use from
// one whose process was killed, so that the next process can clear it away.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "core/base/result.h"

namespace nanscope::platform {

/// The filler's end. Its name is random, and only its owner may open it; it goes away with this object unless a reader
/// has taken it before.
class SharedBlock
{
public:
    /// All of the memory is there when this returns: filling it cannot fail for want of it.
    static Result<SharedBlock> create(std::size_t size);
    SharedBlock(SharedBlock&& other) noexcept;
    SharedBlock& operator=(SharedBlock&& other) noexcept;
    ~SharedBlock();

    const std::string& name() const { return m_name; }
    std::size_t size() const { return m_size; }
    std::span<std::byte> bytes() const { return {m_address, m_address == nullptr ? 0 : m_size}; }

    /// Gives up the view of the contents; they stay until a reader takes them.
    void close();

    /// True once a reader has it. Its memory is then the reader's, and this object needless.
    bool taken() const;

private:
    SharedBlock() = default;
    Result<void> allocate(std::size_t size);

    std::string m_name;
    int m_descriptor = -1;
    std::byte* m_address = nullptr;
    std::size_t m_size = 0;
};

/// The reader's end: read-only, and gone with this object.
class SharedView
{
public:
    /// Maps the block and removes its name. Fails where there is none of this name, where it is not this user's alone,
    /// or where it is not of this size.
    static Result<SharedView> take(const std::string& name, std::size_t size);
    SharedView(SharedView&& other) noexcept;
    SharedView& operator=(SharedView&& other) noexcept;
    ~SharedView();

    std::span<const std::byte> bytes() const { return {m_address, m_size}; }

private:
    SharedView() = default;

    const std::byte* m_address = nullptr;
    std::size_t m_size = 0;
};

/// Removes a block that will not be read any more; other names are left alone.
void removeSharedBlock(const std::string& name);

/// Removes this user's blocks whose processes are gone. Only where the system lists such memory, as Linux does.
void removeAbandonedBlocks();

} // namespace nanscope::platform
