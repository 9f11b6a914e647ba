package certs

import (
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
)

// Settings of an identity.
type Settings struct {
	Source
	ClientAuth tls.ClientAuthType // with other than NoClientCert the source must have somebody to trust
	Min, Max   uint16             // versions of TLS; 0: 1.2 and the newest
	Ciphers    []uint16           // of TLS 1.2; nil: those that are held to be safe
	// Report is told of files that changed and cannot be used, once for each change; what was read before goes on.
	Report func(error)
}

// Identity is what a server shows and whom it trusts. The files are looked at when a client comes, so a new certificate holds
// from the next connection on.
type Identity struct {
	settings Settings
	config   atomic.Pointer[tls.Config]

	mu     sync.Mutex // who has it looks at the files; others go on with what there is
	stamps []stamp
	load   func() (*material, error)
	failed string // why the files could not be used when they were last read; "": they could
}

// stamp tells one state of a file from another; nil: it is not there. Another file of the same size and time, as when a link is
// made to lead elsewhere, is another state.
type stamp struct{ os.FileInfo }

// New reads the files for the first time.
func New(s Settings) (*Identity, error) {
	if s.ClientAuth != tls.NoClientCert && !s.Trusts() {
		return nil, errors.New("clients are asked for certificates, but no authority is trusted; name some with --tls-client-ca or ssl.truststore.location")
	}
	i := &Identity{settings: s, stamps: stampsOf(s.files()), load: s.load}
	m, err := i.load()
	if err != nil {
		return nil, err
	}
	i.config.Store(i.configWith(m))
	return i, nil
}

func stampsOf(files []string) []stamp {
	all := make([]stamp, len(files))
	for i, name := range files {
		if info, err := os.Stat(name); err == nil {
			all[i] = stamp{info}
		}
	}
	return all
}

// Config is for [Server].
func (i *Identity) Config() *tls.Config {
	base := i.config.Load().Clone()
	base.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) { return unbound(i.current(), hello.Conn), nil }
	return base
}

// current looks at the files, unless somebody is at it.
func (i *Identity) current() *tls.Config {
	if i.mu.TryLock() {
		defer i.mu.Unlock()
		i.reread()
	}
	return i.config.Load()
}

// reread reads the files when they have changed. Those that could not be used are read again every time: what was wrong may
// be mended without a trace on them, as a permission or descriptors that had run out.
func (i *Identity) reread() {
	// Stamps are taken before reading: a file that changes meanwhile is read again next time.
	now := stampsOf(i.settings.files())
	changed := !slices.EqualFunc(now, i.stamps, stamp.equal)
	if !changed && i.failed == "" {
		return
	}
	i.stamps = now
	m, err := i.load()
	if err != nil {
		if i.settings.Report != nil && (changed || err.Error() != i.failed) {
			i.settings.Report(fmt.Errorf("read changed certificates: %w; the old ones go on: correct the file", err))
		}
		i.failed = err.Error()
		return
	}
	i.failed = ""
	i.config.Store(i.configWith(m))
}

func (s stamp) equal(o stamp) bool {
	if s.FileInfo == nil || o.FileInfo == nil {
		return s.FileInfo == nil && o.FileInfo == nil
	}
	return s.Size() == o.Size() && s.ModTime().Equal(o.ModTime()) && os.SameFile(s.FileInfo, o.FileInfo)
}

func (i *Identity) configWith(m *material) *tls.Config {
	c := &tls.Config{
		Certificates: []tls.Certificate{inTurns(m.own)}, ClientAuth: i.settings.ClientAuth, ClientCAs: m.trust,
		MinVersion: max(tls.VersionTLS12, i.settings.Min), MaxVersion: i.settings.Max, CipherSuites: i.settings.Ciphers,
		// A ticket would let a client in that is trusted no more.
		SessionTicketsDisabled: true,
		// Answers are large; the small records that are for pages of the web would only cost.
		DynamicRecordSizingDisabled: true,
	}
	return c
}
