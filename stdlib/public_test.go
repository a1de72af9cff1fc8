package stdlib

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

func TestPublicIsWhatEverybodyMayMean(t *testing.T) {
	for network, inside := range map[string][]string{
		"0.0.0.0/8":       {"0.0.0.0", "0.255.255.255"},
		"10.0.0.0/8":      {"10.0.0.0", "10.255.255.255"},
		"100.64.0.0/10":   {"100.64.0.0", "100.127.255.255"},
		"127.0.0.0/8":     {"127.0.0.1", "127.255.255.255"},
		"169.254.0.0/16":  {"169.254.0.0", "169.254.169.254", "169.254.255.255"},
		"172.16.0.0/12":   {"172.16.0.0", "172.31.255.255"},
		"192.168.0.0/16":  {"192.168.0.0", "192.168.255.255"},
		"198.18.0.0/15":   {"198.18.0.0", "198.19.255.255"},
		"multicast":       {"224.0.0.0", "239.255.255.255", "ff00::1", "ff02::1"},
		"240.0.0.0/4":     {"240.0.0.0", "255.255.255.255"},
		"unspecified, me": {"::", "::1"},
		"2002::/16":       {"2002::", "2002:808:808::1", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
		"fc00::/7":        {"fc00::", "fd00::1", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
		"fe80::/10":       {"fe80::", "febf:ffff::1", "fe80::1%eth0"},
		"IPv4 in IPv6":    {"::ffff:127.0.0.1", "::ffff:10.1.2.3", "::ffff:169.254.169.254", "::127.0.0.1", "::8.8.8.8", "2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2"},
		"NAT64":           {"64:ff9b::127.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b::169.254.169.254", "64:ff9b:1::1", "64:ff9b:1::8.8.8.8"},
		"others":          {"fec0::1", "100::1", "2001:db8::1", "192.0.2.1", "192.0.0.170", "203.0.113.5", "5f00::1"},
	} {
		for _, address := range inside {
			if isPublic(netip.MustParseAddr(address)) {
				t.Errorf("%s: %s is public", network, address)
			}
		}
	}
	for _, address := range []string{
		"1.0.0.0", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0", "169.253.255.255", "169.255.0.0",
		"172.15.255.255", "172.32.0.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255",
		"2606:4700::1111", "2001:4860:4860::8888", "2a00::1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8",
	} {
		if !isPublic(netip.MustParseAddr(address)) {
			t.Errorf("%s is not public", address)
		}
	}
}

// The oracle are the words of package netip, which know some of these networks by themselves, and
// that an IPv4 address is judged alike in whatever form it comes.
func FuzzPublic(f *testing.F) {
	for _, address := range []string{"127.0.0.1", "8.8.8.8", "::1", "fe80::1", "2002:7f00:1::", "64:ff9b::7f00:1", "::ffff:10.0.0.1", "2606:4700::1111"} {
		a := netip.MustParseAddr(address)
		f.Add(a.AsSlice())
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		a, ok := netip.AddrFromSlice(raw)
		if !ok {
			if isPublic(a) {
				t.Error("no address is public")
			}
			return
		}
		public := isPublic(a)
		plain := a.Unmap()
		if public && (!plain.IsGlobalUnicast() || plain.IsPrivate() || plain.IsLoopback() || plain.IsLinkLocalUnicast() || plain.IsMulticast()) {
			t.Errorf("%s is public", a)
		}
		if v4 := plain; v4.Is4() {
			four := v4.As4()
			mapped := netip.AddrFrom16(v4.As16())
			translated := netip.AddrFrom16([16]byte{0, 0x64, 0xff, 0x9b, 12: four[0], 13: four[1], 14: four[2], 15: four[3]})
			compatible := netip.AddrFrom16([16]byte{12: four[0], 13: four[1], 14: four[2], 15: four[3]})
			if isPublic(mapped) != public || isPublic(translated) != public || isPublic(compatible) {
				t.Errorf("%s is judged otherwise within IPv6", v4)
			}
		}
	})
}

// A connection is looked at for each redirection, and nothing goes through a proxy.
func TestAConnectionIsLookedAtWhenItIsMade(t *testing.T) {
	reached := 0
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ }))
	defer inside.Close()
	outside := httptest.NewServer(http.RedirectHandler(inside.URL, http.StatusFound))
	defer outside.Close()
	t.Setenv("HTTP_PROXY", inside.URL)
	t.Setenv("http_proxy", inside.URL)
	var looked []string
	no := errors.New("not there")
	transport := dialing(func(a netip.AddrPort) error {
		looked = append(looked, fmt.Sprint("http://", a))
		if fmt.Sprint("http://", a) == inside.URL {
			return no
		}
		return nil
	})
	if transport.Proxy != nil {
		t.Error("there is a proxy")
	}
	r := exchange{url: outside.URL, timeout: httpTime}
	req, err := r.build(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err == nil {
		_ = resp.Body.Close()
	}
	if !errors.Is(err, no) || reached > 0 || strings.Join(looked, " ") != outside.URL+" "+inside.URL {
		t.Errorf("looked at %v, reached %d times: %v", looked, reached, err)
	}
}

func TestWhatIsPublicIsLookedAtInEveryForm(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	_, port, _ := strings.Cut(strings.TrimPrefix(server.URL, "http://"), ":")
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "0.0.0.0", "[::]", "[::1]", "127.1.2.3"} {
		r := exchange{url: "http://" + host + ":" + port, timeout: httpTime, public: true}
		if a, err := r.do(t.Context()); err == nil {
			t.Errorf("%s answers with %d", host, a.status)
		}
	}
}
