#include "injection/values.h"

#include <string_view>

#include "base/strings.h"
#include "injection/go_text.h"
#include "injection/typed_json.h"

namespace fairlead::injection {
namespace {

std::string_view KindOf(const Json& value) {
  if (value.is_object()) return "object";
  if (value.is_array()) return "array";
  if (value.is_string()) return "string";
  return value.is_boolean() ? "bool" : "number";
}

// Reads fields until one has the wrong type.
class FieldsReader {
 public:
  const Json& Object(const Json& parent, std::string_view name) {
    const Json& value = Member(parent, name);
    if (!value.is_null() && !value.is_object()) Wrong(value, "map[string]json.RawMessage");
    return value;
  }
  void Text(const Json& parent, std::string_view name, std::string* out) {
    const Json& value = Member(parent, name);
    if (value.is_null()) return;
    if (!value.is_string()) return Wrong(value, "string");
    if (!TextOf(value).empty()) *out = TextOf(value);
  }
  void Bool(const Json& parent, std::string_view name, bool* out) {
    const Json& value = Member(parent, name);
    if (value.is_null()) return;
    if (!value.is_boolean()) return Wrong(value, "bool");
    *out = value == true;
  }
  const absl::Status& status() const { return status_; }

 private:
  void Wrong(const Json& value, std::string_view type) {
    if (!status_.ok()) return;
    status_ =
        absl::InvalidArgumentError(StrCat("could not parse configuration values: json: cannot unmarshal ",
                                          KindOf(value), " into Go value of type ", type));
  }
  absl::Status status_;
};

std::string Image(const Values& values, const std::string& name, const std::string& given_type,
                  const std::string* annotation) {
  std::string type = given_type.empty() ? values.variant : given_type;
  if (annotation != nullptr) type = *annotation;
  std::string tag = values.tag;
  if (!type.empty()) {
    for (std::string_view known : {"-distroless", "-debug"}) {
      if (!tag.ends_with(known)) continue;
      tag.resize(tag.size() - known.size());
      break;
    }
    if (type != "default") StrAppend(&tag, "-", type);
  }
  return StrCat(values.hub, "/", name, ":", tag);
}

}  // namespace

absl::StatusOr<Values> ReadValues(const Json& json) {
  Values values;
  FieldsReader reader;
  const Json& global = reader.Object(json, "global");
  reader.Text(global, "hub", &values.hub);
  reader.Text(global, "variant", &values.variant);
  reader.Text(global, "network", &values.network);
  if (global.is_object() && global.contains("tag")) values.tag = GoValueText(Member(global, "tag"));
  reader.Text(reader.Object(global, "multiCluster"), "clusterName", &values.cluster);
  const Json& proxy = reader.Object(global, "proxy");
  reader.Text(proxy, "image", &values.proxy_image);
  reader.Bool(proxy, "holdApplicationUntilProxyStarts", &values.hold_application);
  reader.Text(reader.Object(global, "proxy_init"), "image", &values.init_image);
  reader.Bool(reader.Object(json, "sidecarInjectorWebhook"), "rewriteAppHTTPProbe", &values.rewrite_probes);
  if (!reader.status().ok()) return reader.status();
  return values;
}

std::string ProxyImage(const Values& values, const std::string& type, const std::string* annotation) {
  return Image(values, values.proxy_image, type, annotation);
}

std::string ProxyInitImage(const Values& values, const std::string* annotation) {
  return Image(values, values.init_image, "", annotation);
}

}  // namespace fairlead::injection
