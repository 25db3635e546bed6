#ifndef FAIRLEAD_CONFIG_LOST_POLICY_H_
#define FAIRLEAD_CONFIG_LOST_POLICY_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/object.h"
#include "config/tree.h"

// Policies of security.istio.io that are written down and cannot be read. Whoever passes one over leaves open
// what somebody meant to close.
namespace fairlead::config {

// AuthorizationPolicy, PeerAuthentication, RequestAuthentication.
bool IsPolicyKind(Kind kind);
const std::vector<Kind>& PolicyKinds();

// Whether a document of this type is a policy, or was probably meant to be one: its group is
// security.istio.io or nearly so, or its kind nearly one of the three and its group nobody else's.
bool IsPolicyLike(std::string_view api_version, std::string_view kind);

struct LostPolicy {
  std::string ns;        // "default" where the document does not say
  std::string name;      // "" where it does not say, or not well
  int line = 0;          // 1-based, where the document begins
  bool guessed = false;  // the text is no YAML: its namespace and name are what looks like them
  bool narrow = false;   // the denial is for some workloads, not for the whole namespace
  // Denies every request to the workloads that the document is about as far as that can be read: those of its
  // selector or targets, else of its namespace. Its name is no proper one, so that no written object has it.
  ConfigPtr denial;
};

// REQUIRES: IsPolicyLike of its type. Nothing for a dry run, which stops no request.
std::optional<LostPolicy> LostPolicyOf(Node document, const Interned& file);
// Of lines that are no YAML; nothing where they are not about a policy.
std::optional<LostPolicy> LostPolicyOfText(std::string_view text, int line, const Interned& file);

// Whether an object is the denial of a lost policy.
bool IsDenialOfLost(const ObjectKey& key);

inline constexpr std::string_view kUnreadablePolicyCode = "unreadable-policy";

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_LOST_POLICY_H_
