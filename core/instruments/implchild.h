// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <nlohmann/json.hpp>

#include "core/instruments/implsubject.h"
#include "core/platform/childprocess.h"
#include "core/platform/privatefolder.h"

namespace nanscope::instruments {

/// The process that runs the harness (resources/python/nanscope_impl.py), and the folder it shares with this one.
class ImplSubject::Child
{
public:
    using Json = nlohmann::ordered_json;

    static Result<std::unique_ptr<Child>> start(const ImplChoice& choice, const CancelToken& cancel);

    /// What it said of itself when it started.
    const Json& greeting() const { return m_greeting; }
    bool alive() const { return m_process.has_value(); }

    /// Its answer, or why there is none, in one sentence; the process is gone then. Fails only when cancelled.
    struct Answer
    {
        Json json; ///< null: there is none
        std::string complaint;
    };
    Result<Answer> ask(const Json& request, double seconds, const CancelToken& cancel);

    /// Puts the input of a question where the child finds it and fills in the request's fields that name it.
    Result<void> hand(const Question& question, Json& request);
    /// Lets the child note which of so many calls returned, for when it does not live to answer; and how many did.
    Result<void> countReturns(int calls, Json& request) const;
    int returned() const;
    /// What the child wrote, which must be of this type and shape.
    Result<Matrices> take(DType dtype, const Shape& shape) const;

private:
    explicit Child(platform::PrivateFolder folder)
        : m_folder(std::move(folder))
    { }
    std::string path(const char* name) const { return (m_folder.path() / name).string(); }
    Answer gone(const std::string& how);
    Result<Answer> read(double seconds, const char* late, const CancelToken& cancel);

    platform::PrivateFolder m_folder;
    std::optional<platform::ChildProcess> m_process;
    Json m_greeting;
    std::string m_handed; ///< hash of the input that lies in the folder
};

/// A field of an answer from outside; what is missing or of another type is 0, empty or false.
std::string textIn(const nlohmann::ordered_json& json, const char* key);
double numberIn(const nlohmann::ordered_json& json, const char* key);
bool flagIn(const nlohmann::ordered_json& json, const char* key);

} // namespace nanscope::instruments
