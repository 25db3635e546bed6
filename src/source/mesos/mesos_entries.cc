#include "source/mesos/mesos_entries.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/ip_address.h"
#include "base/strings.h"
#include "source/platform/made_entries.h"

namespace fairlead::source {
namespace {

// As part of a host name: lower case, and a dash for what that cannot have. Mesos-DNS does it, too.
std::string Sanitized(std::string_view text, bool dots) {
  std::string out = AsciiLower(text);
  for (char& c : out) {
    const bool good = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || (c == '.' && dots);
    if (!good) c = '-';
  }
  return out;
}

bool IsWell(const MesosOptions& options, const MesosTask& task) {
  if (!task.status.running) return false;
  return options.any_health || task.status.healthy.value_or(!task.has_health_check);
}

LabelMap LabelsOf(const MesosTask& task) {
  LabelMap labels = task.labels;
  if (!task.version.empty()) labels.emplace("version", task.version);
  if (!task.environment.empty()) labels.emplace("environment", task.environment);
  return labels;
}

std::string LocalityOf(const MesosTask& task, const MesosAgent* agent) {
  if (agent != nullptr && !agent->region.empty())
    return agent->zone.empty() ? agent->region : StrCat(agent->region, "/", agent->zone);
  const bool good = std::all_of(task.location.begin(), task.location.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.' || c == '/';
  });
  return good ? task.location : "";
}

// The address on the wanted network, else on one without a name; of these one of the wanted family.
std::string OwnAddress(const MesosOptions& options, const MesosTask& task) {
  std::string best;
  int best_rank = -1;
  for (const MesosNetworkAddress& one : task.status.addresses) {
    const bool wanted = options.network_name.empty() || one.network == options.network_name;
    if (!wanted && !one.network.empty()) continue;
    const auto address = IpAddress::Parse(one.address);
    const bool family = address && address->is_v6() == options.prefer_v6;
    const int rank = (wanted ? 2 : 0) + (family ? 1 : 0);
    if (rank <= best_rank) continue;
    best = one.address;
    best_rank = rank;
  }
  return best;
}

const MesosMapping* MappingOf(const MesosTask& task, uint32_t port) {
  for (const auto* mappings : {&task.status.mappings, &task.mappings}) {
    for (const MesosMapping& one : *mappings) {
      if (one.host_port == port || one.container_port == port) return &one;
    }
  }
  return nullptr;
}

// Address and port; "" where it has none.
std::pair<std::string, uint32_t> Reached(const MesosOptions& options, const MesosPlacedTask& placed,
                                         uint32_t port) {
  const std::string own = OwnAddress(options, *placed.task);
  const MesosMapping* mapping = MappingOf(*placed.task, port);
  const bool at_host =
      own.empty() || options.address == MesosAddress::kHost ||
      (options.address == MesosAddress::kAuto && (mapping != nullptr || placed.task->bridged));
  if (!at_host) return {own, mapping == nullptr ? port : mapping->container_port};
  const uint32_t host_port = mapping == nullptr ? port : mapping->host_port;
  if (placed.agent == nullptr) return {"", host_port};
  return {placed.agent->address.empty() ? placed.agent->hostname : placed.agent->address, host_port};
}

// "#2" for the third port, where it has no name or one of before.
std::map<std::string, const MesosPort*> PortsByKey(const MesosTask& task) {
  std::map<std::string, const MesosPort*> ports;
  for (size_t i = 0; i < task.ports.size(); ++i) {
    const MesosPort& port = task.ports[i];
    if (port.number == 0 || port.protocol == "udp") continue;
    if (port.name.empty() || !ports.emplace(port.name, &port).second) ports.emplace(StrCat("#", i), &port);
  }
  return ports;
}

// A port of the service, and what the tasks have there.
struct CommonPort {
  std::string key, name;
  std::vector<const MesosPort*> of;  // one for each task
  bool everywhere = true;            // visible outside of the framework, too
};

class Maker {
 public:
  Maker(const MesosOptions& options, const MesosPlace& place)
      : options_(options),
        place_(place),
        maker_("mesos", StrCat(options.url.Name(), "/", place.host),
               StrCat("service ", place.host, " of Mesos")) {}

  PlatformPart Make(const std::vector<MesosPlacedTask>& tasks) {
    for (const MesosPlacedTask& one : tasks) {
      if (IsWell(options_, *one.task) && Counts(*one.task)) tasks_.push_back(one);
    }
    if (tasks_.empty()) return maker_.Take();
    FindPorts();
    MadeService made{.host = place_.host, .ns = place_.ns};
    LeaveOutNarrowPorts(&made);
    for (const CommonPort& port : ports_) made.ports.push_back({NumberOf(port), port.name, Protocol(port)});
    for (size_t i = 0; i < tasks_.size(); ++i) AddEndpoint(i, &made);
    maker_.AddService(std::move(made));
    return maker_.Take();
  }

 private:
  bool Counts(const MesosTask& task);
  void FindPorts();
  void LeaveOutNarrowPorts(MadeService* made);
  uint32_t NumberOf(const CommonPort& port);
  std::string Protocol(const CommonPort& port);
  void AddEndpoint(size_t index, MadeService* made);

  const MesosOptions& options_;
  const MesosPlace& place_;
  PartMaker maker_;
  std::vector<MesosPlacedTask> tasks_;
  std::vector<CommonPort> ports_;
};

bool Maker::Counts(const MesosTask& task) {
  if (!task.problem.empty()) {
    maker_.Warn("invalid-task", StrCat("task ", task.id, " ", task.problem, " and is left out"));
    return false;
  }
  for (const MesosPort& port : task.ports) {
    if (port.protocol == "udp")
      maker_.Warn("udp", StrCat("port ", port.name.empty() ? StrCat(port.number) : port.name,
                                " is UDP and is left out"));
  }
  if (!PortsByKey(task).empty()) return true;
  maker_.Warn("no-port", StrCat("task ", task.id, " has no port in its DiscoveryInfo and is left out"));
  return false;
}

// While an upgrade adds a port, tasks of before do not have it.
void Maker::FindPorts() {
  std::vector<std::map<std::string, const MesosPort*>> of;
  for (const MesosPlacedTask& one : tasks_) of.push_back(PortsByKey(*one.task));
  std::map<std::string, size_t> counts;
  for (const auto& ports : of) {
    for (const auto& [key, port] : ports) ++counts[key];
  }
  for (const auto& [key, count] : counts) {
    if (count < of.size()) {
      maker_.Warn("missing-port", StrCat("port ", key, " is not in each of its tasks and is left out"));
      continue;
    }
    CommonPort common;
    common.key = key;
    for (const auto& ports : of) {
      const MesosPort* port = ports.at(key);
      common.of.push_back(port);
      common.everywhere = common.everywhere && port->visibility != MesosVisibility::kFramework;
    }
    common.name = common.of.front()->name;
    ports_.push_back(std::move(common));
  }
}

// A framework's own service is visible in its namespace alone.
void Maker::LeaveOutNarrowPorts(MadeService* made) {
  if (options_.ignore_visibility || ports_.empty()) return;
  const bool everywhere =
      std::any_of(ports_.begin(), ports_.end(), [](const CommonPort& port) { return port.everywhere; });
  if (!everywhere) {
    made->export_to.emplace_back(".");
    return;
  }
  std::erase_if(ports_, [this](const CommonPort& port) {
    if (!port.everywhere)
      maker_.Warn("narrow-port", StrCat("port ", port.key,
                                        " is visible to its framework alone, others of the "
                                        "service are not: it is left out; see option visibility"));
    return !port.everywhere;
  });
}

uint32_t Maker::NumberOf(const CommonPort& port) {
  for (const MesosPort* one : port.of) {
    const std::string_view said = LabelOr(one->labels, "service-port");
    if (said.empty()) continue;
    uint32_t number = 0;
    const auto [rest, error] = std::from_chars(said.data(), said.data() + said.size(), number);
    if (error == std::errc() && rest == said.data() + said.size() && number > 0 && number <= 65'535)
      return number;
    maker_.Warn("invalid-port", StrCat("service-port \"", said, "\" is no port"));
  }
  for (const std::string& name : {port.name, std::string()}) {
    if (const auto it = options_.ports.find(name); it != options_.ports.end()) return it->second;
  }
  const auto [least, most] =
      std::minmax_element(port.of.begin(), port.of.end(),
                          [](const MesosPort* a, const MesosPort* b) { return a->number < b->number; });
  if ((*least)->number != (*most)->number)
    maker_.Warn("several-ports", StrCat("its tasks have port ", port.key, " at ", (*least)->number, " and ",
                                        (*most)->number, ": the lowest counts; see option ports"));
  return (*least)->number;
}

// "tcp" says no more than that it is not UDP.
std::string Maker::Protocol(const CommonPort& port) {
  const MesosPort& first = *port.of.front();
  std::string_view said = LabelOr(first.labels, "protocol");
  if (said.empty() && !first.protocol.starts_with("tcp") && !first.protocol.starts_with("udp"))
    said = first.protocol;
  return maker_.KnownProtocol(said, port.name);
}

// An endpoint has one address: ports that are reached at another one leave the task out.
void Maker::AddEndpoint(size_t index, MadeService* made) {
  const MesosPlacedTask& placed = tasks_[index];
  const std::string whose = StrCat("task ", placed.task->id);
  MadeService::Endpoint endpoint;
  for (const CommonPort& port : ports_) {
    const auto [address, number] = Reached(options_, placed, port.of[index]->number);
    if (address.empty())
      return maker_.Warn("no-address", StrCat(whose, " has no address and no known agent, and is left out"));
    if (!maker_.AddPort(&endpoint, address, number, whose)) return;
  }
  if (endpoint.ports.empty()) return;
  endpoint.labels = ValidLabels(LabelsOf(*placed.task));
  endpoint.locality = LocalityOf(*placed.task, placed.agent);
  endpoint.network = options_.network;
  made->endpoints.push_back(std::move(endpoint));
}

}  // namespace

std::vector<MesosPlace> MesosPlacesOf(const MesosOptions& options, const std::string& framework,
                                      const MesosTask& task) {
  std::vector<MesosPlace> places;
  if (options.other_frameworks.contains(framework)) return places;
  if (!options.frameworks.empty() && !options.frameworks.contains(framework)) return places;
  if (!options.platform.selector.Matches(LabelsOf(task))) return places;
  const auto values = [&](bool dots) {
    return std::map<std::string, std::string>{{"name", Sanitized(task.name, dots)},
                                              {"framework", Sanitized(framework, dots)},
                                              {"environment", Sanitized(task.environment, dots)},
                                              {"location", Sanitized(task.location, dots)},
                                              {"version", Sanitized(task.version, dots)}};
  };
  std::string ns = ExpandName(options.platform.ns, values(false));
  if (ns.empty()) ns = "default";
  for (const std::string& name : options.platform.names) {
    MesosPlace place{ns, AsciiLower(ExpandName(name, values(true)))};
    if (std::find(places.begin(), places.end(), place) == places.end()) places.push_back(std::move(place));
  }
  return places;
}

PlatformPart MakeMesosEntries(const MesosOptions& options, const MesosPlace& place,
                              const std::vector<MesosPlacedTask>& tasks) {
  return Maker(options, place).Make(tasks);
}

}  // namespace fairlead::source
