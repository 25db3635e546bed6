#include "config/read/stored_object.h"

#include <utility>

#include "config/metadata.h"
#include "config/read/lua.h"
#include "config/read/manifests.h"
#include "config/read/no_effect.h"
#include "config/report.h"

namespace fairlead::config {
namespace {

// What is worth saying of an object that counts.
void NoteRemarks(const KindInfo& kind, Node document, const ConfigObject& object, Report& report) {
  if (kind.payload == PayloadType::kProto)
    NoteLuaMistakes(kind.kind, document, object.Spec<google::protobuf::Message>(), report);
  NoteNoEffect(kind.kind, document, report);
}

}  // namespace

StoredObject ReadStored(const KindInfo& kind, std::string_view api_version, Node document,
                        const Interned& cluster) {
  StoredObject stored;
  stored.key = ReadKey(kind, document);
  if (!stored.key) return stored;
  stored.key->cluster = cluster;
  Report report{Interned()};
  report.SetObject(*stored.key);
  report.SetQuoting(QuotingOf(kind.kind));
  stored.object = ReadStoredObject(kind, api_version, *stored.key, document, report);
  if (stored.object != nullptr) {
    NoteRemarks(kind, document, *stored.object, report);
  } else if (IsPolicyKind(kind.kind)) {
    stored.lost_policy = LostPolicyOf(document, report.file());
  }
  stored.diagnostics = report.Take();
  return stored;
}

}  // namespace fairlead::config
