#ifndef FAIRLEAD_XDS_ACCEPTANCE_H_
#define FAIRLEAD_XDS_ACCEPTANCE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "base/interned.h"
#include "base/strings.h"
#include "xds/resource_set.h"
#include "xds/response.h"

namespace fairlead::xds {

// A resource that a client did not take.
struct Refused {
  ResourcePtr wanted;  // as it was sent last; never null
  ResourcePtr has;     // that the client goes on with; null: nothing, or nothing that is known of
};

// Knows which responses of one type a client accepted. The client answers them in their order. Envoy accepts
// the good part of a rejected response. It names the rejected clusters or listeners; all others count as
// accepted. Where an error names nothing that was sent, all that was new to the client counts as refused.
//
// The kept sets are shared with other streams: two for a client that has answered everything, and at most
// four more for unanswered responses. Not thread-safe.
class Acceptance {
 public:
  // The client begins anew with what it has; null: nothing that is known of. `unknown`: it has something all
  // the same.
  void Begin(ResourceSetPtr has, bool unknown);
  // The client is sent a response, with which it is to have `sent`. `nonce` is larger than any before.
  void OnSent(uint64_t nonce, const ResourceSetPtr& sent, const Response& response);
  // There was nothing to send, though what the client is to have was made anew: of what it has nothing older
  // is kept.
  void OnNothingSent(const ResourceSetPtr& sent);
  // It answers one; an answer that is not waited for means nothing.
  void OnAck(uint64_t nonce);
  void OnNack(uint64_t nonce, std::string_view error);

  // How many answers meant something.
  uint32_t answers() const { return answers_; }
  // Whether the client may lack something that it has answered. Costs nothing.
  bool Behind() const { return accepted_ != answered_; }
  // The refused resources that are still in `sent`; by name.
  std::vector<Refused> RefusedOf(const ResourceSet& sent) const;
  // The client's resources; null: nothing is known.
  const ResourceSetPtr& accepted() const { return accepted_; }
  // Whether it had something when it began that is not known.
  bool unknown() const { return unknown_; }

 private:
  struct Awaited {
    uint64_t first, nonce;  // of one response, or of the first and last of several
    bool whole;             // all of `sent` is in it
    ResourceSetPtr sent;
    std::vector<Interned> again;  // refused before, and in it once more
  };
  bool Pop(uint64_t nonce, bool rejected, Awaited* answered);
  StringSet NewIn(const Awaited& response) const;
  void Take(const Awaited& response, const StringSet& in_it, const StringSet& refused);

  ResourceSetPtr accepted_;  // null: nothing
  ResourceSetPtr answered_;  // what it would have if it had taken all that it has answered
  bool unknown_ = false;
  uint32_t answers_ = 0;
  std::vector<Awaited> awaited_;  // by nonce
};

// The single resources in an error, "Error adding/updating listener(s) NAME: REASON, NAME: REASON". Nothing
// where it names none of which `sent` is true. Source: Envoy, source/common/listener_manager/lds_api.cc,
// source/common/upstream/cds_api_helper.cc.
struct NamedReason {
  std::string name, reason;
};
std::vector<NamedReason> ReasonsByName(std::string_view error,
                                       absl::FunctionRef<bool(std::string_view name)> sent);

}  // namespace fairlead::xds

#endif  // FAIRLEAD_XDS_ACCEPTANCE_H_
