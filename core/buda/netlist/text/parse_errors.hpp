// SPDX-License-Identifier: Apache-2.0
// The errors that the parts of the netlist reader find. Internal to this module.
#pragma once

#include <buda/base/text.hpp>
#include <buda/diag/result.hpp>
#include <buda/io/node.hpp>
#include <buda/netlist/model/source_location.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace buda::netlist {

inline SourceLocation location_of(const io::Node& node) { return {node.line(), node.column()}; }

class ParseErrors {
 public:
  explicit ParseErrors(std::string file) : file_(std::move(file)) {}

  // "op 'mm0'": what messages begin with and diagnostics name, until the next call.
  void enter(std::string_view kind, std::string_view name) {
    node_ = name;
    prefix_ = kind.empty() ? "" : cat(kind, " '", name, "': ");
  }
  void error(std::string code, const io::Node& at, std::string message, std::string hint = "");
  void error(std::string code, SourceLocation at, std::string message, std::string hint = "");
  // A word that is none of `known`: says which are, and which one may be meant.
  void unknown(std::string code, const io::Node& at, std::string_view what, const std::string& word, const std::vector<std::string>& known);
  // The same as a finding, where the reader has something to go on with.
  void unknown_finding(std::string code, const io::Node& at, std::string_view what, const std::string& word,
                       const std::vector<std::string>& known);
  // What does not keep the file from being a netlist, but is wrong or at least odd; goes into Netlist::findings.
  void finding(Severity severity, std::string code, const io::Node& at, std::string message, std::string hint = "");
  void repeated(const io::Node& at, const std::string& key);
  std::vector<Diagnostic> take_findings() { return std::move(findings_); }
  bool failed() const { return !failure_.empty(); }
  Failure take_failure();

 private:
  Diagnostic make(std::string code, SourceLocation at, std::string message, std::string hint) const;

  std::string file_;
  std::string node_;
  std::string prefix_;
  Failure failure_;
  std::vector<Diagnostic> findings_;
};

}  // namespace buda::netlist
