package segments

import (
	"errors"
	"io"
)

// Inflate gives what a client compressed, as a whole; more than most bytes of it are an error. It waits while as many streams
// are open in the process as may be.
//
//fuzz:parser class=inflate FuzzInflate
func Inflate(codec Codec, compressed []byte, most int) ([]byte, error) {
	src, err := openSource(codec, compressed)
	if err != nil {
		return nil, err
	}
	defer src.close()
	var all []byte
	for {
		chunk, err := src.next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		if len(all)+len(chunk) > most {
			return nil, refuse(InflateLimit, "inflate %d bytes: they become more than %d", len(compressed), most)
		}
		all = append(all, chunk...)
	}
}
