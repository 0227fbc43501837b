// Writing all pages of a report.
#include "apps/reportify/run.hpp"

#include "apps/reportify/pages.hpp"

#include <buda/base/text.hpp>

#include <filesystem>

namespace buda::reportify {

Result<void> export_report(const Options& o, Host& host) {
  BUDA_ASSIGN(const std::vector<Page> pages, pages_of(o.folder, host));
  std::size_t done = 0;
  for (const Page& page : pages) {
    host.progress("pages", done++, pages.size());
    BUDA_ASSIGN(const std::string content, page.content());
    const std::string path = cat(o.output, '/', page.path);
    BUDA_TRY(host.fs().make_directories(std::filesystem::path(path).parent_path().string()));
    BUDA_TRY(host.fs().write(path, content, host.write_mode));
  }
  host.log(1, cat(o.output, "/index.html: ", pages.size(), " files"));
  return success();
}

}  // namespace buda::reportify
