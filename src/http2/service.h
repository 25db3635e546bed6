#ifndef FAIRLEAD_HTTP2_SERVICE_H_
#define FAIRLEAD_HTTP2_SERVICE_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "http2/options.h"

namespace fairlead::http2 {

// What all sessions of a server go by.
class ServedMethods {
 public:
  explicit ServedMethods(ServerOptions options);
  const Method* Find(std::string_view path) const;  // null: there is none
  absl::Status Refuse(std::string_view path) const;
  const ServerOptions& options() const { return options_; }

 private:
  const ServerOptions options_;
  std::map<std::string, const Method*, std::less<>> methods_;
};

}  // namespace fairlead::http2

#endif  // FAIRLEAD_HTTP2_SERVICE_H_
