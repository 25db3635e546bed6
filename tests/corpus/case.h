#ifndef FAIRLEAD_TESTS_CORPUS_CASE_H_
#define FAIRLEAD_TESTS_CORPUS_CASE_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "config/diagnostic.h"
#include "config/object.h"
#include "model/proxy.h"
#include "model/settings.h"
#include "nlohmann/json.hpp"

// A conformance case: a folder with input.yaml, proxies.yaml, golden/ and, where they are needed, mesh.yaml,
// networks.yaml and env, variables of the server's environment.
namespace fairlead::corpus {

struct NamedProxy {
  std::string name;
  model::ProxyPtr proxy;
};

struct Case {
  std::string name;  // AREA/CASE
  std::string area;
  std::vector<config::ConfigPtr> objects;
  std::vector<config::Diagnostic> diagnostics;
  model::SettingsPtr settings;
  std::vector<NamedProxy> proxies;

  // What istiod sent that proxy: kind ("clusters", …) -> list of resources.
  nlohmann::json Golden(const std::string& proxy) const;

  std::string folder;
};

// Reads a case.
absl::StatusOr<Case> LoadCase(const std::string& root, const std::string& name);

// The names (AREA/CASE, sorted) of all cases below `root` that contain `filter`.
std::vector<std::string> FindCases(const std::string& root, const std::string& filter);

}  // namespace fairlead::corpus

#endif  // FAIRLEAD_TESTS_CORPUS_CASE_H_
