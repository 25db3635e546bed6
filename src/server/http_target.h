#ifndef FAIRLEAD_SERVER_HTTP_TARGET_H_
#define FAIRLEAD_SERVER_HTTP_TARGET_H_

#include <map>
#include <string>
#include <string_view>

namespace fairlead::server {

// The parts of a request's target: "/debug/adsz?proxyID=a%20b".
struct HttpTarget {
  std::string path;                               // decoded, without repeated slashes
  std::multimap<std::string, std::string> query;  // likewise; a name without "=" has the value ""
};

// Parses a target alone, or one with a scheme and a host, as proxies write it. Wrong encodings stay
// unchanged. Source: RFC 3986, RFC 9112, 3.2
HttpTarget ParseTarget(std::string_view target);

}  // namespace fairlead::server

#endif  // FAIRLEAD_SERVER_HTTP_TARGET_H_
