// SPDX-License-Identifier: Apache-2.0
// Writing all pages of a report, or answering with one.
#include "apps/reportify/run.hpp"

#include "apps/reportify/pages.hpp"

#include <buda/base/text.hpp>
#include <buda/cli/signals.hpp>
#include <buda/diag/format.hpp>
#include <buda/io/folder_files.hpp>
#include <buda/io/folder_product.hpp>

#include <algorithm>

namespace buda::reportify {
namespace {

using serve::Answer;

Answer problem_answer(const Failure& failure, Host& host) {
  Answer out{.status = 500};
  for (const Diagnostic& d : failure.diagnostics()) {
    host.report(d);
    out.body += format_text(d, {}, nullptr);
  }
  return out;
}

}  // namespace

Result<void> export_report(const Options& o, Host& host) {
  io::FolderHost in_folder(host, o.folder);
  BUDA_ASSIGN(const std::vector<Page> pages, pages_of(o.folder, in_folder));
  BUDA_ASSIGN(auto folder, io::FolderProduct::begin(host.fs(), o.output, {.entry = "index.html", .adds = false, .mode = host.write_mode}));
  std::size_t done = 0;
  for (const Page& page : pages) {
    host.progress("pages", done++, pages.size());
    BUDA_ASSIGN(const std::string content, page.content());
    BUDA_TRY(folder->write(page.path, content));
  }
  BUDA_TRY(folder->commit());
  host.log(1, cat(o.output, "/index.html: ", pages.size(), " files"));
  return success();
}

Answer answer_to(const std::string& path, const std::string& folder, Host& host) {
  io::FolderHost in_folder(host, folder);
  const auto pages = pages_of(folder, in_folder);
  if (!pages.ok()) return problem_answer(pages.failure(), host);
  const std::string wanted = path == "/" ? "/index.html" : path;
  const auto page = std::find_if(pages->begin(), pages->end(), [&](const Page& p) { return '/' + p.path == wanted; });
  if (page == pages->end()) return {.status = 404, .body = "there is no such file in the report\n"};
  auto content = page->content();
  if (!content.ok()) return problem_answer(content.failure(), host);
  return {.type = serve::content_type(page->path), .body = std::move(*content)};
}

Result<void> serve_report(const Options& o, const serve::Serve& serve, Host& host) {
  io::FolderHost in_folder(host, o.folder);
  BUDA_TRY(pages_of(o.folder, in_folder));
  serve::Service service;
  service.address = o.address;
  service.port = static_cast<int>(o.port);
  service.answer = [&](const std::string& path) { return answer_to(path, o.folder, host); };
  service.ready = [&](int port) {
    cli::end_well_when_interrupted();
    host.log(0, cat("http://", o.address, ':', port, "/ shows ", o.folder, "; Ctrl-C ends it"));
  };
  return serve(service);
}

}  // namespace buda::reportify
