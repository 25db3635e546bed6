#include <cstddef>
#include <cstdint>
#include <set>
#include <string_view>

#include "config/read/manifests.h"
#include "tests/fuzz/choices.h"

// For libFuzzer: any bytes may stand in a manifest file. Beyond not crashing: each object is good or broken,
// not both, is there once, knows its place, whatever is lost can be denied, and reading the text again gives
// the same.
namespace {

using fairlead::config::ConfigPtr;
using fairlead::config::ObjectKey;
using fairlead::config::ParseManifests;
using fairlead::config::ParseResult;
using fairlead::fuzz::Require;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const ParseResult first = ParseManifests(text, "fuzz.yaml");
  std::set<ObjectKey> keys;
  for (const ConfigPtr& object : first.objects) {
    Require(keys.insert(KeyOf(*object)).second, "an object is there twice");
    Require(object->origin().line > 0 && !object->name().empty(), "an object without a place or name");
  }
  for (const ObjectKey& key : first.broken) Require(keys.insert(key).second, "an object is good and broken");
  for (const auto& policy : first.lost_policies)
    Require(policy.denial != nullptr && policy.line > 0, "a lost policy without a denial or a place");
  const ParseResult second = ParseManifests(text, "fuzz.yaml");
  Require(first.objects.size() == second.objects.size(), "another number of objects");
  for (size_t i = 0; i < first.objects.size(); ++i) {
    Require(first.objects[i]->content_hash() == second.objects[i]->content_hash(), "another object");
  }
  return 0;
}
