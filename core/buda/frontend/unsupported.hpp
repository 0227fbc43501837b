// SPDX-License-Identifier: Apache-2.0
// The operators of a model that a frontend does not read, as one error.
#pragma once

#include <buda/diag/diagnostic.hpp>

#include <map>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::frontend {

//   UnsupportedOps found;
//   found.add("Foo", "op type Foo (version 2)", "not read yet", "node_7");
//   if (!found.empty()) failure.add(found.report(error_of_the_file));
class UnsupportedOps {
 public:
  // Operators with one key are told together, in the order of keys; `described` and `why` are those of the first one.
  void add(const std::string& key, std::string described, std::string why, std::string node);
  bool empty() const { return groups_.empty(); }
  // The given error with its message, and a note for each operator: how often and where it is used.
  Diagnostic report(Diagnostic error) const;

 private:
  struct Group {
    std::string described, why;
    std::vector<std::string> nodes;
  };
  std::map<std::string, Group> groups_;
};

}  // namespace buda::frontend

#pragma GCC visibility pop
