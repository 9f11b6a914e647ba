package names

import (
	"bytes"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Our lines of a hosts file stand between these two, so that they can be found again.
const (
	hostsBegin = "# doze: begin (doze setup --remove takes these lines away)"
	hostsEnd   = "# doze: end"
)

// hostsMax bounds a hosts file that is read: those that block advertising have megabytes.
const hostsMax = 64 << 20

// parseHosts are the names of the zone in a hosts file, whoever wrote them; the first line of a name counts, as for the system.
//
//fuzz:parser class=config FuzzHosts
func parseHosts(text []byte) map[string]netip.Addr {
	found := map[string]netip.Addr{}
	for line := range bytes.Lines(text) {
		line, _, _ = bytes.Cut(line, []byte("#"))
		if !bytes.Contains(line, []byte(Suffix)) {
			continue
		}
		fields := strings.Fields(string(line))
		address, err := netip.ParseAddr(fields[0])
		if err != nil || !address.Is4() {
			continue
		}
		for _, host := range fields[1:] {
			name, ours := strings.CutSuffix(strings.ToLower(host), Suffix)
			if _, known := found[name]; ours && !known && CheckName(name) == nil {
				found[name] = address
			}
		}
	}
	return found
}

// editHosts is a hosts file with our lines for the names, in place of those that are there; without names it is one without our
// lines. The rest stays byte for byte, but for an end of line that the last line lacks.
func editHosts(text []byte, names map[string]netip.Addr) []byte {
	text = withoutBlock(text)
	if len(names) == 0 {
		return text
	}
	var b bytes.Buffer
	b.Write(text)
	if len(text) > 0 && text[len(text)-1] != '\n' {
		b.WriteByte('\n')
	}
	fmt.Fprintln(&b, hostsBegin)
	for _, line := range hostsLines(names) {
		fmt.Fprintln(&b, line)
	}
	fmt.Fprintln(&b, hostsEnd)
	return b.Bytes()
}

// hostsLines are a line for each name, by address.
func hostsLines(names map[string]netip.Addr) []string {
	var lines []string
	for name, a := range names {
		lines = append(lines, fmt.Sprintf("%s\t%s%s", a, name, Suffix))
	}
	slices.SortFunc(lines, func(a, b string) int {
		return netip.MustParseAddr(strings.Fields(a)[0]).Compare(netip.MustParseAddr(strings.Fields(b)[0]))
	})
	return lines
}

// withoutBlock leaves our lines out. A beginning without an end stays: somebody has edited it.
func withoutBlock(text []byte) []byte {
	begin := bytes.Index(text, []byte(hostsBegin+"\n"))
	if begin < 0 || begin > 0 && text[begin-1] != '\n' {
		return text
	}
	length := bytes.Index(text[begin:], []byte("\n"+hostsEnd+"\n"))
	if length < 0 {
		return text
	}
	return append(bytes.Clone(text[:begin]), text[begin+length+len(hostsEnd)+2:]...)
}
