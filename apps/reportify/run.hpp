// SPDX-License-Identifier: Apache-2.0
// The commands of reportify.
#pragma once

#include "apps/reportify/options.hpp"

namespace buda::reportify {

Result<void> export_report(const Options& options, Host& host);
Result<void> serve_report(const Options& options, const serve::Serve& serve, Host& host);

// The answer to a GET of this path: a file of the page, or 404. A report that has vanished is 500 with the reason.
serve::Answer answer_to(const std::string& path, const std::string& folder, Host& host);

}  // namespace buda::reportify
