#ifndef FAIRLEAD_SOURCE_PLATFORM_MADE_ENTRIES_H_
#define FAIRLEAD_SOURCE_PLATFORM_MADE_ENTRIES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/labels.h"
#include "config/object.h"
#include "source/platform/platform_view.h"

namespace google::protobuf {
class Message;
}

namespace fairlead::source {

// A service of a platform, as far as a ServiceEntry says it. A plain value.
struct MadeService {
  struct Port {
    uint32_t number = 0;
    std::string name;      // as the platform calls it; "": by its protocol
    std::string protocol;  // as Istio spells it in any case, "http"
  };
  struct Endpoint {
    std::string address;          // an IP address or a host name
    std::vector<uint32_t> ports;  // one for each of the service's
    LabelMap labels = {};
    std::string locality = {}, network = {};
    uint32_t weight = 0;  // 0: not said
  };
  std::string host, ns;
  std::vector<std::string> addresses = {};  // virtual ones
  std::vector<Port> ports = {};
  std::vector<Endpoint> endpoints = {};
  std::vector<std::string> export_to = {};  // as in Istio; none: all namespaces
};

// Collects what one thing of a platform stands for. What cannot be an object is left out, and a diagnostic
// says so. Pure; one thread.
class PartMaker {
 public:
  // `registry`: of the label fairlead.dev/registry. `file`: where diagnostics say that it is. `subject`:
  // "service web of Consul".
  PartMaker(std::string registry, const std::string& file, std::string subject);

  // One ServiceEntry, named like its host. Endpoints with host names make its resolution DNS. Nothing where
  // it has no ports or no endpoints.
  void AddService(MadeService service);
  // An object with this message as spec. `labels` besides the registry's.
  void AddObject(config::Kind kind, const std::string& ns, const std::string& name,
                 std::shared_ptr<const google::protobuf::Message> spec);
  // Each text once.
  void Warn(std::string code, const std::string& message);
  // Whether it can be the address of an endpoint; else a warning about `whose`.
  bool IsAddress(const std::string& address, std::string_view whose);
  // One more port of an endpoint, which has one address. False, with a warning about `whose`: its address
  // cannot be one, or is another than that of the ports before, and the endpoint is to be left out.
  bool AddPort(MadeService::Endpoint* endpoint, const std::string& address, uint32_t port,
               std::string_view whose);
  // As ProtocolOf below; a warning where `said` is no protocol of Istio's.
  std::string KnownProtocol(std::string_view said, std::string_view port_name);
  // Whether it can be a host and a namespace; else a warning.
  bool IsPlace(const std::string& host, const std::string& ns);

  // What was collected so far.
  PlatformPart Take() { return std::exchange(part_, {}); }

 private:
  void NamePorts(MadeService* service);

  const std::string registry_, subject_;
  config::Origin origin_;
  PlatformPart part_;
  std::set<std::string> said_;
};

// What Kubernetes would have as labels; at most 64.
LabelMap ValidLabels(const LabelMap& labels);

// "http" of a port's name "http-api", of a protocol "grpc"; "" where neither is a protocol of Istio's.
std::string ProtocolOf(std::string_view said, std::string_view port_name);

// A host or a namespace from a template: places that are empty leave no two separators side by side, nor one
// at an end.
std::string ExpandName(std::string_view text, const std::map<std::string, std::string>& values);

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_PLATFORM_MADE_ENTRIES_H_
