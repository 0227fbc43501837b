// SPDX-License-Identifier: Apache-2.0
// The files of a report's page, each made when it is asked for.
#pragma once

#include "apps/reportify/modules.hpp"

#include <buda/io/host.hpp>

#include <functional>
#include <string>
#include <vector>

namespace buda::reportify {

// `path` is relative to the page's folder and holds no name of the report. `content` reports files of the report that cannot be read as
// warnings; the page then shows the reason.
struct Page {
  std::string path;
  std::function<Result<std::string>()> content;
};

// `host` must outlive the pages. RY001: nothing to show; RY002: the page's own code was not built.
Result<std::vector<Page>> pages_of(const std::string& folder, Host& host);

}  // namespace buda::reportify
