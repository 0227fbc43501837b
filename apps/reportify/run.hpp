// The commands of reportify.
#pragma once

#include "apps/reportify/options.hpp"

namespace buda::reportify {

Result<void> export_report(const Options& options, Host& host);

}  // namespace buda::reportify
