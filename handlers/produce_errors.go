package handlers

import (
	"errors"

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
}

// notStored answers a batch that was refused by its content.
func notStored(partition int32, err error) kmsg.ProduceResponseTopicPartition {
	var wrong *segments.CheckError
	if !errors.As(err, &wrong) {
		return notProduced(partition, unknownServerError)
	}
	if wrong.Reason != segments.Rejected {
		return notProduced(partition, checkCodes[wrong.Reason])
	}
	answer := notProduced(partition, invalidRecord)
	if wrong.TimestampFault() {
		answer.ErrorCode = invalidTimestamp
		answer.ErrorMessage = text("One or more records have been rejected due to invalid timestamp")
	} else {
		answer.ErrorMessage = text("One or more records have been rejected")
	}
	for _, fault := range wrong.Faults {
		record := kmsg.NewProduceResponseTopicPartitionErrorRecord()
		record.RelativeOffset = fault.Index
		answer.ErrorRecords = append(answer.ErrorRecords, record)
	}
	return answer
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
