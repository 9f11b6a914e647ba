package recording

import (
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// The head of a record batch: offset (8), length (4), leader epoch (4), magic (1), CRC (4), then what the CRC covers.
const (
	lengthAt  = 8
	magicAt   = 16
	crcAt     = 17
	crcFrom   = 21
	batchHead = 61
)

// RecordsValue shows a records field: a list of batches, and as the last element, in hex, what is not a whole batch of
// magic 2.
//
//fuzz:parser class=batch FuzzRecordsValue
func RecordsValue(raw []byte) Value {
	if raw == nil {
		return nil
	}
	list := []Value{}
	for len(raw) > 0 {
		size := wholeBatch(raw)
		if size == 0 {
			return append(list, Value(hexPrefix+hex.EncodeToString(raw)))
		}
		list = append(list, batchValue(raw[:size]))
		raw = raw[size:]
	}
	return list
}

// wholeBatch gives the size of the batch that raw begins with, or 0.
func wholeBatch(raw []byte) int {
	if len(raw) < batchHead || raw[magicAt] != 2 {
		return 0
	}
	size := int64(int32(binary.BigEndian.Uint32(raw[lengthAt:]))) + lengthAt + 4
	if size < batchHead || size > int64(len(raw)) {
		return 0
	}
	return int(size)
}

func batchValue(raw []byte) Value {
	var b kmsg.RecordBatch
	if err := b.ReadFrom(raw); err != nil {
		return hexPrefix + hex.EncodeToString(raw)
	}
	crc := "good"
	if crc32.Checksum(raw[crcFrom:], crc32.MakeTable(crc32.Castagnoli)) != binary.BigEndian.Uint32(raw[crcAt:]) {
		crc = "bad"
	}
	return Object{
		{"FirstOffset", b.FirstOffset},
		{"LastOffsetDelta", int64(b.LastOffsetDelta)},
		{"PartitionLeaderEpoch", int64(b.PartitionLeaderEpoch)},
		{"CRC", crc},
		{"Attributes", int64(b.Attributes)},
		{"FirstTimestamp", b.FirstTimestamp},
		{"MaxTimestamp", b.MaxTimestamp},
		{"ProducerID", b.ProducerID},
		{"ProducerEpoch", int64(b.ProducerEpoch)},
		{"FirstSequence", int64(b.FirstSequence)},
		{"NumRecords", int64(b.NumRecords)},
		{"Records", payloadValue(b)},
	}
}

// payloadValue shows the records of a batch that is not compressed, else the compressed bytes.
func payloadValue(b kmsg.RecordBatch) Value {
	raw := hexPrefix + hex.EncodeToString(b.Records)
	if b.Attributes&0x7 != 0 {
		return raw
	}
	if list, ok := recordList(b.Records); ok {
		return list
	}
	return raw
}

func recordList(raw []byte) (list []Value, ok bool) {
	list = []Value{}
	for rest := raw; len(rest) > 0; {
		size := wholeRecord(rest)
		var r kmsg.Record
		if size == 0 || r.ReadFrom(rest[:size]) != nil {
			return nil, false
		}
		list = append(list, recordValue(r))
		rest = rest[size:]
	}
	return list, true
}

// Inflated shows the records of compressed batches in a value, where inflate can read them, instead of the compressed
// bytes: brokers that compress choose other bytes for the same records.
func Inflated(v Value, inflate func(codec int64, compressed []byte) ([]byte, error)) Value {
	switch v := v.(type) {
	case []Value:
		out := make([]Value, len(v))
		for i := range v {
			out[i] = Inflated(v[i], inflate)
		}
		return out
	case Object:
		out := make(Object, len(v))
		attributes, _ := v.Get("Attributes").(int64)
		for i, f := range v {
			text, isText := f.Value.(string)
			out[i] = Field{f.Name, Inflated(f.Value, inflate)}
			if hexed, is := strings.CutPrefix(text, hexPrefix); isText && is && f.Name == "Records" && attributes&0x7 != 0 {
				out[i].Value = inflatedList(f.Value, attributes&0x7, hexed, inflate)
			}
		}
		return out
	}
	return v
}

func inflatedList(v Value, codec int64, hexed string, inflate func(int64, []byte) ([]byte, error)) Value {
	raw, err := hex.DecodeString(hexed)
	if err != nil {
		return v
	}
	if raw, err = inflate(codec, raw); err != nil {
		return v
	}
	if list, ok := recordList(raw); ok {
		return list
	}
	return v
}

func wholeRecord(b []byte) int {
	n, used := binary.Varint(b)
	if used <= 0 || n < 0 || n > int64(len(b)-used) {
		return 0
	}
	return used + int(n)
}

func recordValue(r kmsg.Record) Value {
	headers := []Value{}
	for _, h := range r.Headers {
		headers = append(headers, Object{{"Key", h.Key}, {"Value", bytesValue(h.Value)}})
	}
	return Object{
		{"OffsetDelta", int64(r.OffsetDelta)},
		{"TimestampDelta", r.TimestampDelta64},
		{"Key", bytesValue(r.Key)},
		{"Value", bytesValue(r.Value)},
		{"Headers", headers},
	}
}
