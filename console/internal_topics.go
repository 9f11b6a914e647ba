package console

import (
	"encoding/binary"
	"encoding/json"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Topics in which Kafka keeps its own state. doze has none: its state is the journal; a console in front of another Kafka shows them.
const (
	offsetsTopic      = "__consumer_offsets"
	transactionsTopic = "__transaction_state"
)

// maxInternal bounds the key or value of an internal topic that is decoded: its lists become values of some hundred bytes an item.
const maxInternal = 128 << 10

// Keys of internal topics begin with a number that says what the record is.
const (
	keyOffsetFirst  = 0
	keyOffset       = 1
	keyGroup        = 2
	keyTransactions = 0
)

// internal decodes the key, or the value, of a record of an internal topic; false: it is none, or of a kind that is not known.
//
//fuzz:parser class=payload FuzzInternalTopics
func internal(r *kgo.Record, value bool) (decoded, bool) {
	b := r.Key
	if value {
		b = r.Value
	}
	if len(r.Key) < 2 || b == nil || len(b) > maxInternal {
		return decoded{}, false
	}
	var as string
	var v any
	var err error
	switch kind := binary.BigEndian.Uint16(r.Key); {
	case r.Topic == offsetsTopic && (kind == keyOffsetFirst || kind == keyOffset):
		as, v, err = offsetState(b, value)
	case r.Topic == offsetsTopic && kind == keyGroup:
		as, v, err = groupState(b, value)
	case r.Topic == transactionsTopic && kind == keyTransactions:
		as, v, err = transactionState(b, value)
	default:
		return decoded{}, false
	}
	if err != nil {
		return decoded{}, false
	}
	var text strings.Builder
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err = e.Encode(v)
	return decoded{As: as, Text: strings.TrimSpace(text.String()), JSON: true, Size: len(b)}, err == nil
}

func offsetState(b []byte, value bool) (string, any, error) {
	if value {
		var v kmsg.OffsetCommitValue
		err := v.ReadFrom(b)
		return "committed offset", struct {
			Offset          int64  `json:"offset"`
			LeaderEpoch     int32  `json:"leaderEpoch"`
			Metadata        string `json:"metadata"`
			CommitTimestamp int64  `json:"commitTimestamp"`
		}{v.Offset, v.LeaderEpoch, v.Metadata, v.CommitTimestamp}, err
	}
	var k kmsg.OffsetCommitKey
	err := k.ReadFrom(b)
	return "offset of a group", struct {
		Group     string `json:"group"`
		Topic     string `json:"topic"`
		Partition int32  `json:"partition"`
	}{k.Group, k.Topic, k.Partition}, err
}

// stateMember is a member of a classic group, as it is shown.
type stateMember struct {
	MemberID   string `json:"memberId"`
	ClientID   string `json:"clientId"`
	ClientHost string `json:"clientHost"`
}

func groupState(b []byte, value bool) (string, any, error) {
	if !value {
		var k kmsg.GroupMetadataKey
		err := k.ReadFrom(b)
		return "group", struct {
			Group string `json:"group"`
		}{k.Group}, err
	}
	var v kmsg.GroupMetadataValue
	err := v.ReadFrom(b)
	members := []stateMember{}
	for _, m := range v.Members {
		members = append(members, stateMember{m.MemberID, m.ClientID, m.ClientHost})
	}
	return "state of a group", struct {
		ProtocolType string        `json:"protocolType"`
		Generation   int32         `json:"generation"`
		Protocol     *string       `json:"protocol"`
		Leader       *string       `json:"leader"`
		Members      []stateMember `json:"members"`
	}{v.ProtocolType, v.Generation, v.Protocol, v.Leader, members}, err
}

// transactionTopic are the partitions of a topic in an open transaction.
type transactionTopic struct {
	Topic      string  `json:"topic"`
	Partitions []int32 `json:"partitions"`
}

func transactionState(b []byte, value bool) (string, any, error) {
	if !value {
		var k kmsg.TxnMetadataKey
		err := k.ReadFrom(b)
		return "transactional id", struct {
			TransactionalID string `json:"transactionalId"`
		}{k.TransactionalID}, err
	}
	var v kmsg.TxnMetadataValue
	err := v.ReadFrom(b)
	topics := []transactionTopic{}
	for _, t := range v.Topics {
		topics = append(topics, transactionTopic{t.Topic, t.Partitions})
	}
	return "state of a transaction", struct {
		State               string             `json:"state"`
		ProducerID          int64              `json:"producerId"`
		ProducerEpoch       int16              `json:"producerEpoch"`
		TimeoutMillis       int32              `json:"timeoutMs"`
		Topics              []transactionTopic `json:"topics"`
		LastUpdateTimestamp int64              `json:"lastUpdateTimestamp"`
	}{v.State.String(), v.ProducerID, v.ProducerEpoch, v.TimeoutMillis, topics, v.LastUpdateTimestamp}, err
}
