#ifndef FAIRLEAD_CONFIG_READ_LUA_H_
#define FAIRLEAD_CONFIG_READ_LUA_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "config/kind.h"
#include "config/report.h"
#include "config/tree.h"

namespace google::protobuf {
class Message;
class Struct;
}  // namespace google::protobuf

namespace fairlead::config {

inline constexpr std::string_view kLuaCode = "lua";

// What Envoy's Lua filter would refuse a script for, "line 2: '=' expected near 'x'"; "" where it compiles,
// or might: Envoy's LuaJIT takes empty statements, which Debian's does not. It is never run. Memory is
// bounded, and with it time; a script that needs more is refused. What was found is remembered. Thread-safe.
std::string LuaProblem(std::string_view script);

// One step of a path: a key of a mapping, or the index of an element where there is none.
struct PathStep {
  std::string key;
  size_t index = 0;
};
struct LuaMistake {
  std::vector<PathStep> path;  // of the script
  std::string why;
};
// Of the scripts of Lua filters, and of their configurations for single routes, anywhere in a patch's value.
// Source: envoy.extensions.filters.http.lua.v3.Lua and LuaPerRoute.
std::vector<LuaMistake> FindLuaMistakes(const google::protobuf::Struct& value);

// Reports an error kLuaCode for each script of an EnvoyFilter or a TrafficExtension that does not compile.
// Istio admits such objects, and so does this: what holds the script is left out when resources are made.
// `document`: what the object was read from.
void NoteLuaMistakes(Kind kind, Node document, const google::protobuf::Message& spec, Report& report);

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_READ_LUA_H_
