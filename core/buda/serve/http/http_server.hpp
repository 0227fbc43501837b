// SPDX-License-Identifier: Apache-2.0
// HTTP by cpp-httplib. Answers GET alone, and without another address only programs on this machine.
#pragma once

#include <buda/serve/service.hpp>

namespace buda::serve {

Result<void> serve_http(const Service& service);

}  // namespace buda::serve
