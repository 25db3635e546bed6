#ifndef FAIRLEAD_CONFIG_READ_MANIFESTS_H_
#define FAIRLEAD_CONFIG_READ_MANIFESTS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/diagnostic.h"
#include "config/lost_policy.h"
#include "config/object.h"
#include "config/report.h"
#include "config/tree.h"

namespace fairlead::config {

struct ParseResult {
  std::vector<ConfigPtr> objects;  // the good ones, each key once, in the order of the text
  std::vector<ObjectKey> broken;   // there, but with mistakes: whoever has an earlier version goes on with it
  bool unreadable = false;         // a document could not be read so far that one knows whom it is about
  bool empty = true;               // there is no document at all: nothing, or comments
  std::vector<LostPolicy> lost_policies;  // there, and cannot be read; those in `broken` are among them
  std::vector<Diagnostic> diagnostics;
  // Where they were asked for: of each object its document as FlowText gives it, "" for Secrets.
  std::vector<std::string> documents;
};

// Whether objects are checked as an API server and Istio's webhook would, or have passed those.
enum class Admission { kChecked, kPassed };
// Whether the documents of objects are wanted as text. Those of Secrets never are.
enum class Documents { kDropped, kKept };

// Reads manifests, YAML or JSON, any number of documents, `kind: List` included. Strict: an object with an
// unknown field, a wrong type or a duplicate key, or that Istio would not admit (check/check.h), is left out,
// with a diagnostic for each mistake; the others count. What an API server would fill in is filled in. Kinds
// that a mesh does not read are passed over: in silence if they are Kubernetes' own, else with a warning. An
// object that is there twice counts the first time. `cluster` (see ObjectMeta) is whose objects they are. No
// diagnostic quotes a Secret, or a document whose kind is not known. Thread-safe; distinct texts may be
// parsed at once.
ParseResult ParseManifests(std::string_view text, const Interned& file,
                           Admission admission = Admission::kChecked,
                           Documents documents = Documents::kDropped, const Interned& cluster = {});

// Reads one document of a kind that is known, as ParseManifests does; null where it has mistakes. The object
// has the namespace, the name and the cluster of `key`.
ConfigPtr AdmitObject(const KindInfo& kind, const ObjectKey& key, Node document, Report& report);
// The same for an object that has been admitted elsewhere: only what cannot be read is a mistake.
ConfigPtr ParseObject(const KindInfo& kind, const ObjectKey& key, Node document, Report& report);
// The same for an object as an API server hands it out, which is admitted and has its defaults: unknown
// fields are passed over, and the document need not say what kind and version it has.
ConfigPtr ReadStoredObject(const KindInfo& kind, std::string_view api_version, const ObjectKey& key,
                           Node document, Report& report);

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_READ_MANIFESTS_H_
