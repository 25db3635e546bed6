#include "source/marathon/marathon_entries.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "config/check/names.h"
#include "source/platform/made_entries.h"

namespace fairlead::source {
namespace {

// A task that a deployment has started has no result of its readiness checks at first. Where other tasks
// serve, it waits for one.
bool MayBeNew(const MarathonService& service, const MarathonInstance& instance) {
  return service.has_readiness_checks && service.deploying && !instance.ready &&
         instance.version == service.version;
}

bool IsWell(const MarathonOptions& options, const MarathonService& service, const MarathonInstance& instance,
            const MarathonWell& well) {
  if (!instance.running) return false;
  if (options.any_health) return true;
  if (instance.ready == false || instance.health == MarathonHealth::kBad) return false;
  return !service.has_health_checks || instance.health == MarathonHealth::kGood || well.contains(instance.id);
}

// The places of a template: "/shop/team/web" is web, and its groups are shop and team.
struct Names {
  std::string name, reversed, dashed, path;
  explicit Names(std::string_view id) {
    std::vector<std::string_view> steps = Split(id.substr(1), '/');
    name = steps.back();
    steps.pop_back();
    path = Join(steps, "-");
    std::reverse(steps.begin(), steps.end());
    reversed = Join(steps, ".");
    for (const std::string_view step : steps) StrAppend(&dashed, "-", step);
  }
};

uint32_t NumberOf(std::string_view text) {
  uint32_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && rest == text.data() + text.size() && number <= 65'535 ? number : 0;
}

bool IsUdpAlone(const MarathonPort& port) { return EqualsIgnoreCase(port.protocol, "udp"); }

class Maker {
 public:
  Maker(const MarathonOptions& options, const MarathonService& service)
      : options_(options),
        service_(service),
        maker_("marathon",
               StrCat(options.url.Name(), service.is_pod ? "/v2/pods" : "/v2/apps", service.id,
                      service.is_pod ? "::status" : ""),
               StrCat(service.is_pod ? "pod " : "app ", service.id, " of Marathon")) {}

  PlatformPart Make(const MarathonWell& well) {
    MadeService made;
    made.ports = Ports();
    for (const MarathonInstance& instance : service_.instances) {
      if (well.contains(instance.id)) AddEndpoints(instance, &made);
    }
    const Names names(service_.id);
    made.ns = ExpandName(options_.platform.ns, {{"group", names.path}});
    if (made.ns.empty()) made.ns = "default";
    for (const std::string& name : options_.platform.names) {
      made.host = AsciiLower(
          ExpandName(name, {{"name", names.name}, {"group", names.reversed}, {"groups", names.dashed}}));
      maker_.AddService(made);
    }
    return maker_.Take();
  }

 private:
  std::vector<MadeService::Port> Ports();
  uint32_t ServicePort(const MarathonPort& port);
  void AddEndpoints(const MarathonInstance& instance, MadeService* made);
  std::pair<std::string, uint32_t> PlaceOf(const MarathonInstance& instance,
                                           const MarathonInstance::Place& place) const;

  const MarathonOptions& options_;
  const MarathonService& service_;
  PartMaker maker_;
  std::vector<size_t> used_;  // indices of the service's ports
};

uint32_t Maker::ServicePort(const MarathonPort& port) {
  if (const std::string_view said = LabelOr(port.labels, "service-port"); !said.empty()) {
    if (const uint32_t number = NumberOf(said); number > 0) return number;
    maker_.Warn("invalid-port", StrCat("service-port \"", said, "\" is no port"));
  }
  const uint32_t first = options_.container_ports ? port.container_port : port.service_port;
  return first > 0 ? first : std::max(port.service_port, port.container_port);
}

// A port without a number of its own is known by the one that its instances have, if they agree.
std::vector<MadeService::Port> Maker::Ports() {
  std::vector<MadeService::Port> ports;
  for (size_t i = 0; i < service_.ports.size(); ++i) {
    const MarathonPort& port = service_.ports[i];
    if (IsUdpAlone(port)) {
      maker_.Warn("udp",
                  StrCat("port ", port.name.empty() ? StrCat(i) : port.name, " is UDP and is left out"));
      continue;
    }
    uint32_t number = ServicePort(port);
    if (number == 0 && !service_.instances.empty()) number = service_.instances.front().places[i].host_port;
    if (number == 0) {
      maker_.Warn("no-port", StrCat("port ", port.name.empty() ? StrCat(i) : port.name,
                                    " has no number yet and is left out"));
      continue;
    }
    std::string_view said = LabelOr(port.labels, "protocol");
    if (said.empty()) said = LabelOr(service_.labels, "protocol");
    std::string protocol = maker_.KnownProtocol(said, AsciiLower(port.name));
    used_.push_back(i);
    ports.push_back({number, port.name, std::move(protocol)});
  }
  return ports;
}

// As Marathon itself prefers it, the host where a port is mapped there.
std::pair<std::string, uint32_t> Maker::PlaceOf(const MarathonInstance& instance,
                                                const MarathonInstance::Place& place) const {
  const bool has_own = !place.container.empty() && place.container_port > 0;
  const bool own = has_own && options_.address != MarathonAddress::kHost &&
                   (options_.address == MarathonAddress::kContainer || place.host_port == 0);
  return own ? std::pair(place.container, place.container_port) : std::pair(instance.host, place.host_port);
}

// An endpoint has one address: ports that are reached at another one leave the instance out.
void Maker::AddEndpoints(const MarathonInstance& instance, MadeService* made) {
  MadeService::Endpoint endpoint;
  for (const size_t index : used_) {
    const auto [address, port] = PlaceOf(instance, instance.places[index]);
    const std::string whose = StrCat(service_.is_pod ? "instance " : "task ", instance.id);
    if (port == 0 || address.empty())
      return maker_.Warn("no-port", StrCat(whose, " has no address for port ", service_.ports[index].name,
                                           " and is left out"));
    if (!maker_.AddPort(&endpoint, address, port, whose)) return;
  }
  if (endpoint.ports.empty()) return;
  endpoint.labels = ValidLabels(service_.labels);
  if (!instance.region.empty())
    endpoint.locality = instance.zone.empty() ? instance.region : StrCat(instance.region, "/", instance.zone);
  endpoint.network = options_.network;
  made->endpoints.push_back(std::move(endpoint));
}

}  // namespace

MarathonWell WellMarathonInstances(const MarathonOptions& options, const MarathonService& service,
                                   const MarathonWell& well) {
  MarathonWell all, settled;
  if (!options.platform.selector.Matches(service.labels)) return all;
  for (const MarathonInstance& instance : service.instances) {
    if (!IsWell(options, service, instance, well)) continue;
    all.insert(instance.id);
    if (options.any_health || !MayBeNew(service, instance)) settled.insert(instance.id);
  }
  return settled.empty() ? all : settled;
}

PlatformPart MakeMarathonEntries(const MarathonOptions& options, const MarathonService& service,
                                 const MarathonWell& well) {
  return Maker(options, service).Make(well);
}

}  // namespace fairlead::source
