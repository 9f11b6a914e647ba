package wire

import (
	"reflect"
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// validText is bytes as a string in which every malformed sequence is U+FFFD, as Java decodes them: names that Kafka
// cannot tell apart are the same name here too, and no text that is not UTF-8 gets any further.
//
//fuzz:parser class=body FuzzValidText
func validText(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	to := make([]byte, 0, len(b)+8)
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n <= 1 {
			n = malformed(b)
		}
		to = utf8.AppendRune(to, r)
		b = b[n:]
	}
	return string(to)
}

// malformed is the length of the malformed sequence that b begins with: as much as could begin a character, and all of
// an encoded surrogate.
func malformed(b []byte) int {
	lead := b[0]
	if lead < 0xe0 || lead > 0xf4 || len(b) < 2 || !continues(b[1]) {
		return 1
	}
	if lead == 0xe0 && b[1] < 0xa0 || lead == 0xf0 && b[1] < 0x90 || lead == 0xf4 && b[1] > 0x8f {
		return 1
	}
	if len(b) < 3 || !continues(b[2]) {
		return 2
	}
	return 3
}

func continues(b byte) bool { return b&0xc0 == 0x80 }

// mendText makes every string of a decoded request valid.
func mendText(body kmsg.Request) { mendValue(reflect.ValueOf(body).Elem()) }

func mendValue(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() && !utf8.ValidString(v.String()) {
			v.SetString(validText([]byte(v.String())))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			mendValue(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			mendValue(v.Field(i))
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		for i := range v.Len() {
			mendValue(v.Index(i))
		}
	}
}
