// SPDX-License-Identifier: Apache-2.0
// The headers of ELF files, and the rights of files.
#include <buda/plugin/plugin_file.hpp>

#include <buda/base/text.hpp>
#include <buda/io/descriptor.hpp>

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace buda::plugin {
namespace {

bool read_at(int fd, void* to, std::size_t size, std::uint64_t offset) {
  return ::pread(fd, to, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
}

std::string cut_short(std::uint64_t end, std::uint64_t size) {
  return cat("it is cut short: it should have ", end, " bytes, and has ", size);
}

// Of the file; nothing where numbers cannot be right.
std::optional<std::uint64_t> end_of_segments(const std::vector<Elf64_Phdr>& segments) {
  std::uint64_t end = 0;
  for (const Elf64_Phdr& segment : segments)
    if (segment.p_type == PT_LOAD && segment.p_filesz <= UINT64_MAX - segment.p_offset)
      end = std::max(end, segment.p_offset + segment.p_filesz);
  return end;
}

bool is_within(std::uint64_t address, std::uint64_t size, const Elf64_Phdr& outer) {
  return address >= outer.p_vaddr && address - outer.p_vaddr <= outer.p_memsz && size <= outer.p_memsz - (address - outer.p_vaddr);
}

// What its sections say that is in memory is in memory; true where it has none.
bool has_room(const std::vector<Elf64_Shdr>& sections, const std::vector<Elf64_Phdr>& segments) {
  return std::all_of(sections.begin(), sections.end(), [&](const Elf64_Shdr& section) {
    if ((section.sh_flags & SHF_ALLOC) == 0 || (section.sh_flags & SHF_TLS) != 0) return true;
    return std::any_of(segments.begin(), segments.end(), [&](const Elf64_Phdr& segment) {
      return segment.p_type == PT_LOAD && is_within(section.sh_addr, section.sh_size, segment);
    });
  });
}

// The loader maps segments one after the other, and sets rights of parts of them: where they do not lie in order, it does so to the memory
// of others.
bool lie_apart(const std::vector<Elf64_Phdr>& segments) {
  constexpr std::uint64_t kPage = 4096, kMaxAddress = std::uint64_t{1} << 46;
  std::vector<Elf64_Phdr> loaded;
  for (const Elf64_Phdr& s : segments) {
    if (s.p_type != PT_LOAD) continue;
    if (s.p_vaddr > kMaxAddress || s.p_memsz > kMaxAddress || s.p_filesz > s.p_memsz || s.p_vaddr % kPage != s.p_offset % kPage) return false;
    if (!loaded.empty() && loaded.back().p_vaddr + loaded.back().p_memsz > s.p_vaddr) return false;
    loaded.push_back(s);
  }
  for (const Elf64_Phdr& s : segments) {
    if (s.p_type != PT_DYNAMIC && s.p_type != PT_GNU_RELRO && s.p_type != PT_GNU_EH_FRAME && s.p_type != PT_NOTE) continue;
    const bool rounded = s.p_type == PT_GNU_RELRO;  // up to a page
    const bool found = std::any_of(loaded.begin(), loaded.end(), [&](Elf64_Phdr outer) {
      if (rounded) outer.p_memsz = (outer.p_vaddr % kPage + outer.p_memsz + kPage - 1) / kPage * kPage - outer.p_vaddr % kPage;
      return is_within(s.p_vaddr, s.p_memsz, outer);
    });
    if (!found) return false;
  }
  return !loaded.empty();
}

}  // namespace

std::optional<std::string> damage_of(const std::string& file) {
  const io::Descriptor fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info {};
  if (fd.get() < 0 || ::fstat(fd.get(), &info) != 0) return std::nullopt;  // the loader says why
  const auto size = static_cast<std::uint64_t>(info.st_size);
  Elf64_Ehdr header;
  if (!read_at(fd.get(), &header, sizeof header, 0) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return "it is not an ELF file";
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_DYN) return "it is not a shared library for 64 bits";
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum == 0) return "its ELF header is damaged";
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  const std::uint64_t bytes = segments.size() * sizeof(Elf64_Phdr);
  if (header.e_phoff > size || bytes > size - header.e_phoff) return cut_short(header.e_phoff + bytes, size);
  if (!read_at(fd.get(), segments.data(), bytes, header.e_phoff)) return "its ELF header is damaged";
  if (const auto end = end_of_segments(segments); end && *end > size) return cut_short(*end, size);
  std::vector<Elf64_Shdr> sections(header.e_shentsize == sizeof(Elf64_Shdr) ? header.e_shnum : 0);
  if (!sections.empty() && !read_at(fd.get(), sections.data(), sections.size() * sizeof(Elf64_Shdr), header.e_shoff)) sections.clear();
  if (!lie_apart(segments) || !has_room(sections, segments)) return "its ELF header is damaged";
  return std::nullopt;
}

std::optional<Diagnostic> warning_of_others(const std::string& path) {
  struct stat info {
  }, program{};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  // Who may change the program itself gains nothing by a plugin.
  if (::stat("/proc/self/exe", &program) != 0) return std::nullopt;
  const bool by_all = (info.st_mode & ~program.st_mode & S_IWOTH) != 0;
  if (!by_all && (info.st_uid == 0 || info.st_uid == ::geteuid() || info.st_uid == program.st_uid)) return std::nullopt;
  const char* what = S_ISDIR(info.st_mode) ? "this folder of plugins" : "this plugin";
  Diagnostic d = warning("PL010", {path},
                         by_all ? cat("all users may change ", what, ", and with it what this program does")
                                : cat("user ", info.st_uid, " may change ", what, ", and with it what this program does"));
  if (by_all) d.hint = "'chmod o-w' takes that right away";
  return d;
}

}  // namespace buda::plugin
