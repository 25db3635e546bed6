#include "app/validate_command.h"

#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "app/verdict.h"
#include "base/strings.h"

namespace fairlead::app {
namespace {

constexpr int kWrongCall = 2;

std::optional<std::string> ReadText(const std::string& path) {
  if (path == "-") return std::string(std::istreambuf_iterator<char>(std::cin), {});
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
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
  return {{"file", verdict.file},
          {"line", verdict.line},
          {"kind", verdict.kind},
          {"namespace", verdict.ns},
          {"name", verdict.name},
          {"valid", verdict.valid()},
          {"errors", ToJson(verdict.diagnostics, config::Severity::kError)},
          {"warnings", ToJson(verdict.diagnostics, config::Severity::kWarning)}};
}

void PrintText(const Verdict& verdict) {
  std::set<std::string> seen;
  for (const config::Diagnostic& one : verdict.diagnostics) {
    const std::string_view severity = one.severity == config::Severity::kError ? "error" : "warning";
    std::string text = StrCat(verdict.file, ":", one.line, ": ", severity, ": ");
    if (!verdict.kind.empty()) {
      StrAppend(&text, verdict.kind, " ", verdict.ns, verdict.ns.empty() ? "" : "/", verdict.name, ": ");
    }
    if (!one.path.empty()) StrAppend(&text, one.path, ": ");
    StrAppend(&text, one.message);
    if (seen.insert(text).second) std::cout << text << "\n";
  }
}

}  // namespace

int RunValidate(const std::vector<std::string>& arguments) {
  std::vector<std::string> files;
  std::string output = "text";
  CLI::App command("Says whether Istio would admit the objects of files", "fairlead validate");
  command.add_option("-f,--file", files, "files of manifests or a MeshConfig; - is the standard input")
      ->required();
  command.add_option("-o,--output", output, "text or json")->check(CLI::IsMember({"text", "json"}));
  try {
    command.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& error) {
    return command.exit(error) == 0 ? 0 : kWrongCall;
  }
  std::vector<Verdict> verdicts;
  for (const std::string& path : files) {
    const std::optional<std::string> text = ReadText(path);
    if (!text) {
      std::cerr << "fairlead validate: cannot read " << path << std::endl;
      return kWrongCall;
    }
    std::vector<Verdict> more = Validate(*text, path);
    std::move(more.begin(), more.end(), std::back_inserter(verdicts));
  }
  bool valid = true;
  nlohmann::json list = nlohmann::json::array();
  for (const Verdict& verdict : verdicts) {
    valid = valid && verdict.valid();
    if (output == "json") {
      list.push_back(ToJson(verdict));
    } else {
      PrintText(verdict);
    }
  }
  if (output == "json")
    std::cout << list.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << std::endl;
  return valid ? 0 : 1;
}

}  // namespace fairlead::app
