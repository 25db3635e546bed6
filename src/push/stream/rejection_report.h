#ifndef FAIRLEAD_PUSH_STREAM_REJECTION_REPORT_H_
#define FAIRLEAD_PUSH_STREAM_REJECTION_REPORT_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "config/diagnostic.h"
#include "config/object.h"
#include "push/stream/rejections.h"

// What rejections mean for those who wrote the objects. Pure functions.
namespace fairlead::push {

// The object of a key as it is now; null where there is none.
using FindObject = absl::FunctionRef<config::ConfigPtr(const config::ObjectKey& key)>;

inline constexpr std::string_view kRejectedCode = "rejected";
inline constexpr std::string_view kNotInForceCode = "not-in-force";

struct RejectionReport {
  // An error kRejectedCode for each reason and the object that is at fault for it, as far as that is known,
  // however many proxies and resources it concerns; and an error kNotInForceCode for each policy that does
  // not count, in its newest version, at some proxy that goes on with an older one.
  std::vector<config::Diagnostic> diagnostics;
  size_t proxies = 0;  // that reject something
  size_t policies_not_in_force = 0;
};
// At most so many of each code; where there are more, one diagnostic says how many.
inline constexpr size_t kMostReported = 100;
RejectionReport ReportOf(const std::vector<Rejection>& rejections, FindObject find);

// The policies of which the proxy runs another version than the newest, or that it runs although they are
// gone: of the kinds that decide who may call whom.
struct OutdatedPolicy {
  cache::ResourceOrigin policy;
  bool gone = false;
};
std::vector<OutdatedPolicy> OutdatedPolicies(const RejectedResource& resource);

// What a key of an origin stands for; nothing where it is none.
std::optional<config::ObjectKey> KeyOf(const cache::ResourceOrigin& origin);
// "EnvoyFilter default/lua (mesh/lua.yaml:3)"
std::string DescribeOrigin(const cache::ResourceOrigin& origin, FindObject find);
// "listener", "cluster", … for messages.
std::string_view WordFor(xds::TypeId type);

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_STREAM_REJECTION_REPORT_H_
