#include "app/agent_version.h"

#include <iostream>
#include <string_view>
#include <utility>

#include "agent/bootstrap/node_metadata.h"
#include "app/version.h"
#include "base/go_bool.h"
#include "base/json.h"
#include "base/strings.h"

namespace fairlead::app {
namespace {

constexpr int kWrongCall = 2;

// Fields in the order and by the names of Istio's version.BuildInfo: in Go's form, and in JSON.
struct Field {
  std::string_view go, json;
  std::string value;
};

std::vector<Field> BuildInfo() {
  const std::string own = StrCat("fairlead-", kVersion);
  return {{"Version", "version", std::string(agent::SupportedIstioVersion())},
          {"GitRevision", "revision", own},
          {"GolangVersion", "golang_version", "none"},
          {"BuildStatus", "status", "Clean"},
          {"GitTag", "tag", own}};
}

std::string Text() {
  std::vector<std::string> fields;
  for (const Field& field : BuildInfo()) fields.push_back(StrCat(field.go, ":\"", field.value, "\""));
  return StrCat("client version: version.BuildInfo{", Join(fields, ", "), "}");
}

std::string Json() {
  nlohmann::ordered_json info;
  for (const Field& field : BuildInfo()) info[std::string(field.json)] = field.value;
  return JsonText(nlohmann::ordered_json{{"clientVersion", std::move(info)}}, 2);
}

std::string Yaml() {
  std::string text = "clientVersion:\n";
  for (const Field& field : BuildInfo()) text += StrCat("  ", field.json, ": ", field.value, "\n");
  return text;
}

int Wrong(std::string_view why) {
  std::cerr << "fairlead agent version: " << why << "\n";
  return kWrongCall;
}

}  // namespace

int RunAgentVersion(const std::vector<std::string>& arguments) {
  std::string output;
  bool is_short = false;
  for (size_t at = 0; at < arguments.size(); ++at) {
    const std::string& word = arguments[at];
    if (word == "--help" || word == "-h") {
      std::cout
          << "usage: fairlead agent version [-s] [-o json|yaml]; prints the version in pilot-agent's form"
          << std::endl;
      return 0;
    }
    if (word == "-s" || word == "--short") {
      is_short = true;
    } else if (word.starts_with("--short=")) {
      is_short = ParseGoBool(word.substr(8)).value_or(false);
    } else if (word == "-o" || word == "--output") {
      if (++at == arguments.size()) return Wrong("a value must follow -o");
      output = arguments[at];
    } else if (word.starts_with("--output=")) {
      output = word.substr(9);
    } else if (word.starts_with("-o")) {
      output = word.substr(2);
    } else {
      return Wrong(StrCat("\"", word, "\" is not expected"));
    }
  }
  if (output.empty()) {
    std::cout << (is_short ? StrCat("client version: ", agent::SupportedIstioVersion()) : Text())
              << std::endl;
  } else if (output == "json" || output == "yaml") {
    std::cout << (output == "json" ? Json() : Yaml()) << std::endl;
  } else {
    return Wrong("--output must be 'yaml' or 'json'");
  }
  return 0;
}

}  // namespace fairlead::app
