#include "validate/validate_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/files.h"
#include "base/json.h"
#include "base/strings.h"
#include "source/file/file_source.h"
#include "source/file/folder_scanner.h"
#include "validate/verdict.h"

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

nlohmann::json ToJson(const std::vector<config::Diagnostic>& diagnostics, config::Severity severity) {
  nlohmann::json list = nlohmann::json::array();
  std::set<std::pair<std::string, std::string>> seen;
  for (const config::Diagnostic& one : diagnostics) {
    if (one.severity != severity || !seen.insert({one.path, one.message}).second) continue;
    list.push_back({{"path", one.path}, {"code", one.code}, {"line", one.line}, {"message", one.message}});
  }
  return list;
}

nlohmann::json ToJson(const Verdict& verdict) {
  nlohmann::json json = {{"file", verdict.file},
                         {"line", verdict.line},
                         {"kind", verdict.kind},
                         {"namespace", verdict.ns},
                         {"name", verdict.name},
                         {"valid", verdict.valid()},
                         {"errors", ToJson(verdict.diagnostics, config::Severity::kError)},
                         {"warnings", ToJson(verdict.diagnostics, config::Severity::kWarning)}};
  if (!verdict.notes.empty()) json["notes"] = ToJson(verdict.notes, config::Severity::kWarning);
  return json;
}

void PrintText(const Verdict& verdict, const std::vector<config::Diagnostic>& diagnostics,
               std::string_view warning) {
  std::set<std::string> seen;
  for (const config::Diagnostic& one : diagnostics) {
    const std::string_view severity = one.severity == config::Severity::kError ? "error" : warning;
    std::string text = StrCat(verdict.file, ":", one.line, ": ", severity, ": ");
    if (!verdict.kind.empty()) {
      StrAppend(&text, verdict.kind);
      if (!verdict.name.empty())
        StrAppend(&text, " ", verdict.ns, verdict.ns.empty() ? "" : "/", verdict.name);
      StrAppend(&text, ": ");
    }
    if (!one.path.empty()) StrAppend(&text, one.path, ": ");
    StrAppend(&text, one.message);
    if (seen.insert(text).second) std::cout << text << "\n";
  }
}

void Print(const std::vector<Verdict>& verdicts, bool as_json) {
  if (!as_json) {
    for (const Verdict& verdict : verdicts) {
      PrintText(verdict, verdict.diagnostics, "warning");
      PrintText(verdict, verdict.notes, "note");
    }
    return;
  }
  nlohmann::json list = nlohmann::json::array();
  for (const Verdict& verdict : verdicts) list.push_back(ToJson(verdict));
  std::cout << JsonText(list, 2) << std::endl;
}

}  // namespace

int RunValidate(const std::vector<std::string>& arguments) {
  std::vector<std::string> files;
  std::string output = "text";
  CLI::App command("Says whether Istio would admit the objects of files", "fairlead validate");
  command
      .add_option("-f,--file", files,
                  "files or folders of manifests, MeshConfig and MeshNetworks too; - is the standard input")
      ->required();
  command.add_option("-o,--output", output, "text or json")->check(CLI::IsMember({"text", "json"}));
  try {
    command.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& error) {
    return command.exit(error) == 0 ? 0 : kWrongCall;
  }
  std::vector<Verdict> verdicts;
  for (const std::string& path : files) {
    const std::vector<std::string> found = FilesOf(path);
    if (found.empty()) return WrongCall(StrCat("no manifests in ", path));
    for (const std::string& file : found) {
      const std::optional<std::string> text = ReadText(file);
      if (!text) return WrongCall(StrCat("cannot read ", file));
      std::vector<Verdict> more = Validate(*text, file);
      std::move(more.begin(), more.end(), std::back_inserter(verdicts));
    }
  }
  Print(verdicts, output == "json");
  const bool valid =
      std::all_of(verdicts.begin(), verdicts.end(), [](const Verdict& one) { return one.valid(); });
  return valid ? 0 : 1;
}

}  // namespace fairlead::validate
