package stdlib

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// An address that a page or a model names may lead into the network around this machine: to a
// router, to what a cloud tells of its machines, to a program that listens here. With public =
// true a request goes to public addresses only. That is looked at when a connection is made, for
// the very address that it is made to: what a name leads to is known then, at each redirection
// anew, and nobody can answer otherwise between the look and the connection. So there is no
// proxy either, which would look up the name itself.

// notPublic are networks whose addresses are of no use, or of no harmless one, from elsewhere.
// Of IPv6, what is outside of 2000::/3 is not public in any case.
func notPublic() []netip.Prefix {
	var networks []netip.Prefix
	for _, network := range []string{
		"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16",
		"192.0.0.0/24", "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", // protocols, and examples
		"192.88.99.0/24", // relays of 2002::/16
		"198.18.0.0/15",  // measurements
		"224.0.0.0/4",    // many at once
		"240.0.0.0/4",
		"2001::/23",                  // protocols, among them Teredo, which has an IPv4 address inside
		"2001:db8::/32", "3fff::/20", // examples
		"2002::/16", // has an IPv4 address inside
	} {
		networks = append(networks, netip.MustParsePrefix(network))
	}
	return networks
}

// isPublic reports whether an address is one that everybody may mean.
func isPublic(a netip.Addr) bool {
	a = a.WithZone("").Unmap()
	translated := netip.MustParsePrefix("64:ff9b::/96") // NAT64: an IPv4 address at the end
	if translated.Contains(a) {
		bytes := a.As16()
		a = netip.AddrFrom4([4]byte(bytes[12:]))
	}
	if a.Is6() && !netip.MustParsePrefix("2000::/3").Contains(a) {
		return false
	}
	for _, network := range notPublic() {
		if network.Contains(a) {
			return false
		}
	}
	return a.IsValid()
}

// checkPublic is an error for an address that is not public.
func checkPublic(a netip.AddrPort) error {
	if isPublic(a.Addr()) {
		return nil
	}
	return fmt.Errorf("%s is no public address", a.Addr())
}

// dialing returns a transport without proxies that connects only to what check allows.
func dialing(check func(netip.AddrPort) error) *http.Transport {
	dialer := &net.Dialer{Timeout: 30 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
		a, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		return check(a)
	}}
	return &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true, ForceAttemptHTTP2: true}
}
