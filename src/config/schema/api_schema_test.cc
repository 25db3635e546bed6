#include "config/schema/api_schema.h"

#include "config/check_fixture.h"
#include "config/read/yaml.h"

// What a schema of a CustomResourceDefinition refuses.
namespace fairlead::config {
namespace {

Findings Check(std::string_view schema_text, std::string_view value) {
  const YamlDocument schema_document = ParseYamlDocument(schema_text), document = ParseYamlDocument(value);
  EXPECT_TRUE(schema_document.problems.empty()) << schema_text;
  const auto schema = CompileApiSchema(schema_document.tree.root());
  Report report("f");
  const ObjectMeta meta;
  CelBudget budget;
  const Subject subject{report, document.tree.root(), meta, nullptr, nullptr, &budget};
  const Spot root(subject);
  CheckBySchema(document.tree.root(), *schema, root);
  return ToFindings(report.Take());
}

struct Row {
  std::string_view value;
  Findings findings;
};
void ExpectAll(std::string_view schema, const std::vector<Row>& rows) {
  for (const Row& row : rows)
    EXPECT_THAT(Check(schema, row.value), ::testing::ElementsAreArray(row.findings)) << schema << "\n"
                                                                                     << row.value;
}

TEST(ApiSchemaTest, Types) {
  constexpr std::string_view kSchema =
      "{type: object, properties: {s: {type: string}, i: {type: integer}, d: {type: number}, b: {type: "
      "boolean}, "
      "a: {type: array, items: {type: string}}, m: {type: object, additionalProperties: {type: integer}}, "
      "p: {x-kubernetes-int-or-string: true}}}";
  ExpectAll(kSchema, {{"{s: a, i: 1, d: 1.5, b: true, a: [x], m: {k: 1}, p: 80}", {}},
                      {"{i: 2.0, d: 1, p: http}", {}},
                      {"{s: 1}", {"error s (wrong-type)"}},
                      {"{i: 1.5}", {"error i (wrong-type)"}},
                      {"{i: '1'}", {"error i (wrong-type)"}},
                      {"{d: x}", {"error d (wrong-type)"}},
                      {"{b: 'true'}", {"error b (wrong-type)"}},
                      {"{a: x}", {"error a (wrong-type)"}},
                      {"{a: [x, 1]}", {"error a[1] (wrong-type)"}},
                      {"{m: {k: x}}", {"error m.k (wrong-type)"}},
                      {"{m: []}", {"error m (wrong-type)"}},
                      {"{p: 1.5}", {"error p (wrong-type)"}},
                      {"[]", {"error  (wrong-type)"}}});
}

// A rule is asked about what the schema bounds alone: its cost may be the square of a list.
TEST(ApiSchemaTest, RulesAreNotAskedAboutAWrongShape) {
  ExpectAll(
      "{type: array, maxItems: 2, items: {type: integer}, x-kubernetes-validations: [{rule: 'self[0] == "
      "1'}]}",
      {{"[1, 2]", {}},
       {"[2, 1]", {"error  (broken-rule)"}},
       {"[2, 1, 1]", {"error  (out-of-range)"}},
       {"[2, x]", {"error [1] (wrong-type)"}}});
  ExpectAll(
      "{type: object, required: [a], properties: {a: {type: string, pattern: '^x'}}, "
      "x-kubernetes-validations: [{rule: 'false'}]}",
      {{"{}", {"error a (missing-field)"}}, {"{a: z}", {"error  (broken-rule)", "error a (invalid-value)"}}});
}

TEST(ApiSchemaTest, RequiredAndUnknownFields) {
  constexpr std::string_view kSchema =
      "{type: object, required: [a], properties: {a: {type: string}, o: {type: object, properties: {x: "
      "{type: string}}}, "
      "open: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {x: {type: string}}}}}";
  ExpectAll(kSchema, {{"{a: x}", {}},
                      {"{}", {"error a (missing-field)"}},
                      {"{a: null}", {"error a (missing-field)"}},
                      {"{a: x, b: z}", {"error b (unknown-field)"}},
                      {"{a: x, o: {z: z}}", {"error o.z (unknown-field)"}},
                      {"{a: x, open: {z: {z: 1}}}", {}},
                      {"{a: x, open: {x: 1}}", {"error open.x (wrong-type)"}}});
}

TEST(ApiSchemaTest, NullIsAbsentWhereItIsNoValue) {
  constexpr std::string_view kSchema =
      "{type: object, properties: {w: {type: string, nullable: true, minLength: 2}, s: {type: string}, "
      "m: {type: object, minProperties: 1, additionalProperties: {type: string}}, l: {type: array, items: "
      "{type: "
      "string}}}}";
  ExpectAll(kSchema, {{"{w: null, s: null, m: null, l: null}", {}},
                      {"{m: {a: null}}", {"error m (out-of-range)"}},
                      {"{l: [null]}", {"error l[0] (wrong-type)"}}});
}

TEST(ApiSchemaTest, EnumsPatternsAndBounds) {
  constexpr std::string_view kSchema =
      "{type: object, properties: {e: {type: string, enum: [A, B]}, p: {type: string, pattern: '^[a-z]+$'}, "
      "len: {type: string, minLength: 2, maxLength: 3}, i: {type: integer, minimum: 0, maximum: 10}, "
      "d: {type: number, minimum: 0.5}, a: {type: array, minItems: 1, maxItems: 2, items: {type: integer}}, "
      "m: {type: object, maxProperties: 1, additionalProperties: {type: integer}}}}";
  ExpectAll(kSchema, {{"{e: A, p: abc, len: ab, i: 0, d: 0.5, a: [1], m: {a: 1}}", {}},
                      {"{e: C}", {"error e (unknown-value)"}},
                      {"{p: aBc}", {"error p (invalid-value)"}},
                      {"{len: a}", {"error len (out-of-range)"}},
                      {"{len: abcd}", {"error len (out-of-range)"}},
                      {"{len: äöü}", {}},
                      {"{i: -1}", {"error i (out-of-range)"}},
                      {"{i: 11}", {"error i (out-of-range)"}},
                      {"{d: 0.4}", {"error d (out-of-range)"}},
                      {"{a: []}", {"error a (out-of-range)"}},
                      {"{a: [1, 2, 3]}", {"error a (out-of-range)"}},
                      {"{m: {a: 1, b: 2}}", {"error m (out-of-range)"}},
                      {"{e: C, i: 11}", {"error e (unknown-value)", "error i (out-of-range)"}}});
}

TEST(ApiSchemaTest, OneOfAnyOfAllOfNot) {
  // How Istio's definitions say "at most one".
  constexpr std::string_view kOneOf =
      "{type: object, properties: {a: {type: string}, b: {type: string}}, oneOf: [{not: {anyOf: [{required: "
      "[a]}, "
      "{required: [b]}]}}, {required: [a]}, {required: [b]}]}";
  ExpectAll(kOneOf, {{"{}", {}}, {"{a: x}", {}}, {"{b: x}", {}}, {"{a: x, b: z}", {"error  (conflict)"}}});
  constexpr std::string_view kAnyOf =
      "{type: object, properties: {a: {type: string}, b: {type: string}}, anyOf: [{required: [a]}, "
      "{required: [b]}]}";
  ExpectAll(kAnyOf, {{"{}", {"error  (conflict)"}}, {"{a: x, b: z}", {}}});
  constexpr std::string_view kAllOf =
      "{type: object, properties: {a: {type: string}, b: {type: string}}, allOf: [{required: [a]}, "
      "{required: [b]}]}";
  ExpectAll(kAllOf, {{"{a: x}", {"error  (conflict)"}}, {"{a: x, b: z}", {}}});
  constexpr std::string_view kNot = "{type: object, properties: {a: {type: string}}, not: {required: [a]}}";
  ExpectAll(kNot, {{"{a: x}", {"error  (conflict)"}}, {"{}", {}}});
}

TEST(ApiSchemaTest, ListsThatAreMaps) {
  constexpr std::string_view kSchema =
      "{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {type: object, "
      "properties: {name: {type: string}, v: {type: integer}}}}";
  ExpectAll(kSchema, {{"[{name: a}, {name: b}]", {}},
                      {"[{name: a, v: 1}, {name: b}, {name: a, v: 2}]", {"error [2] (duplicate-item)"}}});
}

TEST(ApiSchemaTest, Rules) {
  constexpr std::string_view kSchema =
      "{type: object, properties: {d: {type: string, x-kubernetes-validations: [{rule: \"duration(self) >= "
      "duration('1ms')\", message: too short}]}, p: {type: integer, x-kubernetes-validations: [{rule: '0 < "
      "self && "
      "self <= 65535'}]}}, x-kubernetes-validations: [{rule: '!has(self.d) || !has(self.p)', message: only "
      "one}]}";
  ExpectAll(kSchema, {{"{d: 1s}", {}},
                      {"{d: 0s}", {"error d (broken-rule)"}},
                      {"{d: x}", {"error d (broken-rule)"}},
                      {"{p: 0}", {"error p (broken-rule)"}},
                      {"{d: 1s, p: 1}", {"error  (broken-rule)"}}});
  ExpectAll("{type: object, x-kubernetes-validations: [{rule: 'self.'}]}",
            {{"{}", {"error  (unreadable-rule)"}}});
}

// Every rule of every definition that a kind has can be read.
TEST(ApiSchemaTest, AllRulesAreRead) {
  size_t schemas = 0, rules = 0;
  const auto visit = [&](const auto& self, const ApiSchema& schema) -> void {
    for (const ApiSchema::Rule& rule : schema.rules) {
      EXPECT_NE(rule.parsed.expression, nullptr) << rule.text << ": " << rule.parsed.error;
      ++rules;
    }
    EXPECT_TRUE(schema.pattern == nullptr || schema.pattern->ok()) << schema.pattern->pattern();
    for (const auto& [name, property] : schema.properties) self(self, *property);
    for (const auto* below : {schema.additional.get(), schema.items.get()}) {
      if (below != nullptr) self(self, *below);
    }
  };
  for (const KindInfo& kind : AllKinds()) {
    for (std::string_view version : kind.versions) {
      if (kind.payload == PayloadType::kStruct || kind.group == "networking.k8s.io") continue;
      const ApiSchema* schema = ApiSchemaOf(kind, version);
      ASSERT_TRUE(schema != nullptr || kind.payload == PayloadType::kTree) << kind.name << " " << version;
      if (schema == nullptr) continue;
      visit(visit, *schema);
      ++schemas;
    }
  }
  EXPECT_GT(schemas, 30u);
  EXPECT_GT(rules, 400u);
}

}  // namespace
}  // namespace fairlead::config
