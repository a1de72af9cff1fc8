package page

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"pi/session"
)

// TestThePage opens the page of a session in a browser, and does what readers do.
func TestThePage(t *testing.T) {
	t.Parallel()
	b := startBrowser(t)
	for _, c := range []struct {
		claim string
		holds func(*browser)
	}{
		{"Without scripts the page is a transcript", withoutScriptsThePageIsATranscript},
		{"A branch is switched to", aBranchIsSwitchedTo},
		{"A search finds everywhere", aSearchFindsEverywhere},
		{"A search selects in older browsers", aSearchSelectsInOlderBrowsers},
		{"Results make no fork", resultsMakeNoFork},
		{"An empty branch is a page too", anEmptyBranchIsAPageToo},
		{"Keys go through the page", keysGoThroughThePage},
		{"Everything is folded", everythingIsFolded},
		{"Copy buttons and links", copyButtonsAndLinks},
		{"An address leads to a message", anAddressLeadsToAMessage},
		{"The chart shows tokens and cost", theChartShowsTokensAndCost},
		{"The page is as the reader likes it", thePageIsAsTheReaderLikesIt},
	} {
		t.Run(c.claim, func(t *testing.T) {
			outer := b.t
			defer func() { b.t = outer }()
			b.t = t
			c.holds(b)
		})
	}
}

// inBrowser opens the page of a session and does something with it.
func inBrowser(b *browser, built *builder, v view, do func(p *tab)) {
	b.t.Helper()
	p := b.open(saved(b.t, written(b.t, built.session(b.t))), "", v)
	do(p)
	if said := p.complaints(); len(said) > 0 {
		b.t.Errorf("the browser says %q", said)
	}
}

const (
	branchText = `document.getElementById('branch').innerText`
	hasTree    = `document.body.classList.contains('with-tree')`
	currentID  = `document.querySelector('.current').id`
)

func withoutScriptsThePageIsATranscript(b *browser) {
	inBrowser(b, sample(), view{width: 1000, height: 1800, noScript: true}, func(p *tab) {
		p.screenshot("noscript")
		p.check(branchText+`.includes('529 overloaded_error')`, true)
		text := p.eval(branchText).(string)
		from := 0
		for _, want := range []string{"fails since yesterday", "I will run the test", "The cause", "The second, and show me", "Here it is", "Command of the user", "Note", "Summary of the conversation before", "Is this the picture?", "Yes. What is left", "Thanks.", "529 overloaded_error"} {
			i := strings.Index(text[from:], want)
			if i < 0 {
				p.t.Fatalf("%q is not behind %q", want, text[max(0, from-80):from])
			}
			from += i
		}
		for _, folded := range []string{"resume_test.go:31", "I should run the test first", "The first."} {
			if strings.Contains(text, folded) {
				p.t.Errorf("%q is not folded", folded)
			}
		}
		p.check(`document.querySelectorAll('.tools, #tree, #chart, button').length`, 0)
		p.check(`[...document.querySelectorAll('h1, h2')].map(h => h.firstChild.textContent).slice(0, 3).join()`, "Mend TestResume,User,Assistant")
		p.check(`(() => { const d = [...document.querySelectorAll('details')].find(d => d.textContent.includes('resume_test.go:31')); d.open = true; return d.innerText.includes('got 3, want 4'); })()`, true)
		p.check(`(() => { const d = document.getElementById('others'); d.open = true; return [...d.querySelectorAll('article')].find(a => a.textContent.includes('The test passes now.')).checkVisibility(); })()`, true)
		p.check(`document.querySelector('img').naturalWidth`, 4)
	})
}

func aBranchIsSwitchedTo(b *browser) {
	inBrowser(b, sample(), view{}, func(p *tab) {
		p.check(`document.querySelector('.fork').textContent`, "‹branch 2 of 2›")
		p.eval(`document.querySelector('.fork button').click()`)
		p.check(branchText+`.includes('The test passes now.')`, true)
		p.check(branchText+`.includes('The second, and')`, false)
		p.check(`document.querySelector('.fork').textContent`, "‹branch 1 of 2›")
		p.check(`[...document.querySelectorAll('#branch > [data-p]')].every((e, i, all) => !i || +e.id.slice(1) > +all[i-1].id.slice(1))`, true)
		p.press("]")
		p.check(branchText+`.includes('The second, and')`, true)
		p.check(branchText+`.includes('The test passes now.')`, false)
		p.until(hasTree)
		p.check(`document.querySelectorAll('#tree a:not(.on-path)').length`, 4)
		p.screenshot("tree")
		p.eval(`[...document.querySelectorAll('#tree a')].find(a => a.textContent.includes('passes now')).click()`)
		p.until(branchText + `.includes('The test passes now.')`)
		p.check(`document.querySelector('#tree a[aria-current]').textContent`, "The test passes now.")
	})
}

func aSearchFindsEverywhere(b *browser) {
	inBrowser(b, sample(), view{}, func(p *tab) {
		p.press("/")
		p.check(`document.activeElement.type`, "search")
		p.press(strings.Split("GOT 3, want", "")...)
		p.press("Enter")
		p.check(`document.querySelector('output').textContent`, "1 of 1")
		p.check(`[...CSS.highlights.get('here')].map(r => r.toString()).join()`, "got 3, want")
		p.check(`[...CSS.highlights.get('here')][0].startContainer.parentElement.closest('details').open`, true)
		p.press("Escape")
		p.check(`CSS.highlights.size`, 0)
		p.press("/")
		p.press(strings.Split("passes now", "")...)
		p.press("Enter")
		p.check(branchText+`.includes('The test passes now.')`, true) // it is on the other branch
		p.press("Escape", "/")
		p.press(strings.Split("resume.go", "")...)
		p.press("Enter")
		p.press("Enter")
		p.check(`document.querySelector('output').textContent.startsWith('2 of ')`, true)
		p.eval(`document.activeElement.blur()`)
		p.press("N")
		p.check(`document.querySelector('output').textContent.startsWith('1 of ')`, true)
		p.press("/")
		p.eval(`document.activeElement.select()`)
		p.press(strings.Split("(.*[", "")...)
		p.until(`document.querySelector('output').textContent === 'nothing found'`)
	})
}

func keysGoThroughThePage(b *browser) {
	inBrowser(b, sample(), view{}, func(p *tab) {
		p.press("j")
		first := p.eval(currentID)
		p.press("j")
		p.check(currentID+` !== `+quote(first), true)
		p.press("k")
		p.check(currentID, first)
		p.press("u")
		p.check(`document.querySelector('.current .text').textContent.startsWith('The second')`, true)
		p.check(`location.hash === '#' + `+currentID, true)
		p.press("x")
		p.check(`document.querySelector('.current').classList.contains('folded')`, true)
		p.press("x", "j", "o")
		p.check(`[...document.querySelectorAll('.current details')].every(d => d.open)`, true)
		p.press("?")
		p.check(`document.querySelector('dialog').open`, true)
		p.check(`[...document.querySelectorAll('dialog dt')].map(d => d.textContent + ' = ' + d.nextSibling.textContent).join('; ')`, documentedKeys(p.t))
		p.press("Escape")
		p.until(`!document.querySelector('dialog').open`)
		p.until(hasTree)
		p.press("t")
		p.check(hasTree, false)
	})
}

// Results may come in another order than their calls, and other entries among them.
func resultsMakeNoFork(b *browser) {
	built := newBuilder()
	built.user("two calls")
	built.answer(1, 1, 0, call("c1", "bash", fields{"command": "one"}), call("c2", "bash", fields{"command": "two"}))
	built.result("c2", "bash", "second", false, nil)
	built.add("custom", fields{"customType": "todo", "data": 1})
	built.add("usage", fields{"kind": "tool", "usage": fields{"input": 4}})
	built.add("label", fields{"targetId": "00000001", "label": "x"})
	built.result("c1", "bash", "first", false, nil)
	fork := built.answer(1, 1, 0, text("done"))
	built.user("left")
	built.leaf = fork
	built.user("went on")
	inBrowser(b, built, view{}, func(p *tab) {
		p.check(`[...document.querySelectorAll('.tool')].map(d => d.querySelector('summary code').textContent + ' ' + d.querySelector('.result').textContent.trim()).join()`, "one first,two second")
		p.check(`document.querySelectorAll('.fork').length`, 1)
		p.press("[")
		p.check(branchText+`.includes('left')`, true)
		p.press("]")
		p.check(branchText+`.includes('went on') && `+branchText+`.includes('state of a hook') && `+branchText+`.includes('done')`, true)
		p.check(`document.querySelectorAll('.result:not([hidden])').length`, 2)
	})
}

// A session without a word, and one whose leaf lies before its first entry.
func anEmptyBranchIsAPageToo(b *browser) {
	inBrowser(b, newBuilder(), view{}, func(p *tab) {
		p.press("j", "k", "u", "o", "x", "c", "n", "]", "f", "t")
		p.check(branchText, "Nothing is said on this branch.")
	})
	built := newBuilder()
	built.user("left alone")
	built.leaf = ""
	built.add("custom", fields{"customType": session.LeafMove, "data": fields{}})
	inBrowser(b, built, view{}, func(p *tab) {
		p.press("j", "k", "u", "]", "f", "t")
		p.check(branchText+`.includes('left alone')`, false)
		p.until(`document.querySelector('#tree a')`)
		p.eval(`document.querySelector('#tree a').click()`)
		p.until(branchText + `.includes('left alone')`)
	})
}

// A browser that cannot mark ranges selects what it found.
func aSearchSelectsInOlderBrowsers(b *browser) {
	inBrowser(b, sample(), view{before: `Object.defineProperty(window, 'Highlight', {value: undefined})`}, func(p *tab) {
		p.press("/")
		p.press(strings.Split("got 3", "")...)
		p.press("Enter")
		p.check(`getSelection().toString()`, "got 3")
	})
}

// documentedKeys are the keys that the guide lists.
func documentedKeys(t testing.TB) string {
	guide, err := os.ReadFile("../../../docs/pages.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, row := range regexp.MustCompile("(?m)^\\| (`.+`) \\| (.+) \\|$").FindAllStringSubmatch(string(guide), -1) {
		rows = append(rows, strings.ReplaceAll(row[1], "`", "")+" = "+row[2])
	}
	return strings.Join(rows, "; ")
}

func quote(v any) string { return `'` + v.(string) + `'` }

func everythingIsFolded(b *browser) {
	inBrowser(b, sample(), view{}, func(p *tab) {
		const open = `[...document.querySelectorAll('article details')].filter(d => d.open).length`
		all := p.eval(`document.querySelectorAll('article details').length`)
		p.press("f")
		p.check(open, all)
		p.check(branchText+`.includes('resume_test.go:31: got 3')`, true)
		p.press("f")
		p.check(branchText+`.includes('Thinking')`, false)
		p.check(branchText+`.includes('The second, and')`, true)
		p.check(branchText+`.includes('The cause')`, true)
		p.check(`Math.max(...[...document.querySelectorAll('#branch .text')].map(e => e.offsetHeight)) < 40`, true)
		p.screenshot("outline")
		p.press("f")
		p.check(open, 0)
	})
}

func copyButtonsAndLinks(b *browser) {
	inBrowser(b, sample(), view{}, func(p *tab) {
		p.until(`document.querySelector('.user [data-do=copy]')`)
		p.eval(`(() => { window.copied = []; navigator.clipboard.writeText = t => { copied.push(t); return Promise.resolve(); }; })()`)
		p.eval(`document.querySelector('.user [data-do=copy]').click()`)
		p.check(`copied[0]`, "The test `TestResume` fails since yesterday. Find out why and mend it.\n\nIt is in session/resume_test.go; do not change the test.")
		p.until(`document.querySelector('.text [data-do=code]')`)
		p.eval(`document.querySelector('.text [data-do=code]').click()`)
		p.check(`copied[1]`, "func Resume(entries []Entry) int {\n\treturn len(entries) - 1 // the last one\n}")
		p.eval(`document.querySelector('.user [data-do=link]').click()`)
		p.check(`copied[2].startsWith('file:///') && copied[2].endsWith('#m3')`, true)
		p.eval(`location.hash = '#m14'`) // a message of the other branch
		p.until(branchText + `.includes('The test passes now.')`)
		p.check(currentID, "m14")
		p.eval(`location.hash = '#m5'`) // a result, which is folded
		p.until(`document.getElementById('m5').closest('details').open`)
	})
}

func anAddressLeadsToAMessage(b *browser) {
	p := b.open(saved(b.t, written(b.t, sample().session(b.t))), "m14", view{})
	p.check(currentID, "m14")
	p.check(branchText+`.includes('The test passes now.')`, true)
}

func theChartShowsTokensAndCost(b *browser) {
	inBrowser(b, sample(), view{}, func(p *tab) {
		p.check(`document.querySelectorAll('#chart rect.all').length`, 4)
		p.check(`document.querySelectorAll('#chart .cost').length`, 2) // the line and its legend
		p.check(`document.querySelector('#chart rect.all title').textContent`, "answer 1: read 2.1k (0 from the cache), wrote 140, $0.008 so far")
		p.eval(`document.querySelectorAll('#chart rect.all')[2].dispatchEvent(new MouseEvent('click'))`)
		p.check(`document.querySelector('.current').textContent.includes('Here it is.')`, true)
	})
}

func thePageIsAsTheReaderLikesIt(b *browser) {
	file := saved(b.t, written(b.t, sample().session(b.t)))
	dark := b.open(file, "", view{1280, 2300, "dark", false, ""})
	dark.check(`getComputedStyle(document.body).backgroundColor`, "rgb(21, 24, 29)")
	dark.screenshot("dark")
	light := b.open(file, "", view{1280, 2300, "light", false, ""})
	light.check(`getComputedStyle(document.body).backgroundColor`, "rgb(255, 255, 255)")
	light.screenshot("light")
	if pdf := light.print("print"); !bytes.HasPrefix(pdf, []byte("%PDF-")) {
		b.t.Errorf("%.20q", pdf)
	}
	light.do(light.id, "Emulation.setEmulatedMedia", fields{"media": "print", "features": []fields{{"name": "prefers-color-scheme", "value": "dark"}}}, nil)
	light.check(`getComputedStyle(document.body).backgroundColor`, "rgb(255, 255, 255)")
	light.check(`[...document.querySelectorAll('.tools, #tree, .acts')].every(e => getComputedStyle(e).display === 'none')`, true)
	light.screenshot("paper")
	narrow := b.open(file, "", view{400, 1600, "light", false, ""})
	narrow.press("f")
	narrow.check(`document.documentElement.scrollWidth <= innerWidth`, true)
	narrow.screenshot("narrow")
}

// BenchmarkWriting writes a page of 10,000 entries. x is its size by that of the session.
func BenchmarkWriting(b *testing.B) {
	built := large(10000)
	s := built.session(b)
	b.SetBytes(int64(built.size()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Write(io.Discard, s, Options{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(written(b, s)))/float64(built.size()), "x")
}

// What is decoded of a session for a page is not kept by its entries.
func TestWritingKeepsNothing(t *testing.T) {
	s := large(3000).session(t)
	inUse := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := inUse()
	if _, err := Write(io.Discard, s, Options{}); err != nil {
		t.Fatal(err)
	}
	if after := inUse(); after > before+512<<10 {
		t.Errorf("%d bytes more are in use", after-before)
	}
	runtime.KeepAlive(s)
}

func TestAPageIsNotMuchLargerThanItsSession(t *testing.T) {
	short := newBuilder()
	for range 1000 {
		short.user("yes")
		short.answer(1, 1, 0, text("ok"))
	}
	for name, b := range map[string]*builder{"usual": large(2000), "short": short} {
		if html := written(t, b.session(t)); 2*len(html) > 3*b.size() {
			t.Errorf("%s: %d bytes of %d", name, len(html), b.size())
		}
	}
}

// BenchmarkOpening is how long a browser takes to open a page of 10,000 entries: loaded, its
// script run, the first messages painted.
func BenchmarkOpening(b *testing.B) {
	file := saved(b, written(b, large(10000).session(b)))
	browser := startBrowser(b)
	for b.Loop() {
		p := browser.open(file, "", view{})
		took := p.eval(`new Promise(done => requestAnimationFrame(() => setTimeout(() => {
			const t = performance.getEntriesByType('navigation')[0]; done([t.responseEnd, t.domInteractive, t.loadEventEnd, performance.now()]); })))`).([]any)
		for i, name := range []string{"read", "parsed", "loaded", "painted"} {
			b.ReportMetric(took[i].(float64), name+"-ms")
		}
		var m struct {
			Metrics []struct {
				Name  string
				Value float64
			}
		}
		p.do(p.id, "Performance.getMetrics", nil, &m)
		for _, m := range m.Metrics {
			if m.Name == "TaskDuration" || m.Name == "ScriptDuration" || m.Name == "LayoutDuration" || m.Name == "RecalcStyleDuration" {
				b.ReportMetric(m.Value*1000, m.Name+"-ms") // of the processor, whoever else uses it
			}
		}
		p.until(`document.querySelector('#tree a')`)
		b.ReportMetric(p.eval(`performance.now()`).(float64), "tree-ms")
	}
}
