// SPDX-License-Identifier: Apache-2.0
// Finding and running compilers.
#include <buda/kernels/compile/compiler.hpp>

#include <buda/base/text.hpp>
#include <buda/io/process.hpp>

#include <algorithm>
#include <filesystem>

namespace buda::kernels {
namespace {

constexpr std::string_view kFolders[] = {"/usr/bin/", "/usr/local/bin/"};

std::string_view program_of(Compiler kind) { return kind == Compiler::gcc ? "riscv64-unknown-elf-g++" : "clang++"; }
std::string_view name_of(Compiler kind) { return kind == Compiler::gcc ? "gcc" : "clang"; }

std::string installed(Compiler kind, io::FileSystem& fs) {
  for (std::string_view folder : kFolders)
    if (const std::string path = cat(folder, program_of(kind)); fs.exists(path)) return path;
  return {};
}

Diagnostic no_compiler(const BuildOptions& options) {
  const bool clang = options.compiler == Compiler::clang;
  Diagnostic d =
      input_error("KC002", {},
                  options.path.empty() ? cat("there is no compiler for kernels: ", program_of(clang ? Compiler::clang : Compiler::gcc),
                                             options.compiler == Compiler::any ? ", or clang++," : "", " is not in /usr/bin")
                                       : cat("there is no compiler '", options.path, "'"));
  d.hint = clang ? "apt-get install clang lld" : "apt-get install gcc-riscv64-unknown-elf";
  return d;
}

std::vector<std::string> target_flags(Compiler kind) {
  if (kind == Compiler::clang) return {"--target=riscv32-unknown-elf", "-mno-relax"};
  return {"-nostartfiles", "-mstrict-align"};
}

// "12.2.0", from what the compiler's preprocessor makes of __VERSION__.
std::string version_in(std::string_view text) {
  const std::size_t first = text.find_first_of("0123456789");
  if (first == std::string_view::npos) return "of unknown version";
  const std::size_t end = text.find_first_not_of("0123456789.", first);
  return std::string(text.substr(first, end == std::string_view::npos ? end : end - first));
}

Result<void> run(const std::vector<std::string>& command, std::chrono::seconds limit, const std::string& what) {
  BUDA_ASSIGN(const auto result, io::run_process(command, limit));
  if (result.exit_code == 0 && !result.timed_out) return success();
  Diagnostic d = input_error("KC003", {},
                             cat("the compiler could not make ", what,
                                 result.timed_out ? cat(": it did not end in ", limit.count(), limit.count() == 1 ? " second" : " seconds")
                                 : result.signal != 0 ? cat(": it ended by signal ", result.signal)
                                                      : std::string()));
  d.notes.push_back({{}, io::shell_line(command)});
  return d;
}

}  // namespace

Result<Toolchain> find_toolchain(const BuildOptions& options, const std::string& scratch, io::FileSystem& fs) {
  Toolchain t{
      options.compiler == Compiler::clang ? Compiler::clang : Compiler::gcc, options.path, {}, std::chrono::seconds(options.seconds)};
  if (t.path.empty()) t.path = installed(t.kind, fs);
  if (t.path.empty() && options.compiler == Compiler::any) {
    t.kind = Compiler::clang;
    t.path = installed(t.kind, fs);
  }
  if (t.path.empty() || !fs.exists(t.path)) return no_compiler(options);
  const std::string source = scratch + "/version.cpp", product = scratch + "/version.txt";
  BUDA_TRY(fs.write(source, "__VERSION__\n"));
  BUDA_TRY(run({t.path, "-E", "-P", source, "-o", product}, t.limit, "out its version"));
  BUDA_ASSIGN(const auto text, fs.read(product));
  t.version = cat(name_of(t.kind), ' ', version_in(text.view()));
  return t;
}

std::vector<std::string> command_of(const Toolchain& toolchain, const CompileJob& job) {
  std::vector<std::string> command = {toolchain.path};
  for (auto& word : target_flags(toolchain.kind)) command.push_back(std::move(word));
  for (const char* word :
       {"-march=rv32im", "-mabi=ilp32", "-std=c++17", "-O2", "-g", "-Wall", "-Wextra", "-Werror", "-ffreestanding", "-nostdlib",
        "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics", "-fno-asynchronous-unwind-tables", "-fno-pic"})
    command.emplace_back(word);
  if (toolchain.kind == Compiler::clang) command.emplace_back("-fuse-ld=lld");
  for (const auto& [path, name] : job.known_as) command.push_back(cat("-ffile-prefix-map=", path, '=', name));
  command.push_back(cat("-DTT_THREAD=", job.thread));
  if (job.prints) command.emplace_back("-DTT_DPRINT");
  if (job.zones) command.emplace_back("-DTT_ZONES");
  for (const std::string& folder : job.include) command.push_back(cat("-I", folder));
  command.push_back(cat("-Wl,-T,", job.script));
  for (const std::string& word : {std::string("-o"), job.output, job.source}) command.push_back(word);
  return command;
}

Result<void> compile(const Toolchain& toolchain, const CompileJob& job, const std::string& what) {
  return run(command_of(toolchain, job), toolchain.limit, what);
}

}  // namespace buda::kernels
