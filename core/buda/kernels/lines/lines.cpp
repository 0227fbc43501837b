// Lines through libdw: libbuda_lines.so.
#include <buda/kernels/lines/functions.hpp>

#include <buda/base/text.hpp>

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <cstdlib>
#include <memory>
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
  Dwarf_Die* scopes = nullptr;
  const int depth = dwarf_getscopes(&unit, address, &scopes);
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

}  // namespace

std::string lines_by_libdw(std::string_view elf, std::uint32_t address) {
  elf_version(EV_CURRENT);
  std::string bytes(elf);  // libelf may change them
  const Image image(elf_memory(bytes.data(), bytes.size()), &elf_end);
  if (image == nullptr) return {};
  const Info info(dwarf_begin_elf(image.get(), DWARF_C_READ, nullptr), &dwarf_end);
  Dwarf_Die unit;
  if (info == nullptr || !find_unit(info.get(), address, unit)) return {};
  std::vector<Line> lines;
  if (Dwarf_Line* line = dwarf_getsrc_die(&unit, address)) {
    int number = 0;
    dwarf_lineno(line, &number);
    lines.push_back(line_of(dwarf_linesrc(line, nullptr, nullptr), number));
  }
  for (Line& call : calls_at(unit, address)) lines.push_back(std::move(call));
  std::string text;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line)
    if (!line->is_frame) text += cat(text.empty() ? "" : ", ", line->text);
  return text;
}

}  // namespace buda::kernels

extern "C" {
__attribute__((visibility("default"))) extern const buda::kernels::LineFunctions buda_line_functions;
const buda::kernels::LineFunctions buda_line_functions{&buda::kernels::lines_by_libdw};
}
