#include "injection/prometheus.h"

#include <array>
#include <string_view>
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

constexpr std::string_view kScrape = "prometheus_io_scrape";
constexpr std::string_view kPort = "prometheus_io_port";
constexpr std::string_view kPath = "prometheus_io_path";
constexpr std::string_view kTargets = "prometheus_istio_io_scrape_targets";
constexpr char kConfiguration[] = "ISTIO_PROMETHEUS_ANNOTATIONS";

// Prometheus sees the names of annotations so.
std::string Plain(std::string name) {
  for (char& c : name) {
    const bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (!kept) c = '_';
  }
  return name;
}

const Json& AnnotationsOf(const Json& pod) { return Member(pod, "metadata", "annotations"); }

std::optional<std::string> Find(const Json& pod, std::string_view plain) {
  for (const auto& [name, value] : AnnotationsOf(pod).items()) {
    if (Plain(name) == plain) return TextOf(value);
  }
  return std::nullopt;
}

bool WantsScrape(const Json& pod) {
  for (const auto& [name, value] : AnnotationsOf(pod).items()) {
    if (Plain(name) != kScrape) continue;
    if (const std::optional<bool> said = ParseGoBool(TextOf(value))) return *said;
  }
  return true;
}

bool WantsMerge(const Json& pod, bool by_default) {
  const std::string* said = FindAnnotation(pod, kMergeMetrics);
  return said == nullptr ? by_default : ParseGoBool(*said).value_or(by_default);
}

struct Reserved {
  int port;
  std::string_view use;
};
// Of the data plane: they have no metrics of an application.
constexpr std::array kReserved = {
    Reserved{15000, "Envoy admin"},
    Reserved{15001, "outbound traffic capture"},
    Reserved{15004, "pilot debug"},
    Reserved{15006, "inbound traffic capture"},
    Reserved{15008, "HBONE tunnel"},
    Reserved{15020, "pilot-agent status / merged Prometheus"},
    Reserved{15021, "Envoy health"},
    Reserved{15053, "DNS proxy"},
    Reserved{15090, "Envoy Prometheus (already merged)"},
};

// What is wrong with a port to scrape: "invalid", or why it cannot be.
absl::Status CheckScrapedPort(std::string_view what, std::string_view name, const std::string& port,
                              int status_port) {
  const std::optional<int> number = ParseGoInt(port);
  const auto wrong = [&](std::string_view text) {
    return absl::InvalidArgumentError(StrCat("invalid prometheus scrape ", what, ": ", text));
  };
  if (!number || *number < 1 || *number > 65535) return wrong(StrCat("invalid ", name, " ", GoQuote(port)));
  if (*number == status_port) return wrong(StrCat(name, " ", port, " conflicts with agent port"));
  for (const Reserved& reserved : kReserved) {
    if (reserved.port == *number)
      return wrong(
          StrCat(name, " ", port, " is reserved for Istio (", reserved.use, ") and cannot be scraped"));
  }
  return absl::OkStatus();
}

// A list PORT:PATH,… of targets. Null where one has no port.
Json ReadTargets(std::string_view text) {
  Json targets = Json::array();
  for (std::string_view entry : Split(text, ',')) {
    entry = Trim(entry);
    if (entry.empty()) continue;
    const size_t colon = std::min(entry.find(':'), entry.size());
    const std::string_view port = Trim(entry.substr(0, colon));
    if (port.empty()) return nullptr;
    const std::string_view path = colon == entry.size() ? "" : Trim(entry.substr(colon + 1));
    targets.push_back({{"port", port}, {"path", path.empty() ? "/metrics" : path}});
  }
  return targets.empty() ? Json() : targets;
}

// What the agent is told to scrape.
struct Scraping {
  std::string scrape, path, port;
  Json targets;
  bool empty() const { return scrape.empty() && path.empty() && port.empty() && targets.is_null(); }
};

absl::StatusOr<Scraping> ReadScraping(const Json& pod, int status_port) {
  Scraping scraping{
      Find(pod, kScrape).value_or(""), Find(pod, kPath).value_or(""), Find(pod, kPort).value_or(""), {}};
  if (const auto targets = Find(pod, kTargets)) scraping.targets = ReadTargets(*targets);
  if (!scraping.targets.is_null()) {
    scraping.port = TextOf(scraping.targets[0], "port");
    scraping.path = TextOf(scraping.targets[0], "path");
    for (const Json& target : scraping.targets) {
      if (absl::Status status =
              CheckScrapedPort("targets", "target port", TextOf(target, "port"), status_port);
          !status.ok())
        return status;
    }
  } else if (!scraping.port.empty()) {
    if (absl::Status status = CheckScrapedPort("configuration", "port", scraping.port, status_port);
        !status.ok())
      return status;
  }
  return scraping;
}

std::string ScrapingText(const Scraping& scraping) {
  nlohmann::ordered_json text = {
      {"scrape", scraping.scrape}, {"path", scraping.path}, {"port", scraping.port}};
  if (!scraping.targets.is_null()) text["targets"] = scraping.targets;
  return JsonText(text);
}

}  // namespace

std::optional<std::string> PrometheusPort(const Json& pod) { return Find(pod, kPort); }

void ClearPrometheus(Json* pod) {
  Json& annotations = (*pod)["metadata"]["annotations"];
  for (auto it = annotations.begin(); it != annotations.end();) {
    const std::string plain = Plain(it.key());
    const bool ours = plain == kScrape || plain == kPort || plain == kPath || plain == kTargets;
    it = ours ? annotations.erase(it) : std::next(it);
  }
}

absl::Status MergePrometheus(bool by_default, int status_port, Json* pod) {
  if (!WantsScrape(*pod) || !WantsMerge(*pod, by_default)) return absl::OkStatus();
  const std::string port = StrCat(status_port);
  if (PrometheusPort(*pod) == port) return absl::OkStatus();
  const absl::StatusOr<Scraping> scraping = ReadScraping(*pod, status_port);
  if (!scraping.ok()) return scraping.status();
  if (Json* proxy = FindProxy(pod); proxy != nullptr && !scraping->empty())
    (*proxy)["env"].push_back({{"name", kConfiguration}, {"value", ScrapingText(*scraping)}});
  ClearPrometheus(pod);
  Json& annotations = (*pod)["metadata"]["annotations"];
  annotations["prometheus.io/port"] = port;
  annotations["prometheus.io/path"] = "/stats/prometheus";
  annotations["prometheus.io/scrape"] = "true";
  return absl::OkStatus();
}

void SetSecurePort(Json* pod) {
  if (Find(*pod, Plain(kSecurePort))) return;
  const Json* proxy = FindProxy(*pod);
  if (proxy == nullptr) return;
  for (const Json& variable : Member(*proxy, "env")) {
    const std::string value = TextOf(variable, "value");
    if (TextOf(variable, "name") != "ENVOY_SECURE_MERGED_METRICS_PORT" || value.empty() || value == "0")
      continue;
    (*pod)["metadata"]["annotations"][kSecurePort] = value;
    return;
  }
}

}  // namespace fairlead::injection
