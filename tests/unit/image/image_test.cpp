// Images: their parts come back, and damage is found and named.
#include <buda/image/image.hpp>

#include <buda/base/rng.hpp>
#include <buda/image/checksum.hpp>
#include <buda/io/memory_file_system.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace buda::image {
namespace {

using testing::HasSubstr;

Image small_image() {
  Image image;
  image.device.name = "mlp";
  image.device.arch = "wormhole_b0";
  image.device.grid = {8, 8};
  image.device.harvested_rows = {0};
  image.device.microbatch = 1;
  image.device.plan.model = "mlp";
  image.device.plan.device = "n150";
  image.device.plan.arch = "wormhole_b0";
  image.device.plan.inputs = {{"x",
                               "F32",
                               {4, 8},
                               "q_in",
                               {{host_plan::TransformKind::reshape, {1, 1, 4, 8}, 0}, {host_plan::TransformKind::pad, {0, 0, 28, 24}, 0}}}};
  image.device.plan.outputs = {{"y", "F32", {1, 1, 32, 32}, "q_out", {}}};
  image.device.plan.segments = {{host_plan::SegmentKind::device, "mlp.yaml", {"run_fwd"}}};
  image.netlist_name = "mlp.yaml";
  image.netlist = io::Bytes(std::string("devices: {arch: wormhole_b0}\n"));
  image.build["temporal_epoch_0/overlay/blob.yaml"] = io::Bytes(std::string("phases\n"));
  image.parameters.emplace("fc1/w", Tensor(Shape{1, 1, 2, 2}, std::vector<float>{1, 2, 3, 4}));
  image.parameters.emplace("fc1_w", Tensor(Shape{1, 1, 1, 2}, std::vector<std::int32_t>{-1, 1}));
  return image;
}

std::string bytes_of(const Image& image) {
  io::MemoryFileSystem fs;
  auto out = fs.create("m.tti", io::WriteMode::always);
  auto written = write_image(**out, image);
  EXPECT_TRUE(written) << written.failure().diagnostics().front().message;
  EXPECT_TRUE((*out)->commit());
  return std::string(fs.find("m.tti")->view());
}

Result<Image> parse(const std::string& bytes) { return read_image(io::Bytes(bytes), "m.tti"); }
std::string error_of(const Result<Image>& r) { return r.ok() ? "(no error)" : r.failure().diagnostics().front().message; }

TEST(Checksum, KnownDigests) {
  // FIPS 180-4, examples of SHA-256.
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Checksum, ListsAreReadAndMistakesPlaced) {
  std::string digest = sha256_hex("abc");
  auto list = parse_checksums(digest + "  a b\n" + digest + " *c\n", "l");
  ASSERT_TRUE(list);
  EXPECT_EQ(list->at("a b"), digest);
  EXPECT_EQ(list->at("c"), digest);
  EXPECT_TRUE(parse_checksums(digest + "\n", "l")->empty());
  auto bad = parse_checksums(digest + "  a\nnonsense\n", "l");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.failure().diagnostics().front().loc.line, 2u);
}

TEST(Image, PartsComeBack) {
  Image image = small_image();
  auto again = parse(bytes_of(image));
  ASSERT_TRUE(again) << error_of(again);
  EXPECT_EQ(again->device.plan, image.device.plan);
  EXPECT_EQ(again->device.grid, image.device.grid);
  EXPECT_EQ(again->netlist.view(), image.netlist.view());
  EXPECT_EQ(again->parameters, image.parameters);
  ASSERT_EQ(again->build.size(), 1u);
  EXPECT_EQ(again->build.begin()->second.view(), "phases\n");
  EXPECT_TRUE(again->extras.empty());
}

// The layout that TT-Buda's loader knows.
TEST(Image, HasTheLayoutOfTtBuda) {
  auto members = read_archive(io::Bytes(bytes_of(small_image())), "m.tti");
  ASSERT_TRUE(members);
  std::vector<std::string> names;
  for (const auto& [name, bytes] : *members) names.push_back(name);
  EXPECT_THAT(names,
              testing::ElementsAre("unzipped_tti/backend_build_binaries/temporal_epoch_0/overlay/blob.yaml", "unzipped_tti/checksum.txt",
                                   "unzipped_tti/compile_and_runtime_config.json", "unzipped_tti/device.json", "unzipped_tti/mlp.yaml",
                                   "unzipped_tti/tensors/torch.Tensor.fc1_w.bin", "unzipped_tti/tensors/torch.Tensor.fc1_w_2.bin"));
  std::string json(members->at("unzipped_tti/device.json").view());
  EXPECT_THAT(json, HasSubstr(R"("netlist_filename": "unzipped_tti/mlp.yaml")"));
  EXPECT_THAT(json, HasSubstr(R"("strides": [16, 16, 8, 4])"));
  EXPECT_EQ(members->at("unzipped_tti/tensors/torch.Tensor.fc1_w.bin").size(), 16u);
}

TEST(Image, SameImageSameBytes) { EXPECT_EQ(bytes_of(small_image()), bytes_of(small_image())); }

TEST(Image, DamageIsNamed) {
  std::string bytes = bytes_of(small_image());
  auto at = bytes.find("phases\n");
  bytes[at] = 'P';
  EXPECT_THAT(error_of(parse(bytes)), HasSubstr("'backend_build_binaries/temporal_epoch_0/overlay/blob.yaml' is damaged"));
}

TEST(Image, CutAndChangedAnywhereGivesADiagnostic) {
  const std::string bytes = bytes_of(small_image());
  // Up to the last member's data every cut takes something away.
  std::size_t content = bytes.size() - 1024 - 512;
  for (std::size_t i = 0; i < 200; ++i) {
    auto result = parse(bytes.substr(0, content * i / 200));
    ASSERT_FALSE(result.ok()) << i;
    EXPECT_FALSE(error_of(result).empty());
  }
  Rng rng(3);
  int refused = 0;
  for (int i = 0; i < 1000; ++i) {
    std::string changed = bytes;
    auto at = rng.below(changed.size());
    changed[at] = static_cast<char>(changed[at] ^ (1 << rng.below(8)));
    auto result = parse(changed);
    if (result) {
      // Only padding and fields of headers that carry no information (times, owners) may change unnoticed; the content may not.
      EXPECT_EQ(result->parameters, small_image().parameters);
      EXPECT_EQ(result->device.plan, small_image().device.plan);
    } else {
      ++refused;
    }
  }
  EXPECT_GT(refused, 300);
}

TEST(Image, ForeignArchivesAreExplained) {
  auto archive_of = [](const Members& members) {
    io::MemoryFileSystem fs;
    auto out = fs.create("a", io::WriteMode::always);
    EXPECT_TRUE(write_archive(**out, members));
    EXPECT_TRUE((*out)->commit());
    return std::string(fs.find("a")->view());
  };
  EXPECT_THAT(error_of(parse(archive_of({{"readme", io::Bytes(std::string("hi"))}}))), HasSubstr("is not in unzipped_tti/"));
  EXPECT_THAT(error_of(parse(archive_of({{"unzipped_tti/readme", io::Bytes(std::string("hi"))}}))), HasSubstr("no device.json"));
  EXPECT_THAT(error_of(parse(archive_of({{"unzipped_tti/device.json", io::Bytes(std::string("{\"version\": \"1.1.0\"}"))}}))),
              HasSubstr("no 'host_plan'"));
  EXPECT_THAT(error_of(parse(archive_of({{"unzipped_tti/device.json", io::Bytes(std::string("{"))}}))), HasSubstr(""));
}

TEST(Image, TensorEntriesAreCheckedAgainstTheirBytes) {
  // Checksums hold, but device.json tells lies: written by a program, not damaged.
  auto with_entry = [](auto change) {
    auto members = read_archive(io::Bytes(bytes_of(small_image())), "m.tti");
    members->erase("unzipped_tti/checksum.txt");
    std::string json(members->at("unzipped_tti/device.json").view());
    change(json, *members);
    (*members)["unzipped_tti/device.json"] = io::Bytes(json);
    io::MemoryFileSystem fs;
    auto out = fs.create("a", io::WriteMode::always);
    EXPECT_TRUE(write_archive(**out, *members));
    EXPECT_TRUE((*out)->commit());
    return error_of(parse(std::string(fs.find("a")->view())));
  };
  auto replace = [](std::string& text, const std::string& from, const std::string& to) {
    auto at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
  };
  EXPECT_THAT(with_entry([&](std::string& j, Members&) { replace(j, "[1, 1, 2, 2]", "[1, 1, 2, 3]"); }), HasSubstr("strides"));
  EXPECT_THAT(with_entry([&](std::string& j, Members&) { replace(j, "[1, 1, 2, 2]", "[9, 1, 2, 2]"); }), HasSubstr("has 16 bytes"));
  EXPECT_THAT(with_entry([&](std::string& j, Members&) { replace(j, "[1, 1, 2, 2]", "[-1, 1, 2, 2]"); }), HasSubstr("no volume"));
  EXPECT_THAT(with_entry([&](std::string& j, Members&) { replace(j, "\"Float32\"", "\"Bfp8\""); }),
              HasSubstr("not one that a host tensor can have"));
  EXPECT_THAT(with_entry([&](std::string&, Members& m) { m.erase("unzipped_tti/tensors/torch.Tensor.fc1_w.bin"); }),
              HasSubstr("is missing"));
  EXPECT_THAT(with_entry([&](std::string&, Members& m) { m.erase("unzipped_tti/mlp.yaml"); }), HasSubstr("netlist 'mlp.yaml'"));
}

TEST(Image, IsToldFromOtherFiles) {
  EXPECT_TRUE(looks_like_image(bytes_of(small_image())));
  EXPECT_FALSE(looks_like_image("devices:\n"));
  EXPECT_FALSE(looks_like_image(""));
}

}  // namespace
}  // namespace buda::image
