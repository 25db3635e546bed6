#include "agent/certificates.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <optional>

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

// The files of that folder are the agent's own: read as certificates of somebody else they would never be
// renewed. Source: Istio, SecretManagerClient.generateFileSecret.
bool IsOwnOutput(const Options& options) {
  return !options.certificate_folder.empty() &&
         AbsolutePath(options.certificate_folder) == AbsolutePath(options.mounted_certificates);
}

// The workload's pair and its roots.
struct WorkloadFiles {
  std::string chain, key, roots;
};

// Those of an external SPIFFE agent; nothing unless all are there. Source: pilot-agent, initSdsServer and
// CheckWorkloadCertificate.
std::optional<WorkloadFiles> SpiffeFiles(const Options& options) {
  const auto in_folder = [&options](const char* name) {
    return StrCat(options.spiffe_certificates, "/", name);
  };
  const WorkloadFiles files =
      options.gke_certificates
          ? WorkloadFiles{in_folder("certificates.pem"), in_folder("private_key.pem"),
                          in_folder("ca_certificates.pem")}
          : WorkloadFiles{in_folder("cert-chain.pem"), in_folder("key.pem"), in_folder("root-cert.pem")};
  for (const std::string* file : {&files.chain, &files.key, &files.roots}) {
    if (access(file->c_str(), R_OK) != 0) return std::nullopt;
  }
  return files;
}

}  // namespace

bool HasCertificates(const Options& options) {
  if (options.tls || options.only_mounted || SomebodyListens(options.secret_socket)) return true;
  if (SpiffeFiles(options)) return true;
  return !IsOwnOutput(options) &&
         access(StrCat(options.mounted_certificates, "/cert-chain.pem").c_str(), R_OK) == 0;
}

bool HasForeignCertificates(const Options& options) { return SomebodyListens(options.secret_socket); }

void NoteSockets(Options* options) {
  if (SomebodyListens(options->credential_socket)) options->metadata["credential"] = "true";
  if (HasForeignCertificates(*options)) options->metadata["file-credential"] = "true";
}

ControlPlaneOptions DiscoveryOf(const Options& options) {
  ControlPlaneOptions client;
  client.address = options.discovery_address;
  client.server_name = options.server_name;
  client.roots_file = options.roots_file;
  client.token_file = options.token_file;
  client.certificate_folder = options.provided_certificates;
  client.cluster_id = JsonString(options.metadata, "CLUSTER_ID");
  client.headers = {options.xds_headers.begin(), options.xds_headers.end()};
  return client;
}

Certificates::Certificates(const Options& options)
    : options_(options),
      foreign_(SomebodyListens(options.secret_socket)),
      files_(&store_, options.file_debounce),
      server_(foreign_ ? options.file_secret_socket : options.secret_socket, &store_) {
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
  if (token_ != nullptr) token_->Stop();
  files_.Stop();
}

absl::Status Certificates::Start() {
  // Its files say who may read them: an application looks into it, too.
  if (!options_.certificate_folder.empty()) {
    if (absl::Status status = CreateFolders(options_.certificate_folder); !status.ok()) return status;
  }
  if (options_.google_token) {
    // Source: pilot-agent, which asks Google's server, or the one that this variable of its library names.
    const std::string host = options_.metadata_host.empty() ? "169.254.169.254" : options_.metadata_host;
    token_ = std::make_unique<GoogleToken>(StrCat("http://", host), options_.trust_domain,
                                           options_.token_file, AskMetadataServer);
    token_->Start();
  }
  if (foreign_) {
    sds_log.Info("another program serves {}: the workload's certificate comes from it",
                 options_.secret_socket);
  } else if (!UseMountedFiles() && options_.tls && !options_.only_mounted) {
    AskAuthority();
  }
  if (options_.ask_what_to_trust && options_.tls) AskWhatToTrust();
  files_.WatchRevocations(options_.crl_file);
  files_.Start();
  return Serve();
}

absl::Status Certificates::Serve() {
  // Without Envoy nobody asks: files have the certificates.
  if (options_.disable_envoy) return absl::OkStatus();
  absl::Status started = server_.Start();
  // An Envoy that needs no certificates runs without the socket, too.
  if (started.ok() || (!foreign_ && (options_.tls || options_.only_mounted))) return started;
  sds_log.Warn("no secrets for Envoy: {}", std::string(started.message()));
  return absl::OkStatus();
}

std::vector<std::string> Certificates::Difficulties() const {
  std::vector<std::string> all = files_.Difficulties();
  if (workload_ != nullptr) {
    if (std::string why = workload_->difficulty(); !why.empty()) all.push_back(std::move(why));
  } else if (!foreign_ && !options_.tls && !options_.only_mounted &&
             (store_.Lacks("default") || store_.Lacks("ROOTCA"))) {
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
  WorkloadFiles files{StrCat(folder, "/cert-chain.pem"), StrCat(folder, "/key.pem"),
                      StrCat(folder, "/root-cert.pem")};
  if (auto found = SpiffeFiles(options_)) {
    files = *std::move(found);
  } else if (!options_.only_mounted && (IsOwnOutput(options_) || access(files.chain.c_str(), R_OK) != 0)) {
    return false;
  }
  sds_log.Info("certificates are files: {}, {}", files.chain, files.roots);
  files_.Add("ROOTCA", {"", "", files.roots}, /*kept=*/true);
  files_.Add("default", {files.chain, files.key, ""}, /*kept=*/true);
  return true;
}

void Certificates::AskWhatToTrust() {
  trust_ = std::make_unique<TrustStream>(
      TrustStreamOptions{.control_plane = DiscoveryOf(options_), .node = JsonText(BuildNode(options_))},
      &store_);
  trust_->Start();
}

void Certificates::AskAuthority() {
  ControlPlaneOptions client = DiscoveryOf(options_);
  if (!options_.ca_address.empty()) {
    client.address = options_.ca_address;
    // ISTIOD_SAN names the control plane, not another authority.
    if (client.address != options_.discovery_address) client.server_name.clear();
  }
  client.roots_file = options_.ca_roots_file;
  client.headers = {options_.ca_headers.begin(), options_.ca_headers.end()};
  client_ = NewCaClient(std::move(client), JsonString(options_.metadata, "CERT_SIGNER"));
  WorkloadCertificateOptions workload;
  workload.identity =
      model::SpiffeId(options_.trust_domain, options_.pod_namespace, options_.service_account);
  workload.lifetime = std::chrono::duration_cast<std::chrono::seconds>(options_.secret_lifetime);
  workload.grace = options_.grace_ratio;
  workload.jitter = options_.grace_jitter;
  const ca::KeyType curve = options_.p384 ? ca::KeyType::kEcdsaP384 : ca::KeyType::kEcdsaP256;
  workload.key_type = options_.ecdsa ? curve : ca::KeyType::kRsa;
  workload.pkcs8 = options_.pkcs8;
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
