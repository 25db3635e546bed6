#include "simulate/command/simulation_report.h"

#include <google/protobuf/util/json_util.h>

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "simulate/rule_lines.h"

namespace fairlead::simulate {
namespace {

using nlohmann::json;

std::string AddressText(std::string_view ip, uint32_t port) {
  const bool v6 = ip.find(':') != ip.npos;
  return StrCat(v6 ? "[" : "", ip, v6 ? "]:" : ":", port);
}

std::string RequestText(const SimulatedRequest& request) {
  const std::string what =
      request.is_http() ? StrCat(request.method, " ", request.authority, request.path) : std::string("TCP");
  const std::string tls = !request.tls                      ? ""
                          : request.tls->client_certificate ? " over mutual TLS"
                                                            : " over TLS";
  const std::string_view where =
      request.direction == CallDirection::kGateway ? "at the gateway" : NameOf(request.direction);
  return StrCat(what, tls, " ", where, " to ",
                AddressText(request.destination_address, request.destination_port));
}

const config::ConfigObject* Find(const LoadedMesh& mesh, const ObjectName& object) {
  for (const config::KindInfo& info : config::AllKinds()) {
    if (info.name != object.kind) continue;
    const auto found = mesh.objects.find({info.kind, Interned(object.ns), Interned(object.name)});
    if (found != mesh.objects.end()) return found->second.get();
  }
  return nullptr;
}

void PrintTitle(std::string_view title, std::ostream& out) { out << title << "\n"; }

void PrintPair(std::string_view key, std::string_view value, std::ostream& out) {
  constexpr size_t kWidth = 20;
  out << "  " << key << std::string(key.size() < kWidth ? kWidth - key.size() : 1, ' ') << value << "\n";
}

void PrintFacts(std::string_view title, const std::vector<Fact>& facts, std::ostream& out) {
  if (facts.empty()) return;
  PrintTitle(title, out);
  for (const Fact& fact : facts) PrintPair(fact.key, fact.value.empty() ? "(no name)" : fact.value, out);
}

// The template that an endpoint's workload was made up from; "" where it was not.
std::string MadeUpOf(const LoadedMesh& mesh, const std::string& address) {
  const auto found = mesh.made_up_addresses.find(address.substr(0, address.rfind(':')));
  return found == mesh.made_up_addresses.end() ? "" : found->second;
}

// Of the proxy's own workload.
std::string MadeUpOf(const Simulation& simulation) {
  const auto& addresses = simulation.proxy.ip_addresses;
  return addresses.empty() ? "" : MadeUpOf(simulation.mesh, addresses.front());
}

void PrintDestination(const LoadedMesh& mesh, const Destination& destination, bool split, std::ostream& out) {
  const std::string share = split ? StrCat("  ", ToText(destination.percent), "%") : "";
  out << "  " << destination.cluster << share << "\n";
  if (!destination.problem.empty()) out << "    " << destination.problem << "\n";
  for (const auto& one : destination.candidates) {
    out << "    " << one.address << "  " << ToText(one.transport);
    if (!one.locality.empty()) out << "  in " << one.locality;
    if (const std::string made = MadeUpOf(mesh, one.address); !made.empty()) out << "  made up from " << made;
    if (one.weight != 1) out << "  weight " << one.weight;
    if (one.health != "HEALTHY" && one.health != "UNKNOWN") out << "  " << one.health;
    out << "\n";
  }
  for (const Fact& fact : destination.changes) out << "    " << fact.key << ": " << fact.value << "\n";
}

void PrintServers(const Simulation& simulation, std::ostream& out) {
  if (simulation.servers.empty()) return;
  PrintTitle("at the other end", out);
  for (const ServerSide& one : simulation.servers) {
    out << "  " << one.endpoint << "  " << one.proxy << ": " << one.outcome.Summary() << "\n";
  }
}

void PrintObjects(const Simulation& simulation, std::ostream& out) {
  if (simulation.outcome.objects.empty()) return;
  PrintTitle("because of", out);
  for (const ObjectName& object : simulation.outcome.objects) {
    const config::ConfigObject* known = Find(simulation.mesh, object);
    out << "  " << ToText(object);
    if (known != nullptr && !known->origin().file.str().empty())
      out << "  " << known->origin().file.str() << ":" << known->origin().line;
    out << "\n";
    if (known == nullptr) continue;
    for (const RuleLine& rule : RulesOf(*known, simulation.outcome))
      out << "    " << rule.path << "  " << known->origin().file.str() << ":" << rule.line << "\n";
  }
}

json ToJson(const std::vector<Fact>& facts, const char* value) {
  json list = json::array();
  for (const Fact& fact : facts) list.push_back({{"what", fact.key}, {value, fact.value}});
  return list;
}

json ToJson(const LoadedMesh& mesh, const Destination& destination) {
  json endpoints = json::array();
  for (const auto& one : destination.candidates) {
    endpoints.push_back({{"address", one.address},
                         {"transport", ToText(one.transport)},
                         {"locality", one.locality},
                         {"health", one.health},
                         {"madeUpFrom", MadeUpOf(mesh, one.address)},
                         {"priority", one.priority},
                         {"weight", one.weight}});
  }
  return {{"cluster", destination.cluster},
          {"percent", destination.percent},
          {"problem", destination.problem},
          {"changes", ToJson(destination.changes, "value")},
          {"endpoints", std::move(endpoints)}};
}

json ToJson(const SimulatedRequest& request) {
  json headers = json::array();
  for (const auto& [name, value] : request.headers) headers.push_back({{"name", name}, {"value", value}});
  json out = {{"direction", NameOf(request.direction)},
              {"source", request.source_address},
              {"destination", AddressText(request.destination_address, request.destination_port)}};
  if (request.is_http()) {
    out.update({{"method", request.method},
                {"authority", request.authority},
                {"path", request.path},
                {"headers", std::move(headers)}});
  }
  if (request.tls) {
    out["tls"] = {{"serverName", request.tls->server_name},
                  {"alpn", request.tls->alpn},
                  {"clientCertificate", request.tls->client_certificate},
                  {"identity", request.identity}};
  }
  if (request.claims) {
    std::string claims;
    if (google::protobuf::util::MessageToJsonString(*request.claims, &claims).ok()) out["claims"] = claims;
  }
  return out;
}

json ServersToJson(const Simulation& simulation) {
  json list = json::array();
  for (const ServerSide& one : simulation.servers) {
    list.push_back({{"endpoint", one.endpoint},
                    {"proxy", one.proxy},
                    {"reached", one.outcome.reached()},
                    {"summary", one.outcome.Summary()},
                    {"steps", ToJson(one.outcome.steps, "name")}});
  }
  return list;
}

json ObjectsToJson(const Simulation& simulation) {
  json list = json::array();
  for (const ObjectName& object : simulation.outcome.objects) {
    const config::ConfigObject* known = Find(simulation.mesh, object);
    json rules = json::array();
    if (known != nullptr) {
      for (const RuleLine& rule : RulesOf(*known, simulation.outcome))
        rules.push_back({{"path", rule.path}, {"line", rule.line}});
    }
    list.push_back({{"kind", object.kind},
                    {"namespace", object.ns},
                    {"name", object.name},
                    {"file", known == nullptr ? "" : known->origin().file.str()},
                    {"line", known == nullptr ? 0 : known->origin().line},
                    {"rules", std::move(rules)}});
  }
  return list;
}

}  // namespace

void PrintReport(const Simulation& simulation, std::ostream& out) {
  const SimulationOutcome& outcome = simulation.outcome;
  out << "request  " << RequestText(simulation.request) << "\n";
  const std::string made = MadeUpOf(simulation);
  out << "proxy    " << simulation.proxy.id << (made.empty() ? "" : StrCat("  made up from ", made)) << "\n";
  out << "end      " << outcome.Summary() << "\n";
  if (!simulation.live.empty()) PrintTitle("but now", out);
  for (const std::string& line : simulation.live) out << "  " << line << "\n";
  PrintFacts("steps", outcome.steps, out);
  PrintFacts("changes", outcome.changes, out);
  if (!outcome.destinations.empty()) PrintTitle("goes to", out);
  for (const Destination& one : outcome.destinations)
    PrintDestination(simulation.mesh, one, outcome.destinations.size() > 1, out);
  PrintServers(simulation, out);
  PrintObjects(simulation, out);
  if (!outcome.notes.empty()) PrintTitle("notes", out);
  for (const std::string& note : outcome.notes) out << "  " << note << "\n";
}

json ToJson(const Simulation& simulation) {
  const SimulationOutcome& outcome = simulation.outcome;
  json destinations = json::array();
  for (const Destination& one : outcome.destinations) destinations.push_back(ToJson(simulation.mesh, one));
  return {{"reached", outcome.reached()},
          {"verdict", ToText(outcome.verdict)},
          {"summary", outcome.Summary()},
          {"status", outcome.status},
          {"location", outcome.location},
          {"reason", outcome.reason},
          {"proxy", simulation.proxy.id},
          {"madeUpFrom", MadeUpOf(simulation)},
          {"request", ToJson(simulation.request)},
          {"steps", ToJson(outcome.steps, "name")},
          {"changes", ToJson(outcome.changes, "value")},
          {"destinations", std::move(destinations)},
          {"servers", ServersToJson(simulation)},
          {"objects", ObjectsToJson(simulation)},
          {"notes", outcome.notes},
          {"live", simulation.live}};
}

}  // namespace fairlead::simulate
