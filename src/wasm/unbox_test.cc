#include "wasm/unbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wasm/box_fake.h"

namespace fairlead::wasm {
namespace {

constexpr size_t kMost = 1 << 20;

TEST(Unbox, AModuleIsFoundInWhatItComesIn) {
  const std::string module = FakeModule("code");
  for (const std::string& box :
       {module, Gzip(module), Tar({{"a.wasm", module}}), Gzip(Tar({{"a.wasm", module}})), Gzip(Gzip(module)),
        Zstd(module), Zstd(Tar({{"a.wasm", module}}))}) {
    const auto found = Unbox(box, kMost);
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(*found, module);
  }
}

TEST(Unbox, WhatIsNoModuleIsSaidToBeNone) {
  std::string deep = FakeModule();
  for (int i = 0; i < 6; ++i) deep = Gzip(deep);
  for (const std::string& box : {std::string(), std::string("<html>"), std::string("\0asm", 4), Gzip("text"),
                                 Tar({}), Tar({{"a", "b"}}), Gzip(FakeModule()).substr(0, 20),
                                 Zstd(FakeModule()).substr(0, 15), Zstd(FakeModule()) + "more", deep}) {
    EXPECT_TRUE(absl::IsInvalidArgument(Unbox(box, kMost).status())) << box.size();
  }
}

TEST(Unbox, ABombIsNotUnpacked) {
  const std::string bomb = Gzip(FakeModule(std::string(kMost, 'x')));
  EXPECT_LT(bomb.size(), 20'000u);
  EXPECT_TRUE(absl::IsResourceExhausted(Unbox(bomb, kMost).status()));
  EXPECT_TRUE(absl::IsResourceExhausted(FileOfLayer(bomb, "plugin.wasm", kMost).status()));
}

TEST(Unbox, ABombOfZstdIsNotUnpacked) {
  const std::string bomb = Zstd(FakeModule(std::string(kMost, 'x')));
  EXPECT_LT(bomb.size(), 1'000u);
  EXPECT_TRUE(absl::IsResourceExhausted(Unbox(bomb, kMost).status()));
  EXPECT_TRUE(absl::IsResourceExhausted(FileOfLayer(bomb, "plugin.wasm", kMost).status()));
}

TEST(Unbox, MembersOfGzipAndFramesOfZstdFollowEachOther) {
  const std::string module = FakeModule(std::string(500'000, '7'));
  const std::string first = module.substr(0, 300'000), rest = module.substr(300'000);
  for (const std::string& box : {Gzip(first) + Gzip(rest), Zstd(first) + Zstd(rest)}) {
    const auto found = Unbox(box, kMost);
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(*found, module);
  }
}

TEST(FileOfLayer, IsFoundByItsNameInAnyFolder) {
  const std::string long_name = std::string(120, 'd') + "/plugin.wasm";
  const std::string pax = "142 path=" + long_name + "\n";
  ASSERT_EQ(pax.size(), 142u);
  for (const std::string& archive :
       {Tar({{"other", "x"}, {"plugin.wasm", "it"}}), Tar({{"./a/plugin.wasm", "it"}}),
        TarEntry("a/", "", '5') + TarEntry("x", pax, 'x') + Tar({{"cut", "it"}}),
        TarEntry("././@LongLink", long_name, 'L') + Tar({{"cut", "it"}})}) {
    for (const std::string& layer : {Gzip(archive), Zstd(archive), archive}) {
      const auto found = FileOfLayer(layer, "plugin.wasm", kMost);
      ASSERT_TRUE(found.ok()) << found.status();
      EXPECT_EQ(*found, "it");
    }
  }
}

TEST(FileOfLayer, BrokenArchivesAreErrors) {
  const std::string whole = Tar({{"plugin.wasm", std::string(600, 'x')}});
  std::string wrong_sum = whole;
  wrong_sum[0] = 'q';
  for (const std::string& archive : {whole.substr(0, 1000), wrong_sum, Tar({{"aplugin.wasm", "x"}})})
    EXPECT_TRUE(absl::IsInvalidArgument(FileOfLayer(Gzip(archive), "plugin.wasm", kMost).status()));
  EXPECT_FALSE(FileOfLayer("text", "plugin.wasm", kMost).ok()) << "neither compressed nor an archive";
  // A link of that name has no content that is its own.
  EXPECT_FALSE(FileOfLayer(Gzip(TarEntry("plugin.wasm", "", '2')), "plugin.wasm", kMost).ok());
}

}  // namespace
}  // namespace fairlead::wasm
