#ifndef FAIRLEAD_TESTS_CORPUS_COMPARE_H_
#define FAIRLEAD_TESTS_CORPUS_COMPARE_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cache/resource.h"
#include "nlohmann/json.hpp"
#include "tests/corpus/generate.h"

namespace fairlead::corpus {

// The canonical JSON of a resource: proto3 JSON with original field names.
nlohmann::json ToJson(const cache::Resource& resource);

struct Count {
  int equal = 0;
  int total = 0;
};
using Tally = std::map<std::pair<std::string, std::string>, Count>;  // (area, kind)

// Compares what we generate with a golden, resource by resource, adds to the tally, and appends the
// differences as "PROXY KIND NAME .path: got, want want". True if nothing differs. Only kinds in `kinds` are
// compared, if any are given.
bool Compare(const Resources& got, const nlohmann::json& golden, const std::string& area,
             const std::string& proxy, const std::vector<std::string>& kinds, Tally* tally,
             std::vector<std::string>* differences);

}  // namespace fairlead::corpus

#endif  // FAIRLEAD_TESTS_CORPUS_COMPARE_H_
