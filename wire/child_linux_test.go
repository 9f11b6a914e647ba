//go:build linux && !race

package wire

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// A child is this test binary run again as nothing but a server, so that what a server takes can be told from what its
// clients take.
type child struct {
	testing.TB
	addr string
	pid  int
}

const childVariable = "DOZE_WIRE_TEST_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		beChild()
		return
	}
	os.Exit(m.Run())
}

// beChild serves until its standard input ends.
func beChild() {
	apis := table{1: park}
	s := NewServer(Options{}, apis)
	apis[12] = func(context.Context, *Request) (Reply, error) {
		resp := kmsg.NewPtrHeartbeatResponse()
		resp.ThrottleMillis = s.parkedCount()
		return resp, nil
	}
	l, err := s.Listen("127.0.0.1:0", ListenOptions{})
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr())
	go s.Serve(context.Background())
	io.Copy(io.Discard, os.Stdin)
}

// park is a long poll that lasts until the peer goes.
func park(ctx context.Context, r *Request) (Reply, error) {
	<-ctx.Done()
	return answerDefault(ctx, r)
}

func startChild(t testing.TB) *child {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return &child{t, strings.TrimSpace(addr), cmd.Process.Pid}
}

func (c *child) dial() *peer {
	c.Helper()
	nc, err := net.Dial("tcp", c.addr)
	if err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() { nc.Close() })
	nc.SetDeadline(time.Now().Add(30 * time.Second))
	return &peer{c.TB, nc}
}

// memory reads a line of /proc/PID/status (VmRSS, VmHWM), in bytes.
func (c *child) memory(line string) int64 {
	c.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.pid))
	if err != nil {
		c.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), line+":")
	kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	if err != nil {
		c.Fatal(err)
	}
	return kib << 10
}

// cpu is the processor time that the child has used.
func (c *child) cpu() time.Duration {
	c.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.pid))
	if err != nil {
		c.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	fields := strings.Fields(rest)
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * time.Second / 100
}
