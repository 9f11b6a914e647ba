package segments

// defaultLevels are those of Kafka's compression.*.level: what compaction writes does not go by the topic's.
var defaultLevels = [...]int{Gzip: -1, LZ4: lz4FastLevel, Zstd: 3}

// appendCompressed appends records in a codec's format at its default level.
func appendCompressed(b []byte, codec Codec, records []byte) ([]byte, error) {
	if codec == None {
		return append(b, records...), nil
	}
	out := openOutput(0)
	defer out.done()
	to := openEncoder(Compression{Codec: codec, Level: defaultLevels[codec]}, out)
	defer to.close()
	for len(records) > 0 {
		n := min(len(records), to.blockBytes())
		if err := to.write(records[:n]); err != nil {
			return b, err
		}
		records = records[n:]
	}
	if err := to.end(); err != nil {
		return b, err
	}
	return append(b, out.bytes...), nil
}
