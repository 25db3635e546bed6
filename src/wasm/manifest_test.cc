#include "wasm/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"

namespace fairlead::wasm {
namespace {

std::string Part(std::string_view type, char digit, std::string_view more = "") {
  return StrCat(R"({"mediaType": ")", type, R"(", "digest": "sha256:)", std::string(64, digit),
                R"(", "size": 9)", more, "}");
}
std::string Image(const std::string& layers) {
  return StrCat(R"({"schemaVersion": 2, "layers": [)", layers, "]}");
}
std::string Index(const std::string& images) { return StrCat(R"({"manifests": [)", images, "]}"); }
std::string Platform(std::string_view os, std::string_view architecture) {
  return StrCat(R"(, "platform": {"os": ")", os, R"(", "architecture": ")", architecture, R"("})");
}

constexpr char kOciLayer[] = "application/vnd.oci.image.layer.v1.tar+gzip";
constexpr char kDockerLayer[] = "application/vnd.docker.image.rootfs.diff.tar.gzip";
constexpr char kModule[] = "application/vnd.module.wasm.content.layer.v1+wasm";
constexpr char kConfig[] = "application/vnd.module.wasm.config.v1+json";

char LayerOf(const std::string& manifest, bool archive) {
  const auto parsed = ParseManifest(manifest);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  const auto layer = ModuleLayerOf(*parsed);
  if (!layer.ok()) return '-';
  EXPECT_EQ(layer->archive, archive);
  EXPECT_EQ(layer->layer.size, 9u);
  return layer->layer.digest[0];
}

TEST(Manifest, TheModulesLayerIsTheLastArchiveOrTheOneOfTheModulesType) {
  EXPECT_EQ(LayerOf(Image(Part(kOciLayer, 'a')), true), 'a');
  EXPECT_EQ(LayerOf(Image(Part(kDockerLayer, 'a') + "," + Part(kDockerLayer, 'b')), true), 'b');
  EXPECT_EQ(LayerOf(Image(Part("application/vnd.oci.image.layer.v1.tar+zstd", 'a')), true), 'a');
  EXPECT_EQ(LayerOf(Image(Part("application/vnd.oci.image.layer.v1.tar", 'a')), true), 'a');
  EXPECT_EQ(LayerOf(Image(Part(kModule, 'a') + "," + Part(kConfig, 'b')), false), 'a');
  EXPECT_EQ(LayerOf(Image(Part("application/wasm", 'c')), false), 'c');
  EXPECT_EQ(LayerOf(Image(Part(kConfig, 'b')), false), '-');
  EXPECT_EQ(LayerOf(Image(""), false), '-');
}

TEST(Manifest, AnIndexLeadsToOneImage) {
  const auto chosen = [](const std::string& images) {
    const auto index = ParseManifest(Index(images));
    EXPECT_TRUE(index.ok() && index->is_index);
    const auto image = ImageOfIndex(*index);
    return image.ok() ? image->digest[0] : '-';
  };
  const std::string arm = Part("x", 'a', Platform("linux", "arm64"));
  EXPECT_EQ(chosen(arm + "," + Part("x", 'b', Platform("linux", "amd64"))), 'b');
  EXPECT_EQ(chosen(arm + "," + Part("x", 'b', Platform("wasip1", "wasm"))), 'b');
  EXPECT_EQ(chosen(arm + "," + Part("x", 'c')), 'c');
  EXPECT_EQ(chosen(arm), 'a') << "the only one";
  EXPECT_EQ(chosen(arm + "," + arm), '-');
  EXPECT_EQ(chosen(""), '-');
}

TEST(Manifest, WhatCannotBeReadIsAnError) {
  for (const std::string& text :
       {std::string(), std::string("[]"), std::string("{}"), std::string(R"({"layers": {}})"), Image("3"),
        Image(R"({"digest": "sha512:00", "size": 1})"), Image(R"({"digest": 5, "size": 1})"),
        Image(StrCat(R"({"digest": "sha256:)", std::string(64, 'a'), R"(", "size": -1})"))}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseManifest(text).status())) << text;
  }
}

}  // namespace
}  // namespace fairlead::wasm
