#ifndef FAIRLEAD_SERVER_HEALTH_H_
#define FAIRLEAD_SERVER_HEALTH_H_

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "http2/options.h"

// gRPC's health checks of a server and its services.
// Source: github.com/grpc/grpc/blob/master/doc/health-checking.md
namespace fairlead::server {

class HealthWatch;

// Thread-safe. The methods keep it alive.
class HealthService : public std::enable_shared_from_this<HealthService> {
 public:
  // As HealthCheckResponse.ServingStatus has them.
  enum class Status : unsigned char { kServing = 1, kNotServing = 2, kUnknownService = 3 };

  explicit HealthService(std::set<std::string> services) : services_(std::move(services)) {}
  // Check and Watch.
  std::vector<http2::Method> Methods();
  // Sets the health of the server and each of its services, and tells watchers.
  void SetServing(bool serving);
  // The health of a service; "" is the server itself.
  Status Of(std::string_view service) const;

 private:
  friend class HealthWatch;
  void Add(std::weak_ptr<HealthWatch> watch);

  const std::set<std::string> services_;
  mutable std::mutex mutex_;
  bool serving_ = false;
  std::vector<std::weak_ptr<HealthWatch>> watches_;
};

}  // namespace fairlead::server

#endif  // FAIRLEAD_SERVER_HEALTH_H_
