package provider

import "testing"

func TestFurtherFieldsStandInTheSameOrderEachTime(t *testing.T) {
	table := map[string]any{"top_k": int64(5), "z": nil, "model": "<n>", "a": map[string]any{"y": true, "x": []any{1.5}}, "seed": 1, "user": "u", "top_p": 0.5}
	const want = `{"model":"<n>","input":[{"b":1,"a":2}],"a":{"x":[1.5],"y":true},"seed":1,"top_k":5,"top_p":0.5,"user":"u","z":null}`
	for range 50 {
		got, err := WithFields([]byte(`{"model":"m","input":[{"b":1,"a":2}]}`), table)
		if err != nil || string(got) != want {
			t.Fatalf("%v\ngot  %s\nwant %s", err, got, want)
		}
	}
	if got, err := WithFields([]byte(`{ }`), nil); err != nil || string(got) != `{ }` {
		t.Errorf("nothing to add: %s, %v", got, err)
	}
}

func TestWhatIsNoObjectHasNoFields(t *testing.T) {
	for _, in := range []string{``, `[]`, `"a"`, `{"a":`, `{"a"}`, `{"a":1,}`} {
		if fields, err := ReadFields([]byte(in)); err == nil {
			t.Errorf("%s: %v", in, fields)
		}
	}
}
