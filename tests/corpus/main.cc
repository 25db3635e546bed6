// The conformance cases in one process: what the generators make for each case's proxies, compared with what
// istiod sent.
//
//   corpus --cases FOLDER [--filter TEXT] [--kinds clusters,routes] [--show N] [--known-failures FILE]
//   [--laws only]: check the laws of laws.h instead of the goldens
//   [--names golden]: ask for the endpoints and routes that the golden has
//
// A golden may have a name table ("nameTable") too, and "@leave": kind -> names of resources that say
// nothing. Prints resources equal / total by area and kind. With --known-failures, a file of lines "AREA/CASE
// # why": exit 1 if a case fails that is not listed or a listed one passes; without, if any case fails.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>

#include "base/strings.h"
#include "tests/corpus/case.h"
#include "tests/corpus/compare.h"
#include "tests/corpus/generate.h"
#include "tests/corpus/laws.h"
#include "tests/corpus/mesh_of_objects.h"

namespace fairlead::corpus {
namespace {

struct Options {
  std::string cases, filter, known_failures;
  std::vector<std::string> kinds;
  int show = 0;
  bool golden_names = false;
  bool laws = false;
};

// Whether everything that the case's proxies are sent equals the golden.
bool Run(const Options& options, const std::string& name, Tally* tally) {
  std::vector<std::string> notes;
  bool same = true;
  const auto one = LoadCase(options.cases, name);
  if (!one.ok()) {
    notes.push_back(std::string(FromAbsl(one.status().message())));
    same = false;
  } else {
    for (const auto& diagnostic : one->diagnostics) {
      if (diagnostic.severity == config::Severity::kError) notes.push_back(ToText(diagnostic));
    }
    Generators generators;
    const mesh::SnapshotPtr snapshot = MeshOfObjects(one->settings).Apply(one->objects);
    for (const NamedProxy& proxy : one->proxies) {
      const nlohmann::json golden = one->Golden(proxy.name);
      Resources got = generators.For(*snapshot, proxy.proxy, options.golden_names ? &golden : nullptr);
      if (golden.contains("nameTable")) got["nameTable"] = {generators.NameTable(*snapshot, proxy.proxy)};
      same &= Compare(got, golden, one->area, proxy.name, options.kinds, tally, &notes);
    }
  }
  if (!same && options.show > 0) {
    std::printf("--- %s\n", name.c_str());
    for (size_t i = 0; i < notes.size() && i < static_cast<size_t>(options.show); ++i) {
      std::printf("    %s\n", notes[i].c_str());
    }
  }
  return same;
}

std::set<std::string> ReadKnownFailures(const std::string& file) {
  std::set<std::string> names;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const std::string_view name = Trim(std::string_view(line).substr(0, line.find('#')));
    if (!name.empty()) names.emplace(name);
  }
  return names;
}

void PrintTable(const Tally& tally, size_t passed, size_t asked) {
  std::printf("%-14s%-12s%7s%7s\n", "area", "type", "equal", "total");
  Count all;
  for (const auto& [key, count] : tally) {
    std::printf("%-14s%-12s%7d%7d\n", key.first.c_str(), key.second.c_str(), count.equal, count.total);
    all.equal += count.equal;
    all.total += count.total;
  }
  std::printf("resources %d/%d = %.1f%%  cases %zu/%zu = %.1f%%\n", all.equal, all.total,
              100.0 * all.equal / std::max(all.total, 1), passed, asked,
              100.0 * static_cast<double>(passed) / static_cast<double>(std::max<size_t>(asked, 1)));
}

// The laws of laws.h on every case; how many cases break one.
int CheckLaws(const Options& options, const std::vector<std::string>& names) {
  int wrong = 0;
  auto before = LoadCase(options.cases, names.back());
  for (const std::string& name : names) {
    auto one = LoadCase(options.cases, name);
    const auto broken = one.ok() ? BrokenLaws(*one, before.ok() ? *before : *one)
                                 : std::vector<std::string>{std::string(FromAbsl(one.status().message()))};
    before = std::move(one);
    for (const std::string& law : broken) std::printf("%s: %s\n", name.c_str(), law.c_str());
    wrong += !broken.empty();
  }
  std::printf("the laws hold in %zu of %zu cases\n", names.size() - static_cast<size_t>(wrong), names.size());
  return wrong;
}

int Main(const Options& options) {
  const auto names = FindCases(options.cases, options.filter);
  if (names.empty()) {
    std::fprintf(stderr, "corpus: no case below %s matches '%s'\n", options.cases.c_str(),
                 options.filter.c_str());
    return 2;
  }
  if (options.laws) return CheckLaws(options, names) > 0 ? 1 : 0;
  const auto known = ReadKnownFailures(options.known_failures);
  Tally tally;
  size_t passed = 0;
  int wrong = 0;
  for (const std::string& name : names) {
    const bool same = Run(options, name, &tally);
    passed += same;
    if (options.known_failures.empty()) {
      wrong += !same;
    } else if (!same && !known.contains(name)) {
      std::printf("FAILED, and not a known failure: %s\n", name.c_str());
      ++wrong;
    } else if (same && known.contains(name)) {
      std::printf("passes, but is listed as a known failure: %s\n", name.c_str());
      ++wrong;
    }
  }
  PrintTable(tally, passed, names.size());
  return wrong > 0 ? 1 : 0;
}

bool ReadOptions(int argc, char** argv, Options* options) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view flag = argv[i], value = argv[i + 1];
    if (flag == "--cases") {
      options->cases = value;
    } else if (flag == "--filter") {
      options->filter = value;
    } else if (flag == "--known-failures") {
      options->known_failures = value;
    } else if (flag == "--show") {
      options->show = std::atoi(argv[i + 1]);
    } else if (flag == "--laws") {
      options->laws = value == "only";
    } else if (flag == "--names") {
      options->golden_names = value == "golden";
    } else if (flag == "--kinds") {
      for (std::string_view kind : Split(value, ',')) options->kinds.emplace_back(kind);
    } else {
      return false;
    }
  }
  return argc % 2 == 1 && !options->cases.empty();
}

}  // namespace
}  // namespace fairlead::corpus

int main(int argc, char** argv) {
  fairlead::corpus::Options options;
  if (!fairlead::corpus::ReadOptions(argc, argv, &options)) {
    std::fprintf(
        stderr,
        "usage: corpus --cases FOLDER [--filter TEXT] [--kinds K,K] [--show N] [--known-failures FILE]\n");
    return 2;
  }
  return fairlead::corpus::Main(options);
}
