#include "validate/validate_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <tuple>

#include "base/strings.h"
#include "source/file/source_fake.h"

namespace fairlead::validate {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kGood[] = R"(apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: good, namespace: edge}
spec:
  servers:
  - port: {number: 80, name: http, protocol: HTTP}
    hosts: ["*"]
)";
constexpr char kBad[] = R"(apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: bad, namespace: edge}
spec:
  servers:
  - port: {number: 0, name: http, protocol: HTTP}
    hosts: ["*"]
)";
constexpr char kWarned[] = R"(apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: {name: warned}
spec:
  egress:
  - hosts: ["*/*", "a/b.c"]
)";

// One call, with what it is given and what it says.
struct Call {
  int status;
  std::string out, error;
};

class Redirect {
 public:
  Redirect(std::ios& stream, std::streambuf* to) : stream_(stream), before_(stream.rdbuf(to)) {}
  ~Redirect() { stream_.rdbuf(before_); }

 private:
  std::ios& stream_;
  std::streambuf* before_;
};

Call Validate(const std::vector<std::string>& arguments, const std::string& input = "") {
  std::istringstream in(input);
  std::ostringstream out, error;
  const Redirect a(std::cin, in.rdbuf()), b(std::cout, out.rdbuf()), c(std::cerr, error.rdbuf());
  const int status = RunValidate(arguments);
  return {status, out.str(), error.str()};
}

TEST(ValidateCommandTest, SaysWhatIsWrongAndWhere) {
  const source::TestFolder folder;
  folder.Write("a.yaml", StrCat(kGood, "---\n", kBad, "---\n", kWarned));
  const std::string file = folder / "a.yaml";
  const Call call = Validate({"-f", file});
  EXPECT_EQ(call.status, 1);
  EXPECT_EQ(
      call.out,
      StrCat(file, ":14: error: Gateway edge/bad: spec.servers[0].port.number: port 0 is not in 1..65535\n",
             file, ":22: warning: Sidecar default/warned: spec.egress[0].hosts: */* selects everything\n"));
  EXPECT_EQ(call.error, "3 objects in 1 file: 1 error, 1 warning\n");
}

TEST(ValidateCommandTest, ExitStatus) {
  const source::TestFolder folder;
  folder.Write("good.yaml", kGood);
  folder.Write("bad.yaml", kBad);
  folder.Write("warned.yaml", kWarned);
  folder.Write("empty/readme.txt", "no manifest");
  EXPECT_EQ(Validate({"-f", folder / "good.yaml"}).status, 0);
  EXPECT_EQ(Validate({"-f", folder / "warned.yaml"}).status, 0);
  EXPECT_EQ(Validate({"-f", folder / "good.yaml", "-f", folder / "bad.yaml"}).status, 1);
  EXPECT_EQ(Validate({"-f", folder / "good.yaml", folder / "bad.yaml"}).status, 1);
  EXPECT_EQ(Validate({"-f", "-"}, "a: [").status, 1);
  EXPECT_EQ(Validate({}).status, 2);
  EXPECT_EQ(Validate({"-f", folder / "none.yaml"}).status, 2);
  EXPECT_EQ(Validate({"-f", folder / "empty"}).status, 2);
  EXPECT_EQ(Validate({"-f", folder / "good.yaml", "-o", "xml"}).status, 2);
  EXPECT_EQ(Validate({"--nope"}).status, 2);
  EXPECT_THAT(Validate({"-f", folder / "none.yaml"}).error,
              HasSubstr("none.yaml: No such file or directory"));
  EXPECT_EQ(Validate({"--help"}).status, 0);
}

TEST(ValidateCommandTest, FoldersAreReadAsTheMeshIs) {
  const source::TestFolder folder;
  folder.Write("b.yaml", kBad);
  folder.Write("a/c.yml", kGood);
  folder.Write("a/d.txt", "nothing");
  folder.Write(".hidden/e.yaml", kBad);
  const Call call = Validate({"-o", "json", "-f", folder.path()});
  EXPECT_EQ(call.status, 1);
  std::vector<std::string> names;
  for (const json& verdict : json::parse(call.out)) names.push_back(verdict["name"]);
  EXPECT_THAT(names, ElementsAre("good", "bad"));
}

// As discovery takes it: one mesh is one folder.
TEST(ValidateCommandTest, AnObjectInTwoFilesOfAFolder) {
  const source::TestFolder folder, other;
  folder.Write("a.yaml", kGood);
  folder.Write("b.yaml", StrCat("---\n", kGood));
  other.Write("c.yaml", kGood);
  const Call call = Validate({folder.path()});
  EXPECT_EQ(call.status, 1);
  EXPECT_EQ(call.out, StrCat(folder / "b.yaml", ":2: error: Gateway edge/good: the same object is in ",
                             folder / "a.yaml", ":1, which counts\n"));
  EXPECT_EQ(Validate({folder / "a.yaml", folder / "b.yaml"}).status, 0);
  EXPECT_EQ(Validate({folder / "a.yaml", other.path()}).status, 0);
  const Call twice = Validate({"-"}, StrCat(kGood, "---\n", kGood));
  EXPECT_EQ(twice.status, 1);
  EXPECT_EQ(twice.out, "-:9: error: Gateway edge/good: the same object is at line 1, which counts\n");
}

TEST(ValidateCommandTest, AKindInAWrongGroup) {
  for (const auto& [version, kind, meant] :
       {std::tuple("apps/v1", "VirtualService", "networking.istio.io/v1"),
        {"v1", "HTTPRoute", "gateway.networking.k8s.io/v1"},
        {"networking.istio.oi/v1", "Gateway", "networking.istio.io/v1"},
        {"apps/v1", "Service", "v1"}}) {
    const Call call =
        Validate({"-"}, StrCat("apiVersion: ", version, "\nkind: ", kind, "\nmetadata: {name: a}\n"));
    EXPECT_EQ(call.status, 1);
    EXPECT_EQ(call.out, StrCat("-:1: error: ", kind, " a: apiVersion: ", version, " has no kind ", kind,
                               "; did you mean \"", meant, "\"?\n"));
  }
  for (const char* theirs :
       {"policy.linkerd.io/v1alpha1\nkind: AuthorizationPolicy", "serving.knative.dev/v1\nkind: Service",
        "inference.networking.x-k8s.io/v1alpha2\nkind: InferencePool"})
    EXPECT_EQ(Validate({"-"}, StrCat("apiVersion: ", theirs, "\nmetadata: {name: a}\n")).status, 0) << theirs;
}

TEST(ValidateCommandTest, ASecretIsNotQuoted) {
  constexpr char kKey[] = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC";
  const std::string head = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n";
  for (const std::string& text :
       {StrCat(head, "data: {tls.key: ", kKey, "!}\n"), StrCat(head, kKey, ": x\n"),
        StrCat(head, "data: {tls.key: !!int ", kKey, "}\n"), StrCat(head, "data: {a: *", kKey, "}\n"),
        StrCat("apiVersion: v1\nkind: Secret\nmetadata: {name: ", kKey, "}\n"),
        StrCat("kind: Secret\nmetadata: {name: ", kKey, "}\n"),
        StrCat("metadata: {name: s}\ntype: x\ndata: {", kKey, ": ", kKey, "}\n"),
        StrCat("apiVersion: v1\nkind: ", kKey, kKey, "\nmetadata: {name: s}\n")}) {
    for (const char* format : {"text", "json", "github", "sarif"}) {
      const Call call = Validate({"-", "-o", format}, text);
      EXPECT_THAT(call.out + call.error, Not(HasSubstr("MIIE"))) << text;
    }
  }
}

TEST(ValidateCommandTest, Json) {
  const Call call = Validate({"-f", "-", "-o", "json"}, StrCat(kGood, "---\n", kBad, "---\n", kWarned));
  EXPECT_EQ(call.status, 1);
  const json list = json::parse(call.out);
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[0],
            json::parse(R"({"file": "-", "line": 1, "kind": "Gateway", "namespace": "edge", "name": "good",
                                     "valid": true, "errors": [], "warnings": []})"));
  EXPECT_EQ(list[1]["line"], 9);
  EXPECT_EQ(list[1]["valid"], false);
  EXPECT_EQ(list[1]["errors"],
            json::parse(R"([{"path": "spec.servers[0].port.number", "code": "invalid-value",
                                                "line": 14, "message": "port 0 is not in 1..65535"}])"));
  EXPECT_EQ(list[2]["valid"], true);
  EXPECT_EQ(list[2]["namespace"], "default");
  EXPECT_EQ(list[2]["warnings"][0]["path"], "spec.egress[0].hosts");
}

TEST(ValidateCommandTest, FilesNeedNoFlagAndWarningsCountIfTheyAreToldTo) {
  const source::TestFolder folder;
  folder.Write("good.yaml", kGood);
  folder.Write("warned.yaml", kWarned);
  EXPECT_EQ(Validate({folder / "good.yaml", folder / "warned.yaml"}).status, 0);
  EXPECT_EQ(Validate({"--strict", folder / "good.yaml"}).status, 0);
  EXPECT_EQ(Validate({"--strict", folder.path()}).status, 1);
  EXPECT_THAT(Validate({"--strict", folder.path()}).error,
              HasSubstr("2 objects in 2 files: 0 errors, 1 warning"));
}

TEST(ValidateCommandTest, AnnotationsOfAWorkflow) {
  EXPECT_EQ(Validate({"-", "-o", "github"}, kBad).out,
            "::error file=-,line=6,title=Gateway edge/bad::Gateway edge/bad: spec.servers[0].port.number: "
            "port 0 is not in 1..65535\n");
  const source::TestFolder folder;
  folder.Write("a,b.yaml", kWarned);
  EXPECT_THAT(Validate({folder.path(), "-o", "github"}).out, HasSubstr("a%2Cb.yaml,line=6,title="));
}

TEST(ValidateCommandTest, Sarif) {
  const json log = json::parse(Validate({"-", "-o", "sarif"}, StrCat(kBad, "---\n", kWarned)).out);
  EXPECT_EQ(log["version"], "2.1.0");
  const json& run = log["runs"][0];
  EXPECT_EQ(run["tool"]["driver"]["rules"][0]["id"], "invalid-value");
  ASSERT_EQ(run["results"].size(), 2u);
  EXPECT_EQ(run["results"][0]["level"], "error");
  EXPECT_EQ(run["results"][0]["ruleId"], "invalid-value");
  const json& place = run["results"][0]["locations"][0]["physicalLocation"];
  EXPECT_EQ(place["artifactLocation"]["uri"], "-");
  EXPECT_EQ(place["region"]["startLine"], 6);
  EXPECT_EQ(run["results"][1]["level"], "warning");
}

// What lies in a repository beside manifests.
TEST(ValidateCommandTest, FilesOfOtherProgramsArePassedOver) {
  for (const char* text :
       {"apiVersion: install.istio.io/v1alpha1\nkind: IstioOperator\n",
        "apiVersion: v2\nname: web\nversion: 1.0.0\n", "{\"name\": \"web\", \"scripts\": {}}"}) {
    const Call call = Validate({"-"}, text);
    EXPECT_EQ(call.status, 0) << text;
    EXPECT_THAT(call.out, HasSubstr("note: ")) << text;
  }
}

TEST(ValidateCommandTest, KindsOfOthersHaveNoVerdict) {
  const Call call =
      Validate({"-f", "-", "-o", "json"}, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n");
  EXPECT_EQ(call.status, 0);
  EXPECT_EQ(json::parse(call.out), json::array());
  EXPECT_EQ(
      Validate({"-f", "-"}, "apiVersion: networking.istio.io/v1\nkind: Nope\nmetadata: {name: a}\n").status,
      1);
}

TEST(ValidateCommandTest, ListsAreTakenApart) {
  const Call call = Validate(
      {"-f", "-", "-o", "json"},
      "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Namespace, metadata: {name: a}}\n"
      "- {apiVersion: v1, kind: Namespace, metadata: {name: b}}\n");
  EXPECT_EQ(call.status, 0);
  EXPECT_EQ(json::parse(call.out).size(), 2u);
}

TEST(ValidateCommandTest, TheMeshsOwnSettings) {
  EXPECT_EQ(Validate({"-f", "-"}, "proxyListenPort: 0\n").out,
            "-:1: error: MeshConfig: proxyListenPort: port 0 is not in 1..65535\n");
  EXPECT_EQ(Validate({"-f", "-"}, "networks: {a: {gateways: [{port: 0}]}}\n").out,
            "-:1: error: MeshNetworks: networks.a.gateways[0].port: port 0 is not in 1..65535\n");
  EXPECT_EQ(Validate({"-f", "-"}, "kind: MeshConfig\nmetadata: {name: m}\nspec: {trustDomain: a_b}\n").status,
            1);
  EXPECT_THAT(Validate({"-"}, "configSources: [{address: a}]\nca: {address: a}\n").out,
              AllOf(HasSubstr("-:1: note: MeshConfig: configSources: this has no effect: "),
                    HasSubstr("-:2: note: MeshConfig: ca: this has no effect: ")));
  // Istio passes over what it does not know; it is said all the same.
  const Call unknown = Validate({"-f", "-"}, "rootNamespce: a\n");
  EXPECT_EQ(unknown.status, 0);
  EXPECT_THAT(unknown.out, HasSubstr("-:1: note: MeshConfig: rootNamespce: unknown field"));
  const json list = json::parse(Validate({"-f", "-", "-o", "json"}, "rootNamespce: a\n").out);
  EXPECT_EQ(list[0]["warnings"], json::array());
  EXPECT_EQ(list[0]["notes"][0]["path"], "rootNamespce");
}

TEST(ValidateCommandTest, AWrongScriptIsAnErrorThatIstioAdmits) {
  const std::string text = R"(apiVersion: extensions.istio.io/v1alpha1
kind: TrafficExtension
metadata: {name: a}
spec:
  lua:
    inlineCode: function (
)";
  const Call call = Validate({"-f", "-"}, text);
  EXPECT_EQ(call.status, 1);
  EXPECT_EQ(call.out,
            "-:6: error: TrafficExtension default/a: spec.lua.inlineCode: the Lua script does not compile, "
            "and is left out: line 1: '<name>' expected near '('\n");
  const json list = json::parse(Validate({"-f", "-", "-o", "json"}, text).out);
  EXPECT_EQ(list[0]["valid"], true);
  EXPECT_EQ(list[0]["errors"][0]["code"], "lua");
}

TEST(ValidateCommandTest, TheConfigMapOfTheMesh) {
  const std::string map = R"(apiVersion: v1
kind: ConfigMap
metadata: {name: NAME, namespace: istio-system}
data:
  mesh: |-
    rootNamespace: r
    proxyListenPort: 0
  meshNetworks: 'networks: {a: {gateways: [{port: 0}]}}'
)";
  EXPECT_EQ(Validate({"-f", "-"}, ReplaceAll(map, "NAME", "istio")).out,
            "-:7: error: ConfigMap istio-system/istio: data.mesh.proxyListenPort: port 0 is not in 1..65535\n"
            "-:8: error: ConfigMap istio-system/istio: data.meshNetworks.networks.a.gateways[0].port: port 0 "
            "is not in "
            "1..65535\n");
  EXPECT_EQ(Validate({"-f", "-"}, ReplaceAll(map, "NAME", "istio-canary")).status, 1);
  EXPECT_EQ(Validate({"-f", "-"}, ReplaceAll(map, "NAME", "other")).status, 0);
  EXPECT_THAT(
      Validate({"-f", "-"}, ReplaceAll(ReplaceAll(map, "NAME", "istio"), "proxyListenPort: 0", "a: [")).out,
      HasSubstr("error: ConfigMap istio-system/istio: data.mesh: "));
}

}  // namespace
}  // namespace fairlead::validate
