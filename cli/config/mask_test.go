package config

import (
	"strings"
	"testing"
)

func TestCopiesOfSettingsHaveNoKeys(t *testing.T) {
	for name, c := range map[string]struct {
		text, want string
		lost       bool
	}{
		"none":                     {text: "model = \"a/b\"\n", want: "model = \"a/b\"\n"},
		"a key":                    {text: "[providers.a]\napi_key = \"sk-123456789\" # mine\n", want: "[providers.a]\napi_key = \"" + maskedKey + "\" # mine\n"},
		"in other quotes":          {text: "providers.a.api_key = 'sk-123456789'\n", want: "providers.a.api_key = '" + maskedKey + "'\n"},
		"a header":                 {text: "[providers.a]\nheaders = { X-Key = \"sk-123456789\" }\n", want: "[providers.a]\nheaders = { X-Key = \"" + maskedKey + "\" }\n"},
		"of a model":               {text: "[[providers.a.models]]\nid = \"m\"\nheaders.k = \"sk-123456789\"\n", want: "[[providers.a.models]]\nid = \"m\"\nheaders.k = \"" + maskedKey + "\"\n"},
		"along with a login":       {text: "[providers.a.login]\nextra = { client_secret = \"sk-123456789\", audience = \"x\" }\n", want: "[providers.a.login]\nextra = { client_secret = \"" + maskedKey + "\", audience = \"x\" }\n"},
		"twice":                    {text: "[providers.a]\napi_key = \"sk-123456789\"\n[providers.b]\napi_key = \"sk-123456789\"\n", want: "[providers.a]\napi_key = \"" + maskedKey + "\"\n[providers.b]\napi_key = \"" + maskedKey + "\"\n"},
		"a variable":               {text: "providers.a.api_key = \"env:KEY\"\n", want: "providers.a.api_key = \"env:KEY\"\n"},
		"a command":                {text: "providers.a.api_key = \"!pass a\"\n", want: "providers.a.api_key = \"!pass a\"\n"},
		"with escapes":             {text: "providers.a.api_key = \"sk-\\u0031\"\n", lost: true},
		"the second with escapes":  {text: "providers.a.api_key = \"sk-123456789\"\nproviders.b.api_key = \"sk-\\u0031\"\n", lost: true},
		"over lines":               {text: "providers.a.api_key = \"\"\"\nsk-123456789\"\"\"\n", lost: true},
		"in a comment too":         {text: "# sk-123456789\nproviders.a.api_key = \"sk-123456789\"\n", lost: true},
		"a password in an address": {text: "[providers.a]\nbase_url = \"https://me:hunter2@host/v1\"\n", want: "[providers.a]\nbase_url = \"https://" + MaskedVariable + "@host/v1\"\n"},
		"a token in one of a list": {text: "x = ['https://token@host']\n", want: "x = ['https://" + MaskedVariable + "@host']\n"},
		"one in a comment":         {text: "# https://me:hunter2@host\n", want: "# https://" + MaskedVariable + "@host\n"},
		"one with escapes":         {text: "base_url = \"https://me\\u003ahunter2\\u0040host\"\n", lost: true},
		"an address without any":   {text: "base_url = \"https://host/a@b\"\n", want: "base_url = \"https://host/a@b\"\n"},
		"a key in a query":         {text: "base_url = \"https://host/v1?api_key=hunter2&x=1\"\n", want: "base_url = \"https://host/v1?api_key=" + MaskedVariable + "&x=1\"\n"},
		"no settings":              {text: "providers.a.api_key = \"sk-123456789\n", lost: true},
		"nothing":                  {},
		"nested for nobody":        {text: "a = " + strings.Repeat("[", 80_000), lost: true},
	} {
		got, ok := MaskKeys([]byte(c.text))
		if string(got) != c.want || ok == c.lost {
			t.Errorf("%s: got %q, %v", name, got, ok)
		}
	}
}
