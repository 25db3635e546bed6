#include "source/platform/one_object.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "config/lost_policy.h"
#include "config/read/manifests.h"

namespace fairlead::source {
namespace {

config::Diagnostic LostDiagnostic(const std::string& file, const config::ObjectKey& key, bool denied) {
  config::Diagnostic diagnostic =
      DocumentDiagnostic(file, std::string(config::kUnreadablePolicyCode),
                         StrCat("the policy cannot be read and has no earlier version: ",
                                denied ? "requests are denied until it is mended" : "it is not in force"));
  diagnostic.object = key;
  return diagnostic;
}

bool HasError(const PlatformPart& part) {
  return std::any_of(part.diagnostics.begin(), part.diagnostics.end(),
                     [](const config::Diagnostic& one) { return one.severity == config::Severity::kError; });
}

bool IsDenial(const PlatformPart& part) {
  return part.objects.size() == 1 && config::IsDenialOfLost(config::KeyOf(*part.objects.front()));
}

void UseEarlier(const std::string& file, const config::ObjectKey& wanted, const PlatformPart* before,
                PlatformPart* part) {
  part->text.clear();
  if (before == nullptr || before->objects.empty()) return;
  part->objects = before->objects;
  part->text = before->text;
  config::Diagnostic earlier = config::ServingEarlier(file, 0);
  earlier.object = wanted;
  part->diagnostics.push_back(std::move(earlier));
}

}  // namespace

config::Diagnostic DocumentDiagnostic(const std::string& file, std::string code, std::string message) {
  config::Diagnostic diagnostic;
  diagnostic.code = std::move(code);
  diagnostic.file = file;
  diagnostic.message = std::move(message);
  return diagnostic;
}

PlatformPart KeepEarlier(const std::string& file, const config::ObjectKey& wanted, const PlatformPart* before,
                         std::string code, std::string message) {
  PlatformPart part;
  part.diagnostics.push_back(DocumentDiagnostic(file, std::move(code), std::move(message)));
  UseEarlier(file, wanted, before, &part);
  return part;
}

PlatformPart ReadOneObject(const std::string& file, std::string_view text, const config::ObjectKey& wanted,
                           const PlatformPart* before, bool deny_lost) {
  if (text.size() > kMostObjectText)
    return KeepEarlier(file, wanted, before, "too-large",
                       StrCat("the value has more than ", kMostObjectText >> 20, " MiB"));
  config::ParseResult result = config::ParseManifests(text, file);
  PlatformPart part;
  part.diagnostics = std::move(result.diagnostics);
  if (result.objects.size() == 1 && config::KeyOf(*result.objects.front()) == wanted &&
      result.broken.empty() && !result.unreadable) {
    part.objects = std::move(result.objects);
    part.text = text;
    return part;
  }
  if (!HasError(part)) {
    part.diagnostics.push_back(DocumentDiagnostic(
        file, "wrong-value", StrCat("the value is not one ", config::Describe(wanted), ", as the key says")));
  }
  if (!result.lost_policies.empty() && (before == nullptr || before->objects.empty() || IsDenial(*before))) {
    part.diagnostics.push_back(LostDiagnostic(file, wanted, deny_lost));
    if (deny_lost && result.lost_policies.front().denial != nullptr)
      part.objects.push_back(result.lost_policies.front().denial);
    return part;
  }
  UseEarlier(file, wanted, before, &part);
  return part;
}

}  // namespace fairlead::source
