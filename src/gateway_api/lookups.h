#ifndef FAIRLEAD_GATEWAY_API_LOOKUPS_H_
#define FAIRLEAD_GATEWAY_API_LOOKUPS_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/labels.h"
#include "config/object.h"
#include "config/store.h"
#include "gateway_api/conversion_questions.h"
#include "model/features.h"

namespace fairlead::gateway_api {

// The one door from a conversion to the objects of the mesh: notes what is asked, misses included. Lives as
// long as one conversion. Not thread-safe.
class Lookups {
 public:
  Lookups(const config::ObjectStore& objects, const DerivedLookups& derived, std::string_view domain,
          const model::Features& features)
      : sources_{objects, derived, features.revision}, domain_(domain), features_(features) {}
  Lookups(const Lookups&) = delete;
  Lookups& operator=(const Lookups&) = delete;

  std::string_view domain() const { return domain_; }
  const model::Features& features() const { return features_; }
  // Null where there is none.
  config::ConfigPtr Find(config::Kind kind, std::string_view ns, std::string_view name);
  bool Has(config::Kind kind, std::string_view ns, std::string_view name) {
    return Find(kind, ns, name) != nullptr;
  }
  // In the order of their names.
  std::vector<config::ConfigPtr> In(config::Kind kind, std::string_view ns);
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

  std::vector<Question> TakeQuestions() { return asker_.TakeQuestions(); }

 private:
  const ConversionSources sources_;
  const std::string domain_;
  const model::Features& features_;
  RowAsker<ConversionSources, conversion_questions::OfConversions> asker_{sources_};
};

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_LOOKUPS_H_
