#ifndef FAIRLEAD_CONFIG_READ_JSON_FIELDS_H_
#define FAIRLEAD_CONFIG_READ_JSON_FIELDS_H_

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

#include "config/kind.h"

namespace fairlead::config {

// Which fields of a JSON text are read; the others are skipped and cost no memory. A list has the fields of
// its elements. A plain value.
struct JsonFields {
  enum class Rest : uint8_t { kRead, kSkipped };

  bool read = true;
  Rest rest = Rest::kRead;  // the fields below that are not named
  std::map<std::string, JsonFields, std::less<>> below;

  // Of these, from here down; what is named nowhere is read.
  JsonFields& Skip(std::initializer_list<std::string_view> path);
  // Beside what is named nothing is read on the way, and everything below the last.
  JsonFields& Only(std::initializer_list<std::string_view> path);
  // What is below a key: null for everything of it. `skipped` where it is not read at all.
  const JsonFields* Find(std::string_view key, bool* skipped) const;
};

// Of an API server's object of this kind what a mesh reads.
const JsonFields& StoredFieldsOf(const KindInfo& kind);

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_READ_JSON_FIELDS_H_
