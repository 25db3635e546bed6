#include "gateway_api/conversion_questions.h"

#include "gateway_api/revision.h"

namespace fairlead::gateway_api::conversion_questions {
namespace {

using config::ConfigPtr;
using config::Kind;

// Gateways are seen whatever their revision: routes may be moved before them. Core kinds have none.
bool Counts(const ConfigPtr& object, std::string_view revision) {
  if (object == nullptr) return false;
  if (object->kind() == Kind::kKubernetesGateway) return true;
  const config::KindInfo& info = config::InfoOf(object->kind());
  return info.payload == config::PayloadType::kStruct || InRevision(*object, revision);
}

}  // namespace

ConfigPtr NamedObject::Answer(const ConversionSources& sources, Kind kind, const Interned& ns,
                              const Interned& name) {
  ConfigPtr object = sources.objects.Find(kind, ns, name);
  return Counts(object, sources.revision) ? object : nullptr;
}

std::vector<ConfigPtr> NamespaceObjects::Answer(const ConversionSources& sources, Kind kind,
                                                const Interned& ns) {
  const auto& all = sources.objects.All(kind);
  std::vector<ConfigPtr> found;
  for (auto at = all.LowerBound({ns, Interned()}); at != all.end() && at->first.first == ns; ++at) {
    if (Counts(at->second, sources.revision)) found.push_back(at->second);
  }
  return found;
}

std::vector<ConfigPtr> KindObjects::Answer(const ConversionSources& sources, Kind kind) {
  std::vector<ConfigPtr> found;
  for (const auto& [name, object] : sources.objects.All(kind)) {
    if (Counts(object, sources.revision)) found.push_back(object);
  }
  return found;
}

}  // namespace fairlead::gateway_api::conversion_questions
