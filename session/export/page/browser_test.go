package page

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// browser is a headless Chromium that is driven by the DevTools protocol over two pipes,
// so nothing listens anywhere. It is for one goroutine.
type browser struct {
	t      testing.TB
	in     *os.File
	pipe   *os.File // out reads it
	out    *bufio.Reader
	last   int
	events []event // of all tabs
}

type event struct {
	Method    string
	SessionID string
	Params    json.RawMessage
}

// startBrowser starts the browser of the machine; without one the test is skipped.
func startBrowser(t testing.TB) *browser {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil && program == "" {
			program = path
		}
	}
	if program == "" {
		t.Skip("no Chromium is installed, in which a page would be opened")
	}
	theirIn, ourOut := pipe(t)
	ourIn, theirOut := pipe(t)
	cmd := exec.Command(program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--disable-extensions", "--disable-crash-reporter", "--remote-debugging-pipe", "--user-data-dir="+t.TempDir(), "about:blank")
	cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	if err := cmd.Start(); err != nil {
		t.Skipf("no Chromium that starts: %v", err)
	}
	theirIn.Close()
	theirOut.Close()
	b := &browser{t: t, in: ourOut, pipe: ourIn, out: bufio.NewReaderSize(ourIn, 1<<20)}
	t.Cleanup(func() {
		b.send("", "Browser.close", nil)
		ourOut.Close()
		defer time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() }).Stop()
		if err := cmd.Wait(); err != nil {
			t.Logf("the browser ended with %v", err)
		}
		ourIn.Close()
	})
	return b
}

func pipe(t testing.TB) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return r, w
}

// send sends a command and returns its number.
func (b *browser) send(tab, method string, params any) int {
	b.last++
	m := fields{"id": b.last, "method": method}
	if params != nil {
		m["params"] = params
	}
	if tab != "" {
		m["sessionId"] = tab
	}
	raw, err := json.Marshal(m)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.in.Write(append(raw, 0)); err != nil {
		b.t.Logf("send %s: %v", method, err)
	}
	return b.last
}

// read reads one message, an answer or an event. Events are kept.
func (b *browser) read() (id int, result json.RawMessage) {
	b.t.Helper()
	if err := b.pipe.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		b.t.Fatal(err)
	}
	raw, err := b.out.ReadBytes(0)
	if err != nil {
		b.t.Fatalf("read of the browser: %v", err)
	}
	var m struct {
		event
		ID     int
		Result json.RawMessage
		Error  *struct{ Message string }
	}
	if err := json.Unmarshal(raw[:len(raw)-1], &m); err != nil {
		b.t.Fatal(err)
	}
	if m.Error != nil {
		b.t.Fatalf("the browser refuses: %s", m.Error.Message)
	}
	if m.Method != "" {
		b.events = append(b.events, m.event)
	}
	return m.ID, m.Result
}

// do sends a command and waits for its answer.
func (b *browser) do(tab, method string, params any, answer any) {
	b.t.Helper()
	want := b.send(tab, method, params)
	for {
		id, result := b.read()
		if id != want {
			continue
		}
		if answer != nil {
			if err := json.Unmarshal(result, answer); err != nil {
				b.t.Fatal(err)
			}
		}
		return
	}
}

// tab is a page in the browser.
type tab struct {
	*browser
	id string
}

// view is how a tab looks at a page.
type view struct {
	width, height int
	scheme        string // light or dark
	noScript      bool
	before        string // a script that runs before the page is there
}

// open opens a page and waits until it is loaded.
func (b *browser) open(file, hash string, v view) *tab {
	b.t.Helper()
	if v.width == 0 {
		v.width, v.height = 1280, 900
	}
	var made struct{ TargetID, SessionID string }
	b.do("", "Target.createTarget", fields{"url": "about:blank"}, &made)
	b.do("", "Target.attachToTarget", fields{"targetId": made.TargetID, "flatten": true}, &made)
	p := &tab{b, made.SessionID}
	for _, domain := range []string{"Page", "Runtime", "Network", "Log"} {
		p.do(p.id, domain+".enable", nil, nil)
	}
	p.do(p.id, "Performance.enable", fields{"timeDomain": "threadTicks"}, nil)
	p.do(p.id, "Emulation.setDeviceMetricsOverride", fields{"width": v.width, "height": v.height, "deviceScaleFactor": 1, "mobile": false}, nil)
	if v.scheme != "" {
		p.do(p.id, "Emulation.setEmulatedMedia", fields{"features": []fields{{"name": "prefers-color-scheme", "value": v.scheme}}}, nil)
	}
	if v.noScript {
		p.do(p.id, "Emulation.setScriptExecutionDisabled", fields{"value": true}, nil)
	}
	if v.before != "" {
		p.do(p.id, "Page.addScriptToEvaluateOnNewDocument", fields{"source": v.before}, nil)
	}
	p.do(p.id, "Page.navigate", fields{"url": (&url.URL{Scheme: "file", Path: file, Fragment: hash}).String()}, nil)
	p.wait("Page.loadEventFired")
	return p
}

// wait waits for an event of the tab.
func (p *tab) wait(method string) {
	p.t.Helper()
	for {
		for _, e := range p.events {
			if e.Method == method && e.SessionID == p.id {
				return
			}
		}
		p.read()
	}
}

// eval evaluates an expression, which may be a promise, in the page.
func (p *tab) eval(expression string) any {
	p.t.Helper()
	var answer struct {
		Result           struct{ Value any }
		ExceptionDetails *struct{ Exception struct{ Description string } }
	}
	p.do(p.id, "Runtime.evaluate", fields{"expression": expression, "awaitPromise": true, "returnByValue": true, "userGesture": true}, &answer)
	if answer.ExceptionDetails != nil {
		p.t.Fatalf("%s: %s", expression, answer.ExceptionDetails.Exception.Description)
	}
	return answer.Result.Value
}

// check fails if an expression does not become what is wanted: what a click or a key brings about,
// such as another address, comes when the browser has the time.
func (p *tab) check(expression string, want any) {
	p.t.Helper()
	for stop := time.Now().Add(20 * time.Second); ; {
		got := p.eval(expression)
		if fmt.Sprint(got) == fmt.Sprint(want) {
			return
		}
		if time.Now().After(stop) {
			p.t.Errorf("%s is %v, want %v", expression, got, want)
			return
		}
	}
}

// until waits for an expression to be true, as long as the browser may take.
func (p *tab) until(expression string) {
	p.t.Helper()
	p.eval(`new Promise((done, failed) => { const stop = Date.now() + 20000; (function look() {
		if (` + expression + `) done(); else if (Date.now() > stop) failed(new Error('it stays untrue')); else requestAnimationFrame(look); })(); })`)
}

// press presses keys, each a character or a name.
func (p *tab) press(keys ...string) {
	p.t.Helper()
	for _, key := range keys {
		down := fields{"type": "keyDown", "key": key}
		if len(key) == 1 {
			down["text"] = key
		}
		switch key {
		case "Enter":
			down["text"], down["windowsVirtualKeyCode"] = "\r", 13
		case "Escape":
			down["windowsVirtualKeyCode"] = 27
		}
		p.do(p.id, "Input.dispatchKeyEvent", down, nil)
		p.do(p.id, "Input.dispatchKeyEvent", fields{"type": "keyUp", "key": key}, nil)
	}
}

// screenshot writes what is seen into a folder, if PI_TEST_SCREENSHOTS names one.
func (p *tab) screenshot(name string) {
	dir := os.Getenv("PI_TEST_SCREENSHOTS")
	if dir == "" {
		return
	}
	var shot struct{ Data string }
	p.do(p.id, "Page.captureScreenshot", fields{"format": "png"}, &shot)
	p.save(dir, name+".png", shot.Data)
}

// print writes the page as it would be on paper.
func (p *tab) print(name string) (pdf []byte) {
	var paper struct{ Data string }
	p.do(p.id, "Page.printToPDF", fields{"printBackground": true}, &paper)
	pdf, err := base64.StdEncoding.DecodeString(paper.Data)
	if err != nil {
		p.t.Fatal(err)
	}
	if dir := os.Getenv("PI_TEST_SCREENSHOTS"); dir != "" {
		p.save(dir, name+".pdf", paper.Data)
	}
	return pdf
}

func (p *tab) save(dir, name, data string) {
	raw, err := base64.StdEncoding.DecodeString(data)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name), raw, 0o600)
	}
	if err != nil {
		p.t.Error(err)
	}
}

// requests are the addresses that the tab asked for, without data in the page itself.
func (p *tab) requests() (found []string) {
	for _, e := range p.events {
		var params struct{ Request struct{ URL string } }
		if e.Method != "Network.requestWillBeSent" || e.SessionID != p.id || json.Unmarshal(e.Params, &params) != nil {
			continue
		}
		if !strings.HasPrefix(params.Request.URL, "data:") {
			found = append(found, params.Request.URL)
		}
	}
	return found
}

// complaints are what the browser says of the page: breaches of its policy and errors.
func (p *tab) complaints() (found []string) {
	for _, e := range p.events {
		if e.SessionID == p.id && (e.Method == "Log.entryAdded" || e.Method == "Runtime.exceptionThrown" || e.Method == "Runtime.consoleAPICalled" || e.Method == "Page.javascriptDialogOpening") {
			found = append(found, e.Method+": "+string(e.Params))
		}
	}
	return found
}

// saved writes a page into a file.
func saved(t testing.TB, html string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(path, []byte(html), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
