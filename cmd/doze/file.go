package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"doze/configs"
)

// fileMax bounds a configuration file.
const fileMax = 1 << 20

// defaultFile is read from the working directory when it is there and no other is named.
const defaultFile = "doze.toml"

// fromFile reads the settings file: the one named, or doze.toml of the working directory, if there is one. It says which.
func fromFile(name string) (p place, read string, err error) {
	asked := name != ""
	if !asked {
		name = defaultFile
	}
	text, err := readBounded(name)
	if !asked && errors.Is(err, fs.ErrNotExist) {
		return newPlace(), "", nil
	}
	if err != nil {
		return place{}, "", fmt.Errorf("read settings: %w; name a file that can be read", err)
	}
	p, err = parseFile(name, text)
	return p, name, err
}

// readBounded reads a settings file that is no larger than one may be.
//
//fuzz:not-a-parser it reads a file whole; parseFile looks inside
func readBounded(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, fileMax+1))
	if err == nil && len(text) > fileMax {
		err = fmt.Errorf("%s has more than %d bytes", name, fileMax)
	}
	return text, err
}

// nestingMax bounds how deep a settings file may nest: properties are at most as deep as their names have dots.
const nestingMax = 64

// parseFile reads a settings file in TOML: the flags' names as keys, and Kafka's properties in the table [properties],
// quoted or not.
//
//fuzz:parser class=config FuzzSettingsFile
func parseFile(name string, text []byte) (place, error) {
	if err := checkNesting(text); err != nil {
		return place{}, fmt.Errorf("read settings %s: %w", name, err)
	}
	var content map[string]any
	if _, err := toml.Decode(string(text), &content); err != nil {
		return place{}, fmt.Errorf("read settings %s: %w; correct the file", name, err)
	}
	p := newPlace()
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(content)) {
		if key == "properties" {
			errs = append(errs, addProperties(p, name, content[key]))
			continue
		}
		s, known := findSetting(key)
		if !known {
			errs = append(errs, unknown(name, "key "+key, configs.Nearest(key, settingNames)))
			continue
		}
		values, err := tomlValues(content[key])
		if err == nil && len(values) == 0 {
			continue
		}
		if err == nil && len(values) > 1 && !s.list {
			err = errors.New("takes one value, not a list")
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: key %s: %w", name, key, err))
			continue
		}
		errs = append(errs, p.add(s, name+": "+key, values...))
	}
	return p, errors.Join(errs...)
}

// checkNesting refuses text that the TOML library would recurse deeply on.
func checkNesting(text []byte) error {
	depth := 0
	for _, c := range text {
		switch c {
		case '[', '{':
			if depth++; depth > nestingMax {
				return fmt.Errorf("nested deeper than %d", nestingMax)
			}
		case ']', '}':
			depth = max(depth-1, 0)
		}
	}
	return nil
}

func addProperties(p place, file string, content any) error {
	table, ok := content.(map[string]any)
	if !ok {
		return fmt.Errorf("%s: properties is not a table; write [properties] and a NAME = VALUE a line", file)
	}
	flat := map[string]string{}
	if err := flatten(flat, "", table); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(flat)) {
		errs = append(errs, p.addProperty(name, file+": "+name, flat[name]))
	}
	return errors.Join(errs...)
}

// flatten writes nested tables as dotted names: num.partitions without quotes is a table num with a key partitions.
func flatten(flat map[string]string, prefix string, table map[string]any) error {
	for key, v := range table {
		name := prefix + key
		if inner, ok := v.(map[string]any); ok {
			if err := flatten(flat, name+".", inner); err != nil {
				return err
			}
			continue
		}
		values, err := tomlValues(v)
		if err != nil {
			return fmt.Errorf("property %s: %w", name, err)
		}
		flat[name] = strings.Join(values, ",")
	}
	return nil
}

// tomlValues writes a TOML value, or each of an array of them, as a flag would have it.
func tomlValues(v any) ([]string, error) {
	switch v := v.(type) {
	case string:
		return []string{v}, nil
	case bool:
		return []string{strconv.FormatBool(v)}, nil
	case int64:
		return []string{strconv.FormatInt(v, 10)}, nil
	case float64:
		return []string{strconv.FormatFloat(v, 'g', -1, 64)}, nil
	case []any:
		var all []string
		for _, e := range v {
			one, err := tomlValues(e)
			if err != nil || len(one) != 1 {
				return nil, errors.New("is a list of something else than texts and numbers")
			}
			all = append(all, one...)
		}
		return all, nil
	case time.Time:
		return nil, errors.New("is a date; put it in quotes")
	}
	return nil, errors.New("is neither a text, a number, true or false, nor a list of them")
}

// fromProperties reads a file in Java's properties notation, such as Kafka's server.properties.
func fromProperties(name string) (place, error) {
	text, err := readBounded(name)
	if err != nil {
		return place{}, fmt.Errorf("read properties: %w; name a file that can be read", err)
	}
	properties, err := configs.ParseProperties(text)
	if err != nil {
		return place{}, fmt.Errorf("%s: %w; correct the line", name, err)
	}
	p := newPlace()
	var errs []error
	for _, one := range properties {
		delete(p.properties, one.Name) // in this notation the last one counts
		errs = append(errs, p.addProperty(one.Name, fmt.Sprintf("%s line %d", name, one.Line), one.Value))
	}
	return p, errors.Join(errs...)
}
