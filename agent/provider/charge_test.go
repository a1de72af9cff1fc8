package provider_test

import (
	"encoding/json"
	"math"
	"testing"

	"pi/agent/llm"
	"pi/agent/provider"
	"pi/session/message"
)

func TestAChargeIsReadOutOfWhatGatewaysSay(t *testing.T) {
	price := &llm.Price{Input: 3, Output: 15} // 0.0045 dollars for what follows
	used := message.Usage{Input: 1000, Output: 100}
	for usage, want := range map[string]float64{
		`{"cost":0.009}`: 0.009,
		`{"cost":0}`:     0,
		`{"cost":0.001,"is_byok":true,"cost_details":{"upstream_inference_cost":0.004}}`:  0.005,
		`{"cost":0.001,"is_byok":false,"cost_details":{"upstream_inference_cost":0.001}}`: 0.001,
		`{"cost":0.001,"is_byok":true,"cost_details":{"upstream_inference_cost":null}}`:   0.001,
		`{"cost":-1}`:    0.0045,
		`{"cost":"0.1"}`: 0.0045,
		`{"cost":null}`:  0.0045,
		`{"cost":[1]}`:   0.0045,
		`{"cost":1e400}`: 0.0045,
		`{"cost":1e308}`: 0.0045,
		`{}`:             0.0045,
	} {
		var c provider.Charge
		if err := json.Unmarshal([]byte(usage), &c); err != nil {
			t.Fatal(err)
		}
		if got := c.Of(price, used, true).Cost; math.Abs(got.Total-want) > 1e-12 || math.Abs(got.Input+got.Output-want) > 1e-12 {
			t.Errorf("%s costs %+v, want %v", usage, got, want)
		}
		if got := c.Of(price, used, false).Cost.Total; math.Abs(got-0.0045) > 1e-12 {
			t.Errorf("%s is believed of anybody: %v", usage, got)
		}
	}
}
