// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <new>
#include <stdexcept>
#include <string>

#include "core/base/result.h"

namespace nanscope {

/// What `work` returns. An exception out of it becomes an error of the file at `path`, so that a file whose contents
/// lead to one costs that file alone. Work that cannot fail is run as it is.
template <class Work>
auto guarded(Work&& work, const std::string& path = {}) -> decltype(work())
{
    using Answer = decltype(work());
    if constexpr (requires { typename Answer::error_type; }) {
        const auto tooLarge = [&] { return failure(ErrorKind::refused, "This takes more memory than there is", path); };
        try {
            return work();
        } catch (const std::bad_alloc&) {
            return tooLarge();
        } catch (const std::length_error&) { // a container that would be larger than any memory
            return tooLarge();
        } catch (const std::exception& error) {
            return failure(
                ErrorKind::internal, std::string("An unexpected error came up (") + error.what() + ")", path);
        }
    } else {
        return work();
    }
}

} // namespace nanscope
