#include "agent/status/merged_metrics.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "base/json.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/percent.h"
#include "base/strings.h"
#include "fetch/whole_answer.h"

namespace fairlead::agent {
namespace {

using nlohmann::json;
using server::HttpRequest;
using server::HttpResponse;
using std::chrono::milliseconds;

LogScope status_log("status");

constexpr std::string_view kText = "text/plain; version=0.0.4; charset=utf-8";
constexpr std::string_view kOpenMetrics = "application/openmetrics-text";
constexpr std::string_view kEnd = "# EOF";
constexpr size_t kMostTargets = 100, kMostPage = 64 << 20;
// Without a limit of the asker's; and the longest of those that count.
constexpr milliseconds kUsualTime{10'000}, kMostTime{60'000};
// Ports of the mesh: administration, capture, tunnels, probes, merged and Envoy's metrics, DNS.
constexpr int kReserved[] = {15000, 15001, 15004, 15006, 15008, 15020, 15021, 15053, 15090};

absl::Status Mistake(std::string_view why) {
  return absl::InvalidArgumentError(StrCat("ISTIO_PROMETHEUS_ANNOTATIONS: ", why));
}

absl::StatusOr<ScrapeTarget> ReadTarget(const std::string& port, const std::string& path, int status_port) {
  ScrapeTarget target;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), target.port);
  if (error != std::errc() || end != port.data() + port.size() || target.port < 1 || target.port > 65'535)
    return Mistake(StrCat("'", port, "' is no port"));
  if (target.port == status_port ||
      std::find(std::begin(kReserved), std::end(kReserved), target.port) != std::end(kReserved))
    return Mistake(StrCat("port ", target.port, " is the mesh's own, not the application's"));
  if (!path.empty()) target.path = path.starts_with('/') ? path : StrCat("/", path);
  return target;
}

// "text/plain;version=0.0.4" as its type and its other parameters; quality does not count.
struct MediaType {
  std::string type, parameters;
  std::string version;
};
MediaType ReadMediaType(std::string_view text) {
  MediaType media;
  bool first = true;
  for (const std::string_view part : Split(text, ';')) {
    const std::string_view trimmed = Trim(part);
    if (std::exchange(first, false)) {
      media.type = AsciiLower(trimmed);
      continue;
    }
    if (trimmed.starts_with("q=") || trimmed.empty()) continue;
    StrAppend(&media.parameters, ";", trimmed);
    if (trimmed.starts_with("version=")) media.version = trimmed.substr(8);
  }
  return media;
}

// The form of an application's page, by its content type.
std::string FormOf(const std::string& content_type) {
  const MediaType media = ReadMediaType(content_type);
  if (media.type != kOpenMetrics) return std::string(kText);
  if (media.version == "1.0.0") return StrCat(kOpenMetrics, "; version=1.0.0; charset=utf-8");
  if (media.version.empty() || media.version == "0.0.1")
    return StrCat(kOpenMetrics, "; version=0.0.1; charset=utf-8");
  return std::string(kText);
}

std::string_view WithoutEnd(std::string_view body) {
  const size_t last = body.find_last_not_of(" \t\r\n");
  const std::string_view trimmed = body.substr(0, last == std::string_view::npos ? 0 : last + 1);
  return trimmed.ends_with(kEnd) ? trimmed.substr(0, trimmed.size() - kEnd.size()) : body;
}

std::string HeaderOf(const HttpRequest& request, const std::string& name) {
  const auto found = request.headers.find(name);
  return found == request.headers.end() ? "" : found->second;
}

constexpr char kTimeHeader[] = "x-prometheus-scrape-timeout-seconds";

// The asker's time, of which a part is left for the way.
milliseconds LimitOf(const HttpRequest& request) {
  const std::string text = HeaderOf(request, kTimeHeader);
  const double seconds = std::strtod(text.c_str(), nullptr);
  if (!(seconds > 0)) return kUsualTime;
  return std::min(kMostTime, milliseconds(static_cast<int64_t>(std::min(seconds, 60.0) * 1'000)));
}

std::vector<std::string> HeadersFor(const HttpRequest& request, const std::string& accept) {
  std::vector<std::string> headers = {StrCat("Accept: ", accept)};
  for (const char* name : {"user-agent", kTimeHeader}) {
    if (std::string value = HeaderOf(request, name); !value.empty())
      headers.push_back(StrCat(name, ": ", value));
  }
  return headers;
}

std::string QueryOf(const HttpRequest& request) {
  std::string query;
  for (const auto& [name, value] : request.query)
    StrAppend(&query, query.empty() ? "?" : "&", PercentEncoded(name), value.empty() ? "" : "=",
              PercentEncoded(value));
  return query;
}

void CountFailure(std::string_view kind, std::string_view why) {
  metrics::GetCounter("istio_agent_scrape_failures_total", "Pages of metrics that could not be had.",
                      {{"type", std::string(kind)}})
      .Add();
  status_log.Warn("metrics of {} are left out: {}", kind, why);
}

milliseconds Left(Clock::time_point end) {
  return std::max(milliseconds(1), std::chrono::duration_cast<milliseconds>(end - Clock::now()));
}

void AddLines(std::string_view body, std::string* text) {
  text->append(body);
  if (!body.empty() && body.back() != '\n') text->push_back('\n');
}

}  // namespace

absl::StatusOr<std::vector<ScrapeTarget>> ParseScrapeTargets(std::string_view text, int status_port) {
  std::vector<ScrapeTarget> targets;
  if (text.empty()) return targets;
  const auto written = ParseJson(text);
  if (!written || !written->is_object()) return Mistake("not a JSON object");
  if (JsonString(*written, "scrape") == "false") return targets;
  const auto list = written->find("targets");
  if (list == written->end() || !list->is_array() || list->empty()) {
    const std::string port = JsonString(*written, "port");
    auto target = ReadTarget(port.empty() ? "80" : port, JsonString(*written, "path"), status_port);
    if (!target.ok()) return target.status();
    targets.push_back(*std::move(target));
    return targets;
  }
  if (list->size() > kMostTargets) return Mistake(StrCat("more than ", kMostTargets, " targets"));
  for (const json& one : *list) {
    auto target = ReadTarget(JsonString(one, "port"), JsonString(one, "path"), status_port);
    if (!target.ok()) return target.status();
    targets.push_back(*std::move(target));
  }
  return targets;
}

absl::StatusOr<ScrapedPage> ScrapeLoopback(const std::string& url, const std::vector<std::string>& headers,
                                           milliseconds limit) {
  fetch::Request request;
  request.url = url;
  request.headers = headers;
  request.proxy = "";
  request.whole_limit = limit;
  request.most_bytes = kMostPage;
  fetch::WholeAnswer answer = fetch::AskAndWait(fetch::Client::Shared(), std::move(request));
  if (!answer.outcome.status.ok()) return answer.outcome.status;
  if (answer.outcome.http_status != 200)
    return absl::UnavailableError(StrCat(url, ": the answer is status ", answer.outcome.http_status));
  ScrapedPage page{std::move(answer.body), ""};
  for (const auto& [name, value] : answer.headers) {
    if (name == "content-type") page.content_type = value;
  }
  return page;
}

std::string NarrowAccept(std::string_view accept, const std::vector<std::string_view>& accepted) {
  constexpr std::string_view kPlainest = "text/plain;version=0.0.4";
  const auto takes = [&accepted](std::string_view type) {
    return std::find(accepted.begin(), accepted.end(), type) != accepted.end();
  };
  constexpr size_t kMost = 9;
  std::vector<std::string> kept;
  const auto keep = [&kept](std::string one) {
    if (kept.size() < kMost && std::find(kept.begin(), kept.end(), one) == kept.end())
      kept.push_back(std::move(one));
  };
  for (const std::string_view part : Split(accept, ',')) {
    const MediaType media = ReadMediaType(part);
    if (media.type == "*/*" || media.type == "*") {
      keep(std::string(kPlainest));
    } else if (media.type == "application/*" && takes(kOpenMetrics)) {
      keep(StrCat(kOpenMetrics, ";version=0.0.1"));
    } else if (takes(media.type)) {
      keep(media.type + media.parameters);
    }
  }
  if (kept.empty()) return std::string(kPlainest);
  std::string text;
  for (size_t i = 0; i < kept.size(); ++i)
    StrAppend(&text, i == 0 ? "" : ",", kept[i], ";q=0.", kept.size() - i);
  return text;
}

MergedMetrics::MergedMetrics(int envoy_port, std::vector<ScrapeTarget> targets, Scrape scrape)
    : envoy_port_(envoy_port), targets_(std::move(targets)), scrape_(std::move(scrape)) {}

void MergedMetrics::AddEnvoy(const HttpRequest& request, Clock::time_point end, std::string* text) const {
  if (envoy_port_ == 0) return;
  const std::string url = StrCat("http://localhost:", envoy_port_, "/stats/prometheus", QueryOf(request));
  // Envoy's page is without the end that OpenMetrics wants, and with it nothing could follow.
  const std::string accept = NarrowAccept(HeaderOf(request, "accept"), {"text/*", "text/plain"});
  const auto page = scrape_(url, HeadersFor(request, accept), Left(end));
  if (!page.ok()) return CountFailure("envoy", FromAbsl(page.status().message()));
  AddLines(page->body, text);
}

std::string MergedMetrics::AddApplication(const HttpRequest& request, Clock::time_point end,
                                          std::string* text) const {
  const std::string accept =
      NarrowAccept(HeaderOf(request, "accept"), {"text/*", "text/plain", kOpenMetrics});
  std::string form;
  for (const ScrapeTarget& target : targets_) {
    const auto page = scrape_(StrCat("http://localhost:", target.port, target.path),
                              HeadersFor(request, accept), Left(end));
    if (!page.ok()) {
      CountFailure("application", FromAbsl(page.status().message()));
      continue;
    }
    const std::string its = FormOf(page->content_type);
    form = form.empty() || form == its ? its : std::string(kText);
    AddLines(WithoutEnd(page->body), text);
  }
  if (form.starts_with(kOpenMetrics)) StrAppend(text, kEnd, "\n");
  return form.empty() ? std::string(kText) : form;
}

HttpResponse MergedMetrics::Page(const HttpRequest& request) const {
  metrics::GetCounter("istio_agent_scrapes_total", "Pages of merged metrics that were asked for.").Add();
  const Clock::time_point end = Clock::now() + LimitOf(request);
  HttpResponse response;
  response.body = metrics::ToText();
  AddEnvoy(request, end, &response.body);
  response.content_type = AddApplication(request, end, &response.body);
  return response;
}

}  // namespace fairlead::agent
