// Writing of depfiles, in the dialect that GNU make and ninja share.
#include <buda/cli/depfile.hpp>

namespace buda::cli {
namespace {

std::string escaped(const std::string& name) {
  std::string out;
  for (char c : name) {
    if (c == ' ' || c == '#' || c == '\\') out += '\\';
    if (c == '$') out += '$';
    out += c;
  }
  return out;
}

}  // namespace

std::string depfile_text(const std::string& target, const std::set<std::string>& read) {
  std::string out = escaped(target) + ":";
  for (const auto& name : read) out += " \\\n  " + escaped(name);
  out += '\n';
  for (const auto& name : read) out += '\n' + escaped(name) + ":\n";
  return out;
}

}  // namespace buda::cli
