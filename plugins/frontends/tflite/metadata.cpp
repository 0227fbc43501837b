// SPDX-License-Identifier: Apache-2.0
// Metadata: named buffers in which converters and compilers leave each other notes, such as the oldest interpreter that runs the file.
// Nothing here depends on them, so that no metadata makes a file unreadable.
#include "model.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/values.hpp>
#include <buda/io/host.hpp>

#include <schema_generated.h>

#include <algorithm>
#include <string_view>

namespace buda::tflite_frontend {
namespace {

namespace format = tflite_format;

std::string_view elements(const format::Model& root, std::uint32_t buffer) {
  const auto* buffers = root.buffers();
  if (buffers == nullptr || buffer >= buffers->size()) return {};
  const auto* data = buffers->Get(buffer)->data();
  return data == nullptr ? std::string_view() : std::string_view(reinterpret_cast<const char*>(data->data()), data->size());
}

// A short text, such as a version, which is filled up with zeros; of others the size.
std::string summary(std::string_view bytes) {
  constexpr std::size_t kLongestText = 40;
  std::string_view text = bytes.substr(0, std::min(bytes.size(), bytes.find_last_not_of('\0') + 1));
  bool readable =
      !text.empty() && text.size() <= kLongestText && std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
  return readable ? std::string(text) : cat('(', bytes.size(), " bytes)");
}

}  // namespace

void log_metadata(const Model& model, Host& host) {
  const format::Model& root = *format::GetModel(model.bytes.data());
  if (root.metadata() == nullptr || root.metadata()->size() == 0) return;
  std::vector<std::string> out;
  for (const auto* record : *root.metadata()) {
    std::string name = record->name() == nullptr ? std::string() : frontend::graph_name(record->name()->str());
    out.push_back(cat(name, ' ', summary(elements(root, record->buffer()))));
  }
  host.log(1, cat(model.file, ": metadata: ", join(out, ", ")));
}

}  // namespace buda::tflite_frontend
