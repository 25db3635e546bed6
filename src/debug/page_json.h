#ifndef FAIRLEAD_DEBUG_PAGE_JSON_H_
#define FAIRLEAD_DEBUG_PAGE_JSON_H_

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "debug/pages.h"
#include "xds/resource_set.h"

// What the pages' JSON is put together from. Pure.
namespace fairlead::debug {

using Json = nlohmann::ordered_json;

// As Go writes it: "2026-01-02T15:04:05.123456Z"; the zero time where nothing has happened.
std::string TimeText(std::chrono::system_clock::time_point time);

// A message by the descriptors of the whole API; an object with "@type" and "error" where it cannot be read.
Json MessageJson(std::string_view type, std::string_view bytes);
// A serialized Any with its content.
Json AnyJson(std::string_view any);

// Compact, or indented where the query holds "pretty".
Page JsonPage(const Json& json, const Query& query);
Page TextPage(int status, std::string text);
// Before the first snapshot.
Page NothingYet();
// The proxy of ?proxyID= has no stream here.
Page NotConnected();

}  // namespace fairlead::debug

#endif  // FAIRLEAD_DEBUG_PAGE_JSON_H_
