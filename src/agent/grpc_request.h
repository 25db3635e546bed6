#ifndef FAIRLEAD_AGENT_GRPC_REQUEST_H_
#define FAIRLEAD_AGENT_GRPC_REQUEST_H_

#include <curl/curl.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/ca_client.h"
#include "agent/secret_store.h"

namespace fairlead::agent {

inline constexpr size_t kGrpcPrefix = 5;  // of a message: whether it is compressed, and its size

// A message as gRPC frames it. Source: github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
std::string GrpcFrame(std::string_view message);

// How a gRPC call ended, as fields or trailers say it.
class GrpcEnd {
 public:
  void TakeField(std::string_view line);
  bool ended() const { return status_.has_value(); }
  // What the peer said. Unavailable where it said nothing.
  absl::Status Said() const;

 private:
  std::string message_;
  std::optional<int> status_;
};

// A gRPC call over TLS by libcurl, as far as calls have it in common. For one thread.
class GrpcRequest {
 public:
  GrpcRequest();
  bool ok() const;
  CURL* handle() const { return curl_.get(); }

  // To `options.address`, whose certificate must name `options.server_name` (else the address's host).
  void SetPlace(const CaClientOptions& options, std::string_view path);
  // What vouches for the server, and who asks: `earlier`, else the folder's certificate, and the token. Files
  // are read now; Unavailable where what is needed cannot be.
  absl::Status AddProofs(const CaClientOptions& options, const Secret& earlier);
  void AddField(const std::string& field);
  // The reply goes to `end`, which must outlive the call. To be called last, before it is performed.
  void Prepare(GrpcEnd* end);
  // Why a transfer failed.
  absl::Status Failure(CURLcode code) const;
  template <typename T>
  void Set(CURLoption option, T value) {
    curl_easy_setopt(curl_.get(), option, value);
  }

 private:
  void SetBlob(CURLoption option, const std::string& bytes);

  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl_;
  std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> fields_{nullptr, curl_slist_free_all};
  std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> place_{nullptr, curl_slist_free_all};
  std::string problem_ = std::string(CURL_ERROR_SIZE, '\0');
};

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_GRPC_REQUEST_H_
