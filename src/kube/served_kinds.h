#ifndef FAIRLEAD_KUBE_SERVED_KINDS_H_
#define FAIRLEAD_KUBE_SERVED_KINDS_H_

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/kind.h"
#include "config/read/json_fields.h"
#include "config/tree.h"

namespace fairlead::kube {

// Which of the kinds that are read an API server has, and in which version it is read: by what discovery
// said, and by the CustomResourceDefinitions, which know better. One thread at a time.
class ServedKinds {
 public:
  // `kinds`: those that are read.
  explicit ServedKinds(std::vector<config::KindInfo> kinds = config::AllKinds()) : kinds_(std::move(kinds)) {}

  // An answer of aggregated discovery, of /api or /apis. False where it is none: an older server's, of which
  // AddGroups makes the next questions.
  bool AddAggregated(config::Node document);
  // An answer of /apis without aggregation: the paths to ask for the kinds of the groups that are read,
  // "/apis/networking.istio.io/v1".
  std::vector<std::string> PathsOf(config::Node groups) const;
  // An answer of such a path (an APIResourceList).
  void AddResources(config::Node document);
  // Discovery begins anew: what it said is forgotten.
  void ForgetDiscovered() { discovered_.clear(); }

  // A CustomResourceDefinition is there, new or changed; or gone.
  void SetDefinition(config::Node definition);
  void RemoveDefinition(config::Node definition);
  // All definitions are listed: those that were not seen since BeginDefinitions are gone.
  void BeginDefinitions() { seen_.clear(); }
  void EndDefinitions();

  // The group and version to read a kind in, "networking.istio.io/v1"; "" where it is not served.
  std::string ApiVersionOf(const config::KindInfo& kind) const;

 private:
  using Versions = std::set<std::string, std::less<>>;
  bool IsRead(std::string_view group, std::string_view version) const;
  bool IsRead(std::string_view name) const;

  std::vector<config::KindInfo> kinds_;
  // By "httproutes.gateway.networking.k8s.io".
  std::map<std::string, Versions, std::less<>> discovered_, defined_;
  std::set<std::string> seen_;
};

// "/apis/networking.istio.io/v1/virtualservices", "/api/v1/pods"; with a namespace those in it.
std::string CollectionPath(const config::KindInfo& kind, std::string_view api_version,
                           std::string_view ns = "");

// Of a CustomResourceDefinition what ServedKinds reads.
const config::JsonFields& DefinitionFields();
inline constexpr char kDefinitionsPath[] = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
// What discovery is asked with, so that one answer has it all where the server can.
inline constexpr char kDiscoveryAccept[] =
    "Accept: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

}  // namespace fairlead::kube

#endif  // FAIRLEAD_KUBE_SERVED_KINDS_H_
