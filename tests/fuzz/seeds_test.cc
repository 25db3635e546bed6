#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

// The fuzzer's entry on texts of our own and on broken ones, so that it is built and holds with every
// compiler; searching for new texts is libFuzzer's work (the program parse_manifests_fuzz of a build with
// clang).
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

void Feed(const std::string& text) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(text.data()), text.size());
}

std::vector<std::string> Seeds() {
  std::vector<std::string> seeds;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("tests/fuzz/seeds")) {
    if (!entry.is_regular_file()) continue;
    std::ostringstream text;
    text << std::ifstream(entry.path(), std::ios::binary).rdbuf();
    seeds.push_back(text.str());
  }
  return seeds;
}

TEST(ParseManifestsFuzzTest, HoldsForSeeds) {
  const std::vector<std::string> seeds = Seeds();
  ASSERT_GE(seeds.size(), 4u);
  for (const std::string& seed : seeds) Feed(seed);
}

TEST(ParseManifestsFuzzTest, HoldsForTextsThatAreCutOff) {
  for (const std::string& seed : Seeds()) {
    for (size_t size = 0; size < seed.size(); size += 7) Feed(seed.substr(0, size));
  }
}

TEST(ParseManifestsFuzzTest, HoldsForTextsWithChangedBytes) {
  std::mt19937 random(1);
  const std::string bytes = "\n\t :-{}[]\"'&*!|>%@`#,?0z\xff";
  for (const std::string& seed : Seeds()) {
    for (int round = 0; round < 300 && !seed.empty(); ++round) {
      std::string text = seed;
      for (int change = 0; change < 3; ++change)
        text[random() % text.size()] = bytes[random() % bytes.size()];
      Feed(text);
    }
  }
}

}  // namespace
