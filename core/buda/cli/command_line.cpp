// SPDX-License-Identifier: Apache-2.0
// Parsing with Boost.ProgramOptions; everything that is not the syntax of a command line is ours, because the messages are.
#include <buda/cli/command_line.hpp>

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/io/yaml.hpp>
#include <buda/schema/absent_option.hpp>

#include <boost/program_options.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

namespace buda::cli {
namespace {

namespace po = boost::program_options;
using schema::OptionType;

std::vector<std::string> all_spellings(const OptionSet& set) {
  std::vector<std::string> out;
  for (const auto& option : set.options()) {
    out.push_back("--" + option.spec.name);
    for (const auto& s : option.spec.spellings) out.push_back(s);
  }
  return out;
}

struct LongNames {
  std::vector<std::string> arguments;
  std::map<std::string, std::string> given_as;  // as in ParsedOptions
};

// "-MD" and "-###" are more than one letter behind one dash, which the library cannot know; they become their long names. So do further
// long names, alone or with "=". A flag with a value, "--enable-consteval=false", becomes the --set that says the same, and so does
// "--no-enable-consteval".
LongNames with_long_names(const std::vector<std::string>& arguments, const OptionSet& set) {
  LongNames out;
  bool options_ended = false;
  for (const auto& argument : arguments) {
    std::string replaced = argument;
    if (!options_ended)
      for (const auto& option : set.options())
        for (const auto& spelling : option.spec.spellings)
          if (spelling.size() > 2 && (argument == spelling || argument.starts_with(spelling + '='))) {
            replaced = cat("--", option.spec.name, argument.substr(spelling.size()));
            out.given_as[option.spec.name] = spelling;
          }
    if (argument == "--") options_ended = true;
    if (!options_ended && replaced.starts_with("--no-") && set.find(replaced.substr(2)) == nullptr)
      if (const BoundOption* off = set.find(replaced.substr(5)); off != nullptr && off->spec.type == OptionType::flag)
        replaced = cat("--", off->spec.name, "=false");
    auto equal = replaced.find('=');
    const BoundOption* flag =
        options_ended || !replaced.starts_with("--") || equal == std::string::npos ? nullptr : set.find(replaced.substr(2, equal - 2));
    if (flag != nullptr && flag->spec.type == OptionType::flag) {
      out.arguments.push_back("--set");
      replaced.erase(0, 2);
    }
    out.arguments.push_back(std::move(replaced));
  }
  return out;
}

po::options_description describe_options(const OptionSet& set) {
  po::options_description description;
  for (const auto& option : set.options()) {
    std::string names = option.spec.name;
    for (const auto& spelling : option.spec.spellings)
      if (spelling.size() == 2) names += cat(',', spelling[1]);
    auto* value = po::value<std::string>();
    if (option.spec.type == OptionType::flag) value->implicit_value("true")->zero_tokens();
    // --list-plugins may stand alone; --list-plugins=json gives a form.
    if (option.spec.name == "list-plugins") value->implicit_value("text", "");
    description.add_options()(names.c_str(), value, "");
  }
  return description;
}

Diagnostic unknown_option(const std::string& token, const OptionSet& set) {
  std::string name = token.substr(0, token.find('='));
  if (auto absent = schema::absent_option(name)) return usage_error("CL001", std::move(*absent));
  Diagnostic d = usage_error("CL001", cat("unknown option '", name, '\''));
  if (auto near = nearest_word(name, all_spellings(set))) d.hint = cat("did you mean '", *near, "'?");
  return d;
}

struct Layer {
  schema::OptionValues values;
  std::map<std::string, schema::OptionValues> plugin_options;
  std::map<std::string, std::string> family_values;  // full key -> text
};

bool is_plugin_key(const std::string& key, std::string& owner, std::string& option) {
  for (const char* kind : {"frontend.", "decomposition.", "policy.", "target."}) {
    if (!key.starts_with(kind)) continue;
    auto last = key.rfind('.');
    auto first = std::string_view(kind).size();
    if (last < first || last + 1 >= key.size()) return false;
    owner = key.substr(0, last);
    option = key.substr(last + 1);
    return true;
  }
  return false;
}

// A value of --set or of a config file, and its place there.
struct PlacedText {
  std::string text;
  SourceLoc loc;
};

// One KEY=VALUE of --set or of a config file; `loc` is the key's place.
void set_key(const std::string& key, const std::vector<PlacedText>& texts, const OptionSet& set, const SourceLoc& loc, Layer& layer,
             Failure& failure) {
  auto place = [&](Diagnostic d, const SourceLoc& at) {
    d.loc = at;
    if (!at.file.empty()) d.fault = Fault::input;
    failure.add(std::move(d));
  };
  for (const auto& family : set.families()) {
    if (!key.starts_with(family.prefix)) continue;
    layer.family_values[key] = texts.empty() ? "" : texts.back().text;
    return;
  }
  std::string owner, plugin_option;
  if (is_plugin_key(key, owner, plugin_option)) {
    for (const auto& [text, at] : texts) layer.plugin_options[owner].append(plugin_option, text);
    return;
  }
  const BoundOption* option = set.find_key(key);
  if (option == nullptr) {
    place(schema::unknown_key(set, key), loc);
    return;
  }
  for (const auto& [text, at] : texts) {
    if (auto checked = schema::check_option_value(option->spec, text, cat("option '", key, '\'')); !checked) {
      for (const Diagnostic& d : checked.failure().diagnostics()) place(d, at);
      continue;
    }
    if (option->spec.repeatable)
      layer.values.append(option->spec.name, text);
    else
      layer.values.set(option->spec.name, text);
  }
}

// The text of a config value: scalars as they are, lists and maps in flow style, so that op.X.grid: [2, 2] reads like
// --set op.X.grid=[2,2]. Names in them that would read as something else keep their quotes.
std::string value_text(const io::Node& node) { return node.is_scalar() ? node.text() : io::yaml_flow(node); }

void read_config(const io::Node& node, const std::string& prefix, const OptionSet& set, Layer& layer, Failure& failure) {
  for (std::size_t i = 0; i < node.size(); ++i) {
    const io::Node& value = node.items()[i];
    std::string key = prefix + node.keys()[i];
    const BoundOption* option = set.find_key(key);
    if (value.is_map() && option == nullptr) {
      read_config(value, key + '.', set, layer, failure);
      continue;
    }
    std::vector<PlacedText> texts;
    if (value.is_list() && option != nullptr && option->spec.repeatable) {
      for (const auto& item : value.items()) texts.push_back({value_text(item), item.loc()});
    } else {
      texts.push_back({value_text(value), value.loc()});
    }
    set_key(key, texts, set, value.loc(), layer, failure);
  }
}

Result<Layer> config_layer(const std::string& file, const OptionSet& set, io::FileSystem& fs) {
  BUDA_ASSIGN(auto bytes, fs.read(file));
  BUDA_ASSIGN(auto node, io::parse_yaml(bytes.view(), file));
  if (!node.is_map()) return io::node_error("CL004", node, cat("expected a map of options, found ", node.describe()));
  Layer layer;
  Failure failure;
  read_config(node, "", set, layer, failure);
  if (!failure.empty()) return failure;
  return layer;
}

Layer environment_layer(const OptionSet& set, const EnvironmentFn& environment, Failure& failure) {
  Layer layer;
  for (const auto& option : set.options()) {
    if (option.spec.environment.empty()) continue;
    auto text = environment(option.spec.environment);
    if (!text) continue;
    if (auto checked = schema::check_option_value(option.spec, *text, cat("environment variable ", option.spec.environment)); !checked) {
      failure.add(std::move(checked).failure());
    } else {
      layer.values.set(option.spec.name, *text);
    }
  }
  return layer;
}

void lay_over(const Layer& layer, ParsedOptions& out, std::map<std::string, std::string>& family_values) {
  for (const auto& [name, texts] : layer.values.all())
    for (std::size_t i = 0; i < texts.size(); ++i) i == 0 ? out.values.set(name, texts[i]) : out.values.append(name, texts[i]);
  for (const auto& [owner, values] : layer.plugin_options)
    for (const auto& [name, texts] : values.all())
      for (std::size_t i = 0; i < texts.size(); ++i)
        i == 0 ? out.plugin_options[owner].set(name, texts[i]) : out.plugin_options[owner].append(name, texts[i]);
  for (const auto& [key, text] : layer.family_values) family_values[key] = text;
}

// Standard input by a name that the system has for it is the same as "-": the model has the same name, and it is read once.
std::string file_argument(const std::string& text) {
  const bool is_stream = text == "/dev/stdin" || text == "/dev/fd/0" || text == "/proc/self/fd/0";
  return is_stream ? std::string(io::kStdStream) : text;
}

// What begins with a dash behind "--" is a file in this folder: other tools, which get it without that word, take it for one, too.
std::string positional_argument(const std::string& text) {
  const std::string file = file_argument(text);
  return file.size() > 1 && file.starts_with('-') ? cat("./", file) : file;
}

// What may have been meant by an argument that no tool takes there; "": nothing that is known.
std::string meant_by(const std::string& text, const std::vector<std::string>& arguments, const OptionSet& set) {
  const auto at = std::find(arguments.begin(), arguments.end(), text);
  if (at != arguments.begin() && at != arguments.end()) {
    const std::string& before = *std::prev(at);
    const BoundOption* option = before.starts_with("--") ? set.find_key(before.substr(2)) : nullptr;
    if (option != nullptr && option->spec.type == OptionType::flag) return cat("option ", before, " does not take a value");
  }
  const auto ends_with_one_of = [&](std::initializer_list<std::string_view> endings) {
    return std::any_of(endings.begin(), endings.end(), [&](std::string_view ending) { return text.ends_with(ending); });
  };
  const auto option_for_it = [&](const char* name) {
    return set.find(name) != nullptr && std::find(arguments.begin(), arguments.end(), cat("--", name)) == arguments.end();
  };
  if (ends_with_one_of({".npz", ".npy", ".safetensors"}) && option_for_it("inputs")) return cat("did you mean '--inputs ", text, "'?");
  if (ends_with_one_of({".yaml", ".yml"}) && option_for_it("netlist")) return cat("did you mean '--netlist ", text, "'?");
  std::error_code error;
  if (set.find("output") == nullptr && option_for_it("cache") && std::filesystem::is_directory(text, error))
    return cat("did you mean '--cache ", text, "'?");
  const bool has_input = std::find(arguments.begin(), arguments.end(), "-i") != arguments.end();
  return !has_input && has_input_option(set) ? cat("did you mean '-i ", text, "'?") : "";
}

void check_positionals(const std::vector<std::string>& given, const std::vector<std::string>& arguments, const OptionSet& set,
                       Failure& failure) {
  std::size_t least = 0, most = 0;
  for (const auto& p : set.positional_list()) {
    least += p.least;
    most = p.most > given.size() ? given.size() + 1 : most + p.most;
  }
  if (given.size() < least) {
    std::size_t seen = 0;
    for (const auto& p : set.positional_list()) {
      seen += p.least;
      if (seen > given.size()) {
        failure.add(usage_error("CL005", cat("missing argument ", p.name, ": ", p.summary)));
        break;
      }
    }
  } else if (given.size() > most) {
    Diagnostic d = usage_error("CL005", cat("unexpected argument '", given[most], '\''));
    d.hint = meant_by(given[most], arguments, set);
    failure.add(std::move(d));
  }
}

// "the required argument for option '--output' is missing" and its like. Boost puts what was given in the place of %option% and of other
// words between percent signs, and does not come to an end where that has such a word itself.
// `given_as`: how the options were called, which Boost does not know.
std::string said_of(const po::error& error, const std::vector<std::string>& arguments, const std::map<std::string, std::string>& given_as) {
  const auto has_percent = [](const std::string& argument) { return argument.find('%') != std::string::npos; };
  if (std::none_of(arguments.begin(), arguments.end(), has_percent)) {
    std::string text = error.what();
    for (const auto& [name, spelled] : given_as) {
      const std::string quoted = cat("'--", name, '\'');
      if (const auto at = text.find(quoted); at != std::string::npos) text.replace(at, quoted.size(), cat('\'', spelled, '\''));
    }
    return text;
  }
  return "the argument of an option is missing, or should follow immediately after its equal sign";
}

}  // namespace

Result<ParsedOptions> parse_command_line(const std::vector<std::string>& arguments, const OptionSet& set, const EnvironmentFn& environment,
                                         io::FileSystem& fs) {
  Failure failure;
  ParsedOptions out;
  Layer command;
  auto description = describe_options(set);
  constexpr int kStyle = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
  try {
    po::positional_options_description no_names;
    LongNames names = with_long_names(arguments, set);
    out.given_as = std::move(names.given_as);
    auto parsed = po::command_line_parser(names.arguments).options(description).style(kStyle).allow_unregistered().run();
    for (const auto& option : parsed.options) {
      if (option.unregistered) {
        failure.add(unknown_option(option.original_tokens.empty() ? option.string_key : option.original_tokens.front(), set));
        continue;
      }
      if (option.position_key != -1 || option.string_key.empty()) {
        for (const auto& text : option.value) out.positionals.push_back(positional_argument(text));
        continue;
      }
      const BoundOption* bound = set.find(option.string_key);
      if (bound == nullptr) continue;
      std::string text = option.value.empty() ? (bound->spec.type == OptionType::flag ? "true" : "text") : option.value.back();
      if (bound->spec.type == OptionType::path) text = file_argument(text);
      const auto given = out.given_as.find(bound->spec.name);
      std::string where = cat("option ", given == out.given_as.end() ? cat("--", bound->spec.name) : given->second);
      if (auto checked = schema::check_option_value(bound->spec, text, where); !checked) {
        failure.add(std::move(checked).failure());
      } else if (bound->spec.repeatable) {
        command.values.append(bound->spec.name, text);
      } else if (command.values.has(bound->spec.name) && command.values.text(bound->spec.name) != text) {
        failure.add(usage_error("CL006", cat(where, " is given twice with different values")));
      } else {
        command.values.set(bound->spec.name, text);
      }
    }
  } catch (const po::error& e) {
    failure.add(usage_error("CL001", said_of(e, arguments, out.given_as)));
  }
  for (const auto& text : command.values.texts("set")) {
    auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      failure.add(usage_error("CL003", cat("option --set: expected KEY=VALUE, found '", text, '\'')));
    } else {
      set_key(text.substr(0, equals), {{text.substr(equals + 1), {}}}, set, {}, command, failure);
    }
  }
  // A call for help or for the version asks nothing of the rest of the line.
  bool only_asks = command.values.flag("help") || command.values.flag("version") || command.values.has("list-plugins") ||
                   command.values.has("list-options") || command.values.flag("print-config");
  // An unknown option may have had a value, which then stands here as an argument: one message is enough.
  if (!only_asks && failure.empty()) check_positionals(out.positionals, arguments, set, failure);

  for (const auto& option : set.options())
    if (!option.spec.default_text.empty()) out.values.set(option.spec.name, option.spec.default_text);
  std::map<std::string, std::string> family_values;
  if (command.values.has("config")) {
    auto config = config_layer(command.values.text("config"), set, fs);
    if (!config)
      failure.add(std::move(config).failure());
    else
      lay_over(*config, out, family_values);
  }
  lay_over(environment_layer(set, environment, failure), out, family_values);
  lay_over(command, out, family_values);
  if (!failure.empty()) return failure;
  for (const auto& family : set.families())
    for (const auto& [key, text] : family_values)
      if (key.starts_with(family.prefix)) (*family.target)[key.substr(family.prefix.size())] = text;
  return out;
}

bool has_input_option(const OptionSet& set) {
  return set.positional_list().empty() && std::any_of(set.options().begin(), set.options().end(), [](const BoundOption& option) {
           const auto& spellings = option.spec.spellings;
           return option.spec.type == OptionType::path && std::find(spellings.begin(), spellings.end(), "-i") != spellings.end();
         });
}

Result<void> store_options(const ParsedOptions& parsed, const OptionSet& set) {
  for (const auto& option : set.options())
    if (parsed.values.has(option.spec.name)) option.store(parsed.values.texts(option.spec.name));
  std::size_t next = 0;
  const auto& given = parsed.positionals;
  for (const auto& p : set.positional_list()) {
    std::size_t room = given.size() - next;
    std::size_t take = std::min(p.most, room);
    if (p.single != nullptr && take > 0) *p.single = given[next];
    if (p.target != nullptr)
      p.target->assign(given.begin() + static_cast<std::ptrdiff_t>(next), given.begin() + static_cast<std::ptrdiff_t>(next + take));
    next += take;
  }
  return success();
}

std::string config_text(const ParsedOptions& parsed, const OptionSet& set) {
  std::string out;
  for (const auto& option : set.options()) {
    const auto& spec = option.spec;
    // What asks for this text, and what names the file it would be read from, are no settings.
    if (spec.name == "help" || spec.name == "version" || spec.name == "print-config" || spec.name == "list-plugins" ||
        spec.name == "list-options" || spec.name == "config" || spec.name == "set")
      continue;
    if (!parsed.values.has(spec.name)) continue;
    out += cat(spec.name, ": ");
    auto scalar = [&](const std::string& text) {
      bool typed = spec.type == OptionType::flag || spec.type == OptionType::integer || spec.type == OptionType::real;
      return typed ? text : io::yaml_scalar(text);
    };
    if (spec.repeatable) {
      std::vector<std::string> parts;
      for (const auto& text : parsed.values.texts(spec.name)) parts.push_back(scalar(text));
      out += list_text(parts);
    } else {
      out += scalar(parsed.values.text(spec.name));
    }
    out += '\n';
  }
  for (const auto& family : set.families())
    for (const auto& [key, text] : *family.target) out += cat(io::yaml_scalar(family.prefix + key), ": ", io::yaml_scalar(text), '\n');
  for (const auto& [owner, values] : parsed.plugin_options)
    for (const auto& [name, texts] : values.all()) out += cat(owner, '.', name, ": ", io::yaml_scalar(texts.back()), '\n');
  return out.empty() ? "{}\n" : out;
}

}  // namespace buda::cli
