// SPDX-License-Identifier: Apache-2.0
// One fault may be written hundreds of times in a generated file.
#include <buda/cli/error_limit.hpp>

#include <buda/base/text.hpp>

#include <map>
#include <string>

namespace buda::cli {

std::vector<Diagnostic> first_of_each_file(const std::vector<Diagnostic>& all) {
  struct Shown {
    std::size_t count = 0, last = 0;
  };
  std::map<std::string, Shown> files;
  std::vector<Diagnostic> out;
  for (const Diagnostic& d : all) {
    Shown& shown = files[d.loc.file];
    if (++shown.count > kMaxErrorsOfFile) continue;
    shown.last = out.size();
    out.push_back(d);
  }
  for (const auto& [file, shown] : files) {
    if (shown.count <= kMaxErrorsOfFile) continue;
    const std::size_t more = shown.count - kMaxErrorsOfFile;
    out[shown.last].notes.push_back(
        {{file}, cat(more, more == 1 ? " further error is" : " further errors are", " not shown; --diagnostics=json shows all")});
  }
  return out;
}

}  // namespace buda::cli
