#ifndef FAIRLEAD_GEN_SECURITY_TRUST_DOMAINS_H_
#define FAIRLEAD_GEN_SECURITY_TRUST_DOMAINS_H_

#include <google/protobuf/repeated_ptr_field.h>

#include <span>
#include <string>

// The meaning of a policy's names in a mesh with several trust domains: its own, which is the first, and the
// aliases. Pure. Source: Istio's trustdomain.Bundle.
namespace fairlead::gen::security {

using Values = google::protobuf::RepeatedPtrField<std::string>;
using TrustDomains = std::span<const std::string>;

// Principals ("domain/ns/namespace/sa/account") of one of the mesh's domains, or of "cluster.local", stand
// for all its domains. A "*" before the domain covers all matching domains. Others stay as they are.
Values PrincipalsWithAliases(const Values& principals, TrustDomains trust_domains);
// A name of one of the domains stands for all of them.
Values TrustDomainsWithAliases(const Values& names, TrustDomains trust_domains);

}  // namespace fairlead::gen::security

#endif  // FAIRLEAD_GEN_SECURITY_TRUST_DOMAINS_H_
