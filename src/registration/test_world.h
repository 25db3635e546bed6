#ifndef FAIRLEAD_REGISTRATION_TEST_WORLD_H_
#define FAIRLEAD_REGISTRATION_TEST_WORLD_H_

#include <string>

#include "config/object.h"
#include "model/proxy.h"
#include "registration/new_entry.h"

// For tests: a WorkloadGroup shop/vms, and proxies of it.
namespace fairlead::registration {

// At 10.0.0.7, of the group: `metadata` is more of that, as JSON without braces. With an identity unless
// `ns` is "".
model::ProxyPtr TestProxy(const std::string& metadata = "", const std::string& region = "",
                          const std::string& ns = "shop", const std::string& account = "vm");

// As an API server has it; `uid`: "" as a file's.
config::ConfigPtr TestGroup(const std::string& uid = "u-1");
inline constexpr char kTestGroupFields[] =
    R"("spec":{"metadata":{"labels":{"class":"group"},"annotations":{"note":"group"}},)"
    R"("template":{"serviceAccount":"vm","labels":{"app":"template","tier":"template"},"ports":{"http":8080}}})";

// An object from JSON, as an API server has it.
config::ConfigPtr TestObject(config::Kind kind, const std::string& json);

std::string SpecText(const NewEntry& entry);

}  // namespace fairlead::registration

#endif  // FAIRLEAD_REGISTRATION_TEST_WORLD_H_
