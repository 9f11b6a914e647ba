package handlers

import (
	"errors"
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/segments"
)

// errProduceUnheard closes the connection of a producer that wants no answer and whose batch was refused: Kafka's only way
// to say so.
var errProduceUnheard = errors.New("a produce request with acks=0 failed, and nothing else can tell its client")

// checkCodes are Kafka's codes for what CheckBatch finds.
var checkCodes = map[segments.Reason]int16{
	segments.NoBatch: invalidRecord, segments.MoreBatches: invalidRecord, segments.OldFormat: invalidRecord,
	segments.Corrupt: corruptMessage, segments.BadHeader: invalidRecord, segments.BatchTooLarge: messageTooLarge,
	segments.ZstdTooEarly: unsupportedCompressionType, segments.UnknownCodec: unknownServerError,
	segments.Undecodable: unknownServerError, segments.InflateLimit: messageTooLarge, segments.BadRecord: invalidRecord,
	segments.BadLength: unknownServerError, segments.Unstorable: unknownServerError, segments.Rejected: invalidRecord,
}

// checkRefusal is the code for what a check found, with the text that Kafka sends when it fails the whole request for it;
// nil without an error.
func checkRefusal(err error) *refusal {
	if err == nil {
		return nil
	}
	var wrong *segments.CheckError
	if !errors.As(err, &wrong) {
		return &refusal{code: unknownServerError}
	}
	if wrong.Reason == segments.Corrupt {
		return refuse(corruptMessage, wrong.Detail)
	}
	return &refusal{code: checkCodes[wrong.Reason]}
}

// noLogStart are the errors with which Kafka does not tell the log's start: those it expects of a log.
var noLogStart = map[int16]bool{
	corruptMessage: true, unknownTopicOrPartition: true, notLeaderOrFollower: true, messageTooLarge: true,
	recordListTooLarge: true, kafkaStorageError: true,
}

// notAppended is notProduced for a batch that got as far as its log.
func notAppended(log *segments.Partition, partition int32, code int16) kmsg.ProduceResponseTopicPartition {
	answer := notProduced(partition, code)
	if noLogStart[code] {
		return answer
	}
	if offsets, err := log.Offsets(); err == nil {
		answer.LogStartOffset = offsets.LogStart
	}
	return answer
}

// notStored answers a batch that was refused by its content.
func notStored(slot *placed, partition int32, rules *segments.Rules, err error) kmsg.ProduceResponseTopicPartition {
	answer := notAppended(slot.log, partition, checkRefusal(err).code)
	var wrong *segments.CheckError
	if !errors.As(err, &wrong) || wrong.Reason != segments.Rejected {
		return answer
	}
	for _, fault := range wrong.Faults {
		record := kmsg.NewProduceResponseTopicPartitionErrorRecord()
		record.RelativeOffset = fault.Index
		record.ErrorMessage = text(faultText(fault, wrong.Codec, fmt.Sprintf("%s-%d", slot.known.Name, partition), rules))
		answer.ErrorRecords = append(answer.ErrorRecords, record)
	}
	answer.ErrorMessage = text(rejectedText(wrong.Total, answer.ErrorRecords))
	if wrong.TimestampFault() {
		answer.ErrorCode = invalidTimestamp
		answer.ErrorMessage = text("One or more records have been rejected due to invalid timestamp")
	}
	return answer
}

// faultText says of one record what Kafka says of it.
func faultText(f segments.RecordFault, codec segments.Codec, partition string, rules *segments.Rules) string {
	switch f.Kind {
	case segments.NoKey:
		return "Compacted topic cannot accept message without key in topic partition " + partition
	case segments.TimestampRange:
		return fmt.Sprintf("Timestamp %d of message with offset %d is out of range. The timestamp should be within [%d, %d]",
			f.Timestamp, f.Index, rules.Now-rules.BeforeMaxMs, rules.Now+rules.AfterMaxMs)
	}
	record, key, value := "DefaultRecord", max(f.KeyBytes, 0), max(f.ValueBytes, 0)
	if codec != segments.None { // Kafka does not read keys and values there, and shows null as it stands
		record, key, value = "PartialDefaultRecord", f.KeyBytes, f.ValueBytes
	}
	return fmt.Sprintf("Invalid timestamp type in message %s(offset=%d, timestamp=%d, key=%d bytes, value=%d bytes). "+
		"Producer should not set timestamp type to LogAppendTime.", record, f.Index, f.Timestamp, key, value)
}

// rejectedText lists the first records that were refused.
func rejectedText(total int, records []kmsg.ProduceResponseTopicPartitionErrorRecord) string {
	var shown []string
	for _, r := range records[:min(3, len(records))] {
		shown = append(shown, fmt.Sprintf("RecordError(batchIndex=%d, message='%s')", r.RelativeOffset, *r.ErrorMessage))
	}
	return fmt.Sprintf("One or more records have been rejected due to %d record errors in total, and only showing the first "+
		"three errors at most: [%s]", total, strings.Join(shown, ", "))
}

// appendCode is Kafka's code for a batch that the log refused.
func appendCode(err error) int16 {
	var producer *segments.ProducerError
	switch {
	case errors.As(err, &producer):
		return producerCode(producer.Kind)
	case errors.Is(err, segments.ErrLargerThanSegment):
		return recordListTooLarge
	}
	return storageCode(err)
}

func producerCode(kind segments.ProducerErrorKind) int16 {
	switch kind {
	case segments.OutOfOrder:
		return outOfOrderSequenceNumber
	case segments.InvalidEpoch:
		return invalidProducerEpoch
	case segments.CoordinatorFenced:
		return transactionCoordinatorFenced
	}
	return invalidTxnState
}

// storageCode is Kafka's code for a log that cannot be used.
func storageCode(err error) int16 {
	switch {
	case err == nil:
		return none
	case errors.Is(err, segments.ErrOffsetOutOfRange):
		return offsetOutOfRange
	case errors.Is(err, segments.ErrRemoved):
		return unknownTopicOrPartition
	case errors.Is(err, segments.ErrStorage):
		return kafkaStorageError
	}
	return unknownServerError
}

// readCode is storageCode as a client of the version understands it: before v6 a storage error is not known.
func readCode(err error, version int16) int16 {
	code := storageCode(err)
	if code == kafkaStorageError && version <= 5 {
		return notLeaderOrFollower
	}
	return code
}
