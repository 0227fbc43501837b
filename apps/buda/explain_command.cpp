// SPDX-License-Identifier: Apache-2.0
// The index of all codes is a data file, which the build makes (share/packages/diagnostics.py).
#include "apps/buda/explain_command.hpp"

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/io/json.hpp>
#include <buda/schema/record.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace buda::driver {
namespace {

struct Explanation {
  std::string code;
  std::string module;             // the part of the project that gives it
  std::vector<std::string> says;  // its messages, with … for what they fill in
  std::string page;               // empty: none has more to say
  std::string explained;          // by that page
};

const schema::Record<Explanation>& describe(const Explanation*) {
  static const auto record = schema::Record<Explanation>("a diagnostic")
                                 .required("code", &Explanation::code, "two letters and three digits")
                                 .required("module", &Explanation::module, "what gives it")
                                 .required("says", &Explanation::says, "its messages")
                                 .required("page", &Explanation::page, "where it is explained")
                                 .required("explained", &Explanation::explained, "what that page says");
  return record;
}

Result<std::vector<Explanation>> read_index(cli::ToolHost& host) {
  const std::string file = host.share_dir + "/diagnostics.json";
  BUDA_ASSIGN(const io::Bytes bytes, host.fs().read(file));
  BUDA_ASSIGN(const io::Node node, io::parse_json(bytes.view(), file));
  std::vector<Explanation> out;
  for (const io::Node& item : node.items()) {
    BUDA_ASSIGN(Explanation explanation, schema::read<Explanation>(item));
    out.push_back(std::move(explanation));
  }
  return out;
}

std::string text_of(const Explanation& e) {
  std::string out = cat(e.code, "  (", e.module, ")\n");
  for (const std::string& message : e.says) out += cat("  ", message, '\n');
  if (!e.explained.empty()) out += cat("meaning: ", e.explained, '\n');
  if (!e.page.empty()) out += cat("page: ", e.page, '\n');
  return out;
}

Result<void> explain(const ExplainOptions& o, cli::ToolHost& host) {
  BUDA_ASSIGN(const std::vector<Explanation> all, read_index(host));
  std::vector<std::string> codes;
  for (const Explanation& e : all) codes.push_back(e.code);
  std::string out;
  for (const std::string& given : o.codes) {
    std::string code = given;
    std::transform(code.begin(), code.end(), code.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
    const auto found = std::find(codes.begin(), codes.end(), code);
    if (found == codes.end()) {
      Diagnostic d = usage_error("BD007", cat("no diagnostic has the code '", given, '\''));
      if (auto near = nearest_word(code, codes)) d.hint = cat("did you mean '", *near, "'?");
      return d;
    }
    out += (out.empty() ? "" : "\n") + text_of(all[static_cast<std::size_t>(found - codes.begin())]);
  }
  return host.fs().write(std::string(io::kStdStream), out);
}

}  // namespace

cli::ToolSpec explain_command(ExplainOptions& o) {
  cli::ToolSpec spec;
  spec.name = "buda explain";
  spec.summary = "say what the code of a message means, and which page explains it";
  spec.description = "Messages end with a code, as [BL011] does. … stands for what a message fills in.";
  spec.reads = "the index of all codes (share/buda/diagnostics.json).";
  spec.writes = "the explanation, on standard output.";
  spec.example = "buda explain BL011";
  spec.declare = [&o](cli::OptionSet& set) { set.positionals("CODE", o.codes, 1, "codes of diagnostics: BL011"); };
  spec.run = [&o](cli::ToolHost& host) { return explain(o, host); };
  return spec;
}

}  // namespace buda::driver
