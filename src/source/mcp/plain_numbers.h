#ifndef FAIRLEAD_SOURCE_MCP_PLAIN_NUMBERS_H_
#define FAIRLEAD_SOURCE_MCP_PLAIN_NUMBERS_H_

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace fairlead::source {

// Makes numbers of the 64-bit integers in a message's JSON, for example 1024 of "1024". The JSON mapping of
// protobuf quotes these; schemas of CustomResourceDefinitions want numbers. `message` is a name of the API,
// as in "istio.networking.v1alpha3.DestinationRule". Of an unknown message nothing changes. Source:
// https://protobuf.dev/programming-guides/json. Thread-safe.
void UnquoteNumbers(std::string_view message, nlohmann::ordered_json* object);

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_MCP_PLAIN_NUMBERS_H_
