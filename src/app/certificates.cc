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
#include "ca/metrics.h"
#include "ca/token.h"
#include "ca/token_issuer.h"
#include "istio/mesh/v1alpha1/config.pb.h"

namespace fairlead::app {
namespace {

LogScope ca_log("ca");

constexpr int kNicenessOfSigning = 10;  // pushes go first: a renewal has half a lifetime

std::chrono::seconds Seconds(std::chrono::nanoseconds duration) {
  return std::chrono::duration_cast<std::chrono::seconds>(duration);
}

// A signer elsewhere is waited for.
size_t ThreadsOf(const Environment& environment) {
  return environment.signer_url.empty() ? std::max(1u, std::thread::hardware_concurrency()) : 32;
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
      signing_("certificates", ThreadsOf(options.environment), kNicenessOfSigning) {}

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
  if (absl::Status status = AddAuthenticators(); !status.ok()) return status;
  service_ = std::make_unique<ca::CertificateService>(
      external_ != nullptr ? static_cast<ca::Signer*>(external_.get()) : &authority_, &authenticators_,
      ca::NodeAgents(List(options_.environment.trusted_node_accounts), &pods_),
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

// In istiod's order: certificates, tokens, forwarded certificates.
absl::Status ServingCertificates::AddAuthenticators() {
  const Environment& environment = options_.environment;
  const ca::TrustDomains domains = [this] { return TrustDomains(); };
  authenticators_.Add(ca::NewCertificateAuthenticator(domains));
  if (!environment.token_issuer.empty()) {
    token_keys_ = std::make_unique<ca::TokenKeySource>(
        ca::TokenKeySourceOptions{.file = environment.token_keys, .issuer = environment.token_issuer});
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
  shown_ = std::make_unique<ca::ListenerCertificate>(
      std::move(options), &authority_,
      [credentials = credentials_, of_webhooks = webhook_credentials_](const http2::TlsMaterial& material) {
        absl::Status status = credentials->Replace(material);
        if (!status.ok()) return status;
        http2::TlsMaterial anonymous = material;
        anonymous.client_roots = anonymous.client_crl = "";
        return of_webhooks->Replace(anonymous);
      });
  return shown_->Start();
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
}

std::vector<server::GrpcMethod> ServingCertificates::Methods() {
  std::vector<server::GrpcMethod> methods;
  if (keeper_ == nullptr && external_ == nullptr) return methods;
  ca::Turns::Limits limits;
  limits.most_of_one = static_cast<size_t>(options_.environment.certificate_queue);
  methods.push_back(ca::CertificateMethod(service_.get(), std::make_shared<ca::Turns>(&signing_, limits)));
  return methods;
}

absl::StatusOr<std::vector<std::string>> ServingCertificates::Prove(
    const server::ServerStream& stream) const {
  if (stream.tls() == nullptr) return std::vector<std::string>();
  auto caller = authenticators_.Authenticate(ca::CredentialsOf(stream));
  if (caller.ok()) return std::move(caller->identities);
  static auto* const rate = new LogRate;
  if (const auto more = rate->Admit(HostOfPeer(stream.peer())))
    ca_log.Warn("{}: {}{}", stream.peer(), Excerpt(FromAbsl(caller.status().message())), *more);
  if (!options_.environment.authenticate_xds) return std::vector<std::string>();
  return absl::UnauthenticatedError("authentication failure");
}

}  // namespace fairlead::app
