#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

// A fuzzer's entry on its seeds, cut off and with changed bytes, so that it is built and holds with every
// compiler; searching for new inputs is libFuzzer's work.
//
//   NAME_replay FOLDER    its files and changed ones
//   NAME_replay FILE      this alone
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

constexpr size_t kCuts = 150;  // of a seed
constexpr int kChanges = 300;  // of a seed

// Of the input that is being fed: written to a file where it breaks an invariant.
std::string_view fed;

void KeepInput(int) {
  std::ofstream("broken-input", std::ios::binary) << fed;
  std::_Exit(1);
}

// Of processor time: an input that takes longer breaks an invariant, too.
constexpr double kMostSeconds = 10;

void Feed(std::string_view bytes) {
  fed = bytes;
  const std::clock_t before = std::clock();
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  const double seconds = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  if (seconds < kMostSeconds) return;
  std::cerr << "an input of " << bytes.size() << " bytes takes " << seconds << " s\n";
  KeepInput(0);
}

std::string ContentOf(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<std::string> SeedsIn(const char* folder) {
  std::vector<std::string> seeds;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    seeds.push_back(ContentOf(entry.path()));
  }
  return seeds;
}

void FeedCutOff(const std::string& seed) {
  const size_t step = seed.size() / kCuts + 1;
  for (size_t size = 0; size < seed.size(); size += step) Feed(std::string_view(seed).substr(0, size));
}

void FeedChanged(const std::string& seed, std::mt19937* random) {
  constexpr std::string_view kBytes = "\n\t :-{}[]\"'&*!|>%@`#,?0z\x01\xff";
  if (seed.empty()) return;
  for (int round = 0; round < kChanges; ++round) {
    std::string bytes = seed;
    for (int change = 0; change < 3; ++change)
      bytes[(*random)() % bytes.size()] = kBytes[(*random)() % kBytes.size()];
    Feed(bytes);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  if (std::filesystem::is_regular_file(argv[1])) {
    Feed(ContentOf(argv[1]));
    return 0;
  }
  const std::vector<std::string> seeds = SeedsIn(argv[1]);
  if (seeds.empty()) {
    std::cerr << "no seeds\n";
    return 1;
  }
  std::signal(SIGABRT, KeepInput);
  std::mt19937 random(1);
  for (const std::string& seed : seeds) {
    Feed(seed);
    FeedCutOff(seed);
    FeedChanged(seed, &random);
  }
  std::cout << seeds.size() << " seeds hold\n";
  return 0;
}
