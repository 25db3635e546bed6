#include "injection/probes.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/go_bool.h"
#include "base/json.h"
#include "base/strings.h"
#include "injection/annotations.h"
#include "injection/containers.h"
#include "injection/go_text.h"
#include "injection/typed_json.h"

namespace fairlead::injection {
namespace {

constexpr char kVariable[] = "ISTIO_KUBE_APP_PROBERS";

struct ProbePlace {
  const char* field;
  const char* inner;  // of a hook: below `field`
  std::string_view folder, name;
};
constexpr std::array kPlaces = {
    ProbePlace{"readinessProbe", nullptr, "/app-health/", "/readyz"},
    ProbePlace{"livenessProbe", nullptr, "/app-health/", "/livez"},
    ProbePlace{"startupProbe", nullptr, "/app-health/", "/startupz"},
    ProbePlace{"lifecycle", "preStop", "/app-lifecycle/", "/prestopz"},
    ProbePlace{"lifecycle", "postStart", "/app-lifecycle/", "/poststartz"},
};

Json* FindAt(Json* container, const ProbePlace& place) {
  const Json& outer = Member(*container, place.field);
  const Json& found = place.inner == nullptr ? outer : Member(outer, place.inner);
  return found.is_object() ? const_cast<Json*>(&found) : nullptr;
}

std::string PathAt(const ProbePlace& place, const std::string& container) {
  return StrCat(place.folder, container, place.name);
}

// The action that the agent does in the kubelet's place: that of a hook cannot be gRPC.
const char* ActionOf(const Json& probe, const ProbePlace& place) {
  for (const char* action : {"httpGet", "tcpSocket"}) {
    if (Member(probe, action).is_object()) return action;
  }
  return place.inner == nullptr && Member(probe, "grpc").is_object() ? "grpc" : nullptr;
}

std::map<std::string, Json> PortsOf(const Json& container) {
  std::map<std::string, Json> ports;
  for (const Json& port : Member(container, "ports")) {
    if (const std::string name = TextOf(port, "name"); !name.empty())
      ports[name] = Member(port, "containerPort");
  }
  return ports;
}

// What the agent is told of a probe; null where that is nothing: a port without a number, or the agent's own.
Json Told(const Json& probe, const ProbePlace& place, const std::map<std::string, Json>& ports,
          int status_port) {
  const char* action = ActionOf(probe, place);
  if (action == nullptr) return nullptr;
  Json done = Member(probe, action);
  if (std::string_view(action) == "grpc") {
    if (!done.contains("service")) done["service"] = nullptr;
  } else {
    const Json port = Member(done, "port");
    if (port.is_string()) {
      const auto known = ports.find(TextOf(port));
      if (known == ports.end()) return nullptr;
      done["port"] = known->second;
    } else if (port == status_port) {
      return nullptr;
    }
  }
  Json told = {{action, std::move(done)}};
  const Json& timeout = Member(probe, "timeoutSeconds");
  if (place.inner == nullptr && timeout.is_number() && timeout != 0) told["timeoutSeconds"] = timeout;
  return told;
}

template <typename Visit>
void ForEachApplication(Json* pod, Visit visit) {
  for (const char* list : {kInitContainers, kContainers}) {
    if (!Member(*pod, "spec", list).is_array()) continue;
    for (Json& container : (*pod)["spec"][list]) {
      if (TextOf(container, "name") != kProxy) visit(&container);
    }
  }
}

Json AllTold(Json* pod, int status_port) {
  Json all = Json::object();
  ForEachApplication(pod, [&](Json* container) {
    const std::map<std::string, Json> ports = PortsOf(*container);
    for (const ProbePlace& place : kPlaces) {
      const Json* probe = FindAt(container, place);
      if (probe == nullptr) continue;
      if (Json told = Told(*probe, place, ports, status_port); !told.is_null())
        all[PathAt(place, TextOf(*container, "name"))] = std::move(told);
    }
  });
  return all;
}

void Redirect(const ProbePlace& place, const std::string& container, int port, Json* probe) {
  const char* action = ActionOf(*probe, place);
  if (action == nullptr) return;
  Json http = std::string_view(action) == "httpGet" ? Member(*probe, action) : Json::object();
  http["path"] = PathAt(place, container);
  http["port"] = port;
  if (TextOf(http, "scheme") == "HTTPS") http["scheme"] = "HTTP";
  probe->erase(action);
  (*probe)["httpGet"] = std::move(http);
}

// Injected again, the list of before counts as well, and first.
void Tell(Json told, bool again, Json* proxy) {
  Json* known = again && proxy->contains("env") ? FindNamed(&(*proxy)["env"], kVariable) : nullptr;
  if (known == nullptr) {
    (*proxy)["env"].push_back({{"name", kVariable}, {"value", JsonText(told)}});
    return;
  }
  const absl::StatusOr<Json> before = ReadJson(TextOf(*known, "value"));
  if (!before.ok() || !before->is_object()) return;
  told.update(*before);
  *known = {{"name", kVariable}, {"value", JsonText(told)}};
}

int TargetPort(const Json& pod, int status_port) {
  const std::string* said = FindAnnotation(pod, kStatusPort);
  return said == nullptr ? status_port : ParseGoInt(*said).value_or(0);
}

}  // namespace

void RewriteProbes(bool by_default, int status_port, Json* pod) {
  Json* proxy = FindProxy(pod);
  if (proxy == nullptr) return;
  const std::string* said = FindAnnotation(*pod, kRewriteProbes);
  const bool wanted = said == nullptr ? by_default : ParseGoBool(*said).value_or(by_default);
  if (!wanted) return;
  if (Json told = AllTold(pod, status_port); !told.empty())
    Tell(std::move(told), FindAnnotation(*pod, kStatus) != nullptr, proxy);
  const int port = TargetPort(*pod, status_port);
  ForEachApplication(pod, [&](Json* container) {
    for (const ProbePlace& place : kPlaces) {
      if (Json* probe = FindAt(container, place)) Redirect(place, TextOf(*container, "name"), port, probe);
    }
  });
}

}  // namespace fairlead::injection
