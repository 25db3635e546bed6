#ifndef FAIRLEAD_REGISTRATION_NEW_ENTRY_H_
#define FAIRLEAD_REGISTRATION_NEW_ENTRY_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/labels.h"
#include "config/object.h"
#include "model/proxy.h"
#include "registration/entry.h"

namespace istio::networking::v1alpha3 {
class WorkloadEntry;
}

namespace fairlead::registration {

// A WorkloadEntry that is to be made for a proxy. A plain value.
struct NewEntry {
  EntryName name;
  LabelMap labels, annotations;
  std::shared_ptr<const istio::networking::v1alpha3::WorkloadEntry> spec;
  config::ConfigPtr group;  // its owner
};

// The entry that a proxy registers: GROUP-IP, of a proxy with a network GROUP-IP-NETWORK. InvalidArgument
// where the proxy's own words make no name, or no namespace. REQUIRES: the proxy names a group. Source:
// Istio's autoregisteredWorkloadEntryName.
absl::StatusOr<EntryName> RegisteredName(const model::Proxy& proxy);

// The WorkloadGroup's template with the address, labels, network and locality of the proxy. InvalidArgument
// where the proxy has a label that no object may have. Source: Istio's workloadEntryFromGroup.
absl::StatusOr<NewEntry> EntryFromGroup(const EntryName& name, const model::Proxy& proxy,
                                        const config::ConfigPtr& group);

std::string_view ServiceAccountOf(const NewEntry& entry);

// Whether both are such that an object may be called so.
absl::Status CheckName(const EntryName& name);

}  // namespace fairlead::registration

#endif  // FAIRLEAD_REGISTRATION_NEW_ENTRY_H_
