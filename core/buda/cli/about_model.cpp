// From the file between the stages to the model.
#include <buda/cli/about_model.hpp>

#include <buda/base/text.hpp>

namespace buda::cli {

namespace {

// Whether a message has the node's name: 'act', or in the label of an op that does the work of several nodes, 'dense + act'.
bool names(const std::string& message, const std::string& node) {
  for (const char* before : {"'", "+ "})
    for (const char* after : {"'", " +"})
      if (message.find(cat(before, node, after)) != std::string::npos) return true;
  return false;
}

}  // namespace

Diagnostic about_model(Diagnostic d, const std::string& model, const std::set<std::string>& made) {
  const bool in_file = made.contains(d.loc.file);
  if (!in_file && !(d.loc.file.empty() && !d.node.empty())) return d;
  // After a warning the file may be gone.
  const bool is_error = d.severity == Severity::error;
  if (is_error && in_file && d.loc.line != 0) d.notes.push_back({d.loc, "location in the intermediate file"});
  d.loc = {model, 0, 0};
  const bool excused = !is_error || d.fault != Fault::input || d.message.find("not supported") != std::string::npos;
  if (!excused) d.message = cat("not supported yet: ", d.message);
  if (!d.node.empty() && !names(d.message, d.node)) d.message = cat("node '", d.node, "': ", d.message);
  return d;
}

}  // namespace buda::cli
