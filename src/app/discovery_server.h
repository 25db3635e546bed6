#ifndef FAIRLEAD_APP_DISCOVERY_SERVER_H_
#define FAIRLEAD_APP_DISCOVERY_SERVER_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "app/certificates.h"
#include "app/cluster_identity.h"
#include "app/cluster_writes.h"
#include "app/controlled_clusters.h"
#include "app/discovery_options.h"
#include "app/reference_watch.h"
#include "app/registration.h"
#include "app/rejection_watch.h"
#include "app/settings_files.h"
#include "app/start_check.h"
#include "app/store_writes.h"
#include "app/webhooks.h"
#include "base/executor.h"
#include "ca/trust_bundle.h"
#include "controllers/tag_watch.h"
#include "debug/pages.h"
#include "fetch/client.h"
#include "gateway_api/status/status_board.h"
#include "gateway_api/status/status_files.h"
#include "http2/file_shares.h"
#include "jwks/fetcher.h"
#include "push/publish/control_loop.h"
#include "push/stream/pusher.h"
#include "server/grpc_server.h"
#include "server/http_server.h"
#include "serving/file_output.h"
#include "source/file/last_good.h"
#include "source/source.h"

namespace fairlead::source {
class RemoteClusters;
}

namespace fairlead::app {

// `fairlead discovery`: sources, control loop, pusher and listeners, wired; the order of start and stop.
class DiscoveryServer {
 public:
  explicit DiscoveryServer(DiscoveryOptions options);
  ~DiscoveryServer();  // as Stop()

  // Starts everything and returns; the xDS listener opens when every source has synced. Fails where an
  // address cannot be listened on or a source cannot be read.
  absl::Status Start();
  // Waits until the xDS listener is open, or could not be opened.
  absl::Status WaitUntilServing();
  // Stops serving within --shutdownDuration: proxies are told to go elsewhere, and keep their configuration.
  void Stop();

  bool Ready() const { return serving_; }
  int grpc_port() const;  // 0 where there is no such listener
  int secure_grpc_port() const;
  int http_port() const { return http_.port(); }
  int monitoring_port() const { return monitoring_.port(); }
  int control_port() const { return control_.port(); }
  int webhook_port() const;  // 0 before it is open

 private:
  http2::FileShares Shares() const;
  size_t HttpRequests() const;
  server::HttpServerOptions HttpOptions() const;
  server::HttpServerOptions MonitoringOptions() const;
  server::HttpServerOptions ControlOptions() const;
  void MakePusher();
  push::ObjectTypes MakeObjectTypes() const;
  void MakeLoop();
  void MakeStatuses();
  nlohmann::ordered_json TransportConnections() const;
  absl::Status StartStatusFiles();
  void StartWatches();
  absl::Status MakeSources();
  absl::Status AddPlatformSources();
  std::unique_ptr<source::Source> FilesOf(const std::string& folder) const;
  absl::Status MakeClusterSource();
  absl::Status MakeClusterWrites();
  void MakeControlledClusters();
  absl::Status MakeStoreWrites();
  absl::Status StartRegistration();
  void MakeClusterIdentity(kube::ServerAccess access);
  void MakeTagWatch(kube::ServerAccess access);
  void OnStatuses();
  void TellSecrets(std::span<const config::ObjectChange> changes);
  absl::Status MakeRemoteClusters();
  source::Sink* WithRegistration(source::Sink* next);
  source::Sink* WithConfigMap(const source::Source& source, source::Sink* next);
  source::Sink* WithSharedConfigMap(source::Sink* next);
  absl::Status CheckAddresses() const;
  absl::Status StartSettings();
  std::vector<source::Sink*> AddSinks();
  void Refuse(absl::Status status);
  absl::Status StartHttp();
  void StartControl();
  void AddObservers();
  server::GrpcServerOptions GrpcOptions();
  absl::Status StartCertificates();
  void OpenWebhooks();
  void OpenGrpc();
  void LogLoaded() const;
  void MakeKeyFetcher();
  void MakeTrustBundle();
  void TellTrustBundle(const model::Settings& settings);

  const DiscoveryOptions options_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  // In the order in which each uses the ones before it; stopped in reverse.
  debug::Sources debug_sources_;
  Executor inspections_{"inspect", 1};
  RejectionWatch rejection_watch_;
  ReferenceWatch reference_watch_;
  WorkloadRegistration registration_{options_};
  std::unique_ptr<push::Pusher> pusher_;
  std::unique_ptr<serving::FileOutput> files_;         // null without --xdsOutDir
  std::unique_ptr<ServingCertificates> certificates_;  // null without --secureGRPCAddr; made before grpc_
  std::unique_ptr<Webhooks> webhooks_;
  std::unique_ptr<gateway_api::StatusBoard> status_board_;
  std::unique_ptr<gateway_api::StatusFiles> status_files_;  // null without --statusDir
  std::unique_ptr<server::GrpcServer> grpc_;  // set under mutex_, once, while grpc_tried_ is false
  std::unique_ptr<push::ControlLoop> loop_;
  std::unique_ptr<jwks::Fetcher> keys_;
  std::unique_ptr<ca::TrustBundle> trust_bundle_;  // null without ISTIO_MULTIROOT_MESH
  std::unique_ptr<source::LastGood> kept_;         // null without --stateDir
  std::unique_ptr<SettingsFiles> settings_;
  std::vector<std::unique_ptr<StartCheck>> start_checks_;
  std::vector<std::unique_ptr<source::Sink>> object_filters_;
  std::unique_ptr<fetch::Client> api_client_;      // null without a cluster
  std::unique_ptr<ClusterWrites> cluster_writes_;  // likewise, and where nothing is to be written
  // Null without EXTERNAL_ISTIOD, and where nothing is to be written.
  std::unique_ptr<ControlledClusters> controlled_;
  std::unique_ptr<source::EtcdStore> store_;     // null where nothing is written into etcd
  std::unique_ptr<StoreWrites> store_writes_;    // likewise
  std::string store_origin_;                     // of its objects; "" likewise
  std::unique_ptr<ClusterIdentity> identity_;    // null without a cluster
  std::unique_ptr<controllers::TagWatch> tags_;  // likewise
  std::vector<std::unique_ptr<source::Source>> sources_;
  const source::Source* cluster_source_ = nullptr;           // of sources_; null without a cluster
  const source::RemoteClusters* remote_clusters_ = nullptr;  // likewise
  const http2::FileShares file_shares_ = Shares();
  server::HttpServer http_{HttpOptions()}, monitoring_{MonitoringOptions()}, control_{ControlOptions()};

  std::atomic<bool> serving_{false};
  mutable std::mutex mutex_;
  std::condition_variable opened_;
  bool grpc_tried_ = false;   // guarded by mutex_
  absl::Status grpc_status_;  // guarded by mutex_
  bool stopped_ = false;
};

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_DISCOVERY_SERVER_H_
