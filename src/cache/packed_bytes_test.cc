#include "cache/packed_bytes.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace fairlead::cache {

class DamagedBytes {
 public:
  static void Damage(PackedBytes* packed) { std::memset(packed->bytes_.get(), 0xff, packed->stored_); }
};

namespace {

// Some `size` bytes of which each is as likely as any other.
std::string Noise(size_t size, uint32_t seed) {
  std::mt19937 random(seed);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

// Bytes that differ from each other in a few places only.
std::string Similar(int number) {
  std::string bytes = Noise(600, 1);
  return bytes.replace(100, 4, std::to_string(1000 + number)) + std::to_string(number);
}

TEST(PackedBytes, AreWhatTheyWere) {
  BytePacker packer;
  for (const size_t size : {0, 1, 127, 128, 129, 4000, 70000, 300000}) {
    for (const std::string& bytes : {Noise(size, 7), std::string(size, 'a')}) {
      const PackedBytes packed = packer.Pack("kind", bytes);
      EXPECT_EQ(packed.size(), size);
      EXPECT_EQ(packed.Unpacked(), bytes);
      std::string out = "before";
      packed.AppendTo(&out);
      EXPECT_EQ(out, "before" + bytes);
    }
  }
}

TEST(PackedBytes, AreSmallWhereAnEarlierOneIsLikeThem) {
  BytePacker packer;
  for (int i = 0; i < 100; ++i) {
    const PackedBytes packed = packer.Pack("kind", Similar(i));
    EXPECT_TRUE(packed.packed());
    EXPECT_LT(packed.footprint(), 150u);
    EXPECT_EQ(packed.Unpacked(), Similar(i));
  }
}

TEST(PackedBytes, WhatIsLikeNothingIsPlain) {
  BytePacker packer;
  packer.Pack("kind", Noise(1000, 1));
  const PackedBytes other = packer.Pack("kind", Noise(1000, 2));
  EXPECT_FALSE(other.packed());
  EXPECT_EQ(other.plain(), Noise(1000, 2));
}

TEST(PackedBytes, ADictionaryThatServesNobodyMakesWay) {
  BytePacker packer;
  packer.Pack("kind", Noise(600, 99));
  bool packed = false;
  for (int i = 0; i < 40; ++i) packed = packer.Pack("kind", Similar(i)).packed();
  EXPECT_TRUE(packed);
}

TEST(PackedBytes, KindsDoNotMeet) {
  BytePacker packer;
  packer.Pack("one", Similar(1));
  const PackedBytes first = packer.Pack("two", Noise(600, 5));
  EXPECT_TRUE(first.packed()) << "it is its own dictionary";
  EXPECT_TRUE(packer.Pack("one", Similar(2)).packed());
}

TEST(PackedBytes, OutliveTheirPacker) {
  PackedBytes packed;
  {
    BytePacker packer;
    packer.Pack("kind", Similar(1));
    packed = packer.Pack("kind", Similar(2));
  }
  EXPECT_EQ(packed.Unpacked(), Similar(2));
}

TEST(PackedBytes, WhatIsDamagedIsNotPassedOn) {
  BytePacker packer;
  PackedBytes packed = packer.Pack("kind", std::string(1000, 'a'));
  ASSERT_TRUE(packed.packed());
  DamagedBytes::Damage(&packed);
  EXPECT_DEATH(packed.Unpacked(), "packed bytes are damaged");
}

TEST(PackedBytes, ThreadsPackAtOnce) {
  BytePacker packer;
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&packer, thread] {
      for (int i = 0; i < 200; ++i) {
        const std::string bytes = i % 3 == 0 ? Noise(500, static_cast<uint32_t>(i + thread)) : Similar(i);
        EXPECT_EQ(packer.Pack("kind", bytes).Unpacked(), bytes);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace fairlead::cache
