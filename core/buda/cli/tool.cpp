// SPDX-License-Identifier: Apache-2.0
// tool_main: the one place that reads arguments and environment, prints, and chooses the exit code.
#include <buda/cli/tool.hpp>

#include <buda/plugin/abi.h>
#include <buda/base/lack.hpp>
#include <buda/base/late_library.hpp>
#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/cli/about_model.hpp>
#include <buda/cli/command_line.hpp>
#include <buda/cli/common_options.hpp>
#include <buda/cli/crash_report.hpp>
#include <buda/cli/depfile.hpp>
#include <buda/cli/error_limit.hpp>
#include <buda/cli/option_list.hpp>
#include <buda/cli/plugin_watch.hpp>
#include <buda/cli/signals.hpp>
#include <buda/cli/terminal.hpp>
#include <buda/cli/timeline.hpp>
#include <buda/io/folder_product.hpp>
#include <buda/io/process.hpp>
#include <buda/io/replaced_input.hpp>
#include <buda/plugin/guard.hpp>
#include <buda/plugin/loader.hpp>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <system_error>
#include <thread>

namespace buda::cli {
namespace {

class TerminalHost final : public ToolHost {
 public:
  TerminalHost(io::FileSystem& fs, Terminal& terminal_out) : ToolHost(fs, terminal_out), out_(terminal_out) {}
  void log(int level, std::string_view message) override { out_.log(level, message); }
  void progress(std::string_view what, std::size_t done, std::size_t total) override {
    out_.progress(what, done, total);
    if (timeline == nullptr) return;
    if (total > 0 && done >= total) {
      timeline->end_stage();
    } else {
      timeline->stage(what);
    }
  }

 private:
  Terminal& out_;
};

std::optional<std::string> environment_value(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::vector<std::string> option_environment() {
  std::vector<std::string> out;
  for (char** variable = ::environ; *variable != nullptr; ++variable)
    if (std::string_view(*variable).starts_with("PYBUDA_")) out.emplace_back(*variable);
  std::sort(out.begin(), out.end());
  return out;
}

std::string executable_directory() {
  std::error_code error;
  auto path = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? "" : path.parent_path().string();
}

// Line `number` of a file, for excerpts; files too large to be looked through for a message are left alone.
std::optional<std::string> source_line(io::FileSystem& fs, const std::string& file, std::uint32_t number) {
  constexpr std::size_t kLargest = 64u << 20;
  if (file == "<stdin>" || !fs.exists(file) || fs.is_directory(file)) return std::nullopt;
  auto bytes = fs.read(file);
  if (!bytes || bytes->size() > kLargest) return std::nullopt;
  std::string_view rest = bytes->view();
  for (std::uint32_t i = 1; i < number; ++i) {
    auto end = rest.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(end + 1);
  }
  return std::string(rest.substr(0, rest.find('\n')));
}

plugin::SearchPath search_path(const CommonOptions& common, const std::string& bin_dir) {
  plugin::SearchPath path;
  path.files = common.plugin;
  path.directories = common.plugin_path;
  if (auto text = environment_value("BUDA_PLUGIN_PATH"))
    for (auto directory : split(*text, ':')) path.environment_directories.emplace_back(directory);
  if (!bin_dir.empty())
    path.installed_directory = (std::filesystem::path(bin_dir).parent_path() / cat("lib/buda/plugins/abi", BUDA_ABI_GENERATION)).string();
  return path;
}

// Plugins that are not of this installation.
bool has_others(const plugin::SearchPath& path) {
  return !path.files.empty() || !path.directories.empty() || !path.environment_directories.empty();
}

// What a tool hands on to the tools that it starts.
std::vector<std::string> arguments_for_others(const CommonOptions& common) {
  std::vector<std::string> out;
  for (unsigned i = 0; i < common.verbose; ++i) out.push_back("-v");
  if (common.quiet) out.push_back("-q");
  if (common.diagnostics != "text") out.push_back("--diagnostics=" + common.diagnostics);
  if (common.progress != "bar") out.push_back("--progress=" + common.progress);
  for (const auto& file : common.plugin) out.insert(out.end(), {"--plugin", file});
  for (const auto& directory : common.plugin_path) out.insert(out.end(), {"--plugin-path", directory});
  if (common.threads != 0) out.insert(out.end(), {"--threads", cat(common.threads)});
  if (common.seed != Rng::kDefaultSeed) out.insert(out.end(), {"--seed", cat(common.seed)});
  if (common.write_if_changed) out.push_back("--write-if-changed");
  return out;
}

Diagnostic unnamed_depfile() {
  return usage_error("CL007", "option -MD: the product goes to standard output, so the rule needs a target and a file: -MT NAME -MF FILE");
}

// Asked before the work, so that a product for a pipe does not leave first. A tool whose products only the work tells is asked after it.
Result<void> check_depfile(const CommonOptions& common, const ToolSpec& spec) {
  if (!common.depfile && (!common.depfile_target.empty() || !common.depfile_name.empty()))
    return usage_error("CL007", "options -MF and -MT say where a rule goes and what it is for; -MD asks for one");
  bool named = !common.depfile_target.empty() && !common.depfile_name.empty();
  if (!common.depfile || named || !spec.products) return success();
  std::vector<std::string> products = spec.products();
  bool piped = !products.empty() && std::all_of(products.begin(), products.end(), [](const std::string& p) { return p == io::kStdStream; });
  if (piped) return unnamed_depfile();
  return success();
}

bool is_regular(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

// "NAME=FILE" is a file, but a name may have a '=' of its own.
std::string file_of(const std::string& text) {
  const auto equal = text.find('=');
  std::error_code error;
  return equal == std::string::npos || std::filesystem::exists(text, error) ? text : text.substr(equal + 1);
}

// Whether a product would replace what is read, or a file of a folder that is.
bool is_same_file(const std::string& product, const std::string& read) {
  std::error_code error;
  if (std::filesystem::is_directory(read, error))
    return std::filesystem::equivalent(std::filesystem::absolute(product).parent_path(), read, error);
  return std::filesystem::equivalent(product, read, error);
}

Result<void> check_not_read(const std::string& product, const std::vector<std::string>& read) {
  for (const std::string& text : read) {
    const std::string file = file_of(text);
    if (file.empty() || file == io::kStdStream || !is_regular(product) || !is_same_file(product, file)) continue;
    return io::would_replace_input(product);
  }
  return success();
}

// All that run reads.
std::vector<std::string> read_by(const ToolSpec& spec) {
  std::vector<std::string> read = spec.also_read ? spec.also_read() : std::vector<std::string>{};
  if (spec.inputs)
    for (const InputFile& input : spec.inputs()) read.push_back(input.path);
  return read;
}

// Standard input has one content.
Result<void> check_one_stream(const std::vector<std::string>& read) {
  const auto is_stream = [](const std::string& text) { return text == io::kStdStream || text == "/dev/stdin" || text.ends_with("=-"); };
  if (std::count_if(read.begin(), read.end(), is_stream) < 2) return success();
  Diagnostic d = usage_error("CL011", "two inputs of this command are standard input, which has one content");
  d.hint = "write one of them into a file, and name it";
  return d;
}

// Asked before the work, too: minutes of it would be lost on a product that has no place.
Result<void> check_products(const ToolSpec& spec, const CommonOptions& common, const std::vector<std::string>& read, io::FileSystem& fs) {
  Failure failure;
  std::set<std::string> missing, named;
  std::vector<std::string> products = spec.products ? spec.products() : std::vector<std::string>{};
  products.push_back(common.timeline);
  if (common.depfile) products.push_back(common.depfile_name);
  for (const std::string& path : products) {
    if (path.empty()) continue;
    if (auto free = check_not_read(path, read); !free) {
      failure.add(std::move(free).failure());
      continue;
    }
    if (!path.starts_with("/dev/") && !named.insert(std::filesystem::path(path).lexically_normal().string()).second)
      failure.add(usage_error("CL010", cat("two products have the name '", path, "'; give each its own")));
    // A dependency file may lie in the folder that is the product, and is written last.
    if (path == io::kStdStream || (common.depfile && path == common.depfile_name)) continue;
    const std::string folder = std::filesystem::path(path).parent_path().string();
    if (fs.is_directory(path)) failure.add(input_error("IO002", {path}, cat("cannot be written: ", io::error_text(EISDIR))));
    if (!folder.empty() && !fs.is_directory(folder)) {
      if (!missing.insert(folder).second) continue;
      Diagnostic d = input_error("IO002", {path}, cat("cannot be written: ", io::error_text(ENOENT)));
      d.hint = cat("there is no folder '", folder, "'; make it, or name a file in another folder");
      failure.add(std::move(d));
    } else if (!path.starts_with("/dev/") && (is_regular(path) || !fs.exists(path))) {
      // Tried, for rights are not all that writing takes. Nothing of it stays.
      if (auto tried = fs.create(path); !tried) failure.add(std::move(tried).failure());
    }
  }
  for (const std::string& path : spec.folders ? spec.folders() : std::vector<std::string>{}) {
    if (path.empty() || path == io::kStdStream) continue;
    if (auto tried = io::FolderProduct::try_begin(fs, path); !tried) failure.add(std::move(tried).failure());
  }
  if (!failure.empty()) return failure;
  return success();
}

Result<void> write_depfile(const CommonOptions& common, const ToolSpec& spec, io::FileSystem& fs) {
  std::vector<std::string> products = spec.products ? spec.products() : std::vector<std::string>{};
  std::erase_if(products, [](const std::string& p) { return p.empty() || p == io::kStdStream; });
  std::string target = !common.depfile_target.empty() || products.empty() ? common.depfile_target : products.front();
  std::string name = !common.depfile_name.empty() || products.empty() ? common.depfile_name : products.front() + ".d";
  if (target.empty() || name.empty()) return unnamed_depfile();
  std::set<std::string> read = fs.files_read();
  for (const auto& product : products) read.erase(product);
  return fs.write(name, depfile_text(target, read));
}

std::string temporary_directory() { return environment_value("TMPDIR").value_or("/tmp"); }

// Who gave a model knows nothing of the files between the stages.
std::function<Diagnostic(Diagnostic)> wording_about(const std::string& model, const ToolSpec& spec) {
  std::set<std::string> made;
  if (spec.inputs)
    for (const InputFile& input : spec.inputs()) made.insert(input.path);
  return [model, made, folder = temporary_directory()](Diagnostic d) { return about_model(std::move(d), model, made, folder); };
}

struct Session {
  const ToolSpec& spec;
  Terminal& terminal;
  io::FileSystem& fs;
};

bool has_unknown_option(const Failure& failure) {
  return std::any_of(failure.diagnostics().begin(), failure.diagnostics().end(),
                     [](const Diagnostic& d) { return d.code == "CL001" || d.code == "CL002"; });
}

// What is given and what it means; options of other tools are looked up where an unknown one is among them.
Result<ParsedOptions> parse_arguments(Session& s, const std::vector<std::string>& arguments, OptionSet& set) {
  auto parsed = parse_command_line(arguments, set, environment_value, s.fs);
  if (parsed || !s.spec.declare_others || !has_unknown_option(parsed.failure())) return parsed;
  BUDA_TRY(s.spec.declare_others(set, executable_directory(), temporary_directory()));
  return parse_command_line(arguments, set, environment_value, s.fs);
}

// A tool that has no plugins of its own, as the driver, starts others that have.
std::vector<plugin::Kind> listed_kinds(const ToolSpec& spec) {
  if (!spec.plugins.empty()) return spec.plugins;
  return {plugin::Kind::frontend, plugin::Kind::decomposition, plugin::Kind::policy, plugin::Kind::target};
}

Result<void> run_session(Session& s, const std::vector<std::string>& arguments) {
  CommonOptions common;
  OptionSet set;
  if (s.spec.declare) s.spec.declare(set);
  declare_common(set, common, s.spec.version_is_v);
  // The form of messages matters for the messages about the other options too.
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i] == "--diagnostics=json" || (arguments[i] == "--diagnostics" && i + 1 < arguments.size() && arguments[i + 1] == "json"))
      s.terminal.set_json(true);
  const std::vector<BoundOption> own = set.options();
  BUDA_ASSIGN(auto parsed, parse_arguments(s, arguments, set));
  BUDA_TRY(store_options(parsed, set));
  s.terminal.set_json(common.diagnostics == "json");
  int verbosity = common.quiet ? -1 : static_cast<int>(common.verbose);
  s.terminal.set_verbosity(verbosity);
  if (common.help) return s.fs.write(std::string(io::kStdStream), help_text(s.spec));
  if (common.version) return s.fs.write(std::string(io::kStdStream), cat(s.spec.name, " (OpenBuda) ", version_text(), '\n'));
  if (!common.list_options.empty()) return s.fs.write(common.list_options, options_json(own, "Common options"));
  if (common.print_config) return s.fs.write(std::string(io::kStdStream), config_text(parsed, set));

  s.terminal.set_progress(common.progress == "json"  ? ProgressForm::json
                          : common.progress == "off" ? ProgressForm::off
                                                     : ProgressForm::bar);
  std::optional<Timeline> timeline;
  if (!common.timeline.empty()) timeline.emplace(s.spec.name, ::getpid());
  TerminalHost host(s.fs, s.terminal);
  host.timeline = timeline ? &*timeline : nullptr;
  host.threads = common.threads != 0 ? common.threads : std::max(1u, std::thread::hardware_concurrency());
  host.seed = common.seed;
  host.bin_dir = executable_directory();
  if (!host.bin_dir.empty()) host.share_dir = (std::filesystem::path(host.bin_dir).parent_path() / "share/buda").string();
  host.write_mode = common.write_if_changed ? io::WriteMode::if_changed : io::WriteMode::always;
  host.temporary_dir = temporary_directory();
  host.terminal = s.terminal.is_terminal();
  host.color = wants_color();
  host.verbosity = verbosity;
  host.plugin_options = parsed.plugin_options;
  host.given_as = parsed.given_as;
  host.common_arguments = arguments_for_others(common);
  host.option_environment = option_environment();
  for (const auto& [owner, values] : parsed.plugin_options)
    for (const auto& [name, texts] : values.all())
      for (const auto& text : texts) host.common_arguments.insert(host.common_arguments.end(), {"--set", cat(owner, '.', name, '=', text)});
  if (timeline) timeline->stage("loading plugins");
  const std::vector<plugin::Kind> kinds = common.list_plugins.empty() ? s.spec.plugins : listed_kinds(s.spec);
  const plugin::SearchPath places = search_path(common, host.bin_dir);
  std::optional<PluginWatch> watch;
  if (has_others(places)) watch.emplace(places.installed_directory, s.terminal);
  BUDA_TRY(plugin::load_plugins(places, kinds, host.plugins, host));
  if (!common.list_plugins.empty()) {
    std::string text = common.list_plugins == "json" ? plugin::list_json(host.plugins, kinds) : plugin::list_text(host.plugins, kinds);
    return s.fs.write(std::string(io::kStdStream), text);
  }
  BUDA_TRY(plugin::check_options(host.plugins, s.spec.plugins, host.plugin_options));
  if (s.spec.check) BUDA_TRY(s.spec.check(host));
  if (common.check_options) return success();
  BUDA_TRY(check_depfile(common, s.spec));
  if (!common.made_from.empty()) s.terminal.set_wording(wording_about(common.made_from, s.spec));
  if (s.spec.inputs) BUDA_TRY(check_inputs(s.spec.name, s.spec.inputs(), s.fs));
  const std::vector<std::string> read = read_by(s.spec);
  BUDA_TRY(check_one_stream(read));
  BUDA_TRY(check_products(s.spec, common, read, s.fs));
  BUDA_TRY(s.spec.run(host));
  if (timeline) BUDA_TRY(s.fs.write(common.timeline, timeline->text()));
  if (common.depfile) BUDA_TRY(write_depfile(common, s.spec, s.fs));
  return success();
}

// The spec that the first argument chooses, which is then taken off.
Result<const ToolSpec*> choose_command(const ToolSpec& spec, std::vector<std::string>& arguments) {
  if (spec.commands.empty()) return &spec;
  std::string first = arguments.empty() ? "" : arguments.front();
  std::vector<std::string> names;
  for (const auto& command : spec.commands) {
    names.push_back(command.name.substr(command.name.find(' ') + 1));
    if (names.back() != first) continue;
    arguments.erase(arguments.begin());
    return &command;
  }
  if (spec.run || first == "--help" || first == "-h" || first == "--version" || first.starts_with("--list-plugins")) return &spec;
  if (first.empty() || first.starts_with('-')) {
    Diagnostic d = usage_error("CL005", cat("missing command; one of: ", join(names, ", ")));
    const auto command = std::find_first_of(arguments.begin(), arguments.end(), names.begin(), names.end());
    if (command != arguments.end()) {
      std::vector<std::string> call = {spec.name, *command};
      call.insert(call.end(), arguments.begin(), command);
      call.insert(call.end(), std::next(command), arguments.end());
      d.hint = cat("the command comes first: ", io::shell_line(call));
    }
    return d;
  }
  Diagnostic d = usage_error("CL005", cat("unknown command '", first, "'; one of: ", join(names, ", ")));
  if (first == "help" || first == "version") {
    d.hint = cat("did you mean '", spec.name, " --", first, "'?");
  } else if (auto near = nearest_word(first, names)) {
    d.hint = cat("did you mean '", *near, "'?");
  } else if (std::error_code error; first.find_first_of("./") != std::string::npos || std::filesystem::exists(first, error)) {
    OptionSet set;
    if (spec.commands.front().declare) spec.commands.front().declare(set);
    d.hint = cat("did you mean '", spec.name, ' ', names.front(), has_input_option(set) ? " -i " : " ", first, "'?");  // a file
  }
  return d;
}

// Replaces this program by a fellow tool, which calls itself by the name of the command; returns only when that fails.
Result<void> become(const ToolSpec& command, const std::vector<std::string>& arguments) {
  std::string path = (std::filesystem::path(executable_directory()) / command.executable).string();
  std::vector<char*> argv = {const_cast<char*>(command.name.c_str())};
  for (const auto& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  ::execv(path.c_str(), argv.data());
  return input_error("IO005", {path}, cat("cannot be started: ", io::error_text(errno)));
}

// The tool under the name by which a driver has started it: "buda run" for runner. A name of two words is no path of an executable.
ToolSpec called_by(std::string_view name, ToolSpec spec) {
  if (name.find(' ') == std::string_view::npos || name.find('/') != std::string_view::npos) return spec;
  std::vector<std::string> lines;
  for (auto line : split(spec.example, '\n'))
    lines.push_back(line.starts_with(spec.name + ' ') ? cat(name, line.substr(spec.name.size())) : std::string(line));
  spec.example = join(lines, "\n");
  spec.name = std::string(name);
  return spec;
}

bool is_closed_pipe(const Failure& failure) {
  const auto& all = failure.diagnostics();
  return all.size() == 1 && all.front().code == "IO002" && all.front().loc.file == "<stdout>" &&
         all.front().message.ends_with(io::error_text(EPIPE));
}

int finish(Terminal& terminal, const ToolSpec& spec, const Result<void>& result) {
  terminal.clear_bar();
  if (result) return kOk;
  // Who reads the output, as `head` does, has enough of it, and wants no message.
  if (is_closed_pipe(result.failure())) return exit_code(result.failure());
  bool usage = false;
  const std::vector<Diagnostic>& all = result.failure().diagnostics();
  for (const auto& d : terminal.is_json() ? all : first_of_each_file(all)) {
    terminal.report(d);
    usage = usage || (d.fault == Fault::usage && d.code.starts_with("CL"));
  }
  if (usage) terminal.report(note("", {}, cat("'", spec.name, " --help' shows the options")));
  return exit_code(result.failure());
}

}  // namespace

ExitCode exit_code(const Failure& failure) {
  auto has = [&](Fault fault) {
    return std::any_of(failure.diagnostics().begin(), failure.diagnostics().end(),
                       [&](const Diagnostic& d) { return d.severity == Severity::error && d.fault == fault; });
  };
  if (failure.empty() || has(Fault::bug)) return kBug;
  if (has(Fault::interrupted)) return kInterrupted;
  if (has(Fault::usage)) return kUsageError;
  if (has(Fault::input)) return kInputError;
  if (has(Fault::fit)) return kDoesNotFit;
  if (has(Fault::mismatch)) return kMismatch;
  return kBug;
}

const schema::OptionValues& ToolHost::options_of(plugin::Kind kind, const std::string& name) const {
  static const schema::OptionValues none;
  auto it = plugin_options.find(cat(plugin::kind_name(kind), '.', name));
  return it == plugin_options.end() ? none : it->second;
}

std::string version_text() { return BUDA_VERSION; }

namespace {

std::string bug_text(const std::exception& e) {
  return cat("internal error: ", e.what(), "; this is a bug of ours, please report it with the command and its input");
}

// Memory, threads or descriptors that the system does not give are nobody's bug.
Diagnostic want_of(const std::system_error& e) {
  if (is_lack(e.code()))
    return input_error("IO004", {}, cat("the system gives no more memory, threads or open files: ", e.code().message()));
  return internal_error(bug_text(e));
}

// The whole tool, with what its code throws told as diagnostics.
int run_tool(int argc, char** argv, const ToolSpec& spec) {
  Terminal terminal(spec.name);
  try {
    auto fs = io::make_real_file_system();
    // Excerpts are read past the file system of the tool, so that a message does not become a dependency.
    auto excerpt_fs = io::make_real_file_system();
    terminal.set_source([&](const std::string& file, std::uint32_t line) { return source_line(*excerpt_fs, file, line); });
    std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
    auto chosen = choose_command(spec, arguments);
    if (!chosen) return finish(terminal, spec, Failure(std::move(chosen).failure()));
    if (!(*chosen)->executable.empty()) return finish(terminal, **chosen, become(**chosen, arguments));
    Session session{**chosen, terminal, *fs};
    return finish(terminal, **chosen, run_session(session, arguments));
  } catch (const std::bad_alloc&) {
    io::remove_temporary_files();
    return finish(terminal, spec, input_error("IO004", {}, "out of memory"));
  } catch (const std::system_error& e) {
    io::remove_temporary_files();
    return finish(terminal, spec, want_of(e));
  } catch (const LateLibraryError& e) {
    io::remove_temporary_files();
    Diagnostic d = input_error("IO009", {}, cat("a library of this installation cannot be loaded: ", e.what()));
    d.hint =
        "'ulimit -v' and 'ulimit -n' tell how much memory and how many files it may have; a damaged installation has to be installed again";
    return finish(terminal, spec, std::move(d));
  } catch (const plugin::PluginError& e) {
    io::remove_temporary_files();
    return finish(terminal, spec, internal_error(e.what()));
  } catch (const std::exception& e) {
    io::remove_temporary_files();
    return finish(terminal, spec, internal_error(bug_text(e)));
  }
}

}  // namespace

int tool_main(int argc, char** argv, const ToolSpec& given) {
  std::setlocale(LC_ALL, "C");
  const ToolSpec spec = called_by(argc > 0 ? argv[0] : "", given);
  install_signal_handlers(spec.name.c_str());
  prepare_crash_report(spec.name.c_str(), argc, argv);
  const int code = run_tool(argc, argv, spec);
  expect_exit();
  return code;
}

}  // namespace buda::cli
