package catalogue

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"pi/agent/llm"
	"pi/internal/printable"
)

// What a list may be at most that somebody else wrote.
const (
	MaxList      = 8 << 20 // bytes
	maxModels    = 10000
	maxProviders = 500
	longestID    = 200 // bytes
	longestName  = 100
	smallest     = 1000 // tokens of a window
	largest      = 100e6
	cheapest     = 1e-6 // dollars per million tokens
	dearest      = 10000
)

// Update is a list of providers that was checked and compiled, and may take the place of the
// program's own. It has nothing but models: who serves them, at which address and with which
// key is decided by the program and the settings, so that no list leads a key elsewhere.
type Update struct {
	From  string    // where it came from
	Date  time.Time // when
	Left  []string  // providers that neither this program nor known knows, or that are there by another name
	Wrong int       // models that were left out: their id cannot be written down, or is there twice

	records map[string]string // of models, by provider
}

// Read checks a list in the form of charm.land/catwalk and compiles it. known reports
// whether the settings have a provider of a name. A list with nothing in it for anybody
// known is an error, and so is one that is too large.
func Read(data []byte, from string, now time.Time, known func(provider string) bool) (*Update, error) {
	if len(data) > MaxList {
		return nil, fmt.Errorf("the list is larger than %d MiB", MaxList>>20)
	}
	list, err := readList(data)
	if err != nil {
		return nil, err
	}
	u := &Update{From: from, Date: now.UTC().Truncate(time.Second), records: map[string]string{}}
	if err := u.clean(list); err != nil {
		return nil, err
	}
	keepAddresses(list)
	all, err := compile(list)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if p := &all[i]; hasModels(list, p.From) {
			u.records[p.Name] = p.unrouted()
		}
	}
	u.addOthers(list, known)
	if len(u.records) == 0 {
		return nil, errors.New("the list has no models of a provider that is known here")
	}
	return u, nil
}

// hasModels reports whether a list has models of a provider. One without any is taken for one
// that is not there.
func hasModels(list []listed, id string) bool {
	return slices.ContainsFunc(list, func(l listed) bool { return id != "" && l.ID == id && len(l.Models) > 0 })
}

// unrouted is the record of a provider without the addresses of models: which one is asked
// where is for the program that reads the record to say.
func (p *source) unrouted() string {
	for i := range p.Models {
		p.Models[i].API, p.Models[i].BaseURL = "", ""
	}
	return p.record()
}

// keepAddresses puts what this program knows of its providers in place of what a list says.
func keepAddresses(list []listed) {
	for _, p := range sources() {
		own, _ := Find(p.Name)
		if i := slices.IndexFunc(list, func(l listed) bool { return l.ID == p.From }); i >= 0 {
			list[i].Name, list[i].APIEndpoint, list[i].APIKey = own.Title, own.BaseURL, "$"+own.KeyVars[0]
		}
	}
}

// addOthers adds the models of providers that only the settings know, or of which the program
// has a list by hand alone, or that the list has under another of their names. Two names of
// one provider are one too many: the second is left out.
func (u *Update) addOthers(list []listed, known func(string) bool) {
	others, _ := undecided(list)
	all := sources()
	var added []source
	for _, id := range others {
		p := source{Name: id}
		own, ours := Find(id)
		if at := slices.IndexFunc(all, func(s source) bool { return ours && s.Name == own.Name }); at >= 0 {
			p = all[at]
		}
		_, twice := u.records[p.Name]
		if twice || !ours && !known(id) {
			u.Left = append(u.Left, id)
			continue
		}
		if !hasModels(list, id) {
			continue
		}
		p.fill(&list[slices.IndexFunc(list, func(l listed) bool { return l.ID == id })])
		p.complete()
		added = append(added, p)
		u.records[p.Name] = ""
	}
	fixPrices(added)
	for i := range added {
		u.records[added[i].Name] = added[i].unrouted()
	}
	slices.Sort(u.Left)
}

// clean drops what cannot be written down or shown, and takes numbers that cannot be right
// for unknown ones. It fails for a provider without a name of its own.
func (u *Update) clean(list []listed) error {
	ids := map[string]bool{}
	for i := range list {
		p := &list[i]
		if !isID(p.ID) || ids[p.ID] {
			return fmt.Errorf("provider %s of the list has no name of its own", printable.Line(fmt.Sprintf("%.40q", p.ID)))
		}
		ids[p.ID] = true
		p.Name = cleanName(p.Name, p.ID)
		seen := map[string]bool{}
		p.Models = slices.DeleteFunc(p.Models, func(m listedModel) bool {
			wrong := !isID(m.ID) || seen[m.ID]
			seen[m.ID] = true
			if wrong {
				u.Wrong++
			}
			return wrong
		})
		for j := range p.Models {
			p.Models[j].clean()
		}
	}
	return nil
}

func (m *listedModel) clean() {
	m.Name = cleanName(m.Name, m.ID)
	for _, price := range []*float64{&m.In, &m.Out, &m.InCached, &m.OutCached} {
		if *price < cheapest || *price > dearest {
			*price = 0
		}
	}
	if m.Window < smallest || m.Window > largest {
		m.Window = 0
	}
	if m.Answer < 1 || m.Answer > largest {
		m.Answer = 0
	}
	m.Efforts = slices.DeleteFunc(m.Efforts, func(effort string) bool { return effort != "none" && !llm.ValidThinking(effort) })
}

// isID reports whether an id can be typed, sent and shown as it is. Some APIs have it in the
// path of their address, which it must not lead out of.
func isID(id string) bool {
	return id != "" && len(id) <= longestID && utf8.ValidString(id) && id[0] != '=' && id[0] != '-' &&
		!strings.ContainsAny(id, " \t\r\n?#%\\") && !slices.ContainsFunc(strings.Split(id, "/"), isDots) && printable.Line(id) == id
}

// isDots reports whether a part of a path is one that leads elsewhere.
func isDots(part string) bool { return part == "." || part == ".." }

// cleanName makes a name fit to be shown, in one line; the id where there is none.
func cleanName(name, id string) string {
	name = strings.Join(strings.Fields(printable.Line(strings.ToValidUTF8(name, ""))), " ")
	if len(name) > longestName {
		name = strings.ToValidUTF8(name[:longestName], "")
	}
	if name == "" {
		return id
	}
	return name
}
