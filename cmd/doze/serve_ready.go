package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// readyFile is the file that has the ready line while the broker is ready; "" for none.
type readyFile string

// prepare removes what an earlier run left, and finds out whether the file can be written.
func (f readyFile) prepare() error {
	if f == "" || f.special() {
		return nil
	}
	if info, err := os.Stat(string(f)); err == nil && info.IsDir() {
		return fmt.Errorf("ready file %s is a directory; name a file in it", f)
	}
	probe, err := f.beside("")
	if err == nil {
		err = os.Remove(probe)
	}
	if err == nil {
		err = f.remove()
	}
	if err != nil {
		return fmt.Errorf("prepare the ready file: %w; name a file in a directory that you may write to", err)
	}
	return nil
}

// special tells a device or a pipe, which is written to and left alone.
func (f readyFile) special() bool {
	info, err := os.Stat(string(f))
	return err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// write makes the file at once with all of the line.
func (f readyFile) write(line string) error {
	if f == "" {
		return nil
	}
	err := f.put(line + "\n")
	if err != nil {
		return fmt.Errorf("write the ready file: %w; name a file in a directory that you may write to", err)
	}
	return nil
}

func (f readyFile) put(text string) error {
	if f.special() {
		return os.WriteFile(string(f), []byte(text), 0o644) //nolint:gosec // it is for others to read
	}
	name, err := f.beside(text)
	if err != nil {
		return err
	}
	if err := os.Chmod(name, 0o644); err != nil { //nolint:gosec // it is for others to read
		return errors.Join(err, os.Remove(name))
	}
	if err := os.Rename(name, string(f)); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}

// beside makes a file with the text in the same directory.
func (f readyFile) beside(text string) (name string, err error) {
	made, err := os.CreateTemp(filepath.Dir(string(f)), "."+filepath.Base(string(f))+"-*")
	if err != nil {
		return "", err
	}
	_, err = made.WriteString(text)
	if err = errors.Join(err, made.Close()); err != nil {
		return "", errors.Join(err, os.Remove(made.Name()))
	}
	return made.Name(), nil
}

// remove takes the file away: the broker is not ready any more.
func (f readyFile) remove() error {
	if f == "" || f.special() {
		return nil
	}
	if err := os.Remove(string(f)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the ready file: %w", err)
	}
	return nil
}
