#include "server/health.h"

#include <google/protobuf/unknown_field_set.h>

#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "base/strings.h"

namespace fairlead::server {
namespace {

using google::protobuf::UnknownField;
using google::protobuf::UnknownFieldSet;
using http2::ServerStream;
using http2::StreamHandler;

// The service that an encoded HealthCheckRequest names.
absl::StatusOr<std::string> ServiceOf(std::string_view request) {
  UnknownFieldSet fields;
  if (!fields.ParseFromArray(request.data(), static_cast<int>(request.size())))
    return absl::InvalidArgumentError("the request is no HealthCheckRequest");
  std::string service;
  for (int i = 0; i < fields.field_count(); ++i) {
    const UnknownField& field = fields.field(i);
    if (field.number() == 1 && field.type() == UnknownField::TYPE_LENGTH_DELIMITED)
      service = field.length_delimited();
  }
  return service;
}

// An encoded HealthCheckResponse.
http2::Slice Response(HealthService::Status status) {
  auto bytes = std::make_shared<const std::string>(std::string{'\x08', static_cast<char>(status)});
  return {bytes, *bytes};
}

class HealthCheck : public StreamHandler {
 public:
  HealthCheck(std::shared_ptr<HealthService> health, std::shared_ptr<ServerStream> stream)
      : health_(std::move(health)), stream_(std::move(stream)) {
    stream_->Read();
  }
  void OnMessage(std::string_view bytes) override {
    const auto service = ServiceOf(bytes);
    if (!service.ok()) return stream_->Close(service.status());
    const HealthService::Status status = health_->Of(*service);
    if (status == HealthService::Status::kUnknownService)
      return stream_->Close(absl::NotFoundError(StrCat("there is no service \"", *service, "\"")));
    stream_->Send({Response(status)});
  }
  void OnSent(bool) override { stream_->Close(absl::OkStatus()); }
  void OnClosed() override {}

 private:
  const std::shared_ptr<HealthService> health_;
  const std::shared_ptr<ServerStream> stream_;
};

}  // namespace

// Tells its client of each change, of several at once only the last.
class HealthWatch : public StreamHandler, public std::enable_shared_from_this<HealthWatch> {
 public:
  HealthWatch(std::shared_ptr<HealthService> health, std::shared_ptr<ServerStream> stream)
      : health_(std::move(health)), stream_(std::move(stream)) {}
  void OnMessage(std::string_view bytes) override {
    auto service = ServiceOf(bytes);
    if (!service.ok()) return stream_->Close(service.status());
    {
      std::lock_guard lock(mutex_);
      service_ = *std::move(service);
    }
    health_->Add(weak_from_this());
    Tell();
  }
  void OnSent(bool ok) override {
    {
      std::lock_guard lock(mutex_);
      sending_ = false;
    }
    if (ok) Tell();
  }
  void OnClosed() override {}

  void Tell() {
    std::lock_guard lock(mutex_);
    const HealthService::Status now = health_->Of(service_);
    if (sending_ || told_ == now) return;
    sending_ = true;
    told_ = now;
    stream_->Send({Response(now)});
  }

 private:
  const std::shared_ptr<HealthService> health_;
  const std::shared_ptr<ServerStream> stream_;
  std::mutex mutex_;
  std::string service_;
  std::optional<HealthService::Status> told_;
  bool sending_ = false;
};

std::vector<http2::Method> HealthService::Methods() {
  const auto self = shared_from_this();
  return {{"/grpc.health.v1.Health/Check",
           [self](std::shared_ptr<ServerStream> stream) -> std::shared_ptr<StreamHandler> {
             return std::make_shared<HealthCheck>(self, std::move(stream));
           }},
          {"/grpc.health.v1.Health/Watch",
           [self](std::shared_ptr<ServerStream> stream) -> std::shared_ptr<StreamHandler> {
             stream->Read();
             return std::make_shared<HealthWatch>(self, std::move(stream));
           }}};
}

void HealthService::SetServing(bool serving) {
  std::vector<std::weak_ptr<HealthWatch>> watches;
  {
    std::lock_guard lock(mutex_);
    serving_ = serving;
    watches = watches_;
  }
  for (const auto& watch : watches) {
    if (const auto there = watch.lock()) there->Tell();
  }
}

HealthService::Status HealthService::Of(std::string_view service) const {
  if (!service.empty() && !services_.contains(std::string(service))) return Status::kUnknownService;
  std::lock_guard lock(mutex_);
  return serving_ ? Status::kServing : Status::kNotServing;
}

void HealthService::Add(std::weak_ptr<HealthWatch> watch) {
  std::lock_guard lock(mutex_);
  std::erase_if(watches_, [](const auto& other) { return other.expired(); });
  watches_.push_back(std::move(watch));
}

}  // namespace fairlead::server
