#include "source/file/parsed_file.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <string_view>
#include <thread>
#include <utility>

#include "base/strings.h"
#include "base/thread.h"
#include "source/file/folder_scanner.h"
#include "source/file/read_file.h"

namespace fairlead::source {
namespace {

constexpr int64_t kNanosASecond = 1'000'000'000;

// The parts as one text, each on the lines that it was on as far as there is room.
std::string TextOf(const GoodFile& file) {
  std::string text;
  int line = 1;
  for (const GoodFile::Part& part : file.parts) {
    if (line > 1) text += '\n', ++line;
    for (; line < part.line; ++line) text += '\n';
    StrAppend(&text, "--- ", part.text);
    line += static_cast<int>(std::count(part.text.begin(), part.text.end(), '\n'));
  }
  return text;
}

}  // namespace

absl::StatusOr<ParsedFile> ParseFile(const std::string& path, const LastGood* kept) {
  ParsedFile file;
  FileInfo info;
  if (StatFile(path, &info)) file.time = info.fingerprint.modified_ns / kNanosASecond;
  absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return text.status();
  if (kept != nullptr && !kept->read_only()) {
    file.text = StableHash(*text);
    file.to_keep = !kept->Holds(path, file.text);
  }
  file.result = config::ParseManifests(*text, path, config::Admission::kChecked,
                                       file.to_keep ? config::Documents::kKept : config::Documents::kDropped);
  return file;
}

ParsedFiles ParseAll(const std::vector<FileChange>& changes, int threads, const LastGood* kept) {
  ParsedFiles results(changes.size());
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < changes.size(); i = next++) {
      if (changes[i].kind != FileChange::Kind::kGone) results[i] = ParseFile(changes[i].path, kept);
    }
  };
  std::vector<std::thread> helpers;
  for (size_t i = 1; i < std::min<size_t>(static_cast<size_t>(threads), changes.size()); ++i) {
    if (auto helper = StartThread(work); helper.ok()) helpers.push_back(*std::move(helper));
  }
  work();
  for (std::thread& helper : helpers) helper.join();
  return results;
}

std::vector<FileCatalog::Version> VersionsOf(const GoodFile& file) {
  std::map<std::string_view, int64_t> times;
  for (const GoodFile::Part& part : file.parts) times[part.key] = part.time;
  std::vector<FileCatalog::Version> versions;
  for (config::ConfigPtr& object : config::ParseManifests(TextOf(file), file.path).objects) {
    const int64_t time = times[config::Describe(KeyOf(*object))];
    versions.push_back({std::move(object), time, true});
  }
  return versions;
}

}  // namespace fairlead::source
