#include "agent/certificates.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "agent/bootstrap/node.h"
#include "agent/ca_client.h"
#include "base/files.h"
#include "base/json.h"
#include "base/log.h"
#include "base/strings.h"
#include "ca/secret_file.h"
#include "model/spiffe.h"

namespace fairlead::agent {
namespace {

LogScope sds_log("sds");

bool SomebodyListens(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, path.data(), path.size());
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return false;
  const bool connected = connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  close(socket);
  return connected;
}

}  // namespace

bool HasCertificates(const Options& options) {
  if (options.tls || options.only_mounted || SomebodyListens(options.secret_socket)) return true;
  return access(StrCat(options.mounted_certificates, "/cert-chain.pem").c_str(), R_OK) == 0;
}

bool HasForeignCertificates(const Options& options) { return SomebodyListens(options.secret_socket); }

Certificates::Certificates(const Options& options)
    : options_(options), server_(options.secret_socket, &store_) {
  store_.OnWanted([this](const std::string& name) {
    if (name == "default" || name == "ROOTCA") return;
    auto files = FilesOfName(name);
    if (files.ok()) return files_.Add(name, *std::move(files), /*kept=*/false);
    sds_log.Warn("{}", std::string(files.status().message()));
  });
  store_.OnLetGo([this] { files_.OnLetGo(); });
  if (options.certificate_folder.empty()) return;
  store_.Follow([this](const std::string& name, const Secret& secret) { WriteOut(name, secret); });
}

// What asks the store stops before the store goes.
Certificates::~Certificates() {
  server_.Stop();
  if (trust_ != nullptr) trust_->Stop();
  if (workload_ != nullptr) workload_->Stop();
  files_.Stop();
}

absl::Status Certificates::Start() {
  if (SomebodyListens(options_.secret_socket)) {
    sds_log.Info("another program serves {}: certificates come from it", options_.secret_socket);
    return absl::OkStatus();
  }
  if (!UseMountedFiles() && options_.tls && !options_.only_mounted) AskAuthority();
  if (options_.ask_what_to_trust && options_.tls) AskWhatToTrust();
  files_.WatchRevocations(options_.crl_file);
  files_.Start();
  absl::Status started = server_.Start();
  // An Envoy that needs no certificates runs without the socket, too.
  if (started.ok() || options_.tls || options_.only_mounted) return started;
  sds_log.Warn("no secrets for Envoy: {}", std::string(started.message()));
  return absl::OkStatus();
}

std::vector<std::string> Certificates::Difficulties() const {
  std::vector<std::string> all = files_.Difficulties();
  if (workload_ != nullptr) {
    if (std::string why = workload_->difficulty(); !why.empty()) all.push_back(std::move(why));
  } else if (!options_.tls && !options_.only_mounted && (store_.Lacks("default") || store_.Lacks("ROOTCA"))) {
    all.push_back(StrCat(
        "no certificate: the control plane at ", options_.discovery_address,
        " hands out none on this port; discovery's port that does is 15012, CA_ADDR names another authority, "
        "files go into ",
        options_.mounted_certificates,
        "; without certificates a PeerAuthentication of mode DISABLE lets Envoy serve in plaintext"));
  }
  return all;
}

// Source: pilot-agent, which takes them for the workload's where they exist.
bool Certificates::UseMountedFiles() {
  const std::string& folder = options_.mounted_certificates;
  const SecretFiles pair{StrCat(folder, "/cert-chain.pem"), StrCat(folder, "/key.pem"), ""};
  if (!options_.only_mounted && access(pair.chain.c_str(), R_OK) != 0) return false;
  sds_log.Info("certificates are the files in {}", folder);
  files_.Add("ROOTCA", {"", "", StrCat(folder, "/root-cert.pem")}, /*kept=*/true);
  files_.Add("default", pair, /*kept=*/true);
  return true;
}

ControlPlaneOptions Certificates::ControlPlane() const {
  ControlPlaneOptions client;
  client.address = options_.discovery_address;
  client.server_name = options_.server_name;
  client.roots_file = options_.roots_file;
  client.token_file = options_.token_file;
  client.certificate_folder = options_.provided_certificates;
  client.cluster_id = JsonString(options_.metadata, "CLUSTER_ID");
  return client;
}

void Certificates::AskWhatToTrust() {
  trust_ = std::make_unique<TrustStream>(
      TrustStreamOptions{.control_plane = ControlPlane(), .node = JsonText(BuildNode(options_))}, &store_);
  trust_->Start();
}

void Certificates::AskAuthority() {
  ControlPlaneOptions client = ControlPlane();
  if (!options_.ca_address.empty()) client.address = options_.ca_address;
  client_ = NewCaClient(std::move(client));
  WorkloadCertificateOptions workload;
  workload.identity =
      model::SpiffeId(options_.trust_domain, options_.pod_namespace, options_.service_account);
  workload.lifetime = std::chrono::duration_cast<std::chrono::seconds>(options_.secret_lifetime);
  workload.grace = options_.grace_ratio;
  workload.jitter = options_.grace_jitter;
  workload.key_type = options_.ecdsa ? ca::KeyType::kEcdsaP256 : ca::KeyType::kRsa;
  workload.rsa_bits = options_.rsa_bits;
  workload_ = std::make_unique<WorkloadCertificate>(std::move(workload), client_.get(), &store_);
  workload_->Start();
}

void Certificates::WriteOut(const std::string& name, const Secret& secret) {
  const auto write = [this](const char* file, const std::string& text) {
    const absl::Status status = WritePrivateFile(StrCat(options_.certificate_folder, "/", file), text);
    if (!status.ok()) sds_log.Error("{}", std::string(status.message()));
  };
  if (name == "ROOTCA") write("root-cert.pem", secret.roots);
  if (name != "default") return;
  write("key.pem", secret.key);
  write("cert-chain.pem", secret.chain);
}

}  // namespace fairlead::agent
