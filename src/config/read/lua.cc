#include "config/read/lua.h"

#include <google/protobuf/struct.pb.h>

#include <cstdlib>
#include <lua.hpp>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "base/base64.h"
#include "base/hash.h"
#include "base/strings.h"
#include "config/field_path.h"
#include "config/object.h"
#include "istio/extensions/v1alpha1/traffic_extension.pb.h"
#include "istio/networking/v1alpha3/envoy_filter.pb.h"

namespace fairlead::config {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;

constexpr size_t kMostMemory = 32 << 20;  // bytes, of one compilation
constexpr size_t kRemembered = 4096;      // scripts

// As lua_Alloc has it; `left` is a size_t.
void* Allocate(void* left, void* block, size_t before, size_t size) {
  size_t& bytes = *static_cast<size_t*>(left);
  if (block == nullptr) before = 0;
  if (size > before && size - before > bytes) return nullptr;
  if (size == 0) {
    std::free(block);
    bytes += before;
    return nullptr;
  }
  void* const moved = std::realloc(block, size);
  if (moved != nullptr) bytes = bytes + before - size;
  return moved;
}

std::string Compile(std::string_view script) {
  size_t left = kMostMemory;
  const std::unique_ptr<lua_State, void (*)(lua_State*)> state(lua_newstate(Allocate, &left), lua_close);
  if (state == nullptr) return "";
  const int status = luaL_loadbufferx(state.get(), script.data(), script.size(), "=line", "t");
  if (status == 0) return "";
  if (status == LUA_ERRMEM) return StrCat("it takes more than ", kMostMemory >> 20, " MiB to compile");
  const char* text = lua_tostring(state.get(), -1);
  if (text == nullptr) return "it does not compile";
  const std::string_view message(text);
  if (message.ends_with("unexpected symbol near ';'")) return "";
  // "line:2: …", but for what is no text.
  constexpr std::string_view kPlace = "line:";
  return message.starts_with(kPlace) ? StrCat("line ", message.substr(kPlace.size())) : std::string(message);
}

// A step on the way to a value; on the stack of who looks at it.
struct Place {
  const Place* parent = nullptr;
  std::string_view key = {};
  size_t index = 0;
};

class Finder {
 public:
  std::vector<LuaMistake> Take() { return std::move(mistakes_); }

  void Look(const Struct& in, const Place* place, int depth) {
    if (depth > kDeepest) return;
    if (IsLua(in)) Filter(in, place);
    for (const auto& [key, value] : in.fields()) {
      const Place here{place, key, 0};
      LookAt(value, &here, depth + 1);
    }
  }

 private:
  static constexpr int kDeepest = 100;

  void LookAt(const Value& value, const Place* place, int depth) {
    if (value.has_struct_value()) return Look(value.struct_value(), place, depth);
    if (!value.has_list_value()) return;
    for (int i = 0; i < value.list_value().values_size(); ++i) {
      const Place here{place, {}, static_cast<size_t>(i)};
      LookAt(value.list_value().values(i), &here, depth + 1);
    }
  }

  // A filter's configuration, or a TypedStruct of one, which has it in `value`.
  void Filter(const Struct& in, const Place* place) {
    for (const auto& [key, value] : in.fields()) {
      const Place here{place, key, 0};
      if ((key == "inline_code" || key == "inlineCode") && value.has_string_value())
        Check(value.string_value(), &here);
      if (!value.has_struct_value()) continue;
      const Struct& inner = value.struct_value();
      if (key == "value") Filter(inner, &here);
      if (key == "default_source_code" || key == "defaultSourceCode" || key == "source_code" ||
          key == "sourceCode")
        Source(inner, &here);
      if (key != "source_codes" && key != "sourceCodes") continue;
      for (const auto& [name, source] : inner.fields()) {
        const Place at{&here, name, 0};
        if (source.has_struct_value()) Source(source.struct_value(), &at);
      }
    }
  }

  // A DataSource; of a file or a variable only the proxy knows the content.
  void Source(const Struct& in, const Place* place) {
    for (const auto& [key, value] : in.fields()) {
      const Place here{place, key, 0};
      if (!value.has_string_value()) continue;
      if (key == "inline_string" || key == "inlineString") Check(value.string_value(), &here);
      if (key != "inline_bytes" && key != "inlineBytes") continue;
      if (const auto bytes = DecodeBase64(value.string_value())) Check(*bytes, &here);
    }
  }

  void Check(const std::string& script, const Place* place) {
    std::string why = LuaProblem(script);
    if (why.empty()) return;
    LuaMistake mistake{{}, std::move(why)};
    for (; place != nullptr; place = place->parent)
      mistake.path.insert(mistake.path.begin(), {std::string(place->key), place->index});
    mistakes_.push_back(std::move(mistake));
  }

  static bool IsLua(const Struct& in) {
    for (const char* key : {"@type", "type_url", "typeUrl"}) {
      const auto at = in.fields().find(key);
      if (at == in.fields().end()) continue;
      const std::string_view type = at->second.string_value();
      if (type.ends_with("envoy.extensions.filters.http.lua.v3.Lua") ||
          type.ends_with("envoy.extensions.filters.http.lua.v3.LuaPerRoute"))
        return true;
    }
    return false;
  }

  std::vector<LuaMistake> mistakes_;
};

// Where a path leads, as far as the document has it.
void ReportAt(Node node, std::string path, int line, const LuaMistake& mistake, Report& report) {
  if (node) line = node.line();
  for (const PathStep& step : mistake.path) {
    if (step.key.empty()) {
      AppendIndex(path, step.index);
      node = node.At(step.index);
    } else {
      AppendKey(path, step.key);
      node = node.Find(step.key);
    }
    if (node) line = node.line();
  }
  report.Error(kLuaCode, line, std::move(path),
               StrCat("the Lua script does not compile, and is left out: ", mistake.why));
}

}  // namespace

std::string LuaProblem(std::string_view script) {
  static auto* const mutex = new std::mutex;
  static auto* const known = new absl::flat_hash_map<Hash128, std::string>;  // guarded by mutex
  const Hash128 hash = StableHash(script);
  {
    std::lock_guard lock(*mutex);
    if (const auto found = known->find(hash); found != known->end()) return found->second;
  }
  std::string why = Compile(script);
  std::lock_guard lock(*mutex);
  if (known->size() >= kRemembered) known->clear();
  known->emplace(hash, why);
  return why;
}

std::vector<LuaMistake> FindLuaMistakes(const Struct& value) {
  Finder finder;
  finder.Look(value, nullptr, 0);
  return finder.Take();
}

void NoteLuaMistakes(Kind kind, Node document, const google::protobuf::Message& spec, Report& report) {
  if (kind == Kind::kTrafficExtension) {
    const auto& extension = static_cast<const istio::extensions::v1alpha1::TrafficExtension&>(spec);
    if (!extension.has_lua()) return;
    const std::string why = LuaProblem(extension.lua().inline_code());
    const Node lua = document.Find("spec").Find("lua");
    const std::string_view key = lua.Find("inlineCode") ? "inlineCode" : "inline_code";
    if (!why.empty()) ReportAt(lua, "spec.lua", document.line(), {{{std::string(key)}}, why}, report);
  }
  if (kind != Kind::kEnvoyFilter) return;
  const auto& filter = static_cast<const istio::networking::v1alpha3::EnvoyFilter&>(spec);
  const Node written = document.Find("spec");
  const Node patches = written.Find(written.Find("configPatches") ? "configPatches" : "config_patches");
  for (int i = 0; i < filter.config_patches_size(); ++i) {
    const Node value = patches.At(static_cast<size_t>(i)).Find("patch").Find("value");
    for (const LuaMistake& mistake : FindLuaMistakes(filter.config_patches(i).patch().value()))
      ReportAt(value, StrCat("spec.configPatches[", i, "].patch.value"), document.line(), mistake, report);
  }
}

}  // namespace fairlead::config
