#include "agent/way_out.h"

#include "base/strings.h"

namespace fairlead::agent {
namespace {

struct WayOut {
  std::string_view in_reason, way;
};

// The first that fits counts. OpenSSL's words, and those of the authorities that there are.
constexpr WayOut kWaysOut[] = {
    {"the certificate is for ",
     "ISTIOD_SAN says which of these names to expect of the control plane; or discovery is told the name "
     "that "
     "agents use (ISTIOD_CUSTOM_HOST)"},
    {"unable to get local issuer certificate",
     "the file of XDS_ROOT_CA has another root than the control plane's, which puts it into root-cert.pem "
     "in its --stateDir"},
    {"self-signed certificate",
     "the file of XDS_ROOT_CA has another root than the control plane's, which puts it into root-cert.pem "
     "in its --stateDir"},
    {"wrong version number",
     "this port speaks no TLS and hands out no certificates; discovery's port that does is 15012"},
    {"packet length too long",
     "this port speaks no TLS and hands out no certificates; discovery's port that does is 15012"},
    {"the other end does not name h2",
     "this is no port of gRPC; discovery's port that hands out certificates is 15012"},
    {"Connection refused", "nothing listens there: is the control plane up, and this its port?"},
    {"request authenticate failure",
     "the control plane does not believe the workload's token: its issuer, audience, end and account must be "
     "those that discovery wants (TOKEN_ISSUER, AUDIENCE); `fairlead token` makes one"},
};

}  // namespace

std::string WithWayOut(std::string_view reason) {
  for (const WayOut& one : kWaysOut) {
    if (reason.find(one.in_reason) != std::string_view::npos) return StrCat(reason, "; ", one.way);
  }
  return std::string(reason);
}

}  // namespace fairlead::agent
