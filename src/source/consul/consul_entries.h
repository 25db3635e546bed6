#ifndef FAIRLEAD_SOURCE_CONSUL_CONSUL_ENTRIES_H_
#define FAIRLEAD_SOURCE_CONSUL_CONSUL_ENTRIES_H_

#include <map>
#include <string>
#include <vector>

#include "source/consul/consul_answers.h"
#include "source/consul/consul_options.h"
#include "source/platform/platform_view.h"

namespace fairlead::source {

// One service of Consul as it is known.
struct ConsulService {
  std::string name;
  std::string protocol;                                               // of configuration entries; "": none
  std::map<std::string, std::vector<ConsulInstance>> instances = {};  // by the datacenter that was asked for
};

// The ServiceEntries that stand for a service: one for each host name that the templates make of it, named
// like that; those of a template with a datacenter have the instances of that one. Without instances that
// count, and of services that are proxies or gateways of Consul's own mesh, none. The order of the instances
// does not matter. Pure.
PlatformPart MakeConsulEntries(const ConsulOptions& options, const ConsulService& service);

// What an instance's tags and metadata say in labels: "k=v" and "k|v" of tags, then the metadata; a tag
// without a value is a label "true" where `plain_tags`. What Kubernetes would not have as a label is left
// out.
LabelMap LabelsOf(const ConsulInstance& instance, bool plain_tags);

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_CONSUL_CONSUL_ENTRIES_H_
