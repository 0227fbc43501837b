// SPDX-License-Identifier: Apache-2.0
// The text of --help, from the declarations.
#include <buda/base/text.hpp>
#include <buda/cli/common_options.hpp>
#include <buda/cli/tool.hpp>

namespace buda::cli {
namespace {

constexpr std::size_t kWidth = 100;
constexpr std::size_t kColumn = 30;

// Breaks a paragraph at spaces; lines after the first begin with `indent` spaces. `used` columns are taken on the first line.
std::string wrap(std::string_view text, std::size_t indent, std::size_t used) {
  std::string out;
  std::size_t column = used;
  bool first = true;
  for (auto word : split(text, ' ')) {
    if (word.empty()) continue;
    if (!first && column + 1 + word.size() > kWidth) {
      out += cat('\n', std::string(indent, ' '));
      column = indent;
    } else if (!first) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    first = false;
  }
  return out;
}

std::string entry(const std::string& left, const std::string& text) {
  std::string out = "  " + left;
  if (out.size() + 2 > kColumn) {
    out += cat('\n', std::string(kColumn, ' '));
  } else {
    out.append(kColumn - out.size(), ' ');
  }
  return cat(out, wrap(text, kColumn, kColumn), '\n');
}

std::string option_left(const schema::OptionSpec& spec) {
  std::string out;
  for (const auto& spelling : spec.spellings) out += cat(spelling, ", ");
  out += cat("--", spec.name);
  if (spec.name == "list-plugins") return out + "[=text|json]";
  if (spec.type != schema::OptionType::flag) out += cat(' ', spec.value_name);
  return out;
}

std::string option_text(const schema::OptionSpec& spec) {
  std::string out = spec.summary;
  std::vector<std::string> facts;
  if (spec.least && spec.most)
    facts.push_back(cat(*spec.least, " to ", *spec.most));
  else if (spec.least && *spec.least != 0)
    facts.push_back(cat("at least ", *spec.least));
  if (spec.repeatable) facts.push_back("may be repeated");
  if (!spec.default_text.empty()) facts.push_back(cat("default: ", spec.default_text));
  if (!spec.environment.empty()) facts.push_back(cat("environment: ", spec.environment));
  if (!facts.empty()) out += cat(" (", join(facts, "; "), ')');
  return out;
}

std::string usage_line(const ToolSpec& spec, const OptionSet& set) {
  std::string out = cat("Usage: ", spec.name, " [options]");
  for (const auto& p : set.positional_list()) {
    std::string name = p.most > 1 ? p.name + "..." : p.name;
    out += p.least == 0 ? cat(" [", name, ']') : cat(' ', name);
  }
  return out + '\n';
}

}  // namespace

std::string help_text(const ToolSpec& spec) {
  OptionSet set;
  if (spec.declare) spec.declare(set);
  CommonOptions common;
  declare_common(set, common, spec.version_is_v);

  std::string out;
  if (spec.run) out += usage_line(spec, set);
  for (const auto& command : spec.commands) out += cat(out.empty() ? "Usage: " : "       ", command.name, " …\n");
  out += cat('\n', wrap(spec.summary, 0, 0), ".\n");
  for (auto paragraph : split(spec.description, '\n'))
    if (!paragraph.empty()) out += cat('\n', wrap(paragraph, 0, 0), '\n');
  if (!spec.commands.empty()) {
    out += "\nCommands:\n";
    for (const auto& command : spec.commands) out += entry(command.name.substr(command.name.find(' ') + 1), command.summary);
    out += cat("\n'", spec.name, " COMMAND --help' describes each.\n");
  }
  if (!set.positional_list().empty()) {
    out += "\nArguments:\n";
    for (const auto& p : set.positional_list()) out += entry(p.name, p.summary);
  }
  std::string group;
  for (const auto& option : set.options()) {
    if (option.group != group) out += cat('\n', option.group, ":\n");
    group = option.group;
    out += entry(option_left(option.spec), option_text(option.spec));
  }
  if (!set.families().empty()) {
    out += "\nKeys for --set and --config:\n";
    for (const auto& f : set.families()) out += entry(f.form, f.summary);
  }
  if (!spec.reads.empty()) out += cat("\nReads:  ", wrap(spec.reads, 8, 8), '\n');
  if (!spec.writes.empty()) out += cat("Writes: ", wrap(spec.writes, 8, 8), '\n');
  out +=
      "\nExit codes: 0 ok; 1 the input or the environment is wrong; 2 usage; 3 valid, but does not fit the\n"
      "            device; 4 ran, but the result differs from what was expected; 70 an internal error;\n"
      "            130 interrupted.\n";
  if (!spec.example.empty()) {
    out += "\nExample:\n";
    for (auto line : split(spec.example, '\n')) out += cat("  ", line, '\n');
  }
  return out;
}

}  // namespace buda::cli
