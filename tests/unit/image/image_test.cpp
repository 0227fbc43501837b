// SPDX-License-Identifier: Apache-2.0
// Images: their parts come back, and damage is found and named.
#include <buda/base/text.hpp>
#include <buda/image/image.hpp>

#include <buda/base/rng.hpp>
#include <buda/image/checksum.hpp>
#include <buda/io/memory_file_system.hpp>
#include <buda/io/sha256.hpp>
#include <buda/tensor/formats/tile_layout.hpp>
#include <buda/tensor/tensor.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace buda::image {
namespace {

using testing::AllOf;
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

std::string bytes_of(const Image& image, TensorStore store = TensorStore::raw) {
  io::MemoryFileSystem fs;
  auto out = fs.create("m.tti", io::WriteMode::always);
  auto written = write_image(**out, image, 1, store);
  EXPECT_TRUE(written) << written.failure().diagnostics().front().message;
  EXPECT_TRUE((*out)->commit());
  return std::string(fs.find("m.tti")->view());
}

Result<Image> parse(const std::string& bytes) { return read_image(io::Bytes(bytes), "m.tti"); }
std::string error_of(const Result<Image>& r) {
  return r.ok() ? "(no error)" : cat(r.failure().diagnostics().front().code, ": ", r.failure().diagnostics().front().message);
}

TEST(Checksum, KnownDigests) {
  // FIPS 180-4, examples of SHA-256.
  EXPECT_EQ(io::sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(io::sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Checksum, ListsAreReadAndMistakesPlaced) {
  std::string digest = io::sha256_hex("abc");
  auto list = parse_checksums(digest + "  a b\n" + digest + " *c\n", "l");
  ASSERT_TRUE(list);
  EXPECT_EQ(list->at("a b"), digest);
  EXPECT_EQ(list->at("c"), digest);
  EXPECT_TRUE(parse_checksums(digest + "\n", "l")->empty());
  auto bad = parse_checksums(digest + "  a\nnonsense\n", "l");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.failure().diagnostics().front().loc.line, 2u);
  EXPECT_EQ(bad.failure().diagnostics().front().code, "IM008");
  EXPECT_EQ(parse_checksums(digest + "  a\n" + digest + "  a\n", "l").failure().diagnostics().front().message, "a second digest for 'a'");
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
  EXPECT_THAT(with_entry([&](std::string& j, Members&) { replace(j, "[1, 1, 2, 2]", "[1, 1, 2, 3]"); }),
              AllOf(HasSubstr("IM007: tensor for queue"), HasSubstr("strides")));
  EXPECT_THAT(with_entry([&](std::string& j, Members&) { replace(j, "[1, 1, 2, 2]", "[9, 1, 2, 2]"); }),
              AllOf(HasSubstr("IM007: "), HasSubstr("has 16 bytes")));
  EXPECT_THAT(with_entry([&](std::string& j, Members&) { replace(j, "[1, 1, 2, 2]", "[-1, 1, 2, 2]"); }), HasSubstr("no volume"));
  EXPECT_THAT(with_entry([&](std::string& j, Members&) { replace(j, "\"Float32\"", "\"Bfp8\""); }),
              HasSubstr("not one that a host tensor can have"));
  EXPECT_THAT(with_entry([&](std::string&, Members& m) { m.erase("unzipped_tti/tensors/torch.Tensor.fc1_w.bin"); }),
              HasSubstr("is missing"));
  EXPECT_THAT(with_entry([&](std::string&, Members& m) { m.erase("unzipped_tti/mlp.yaml"); }), HasSubstr("netlist 'mlp.yaml'"));
}

// An image whose netlist has the queues of its parameters: a ram of 2 x 2 buffers and one of integers.
Image image_with_queues(const std::string& format, const std::string& order) {
  Image image = small_image();
  image.netlist = io::Bytes(
      "devices: {arch: wormhole_b0}\nqueues:\n"
      "  w: {type: ram, input: HOST, entries: 2, grid_size: [2, 2], t: 3, mblock: [2, 1], ublock: [1, 2], ublock_order: " +
      order + ", df: " + format +
      ", target_device: 0, loc: dram, dram: [[0, 0x20000000], [1, 0x20000000], [2, 0x20000000], [3, 0x20000000]]}\n"
      "  n: {type: ram, input: HOST, entries: 1, grid_size: [1, 1], t: 1, mblock: [1, 1], ublock: [1, 1], ublock_order: r, df: RawUInt32, "
      "target_device: 0, loc: dram, dram: [[4, 0x20000000]]}\n"
      "graphs: {}\nprograms: []\n");
  image.parameters.clear();
  std::vector<float> values(2 * 3 * 128 * 128);
  // Numbers of few bits, so that every format of eight bits of mantissa and a common exponent holds them.
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 61) / 64;
  image.parameters.emplace("w", Tensor(Shape{2, 3, 128, 128}, std::move(values)));
  image.parameters.emplace("n", Tensor(Shape{1, 1, 32, 32}, std::vector<std::int32_t>(1024, 7)));
  return image;
}

TEST(Image, ParametersAreStoredInFourForms) {
  const Image image = image_with_queues("Float16_b", "r");
  for (TensorStore store : {TensorStore::raw, TensorStore::tilized, TensorStore::npy, TensorStore::safetensors}) {
    auto again = parse(bytes_of(image, store));
    ASSERT_TRUE(again) << error_of(again);
    EXPECT_EQ(again->parameters, image.parameters) << static_cast<int>(store);
    const char* ending[] = {".bin", ".tbin", ".npy", ".safetensors"};
    EXPECT_THAT(again->device.tensors.at("w").bin, testing::EndsWith(ending[static_cast<int>(store)]));
    if (store == TensorStore::tilized)
      EXPECT_THAT(again->device.tensors.at("n").bin, testing::EndsWith(".bin")) << "integers are not tilized";
  }
}

// A tile has a header of 16 bytes, and for Bfp8_b 64 exponents. Buffer (0, 1) begins with the tile at row 0, column 64.
TEST(Image, TilizedParametersLieAsInTheirQueue) {
  const Image image = image_with_queues("Bfp8_b", "c");
  auto members = read_archive(io::Bytes(bytes_of(image, TensorStore::tilized)), "m.tti");
  ASSERT_TRUE(members);
  const std::string_view tiles = members->at("unzipped_tti/tensors/torch.Tensor.w.tbin").view();
  const std::size_t tile = 1120, buffer = 2 * 3 * 4 * tile;  // 16 + 64 + 1024, filled up to 32
  ASSERT_EQ(tiles.size(), 4 * buffer);
  auto again = parse(bytes_of(image, TensorStore::tilized));
  ASSERT_TRUE(again) << error_of(again);
  EXPECT_EQ(again->parameters, image.parameters);
  EXPECT_EQ(again->device.tensors.at("w").num_buffers, 4);
  EXPECT_EQ(again->device.tensors.at("w").buf_size_bytes, static_cast<std::int64_t>(buffer));
  // Of a tile of the file, the value at its place in the model.
  const auto values = image.parameters.at("w").as<float>();
  auto expect_tile = [&](std::size_t number, std::size_t entry, std::size_t t, std::size_t row, std::size_t column) {
    std::vector<float> datums(1024);
    ASSERT_TRUE(unpack_matrix({DataFormat::bfp8_b}, tiles.substr(number * tile, tile), std::span<float>(datums), 32, 32)) << number;
    for (std::size_t r = 0; r < 32; ++r)
      for (std::size_t c = 0; c < 32; ++c)
        ASSERT_EQ(datums[r * 32 + c], values[((entry * 3 + t) * 128 + row + r) * 128 + column + c]) << number;
  };
  // Of the first buffer: a ublock of two tiles, the ublock below it, then the next t; after 12 tiles the second entry. A buffer has 24.
  expect_tile(0, 0, 0, 0, 0);
  expect_tile(1, 0, 0, 0, 32);
  expect_tile(2, 0, 0, 32, 0);
  expect_tile(4, 0, 1, 0, 0);
  expect_tile(12, 1, 0, 0, 0);
  expect_tile(24, 0, 0, 0, 64);
  expect_tile(48 + 3, 0, 0, 96, 32);
  expect_tile(95, 1, 2, 96, 96);
}

TEST(Image, LiesAboutTilizedParametersAreFound) {
  auto with = [&](const std::string& from, const std::string& to) {
    auto members = read_archive(io::Bytes(bytes_of(image_with_queues("Bfp8_b", "r"), TensorStore::tilized)), "m.tti");
    members->erase("unzipped_tti/checksum.txt");
    std::string json(members->at("unzipped_tti/device.json").view());
    auto at = json.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    json.replace(at, from.size(), to);
    (*members)["unzipped_tti/device.json"] = io::Bytes(json);
    io::MemoryFileSystem fs;
    auto out = fs.create("a", io::WriteMode::always);
    EXPECT_TRUE(write_archive(**out, *members));
    EXPECT_TRUE((*out)->commit());
    return error_of(parse(std::string(fs.find("a")->view())));
  };
  EXPECT_EQ(with("\"buf_size_bytes\"", "\"buffer_size_bytes\""), "(no error)") << "the other name of TT-Buda";
  EXPECT_THAT(with("\"num_buffers\": 4", "\"num_buffers\": 5"),
              HasSubstr("IM007: tensor for queue 'w': it has 5 buffers of 26880 bytes, the queue has 4 of 26880"));
  EXPECT_THAT(with("\"Bfp8_b\"", "\"Float16_b\""), HasSubstr("its tiles are Float16_b, the queue's are Bfp8_b"));
  EXPECT_THAT(with("[2, 3, 128, 128]", "[2, 3, 128, 64]"), HasSubstr("its shape is [2, 3, 128, 64], the queue's is [2, 3, 128, 128]"));
  EXPECT_THAT(with("torch.Tensor.w.tbin", "torch.Tensor.n.bin"), HasSubstr("not one that a host tensor can have"));
}

// A pickle is named, and what it would do is not done.
TEST(Image, ArchivesWithPicklesAreRefusedByName) {
  auto members = read_archive(io::Bytes(bytes_of(small_image())), "m.tti");
  members->erase("unzipped_tti/checksum.txt");
  std::string json(members->at("unzipped_tti/device.json").view());
  json.replace(json.find("\"host_plan\""), 11, "\"other_plan\"");
  (*members)["unzipped_tti/device.json"] = io::Bytes(json);
  (*members)["unzipped_tti/tensors/torch.Tensor.w.pkl"] = io::Bytes(std::string("cos\nsystem\n(S'touch /nowhere'\ntR."));
  io::MemoryFileSystem fs;
  auto out = fs.create("a", io::WriteMode::always);
  ASSERT_TRUE(write_archive(**out, *members));
  ASSERT_TRUE((*out)->commit());
  const io::Bytes archive(std::string(fs.find("a")->view()));
  auto image = read_image(archive, "m.tti");
  ASSERT_FALSE(image);
  const Diagnostic& d = image.failure().diagnostics().front();
  EXPECT_EQ(d.code, "IM006");
  ASSERT_EQ(d.notes.size(), 1u);
  EXPECT_EQ(d.notes[0].message, "1 tensor is pickled (tensors/torch.Tensor.w.pkl): pickles are programs, and none is executed here");
  // It can be described all the same.
  auto there = read_members(archive, "m.tti");
  ASSERT_TRUE(there);
  auto description = read_description(*there, "m.tti");
  ASSERT_TRUE(description) << description.failure().diagnostics().front().message;
  EXPECT_EQ(description->plan.inputs.front().queue, "q_in");
  EXPECT_EQ(description->plan.inputs.front().shape, (std::vector<std::int64_t>{4, 8}));
}

TEST(Image, SettingsComeBack) {
  Image image = small_image();
  image.settings = {{"optimizer.opt-level", "1"}, {"PYBUDA_AMP_LIGHT", "2"}};
  auto again = parse(bytes_of(image));
  ASSERT_TRUE(again) << error_of(again);
  EXPECT_EQ(again->settings, image.settings);
}

TEST(Image, IsToldFromOtherFiles) {
  EXPECT_TRUE(looks_like_image(bytes_of(small_image())));
  EXPECT_FALSE(looks_like_image("devices:\n"));
  EXPECT_FALSE(looks_like_image(""));
}

}  // namespace
}  // namespace buda::image
