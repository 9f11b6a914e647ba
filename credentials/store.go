package credentials

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"iter"
	"maps"
	"strings"
	"sync"

	"doze/disk"
)

// Ref names a credential. It says nothing of it.
type Ref [16]byte

func (r Ref) String() string { return hex.EncodeToString(r[:]) }

// Max is the longest credential in bytes.
const Max = 8 << 10

const (
	magic     = "doze credential 1\n"
	decoyName = "decoy"
)

var table = crc32.MakeTable(crc32.Castagnoli)

// Store is the directory. Its methods may be called from any goroutine.
type Store struct {
	fs  disk.FS
	dir string

	changing sync.Mutex // of files that are there; who holds it may take mu

	mu     sync.RWMutex
	known  map[Ref][]byte
	files  map[Ref]bool // those that cannot be read too
	packs  map[Ref]*pack
	broken []string // packs that cannot be read
}

// Open reads the directory, which need not be there.
func Open(fsys disk.FS, dir string) (*Store, error) {
	s := &Store{fs: fsys, dir: dir, known: map[Ref][]byte{}, files: map[Ref]bool{}, packs: map[Ref]*pack{}}
	entries, err := fsys.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read credentials: %w", err)
	}
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue // no file of ours; who opens a pipe waits for ever
		}
		if err := s.load(e.Name()); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// load takes a file in. The half-written copy that a crash left goes; a damaged file stays unknown.
func (s *Store) load(name string) error {
	if strings.HasSuffix(name, ".new") {
		return s.fs.Remove(s.path(name))
	}
	if strings.HasSuffix(name, packSuffix) {
		s.loadPack(name)
		return nil
	}
	var ref Ref
	if n, err := hex.Decode(ref[:], []byte(name)); err != nil || n != len(ref) {
		return nil
	}
	s.files[ref] = true
	content, err := disk.ReadFile(s.fs, s.path(name), Max+int64(len(magic))+4)
	if err != nil {
		return nil
	}
	if body, err := decode(content); err == nil {
		s.known[ref] = body
	}
	return nil
}

func (s *Store) path(name string) string { return s.dir + "/" + name }

// Put writes a credential. Once it returns the credential is on the disk, and an event may name the reference.
func (s *Store) Put(body []byte) (Ref, error) {
	if len(body) > Max {
		return Ref{}, fmt.Errorf("put a credential of %d bytes: at most %d", len(body), Max)
	}
	var ref Ref
	rand.Read(ref[:])
	if err := s.write(ref.String(), body); err != nil {
		return Ref{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known[ref], s.files[ref] = bytes.Clone(body), true
	return ref, nil
}

func (s *Store) write(name string, body []byte) error {
	if err := s.makeDir(); err != nil {
		return err
	}
	if err := disk.WriteFile(s.fs, s.dir, s.path(name), encode(body)); err != nil {
		return fmt.Errorf("write a credential: %w", err)
	}
	return nil
}

func (s *Store) makeDir() error {
	if err := s.fs.MkdirAll(s.dir); err != nil {
		return fmt.Errorf("make the directory of credentials: %w", err)
	}
	// The directory's own entry, and those above it, must outlast a power loss before an event names what is in it.
	for dir := s.dir; ; {
		parent, _, nested := cutLast(dir)
		if err := s.fs.SyncDir(parent); err != nil {
			return fmt.Errorf("sync the directory of credentials: %w", err)
		}
		if !nested {
			break
		}
		dir = parent
	}
	return nil
}

// cutLast gives a path's directory; "." for one without.
func cutLast(path string) (dir, name string, nested bool) {
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		return path[:i], path[i+1:], true
	}
	return ".", path, false
}

// Get gives a credential; false when it is missing or damaged.
func (s *Store) Get(ref Ref) ([]byte, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	body, known := s.known[ref]
	return body, known
}

// Remove removes credentials that nothing names any more.
func (s *Store) Remove(refs ...Ref) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	lone, packs := s.forget(refs)
	var errs []error
	for _, ref := range lone {
		if err := s.fs.Remove(s.path(ref.String())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("remove a credential: %w", err))
			continue
		}
		s.mu.Lock()
		delete(s.files, ref)
		s.mu.Unlock()
	}
	for _, p := range packs {
		errs = append(errs, s.shrink(p))
	}
	return errors.Join(errs...)
}

// forget takes credentials out of memory, and gives those that have a file of their own, and the packs of the others.
func (s *Store) forget(refs []Ref) (lone []Ref, packs []*pack) {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := map[*pack]bool{}
	for _, ref := range refs {
		delete(s.known, ref)
		if s.files[ref] {
			lone = append(lone, ref)
		}
		if p := s.packs[ref]; p != nil && !seen[p] {
			seen[p] = true
			packs = append(packs, p)
		}
	}
	return lone, packs
}

// Sweep removes every credential that is not named, and counts them.
func (s *Store) Sweep(named map[Ref]bool) (removed int, err error) {
	var unnamed []Ref
	missing := false
	s.mu.RLock()
	for _, refs := range []iter.Seq[Ref]{maps.Keys(s.files), maps.Keys(s.packs)} {
		for ref := range refs {
			if !named[ref] {
				unnamed = append(unnamed, ref)
			}
		}
	}
	for ref := range named {
		missing = missing || s.known[ref] == nil
	}
	s.mu.RUnlock()
	if err := s.Remove(unnamed...); err != nil {
		return 0, err
	}
	if missing { // it may be in a pack that cannot be read, which a person may want to look at
		return len(unnamed), nil
	}
	return len(unnamed), s.removeBroken()
}

// Decoy gives the secret that answers for unknown users are made of: the same at every start.
func (s *Store) Decoy() (secret [32]byte, err error) {
	content, err := disk.ReadFile(s.fs, s.path(decoyName), Max)
	if err == nil {
		if body, err := decode(content); err == nil && len(body) == len(secret) {
			return [32]byte(body), nil
		}
	}
	rand.Read(secret[:])
	return secret, s.write(decoyName, secret[:])
}

func encode(body []byte) []byte {
	b := append([]byte(magic), body...)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, table))
}

var errDamaged = errors.New("not a credential, or a damaged one")

// decode reads a file: magic, body, CRC32C of both.
//
//fuzz:parser class=snapshot FuzzCredential
func decode(content []byte) ([]byte, error) {
	end := len(content) - 4
	if end < len(magic) || string(content[:len(magic)]) != magic {
		return nil, errDamaged
	}
	if crc32.Checksum(content[:end], table) != binary.LittleEndian.Uint32(content[end:]) {
		return nil, errDamaged
	}
	return content[len(magic):end], nil
}
