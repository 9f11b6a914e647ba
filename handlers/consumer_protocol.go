package handlers

import "encoding/binary"

// consumerProtocolType is the protocol type of groups of consumers: the only one whose metadata the coordinator reads.
const consumerProtocolType = "consumer"

// parseSubscription reads the topics of a consumer's metadata in a classic group (ConsumerProtocolSubscription). Every
// version begins as version 0 does: version int16, topics as an array of strings, user data as nullable bytes.
//
//fuzz:parser class=payload FuzzParseSubscription
func parseSubscription(b []byte) (topics []string, ok bool) {
	version, b, ok := takeInt16(b)
	if !ok || version < 0 {
		return nil, false
	}
	count, b, ok := takeInt32(b)
	if !ok || count < 0 || int(count) > len(b)/2 { // a topic takes two bytes at least
		return nil, false
	}
	topics = make([]string, 0, count)
	for range count {
		var n int16
		if n, b, ok = takeInt16(b); !ok || n < 0 || int(n) > len(b) {
			return nil, false
		}
		topics, b = append(topics, string(b[:n])), b[n:]
	}
	n, b, ok := takeInt32(b)
	return topics, ok && int64(n) <= int64(len(b))
}

func takeInt16(b []byte) (int16, []byte, bool) {
	if len(b) < 2 {
		return 0, nil, false
	}
	return int16(binary.BigEndian.Uint16(b)), b[2:], true
}

func takeInt32(b []byte) (int32, []byte, bool) {
	if len(b) < 4 {
		return 0, nil, false
	}
	return int32(binary.BigEndian.Uint32(b)), b[4:], true
}
