// SPDX-License-Identifier: Apache-2.0
// Types of files, and values in scripts.
#include <buda/serve/service.hpp>

#include <buda/base/text.hpp>
#include <buda/io/json.hpp>

#include <utility>

namespace buda::serve {

std::string content_type(std::string_view path) {
  if (path.ends_with(".tar")) return "application/x-tar";
  for (const auto& [end, type] : {std::pair{".html", "text/html"}, {".css", "text/css"}, {".js", "text/javascript"}, {".csv", "text/csv"}})
    if (path.ends_with(end)) return cat(type, "; charset=utf-8");
  return Answer{}.type;
}

std::string script_value(const io::Node& data) {
  const std::string json = io::json_line(data);
  std::string out;
  out.reserve(json.size());
  // Outside of strings JSON has no "<".
  for (const char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace buda::serve
