#include "source/mcp/mcp_session.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/strings.h"
#include "config/lost_policy.h"
#include "source/platform/one_object.h"

namespace fairlead::source {
namespace {

constexpr size_t kMostErrors = 20, kMostErrorText = 4 << 10;  // of a refusal
constexpr char kUnansweredCode[] = "unanswered-types";
constexpr std::string_view kServicePrefix = "synthetic-";

bool IsOfService(std::string_view name) {
  return name.substr(name.find('/') + 1).starts_with(kServicePrefix);
}

std::string TextOf(const std::vector<std::string>& errors) {
  std::string text;
  for (size_t i = 0; i < std::min(errors.size(), kMostErrors); ++i)
    StrAppend(&text, text.empty() ? "" : "; ", errors[i]);
  if (text.size() > kMostErrorText) text.resize(kMostErrorText);
  if (errors.size() > kMostErrors) StrAppend(&text, "; and ", errors.size() - kMostErrors, " more");
  return text;
}

// Why a part is not taken as it is; "" where it is.
std::string ErrorOf(const PlatformPart& part) {
  for (const config::Diagnostic& one : part.diagnostics) {
    if (one.severity != config::Severity::kError) continue;
    return StrCat(one.path, one.path.empty() ? "" : ": ", one.message);
  }
  return "";
}

}  // namespace

McpSession::McpSession(const McpOptions& options, PlatformView* view)
    : options_(options), view_(view), origin_(options.url.Name()) {
  for (const config::Kind kind : options.kinds) types_[McpTypeUrl(kind)].kind = kind;
}

std::vector<std::string> McpSession::Begin() {
  std::vector<std::string> requests;
  for (auto& [url, type] : types_) {
    type.answered = false;
    type.version.clear();
    McpRequest request;
    request.type_url = url;
    if (requests.empty()) request.node = options_.node;
    for (const auto& [name, resource] : type.resources) {
      if (resource.readable) request.initial_versions[name] = resource.version;
    }
    requests.push_back(EncodeMcpRequest(request, options_.delta));
  }
  return requests;
}

absl::StatusOr<std::string> McpSession::Take(std::string_view message) {
  const std::optional<McpResponse> response = DecodeMcpResponse(message, options_.delta);
  if (!response) return absl::InvalidArgumentError("the response is malformed");
  const auto found = types_.find(response->type_url);
  if (found == types_.end())
    return absl::InvalidArgumentError(
        ToAbsl(StrCat("a response of a type that was not asked for: ", response->type_url)));
  auto& [url, type] = *found;
  Errors errors;
  if (response->resources.size() > options_.most_objects) {
    errors.push_back(StrCat("more than ", options_.most_objects, " resources"));
  } else {
    TakeResources(url, type, *response, &errors);
  }
  type.answered = true;
  if (errors.empty()) type.version = response->version;
  view_->NoteAnswer();
  CompleteWhenAnswered();
  McpRequest answer;
  answer.type_url = url;
  answer.version = type.version;
  answer.nonce = response->nonce;
  answer.error = TextOf(errors);
  return EncodeMcpRequest(answer, options_.delta);
}

void McpSession::TakeResources(const std::string& url, Type& type, const McpResponse& response,
                               Errors* errors) {
  std::set<std::string> names;
  for (const McpResource& resource : response.resources) {
    if (resource.name.empty()) {
      errors->push_back("a resource is no istio.mcp.v1alpha1.Resource with a name");
      continue;
    }
    if (!options_.services && IsOfService(resource.name)) continue;
    names.insert(resource.name);
    Put(url, type, resource, errors);
  }
  std::vector<std::string> gone = response.removed;
  if (!options_.delta) {
    for (const auto& [name, resource] : type.resources) {
      if (!names.contains(name)) gone.push_back(name);
    }
  }
  for (const std::string& name : gone) Remove(url, type, name);
}

void McpSession::Put(const std::string& url, Type& type, const McpResource& resource, Errors* errors) {
  Resource& known = type.resources[resource.name];
  known.version = resource.version;
  const Hash128 hash = StableHash(resource.body);
  if (known.readable && known.hash == hash) return;
  const std::string name = PartName(url, resource.name);
  PlatformPart part = ReadPart(name, type, resource);
  const std::string error = ErrorOf(part);
  if (!error.empty()) errors->push_back(StrCat(resource.name, ": ", error));
  known.hash = hash;
  known.readable = error.empty();
  view_->Put(name, std::move(part));
}

void McpSession::Remove(const std::string& url, Type& type, const std::string& name) {
  type.resources.erase(name);
  view_->Remove(PartName(url, name));
}

PlatformPart McpSession::ReadPart(const std::string& name, const Type& type,
                                  const McpResource& resource) const {
  const auto known = view_->parts().find(name);
  const PlatformPart* const before = known == view_->parts().end() ? nullptr : known->second.get();
  const std::string file = StrCat(origin_, "/", name);
  const size_t slash = resource.name.find('/');
  config::ObjectKey key{type.kind, Interned(resource.name.substr(0, slash)),
                        Interned(resource.name.substr(slash == std::string::npos ? 0 : slash + 1))};
  const absl::StatusOr<McpManifest> manifest = ManifestOf(config::InfoOf(type.kind), resource.body);
  PlatformPart part = manifest.ok() ? ReadOneObject(file, manifest->text, key, before, options_.deny_lost)
                                    : KeepEarlier(file, key, before, "wrong-resource",
                                                  std::string(FromAbsl(manifest.status().message())));
  std::erase_if(part.objects, [this](const config::ConfigPtr& object) {
    return !options_.platform.selector.Matches(object->meta().labels) &&
           !config::IsDenialOfLost(config::KeyOf(*object));
  });
  return part;
}

std::vector<std::string> McpSession::Unanswered() const {
  std::vector<std::string> urls;
  for (const auto& [url, type] : types_) {
    if (!type.answered) urls.push_back(url);
  }
  return urls;
}

void McpSession::CompleteWhenAnswered() {
  if (!Unanswered().empty()) return;
  view_->SetRemark(kUnansweredCode, "");
  view_->SetComplete();
}

void McpSession::StopWaiting() {
  const std::vector<std::string> urls = Unanswered();
  if (urls.empty() || urls.size() == types_.size()) return;
  view_->SetRemark(kUnansweredCode, StrCat("the server has not answered for ", Join(urls, ", "),
                                           "; their objects stay as they were"));
  view_->SetComplete();
}

}  // namespace fairlead::source
