#ifndef FAIRLEAD_SIMULATE_OUTCOME_H_
#define FAIRLEAD_SIMULATE_OUTCOME_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::simulate {

// Where a request ends.
enum class CallVerdict : uint8_t {
  kHttp,            // an HTTP request that reaches an endpoint of one of the destinations
  kTcp,             // a connection that is passed on, byte by byte, to such an endpoint
  kRedirect,        // the proxy answers with a redirect
  kDirectResponse,  // a route, or a fault that is injected always, answers
  kNotFound,        // no virtual host or no route: 404
  kUnavailable,     // the destination is unknown or has no endpoint, the answer is the proxy's own
  kClosed,          // the connection is closed or refused
  kNobody,          // the mesh has no such host or port
};
std::string_view ToText(CallVerdict verdict);

// With at most four significant digits: "33.33", "5".
std::string ToText(double number);

// "route" -> its name, "timeout" -> "5s": what a step chose, or what a route changes.
struct Fact {
  std::string key;
  std::string value;
};

// An object of the mesh that took part.
struct ObjectName {
  std::string kind;  // "VirtualService"
  std::string ns, name;
  friend auto operator<=>(const ObjectName&, const ObjectName&) = default;
};
std::string ToText(const ObjectName& object);  // "VirtualService default/reviews"

// How the proxy speaks to an endpoint.
struct Transport {
  enum class Certificate : uint8_t { kNone, kMesh, kOwn };
  bool tls = false;
  bool passes_tls = false;  // the client's own TLS comes through, without or inside of the proxy's
  std::string server_name;  // SNI; "" for none
  Certificate certificate =
      Certificate::kNone;  // what it shows of itself: the mesh's identity, or another one
};
// "plaintext", "the client's own TLS (SNI …)", "TLS (SNI …)", "TLS with client certificate (SNI …)", "mutual
// TLS (SNI …)".
std::string ToText(const Transport& transport);

// An endpoint that load balancing may choose.
struct Candidate {
  std::string address;  // "10.1.2.3:8080", "library.example.org:80" where DNS is asked, a path of a socket
  std::string locality;
  std::string health;  // Envoy's name: HEALTHY, UNHEALTHY, …
  Transport transport;
  uint32_t priority = 0;
  uint32_t weight = 1;
};

// A cluster that a route or a TCP proxy names.
struct Destination {
  std::string cluster;
  double percent = 100;               // of the requests
  std::string problem;                // why nothing arrives there; "" where it does
  std::vector<Candidate> candidates;  // of the priorities that get load now
  std::vector<Fact> changes;          // what holds for this share of a split alone
};

struct SimulationOutcome {
  CallVerdict verdict = CallVerdict::kClosed;
  std::string reason;    // one sentence; "" where the destinations say it all
  int status = 0;        // HTTP, where the proxy answers itself
  std::string location;  // of a redirect
  std::vector<Fact>
      steps;  // listener, filter chain, route configuration, virtual host, route: what was chosen
  std::vector<Fact> changes;  // what becomes of the request: path, host, headers, timeout, retries, mirrors
  std::vector<Destination> destinations;
  std::vector<ObjectName> objects;
  std::vector<std::string> notes;  // what the simulation does not know

  bool reached() const { return verdict == CallVerdict::kHttp || verdict == CallVerdict::kTcp; }
  // One line: the clusters ("outbound|80|v1|reviews.default.svc.cluster.local 75%, …"), "redirect 301 URL",
  // "response 404: no route", "closed: no filter chain matches".
  std::string Summary() const;
  // All that is known under a key: steps, changes, and "object", "endpoint", "transport".
  std::vector<std::string> Values(std::string_view key) const;
};

}  // namespace fairlead::simulate

#endif  // FAIRLEAD_SIMULATE_OUTCOME_H_
