#include "agent/ca_client.h"

#include <curl/curl.h>

#include <charconv>
#include <chrono>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "ca/secret_file.h"
#include "istio/security/v1alpha1/ca.pb.h"

namespace fairlead::agent {
namespace {

constexpr std::string_view kPath = "/istio.v1.auth.IstioCertificateService/CreateCertificate";
constexpr std::chrono::seconds kPatience{10};
constexpr size_t kMaxAnswer = 4 << 20;
constexpr size_t kPrefix = 5;  // of a gRPC message: whether it is compressed, and its size

// What an authority answers: a gRPC message, and a status in fields or trailers.
struct Answer {
  std::string body, message;
  std::optional<int> status;

  static size_t TakeBody(char* data, size_t size, size_t count, void* self) {
    auto& answer = *static_cast<Answer*>(self);
    if (answer.body.size() + size * count > kMaxAnswer) return 0;  // ends the transfer
    answer.body.append(data, size * count);
    return size * count;
  }
  static size_t TakeField(char* data, size_t size, size_t count, void* self) {
    auto& answer = *static_cast<Answer*>(self);
    const std::string_view line(data, size * count);
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) return line.size();
    const std::string_view name = line.substr(0, colon), value = Trim(line.substr(colon + 1));
    if (EqualsIgnoreCase(name, "grpc-message")) answer.message = value;
    int status = 0;
    if (EqualsIgnoreCase(name, "grpc-status") &&
        std::from_chars(value.data(), value.data() + value.size(), status).ec == std::errc())
      answer.status = status;
    return line.size();
  }
  // OK where there is a message.
  absl::Status Outcome() const {
    if (!status) return absl::UnavailableError("the answer is no gRPC");
    if (*status != 0) {
      const std::unique_ptr<char, decltype(&curl_free)> text(
          curl_easy_unescape(nullptr, message.c_str(), 0, nullptr), curl_free);
      return {static_cast<absl::StatusCode>(*status), text == nullptr ? "" : text.get()};
    }
    const bool compressed = !body.empty() && body[0] != 0;
    if (body.size() < kPrefix || compressed) return absl::InternalError("the answer is no message");
    return absl::OkStatus();
  }
};

// A call of one message, as gRPC has it over HTTP/2.
// Source: github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
class Call {
 public:
  Call() : curl_(curl_easy_init(), curl_easy_cleanup) {
    AddField("content-type: application/grpc");
    AddField("te: trailers");
    AddField(StrCat("grpc-timeout: ", kPatience.count(), "S"));
    AddField("expect:");  // none
  }
  bool ok() const { return curl_ != nullptr && fields_ != nullptr; }

  void AddField(const std::string& field) {
    curl_slist* const more = curl_slist_append(fields_.get(), field.c_str());
    if (more == nullptr) return;
    static_cast<void>(fields_.release());
    fields_.reset(more);
  }
  // The roots alone vouch for the server.
  void SetProofs(const std::string& roots, const Secret& own) {
    SetBlob(CURLOPT_CAINFO_BLOB, roots);
    Set(CURLOPT_CAPATH, static_cast<char*>(nullptr));
    if (own.key.empty()) return;
    SetBlob(CURLOPT_SSLCERT_BLOB, own.chain);
    SetBlob(CURLOPT_SSLKEY_BLOB, own.key);
  }
  // `server_name`: whose certificate is asked for at the address.
  absl::StatusOr<std::string> Run(const std::string& address, const std::string& server_name,
                                  const std::string& message) {
    const size_t colon = address.rfind(':');
    const std::string port = colon == std::string::npos ? "443" : address.substr(colon + 1);
    const std::string name = server_name.empty() ? address.substr(0, colon) : server_name;
    const std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> place(
        curl_slist_append(nullptr, StrCat(name, ":", port, ":", address).c_str()), curl_slist_free_all);
    if (name != address.substr(0, colon)) Set(CURLOPT_CONNECT_TO, place.get());
    std::string bytes(kPrefix, '\0');
    for (size_t i = 1; i < kPrefix; ++i)
      bytes[i] = static_cast<char>(message.size() >> (8 * (kPrefix - 1 - i)));
    bytes += message;
    Set(CURLOPT_URL, StrCat("https://", name, ":", port, kPath).c_str());
    Set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
    Set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    Set(CURLOPT_TIMEOUT_MS, static_cast<long>(std::chrono::milliseconds(kPatience).count()));
    Set(CURLOPT_NOSIGNAL, 1L);
    Set(CURLOPT_HTTPHEADER, fields_.get());
    Set(CURLOPT_POSTFIELDSIZE, static_cast<long>(bytes.size()));
    Set(CURLOPT_POSTFIELDS, bytes.data());
    Set(CURLOPT_WRITEFUNCTION, &Answer::TakeBody);
    Set(CURLOPT_WRITEDATA, &answer_);
    Set(CURLOPT_HEADERFUNCTION, &Answer::TakeField);
    Set(CURLOPT_HEADERDATA, &answer_);
    std::string problem(CURL_ERROR_SIZE, '\0');
    Set(CURLOPT_ERRORBUFFER, problem.data());
    const CURLcode result = curl_easy_perform(curl_.get());
    problem.resize(problem.find('\0'));
    if (result == CURLE_OPERATION_TIMEDOUT) return absl::DeadlineExceededError(problem);
    if (result != CURLE_OK)
      return absl::UnavailableError(problem.empty() ? curl_easy_strerror(result) : problem);
    if (absl::Status status = answer_.Outcome(); !status.ok()) return status;
    return answer_.body.substr(kPrefix);
  }

 private:
  template <typename T>
  void Set(CURLoption option, T value) {
    curl_easy_setopt(curl_.get(), option, value);
  }
  void SetBlob(CURLoption option, const std::string& bytes) {
    curl_blob blob{const_cast<char*>(bytes.data()), bytes.size(), CURL_BLOB_COPY};
    Set(option, &blob);
  }

  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl_;
  std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> fields_{nullptr, curl_slist_free_all};
  Answer answer_;
};

class GrpcCaClient : public CaClient {
 public:
  explicit GrpcCaClient(CaClientOptions options) : options_(std::move(options)) {}

  absl::StatusOr<std::vector<std::string>> Sign(const std::string& csr, std::chrono::seconds lifetime,
                                                const Secret& earlier) override {
    static const CURLcode initialized = curl_global_init(CURL_GLOBAL_DEFAULT);
    Call call;
    if (initialized != CURLE_OK || !call.ok()) return absl::InternalError("libcurl cannot be used");
    if (absl::Status status = AddProofs(earlier, &call); !status.ok()) return status;
    istio::v1::auth::IstioCertificateRequest request;
    request.set_csr(csr);
    request.set_validity_duration(lifetime.count());
    const auto answer = call.Run(options_.address, options_.server_name, request.SerializeAsString());
    if (!answer.ok())
      return absl::Status(answer.status().code(),
                          StrCat(options_.address, ": ", FromAbsl(answer.status().message())));
    istio::v1::auth::IstioCertificateResponse response;
    if (!response.ParseFromString(*answer) || response.cert_chain().empty())
      return absl::InternalError(StrCat(options_.address, ": the answer has no certificates"));
    return std::vector<std::string>(response.cert_chain().begin(), response.cert_chain().end());
  }

 private:
  absl::Status AddProofs(const Secret& earlier, Call* call) const {
    const auto roots = ca::ReadSecretFile(options_.roots_file);
    if (!roots.ok()) return roots.status();
    Secret own = earlier;
    if (own.key.empty() && !options_.certificate_folder.empty()) {
      auto chain = ca::ReadSecretFile(StrCat(options_.certificate_folder, "/cert-chain.pem"));
      if (!chain.ok()) return chain.status();
      auto key = ca::ReadSecretFile(StrCat(options_.certificate_folder, "/key.pem"));
      if (!key.ok()) return key.status();
      own = {*std::move(chain), *std::move(key), ""};
    }
    call->SetProofs(*roots, own);
    if (!options_.cluster_id.empty()) call->AddField(StrCat("clusterid: ", options_.cluster_id));
    if (options_.token_file.empty()) return absl::OkStatus();
    // A token that cannot be read is an error only where there is nothing else.
    const auto token = ca::ReadSecretFile(options_.token_file);
    if (token.ok()) call->AddField(StrCat("authorization: Bearer ", Trim(*token)));
    return absl::OkStatus();
  }

  const CaClientOptions options_;
};

}  // namespace

std::unique_ptr<CaClient> NewCaClient(CaClientOptions options) {
  return std::make_unique<GrpcCaClient>(std::move(options));
}

}  // namespace fairlead::agent
