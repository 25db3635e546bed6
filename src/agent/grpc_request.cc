#include "agent/grpc_request.h"

#include <charconv>
#include <utility>

#include "base/strings.h"
#include "ca/secret_file.h"

namespace fairlead::agent {
namespace {

size_t TakeLine(char* data, size_t size, size_t count, void* end) {
  static_cast<GrpcEnd*>(end)->TakeField({data, size * count});
  return size * count;
}

}  // namespace

std::string GrpcFrame(std::string_view message) {
  std::string bytes(kGrpcPrefix, '\0');
  for (size_t i = 1; i < kGrpcPrefix; ++i)
    bytes[i] = static_cast<char>(message.size() >> (8 * (kGrpcPrefix - 1 - i)));
  bytes += message;
  return bytes;
}

void GrpcEnd::TakeField(std::string_view line) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  const std::string_view name = line.substr(0, colon), value = Trim(line.substr(colon + 1));
  if (EqualsIgnoreCase(name, "grpc-message")) message_ = value;
  int status = 0;
  if (EqualsIgnoreCase(name, "grpc-status") &&
      std::from_chars(value.data(), value.data() + value.size(), status).ec == std::errc())
    status_ = status;
}

absl::Status GrpcEnd::Said() const {
  if (!status_) return absl::UnavailableError("the answer is no gRPC");
  if (*status_ == 0) return absl::OkStatus();
  const std::unique_ptr<char, decltype(&curl_free)> text(
      curl_easy_unescape(nullptr, message_.c_str(), 0, nullptr), curl_free);
  return {static_cast<absl::StatusCode>(*status_), text == nullptr ? "" : text.get()};
}

GrpcRequest::GrpcRequest() : curl_(curl_easy_init(), curl_easy_cleanup) {
  AddField("content-type: application/grpc");
  AddField("te: trailers");
  AddField("expect:");  // none
}

bool GrpcRequest::ok() const {
  static const CURLcode initialized = curl_global_init(CURL_GLOBAL_DEFAULT);
  return initialized == CURLE_OK && curl_ != nullptr && fields_ != nullptr;
}

void GrpcRequest::AddField(const std::string& field) {
  curl_slist* const more = curl_slist_append(fields_.get(), field.c_str());
  if (more == nullptr) return;
  static_cast<void>(fields_.release());
  fields_.reset(more);
}

void GrpcRequest::SetPlace(const CaClientOptions& options, std::string_view path) {
  const size_t colon = options.address.rfind(':');
  const std::string host = options.address.substr(0, colon);
  const std::string port = colon == std::string::npos ? "443" : options.address.substr(colon + 1);
  const std::string& name = options.server_name.empty() ? host : options.server_name;
  if (name != host) {
    place_.reset(curl_slist_append(nullptr, StrCat(name, ":", port, ":", options.address).c_str()));
    Set(CURLOPT_CONNECT_TO, place_.get());
  }
  Set(CURLOPT_URL, StrCat("https://", name, ":", port, path).c_str());
}

absl::Status GrpcRequest::AddProofs(const CaClientOptions& options, const Secret& earlier) {
  const auto roots = ca::ReadSecretFile(options.roots_file);
  if (!roots.ok()) return roots.status();
  Secret own = earlier;
  if (own.key.empty() && !options.certificate_folder.empty()) {
    auto chain = ca::ReadSecretFile(StrCat(options.certificate_folder, "/cert-chain.pem"));
    if (!chain.ok()) return chain.status();
    auto key = ca::ReadSecretFile(StrCat(options.certificate_folder, "/key.pem"));
    if (!key.ok()) return key.status();
    own = {*std::move(chain), *std::move(key), ""};
  }
  // The roots alone vouch for the server.
  SetBlob(CURLOPT_CAINFO_BLOB, *roots);
  Set(CURLOPT_CAPATH, static_cast<char*>(nullptr));
  if (!own.key.empty()) {
    SetBlob(CURLOPT_SSLCERT_BLOB, own.chain);
    SetBlob(CURLOPT_SSLKEY_BLOB, own.key);
  }
  if (!options.cluster_id.empty()) AddField(StrCat("clusterid: ", options.cluster_id));
  if (options.token_file.empty()) return absl::OkStatus();
  // A token that cannot be read is an error only where there is nothing else.
  const auto token = ca::ReadSecretFile(options.token_file);
  if (token.ok()) AddField(StrCat("authorization: Bearer ", Trim(*token)));
  return absl::OkStatus();
}

void GrpcRequest::Prepare(GrpcEnd* end) {
  Set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
  Set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  Set(CURLOPT_NOSIGNAL, 1L);
  Set(CURLOPT_HTTPHEADER, fields_.get());
  Set(CURLOPT_HEADERFUNCTION, &TakeLine);
  Set(CURLOPT_HEADERDATA, end);
  Set(CURLOPT_ERRORBUFFER, problem_.data());
}

absl::Status GrpcRequest::Failure(CURLcode code) const {
  const std::string problem = problem_.substr(0, problem_.find('\0'));
  if (code == CURLE_OPERATION_TIMEDOUT) return absl::DeadlineExceededError(problem);
  return absl::UnavailableError(problem.empty() ? curl_easy_strerror(code) : problem);
}

void GrpcRequest::SetBlob(CURLoption option, const std::string& bytes) {
  curl_blob blob{const_cast<char*>(bytes.data()), bytes.size(), CURL_BLOB_COPY};
  Set(option, &blob);
}

}  // namespace fairlead::agent
