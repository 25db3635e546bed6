#include "agent/trust_stream.h"

#include <algorithm>
#include <utility>

#include "agent/grpc_request.h"
#include "base/log.h"
#include "base/strings.h"
#include "base/thread.h"
#include "envoy/service/discovery/v3/discovery.pb.h"
#include "istio/mesh/v1alpha1/proxy.pb.h"
#include "proto/json.h"
#include "transport/message_reader.h"

namespace fairlead::agent {
namespace {

using envoy::service::discovery::v3::DiscoveryRequest;
using envoy::service::discovery::v3::DiscoveryResponse;

LogScope trust_log("trust");

constexpr std::string_view kPath =
    "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";
constexpr char kType[] = "type.googleapis.com/istio.mesh.v1alpha1.ProxyConfig";
constexpr size_t kMostBytes = 4 << 20;  // of one message

// What is sent and received on one stream: for libcurl, which calls it back.
class Exchange {
 public:
  Exchange(std::string first, SecretStore* store) : sending_(std::move(first)), store_(store) {
    reader_.Start(kMostBytes, /*compressed=*/false);
  }

  bool told() const { return told_; }
  // Whether libcurl waits for something to send that is there now.
  bool Resumes() { return !sending_.empty() && std::exchange(paused_, false); }
  const absl::Status& broken() const { return broken_; }

  static size_t Send(char* out, size_t size, size_t count, void* self) {
    return static_cast<Exchange*>(self)->Send(out, size * count);
  }
  static size_t Receive(char* data, size_t size, size_t count, void* self) {
    return static_cast<Exchange*>(self)->Receive({data, size * count});
  }

 private:
  size_t Send(char* out, size_t room) {
    if (sending_.empty()) {
      paused_ = true;
      return CURL_READFUNC_PAUSE;
    }
    const size_t size = sending_.copy(out, room);
    sending_.erase(0, size);
    return size;
  }
  size_t Receive(std::string_view data) {
    using Found = transport::MessageReader::Found;
    for (std::string_view rest = data; !rest.empty();) {
      const Found found = reader_.Take(&rest);
      if (found == Found::kError) {
        broken_ = absl::InternalError("the answer is no message");
        return 0;  // ends the transfer
      }
      if (found != Found::kMessage) continue;
      Take(reader_.message());
      reader_.Release();
    }
    return data.size();
  }
  void Take(std::string_view bytes) {
    DiscoveryResponse response;
    if (!response.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
    DiscoveryRequest reply;
    reply.set_type_url(kType);
    reply.set_response_nonce(response.nonce());
    reply.set_version_info(response.version_info());
    istio::mesh::v1alpha1::ProxyConfig config;
    if (response.resources().empty()) {
      // The mesh says nothing of it: what was said holds.
    } else if (response.resources(0).UnpackTo(&config)) {
      told_ = true;
      store_->SetTrusted({config.ca_certificates_pem().begin(), config.ca_certificates_pem().end()});
    } else {
      reply.clear_version_info();
      reply.mutable_error_detail()->set_message("not a ProxyConfig");
    }
    sending_ += GrpcFrame(reply.SerializeAsString());
  }

  std::string sending_;
  transport::MessageReader reader_;
  SecretStore* const store_;
  bool paused_ = false, told_ = false;
  absl::Status broken_;
};

}  // namespace

TrustStream::TrustStream(TrustStreamOptions options, SecretStore* store)
    : options_(std::move(options)), store_(store), multi_(curl_multi_init()) {}

TrustStream::~TrustStream() {
  Stop();
  curl_multi_cleanup(multi_);
}

void TrustStream::Start() {
  thread_ = RequireThread([this] { Run(); });
}

void TrustStream::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  curl_multi_wakeup(multi_);
  if (thread_.joinable()) thread_.join();
}

bool TrustStream::StopWithin(std::chrono::milliseconds wait) {
  const auto end = std::chrono::steady_clock::now() + wait;
  for (;;) {
    {
      std::lock_guard lock(mutex_);
      if (stopping_) return true;
    }
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    curl_multi_poll(multi_, nullptr, 0, static_cast<int>(left.count()), nullptr);
  }
}

void TrustStream::Run() {
  std::chrono::milliseconds retry = options_.first_retry;
  std::string last;
  do {
    bool told = false;
    const std::string why(RunOnce(&told).message());
    if (told) retry = options_.first_retry;
    if (why != last && !why.empty())
      trust_log.Warn("{}: {}; what is trusted stays as it is", options_.control_plane.address, why);
    last = why;
    retry = std::min(told ? retry : 2 * retry, options_.last_retry);
  } while (!StopWithin(retry));
}

absl::Status TrustStream::RunOnce(bool* told) {
  DiscoveryRequest first;
  const auto node = proto::FromJson("envoy.config.core.v3.Node", options_.node);
  if (!node.ok()) return node.status();
  first.mutable_node()->ParseFromString(*node);
  first.set_type_url(kType);
  GrpcRequest request;
  if (!request.ok() || multi_ == nullptr) return absl::InternalError("libcurl cannot be used");
  if (absl::Status status =
          request.AddProofs(options_.control_plane, store_->Get("default").value_or(Secret()));
      !status.ok())
    return status;
  request.SetPlace(options_.control_plane, kPath);
  GrpcEnd end;
  Exchange exchange(GrpcFrame(first.SerializeAsString()), store_);
  request.Set(CURLOPT_POST, 1L);
  request.Set(CURLOPT_READFUNCTION, static_cast<size_t (*)(char*, size_t, size_t, void*)>(&Exchange::Send));
  request.Set(CURLOPT_READDATA, &exchange);
  request.Set(CURLOPT_WRITEFUNCTION,
              static_cast<size_t (*)(char*, size_t, size_t, void*)>(&Exchange::Receive));
  request.Set(CURLOPT_WRITEDATA, &exchange);
  request.Set(CURLOPT_CONNECTTIMEOUT, 10L);
  request.Set(CURLOPT_TCP_KEEPALIVE, 1L);
  request.Prepare(&end);
  curl_multi_add_handle(multi_, request.handle());
  // A peer may end the stream while libcurl still waits for something to send.
  for (int running = 1; running > 0 && !end.ended() && !StopWithin(std::chrono::milliseconds(0));) {
    curl_multi_perform(multi_, &running);
    if (exchange.Resumes()) {
      curl_easy_pause(request.handle(), CURLPAUSE_CONT);
      continue;
    }
    if (running > 0 && !end.ended()) curl_multi_poll(multi_, nullptr, 0, 10'000, nullptr);
  }
  absl::Status status = end.ended() ? end.Said() : absl::OkStatus();
  int left = 0;
  for (const CURLMsg* message; (message = curl_multi_info_read(multi_, &left)) != nullptr;) {
    if (message->msg != CURLMSG_DONE) continue;
    status = message->data.result == CURLE_OK ? end.Said() : request.Failure(message->data.result);
  }
  curl_multi_remove_handle(multi_, request.handle());
  *told = exchange.told();
  return exchange.broken().ok() ? status : exchange.broken();
}

}  // namespace fairlead::agent
