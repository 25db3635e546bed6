#ifndef FAIRLEAD_CA_SIGNING_REQUEST_H_
#define FAIRLEAD_CA_SIGNING_REQUEST_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ca/key.h"

// Certificate signing requests (PKCS #10, RFC 2986) in PEM.
namespace fairlead::ca {

// The relevant part of a request. The request does not decide about names.
struct SigningRequest {
  KeyPtr public_key;
  bool has_common_name = false;  // the certificate is to have one, too
  // What it asks for, besides the key.
  std::vector<std::string> uris;  // subject alternative names
  bool more_than_uris = false;    // another name, a subject or another extension
};

// A request whose signature proves that its maker has the key. InvalidArgument, saying why not, for anything
// else: more than 64 KiB, more than one, a key that is too weak or too strong.
absl::StatusOr<SigningRequest> ReadSigningRequest(std::string_view pem);

// A request for the identity, "spiffe://…", signed by the key.
absl::StatusOr<std::string> MakeSigningRequest(const KeyPtr& key, const std::string& identity);

}  // namespace fairlead::ca

#endif  // FAIRLEAD_CA_SIGNING_REQUEST_H_
