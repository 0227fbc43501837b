// SPDX-License-Identifier: Apache-2.0
// Compiled as kernels are, in a temporary folder.
#include <buda/chip/firmware.hpp>

#include <buda/base/text.hpp>
#include <buda/io/temporary_directory.hpp>
#include <buda/kernels/compile/compiler.hpp>
#include <buda/kernels/programs/elf.hpp>

#include <movers/tables.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <system_error>

namespace buda::chip {
namespace {

struct Role {
  const char* name;
  std::uint32_t begin, bytes;
};
constexpr Role kRoles[] = {{"brisc", mover::kBrisc, mover::kBriscBytes}, {"ncrisc", mover::kNcrisc, mover::kNcriscBytes}};

std::string script_of(const Role& role) {
  return cat(
      "MEMORY { L1 (rwx) : ORIGIN = ", hex_text(role.begin), ", LENGTH = ", hex_text(role.bytes),
      " }\nENTRY(_start)\nSECTIONS {\n  .text : { *(.start) *(.text .text.*) *(.rodata .rodata.* .srodata .srodata.*) *(.data .data.*) "
      "*(.bss .bss.*) } > L1\n  /DISCARD/ : { *(.comment) *(.note*) *(.eh_frame*) *(.riscv.attributes) }\n}\n");
}

// The bytes of a program that begins at `begin`, where the processor begins, too.
Result<std::string> image_of(std::string_view elf, const Role& role) {
  BUDA_ASSIGN(const auto program, kernels::parse_executable(elf, role.name));
  std::string image;
  for (const kernels::Segment& s : program.segments) {
    const std::size_t at = s.address - role.begin;
    image.resize(std::max(image.size(), at + s.memory_bytes));
    image.replace(at, s.bytes.size(), s.bytes);
  }
  if (program.entry != role.begin || image.size() > role.bytes)
    return internal_error(cat("the program of ", role.name, " is not in its place"));
  return image;
}

}  // namespace

Result<Firmware> build_firmware(const kernels::BuildOptions& options, Host& host) {
  std::error_code ignored;  // then it is the current folder
  const std::string parent = std::filesystem::temp_directory_path(ignored).string();
  BUDA_ASSIGN(const auto scratch, io::TemporaryDirectory::make(parent, "openbuda-movers-"));
  const auto files = io::make_real_file_system();
  BUDA_ASSIGN(const auto toolchain, kernels::find_toolchain(options, scratch.path(), *files));
  const std::string folder = host.share_dir + "/movers";
  Firmware out;
  for (std::size_t role = 0; role < out.size(); ++role) {
    const std::string base = cat(scratch.path(), '/', kRoles[role].name);
    BUDA_TRY(files->write(base + ".ld", script_of(kRoles[role])));
    BUDA_TRY(kernels::compile(toolchain, {role, folder + "/mover.cpp", base + ".ld", base + ".elf", {folder}, {}, false, false},
                              cat("the mover of ", kRoles[role].name)));
    BUDA_ASSIGN(const auto elf, files->read(base + ".elf"));
    BUDA_ASSIGN(out[role], image_of(elf.view(), kRoles[role]));
  }
  return out;
}

}  // namespace buda::chip
