#ifndef FAIRLEAD_RPC_HEALTH_H_
#define FAIRLEAD_RPC_HEALTH_H_

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "transport/options.h"

// gRPC's health checks of a server and its services.
// Source: github.com/grpc/grpc/blob/master/doc/health-checking.md
namespace fairlead::rpc {

class HealthWatch;

// Thread-safe. The methods keep it alive.
class Health : public std::enable_shared_from_this<Health> {
 public:
  // As HealthCheckResponse.ServingStatus has them.
  enum class Status : unsigned char { kServing = 1, kNotServing = 2, kUnknownService = 3 };

  explicit Health(std::set<std::string> services) : services_(std::move(services)) {}
  // Check and Watch.
  std::vector<transport::Method> Methods();
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

}  // namespace fairlead::rpc

#endif  // FAIRLEAD_RPC_HEALTH_H_
