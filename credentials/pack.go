package credentials

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"slices"

	"doze/disk"
)

// A pack is a file of many credentials, so that a request that sets 10,000 users does not wait for 10,000 files to reach the
// disk. It is written whole, and anew without those of its credentials that nothing names any more:
//
//	magic | n times: ref (16 bytes), length (uint16), credential | CRC32C of all before
type pack struct {
	name string
	refs []Ref // that are in the file, in its order
}

const (
	packMagic  = "doze credentials 1\n"
	packSuffix = ".pack"
	// packMax bounds what is written anew when one of them goes.
	packMax = 256
	// packBytes bounds the file.
	packBytes = int64(len(packMagic)) + packMax*(packHead+Max) + 4
	packHead  = int64(len(Ref{})) + 2
)

// packed is a credential with its name.
type packed struct {
	ref  Ref
	body []byte
}

// PutAll writes credentials, and gives their references in the same order. Once it returns all are on the disk. With an
// error it gives the references of those that are.
func (s *Store) PutAll(bodies [][]byte) ([]Ref, error) {
	if len(bodies) == 1 {
		ref, err := s.Put(bodies[0])
		if err != nil {
			return nil, err
		}
		return []Ref{ref}, nil
	}
	for _, body := range bodies {
		if len(body) > Max {
			return nil, fmt.Errorf("put a credential of %d bytes: at most %d", len(body), Max)
		}
	}
	if err := s.makeDir(); err != nil {
		return nil, err
	}
	refs := make([]Ref, 0, len(bodies))
	for some := range slices.Chunk(bodies, packMax) {
		put, err := s.putPack(some)
		if err != nil {
			return refs, err
		}
		refs = append(refs, put...)
	}
	return refs, nil
}

func (s *Store) putPack(bodies [][]byte) ([]Ref, error) {
	list := make([]packed, len(bodies))
	p := &pack{refs: make([]Ref, len(bodies))}
	for i, body := range bodies {
		rand.Read(list[i].ref[:])
		list[i].body, p.refs[i] = bytes.Clone(body), list[i].ref
	}
	p.name = p.refs[0].String() + packSuffix
	if err := s.writePack(p.name, list); err != nil {
		return nil, err
	}
	s.keep(p, list)
	return p.refs, nil
}

func (s *Store) writePack(name string, list []packed) error {
	if err := disk.WriteFile(s.fs, s.dir, s.path(name), encodePack(list)); err != nil {
		return fmt.Errorf("write credentials: %w", err)
	}
	return nil
}

func (s *Store) keep(p *pack, list []packed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range list {
		s.known[one.ref], s.packs[one.ref] = one.body, p
	}
}

// loadPack takes a pack in. What is in a damaged one stays unknown.
func (s *Store) loadPack(name string) {
	content, err := disk.ReadFile(s.fs, s.path(name), packBytes)
	if err != nil {
		s.broken = append(s.broken, name)
		return
	}
	list, err := decodePack(content)
	if err != nil {
		s.broken = append(s.broken, name)
		return
	}
	p := &pack{name: name}
	for _, one := range list {
		p.refs = append(p.refs, one.ref)
	}
	s.keep(p, list)
}

// shrink writes a pack without what was forgotten, or removes it.
func (s *Store) shrink(p *pack) error {
	var list []packed
	var gone []Ref
	s.mu.RLock()
	for _, ref := range p.refs {
		if body, kept := s.known[ref]; kept {
			list = append(list, packed{ref, body})
		} else {
			gone = append(gone, ref)
		}
	}
	s.mu.RUnlock()
	if len(list) > 0 {
		if err := s.writePack(p.name, list); err != nil {
			return err
		}
	} else if err := s.fs.Remove(s.path(p.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove credentials: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ref := range gone {
		delete(s.packs, ref)
	}
	p.refs = slices.DeleteFunc(p.refs, func(ref Ref) bool { return s.packs[ref] != p })
	return nil
}

func (s *Store) removeBroken() error {
	for _, name := range s.broken {
		if err := s.fs.Remove(s.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove damaged credentials: %w", err)
		}
	}
	s.broken = nil
	return nil
}

func encodePack(list []packed) []byte {
	b := []byte(packMagic)
	for _, one := range list {
		b = append(b, one.ref[:]...)
		b = binary.LittleEndian.AppendUint16(b, uint16(len(one.body)))
		b = append(b, one.body...)
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, table))
}

// decodePack reads a pack. Its credentials are bytes of content.
//
//fuzz:parser class=snapshot FuzzPack
func decodePack(content []byte) ([]packed, error) {
	rest, ok := bytes.CutPrefix(content, []byte(packMagic))
	end := len(rest) - 4
	if !ok || end < 0 || crc32.Checksum(content[:len(content)-4], table) != binary.LittleEndian.Uint32(rest[end:]) {
		return nil, errDamaged
	}
	var list []packed
	for rest = rest[:end]; len(rest) > 0; {
		if int64(len(rest)) < packHead || len(list) == packMax {
			return nil, errDamaged
		}
		one := packed{ref: Ref(rest[:16])}
		size := int(binary.LittleEndian.Uint16(rest[16:packHead]))
		rest = rest[packHead:]
		if size > min(len(rest), Max) {
			return nil, errDamaged
		}
		one.body, rest = rest[:size:size], rest[size:]
		list = append(list, one)
	}
	return list, nil
}
