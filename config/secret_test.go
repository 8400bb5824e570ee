package config_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/homing-gateway/homing/config"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.yaml.in/yaml/v3"
)

const treasure = "s3cr3t-treasure"

func isSecret(t reflect.Type) bool { return t == reflect.TypeFor[config.Secret]() }

// Whatever way a secret is printed, its value is not in it.
func TestSecretsPrintStars(t *testing.T) {
	s := config.NewSecret(treasure)
	hidden := struct{ inner config.Secret }{s} // a formatter cannot call methods here
	var printed []string
	for _, v := range []any{s, &s, []config.Secret{s}, map[string]config.Secret{"k": s}, struct{ S config.Secret }{s}, hidden, &hidden, [1]any{s}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%X", "%o", "%08b", "%t"} {
			printed = append(printed, fmt.Sprintf(verb, v))
		}
		j, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		printed = append(printed, string(j))
	}
	y, err := yaml.Marshal(map[string]any{"s": s})
	if err != nil {
		t.Fatal(err)
	}
	entry, err := zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()).EncodeEntry(zapcore.Entry{}, []zapcore.Field{zap.Stringer("a", s), zap.Any("b", s), zap.Reflect("c", s), zap.Any("d", hidden)})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range append(printed, string(y), entry.String(), s.String(), s.GoString()) {
		if strings.Contains(p, treasure) || strings.Contains(p, fmt.Sprintf("%x", treasure)) {
			t.Errorf("printed: %s", p)
		}
	}
	if s.Reveal() != treasure || !s.IsSet() || s.String() != "***" {
		t.Errorf("reveal %q, set %v, string %q", s.Reveal(), s.IsSet(), s)
	}
	var none config.Secret
	if none.IsSet() || none.Reveal() != "" || none.String() != "" || config.NewSecret("").IsSet() {
		t.Errorf("an empty secret prints %q", none)
	}
}

// Two configurations can be compared, secrets included.
func TestSecretsCompare(t *testing.T) {
	text := "http:\n  api_key: " + treasure + "\n"
	a, b := file(text).load(t).Config, file(text).load(t).Config
	if !reflect.DeepEqual(a, b) || !cmp.Equal(a, b) {
		t.Error("the same file gives two configurations")
	}
	c := file("http:\n  api_key: other\n").load(t).Config
	if reflect.DeepEqual(a, c) || cmp.Equal(a, c) {
		t.Error("another key makes no difference")
	}
}

// No secret of any key is in what is shown, printed or warned of.
func TestSecretsOfAConfigurationAreMasked(t *testing.T) {
	paths := leaves(isSecret)
	if len(paths) < 9 {
		t.Fatalf("only these secrets: %v", paths)
	}
	var env []string
	for _, path := range paths {
		env = append(env, envName(path)+"= "+treasure+" \n")
	}
	env = append(env, "HOMING_PLATFORMS_ZULIP_SITE=https://z.example", "HOMING_PLATFORMS_ZULIP_EMAIL=a@z.example", "HOMING_PLATFORMS_FEISHU_APP_ID=x")
	l := file("profiles:\n  - name: work\n    agent:\n      api_key: "+treasure+"\n    platforms:\n      discord:\n        token: other-"+treasure+"\n", env...).load(t)
	for _, path := range paths {
		wantShown(t, l, path, "***", "env "+envName(path))
	}
	wantShown(t, l, "profiles[0].agent.api_key", "***", "homing.yaml:4")
	wantShown(t, file("").load(t), "http.api_key", "", "default")
	if l.Config.Agent.APIKey.Reveal() != treasure {
		t.Errorf("the key is %q", l.Config.Agent.APIKey.Reveal())
	}
	for _, v := range []any{l, *l, l.Config, l.Show(), l.Warnings, l.NotBuilt, l.RequireForRun()} {
		j, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		for _, printed := range []string{string(j), fmt.Sprintf("%v", v), fmt.Sprintf("%+v", v), fmt.Sprintf("%#v", v)} {
			if strings.Contains(printed, treasure) {
				t.Errorf("%T: %s", v, printed)
			}
		}
	}
}

// A secret that stands in a wrong place, or is written wrongly, is not cited in the error.
func TestSecretsAreNotInErrors(t *testing.T) {
	for _, text := range []string{
		"platforms:\n  telegram:\n    token: [" + treasure + "]\n",
		"platforms:\n  telegram:\n    token: {" + treasure + ": 1}\n",
		"platforms:\n  telegram:\n    token: \"" + treasure + "\\n\"\n    enabled: maybe\n",
		"platforms:\n  telegram:\n    token: \"" + treasure + "\\nx\"\n",
		"platforms:\n  telegram:\n    token:" + treasure + "\n",
		"platforms:\n  telegram: " + treasure + "\n",
		"platforms:\n  telegram: {token:" + treasure + "}\n",
		"platforms:\n  telegram: {token:" + treasure + ": x}\n",
		"platforms:\n  telegram: {tokn:" + treasure + "}\n",
		"platforms:\n  telegram: {\"" + treasure + " x\": 1}\n",
		"platforms:\n  telegram:\n    token: *" + treasure + "\n",
		"platforms:\n  telegram:\n    token: &" + treasure + "\n",
		"platforms:\n  telegram:\n    token: !" + treasure + "\n",
		"platforms:\n  telegram:\n    token: " + treasure + ": x\n",
		"platforms:\n  telegram:\n    token: \"" + treasure + "\n",
		"platforms:\n  telegram:\n    token: %" + treasure + "\n",
		"platforms:\n  telegram:\n    token: " + treasure + "\n    token: " + treasure + "\n",
		"agent:\n  base_url: https://ann:" + treasure + "@x.example\n",
		"agent:\n  base_url: https://x.example?key=" + treasure + "\n",
		"agent:\n  base_url: \"https://x.example/%zz" + treasure + "\"\n",
		"agent:\n  max_iterations: ${T}\n",
		"agent:\n  provider: ${T}\n",
		"display:\n  streaming: ${T}\n",
		"drain: ${T}\nterminal:\n  output_limit: ${T}\nhttp:\n  listen: ${T}\nplatforms:\n  slack:\n    home_chat: \"${T} x\"\n",
		"platforms:\n  telegram:\n    token: " + treasure + "\nprofiles:\n  - name: a\n    platforms:\n      telegram:\n        token: " + treasure + "\n",
	} {
		for _, line := range file(text, "T="+treasure).refused(t) {
			if strings.Contains(line, treasure) {
				t.Errorf("%s\n--- file\n%s", line, text)
			}
		}
	}
}
