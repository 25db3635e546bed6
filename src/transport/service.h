#ifndef FAIRLEAD_TRANSPORT_SERVICE_H_
#define FAIRLEAD_TRANSPORT_SERVICE_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "transport/options.h"

namespace fairlead::transport {

// What all sessions of a server go by.
class Service {
 public:
  explicit Service(ServerOptions options);
  const Method* Find(std::string_view path) const;  // null: there is none
  absl::Status Refuse(std::string_view path) const;
  const ServerOptions& options() const { return options_; }

 private:
  const ServerOptions options_;
  std::map<std::string, const Method*, std::less<>> methods_;
};

}  // namespace fairlead::transport

#endif  // FAIRLEAD_TRANSPORT_SERVICE_H_
