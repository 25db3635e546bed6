#ifndef FAIRLEAD_VALIDATE_VERDICT_H_
#define FAIRLEAD_VALIDATE_VERDICT_H_

#include <string>
#include <string_view>
#include <vector>

#include "config/diagnostic.h"
#include "config/object.h"

namespace fairlead::validate {

// Whether Istio would admit one object, and why not.
struct Verdict {
  std::string file;
  int line = 0;
  std::string kind, ns, name;  // "" where the text does not say
  std::vector<config::Diagnostic> diagnostics;
  // Warnings by severity: parts that Istio silently ignores, such as unknown fields of a MeshConfig, and
  // parts without effect here (config/read/no_effect.h). Scripts that no proxy compiles are errors
  // (config/read/lua.h).
  std::vector<config::Diagnostic> notes;
  config::ConfigPtr object = nullptr;  // null where there is none, or it is not valid
  bool valid() const;
};

// A verdict for each document of the text (of each item of a list), in order. A document of kind MeshConfig
// or MeshNetworks holds the settings in its spec. A document without apiVersion and kind can be the settings
// themselves: with a field `networks` MeshNetworks, otherwise MeshConfig. A ConfigMap named istio or
// istio-REVISION is checked with the settings in its data, `mesh` and `meshNetworks`. Kubernetes' own kinds
// that a mesh does not read get none, those of others a note.
std::vector<Verdict> Validate(std::string_view text, const std::string& file);

}  // namespace fairlead::validate

#endif  // FAIRLEAD_VALIDATE_VERDICT_H_
