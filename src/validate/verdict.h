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
  // What Istio passes over without a word, such as unknown fields of a MeshConfig, and what has no effect
  // here (config/no_effect.h): warnings by severity; and scripts that no proxy compiles (config/lua.h), which
  // are errors.
  std::vector<config::Diagnostic> notes;
  config::ConfigPtr object = nullptr;  // null where there is none, or it is not valid
  bool valid() const;
};

// A verdict for each document of the text (of each item of a list), in order. A document whose kind is
// MeshConfig or MeshNetworks holds one in its spec; one without apiVersion and kind is one itself where its
// fields are theirs: with a field `networks` MeshNetworks, else MeshConfig. A ConfigMap named istio or
// istio-REVISION is checked with the settings in its data, `mesh` and `meshNetworks`. Kubernetes' own kinds
// that a mesh does not read get none, those of others a note.
std::vector<Verdict> Validate(std::string_view text, const std::string& file);

}  // namespace fairlead::validate

#endif  // FAIRLEAD_VALIDATE_VERDICT_H_
