#include "app/discovery_server.h"

#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "app/derivations.h"
#include "app/ignored_objects.h"
#include "app/key_servers.h"
#include "app/last_good_state.h"
#include "app/push_options.h"
#include "app/start_check.h"
#include "app/version.h"
#include "base/duration.h"
#include "base/json.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/strings.h"
#include "debug/access.h"
#include "debug/findings.h"
#include "debug/inspector.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "push/stream/generators.h"
#include "server/address.h"

namespace fairlead::app {
namespace {

LogScope app_log("server");

// Roots of key servers that count besides the system's. Source: Istio's jwksExtraRootCABundlePath.
constexpr char kExtraRoots[] = "/cacerts/extra.pem";

// Of a flag that was checked when it was read.
std::chrono::milliseconds Duration(const std::string& text) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(*ParseGoDuration(text));
}

// Under this name istioctl knows the instance that answers it. Source: IstioControlPlaneInstance,
// pilot/pkg/xds/xdsgen.go
std::string ControlPlaneIdentifier(const std::string& pod_name) {
  char host[HOST_NAME_MAX + 1] = "";
  if (pod_name.empty()) gethostname(host, HOST_NAME_MAX);
  const std::string version(kVersion);
  const nlohmann::json identifier = {{"Component", "istiod"},
                                     {"ID", pod_name.empty() ? host : pod_name},
                                     {"Info", {{"version", version}, {"tag", version}}}};
  return JsonText(identifier);
}

// What a user should know of the options before anything happens.
void LogRemarks(const DiscoveryOptions& options) {
  if (options.environment.plaintext_identity) {
    app_log.Warn(
        "FAIRLEAD_PLAINTEXT_IDENTITY=node: whoever reaches the plaintext port is believed to be the proxy "
        "that it says it is");
  }
  if (options.environment.believe_key_servers) {
    app_log.Warn(
        "JWKS_RESOLVER_INSECURE_SKIP_VERIFY: keys of tokens are taken from servers that prove nothing");
  }
}

}  // namespace

DiscoveryServer::DiscoveryServer(DiscoveryOptions options) : options_(std::move(options)) {}

DiscoveryServer::~DiscoveryServer() { Stop(); }

// Objects of all namespaces are shown to those who may see every proxy.
push::ObjectTypes DiscoveryServer::MakeObjectTypes() const {
  push::ObjectTypes types = push::MakeObjectTypes();
  types.authorize = [this](const push::StreamPeer& peer, const std::optional<model::PeerIdentity>& identity) {
    if (!options_.environment.authorize_objects) return absl::OkStatus();
    return debug::MayReadObjects(peer.address, identity, pusher_->Snapshot()->settings->root_namespace);
  };
  return types;
}

void DiscoveryServer::MakePusher() {
  push::PusherOptions options = MakePushOptions(options_.environment);
  options.inspector = [this](const push::Inspection& inspection) {
    return debug::Inspect(debug_sources_, inspection);
  };
  options.control_plane = ControlPlaneIdentifier(options_.environment.pod_name);
  options.observers = {&rejection_watch_.rejections()};
  options.connections = &registration_;
  pusher_ = std::make_unique<push::Pusher>(std::move(options), push::MakeGenerators(),
                                           push::MakeGeneratorVariants(), MakeObjectTypes());
  debug_sources_.pusher = pusher_.get();
  debug_sources_.rejections = &rejection_watch_.rejections();
}

void DiscoveryServer::MakeLoop() {
  push::IntakeOptions options;
  options.debounce.quiet = std::chrono::duration_cast<Clock::duration>(options_.environment.debounce_after);
  options.debounce.max = std::chrono::duration_cast<Clock::duration>(options_.environment.debounce_max);
  options.debounce_endpoints = options_.environment.debounce_endpoints;
  options.pace.per_second = options_.environment.endpoint_pushes_per_second;
  options.pace.cost = [this] { return pusher_->CpuTime(); };
  loop_ = std::make_unique<push::ControlLoop>(options, MakeDerivations(DerivationOptionsOf(options_)));
  debug_sources_.objects = [this] { return loop_->Objects().Written(); };
  debug_sources_.store = [this] { return loop_->Objects().written(); };
  debug_sources_.find_object = [this](const config::ObjectKey& key) {
    return loop_->Objects().FindWritten(key);
  };
  debug_sources_.diagnostics = [this] { return loop_->Diagnostics(); };
  debug_sources_.findings = std::make_shared<debug::Findings>();
  debug_sources_.push_all = [this] { loop_->PushAll(); };
  debug_sources_.transport = [this] { return TransportConnections(); };
}

// Where the fetcher has settled without any key, nothing but another publication opens the listener.
void DiscoveryServer::MakeKeyFetcher() {
  const Environment& environment = options_.environment;
  jwks::Fetcher::Options options;
  options.schedule.refresh = std::chrono::duration_cast<Clock::duration>(environment.key_refresh);
  options.downloads.insecure = environment.believe_key_servers;
  options.downloads.extra_roots = kExtraRoots;
  options.downloads.blocked = BlockedKeyServers(environment, [this] {
    return std::vector<int>{grpc_port(), secure_grpc_port(), http_port(), monitoring_port(), control_port()};
  });
  keys_ = std::make_unique<jwks::Fetcher>(
      std::move(options), [this](model::KeySetsPtr known) { loop_->Set(std::move(known)); },
      [this] { loop_->PushAll(); });
}

void DiscoveryServer::MakeTrustBundle() {
  const Environment& environment = options_.environment;
  if (!environment.multi_root) return;
  ca::TrustBundleOptions options;
  if (!environment.signer_url.empty()) options.roots_file = StrCat(environment.root_ca_dir, "/root-cert.pem");
  trust_bundle_ = std::make_unique<ca::TrustBundle>(
      std::move(options),
      [this](model::TrustBundlePtr trust_bundle) { loop_->Set(std::move(trust_bundle)); });
  trust_bundle_->Start();
}

void DiscoveryServer::TellTrustBundle(const model::Settings& settings) {
  if (trust_bundle_ == nullptr) return;
  std::vector<std::string> pems, addresses;
  for (const auto& certificate : settings.mesh->ca_certificates()) {
    if (!certificate.pem().empty()) pems.push_back(certificate.pem());
    if (!certificate.spiffe_bundle_url().empty()) addresses.push_back(certificate.spiffe_bundle_url());
  }
  trust_bundle_->SetMesh(pems, addresses);
}

// Before anything is read: a mesh may take long to be made.
absl::Status DiscoveryServer::CheckAddresses() const {
  for (const std::string* address :
       {&options_.grpc_addr, &options_.secure_grpc_addr, &options_.http_addr, &options_.monitoring_addr}) {
    if (address->empty() || address->starts_with("unix:")) continue;
    if (absl::Status status = server::ParseAddress(*address).status(); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status DiscoveryServer::Start() {
  if (absl::Status status = CheckAddresses(); !status.ok()) return status;
  if (absl::Status status = CheckGivenFiles(options_); !status.ok()) return status;
  LogRemarks(options_);
  webhooks_ = std::make_unique<Webhooks>(options_, [this] {
    if (cluster_writes_ != nullptr) cluster_writes_->OnTemplates();
  });
  MakePusher();
  MakeLoop();
  MakeStatuses();
  if (absl::Status status = StartStatusFiles(); !status.ok()) return status;
  if (absl::Status status = MakeClusterWrites(); !status.ok()) return status;
  if (absl::Status status = MakeStoreWrites(); !status.ok()) return status;
  if (absl::Status status = StartRegistration(); !status.ok()) return status;
  StartWatches();
  MakeKeyFetcher();
  MakeTrustBundle();
  auto kept = OpenState(options_);
  if (!kept.ok()) return kept.status();
  kept_ = *std::move(kept);
  if (absl::Status status = MakeSources(); !status.ok()) return status;
  if (absl::Status status = AddPlatformSources(); !status.ok()) return status;
  if (!options_.xds_out_dir.empty()) {
    files_ = std::make_unique<serving::FileOutput>(
        serving::FileOutput::Options{options_.xds_out_dir, options_.xds_out_nodes}, pusher_.get());
    if (absl::Status status = files_->Start(); !status.ok()) return status;
  }
  // All sinks exist before anything runs: nothing is published until the last source has synced, and /ready
  // reads what they wait for.
  const std::vector<source::Sink*> sinks = AddSinks();
  if (absl::Status status = StartHttp(); !status.ok()) return status;
  if (absl::Status status = StartSettings(); !status.ok()) return status;
  AddObservers();
  if (identity_ != nullptr) identity_->Start();
  if (tags_ != nullptr) tags_->Start();
  loop_->Start();
  for (size_t i = 0; i < sources_.size(); ++i) {
    if (absl::Status status = sources_[i]->Start(sinks[i]); !status.ok()) return status;
  }
  return absl::OkStatus();
}

std::vector<source::Sink*> DiscoveryServer::AddSinks() {
  const StartRules rules = RulesOf(options_);
  const IgnoredObjects ignored = IgnoredBy(options_.environment);
  std::vector<source::Sink*> sinks;
  for (const auto& source : sources_) {
    source::Sink* sink = loop_->AddSource(source->Name());
    if (rules.invalid || rules.unsupported || rules.policies) {
      start_checks_.push_back(std::make_unique<StartCheck>(
          rules, sink, [this](absl::Status status) { Refuse(std::move(status)); }));
      sink = start_checks_.back().get();
    }
    if (!ignored.empty()) {
      object_filters_.push_back(MakeObjectFilter(ignored, sink));
      sink = object_filters_.back().get();
    }
    sinks.push_back(WithConfigMap(*source, WithRegistration(sink)));
  }
  // What proxies register comes last: of two entries with one name the written one counts.
  if (auto registered = registration_.MakeSource(); registered != nullptr) {
    sinks.push_back(loop_->AddSource(registered->Name()));
    sources_.push_back(std::move(registered));
  }
  return sinks;
}

// The xDS listener never opens.
void DiscoveryServer::Refuse(absl::Status status) {
  {
    std::lock_guard lock(mutex_);
    if (std::exchange(grpc_tried_, true)) return;
    grpc_status_ = std::move(status);
  }
  opened_.notify_all();
}

absl::Status DiscoveryServer::StartSettings() {
  source::Sink* const sink = loop_->AddSource("mesh settings");
  settings_ = std::make_unique<SettingsFiles>(
      SettingsFiles::Options{options_.mesh_config, options_.networks_config, options_.domain,
                             options_.cluster_id, options_.ns, options_.environment.compliance,
                             options_.environment.gateways, options_.environment.features, kept_.get()},
      [this](model::SettingsPtr settings) { loop_->Set(std::move(settings)); },
      [sink](std::vector<config::Diagnostic> all) { sink->OnDiagnostics(std::move(all)); });
  settings_->Start();
  if (absl::Status status = CheckStart(RulesOf(options_), settings_->Diagnostics()); !status.ok())
    return status;
  sink->OnSynced();
  return absl::OkStatus();
}

// Who is told of each publication, in this order.
void DiscoveryServer::AddObservers() {
  loop_->AddObserver([this](const push::Publication& now) { keys_->Want(*now.snapshot); });
  loop_->AddObserver([this](const push::Publication& now) { TellTrustBundle(*now.snapshot->settings); });
  loop_->AddObserver([this](const push::Publication& now) { pusher_->Publish(now.snapshot, now.reasons); });
  loop_->AddObserver([this](const push::Publication& now) { status_board_->OnPublished(now.mesh); });
  loop_->AddObserver([this](const push::Publication& now) { reference_watch_.OnPublished(now); });
  loop_->AddObserver([this](const push::Publication& now) { webhooks_->OnPublished(now); });
  loop_->AddObserver([this](const push::Publication& now) { TellSecrets(now.changes); });
  loop_->AddObserver([this](const push::Publication& now) { registration_.OnPublished(now); });
  loop_->AddObserver([this](const push::Publication& /*now*/) {
    if (files_ != nullptr) files_->OnPublished();
    OnStatuses();
    rejection_watch_.OnPublished();
  });
  loop_->AddPlaceObserver([this] {
    rejection_watch_.OnPublished();
    reference_watch_.OnPlaces();
  });
  // Proxies may have keys of a server before this one: those are not to be taken from them at once.
  loop_->AddObserver([this](const push::Publication& /*now*/) {
    if (!serving_ && keys_->Settled()) OpenGrpc();
  });
}

// Where --secureGRPCAddr or webhooks ask for them; they need the mesh's trust domain.
absl::Status DiscoveryServer::StartCertificates() {
  if (options_.secure_grpc_addr.empty() && !webhooks_->wanted()) return absl::OkStatus();
  ServingCertificates::Sources sources;
  sources.snapshot = [this] { return pusher_->Snapshot(); };
  sources.roots = [this](const ca::Certificates& roots) {
    if (trust_bundle_ != nullptr) trust_bundle_->SetRoots(roots);
    if (cluster_writes_ != nullptr) cluster_writes_->SetRoots(ca::CertificatePems(roots));
    if (controlled_ != nullptr) controlled_->SetRoots(ca::CertificatePems(roots));
  };
  if (cluster_writes_ != nullptr)
    sources.ask = [this](kube::ApiRequest request) { return cluster_writes_->Ask(std::move(request)); };
  if (store_ != nullptr && store_->keeps_authority())
    sources.ask = [this](const kube::ApiRequest& request) { return store_->AskAndWait(request); };
  if (identity_ != nullptr) {
    sources.review = [this](const std::string& cluster, kube::ApiRequest request) {
      return identity_->Review(cluster, std::move(request));
    };
    if (webhooks_->wanted())
      sources.webhook_roots = [this](const std::string& roots) {
        identity_->SetWebhookRoots(roots);
        if (controlled_ != nullptr) controlled_->SetWebhookRoots(roots);
      };
  }
  certificates_ = std::make_unique<ServingCertificates>(options_, std::move(sources));
  if (absl::Status status = certificates_->Start(); !status.ok()) return status;
  if (store_ != nullptr) store_->WatchSecrets([this] { certificates_->OnSecretChanged(); });
  return absl::OkStatus();
}

void DiscoveryServer::OpenWebhooks() {
  if (certificates_ == nullptr) return;
  std::lock_guard lock(mutex_);
  webhooks_->Open(certificates_->webhook_credentials());
}

int DiscoveryServer::webhook_port() const {
  std::lock_guard lock(mutex_);
  return webhooks_ == nullptr ? 0 : webhooks_->port();
}

// "loaded 9 files, 10 objects, 1 error", once.
void DiscoveryServer::LogLoaded() const {
  const auto counted = [](size_t count, const char* what) {
    return StrCat(count, " ", what, count == 1 ? "" : "s");
  };
  std::string text;
  for (const auto& source : sources_) {
    if (const std::string amount = source->Amount(); !amount.empty()) StrAppend(&text, amount, ", ");
  }
  StrAppend(&text, counted(debug_sources_.objects().size(), "object"));
  const push::DiagnosticList wrong = loop_->Diagnostics();
  const size_t errors = push::CountOf(*wrong, config::Severity::kError);
  if (errors > 0) StrAppend(&text, ", ", counted(errors, "error"));
  if (wrong->size() > errors) StrAppend(&text, ", ", counted(wrong->size() - errors, "warning"));
  app_log.Info("loaded {}", text);
}

// On the loop's thread, after the first snapshot: before it, a proxy would be told that there is nothing.
void DiscoveryServer::OpenGrpc() {
  {
    std::lock_guard lock(mutex_);
    if (grpc_tried_) return;
  }
  absl::Status status = StartCertificates();
  if (status.ok()) OpenWebhooks();
  std::unique_ptr<server::GrpcServer> server;
  server::GrpcServerOptions options;
  if (status.ok()) options = GrpcOptions();
  if (status.ok() && (!options.addresses.empty() || !options.secure_addresses.empty())) {
    server = std::make_unique<server::GrpcServer>(std::move(options));
    status = server->Start();
  }
  {
    std::lock_guard lock(mutex_);
    if (std::exchange(grpc_tried_, true)) return;  // stopped meanwhile: the server goes as it came
    grpc_status_ = status;
    serving_ = status.ok();
    if (status.ok()) grpc_ = std::move(server);
  }
  opened_.notify_all();
  if (status.ok()) {
    LogLoaded();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start_;
    app_log.Info("ready after {:.0f}ms; xDS on {}{}", took.count(),
                 options_.grpc_addr.empty() ? "none" : options_.grpc_addr,
                 secure_grpc_port() == 0 ? "" : StrCat(" and over TLS on ", options_.secure_grpc_addr));
    FlushLogs();
  }
}

absl::Status DiscoveryServer::WaitUntilServing() {
  std::unique_lock lock(mutex_);
  opened_.wait(lock, [this] { return grpc_tried_; });
  return grpc_status_;
}

int DiscoveryServer::grpc_port() const {
  std::lock_guard lock(mutex_);
  return grpc_ != nullptr && grpc_tried_ && !options_.grpc_addr.empty() ? grpc_->ports().front() : 0;
}

int DiscoveryServer::secure_grpc_port() const {
  std::lock_guard lock(mutex_);
  const size_t plain = options_.grpc_addr.empty() ? 0 : 1;
  return grpc_ != nullptr && grpc_tried_ && grpc_->ports().size() > plain ? grpc_->ports().back() : 0;
}

void DiscoveryServer::Stop() {
  if (std::exchange(stopped_, true)) return;
  const Clock::time_point begun = Clock::now();
  {
    std::lock_guard lock(mutex_);
    serving_ = false;    // /ready says so from now on
    grpc_tried_ = true;  // or never will be
  }
  opened_.notify_all();
  if (tags_ != nullptr) tags_->Stop();
  if (controlled_ != nullptr) controlled_->Stop();
  if (cluster_writes_ != nullptr) cluster_writes_->Stop();
  if (store_writes_ != nullptr) store_writes_->Stop();
  if (identity_ != nullptr) identity_->Stop();
  if (grpc_ != nullptr) grpc_->Drain();
  if (settings_ != nullptr) settings_->Stop();
  for (const auto& source : sources_) source->Stop();
  if (keys_ != nullptr) keys_->Stop();
  if (trust_bundle_ != nullptr) trust_bundle_->Stop();
  rejection_watch_.Stop();
  reference_watch_.Stop();
  if (loop_ != nullptr) loop_->Stop();
  if (files_ != nullptr) files_->Stop();
  if (status_files_ != nullptr) status_files_->Stop();
  if (pusher_ != nullptr) pusher_->Stop();
  if (grpc_ != nullptr) grpc_->Stop(Duration(options_.shutdown_duration));
  registration_.Stop();
  if (store_ != nullptr) store_->Stop();
  if (webhooks_ != nullptr) {
    webhooks_->Linger(begun + Duration(options_.shutdown_duration) / 2);
    webhooks_->Stop();
  }
  if (certificates_ != nullptr) certificates_->Stop();
  inspections_.Stop();
  http_.Stop();
  monitoring_.Stop();
  control_.Stop();
  if (pusher_ != nullptr) app_log.Info("stopped");
  FlushLogs();
}

}  // namespace fairlead::app
