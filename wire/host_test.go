package wire

import (
	"context"
	"net"
	"path/filepath"
	"testing"
)

func TestHosts(t *testing.T) {
	for address, want := range map[string]string{
		"10.0.0.7:1": "10.0.0.7", "[::1]:1": "0:0:0:0:0:0:0:1", "[fe80::1%eth0]:1": "fe80:0:0:0:0:0:0:1", "[::ffff:10.0.0.7]:1": "10.0.0.7",
	} {
		a, err := net.ResolveTCPAddr("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		if got := hostOf(a); got != want {
			t.Errorf("%s is host %s, want %s", address, got, want)
		}
	}
}

// A client names its own end of a Unix socket as it likes: that is no address that ACLs could be about.
func TestClientOfASocketDoesNotChooseItsHost(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	host := ""
	s := NewServer(Options{}, table{3: func(ctx context.Context, r *Request) (Reply, error) {
		host = r.Conn.Host()
		return answerDefault(ctx, r)
	}})
	path := filepath.Join(dir, "doze.sock")
	if _, err := s.Listen("unix:"+path, ListenOptions{}); err != nil {
		t.Fatal(err)
	}
	serve(t, s)
	nc, err := net.DialUnix("unix", &net.UnixAddr{Name: "10.0.0.7:9"}, &net.UnixAddr{Name: path})
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	c := &peer{t, nc}
	c.ask(NewRequest(3, 12), 1)
	if host != "127.0.0.1" {
		t.Errorf("who called itself 10.0.0.7 is host %s", host)
	}
}
