// SPDX-License-Identifier: Apache-2.0
// Node names as netlist names.
#include <buda/balance/problem/names.hpp>

#include <buda/balance/problem/spelled_letters.hpp>
#include <buda/base/text.hpp>

#include <algorithm>
#include <array>

namespace buda::balance {
namespace {

// YAML's words in any case, keys of a graph beside its ops, and the host.
constexpr std::array<std::string_view, 12> kReserved = {"true", "false",       "yes",           "no",  "on", "off", "null", "nan",
                                                        "inf",  "input_count", "target_device", "host"};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string netlist_name(std::string_view node_name) {
  std::string out;
  for (char c : spelled_in_ascii(node_name)) out += is_letter(c) || is_digit(c) || c == '.' ? c : '_';
  for (auto at = out.find("net2net"); at != std::string::npos; at = out.find("net2net")) out[at + 3] = '_';
  std::string lower = to_lower(out);
  bool reserved = std::find(kReserved.begin(), kReserved.end(), lower) != kReserved.end();
  if (out.empty() || !is_letter(out.front()) || reserved) out = "n_" + out;
  // The netlist's reader takes at most 255 bytes; the rest is for what makes a name unique and for names made from it.
  constexpr std::size_t kLongest = 200;
  if (out.size() > kLongest) out.resize(kLongest);
  return out;
}

bool NameTable::taken(std::string_view wanted) const { return taken_.find(netlist_name(wanted)) != taken_.end(); }

std::string NameTable::take(std::string_view wanted) {
  std::string base = netlist_name(wanted);
  if (taken_.insert(base).second) return base;
  unsigned& next = next_[base];
  while (true) {
    std::string candidate = cat(base, '_', ++next);
    if (taken_.insert(candidate).second) return candidate;
  }
}

std::string NewNames::take(std::string_view wanted) {
  std::string base = netlist_name(wanted);
  if (add(base)) return base;
  unsigned& next = next_[base];
  while (true) {
    std::string candidate = cat(base, '_', ++next);
    if (add(candidate)) return candidate;
  }
}

}  // namespace buda::balance
