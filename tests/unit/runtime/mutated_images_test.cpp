// SPDX-License-Identifier: Apache-2.0
// Ten thousand damaged and forged images: each is refused with a diagnostic, or is read as what it says.
#include "fixture.hpp"
#include "unit/device/memory_host.hpp"

#include <buda/base/rng.hpp>
#include <buda/device/load.hpp>
#include <buda/image/image.hpp>
#include <buda/runtime/model/model_image.hpp>

namespace buda::runtime::test {
namespace {

std::string archive_of(const image::Members& members) {
  io::MemoryFileSystem fs;
  auto out = fs.create("a", io::WriteMode::always);
  EXPECT_TRUE(image::write_archive(**out, members));
  EXPECT_TRUE((*out)->commit());
  return std::string(fs.find("a")->view());
}

device::DeviceDescriptor tiny_device() {
  device::MemoryHost m;
  std::string text = device::kSmallDevice;
  text.replace(text.find("grayskull"), 9, "wormhole_b0");
  m.put("/share/devices/small.yaml", text);
  auto d = device::load_device(m.host, "small");
  EXPECT_TRUE(d) << error_of(d);
  return d ? *d : device::DeviceDescriptor{};
}

std::string image_bytes(image::TensorStore store) {
  auto image = make_image(model(), tiny_device(), {}, "net.yaml");
  EXPECT_TRUE(image) << error_of(image);
  image->netlist = io::Bytes(netlist_text());
  io::MemoryFileSystem fs;
  auto out = fs.create("m.tti", io::WriteMode::always);
  EXPECT_TRUE(image::write_image(**out, std::move(*image), 1, store));
  EXPECT_TRUE((*out)->commit());
  return std::string(fs.find("m.tti")->view());
}

// Everything that a program does with an image before a device is involved.
Result<image::Image> read_all(const std::string& bytes) {
  BUDA_ASSIGN(auto image, image::read_image(io::Bytes(bytes), "m.tti"));
  BUDA_TRY(load_models("m.tti", image));
  return image;
}

void expect_reasons(const Result<image::Image>& result) {
  ASSERT_FALSE(result.failure().diagnostics().empty());
  for (const auto& d : result.failure().diagnostics()) {
    EXPECT_FALSE(d.message.empty());
    EXPECT_NE(d.fault, Fault::bug) << d.message;
  }
}

TEST(MutatedImages, DamageIsRefusedOrWithoutEffect) {
  Rng rng(6);
  int refused = 0;
  for (image::TensorStore store : {image::TensorStore::raw, image::TensorStore::tilized}) {
    const std::string bytes = image_bytes(store);
    auto good = image::read_image(io::Bytes(bytes), "m.tti");
    ASSERT_TRUE(good) << error_of(good);
    for (int i = 0; i < 2500; ++i) {
      std::string changed = bytes;
      switch (rng.below(3)) {
        case 0:
          changed[rng.below(changed.size())] = static_cast<char>(rng.below(256));
          break;
        case 1:
          changed.resize(rng.below(changed.size()));
          break;
        default: {  // a piece of it somewhere else
          const std::size_t from = rng.below(changed.size()), count = 1 + rng.below(600);
          changed.replace(rng.below(changed.size()), rng.below(2) * count, changed.substr(from, count));
        }
      }
      auto result = read_all(changed);
      if (!result) {
        ++refused;
        expect_reasons(result);
        continue;
      }
      // Headers have bytes without meaning. What is in the members has not.
      EXPECT_EQ(result->parameters, good->parameters);
      EXPECT_EQ(result->device, good->device);
      EXPECT_EQ(result->netlist.view(), good->netlist.view());
    }
  }
  EXPECT_GT(refused, 2000);
}

// Somebody who writes checksums of his own, or none, gets as far as the descriptions.
TEST(MutatedImages, ForgedDescriptionsAreRefusedOrRead) {
  Rng rng(7);
  int refused = 0, read = 0;
  const char* words[] = {"0",  "-1", "99999999999999999999", "1e9",          "null", "\"\"",
                         "[]", "{}", "\"../../x\"",          "[1, 1, 1, 1]", "true", "4096"};
  for (image::TensorStore store : {image::TensorStore::raw, image::TensorStore::tilized}) {
    auto members = image::read_archive(io::Bytes(image_bytes(store)), "m.tti");
    ASSERT_TRUE(members);
    members->erase("unzipped_tti/checksum.txt");
    for (int i = 0; i < 2500; ++i) {
      image::Members forged = *members;
      const char* names[] = {"unzipped_tti/device.json", "unzipped_tti/device.json", "unzipped_tti/backend_build_binaries/device_desc.yaml",
                             "unzipped_tti/net.yaml"};
      io::Bytes& member = forged.at(names[rng.below(4)]);
      std::string text(member.view());
      // Another value for a number or a word, wherever it stands.
      const std::size_t from = rng.below(text.size());
      const std::size_t begin = text.find_first_of("0123456789\"", from);
      if (begin == std::string::npos) continue;
      const std::size_t end = text.find_first_of(",}]\n", begin);
      text.replace(begin, (end == std::string::npos ? text.size() : end) - begin, words[rng.below(std::size(words))]);
      member = io::Bytes(text);
      auto result = read_all(archive_of(forged));
      if (result) {
        ++read;
      } else {
        ++refused;
        expect_reasons(result);
      }
    }
  }
  EXPECT_GT(refused, 1500);
  EXPECT_GT(read, 50);
}

}  // namespace
}  // namespace buda::runtime::test
