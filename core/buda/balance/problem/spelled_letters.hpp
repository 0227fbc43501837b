// SPDX-License-Identifier: Apache-2.0
// Names of any script in the letters of netlists.
#pragma once

#include <string>
#include <string_view>

namespace buda::balance {

// `name` with letters of other scripts spelled in ASCII: "Überlauf" is "Uberlauf", "入力" is "u5165u529b". Bytes that are no UTF-8 stay.
std::string spelled_in_ascii(std::string_view name);

}  // namespace buda::balance
