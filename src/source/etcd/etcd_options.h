#ifndef FAIRLEAD_SOURCE_ETCD_ETCD_OPTIONS_H_
#define FAIRLEAD_SOURCE_ETCD_ETCD_OPTIONS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "source/platform/source_url.h"

namespace fairlead::source {

inline constexpr int kEtcdPort = 2379;

// What a URL etcd://HOST:2379,…/PREFIX?… says. See docs/sources/etcd.md.
struct EtcdOptions {
  SourceUrl url;
  PlatformOptions platform;  // of these tls and the selector
  std::string user = {}, password_file = {};
  bool writes = false;           // statuses, locks and what proxies register are kept there
  std::string ca_key_file = {};  // seals the authority's key, which is kept there then; "": it is not
  bool deny_lost = false;  // a policy that cannot be read and has no earlier version denies all requests

  std::chrono::milliseconds connect{5'000}, call{15'000};  // time limits
  // Of a watch: after so long without a word it is asked how far it is, and given up after that once more.
  std::chrono::milliseconds silence{10'000};
  std::chrono::milliseconds first_backoff{200}, most_backoff{15'000};
  size_t most_message = 64 << 20;  // bytes of an answer
  size_t most_keys = 500'000;
  int64_t page = 500;  // keys asked for at once
  uint64_t seed = 0;   // of the jitter

  std::string Prefix() const { return url.path + "/"; }
  // Of what control planes keep for themselves: beside the objects, so that none of it is read as one.
  std::string ControlPrefix() const { return url.path + "-control/"; }
};

// InvalidArgument names the option.
absl::StatusOr<EtcdOptions> ParseEtcdOptions(std::string_view url);

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_ETCD_ETCD_OPTIONS_H_
