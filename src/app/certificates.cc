#include "app/certificates.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <thread>
#include <utility>

#include "app/listener_names.h"
#include "app/state_folder.h"
#include "base/errno_text.h"
#include "base/excerpt.h"
#include "base/files.h"
#include "base/log.h"
#include "base/log_rate.h"
#include "base/strings.h"
#include "ca/certificate_method.h"
#include "ca/cluster_keys.h"
#include "ca/metrics.h"
#include "ca/secret_file.h"
#include "ca/token.h"
#include "ca/token_issuer.h"
#include "ca/token_review.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "kube/access.h"

namespace fairlead::app {
namespace {

LogScope ca_log("ca");

constexpr int kNicenessOfSigning = 10;  // pushes go first: a renewal has half a lifetime

std::chrono::seconds Seconds(std::chrono::nanoseconds duration) {
  return std::chrono::duration_cast<std::chrono::seconds>(duration);
}

// Others are waited for.
constexpr size_t kWaitingThreads = 32;
// Of the certificate of clusters' signers, where it is mounted. Source: Istio's DefaultExtCACertDir.
constexpr char kClusterSignerRoots[] = "./etc/external-ca-cert/root-cert.pem";

size_t ThreadsOf(const Environment& environment, bool reviews) {
  if (!environment.signer_url.empty() || reviews) return kWaitingThreads;
  return std::max(1u, std::thread::hardware_concurrency());
}

bool Exists(const std::string& file) {
  struct stat found {};
  return stat(file.c_str(), &found) == 0;
}

std::vector<std::string> List(std::string_view text) {
  std::vector<std::string> out;
  for (std::string_view part : Split(text, ',')) {
    if (!Trim(part).empty()) out.emplace_back(Trim(part));
  }
  return out;
}

// For everybody to read, as agents run as other users.
void PublishRoots(const ca::Bundle& bundle, const std::string& file) {
  absl::Status status = CreateFolders(file.substr(0, file.rfind('/')));
  if (status.ok()) status = WriteFileAtomically(file, ca::CertificatePems(bundle.roots));
  if (status.ok() && chmod(file.c_str(), 0644) != 0)
    status = absl::UnavailableError(StrCat(file, ": ", ErrnoText(errno)));
  if (status.ok()) {
    ca_log.Info("agents find the roots in {}", file);
  } else {
    ca_log.Warn("the roots are not where agents would find them: {}", FromAbsl(status.message()));
  }
}

ca::AuthorityOptions AuthorityOptionsOf(const Environment& environment) {
  return {.default_lifetime = Seconds(environment.default_certificate_lifetime),
          .max_lifetime = Seconds(environment.max_certificate_lifetime)};
}

}  // namespace

ServingCertificates::ServingCertificates(const DiscoveryOptions& options, Sources sources)
    : options_(options),
      sources_(std::move(sources)),
      authority_(AuthorityOptionsOf(options.environment)),
      pods_(sources_.snapshot),
      signing_("certificates", ThreadsOf(options.environment, sources_.review != nullptr),
               kNicenessOfSigning),
      reviewing_("reviews", sources_.review != nullptr ? kWaitingThreads : 1),
      reviews_(std::make_shared<ca::Turns>(&reviewing_, ca::Turns::Limits())) {}

ServingCertificates::~ServingCertificates() { Stop(); }

std::vector<std::string> ServingCertificates::TrustDomains() const {
  const auto& mesh = *sources_.snapshot()->settings->mesh;
  std::vector<std::string> domains = {mesh.trust_domain().empty() ? "cluster.local" : mesh.trust_domain()};
  domains.insert(domains.end(), mesh.trust_domain_aliases().begin(), mesh.trust_domain_aliases().end());
  return domains;
}

absl::Status ServingCertificates::Start() {
  if (options_.environment.ca_server) {
    const bool elsewhere = !options_.environment.signer_url.empty();
    absl::Status status = elsewhere ? StartRegistration() : StartAuthority();
    if (!status.ok()) return status;
  }
  if (absl::Status status = StartClusterSigner(); !status.ok()) return status;
  if (absl::Status status = AddAuthenticators(); !status.ok()) return status;
  service_ = std::make_unique<ca::CertificateService>(
      cluster_ != nullptr    ? static_cast<ca::Signer*>(cluster_.get())
      : external_ != nullptr ? static_cast<ca::Signer*>(external_.get())
                             : &authority_,
      &authenticators_, ca::NodeAgents(List(options_.environment.trusted_node_accounts), &pods_),
      ca::IssueRate::Limits{options_.environment.certificate_rate, options_.environment.certificate_burst});
  return StartListenerCertificate();
}

absl::Status ServingCertificates::StartAuthority() {
  const Environment& environment = options_.environment;
  ca::KeeperOptions options;
  options.plugged_in = environment.root_ca_dir;
  options.revocations = environment.revocations;
  options.self_signed.folder = AuthorityFolder(options_);
  options.self_signed.organization = TrustDomains().front();
  options.self_signed.lifetime = Seconds(environment.root_lifetime);
  options.self_signed.rsa_bits = environment.root_rsa_bits;
  options.self_signed.grace_percent = environment.root_grace_percent;
  options.root_check = Seconds(environment.root_check_interval);
  if (sources_.ask != nullptr && environment.ca_dir.empty()) {
    options.secret.ask = sources_.ask;
    options.secret.ns = options_.ns;
    options.secret.use_cacerts = environment.root_in_cacerts;
    options.secret.revocations = environment.revocations;
    options.secret.self_signed = options.self_signed;
  }
  if (sources_.roots != nullptr)
    authority_.Follow([this](const ca::BundlePtr& bundle) { sources_.roots(bundle->roots); });
  if (const std::string file = RootFile(options_); !file.empty())
    authority_.Follow([file](const ca::BundlePtr& bundle) { PublishRoots(*bundle, file); });
  keeper_ = std::make_unique<ca::Keeper>(std::move(options), &authority_);
  return keeper_->Start();
}

absl::Status ServingCertificates::StartRegistration() {
  const Environment& environment = options_.environment;
  ca::ExternalSignerOptions options;
  options.url = environment.signer_url;
  options.profile = environment.signer_profile;
  options.token_file = environment.signer_token;
  options.tls_roots = environment.signer_tls_roots;
  options.roots_file = StrCat(environment.root_ca_dir, "/root-cert.pem");
  options.chain_file = StrCat(environment.root_ca_dir, "/cert-chain.pem");
  options.max_lifetime = Seconds(environment.max_certificate_lifetime);
  external_ = std::make_unique<ca::ExternalSigner>(std::move(options));
  ca::Metrics();
  ca_log.Info("certificates are signed by {}", environment.signer_url);
  return external_->Check();
}

// Beside an authority here, whose certificates the listeners show. Source: Istio's createIstioRA.
absl::Status ServingCertificates::StartClusterSigner() {
  const IdentityOptions& identity = options_.environment.identity;
  if (identity.external_ca.empty()) return absl::OkStatus();
  if (identity.external_ca != kClusterSigner)
    return absl::InvalidArgumentError(
        StrCat("EXTERNAL_CA=", identity.external_ca, " is not known; ", kClusterSigner, " is"));
  if (sources_.review == nullptr)
    return absl::InvalidArgumentError(StrCat("EXTERNAL_CA=", kClusterSigner, " needs a cluster"));
  if (external_ != nullptr)
    return absl::InvalidArgumentError("EXTERNAL_CA and FAIRLEAD_SIGNER_URL exclude each other");
  ca::KubernetesSignerOptions options;
  options.ask = [review = sources_.review](kube::ApiRequest request) {
    return review("", std::move(request));
  };
  options.signer = identity.signer;
  options.domain = identity.signer_domain;
  const std::string own_roots = StrCat(kube::kServiceAccountFolder, "/ca.crt");
  if (Exists(kClusterSignerRoots)) {
    options.roots_file = kClusterSignerRoots;
  } else if (identity.signer_domain.empty() && MeshRootsOf(identity.signer).empty() && Exists(own_roots)) {
    options.roots_file = own_roots;
  }
  options.roots_of = [this](const std::string& signer) { return MeshRootsOf(signer); };
  options.default_lifetime = Seconds(options_.environment.default_certificate_lifetime);
  options.max_lifetime = Seconds(options_.environment.max_certificate_lifetime);
  cluster_roots_ = options.roots_file;
  cluster_ = std::make_unique<ca::KubernetesSigner>(std::move(options));
  ca_log.Info("workloads' certificates are signed by the cluster's {}",
              identity.signer.empty() ? StrCat("signers of ", identity.signer_domain) : identity.signer);
  return cluster_->Check();
}

// The roots that the MeshConfig has for a signer, PEM. Source: Istio's GetRootCertFromMeshConfig.
std::string ServingCertificates::MeshRootsOf(const std::string& signer) const {
  std::string roots;
  const auto& mesh = *sources_.snapshot()->settings->mesh;
  for (const auto& certificate : mesh.ca_certificates()) {
    const auto& signers = certificate.cert_signers();
    if (std::find(signers.begin(), signers.end(), signer) != signers.end())
      StrAppend(&roots, certificate.pem(), "\n");
  }
  return roots;
}

void ServingCertificates::AddTokenReviews(const ca::TrustDomains& domains) {
  if (sources_.review == nullptr) return;
  ca::TokenReviewOptions options;
  options.audiences = List(options_.environment.identity.review_audiences);
  options.own_cluster = options_.cluster_id;
  options.ask = sources_.review;
  options.now = ca::UnixNow;
  authenticators_.Add(ca::NewTokenReviewAuthenticator(std::move(options), domains));
}

// In istiod's order: certificates, tokens, forwarded certificates.
absl::Status ServingCertificates::AddAuthenticators() {
  const Environment& environment = options_.environment;
  const ca::TrustDomains domains = [this] { return TrustDomains(); };
  authenticators_.Add(ca::NewCertificateAuthenticator(domains));
  if (!environment.token_issuer.empty()) {
    ca::TokenKeySourceOptions keys{.file = environment.token_keys, .issuer = environment.token_issuer};
    if (sources_.review != nullptr)
      keys.fetch = ca::ClusterKeys(
          environment.token_issuer,
          [review = sources_.review](kube::ApiRequest request) { return review("", std::move(request)); });
    token_keys_ = std::make_unique<ca::TokenKeySource>(std::move(keys));
    token_keys_->Start();
    authenticators_.Add(ca::NewTokenAuthenticator(
        {.issuer = environment.token_issuer,
         .audiences = List(environment.token_audience),
         .keys = [keys = token_keys_.get()](bool unknown) { return keys->Keys(unknown); },
         .now = ca::UnixNow},
        domains));
  } else if (!environment.token_keys.empty()) {
    return absl::InvalidArgumentError("FAIRLEAD_TOKEN_KEYS needs TOKEN_ISSUER: whose tokens they verify");
  }
  if (const std::string folder = TokenFolder(options_.state_dir); !folder.empty()) {
    ca::TokenKeySourceOptions own;
    own.file = ca::IssuerKeyFile(folder);
    own.own = true;
    own.issuer = ca::kOwnIssuer;
    own_keys_ = std::make_unique<ca::TokenKeySource>(std::move(own));
    own_keys_->Start();
    authenticators_.Add(ca::NewTokenAuthenticator(
        {.issuer = std::string(ca::kOwnIssuer),
         .audiences = List(environment.token_audience),
         .keys = [keys = own_keys_.get()](bool unknown) { return keys->Keys(unknown); },
         .now = ca::UnixNow},
        domains));
  }
  AddTokenReviews(domains);
  const std::vector<std::string> gateways = List(environment.trusted_gateways);
  if (gateways.empty()) return absl::OkStatus();
  auto forwarded = ca::NewForwardedAuthenticator(gateways, domains);
  if (!forwarded.ok())
    return absl::InvalidArgumentError(
        StrCat("TRUSTED_GATEWAY_CIDR: ", FromAbsl(forwarded.status().message())));
  authenticators_.Add(*std::move(forwarded));
  return absl::OkStatus();
}

absl::Status ServingCertificates::StartListenerCertificate() {
  const bool own = !options_.tls_cert_file.empty() || !options_.tls_key_file.empty();
  if (own && (options_.tls_cert_file.empty() || options_.tls_key_file.empty()))
    return absl::InvalidArgumentError("--tlsCertFile and --tlsKeyFile go together");
  if (!own && keeper_ == nullptr)
    return absl::FailedPreconditionError(
        "without an authority here (ENABLE_CA_SERVER, FAIRLEAD_SIGNER_URL) the TLS listener needs "
        "--tlsCertFile");
  auto credentials = server::TlsCredentials::Make(
      {.min_version = options_.tls_min_version, .cipher_suites = options_.tls_cipher_suites});
  if (!credentials.ok()) return credentials.status();
  credentials_ = *std::move(credentials);
  auto of_webhooks = server::TlsCredentials::Make(
      {.min_version = options_.tls_min_version, .cipher_suites = options_.tls_cipher_suites, .http1 = true});
  if (!of_webhooks.ok()) return of_webhooks.status();
  webhook_credentials_ = *std::move(of_webhooks);
  ca::ListenerCertificateOptions options;
  options.names = ListenerNames(options_);
  options.lifetime = Seconds(options_.environment.default_certificate_lifetime);
  options.chain_file = options_.tls_cert_file;
  options.key_file = options_.tls_key_file;
  if (!options_.ca_cert_file.empty()) options.roots_files.push_back(options_.ca_cert_file);
  // The authority's own roots count anyhow; those of a signer elsewhere vouch for workloads, too.
  if (external_ != nullptr)
    options.roots_files.push_back(StrCat(options_.environment.root_ca_dir, "/root-cert.pem"));
  if (!cluster_roots_.empty()) options.roots_files.push_back(cluster_roots_);
  shown_ = std::make_unique<ca::ListenerCertificate>(
      std::move(options), &authority_,
      [this, credentials = credentials_,
       of_webhooks = webhook_credentials_](const http2::TlsMaterial& material) {
        absl::Status status = credentials->Replace(material);
        if (!status.ok()) return status;
        http2::TlsMaterial anonymous = material;
        anonymous.client_roots = anonymous.client_crl = "";
        status = of_webhooks->Replace(anonymous);
        if (status.ok()) TellWebhookRoots();
        return status;
      });
  return shown_->Start();
}

// An operator's own certificate is vouched for by what --caCertFile says.
void ServingCertificates::TellWebhookRoots() const {
  if (sources_.webhook_roots == nullptr) return;
  if (options_.tls_cert_file.empty()) {
    if (const ca::BundlePtr bundle = authority_.bundle(); bundle != nullptr)
      sources_.webhook_roots(ca::CertificatePems(bundle->roots));
    return;
  }
  if (options_.ca_cert_file.empty()) {
    static auto* const rate = new LogRate;
    if (rate->Admit("webhooks"))
      ca_log.Warn("the caBundle of webhooks is left as it is: --tlsCertFile is given without --caCertFile");
    return;
  }
  if (const auto roots = ca::ReadSecretFile(options_.ca_cert_file); roots.ok())
    sources_.webhook_roots(*roots);
}

void ServingCertificates::OnSecretChanged() {
  if (keeper_ != nullptr) keeper_->OnSecretChanged();
}

void ServingCertificates::Stop() {
  if (shown_ != nullptr) shown_->Stop();
  if (own_keys_ != nullptr) own_keys_->Stop();
  if (token_keys_ != nullptr) token_keys_->Stop();
  if (keeper_ != nullptr) keeper_->Stop();
  signing_.Stop();
  reviewing_.Stop();
}

std::vector<server::GrpcMethod> ServingCertificates::Methods() {
  std::vector<server::GrpcMethod> methods;
  if (keeper_ == nullptr && external_ == nullptr && cluster_ == nullptr) return methods;
  ca::Turns::Limits limits;
  limits.most_of_one = static_cast<size_t>(options_.environment.certificate_queue);
  methods.push_back(ca::CertificateMethod(service_.get(), std::make_shared<ca::Turns>(&signing_, limits)));
  return methods;
}

void ServingCertificates::Prove(const server::ServerStream& stream, Proven proven) {
  if (stream.tls() == nullptr) return proven(std::vector<std::string>());
  const ca::Credentials credentials = ca::CredentialsOf(stream);
  if (auto caller = authenticators_.AuthenticateAtOnce(credentials))
    return proven(Judge(*std::move(caller), credentials.address));
  const bool waits = reviews_->Add(ca::WaitsAs(credentials), [this, credentials, proven] {
    proven(Judge(authenticators_.Authenticate(credentials), credentials.address));
  });
  if (!waits) proven(absl::ResourceExhaustedError("too many streams wait for the proof of their caller"));
}

absl::StatusOr<std::vector<std::string>> ServingCertificates::Judge(absl::StatusOr<ca::Caller> caller,
                                                                    const std::string& address) const {
  if (caller.ok()) return std::move(caller->identities);
  static auto* const rate = new LogRate;
  if (const auto more = rate->Admit(HostOfPeer(address)))
    ca_log.Warn("{}: {}{}", address, Excerpt(FromAbsl(caller.status().message())), *more);
  if (!options_.environment.authenticate_xds) return std::vector<std::string>();
  return absl::UnauthenticatedError("authentication failure");
}

}  // namespace fairlead::app
