// SPDX-License-Identifier: Apache-2.0
// Lines through libdw: libbuda_lines.so.
#include <buda/kernels/lines/functions.hpp>

#include <buda/base/text.hpp>

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace buda::kernels {
namespace {

using Image = std::unique_ptr<Elf, decltype(&elf_end)>;
using Info = std::unique_ptr<Dwarf, decltype(&dwarf_end)>;

// A line, and whether it is of what surrounds every kernel: start.h and the generated source.
struct Line {
  std::string text;
  bool is_frame = false;
};

Line line_of(const char* path, int number) {
  const std::string_view file = path == nullptr ? std::string_view("?") : std::string_view(path);
  const std::string_view name = file.substr(file.rfind('/') + 1);
  return {cat(name, ':', number), name == "start.h" || name.ends_with(".cpp")};
}

// The compilation unit that has the address.
bool find_unit(Dwarf* info, Dwarf_Addr address, Dwarf_Die& unit) {
  Dwarf_Off offset = 0, next = 0;
  std::size_t header = 0;
  while (dwarf_nextcu(info, offset, &next, &header, nullptr, nullptr, nullptr) == 0) {
    if (dwarf_offdie(info, offset + header, &unit) != nullptr && dwarf_haspc(&unit, address) == 1) return true;
    offset = next;
  }
  return false;
}

// Where the innermost of the unit's functions at the address was put in, where that one was, and so on.
std::vector<Line> calls_at(Dwarf_Die& unit, Dwarf_Addr address) {
  std::vector<Line> out;
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  if (dwarf_getsrcfiles(&unit, &files, &count) != 0) return out;
  // After an inlined function dwarf_getscopes goes on with where that was written; the callers are around its own entry.
  Dwarf_Die* innermost = nullptr;
  const int found = dwarf_getscopes(&unit, address, &innermost);
  const std::unique_ptr<Dwarf_Die, decltype(&std::free)> owner_of_innermost(innermost, &std::free);
  if (found <= 0) return out;
  Dwarf_Die* scopes = nullptr;
  const int depth = dwarf_getscopes_die(&innermost[0], &scopes);
  const std::unique_ptr<Dwarf_Die, decltype(&std::free)> owner(scopes, &std::free);
  for (int i = 0; i < depth; ++i) {
    if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine) continue;
    Dwarf_Attribute attribute;
    Dwarf_Word file = 0, number = 0;
    if (dwarf_formudata(dwarf_attr(&scopes[i], DW_AT_call_file, &attribute), &file) != 0) continue;
    if (dwarf_formudata(dwarf_attr(&scopes[i], DW_AT_call_line, &attribute), &number) != 0) continue;
    if (file < count) out.push_back(line_of(dwarf_filesrc(files, file, nullptr, nullptr), static_cast<int>(number)));
  }
  return out;
}

std::string lines_of(Dwarf* info, std::uint32_t address) {
  Dwarf_Die unit;
  if (info == nullptr || !find_unit(info, address, unit)) return {};
  std::vector<Line> lines;
  if (Dwarf_Line* line = dwarf_getsrc_die(&unit, address)) {
    int number = 0;
    dwarf_lineno(line, &number);
    // 0: the compiler's own.
    if (number != 0) lines.push_back(line_of(dwarf_linesrc(line, nullptr, nullptr), number));
  }
  for (Line& call : calls_at(unit, address)) lines.push_back(std::move(call));
  std::string text;
  std::string_view last;  // a template that calls itself is there once
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    if (line->is_frame || line->text == last) continue;
    text += cat(text.empty() ? "" : ", ", line->text);
    last = line->text;
  }
  return text;
}

std::string demangled(const char* name) {
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name, nullptr, nullptr, nullptr), &std::free);
  return text == nullptr ? name : text.get();
}

// Functions and objects of the table in a section.
void add_symbols(Elf* image, Elf_Scn* section, const GElf_Shdr& header, std::vector<Symbol>& out) {
  Elf_Data* data = elf_getdata(section, nullptr);
  if (data == nullptr || header.sh_entsize == 0) return;
  for (std::size_t i = 0; i < header.sh_size / header.sh_entsize; ++i) {
    GElf_Sym symbol;
    if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) return;
    const auto type = GELF_ST_TYPE(symbol.st_info);
    const char* name = elf_strptr(image, header.sh_link, symbol.st_name);
    if ((type != STT_FUNC && type != STT_OBJECT) || name == nullptr) continue;
    out.push_back(
        {static_cast<std::uint32_t>(symbol.st_value), static_cast<std::uint32_t>(symbol.st_size), demangled(name), type == STT_FUNC});
  }
}

std::vector<Symbol> symbols_of(Elf* image) {
  std::vector<Symbol> out;
  for (Elf_Scn* section = elf_nextscn(image, nullptr); section != nullptr; section = elf_nextscn(image, section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) != nullptr && header.sh_type == SHT_SYMTAB) add_symbols(image, section, header, out);
  }
  std::sort(out.begin(), out.end(),
            [](const Symbol& a, const Symbol& b) { return std::tie(a.address, a.name) < std::tie(b.address, b.name); });
  return out;
}

}  // namespace

ProgramSource source_by_libdw(std::string_view elf, std::span<const std::uint32_t> addresses) {
  ProgramSource out;
  out.lines.resize(addresses.size());
  elf_version(EV_CURRENT);
  std::string bytes(elf);  // libelf may change them
  const Image image(elf_memory(bytes.data(), bytes.size()), &elf_end);
  if (image == nullptr) return out;
  out.symbols = symbols_of(image.get());
  const Info info(dwarf_begin_elf(image.get(), DWARF_C_READ, nullptr), &dwarf_end);
  for (std::size_t i = 0; i < addresses.size(); ++i) out.lines[i] = lines_of(info.get(), addresses[i]);
  return out;
}

}  // namespace buda::kernels

extern "C" {
__attribute__((visibility("default"))) extern const buda::kernels::LineFunctions buda_line_functions;
const buda::kernels::LineFunctions buda_line_functions{&buda::kernels::source_by_libdw};
}
