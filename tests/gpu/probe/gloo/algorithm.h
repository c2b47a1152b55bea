// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// torch's wheel has gloo inside and the header of its process group, but not gloo's own headers, which that one
// includes. It only points at their types: this says as much of them as it takes to make a group, which torch's code
// then works with.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace gloo {

class Context
{
public:
    void setTimeout(std::chrono::milliseconds timeout);
};

namespace transport {

class Device;

class UnboundBuffer
{
public:
    virtual ~UnboundBuffer() = default;
};

} // namespace transport

namespace rendezvous {

class Store
{
public:
    virtual ~Store() = default;
    virtual void set(const std::string& key, const std::vector<char>& data) = 0;
    virtual std::vector<char> get(const std::string& key) = 0;
    virtual void wait(const std::vector<std::string>& keys) = 0;
    virtual void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& timeout) = 0;
};

} // namespace rendezvous

} // namespace gloo
