#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <map>
#include <set>

#include "config/check/http_route.h"

namespace fairlead::config::check {
namespace {

// Matches that are equal but for their names have equal keys.
template <typename Match>
std::string KeyOf(const Match& match) {
  Match copy = match;  // NOLINT: its name is cleared, if it has one
  if constexpr (requires { copy.clear_name(); }) copy.clear_name();
  std::string key;
  {
    google::protobuf::io::StringOutputStream stream(&key);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);  // maps come sorted
    copy.SerializeToCodedStream(&coded);
  }
  return key;
}

template <typename Routes>
void CheckHidden(const Routes& routes, const Spot& at) {
  std::set<std::string> seen;
  bool matched_all = false;
  for (int i = 0; i < routes.size(); ++i) {
    const Spot route(at, static_cast<size_t>(i));
    const auto& matches = routes[i].match();
    if (matches.empty()) {
      if (matched_all) route.Warn("unreachable", "a route before this one matches everything");
      matched_all = true;
      continue;
    }
    const Spot match_at(route, "match");
    int duplicates = 0;
    for (int j = 0; j < matches.size(); ++j) {
      const Spot match(match_at, static_cast<size_t>(j));
      if (matched_all) {
        match.Warn("unreachable", "a route before this one matches everything");
      } else if (!seen.insert(KeyOf(matches[j])).second) {
        match.Warn("unreachable", "another match is the same");
        ++duplicates;
      }
    }
    if (duplicates == matches.size())
      route.Warn("unreachable", "routes before this one have all its matches");
  }
}

// A text match as what it says is compared: regular expressions are not looked into.
std::string TextOf(const net::StringMatch& match) {
  if (!match.exact().empty()) return StrCat("exact:", match.exact());
  return match.prefix().empty() ? "" : StrCat("prefix:", match.prefix());
}

using Texts = std::map<std::string, std::string>;
template <typename Map>
Texts TextsOf(const Map& matches) {
  Texts texts;
  for (const auto& [name, match] : matches) texts[name] = TextOf(match);
  return texts;
}

struct PrefixMatch {
  std::string prefix, method, authority;
  uint32_t port;
  Texts headers, parameters, without;
  size_t route, match;
};

bool Cover(const std::string& earlier, const std::string& later) { return earlier.starts_with(later); }
bool Cover(const Texts& earlier, const Texts& later) {
  if (earlier.size() != later.size()) return false;
  return std::all_of(earlier.begin(), earlier.end(), [&](const auto& one) {
    const auto it = later.find(one.first);
    return it != later.end() && Cover(one.second, it->second);
  });
}

// Istio's notion of a match that hides a later one: it looks at a subset of the fields.
bool Hides(const PrefixMatch& earlier, const PrefixMatch& later) {
  return earlier.prefix != later.prefix && later.prefix.starts_with(earlier.prefix) &&
         earlier.port == later.port && Cover(earlier.method, later.method) &&
         Cover(earlier.authority, later.authority) && Cover(earlier.headers, later.headers) &&
         Cover(earlier.parameters, later.parameters) && Cover(earlier.without, later.without);
}

void CheckPrefixes(const net::VirtualService& service, const Spot& at) {
  std::vector<PrefixMatch> before;
  std::set<std::string> seen;
  for (int i = 0; i < service.http_size(); ++i) {
    const auto& matches = service.http(i).match();
    if (matches.empty()) return;  // hides everything behind it anyway
    for (int j = 0; j < matches.size(); ++j) {
      const net::HTTPMatchRequest& match = matches[j];
      if (!seen.insert(KeyOf(match)).second || match.uri().prefix().empty()) continue;
      const std::string method = TextOf(match.method());
      PrefixMatch now{match.uri().prefix(),
                      method.empty() ? "exact:GET" : method,
                      TextOf(match.authority()),
                      match.port(),
                      TextsOf(match.headers()),
                      TextsOf(match.query_params()),
                      TextsOf(match.without_headers()),
                      static_cast<size_t>(i),
                      static_cast<size_t>(j)};
      if (std::any_of(before.begin(), before.end(),
                      [&](const PrefixMatch& one) { return Hides(one, now); })) {
        const Spot route(at, now.route);
        const Spot matches_at(route, "match");
        Spot(matches_at, now.match)
            .Warn("unreachable", "a match before this one has a prefix of this one's prefix");
      }
      before.push_back(std::move(now));
    }
  }
}

}  // namespace

void CheckReachable(const net::VirtualService& service, const Spot& spec) {
  CheckHidden(service.http(), Spot(spec, "http"));
  CheckHidden(service.tls(), Spot(spec, "tls"));
  CheckHidden(service.tcp(), Spot(spec, "tcp"));
  CheckPrefixes(service, Spot(spec, "http"));
}

}  // namespace fairlead::config::check
