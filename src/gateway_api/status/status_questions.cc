#include "gateway_api/status/status_questions.h"

#include "mesh/index/difference.h"

namespace fairlead::gateway_api::status_questions {
namespace {

using config::ConfigPtr;
using config::Kind;

template <typename Function>
void ForEachChangedObject(const StatusMoment& before, const StatusMoment& after, Function&& function) {
  for (const config::KindInfo& info : config::AllKinds()) {
    after.objects.All(info.kind).ForEachDifference(before.objects.All(info.kind),
                                                   [&](const auto& name, const ConfigPtr*, const ConfigPtr*) {
                                                     function(info.kind, name.first, name.second);
                                                   });
  }
}

template <typename Conversions>
typename Conversions::Entry::second_type FindIn(const Conversions& conversions, Kind kind, const Interned& ns,
                                                const Interned& name) {
  const auto* const found = conversions.Find({kind, ns, name});
  return found == nullptr ? nullptr : *found;
}

template <typename Conversions>
void CompareConversions(const Conversions& before, const Conversions& after, Visit visit) {
  after.ForEachDifference(
      before, [&](const auto& key, const auto* /*was*/, const auto* /*is*/) { visit(AsKey(key)); });
}

// Calls function with what each route that differs was, and is.
template <typename Function>
void ForEachChangedRoute(const StatusMoment& before, const StatusMoment& after, Function&& function) {
  after.translation.routes().ForEachDifference(
      before.translation.routes(),
      [&](const auto& /*key*/, const RouteConversionPtr* was, const RouteConversionPtr* is) {
        for (const RouteConversionPtr* one : {was, is}) {
          if (one != nullptr) function(**one);
        }
      });
}

}  // namespace

void WrittenObject::Difference(const StatusMoment& before, const StatusMoment& after, Visit visit) {
  ForEachChangedObject(before, after, [&](Kind kind, const Interned& ns, const Interned& name) {
    visit({kind, ns, name});
  });
}

std::vector<ConfigPtr> WrittenObjectsIn::Answer(const StatusInputs& inputs, Kind kind, const Interned& ns) {
  const auto& all = inputs.objects.All(kind);
  std::vector<ConfigPtr> found;
  for (auto at = all.LowerBound({ns, Interned()}); at != all.end() && at->first.first == ns; ++at)
    found.push_back(at->second);
  return found;
}

void WrittenObjectsIn::Difference(const StatusMoment& before, const StatusMoment& after, Visit visit) {
  ForEachChangedObject(before, after, [&](Kind kind, const Interned& ns, const Interned&) {
    visit({kind, ns});
  });
}

GatewayConversionPtr GatewayConversionOf::Answer(const StatusInputs& inputs, Kind kind, const Interned& ns,
                                                 const Interned& name) {
  return FindIn(inputs.translation.gateways(), kind, ns, name);
}

void GatewayConversionOf::Difference(const StatusMoment& before, const StatusMoment& after, Visit visit) {
  CompareConversions(before.translation.gateways(), after.translation.gateways(), visit);
}

RouteConversionPtr RouteConversionOf::Answer(const StatusInputs& inputs, Kind kind, const Interned& ns,
                                             const Interned& name) {
  return FindIn(inputs.translation.routes(), kind, ns, name);
}

void RouteConversionOf::Difference(const StatusMoment& before, const StatusMoment& after, Visit visit) {
  CompareConversions(before.translation.routes(), after.translation.routes(), visit);
}

PolicyConversionPtr PolicyConversionOf::Answer(const StatusInputs& inputs, Kind kind, const Interned& ns,
                                               const Interned& name) {
  return FindIn(inputs.translation.policies(), kind, ns, name);
}

void PolicyConversionOf::Difference(const StatusMoment& before, const StatusMoment& after, Visit visit) {
  CompareConversions(before.translation.policies(), after.translation.policies(), visit);
}

void AttachedRoutes::Difference(const StatusMoment& before, const StatusMoment& after, Visit visit) {
  ForEachChangedRoute(before, after, [&](const RouteConversion& route) {
    for (const Attachment& one : route.attachments) visit({one.parent_key.ns, one.parent_key.name});
  });
}

void GatewaysOfBackend::Difference(const StatusMoment& before, const StatusMoment& after, Visit visit) {
  ForEachChangedRoute(before, after, [&](const RouteConversion& route) {
    for (const auto& [gateway, backend] : route.named) visit(AsKey(backend));
  });
}

void RoutesToPool::Difference(const StatusMoment& before, const StatusMoment& after, Visit visit) {
  ForEachChangedRoute(before, after, [&](const RouteConversion& route) {
    for (const config::ObjectKey& pool : route.pools) visit(AsKey(pool));
  });
}

void HostServices::Difference(const StatusMoment& before, const StatusMoment& after, Visit visit) {
  mesh::ValuesOf<&mesh::MeshSnapshot::services, &mesh::ServiceIndex::hosts>(*before.snapshot, *after.snapshot,
                                                                            visit);
}

void HostEndpoints::Difference(const StatusMoment& before, const StatusMoment& after, Visit visit) {
  static const auto* const none = new mesh::NamespaceEndpoints();
  mesh::CompareIndexes(*before.snapshot, *after.snapshot, &mesh::MeshSnapshot::endpoints,
                       [&](const mesh::EndpointIndex& was, const mesh::EndpointIndex& is) {
                         is.namespaces().ForEachDifference(
                             was.namespaces(), [&](const Interned& ns, const auto* a, const auto* b) {
                               const auto& hosts = b == nullptr ? none->by_host() : (*b)->by_host();
                               hosts.ForEachDifference(
                                   a == nullptr ? none->by_host() : (*a)->by_host(),
                                   [&](const Interned& hostname, const auto*, const auto*) {
                                     visit({hostname, ns});
                                   });
                             });
                       });
}

}  // namespace fairlead::gateway_api::status_questions
