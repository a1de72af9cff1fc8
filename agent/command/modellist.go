package command

import (
	"context"
	"fmt"
)

// pickModel lets the user choose among the models that can be used. Those of local
// servers are added as the servers say what they have.
func pickModel(ctx context.Context, o Options) (Outcome, error) {
	_, panel := OpenList(ctx, o.UI, o.modelView(true))
	if panel == nil {
		return pickModelInLines(ctx, o.Agent, o.UI)
	}
	defer panel.Close()
	asking, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		o.Agent.Models().Discover(asking, discoverWait)
		panel.Show(o.modelView(false))
	}()
	for {
		x, err := panel.Next()
		switch {
		case err != nil:
			return Outcome{}, err
		case x.Key == "":
			return unchosen("model: still " + o.Agent.Model().Ref()), nil
		case x.Row != "":
			out := selectModel(ctx, o.Agent, withCurrent(o.Agent), x.Row)
			if x.Key != keyWrite {
				return out, nil
			}
			file, err := o.Settings.Write("model", x.Row)
			if err == nil {
				out.Status += fmt.Sprintf("\nmodel = %s, written to %s", x.Row, file)
			}
			return out, err
		}
	}
}

// modelView is the list of models as it is now; asking says that servers are being asked.
func (o Options) modelView(asking bool) ListView {
	current := o.Agent.Model().Ref()
	v := ListView{Title: "Model · now " + current, Right: "type to filter", Enter: "choose", Initial: current}
	if asking {
		v.Right = "asking local servers …"
	}
	if o.Settings != nil {
		v.Keys = []ListKey{{keyWrite, "choose, and write to config.toml"}}
	}
	for _, m := range withCurrent(o.Agent) {
		v.Rows = append(v.Rows, Row{ID: m.Ref(), Columns: append([]string{m.Ref()}, modelFacts(m)...), Search: m.Name})
	}
	return v
}
