#include "simulate/command/simulate_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <set>
#include <utility>

#include "base/json.h"
#include "base/log.h"
#include "base/strings.h"
#include "config/read/no_effect.h"
#include "mesh/view/proxy_scope.h"
#include "simulate/command/mesh_flags.h"
#include "simulate/command/server_side.h"
#include "simulate/command/simulated_call.h"
#include "simulate/command/simulated_proxy.h"
#include "simulate/command/simulation_report.h"
#include "simulate/gateway_pods.h"
#include "simulate/objects.h"
#include "simulate/simulate.h"
#include "source/file/read_file.h"

namespace fairlead::simulate {
namespace {

constexpr int kWrongCall = 2;

struct Options {
  MeshFiles files{.simulated = true};
  ProxyChoice proxy;
  CallOptions call;
  bool follow = false;
  std::string server;  // that is asked what the proxies really run; "": none
  std::string output = "text";
};

void AddFlags(Options* o, CLI::App* command) {
  AddMeshFlags(&o->files, command);
  auto* name =
      command->add_option("--proxy", o->proxy.name,
                          "POD.NAMESPACE (without Pods the name of a Deployment and the like), "
                          "GATEWAY.NAMESPACE, or a node id: sidecar~IP~NAME.NAMESPACE~NAMESPACE.svc.DOMAIN");
  auto* file = command->add_option("--node", o->proxy.file, "file of a node, as in a bootstrap");
  name->excludes(file);
  command->add_option("--label", o->proxy.labels, "KEY=VALUE of a node's workload; may be repeated")
      ->allow_extra_args(false);
  command->add_flag("--follow", o->follow, "go on at the sidecars of the endpoints");
  command->add_option("--server", o->server,
                      "http://HOST:PORT of a running discovery (its --monitoringAddr): adds older resources "
                      "of proxies that rejected newer ones");
  command->add_option("-o,--output", o->output, "text or json")->check(CLI::IsMember({"text", "json"}));
  AddCallFlags(&o->call, command);
}

int Fail(const absl::Status& status) {
  FlushLogs();
  std::cerr << "fairlead simulate: " << FromAbsl(status.message()) << std::endl;
  return kWrongCall;
}

// Mistakes in the manifests, and what has no effect, go to the standard error: an object that does not count
// is often the answer.
void TellDiagnostics(const LoadedMesh& mesh) {
  for (const config::Diagnostic& one : mesh.diagnostics) {
    const bool tells = one.severity == config::Severity::kError || one.code == config::kNoEffectCode;
    if (tells) std::cerr << ToText(one) << "\n";
  }
}

// A file that discovery would wait for must be there: a simulation is about what is.
absl::Status CheckFiles(const Options& options) {
  for (const std::string* file : {&options.files.mesh_config, &options.files.networks_config}) {
    if (file->empty()) continue;
    if (const auto text = source::ReadFile(*file); !text.ok()) return text.status();
  }
  return absl::OkStatus();
}

// Whether some server takes the request; where none was asked, none refuses.
bool LetIn(const std::vector<ServerSide>& servers) {
  return servers.empty() || std::any_of(servers.begin(), servers.end(),
                                        [](const ServerSide& one) { return one.outcome.reached(); });
}

// Where nobody has the host or port, whatever the proxy does with the connection leads nowhere.
void TellMissing(const SimulatedCall& call, SimulationOutcome* outcome) {
  if (call.missing.empty()) return;
  const bool nowhere =
      std::all_of(outcome->destinations.begin(), outcome->destinations.end(), [](const Destination& one) {
        return one.cluster == "PassthroughCluster" || one.cluster == "BlackHoleCluster";
      });
  if (!outcome->reached() || !nowhere) return outcome->notes.push_back(call.missing);
  outcome->verdict = CallVerdict::kNobody;
  outcome->reason = call.missing;
}

// What the reader should not take for the cluster's.
void TellMadeUp(const LoadedMesh& mesh, SimulationOutcome* outcome) {
  if (!mesh.made_up_pods.empty()) {
    outcome->notes.push_back(
        StrCat("there are no Pods of ", mesh.made_up_pods.size(),
               " templates of workloads: one of each is made up, ready, with an address of 198.18.0.0/16"));
  }
  if (mesh.made_up_services > 0) {
    outcome->notes.push_back(
        StrCat(mesh.made_up_services, " Services have no clusterIP: addresses of 198.19.0.0/16 are made up"));
  }
}

void TellDoubt(const LoadedMesh& mesh, const std::string& name, SimulationOutcome* outcome) {
  const size_t dot = name.rfind('.');
  if (dot == name.npos || name.find('~') != name.npos) return;
  std::string note = DoubtAboutGateway(mesh, Interned(name.substr(dot + 1)), Interned(name.substr(0, dot)));
  if (!note.empty()) outcome->notes.push_back(std::move(note));
}

// What the proxies of the simulation really run.
absl::StatusOr<std::vector<std::string>> AskLive(const Options& options, const AskServer& ask,
                                                 const model::Proxy& proxy,
                                                 const std::vector<ServerSide>& servers) {
  if (options.server.empty() || ask == nullptr) return std::vector<std::string>();
  std::set<std::string> proxies = {proxy.id};
  for (const ServerSide& one : servers) proxies.insert(one.proxy);
  return LiveState(options.server, proxies, ask);
}

int Run(const Options& options, const MeshLoader& load, const AskServer& ask) {
  if (absl::Status status = CheckFiles(options); !status.ok()) return Fail(status);
  const absl::StatusOr<LoadedMesh> mesh = load(options.files);
  if (!mesh.ok()) return Fail(mesh.status());
  TellDiagnostics(*mesh);
  const absl::StatusOr<model::ProxyPtr> proxy = ChooseProxy(*mesh, options.proxy);
  if (!proxy.ok()) return Fail(proxy.status());
  const mesh::ProxyScopePtr scope = mesh::ComputeProxyScope(*mesh->snapshot, *proxy);
  const absl::StatusOr<SimulatedCall> call = MakeCall(options.call, *mesh->snapshot, *scope);
  if (!call.ok()) return Fail(call.status());
  absl::StatusOr<SimulationOutcome> outcome = Simulate(ResourcesOf(*mesh->snapshot, *scope), call->request);
  if (!outcome.ok()) return Fail(outcome.status());
  AddMeshObjects(*mesh->snapshot, *scope, mesh->Of(config::Kind::kPeerAuthentication), call->request,
                 &*outcome);
  outcome->notes.insert(outcome->notes.begin(), call->notes.begin(), call->notes.end());
  TellMissing(*call, &*outcome);
  TellMadeUp(*mesh, &*outcome);
  TellDoubt(*mesh, options.proxy.name, &*outcome);
  std::vector<ServerSide> servers;
  if (options.follow && outcome->reached())
    servers = FollowToServers(*mesh, **proxy, call->request, *outcome);
  if (options.follow && outcome->reached() && servers.empty()) {
    outcome->notes.emplace_back(
        "no endpoint is a workload with a sidecar, which its label security.istio.io/tlsMode: istio would "
        "say");
  }
  const auto live = AskLive(options, ask, **proxy, servers);
  if (!live.ok()) return Fail(live.status());
  const Simulation simulation{*mesh, **proxy, call->request, *outcome, servers, *live};
  FlushLogs();
  if (options.output == "json") {
    std::cout << JsonText(ToJson(simulation), 2) << std::endl;
  } else {
    PrintReport(simulation, std::cout);
  }
  return outcome->reached() && LetIn(servers) ? 0 : 1;
}

}  // namespace

int RunSimulate(const std::vector<std::string>& arguments, const MeshLoader& load, const AskServer& ask) {
  Options options;
  CLI::App command("Tells the destination of a request, and the objects behind it", "fairlead simulate");
  AddFlags(&options, &command);
  try {
    command.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& error) {
    return command.exit(error) == 0 ? 0 : kWrongCall;
  }
  if (options.proxy.name.empty() && options.proxy.file.empty())
    return Fail(absl::InvalidArgumentError("--proxy or --node is required"));
  SetLogLevels("none").IgnoreError();  // the standard output is the report's
  return Run(options, load, ask);
}

}  // namespace fairlead::simulate
