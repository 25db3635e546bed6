#include "agent/bootstrap/platform.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/clock.h"
#include "base/json.h"
#include "base/strings.h"
#include "fetch/whole_answer.h"

namespace fairlead::agent {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr std::string_view kServer = "http://169.254.169.254";

std::string Value(const Environment& environment, std::string_view name) {
  const auto it = environment.find(name);
  return it == environment.end() ? "" : it->second;
}

// Asks until the time for all questions together is over.
class Questions {
 public:
  Questions(const AskMetadata& ask, milliseconds whole) : ask_(ask), end_(Clock::now() + whole) {}
  // "" where there is no answer.
  std::string Get(std::string url, std::vector<std::string> headers, milliseconds limit) {
    return Ask("GET", std::move(url), std::move(headers), limit);
  }
  std::string Ask(std::string method, std::string url, std::vector<std::string> headers, milliseconds limit) {
    const auto left = std::chrono::duration_cast<milliseconds>(end_ - Clock::now());
    if (left.count() <= 0) return "";
    const auto answer = ask_({std::move(method), std::move(url), std::move(headers), std::min(limit, left)});
    return std::string(Trim(answer.value_or("")));
  }

 private:
  const AskMetadata& ask_;
  const Clock::time_point end_;
};

void Set(std::string key, std::string value, Platform* platform) {
  if (!value.empty()) platform->metadata[std::move(key)] = std::move(value);
}

// What clusters and projects make of a name in the Google Kubernetes Engine.
void SetClusterUrl(Platform* platform) {
  const auto& known = platform->metadata;
  const auto project = known.find("gcp_project"), location = known.find("gcp_location"),
             cluster = known.find("gcp_gke_cluster_name");
  if (project == known.end() || location == known.end() || cluster == known.end()) return;
  platform->metadata["gcp_gke_cluster_url"] =
      StrCat("https://container.googleapis.com/v1/projects/", project->second, "/locations/",
             location->second, "/clusters/", cluster->second);
}

// GCP_METADATA: PROJECT_ID|PROJECT_NUMBER|CLUSTER_NAME|CLUSTER_ZONE.
Platform StaticGoogle(const Environment& environment) {
  Platform platform;
  const std::string text = Value(environment, "GCP_METADATA");
  if (text.empty()) return platform;
  const auto parts = Split(text, '|');
  if (parts.size() == 4) {
    constexpr const char* kKeys[] = {"gcp_project", "gcp_project_number", "gcp_gke_cluster_name",
                                     "gcp_location"};
    for (size_t i = 0; i < parts.size(); ++i) platform.metadata[kKeys[i]] = std::string(parts[i]);
  }
  Set("gcp_quota_project", Value(environment, "GCP_QUOTA_PROJECT"), &platform);
  SetClusterUrl(&platform);
  Set("gcp_zone", Value(environment, "GCP_ZONE"), &platform);
  return platform;
}

// "us-central1-f" of "search … us-central1-f.c.project.internal …"; "": none.
std::string ZoneOfResolver(std::string_view text) {
  for (const std::string_view line : Split(text, '\n')) {
    if (!line.starts_with("search")) continue;
    std::string zone;
    for (const std::string_view word : Split(line, ' ')) {
      const size_t at = word.find(".c.");
      if (at == std::string_view::npos) continue;
      const std::string_view first = word.substr(0, at), rest = word.substr(at + 3);
      const size_t dot = rest.find('.');
      if (dot == std::string_view::npos || !rest.substr(dot).starts_with(".internal")) continue;
      if (std::count(first.begin(), first.end(), '-') == 2) zone = first;
    }
    if (!zone.empty()) return zone;
  }
  return "";
}

std::string LastPart(const std::string& path) { return path.substr(path.rfind('/') + 1); }

Platform Google(const Environment& environment, const MachineFacts& facts, Questions* questions) {
  const std::string host = Value(environment, "GCE_METADATA_HOST");
  const std::string base = StrCat(host.empty() ? kServer : StrCat("http://", host), "/computeMetadata/v1/");
  const auto get = [&](std::string_view path) {
    return questions->Get(StrCat(base, path), {"Metadata-Flavor: Google"}, milliseconds(1'000));
  };
  Platform platform = StaticGoogle(environment);
  std::string zone = platform.metadata.contains("gcp_zone") ? platform.metadata["gcp_zone"] : "";
  if (platform.metadata.empty()) {
    Set("gcp_project", get("project/project-id"), &platform);
    // A server that does not say this says nothing.
    if (!platform.metadata.empty()) {
      Set("gcp_project_number", get("project/numeric-project-id"), &platform);
      const std::string location = get("instance/attributes/cluster-location");
      Set("gcp_location", location.empty() ? LastPart(get("instance/zone")) : location, &platform);
      Set("gcp_gke_cluster_name", get("instance/attributes/cluster-name"), &platform);
      Set("gcp_gce_instance", get("instance/name"), &platform);
      Set("gcp_gce_instance_id", get("instance/id"), &platform);
      Set("gcp_gce_instance_template", get("instance/attributes/instance-template"), &platform);
      Set("gcp_gce_instance_created_by", get("instance/attributes/created-by"), &platform);
      SetClusterUrl(&platform);
    }
  }
  if (zone.empty()) zone = ZoneOfResolver(facts.resolver);
  if (zone.empty()) zone = LastPart(get("instance/zone"));
  if (std::count(zone.begin(), zone.end(), '-') == 2)
    platform.locality = StrCat(zone.substr(0, zone.rfind('-')), "/", zone);
  return platform;
}

// `sure`: CLOUD_PLATFORM says so; otherwise the server must show that it is Amazon's.
Platform Amazon(bool ipv6, bool sure, Questions* questions) {
  constexpr milliseconds kEach{100};
  const std::string base = StrCat(ipv6 ? "http://[fd00:ec2::254]" : kServer, "/latest/");
  const std::string token =
      questions->Ask("PUT", StrCat(base, "api/token"), {"X-aws-ec2-metadata-token-ttl-seconds: 60"}, kEach);
  std::vector<std::string> headers;
  if (!token.empty()) headers.push_back(StrCat("X-aws-ec2-metadata-token: ", token));
  const auto get = [&](std::string_view path) {
    return questions->Get(StrCat(base, "meta-data/", path), headers, kEach);
  };
  Platform platform;
  if (!sure && get("iam/info").find("arn:aws:iam") == std::string::npos) return platform;
  const std::string region = get("placement/region"), zone = get("placement/availability-zone");
  Set("aws_availability_zone", zone, &platform);
  Set("aws_region", region, &platform);
  Set("aws_instance_id", get("instance-id"), &platform);
  if (!region.empty() || !zone.empty()) platform.locality = StrCat(region, "/", zone);
  return platform;
}

void SetAzureTags(const json& compute, Platform* platform) {
  const auto list = compute.find("tagsList");
  if (list != compute.end() && list->is_array()) {
    for (const json& tag : *list) {
      if (tag.is_object())
        platform->metadata[StrCat("azure_", JsonString(tag, "name"))] = JsonString(tag, "value");
    }
    return;
  }
  const std::string tags = JsonString(compute, "tags");
  if (tags.empty()) return;
  for (const std::string_view tag : Split(tags, ';')) {
    const size_t colon = tag.find(':');
    platform->metadata[StrCat("azure_", tag.substr(0, colon))] =
        colon == std::string_view::npos ? "" : std::string(tag.substr(colon + 1));
  }
}

Platform Azure(Questions* questions) {
  const auto get = [&](std::string_view query) {
    return ParseJson(questions->Get(StrCat(kServer, "/metadata/instance", query), {"Metadata: True"},
                                    milliseconds(1'000)))
        .value_or(json());
  };
  std::string version = "2019-08-15";
  const json versions = get("");
  if (const auto list = versions.find("newest-versions"); versions.is_object() && list != versions.end()) {
    for (const json& one : *list) {
      if (one.is_string()) version = std::max(version, one.get<std::string>());
    }
  }
  Platform platform;
  const json answer = get(StrCat("?api-version=", version));
  const auto compute = answer.find("compute");
  if (!answer.is_object() || compute == answer.end() || !compute->is_object()) return platform;
  const std::string location = JsonString(*compute, "location"), zone = JsonString(*compute, "zone");
  Set("azure_name", JsonString(*compute, "name"), &platform);
  Set("azure_location", location, &platform);
  Set("azure_vmId", JsonString(*compute, "vmId"), &platform);
  SetAzureTags(*compute, &platform);
  if (!location.empty() || !zone.empty()) platform.locality = StrCat(location, "/", zone);
  return platform;
}

// The first bytes of a file of the machine's; "" where there is none.
std::string Start(const char* path) {
  std::ifstream file(path);
  std::string text(16'384, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return text;
}

}  // namespace

MachineFacts ReadMachineFacts() {
  return {Start("/sys/class/dmi/id/sys_vendor"), Start("/sys/class/dmi/id/product_name"),
          Start("/etc/resolv.conf")};
}

Platform FindPlatform(const Environment& environment, const MachineFacts& facts, bool ipv6,
                      const AskMetadata& ask) {
  const std::string named = AsciiLower(Value(environment, "CLOUD_PLATFORM"));
  Questions asked(ask, milliseconds(5'000)), found(ask, milliseconds(1'000));
  if (named == "none") return {};
  if (named == "gcp") return Google(environment, facts, &asked);
  if (named == "aws") return Amazon(ipv6, /*sure=*/true, &asked);
  if (named == "azure") return Azure(&asked);
  const bool google = facts.product.find("Google") != std::string::npos ||
                      !Value(environment, "GCE_METADATA_HOST").empty() ||
                      !StaticGoogle(environment).metadata.empty();
  if (google) return Google(environment, facts, &found);
  if (facts.vendor.find("Amazon EC2") != std::string::npos) return Amazon(ipv6, /*sure=*/false, &found);
  if (facts.vendor.find("Microsoft Corporation") != std::string::npos) return Azure(&found);
  return {};
}

std::optional<std::string> AskMetadataServer(const MetadataQuestion& question) {
  fetch::Request request;
  request.method = question.method;
  request.url = question.url;
  request.headers = question.headers;
  request.proxy = "";
  request.plaintext = true;
  request.connect_limit = question.limit;
  request.whole_limit = question.limit;
  fetch::WholeAnswer answer = fetch::AskAndWait(fetch::Client::Shared(), std::move(request));
  if (!answer.outcome.status.ok() || answer.outcome.http_status != 200) return std::nullopt;
  return std::move(answer.body);
}

}  // namespace fairlead::agent
