package inject

import (
	"encoding/json"
	"strings"
	"testing"

	meshconfig "istio.io/api/mesh/v1alpha1"
)

func TestExcludeInboundPort(t *testing.T) {
	for _, c := range []struct {
		port       any
		list, want string
	}{
		{"15020", "", "15020"},
		{15020, "80, 443", "80,443,15020"},
		{"80", "80, 443", "80, 443"},
		{0, " 80", " 80"},
		{"", "80", "80"},
	} {
		if got := excludeInboundPort(c.port, c.list); got != c.want {
			t.Errorf("%v in %q: %q instead of %q", c.port, c.list, got, c.want)
		}
	}
}

func TestAppendMultusNetwork(t *testing.T) {
	for _, c := range []struct{ list, want string }{
		{"", "ns/net"},
		{"a, ns/net", "a, ns/net"},
		{"a", "a, ns/net"},
		{`[{"name": "a"}]`, `[{"name": "a"}, {"name": "net", "namespace": "ns"}]`},
		{`[{"name": "net", "namespace": "ns"}]`, `[{"name": "net", "namespace": "ns"}]`},
		{`[nonsense]`, `[nonsense]`},
	} {
		if got := appendMultusNetwork(c.list, "ns/net"); got != c.want {
			t.Errorf("%q: %q instead of %q", c.list, got, c.want)
		}
	}
}

func TestOmitNil(t *testing.T) {
	var value any
	if err := json.Unmarshal([]byte(`{"a":null,"b":{"c":null},"d":{},"e":[null,1,[null]],"f":2}`), &value); err != nil {
		t.Fatal(err)
	}
	if got := jsonOr(omitNil(value), ""); got != `{"d":{},"e":[1],"f":2}` {
		t.Error(got)
	}
}

func TestIndent(t *testing.T) {
	if got := indent(2, "a\nb\n"); got != "a\n  b\n  " {
		t.Errorf("%q", got)
	}
}

func TestProtoToJSONLeavesDefaultsOut(t *testing.T) {
	if got := protoToJSON(proxyDefaults); got != "{}" {
		t.Error(got)
	}
	if got := protoToJSON(&meshconfig.ProxyConfig{StatusPort: 15021}); got != `{"statusPort":15021}` {
		t.Error(got)
	}
	var nothing *meshconfig.ProxyConfig
	if got := protoToJSON(nothing); got != "{}" {
		t.Error(got)
	}
}

func TestVersionOfImage(t *testing.T) {
	for image, want := range map[string]string{
		"a": "", "a:1": "1", "host:5000/a": "", "host:5000/a:1": "1", "a@sha256:x": "sha256:x", "a:1@sha256:x": "1@sha256:x",
	} {
		if got := versionOfImage(image); got != want {
			t.Errorf("%s: %q", image, got)
		}
	}
}

func TestOutputIsBounded(t *testing.T) {
	server := NewServer(10)
	load, _ := json.Marshal(map[string]any{"load": map[string]any{"number": 1, "config": "templates: {t: '" + strings.Repeat("x", 11) + "'}"}})
	if answer := server.Answer(load).(loadAnswer); answer.ConfigError != "" {
		t.Fatal(answer.ConfigError)
	}
	answer := server.Answer([]byte(`{"run": {"number": 1, "templates": ["t"]}}`)).(runAnswer)
	if len(answer.Rendered) != 1 || answer.Rendered[0].Error != errTooLong.Error() {
		t.Errorf("%+v", answer)
	}
	if answer := server.Answer([]byte(`{"run": {"number": 2}}`)).(runAnswer); !answer.Unloaded {
		t.Error("a set that is not loaded was run")
	}
}
