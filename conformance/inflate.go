package conformance

import "github.com/twmb/franz-go/pkg/kgo"

// inflate reads the records of a compressed batch as franz-go's client does.
func inflate(codec int64, compressed []byte) ([]byte, error) {
	return kgo.DefaultDecompressor().Decompress(compressed, kgo.CompressionCodecType(codec))
}
