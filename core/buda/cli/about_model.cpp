// SPDX-License-Identifier: Apache-2.0
// From the file between the stages to the model.
#include <buda/cli/about_model.hpp>

#include <buda/base/text.hpp>

#include <filesystem>
#include <string_view>

namespace buda::cli {

namespace {

// Whether a message has the node's name: 'act', or in the label of an op that does the work of several nodes, 'dense + act'.
bool names(const std::string& message, const std::string& node) {
  for (const char* before : {"'", "+ "})
    for (const char* after : {"'", " +"})
      if (message.find(cat(before, node, after)) != std::string::npos) return true;
  return false;
}

// Errors of later stages that tell what the model, or the user, says wrongly: an index outside of its tensor, a format that the device does
// not have, an output that cannot be an input's next value.
bool is_of_the_model(const std::string& code) {
  constexpr std::string_view kCodes = " OP008 PA033 PA070 PA081 ";
  return kCodes.find(cat(' ', code, ' ')) != std::string_view::npos;
}

}  // namespace

Diagnostic about_model(Diagnostic d, const std::string& model, const std::set<std::string>& made, const std::string& temporary_dir) {
  const bool in_file = made.contains(d.loc.file);
  if (!in_file && !(d.loc.file.empty() && !d.node.empty())) return d;
  // After a warning the file may be gone, and one in a temporary folder is gone in any case.
  const bool is_error = d.severity == Severity::error;
  const bool goes = d.loc.file.starts_with((std::filesystem::path(temporary_dir) / kTemporaryPrefix).string());
  if (is_error && in_file && !goes && d.loc.line != 0) d.notes.push_back({d.loc, "location in the intermediate file"});
  d.loc = {model, 0, 0};
  const bool excused =
      !is_error || d.fault != Fault::input || is_of_the_model(d.code) || d.message.find("not supported") != std::string::npos;
  if (!excused) d.message = cat("not supported yet: ", d.message);
  if (!d.node.empty() && !names(d.message, d.node)) d.message = cat("node '", d.node, "': ", d.message);
  return d;
}

}  // namespace buda::cli
