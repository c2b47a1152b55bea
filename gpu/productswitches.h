// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// The switches of torch that decide how products are rounded on a GPU. Of one process, not of one device.
#pragma once

#include <string>

#include "core/model/dtype.h"

namespace nanscope {

/// Has cuBLAS multiply as this format says as long as it lives: tf32 rounds fp32 operands, fp16Acc16 sums in fp16. For
/// other formats torch's switches stay as they are.
class ProductSwitches
{
public:
    explicit ProductSwitches(Precision format);
    ~ProductSwitches();
    ProductSwitches(const ProductSwitches&) = delete;
    ProductSwitches& operator=(const ProductSwitches&) = delete;

private:
    Precision m_format;
    bool m_before = false; ///< of what is switched
};

/// All of them, as a product of this format finds them.
std::string cudaFlags(Precision format);

} // namespace nanscope
