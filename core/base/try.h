// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>
#include <utility>

#include "core/base/result.h"

namespace nanscope {

template <class T>
T taken(Result<T>&& result)
{
    if constexpr (!std::is_void_v<T>) {
        return *std::move(result);
    }
}

} // namespace nanscope

/// The value of a Result; where it holds an error, the function returns that instead. A statement expression, which GCC
/// and Clang know: what else of an expression around it was evaluated by then is not specified, so it stands alone, as
/// a statement, an initialiser, what is returned, or the only argument of a call.
#define TRY(result)                                                                                                    \
    __extension__({                                                                                                    \
        auto tryResult = (result);                                                                                     \
        if (!tryResult) {                                                                                              \
            return tl::make_unexpected(std::move(tryResult).error());                                                  \
        }                                                                                                              \
        ::nanscope::taken(std::move(tryResult));                                                                       \
    })
