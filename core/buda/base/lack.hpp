// SPDX-License-Identifier: Apache-2.0
// Errors that say that the system gives no more, which are nobody's bug.
#pragma once

#include <cerrno>
#include <initializer_list>
#include <system_error>

namespace buda {

// Of memory, threads or open files.
inline bool is_lack(const std::error_code& code) {
  for (const int error : {EAGAIN, ENOMEM, EMFILE, ENFILE})
    if (code == std::error_code(error, std::generic_category())) return true;
  return false;
}

}  // namespace buda
