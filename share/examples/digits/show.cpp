// SPDX-License-Identifier: Apache-2.0
// Shows what the digits model made of the held-out images: its accuracy, and some of the images with their predictions.
//
//   digits-show IMAGES.npz LABELS.npz OUTPUTS.npz [COUNT]
//
// It is also the smallest useful program against libbuda: read_tensors() and Tensor are all it needs.
#include <buda/base/text.hpp>
#include <buda/diag/format.hpp>
#include <buda/io/file_system.hpp>
#include <buda/tensor/tensor.hpp>
#include <buda/tensor/tensor_file.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr std::int64_t kSide = 8;   // an image has 8x8 pixels
constexpr std::size_t kPerRow = 6;  // images side by side

buda::Result<buda::Tensor> read_one(buda::io::FileSystem& fs, const std::string& path, const std::string& name) {
  BUDA_ASSIGN(auto tensors, buda::read_tensors(fs, path));
  auto it = tensors.find(name);
  if (it == tensors.end()) return buda::input_error("DX001", {path}, buda::cat("holds no tensor '", name, '\''));
  return it->second;
}

// Colours are for terminals (https://no-color.org).
bool in_color() {
  const char* refused = std::getenv("NO_COLOR");
  return ::isatty(STDOUT_FILENO) != 0 && (refused == nullptr || *refused == '\0');
}

// Two pixels above each other take one character: in colour the upper is the character's colour and the lower its background, else the
// character shows how bright they are together.
void draw_row(const std::vector<float>& images, const std::vector<std::size_t>& which, std::int64_t row) {
  static constexpr const char* kShades[] = {" ", "\u2591", "\u2592", "\u2593", "\u2588"};
  for (std::size_t image : which) {
    for (std::int64_t col = 0; col < kSide; ++col) {
      auto pixel = [&](std::int64_t r) {
        return std::clamp(images[image * kSide * kSide + static_cast<std::size_t>(r * kSide + col)], 0.0f, 1.0f);
      };
      auto gray = [&](std::int64_t r) { return 232 + static_cast<int>(pixel(r) * 23); };  // the ramp of 256-colour terminals
      if (in_color()) {
        std::printf("\x1b[38;5;%dm\x1b[48;5;%dm\u2580\u2580", gray(row), gray(row + 1));
      } else {
        const char* shade = kShades[static_cast<std::size_t>((pixel(row) + pixel(row + 1)) / 2 * 4 + 0.5f)];
        std::printf("%s%s", shade, shade);
      }
    }
    std::printf(in_color() ? "\x1b[0m   " : "   ");
  }
  std::printf("\n");
}

buda::Result<void> show(buda::io::FileSystem& fs, const std::vector<std::string>& arguments) {
  BUDA_ASSIGN(auto image_tensor, read_one(fs, arguments[0], "image"));
  BUDA_ASSIGN(auto label_tensor, read_one(fs, arguments[1], "label"));
  BUDA_ASSIGN(auto output_tensor, read_one(fs, arguments[2], "probabilities"));
  std::vector<float> images = image_tensor.to_f32(), labels = label_tensor.to_f32(), outputs = output_tensor.to_f32();
  std::size_t count = labels.size();
  if (count == 0 || images.size() != count * kSide * kSide || outputs.size() % count != 0)
    return buda::input_error("DX002", {arguments[2]}, "images, labels and outputs are not of the same number");
  std::size_t classes = outputs.size() / count;

  std::vector<std::size_t> predicted(count);
  std::size_t right = 0;
  std::vector<std::size_t> shown;  // the mistakes first: they are the interesting ones
  for (std::size_t i = 0; i < count; ++i) {
    auto row = outputs.begin() + static_cast<std::ptrdiff_t>(i * classes);
    predicted[i] = static_cast<std::size_t>(std::max_element(row, row + static_cast<std::ptrdiff_t>(classes)) - row);
    bool ok = predicted[i] == static_cast<std::size_t>(labels[i]);
    right += ok ? 1 : 0;
    if (!ok && shown.size() < kPerRow / 2) shown.push_back(i);
  }
  std::size_t wanted = arguments.size() > 3 ? static_cast<std::size_t>(buda::parse_uint(arguments[3]).value_or(2 * kPerRow)) : 2 * kPerRow;
  for (std::size_t i = 0; i < count && shown.size() < wanted; ++i)
    if (std::find(shown.begin(), shown.end(), i) == shown.end()) shown.push_back(i);

  for (std::size_t begin = 0; begin < shown.size(); begin += kPerRow) {
    std::vector<std::size_t> line(shown.begin() + static_cast<std::ptrdiff_t>(begin),
                                  shown.begin() + static_cast<std::ptrdiff_t>(std::min(begin + kPerRow, shown.size())));
    std::printf("\n");
    for (std::int64_t row = 0; row < kSide; row += 2) draw_row(images, line, row);
    for (std::size_t i : line) {
      double sure = 100.0 * static_cast<double>(outputs[i * classes + predicted[i]]);
      bool ok = predicted[i] == static_cast<std::size_t>(labels[i]);
      const bool red = !ok && in_color();
      std::printf("%s%zu%s (%3.0f %%)%-9s", red ? "\x1b[31m" : "", predicted[i], red ? "\x1b[0m" : "", sure,
                  ok ? "" : buda::cat(" not ", static_cast<int>(labels[i])).c_str());
    }
    std::printf("\n");
  }
  std::printf("\naccuracy: %zu of %zu images right, %.2f %%\n", right, count,
              100.0 * static_cast<double>(right) / static_cast<double>(count));
  return buda::success();
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() < 3) {
    std::fprintf(stderr, "usage: digits-show IMAGES.npz LABELS.npz OUTPUTS.npz [COUNT]\n");
    return 2;
  }
  auto fs = buda::io::make_real_file_system();
  auto result = show(*fs, arguments);
  if (result) return 0;
  for (const auto& d : result.failure().diagnostics()) std::fputs(buda::format_text(d, {false, "digits-show"}, nullptr).c_str(), stderr);
  return 1;
}
