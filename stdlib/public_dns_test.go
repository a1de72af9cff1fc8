package stdlib

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// resolveBy has names looked up by a server of the test, which answers a question for an address
// with what answer returns for its name and type; none is an empty answer.
func resolveBy(t *testing.T, answer func(name string, kind dnsmessage.Type) []netip.Addr) {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for buf := make([]byte, 4096); ; {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			if reply, err := replyTo(buf[:n], answer); err == nil {
				_, _ = conn.WriteTo(reply, from)
			}
		}
	}()
	was := net.DefaultResolver
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
	t.Cleanup(func() {
		net.DefaultResolver = was
		_ = conn.Close()
		<-done
	})
}

// replyTo answers the first question of a packet.
func replyTo(packet []byte, answer func(name string, kind dnsmessage.Type) []netip.Addr) ([]byte, error) {
	var p dnsmessage.Parser
	header, err := p.Start(packet)
	if err != nil {
		return nil, err
	}
	q, err := p.Question()
	if err != nil {
		return nil, err
	}
	reply := dnsmessage.Message{Header: dnsmessage.Header{ID: header.ID, Response: true, RecursionAvailable: true}, Questions: []dnsmessage.Question{q}}
	for _, a := range answer(strings.TrimSuffix(q.Name.String(), "."), q.Type) {
		var body dnsmessage.ResourceBody = &dnsmessage.AAAAResource{AAAA: a.As16()}
		if q.Type == dnsmessage.TypeA {
			body = &dnsmessage.AResource{A: a.As4()}
		}
		reply.Answers = append(reply.Answers, dnsmessage.Resource{Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}, Body: body})
	}
	return reply.Pack()
}

func TestANameThatLeadsInsideIsNotPublic(t *testing.T) {
	leads := map[string]string{
		"inside.test": "127.0.0.1", "metadata.test": "169.254.169.254", "router.test": "192.168.0.1",
		"six.test": "::1", "mapped.test": "::ffff:127.0.0.1", "translated.test": "64:ff9b::7f00:1", "own.test": "fd00::1",
		"0x7f000001.test": "127.0.0.1",
	}
	resolveBy(t, func(name string, kind dnsmessage.Type) []netip.Addr {
		a, err := netip.ParseAddr(leads[name])
		if err != nil || a.Is4() != (kind == dnsmessage.TypeA) {
			return nil
		}
		return []netip.Addr{a}
	})
	for name := range leads {
		r := exchange{url: "http://" + name + ":1/", timeout: httpTime, public: true}
		if _, err := r.do(t.Context()); err == nil || !strings.Contains(err.Error(), "no public address") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Of several addresses that a name has each is looked at.
func TestEachAddressOfANameIsLookedAt(t *testing.T) {
	resolveBy(t, func(_ string, kind dnsmessage.Type) []netip.Addr {
		if kind != dnsmessage.TypeA {
			return nil
		}
		return []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("192.168.0.1")}
	})
	var looked []string
	client := &http.Client{Transport: dialing(func(a netip.AddrPort) error {
		looked = append(looked, a.Addr().String())
		return checkPublic(a)
	})}
	if resp, err := client.Get("http://several.test:1/"); err == nil {
		_ = resp.Body.Close()
		t.Error("it was reached")
	}
	slices.Sort(looked)
	if got := strings.Join(looked, " "); got != "10.0.0.1 127.0.0.1 192.168.0.1" {
		t.Errorf("looked at %q", got)
	}
}

// A name may lead elsewhere as soon as it was looked at: here to the address that counts as
// public in this test, and for the redirection to another one.
func TestANameThatChangesIsLookedAtAgain(t *testing.T) {
	var questions atomic.Int32
	resolveBy(t, func(_ string, kind dnsmessage.Type) []netip.Addr {
		switch {
		case kind != dnsmessage.TypeA:
			return nil
		case questions.Add(1) == 1:
			return []netip.Addr{netip.MustParseAddr("127.0.0.1")}
		}
		return []netip.Addr{netip.MustParseAddr("127.0.0.2")}
	})
	reached := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached++
		http.Redirect(w, r, "http://"+r.Host+"/again", http.StatusFound)
	}))
	defer server.Close()
	port := netip.MustParseAddrPort(server.Listener.Addr().String()).Port()
	no := errors.New("not there")
	client := &http.Client{Transport: dialing(func(a netip.AddrPort) error {
		if a.Addr() == netip.MustParseAddr("127.0.0.1") {
			return nil
		}
		return no
	})}
	resp, err := client.Get(fmt.Sprintf("http://changes.test:%d/", port))
	if err == nil {
		_ = resp.Body.Close()
	}
	if !errors.Is(err, no) || reached != 1 {
		t.Errorf("reached %d times: %v", reached, err)
	}
}
