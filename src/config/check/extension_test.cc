#include "config/check_fixture.h"

// What is found in extensions and proxy configurations.
namespace fairlead::config::check {
namespace {

TEST(ExtensionCheckTest, WasmPlugins) {
  ExpectFindings(
      "extensions.istio.io/v1alpha1 WasmPlugin", "%",
      {
          {"{url: 'oci://a/b', sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855}",
           {}},
          {"{}", {"error spec.url (missing-field)"}},
          {"{url: 'ftp://a'}", {"error spec.url (invalid-value)"}},
          {"{url: a.b/c}", {}},
      });
  ExpectFindings(
      "extensions.istio.io/v1alpha1 WasmPlugin", "{url: a, %}",
      {
          {"sha256: x", {"error spec.sha256 (invalid-value)"}},
          {"vmConfig: {env: [{name: X, value: a}, {name: X, value: b}, {name: Z, valueFrom: HOST, value: "
           "c}]}",
           {"error spec.vmConfig.env[1] (duplicate-item)", "error spec.vmConfig.env[2] (broken-rule)",
            "error spec.vmConfig.env[2].value (conflict)"}},
          {"match: [{ports: [{number: 0}]}]", {"error spec.match[0].ports[0].number (invalid-value)"}},
          {"imagePullSecret: '', pluginName: ''",
           {"error spec.imagePullSecret (out-of-range)", "error spec.pluginName (out-of-range)"}},
          {"selector: {matchLabels: {a: b}}, targetRefs: [{kind: Service, name: s}]",
           {"error spec (conflict)"}},
      });
}

TEST(ExtensionCheckTest, TrafficExtensions) {
  ExpectFindings("extensions.istio.io/v1alpha1 TrafficExtension", "%",
                 {
                     {"{wasm: {url: a}}", {}},
                     {"{lua: {inlineCode: x()}}", {}},
                     {"{}", {"error spec (conflict)"}},
                     {"{wasm: {url: a}, lua: {inlineCode: x()}}", {"error spec.lua (conflicting-fields)"}},
                     {"{lua: {}}", {"error spec.lua.inlineCode (out-of-range)"}},
                     {"{wasm: {url: a}, match: [{ports: [{number: 0}]}]}",
                      {"error spec.match[0].ports[0].number (invalid-value)"}},
                 });
}

TEST(ExtensionCheckTest, ProxyConfigs) {
  ExpectFindings(
      "networking.istio.io/v1beta1 ProxyConfig", "%",
      {
          {"{concurrency: 2, environmentVariables: {A: b}}", {}},
          {"{concurrency: -1}", {"error spec.concurrency (out-of-range)"}},
          {"{selector: {matchLabels: {a: '*'}}}", {"error spec.selector.matchLabels.a (invalid-value)"}},
          {"{image: {imageType: distroless}}", {}},
      });
}

}  // namespace
}  // namespace fairlead::config::check
