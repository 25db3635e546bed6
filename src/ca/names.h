#ifndef FAIRLEAD_CA_NAMES_H_
#define FAIRLEAD_CA_NAMES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ca/openssl.h"

// Subject alternative names, for the sources of this folder.
namespace fairlead::ca {

using OwnedExtension = Owned<X509_EXTENSION, X509_EXTENSION_free>;

// "spiffe://…" as a URI, an IP address as one, anything else as a DNS name. InvalidArgument for a name that
// is empty, longer than 2048 bytes or not printable ASCII, or where there is none.
absl::StatusOr<OwnedExtension> NamesExtension(const std::vector<std::string>& names, bool critical);

}  // namespace fairlead::ca

#endif  // FAIRLEAD_CA_NAMES_H_
