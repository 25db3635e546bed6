#ifndef FAIRLEAD_GATEWAY_API_WORLD_H_
#define FAIRLEAD_GATEWAY_API_WORLD_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/labels.h"
#include "config/object.h"
#include "config/store.h"
#include "gateway_api/parent.h"
#include "model/features.h"

namespace fairlead::gateway_api {

// Something that a translation asked: its answer is part of what the translation depends on.
struct Lookup {
  enum class About : uint8_t {
    kObject,     // one object: key.kind, key.ns, key.name
    kNamespace,  // all objects of a kind in a namespace
    kKind,       // all objects of a kind; of Namespace: those that are used, too
    kParents,    // the listeners of a Gateway or ListenerSet
    kSets,       // the ListenerSets that name a Gateway
  };
  About about = About::kObject;
  config::ObjectKey key;

  friend bool operator==(const Lookup&, const Lookup&) = default;
  friend bool operator<(const Lookup& a, const Lookup& b) {
    return std::tie(a.about, a.key) < std::tie(b.about, b.key);
  }
};

// What translations look things up in that a Translation keeps; see there.
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

// The one door from a translation to the objects of the mesh: notes what is asked, misses included. Objects
// that are labelled for another revision are not there, but for Gateways. Lives as long as one translation.
// Not thread-safe.
class Lookups {
 public:
  Lookups(const config::ObjectStore& objects, const DerivedLookups& derived, std::string_view domain,
          const model::Features& features)
      : objects_(objects), derived_(derived), domain_(domain), features_(features) {}

  std::string_view domain() const { return domain_; }
  const model::Features& features() const { return features_; }
  // Null where there is none.
  config::ConfigPtr Find(config::Kind kind, std::string_view ns, std::string_view name);
  bool Has(config::Kind kind, std::string_view ns, std::string_view name) {
    return Find(kind, ns, name) != nullptr;
  }
  // In the order of their names.
  std::vector<config::ConfigPtr> In(config::Kind kind, std::string_view ns);
  std::vector<config::ConfigPtr> All(config::Kind kind);
  // Labels of all namespaces by their names, with the label that an API server gives each.
  std::map<std::string, LabelMap, std::less<>> Namespaces();
  ParentsPtr ParentsOf(config::Kind kind, std::string_view ns, std::string_view name);
  // The ListenerSets that name a Gateway, by their keys.
  std::vector<config::ConfigPtr> SetsOf(const config::ObjectKey& gateway);

  // Whether there is a service of the host in the namespace: a Kubernetes one by its name, or a
  // ServiceEntry's.
  bool HasService(std::string_view hostname, std::string_view ns);
  // "<name>.<ns>.svc.<domain>".
  std::string ServiceHost(std::string_view name, std::string_view ns) const;

  // What was asked so far, each once, sorted.
  std::vector<Lookup> TakeQuestions();

 private:
  void Note(Lookup::About about, config::ObjectKey key) { questions_.push_back({about, std::move(key)}); }

  const config::ObjectStore& objects_;
  const DerivedLookups& derived_;
  const std::string domain_;
  const model::Features& features_;
  std::vector<Lookup> questions_;
};

// Whether the object is for this control plane, by its label istio.io/rev.
bool InRevision(const config::ConfigObject& object);

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_WORLD_H_
