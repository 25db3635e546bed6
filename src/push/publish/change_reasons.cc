#include "push/publish/change_reasons.h"

#include <google/protobuf/util/message_differencer.h>

#include "istio/mesh/v1alpha1/network.pb.h"
#include "model/settings.h"

namespace fairlead::push {
namespace {

bool SameNetworks(const model::Settings& a, const model::Settings& b) {
  return a.networks == b.networks ||
         google::protobuf::util::MessageDifferencer::Equals(*a.networks, *b.networks);
}

}  // namespace

void AddReasons(std::span<const config::ObjectChange> changes, const mesh::MeshSnapshot* before,
                const mesh::MeshSnapshot& now, Reasons* reasons) {
  for (const config::ObjectChange& change : changes) reasons->Add(ReasonOf(change.key.kind));
  if (before == nullptr) return reasons->Add(Reason::kGlobal);
  if (now.settings != before->settings) {
    if (now.settings->mesh != before->settings->mesh) reasons->Add(Reason::kGlobal);
    if (!SameNetworks(*now.settings, *before->settings)) reasons->Add(Reason::kNetworks);
  } else if (now.networks->All() != before->networks->All()) {  // objects make gateways of networks, too
    reasons->Add(Reason::kNetworks);
  }
}

}  // namespace fairlead::push
