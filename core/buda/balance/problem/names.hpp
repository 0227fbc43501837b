// SPDX-License-Identifier: Apache-2.0
// Names of queues and ops in a netlist: those of the graph's nodes, made of letters that YAML takes plainly, each used once.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace buda::balance {

// Netlist names have letters, digits, '_' and '.', begin with a letter or '_', and are none of the words that a netlist reader takes for
// something else ("HOST", "true", "input_count", …; a name with "net2net" in it would count as written from outside). Everything else
// becomes '_'. Names are handed out in the order of the calls; one that is taken gets _1, _2, …
class NameTable {
 public:
  std::string take(std::string_view wanted);
  // Whether take() would have to add to the name.
  bool taken(std::string_view wanted) const;
  // Whether this very name, of a netlist, was handed out.
  bool holds(std::string_view name) const { return taken_.contains(name); }

 private:
  std::set<std::string, std::less<>> taken_;
  std::map<std::string, unsigned, std::less<>> next_;
};

// Further names next to those of a table, which must outlive them and stays as it is: each plan of one problem has its own.
class NewNames {
 public:
  explicit NewNames(const NameTable& given) : given_(given) {}
  // The name that the table would have handed out.
  std::string take(std::string_view wanted);

 private:
  bool add(const std::string& name) { return !given_.holds(name) && taken_.insert(name).second; }

  const NameTable& given_;
  std::set<std::string, std::less<>> taken_;
  std::map<std::string, unsigned, std::less<>> next_;
};

// The name alone, without regard to others.
std::string netlist_name(std::string_view node_name);

}  // namespace buda::balance
