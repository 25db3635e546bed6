#ifndef FAIRLEAD_GATEWAY_API_CONVERSION_QUESTIONS_H_
#define FAIRLEAD_GATEWAY_API_CONVERSION_QUESTIONS_H_

#include <string_view>
#include <vector>

#include "config/object.h"
#include "config/store.h"
#include "gateway_api/parent.h"
#include "gateway_api/question.h"

namespace fairlead::gateway_api {

// What conversions look things up in that a Translation keeps; see there.
class DerivedLookups {
 public:
  virtual ~DerivedLookups() = default;
  // Null where there are none.
  virtual ParentsPtr ParentsOf(const config::ObjectKey& key) const = 0;
  // Keys of the ListenerSets whose parent is this Gateway.
  virtual std::vector<config::ObjectKey> SetsOf(const config::ObjectKey& gateway) const = 0;
  // Namespaces of routes and ListenerSets. Those that no Namespace object is for count as well.
  virtual std::vector<Interned> UsedNamespaces() const = 0;
};

// What conversions ask.
struct ConversionSources {
  const config::ObjectStore& objects;
  const DerivedLookups& derived;
  std::string_view revision;  // of this control plane
};

// Changes that the translation itself finds, besides those of objects.
struct ParentsChange {
  config::ObjectKey owner;
};
struct ListenerSetsChange {
  config::ObjectKey gateway;
};
struct UsedNamespacesChange {};

}  // namespace fairlead::gateway_api

// Questions of conversions. Objects that are labelled for another revision are not there, but for Gateways.
namespace fairlead::gateway_api::conversion_questions {

// Null: there is none.
struct NamedObject {
  static config::ConfigPtr Answer(const ConversionSources& sources, config::Kind kind, const Interned& ns,
                                  const Interned& name);
  static void Difference(const config::ObjectChange& change, Visit visit) { visit(AsKey(change.key)); }
};

// The objects of a kind in a namespace, in the order of their names.
struct NamespaceObjects {
  static std::vector<config::ConfigPtr> Answer(const ConversionSources& sources, config::Kind kind,
                                               const Interned& ns);
  static void Difference(const config::ObjectChange& change, Visit visit) {
    visit({change.key.kind, change.key.ns});
  }
};

struct KindObjects {
  static std::vector<config::ConfigPtr> Answer(const ConversionSources& sources, config::Kind kind);
  static void Difference(const config::ObjectChange& change, Visit visit) { visit(change.key.kind); }
};

struct UsedNamespaces {
  static std::vector<Interned> Answer(const ConversionSources& sources) {
    return sources.derived.UsedNamespaces();
  }
  static void Difference(const UsedNamespacesChange& /*change*/, Visit visit) { visit({}); }
};

// The listeners of a Gateway or ListenerSet. Null: there are none.
struct ListenersOf {
  static ParentsPtr Answer(const ConversionSources& sources, config::Kind kind, const Interned& ns,
                           const Interned& name) {
    return sources.derived.ParentsOf({kind, ns, name});
  }
  static void Difference(const ParentsChange& change, Visit visit) { visit(AsKey(change.owner)); }
};

// The ListenerSets that name a Gateway.
struct ListenerSetsOf {
  static std::vector<config::ObjectKey> Answer(const ConversionSources& sources, config::Kind kind,
                                               const Interned& ns, const Interned& name) {
    return sources.derived.SetsOf({kind, ns, name});
  }
  static void Difference(const ListenerSetsChange& change, Visit visit) { visit(AsKey(change.gateway)); }
};

using OfConversions =
    mesh::Rows<NamedObject, NamespaceObjects, KindObjects, UsedNamespaces, ListenersOf, ListenerSetsOf>;

}  // namespace fairlead::gateway_api::conversion_questions

#endif  // FAIRLEAD_GATEWAY_API_CONVERSION_QUESTIONS_H_
