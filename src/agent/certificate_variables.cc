#include <unistd.h>

#include "agent/bootstrap/json_parts.h"
#include "agent/proofs.h"
#include "agent/variable_values.h"
#include "base/json.h"
#include "base/strings.h"

namespace fairlead::agent {
namespace {

using absl::InvalidArgumentError;

constexpr char kMountedRoot[] = "root-cert.pem";

absl::Status ReadKeys(const Environment& environment, Options* options) {
  const std::string algorithm = ValueOf(environment, "ECC_SIGNATURE_ALGORITHM");
  options->ecdsa = algorithm == "ECDSA";
  if (!options->ecdsa && !algorithm.empty())
    options->remarks.push_back(
        StrCat("ECC_SIGNATURE_ALGORITHM: '", algorithm, "' is not ECDSA; keys are RSA keys"));
  const std::string curve = ValueOf(environment, "ECC_CURVE", "P256");
  options->p384 = curve == "P384";
  if (!options->p384 && curve != "P256")
    options->remarks.push_back(StrCat("ECC_CURVE: '", curve, "' is neither P256 nor P384; P256 counts"));
  options->pkcs8 = IsTrue(environment, "PKCS8_KEY");
  const std::string bits = ValueOf(environment, "WORKLOAD_RSA_KEY_SIZE");
  return bits.empty() ? absl::OkStatus() : ReadInt("WORKLOAD_RSA_KEY_SIZE", bits, &options->rsa_bits);
}

absl::Status ReadTimes(const Environment& environment, Options* options) {
  absl::Status status;
  const auto duration = [&](std::string_view name, std::chrono::milliseconds* out) {
    const std::string text = ValueOf(environment, name);
    if (status.ok() && !text.empty()) status = ReadMilliseconds(name, text, out);
  };
  const auto ratio = [&](std::string_view name, double* out) {
    const std::string text = ValueOf(environment, name);
    if (status.ok() && !text.empty()) status = ReadRatio(name, text, out);
  };
  duration("SECRET_TTL", &options->secret_lifetime);
  duration("FILE_DEBOUNCE_DURATION", &options->file_debounce);
  ratio("SECRET_GRACE_PERIOD_RATIO", &options->grace_ratio);
  ratio("SECRET_GRACE_PERIOD_RATIO_JITTER", &options->grace_jitter);
  return status;
}

// Names of gRPC's metadata; no more of them than a request can carry.
absl::Status ReadHeaders(const Environment& environment, std::string_view prefix,
                         std::map<std::string, std::string>* headers) {
  constexpr size_t kMostBytes = 4'096;
  size_t bytes = 0;
  for (const auto& [name, value] : environment) {
    if (!name.starts_with(prefix)) continue;
    const std::string header = AsciiLower(name.substr(prefix.size()));
    constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyz0123456789-_.";
    if (header.empty() || header.find_first_not_of(kAllowed) != std::string::npos ||
        header.starts_with("grpc-"))
      return InvalidArgumentError(StrCat(name, ": '", header, "' is no name of a header"));
    for (const char c : value) {
      if (c < ' ' || c > '~')
        return InvalidArgumentError(StrCat(name, ": a header's value is printable ASCII"));
    }
    bytes += header.size() + value.size();
    if (bytes > kMostBytes)
      return InvalidArgumentError(StrCat(prefix, "*: headers of more than ", kMostBytes, " bytes"));
    (*headers)[header] = value;
  }
  return absl::OkStatus();
}

// Source: pilot-agent, credentialfetcher.NewCredFetcher; createCAClient.
absl::Status ReadProviders(const Environment& environment, Options* options) {
  const std::string fetcher = ValueOf(environment, "CREDENTIAL_FETCHER_TYPE", "JWT");
  options->google_token = fetcher == "GoogleComputeEngine";
  options->metadata_host = ValueOf(environment, "GCE_METADATA_HOST");
  if (!options->google_token && fetcher != "JWT")
    return InvalidArgumentError(
        StrCat("CREDENTIAL_FETCHER_TYPE: '", fetcher, "' is neither JWT nor GoogleComputeEngine"));
  const std::string authority = ValueOf(environment, "CA_PROVIDER", "Citadel");
  options->gke_certificates = authority == "GkeWorkloadCertificate";
  if (!options->gke_certificates && authority != "Citadel")
    return InvalidArgumentError(
        StrCat("CA_PROVIDER: '", authority, "' is neither Citadel nor GkeWorkloadCertificate"));
  if (options->gke_certificates) options->only_mounted = true;
  if (options->only_mounted && !options->provided_certificates.empty())
    return InvalidArgumentError("PROV_CERT: of no use with FILE_MOUNTED_CERTS, which asks no authority");
  return absl::OkStatus();
}

bool IsThere(const std::string& file) { return access(file.c_str(), F_OK) == 0; }

// Source: pilot-agent, Agent.FindRootCAForXDS and FindRootCAForCA.
absl::Status FindRoots(const Environment& environment, Options* options) {
  const std::string provider = ValueOf(environment, "PILOT_CERT_PROVIDER", "istiod");
  const std::string mounted = StrCat(options->mounted_certificates, "/", kMountedRoot);
  const std::string told = ValueOf(environment, "XDS_ROOT_CA");
  options->own_roots_file = !told.empty();
  std::string otherwise = options->roots_file;
  if (!options->provided_certificates.empty()) {
    otherwise = StrCat(options->provided_certificates, "/", kMountedRoot);
  } else if (provider == "custom" || IsThere(mounted)) {
    otherwise = mounted;
  } else if (options->only_mounted) {
    const std::string own =
        JsonString(MemberAt(options->proxy_config, {"proxyMetadata"}), "ISTIO_META_TLS_CLIENT_ROOT_CERT");
    if (!own.empty()) otherwise = own;
  } else if (provider == "none" && told.empty() && options->tls) {
    return InvalidArgumentError(
        "PILOT_CERT_PROVIDER: none, so XDS_ROOT_CA must name the roots that vouch for the control plane");
  }
  options->roots_file = told.empty() ? otherwise : told;
  options->ca_roots_file = ValueOf(environment, "CA_ROOT_CA", options->roots_file);
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadCertificateVariables(const Environment& environment, Options* options) {
  options->ca_address = ValueOf(environment, "CA_ADDR");
  options->tls = options->discovery_address.ends_with(":15012") || !options->ca_address.empty();
  options->server_name = ValueOf(environment, "ISTIOD_SAN");
  options->token_file = ValueOf(environment, "FAIRLEAD_TOKEN_FILE", options->token_file);
  options->provided_certificates = ValueOf(environment, "PROV_CERT");
  options->crl_file = ValueOf(environment, "FAIRLEAD_CRL_FILE", options->crl_file);
  options->only_mounted = IsTrue(environment, "FILE_MOUNTED_CERTS");
  options->ask_what_to_trust = IsTrue(environment, "PROXY_CONFIG_XDS_AGENT");
  options->trust_domain = ValueOf(environment, "TRUST_DOMAIN", options->trust_domain);
  options->service_account = ValueOf(environment, "SERVICE_ACCOUNT", options->service_account);
  absl::Status status = ReadKeys(environment, options);
  if (status.ok()) status = ReadTimes(environment, options);
  if (status.ok()) status = ReadHeaders(environment, "CA_HEADER_", &options->ca_headers);
  if (status.ok()) status = ReadHeaders(environment, "XDS_HEADER_", &options->xds_headers);
  if (status.ok()) status = ReadProviders(environment, options);
  return status.ok() ? FindRoots(environment, options) : status;
}

}  // namespace fairlead::agent
