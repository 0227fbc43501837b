// SPDX-License-Identifier: Apache-2.0
// Writing declarations, and reading them back.
#include <buda/cli/option_list.hpp>

#include <buda/base/text.hpp>
#include <buda/io/json.hpp>

#include <array>
#include <utility>

namespace buda::cli {
namespace {

using io::Node;
using schema::OptionSpec;
using schema::OptionType;

constexpr std::array<std::pair<OptionType, std::string_view>, 6> kTypes = {{{OptionType::flag, "flag"},
                                                                            {OptionType::integer, "integer"},
                                                                            {OptionType::real, "real"},
                                                                            {OptionType::text, "text"},
                                                                            {OptionType::path, "path"},
                                                                            {OptionType::choice, "choice"}}};

std::string type_name(OptionType type) {
  for (const auto& [known, name] : kTypes)
    if (known == type) return std::string(name);
  return "text";
}

Node texts(const std::vector<std::string>& words) {
  Node list = Node::list();
  for (const std::string& word : words) list.push(Node::string(word));
  return list;
}

Result<std::vector<std::string>> texts_of(const Node& option, std::string_view key) {
  std::vector<std::string> out;
  const Node* list = option.find(key);
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    BUDA_ASSIGN(std::string word, list->items()[i].as_string());
    out.push_back(std::move(word));
  }
  return out;
}

Result<OptionSpec> option_of(const Node& node) {
  const Node *name = node.find("name"), *type = node.find("type"), *summary = node.find("summary"), *value = node.find("value_name");
  if (name == nullptr || type == nullptr) return io::node_error("CL008", node, "an option has a name and a type");
  OptionSpec spec;
  BUDA_ASSIGN(spec.name, name->as_string());
  for (const auto& [known, text] : kTypes)
    if (text == type->text()) spec.type = known;
  if (summary != nullptr) spec.summary = summary->text();
  if (value != nullptr) spec.value_name = value->text();
  if (const Node* repeatable = node.find("repeatable")) {
    BUDA_ASSIGN(spec.repeatable, repeatable->as_bool());
  }
  BUDA_ASSIGN(spec.choices, texts_of(node, "choices"));
  BUDA_ASSIGN(spec.spellings, texts_of(node, "spellings"));
  BUDA_ASSIGN(spec.known_as, texts_of(node, "known_as"));
  return spec;
}

}  // namespace

std::string options_json(const std::vector<BoundOption>& options, const std::string& left_out) {
  Node list = Node::list();
  for (const BoundOption& option : options) {
    if (option.group == left_out) continue;
    const OptionSpec& spec = option.spec;
    Node node = Node::map({{"name", Node::string(spec.name)}, {"type", Node::string(type_name(spec.type))}});
    if (!spec.value_name.empty()) node.add("value_name", Node::string(spec.value_name));
    if (spec.repeatable) node.add("repeatable", Node::boolean(true));
    if (!spec.default_text.empty()) node.add("default", Node::string(spec.default_text));
    if (!spec.choices.empty()) node.add("choices", texts(spec.choices));
    if (!spec.spellings.empty()) node.add("spellings", texts(spec.spellings));
    if (!spec.known_as.empty()) node.add("known_as", texts(spec.known_as));
    if (!spec.environment.empty()) node.add("environment", Node::string(spec.environment));
    node.add("summary", Node::string(spec.summary));
    list.push(std::move(node));
  }
  return io::json_pretty(list) + '\n';
}

Result<std::vector<OptionSpec>> read_options(io::FileSystem& fs, const std::string& path) {
  BUDA_ASSIGN(auto bytes, fs.read(path));
  BUDA_ASSIGN(Node list, io::parse_json(bytes.view(), path));
  if (!list.is_list()) return io::node_error("CL008", list, cat("expected a list of options, found ", list.describe()));
  std::vector<OptionSpec> out;
  for (const Node& node : list.items()) {
    BUDA_ASSIGN(OptionSpec spec, option_of(node));
    out.push_back(std::move(spec));
  }
  return out;
}

}  // namespace buda::cli
