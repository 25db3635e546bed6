#include "validate/validate_command.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/errno_text.h"
#include "base/files.h"
#include "base/strings.h"
#include "config/references.h"
#include "config/store.h"
#include "source/file/file_source.h"
#include "source/file/folder_scanner.h"
#include "validate/verdict_output.h"

namespace fairlead::validate {
namespace {

constexpr int kWrongCall = 2;

std::optional<std::string> ReadText(const std::string& path) {
  if (path == "-") return std::string(std::istreambuf_iterator<char>(std::cin), {});
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

int WrongCall(std::string_view why) {
  std::cerr << "fairlead validate: " << why << std::endl;
  return kWrongCall;
}

// The files that a folder would be read from as --configDir, or the path itself.
std::vector<std::string> FilesOf(const std::string& path) {
  if (!IsFolder(path)) return {path};
  source::ScanOptions options;
  options.wants = source::IsManifestName;
  std::vector<std::string> files;
  for (const auto& [file, info] : source::ScanFolder(path, options).files) files.push_back(file);
  return files;
}

// Of the folder's objects that stand in several files those that do not count, as in --configDir: the first
// path counts.
void ReportDuplicates(std::span<Verdict> verdicts) {
  std::map<config::ObjectKey, const Verdict*> seen;
  for (Verdict& verdict : verdicts) {
    if (verdict.object == nullptr) continue;
    const auto [it, first] = seen.try_emplace(KeyOf(*verdict.object), &verdict);
    if (first || it->second->file == verdict.file) continue;
    config::Diagnostic& diagnostic = verdict.diagnostics.emplace_back();
    diagnostic.code = "duplicate-object";
    diagnostic.file = verdict.file;
    diagnostic.line = verdict.line;
    diagnostic.object = it->first;
    diagnostic.message =
        StrCat("the same object is in ", it->second->file, ":", it->second->line, ", which counts");
  }
}

// Adds what the folder's objects refer to and nobody has: a folder is a mesh, a file is not.
void ReportLostReferences(std::span<Verdict> verdicts) {
  config::ObjectStore store;
  std::map<config::ObjectKey, Verdict*> by_key;
  for (Verdict& verdict : verdicts) {
    if (verdict.object == nullptr || !by_key.try_emplace(KeyOf(*verdict.object), &verdict).second) continue;
    store.Apply(std::vector<config::ObjectChange>{{KeyOf(*verdict.object), verdict.object}});
  }
  for (config::Diagnostic& one : config::FindLostReferences(store, store, "cluster.local"))
    by_key.at(*one.object)->diagnostics.push_back(std::move(one));
}

// The verdicts on all files, and how many there are; or why not.
struct Outcome {
  std::vector<Verdict> verdicts;
  size_t files = 0;
  std::string wrong_call;  // "" if it was none
};
Outcome ValidateAll(const std::vector<std::string>& paths) {
  Outcome outcome;
  for (const std::string& path : paths) {
    const std::vector<std::string> found = FilesOf(path);
    if (found.empty()) return {{}, 0, StrCat("no manifests in ", path)};
    const size_t before = outcome.verdicts.size();
    for (const std::string& file : found) {
      errno = 0;
      const std::optional<std::string> text = ReadText(file);
      if (!text) return {{}, 0, StrCat("cannot read ", file, ": ", ErrnoText(errno == 0 ? EIO : errno))};
      ++outcome.files;
      std::vector<Verdict> more = Validate(*text, file);
      std::move(more.begin(), more.end(), std::back_inserter(outcome.verdicts));
    }
    if (!IsFolder(path)) continue;
    ReportDuplicates(std::span(outcome.verdicts).subspan(before));
    ReportLostReferences(std::span(outcome.verdicts).subspan(before));
  }
  return outcome;
}

}  // namespace

int RunValidate(const std::vector<std::string>& arguments) {
  std::vector<std::string> flagged, paths;
  std::string output = "text";
  bool strict = false;
  CLI::App command("Tells whether Istio would admit the objects of files", "fairlead validate");
  command.add_option(
      "FILE", paths,
      "files or folders of manifests, MeshConfig and MeshNetworks too; - is the standard input");
  command.add_option("-f,--file", flagged, "the same");
  command.add_option("-o,--output", output, StrCat("one of ", Join(OutputFormats(), ", ")))
      ->check(CLI::IsMember(OutputFormats()));
  command.add_flag("--strict", strict, "warnings and notes make an object invalid, too");
  try {
    command.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& error) {
    return command.exit(error) == 0 ? 0 : kWrongCall;
  }
  paths.insert(paths.begin(), flagged.begin(), flagged.end());
  if (paths.empty()) return WrongCall("name a file or folder, or - for the standard input");
  const Outcome outcome = ValidateAll(paths);
  if (!outcome.wrong_call.empty()) return WrongCall(outcome.wrong_call);
  Write(outcome.verdicts, output, std::cout);
  const Totals totals = Count(outcome.verdicts);
  if (output == "text") std::cerr << Summary(totals, outcome.files) << std::endl;
  return totals.errors > 0 || (strict && totals.warnings + totals.notes > 0) ? 1 : 0;
}

}  // namespace fairlead::validate
