package schedules

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// makeTopic creates the schedule's topic and waits until it can be read.
func (s *schedule) makeTopic() error {
	resp, err := s.late.ask(4, createRequest(s.topic))
	if err != nil {
		return err
	}
	if code := resp.(*kmsg.CreateTopicsResponse).Topics[0].ErrorCode; code != 0 {
		return fmt.Errorf("create topic %s: error %d", s.topic, code)
	}
	return s.until("its topic", func() (bool, error) {
		for partition := range int32(partitions) {
			resp, err := s.late.ask(11, fetchRequest(s.topic, partition, 0, 0))
			if err != nil {
				return false, err
			}
			topics := resp.(*kmsg.FetchResponse).Topics
			if len(topics) != 1 || topics[0].Partitions[0].ErrorCode != 0 {
				return false, nil
			}
		}
		return true, nil
	})
}

// awaitGroups waits until the coordinator of groups is there: Kafka makes its topic when it is first looked for.
func (s *schedule) awaitGroups() error {
	return s.until("the coordinator of groups", func() (bool, error) {
		find := kmsg.NewPtrFindCoordinatorRequest()
		find.CoordinatorKey = s.clients[0].group()
		if _, err := s.late.ask(3, find); err != nil {
			return false, err
		}
		resp, err := s.late.ask(7, offsetFetchRequest(s.clients[0], s.topic))
		if err != nil {
			return false, err
		}
		return resp.(*kmsg.OffsetFetchResponse).ErrorCode == 0, nil
	})
}

// settle waits until the markers of a transaction that is ending are written, so that one outcome is possible only.
func (s *schedule) settle(txn string) error {
	return s.until("the end of "+txn, func() (bool, error) {
		state, err := s.state(txn)
		return state != "PrepareCommit" && state != "PrepareAbort", err
	})
}

func (s *schedule) state(txn string) (string, error) {
	resp, err := s.late.ask(0, describeRequest(txn))
	if err != nil {
		return "", err
	}
	return resp.(*kmsg.DescribeTransactionsResponse).TransactionStates[0].State, nil
}

func (s *schedule) until(what string, ok func() (bool, error)) error {
	for deadline := time.Now().Add(patience); ; time.Sleep(2 * time.Millisecond) {
		there, err := ok()
		if err != nil || there {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s did not come within %s", what, patience)
		}
	}
}

// codeOf gives the one error code of an answer.
func codeOf(resp kmsg.Response) int16 {
	switch r := resp.(type) {
	case *kmsg.AddPartitionsToTxnResponse:
		return r.Topics[0].Partitions[0].ErrorCode
	case *kmsg.AddOffsetsToTxnResponse:
		return r.ErrorCode
	case *kmsg.ProduceResponse:
		return r.Topics[0].Partitions[0].ErrorCode
	case *kmsg.TxnOffsetCommitResponse:
		return r.Topics[0].Partitions[0].ErrorCode
	case *kmsg.EndTxnResponse:
		return r.ErrorCode
	}
	panic(fmt.Sprintf("%T has no code here", resp))
}

// told shows what an answer says.
func told(resp kmsg.Response) string {
	code := codeOf(resp)
	if code != 0 {
		return fmt.Sprint("error ", code)
	}
	switch r := resp.(type) {
	case *kmsg.ProduceResponse:
		return fmt.Sprint("at ", r.Topics[0].Partitions[0].BaseOffset)
	case *kmsg.EndTxnResponse:
		if r.GetVersion() >= 5 {
			return fmt.Sprint("epoch ", r.ProducerEpoch)
		}
	}
	return "ok"
}

// read gives the values of a partition that a reader of this isolation level gets, with the offsets that it is told.
func (s *schedule) read(partition int32, level int8) (values []string, lso, hw int64, err error) {
	resp, err := s.late.ask(11, fetchRequest(s.topic, partition, 0, level))
	if err != nil {
		return nil, 0, 0, err
	}
	p := resp.(*kmsg.FetchResponse).Topics[0].Partitions[0]
	if p.ErrorCode != 0 {
		return nil, 0, 0, fmt.Errorf("read partition %d: error %d", partition, p.ErrorCode)
	}
	values, err = visible(p)
	return values, p.LastStableOffset, p.HighWatermark, err
}

// visible reads batches as a consumer does: those of an aborted transaction are left out, up to its marker. The list of
// aborted transactions is in the order of their markers, and is needed in that of their first offsets.
func visible(p kmsg.FetchResponseTopicPartition) ([]string, error) {
	var values []string
	aborted := map[int64]bool{}
	list := slices.Clone(p.AbortedTransactions)
	slices.SortFunc(list, func(a, b kmsg.FetchResponseTopicPartitionAbortedTransaction) int {
		return cmp.Compare(a.FirstOffset, b.FirstOffset)
	})
	for raw := p.RecordBatches; len(raw) > 0; {
		var b kmsg.RecordBatch
		if err := b.ReadFrom(raw); err != nil {
			return nil, fmt.Errorf("decode a batch: %w", err)
		}
		raw = raw[12+b.Length:]
		for len(list) > 0 && list[0].FirstOffset <= b.FirstOffset+int64(b.LastOffsetDelta) {
			aborted[list[0].ProducerID] = true
			list = list[1:]
		}
		const isControl = 1 << 5
		switch {
		case b.Attributes&isControl != 0:
			delete(aborted, b.ProducerID)
		case !aborted[b.ProducerID]:
			var r kmsg.Record
			if err := r.ReadFrom(b.Records); err != nil {
				return nil, fmt.Errorf("decode a record: %w", err)
			}
			values = append(values, string(r.Value))
		}
	}
	return values, nil
}
