package registry

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
)

// unmarshal reads JSON as the reference's library does: a number or a switch may stand where a text is asked for, and a text or a
// fraction where a number or a switch is. Scripts send "version": "1".
//
//fuzz:parser class=http FuzzRequests
func unmarshal(raw []byte, into any) error {
	err := json.Unmarshal(raw, into)
	if _, isType := err.(*json.UnmarshalTypeError); !isType {
		return err
	}
	var tree any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if dec.Decode(&tree) != nil {
		return err
	}
	t := reflect.TypeOf(into).Elem()
	loose, marshalErr := json.Marshal(loosen(tree, t))
	if marshalErr != nil {
		return err
	}
	reflect.ValueOf(into).Elem().Set(reflect.Zero(t))
	return json.Unmarshal(loose, into)
}

// loosen puts what the type asks for in the place of other scalars. What cannot be is left.
func loosen(v any, t reflect.Type) any {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch v := v.(type) {
	case map[string]any:
		loosenMembers(v, t)
	case []any:
		if t.Kind() == reflect.Slice {
			for i := range v {
				v[i] = loosen(v[i], t.Elem())
			}
		}
	case json.Number:
		return loosenNumber(v, t.Kind())
	case string:
		return loosenText(v, t.Kind())
	case bool:
		if t.Kind() == reflect.String {
			return strconv.FormatBool(v)
		}
	}
	return v
}

func loosenMembers(members map[string]any, t reflect.Type) {
	switch t.Kind() {
	case reflect.Map:
		for key := range members {
			members[key] = loosen(members[key], t.Elem())
		}
	case reflect.Struct:
		for i := range t.NumField() {
			name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			if v, has := members[name]; has {
				members[name] = loosen(v, t.Field(i).Type)
			}
		}
	}
}

func loosenNumber(n json.Number, to reflect.Kind) any {
	switch to {
	case reflect.String:
		return n.String()
	case reflect.Bool:
		return strings.Trim(n.String(), "-0") != ""
	case reflect.Int32:
		if f, err := n.Float64(); err == nil && f > -1<<31 && f < 1<<31 {
			return int32(f)
		}
	}
	return n
}

func loosenText(text string, to reflect.Kind) any {
	s := strings.TrimSpace(text)
	switch to {
	case reflect.Bool:
		switch strings.ToLower(s) {
		case "true":
			return true
		case "false":
			return false
		case "":
			return nil
		}
	case reflect.Int32:
		if n, err := strconv.ParseInt(s, 10, 32); err == nil {
			return int32(n)
		}
		if s == "" {
			return nil
		}
	}
	return text
}
