#ifndef FAIRLEAD_SIMULATE_MADE_UP_H_
#define FAIRLEAD_SIMULATE_MADE_UP_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/kubernetes_types.h"
#include "config/object.h"

// A cluster's part of a repository's own manifests: they have Deployments and Services, but no Pods and
// addresses, which a simulation needs. Pure.
namespace fairlead::simulate {

// A Deployment, StatefulSet, DaemonSet, ReplicaSet, Job or CronJob; or a Gateway, for its router.
struct WorkloadTemplate {
  std::string kind, name, ns;
  std::string pod_name;  // "": the template's
  std::string file;
  int line = 0;
  int replicas = 1;
  LabelMap labels, annotations;  // of its pods
  config::PodSpec pod;           // without a status
};
std::string ToText(const WorkloadTemplate& one);  // "Deployment shop/web, mesh/web.yaml:12"

// The templates of a text of manifests, lists included; unreadable documents are left out.
std::vector<WorkloadTemplate> ReadTemplates(std::string_view text, const std::string& file);

struct MadeUp {
  std::vector<config::ObjectChange> objects;
  // The substitutes for templates: Pods and addresses, each with its template as ToText prints it.
  std::map<config::ObjectKey, std::string> pods;
  std::map<std::string, std::string> addresses;
  size_t services = 0;  // that were given an address
};

// A template with at least one replica whose labels no Pod of its namespace has gets one ready Pod. The Pod
// has the template's name and an address of 198.18.0.0/16 (RFC 2544). Services without an address get one of
// 198.19.0.0/16. A Pod has a sidecar where its namespace or its own labels ask for one.
using Objects = std::map<config::ObjectKey, config::ConfigPtr>;
MadeUp MakeUp(const std::vector<WorkloadTemplate>& templates, const Objects& objects);

}  // namespace fairlead::simulate

#endif  // FAIRLEAD_SIMULATE_MADE_UP_H_
