package handlers

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// The transactional rows of onFailingDisk ask about a transaction that openTxn has begun.

// openTxn begins the transaction of "txn" with a partition and a group.
func openTxn(t *testing.T, c *testConn) {
	t.Helper()
	codes := []int16{initTxn(c, "txn"), addToTxn(c, 0), addGroupToTxn(c, "empty")}
	for i, code := range codes {
		if code != none {
			t.Fatalf("step %d: code %d", i, code)
		}
	}
}

// identityOf is the producer of a transactional id as DescribeTransactions shows it.
func identityOf(c *testConn, id string) producerIdentity {
	req := kmsg.NewPtrDescribeTransactionsRequest()
	req.TransactionalIDs = []string{id}
	s := request[*kmsg.DescribeTransactionsResponse](c, req, 0).TransactionStates[0]
	return producerIdentity{s.ProducerID, s.ProducerEpoch}
}

func initTxn(c *testConn, id string) int16 {
	req := kmsg.NewPtrInitProducerIDRequest()
	req.TransactionalID, req.TransactionTimeoutMillis, req.ProducerID, req.ProducerEpoch = &id, 60_000, -1, -1
	return request[*kmsg.InitProducerIDResponse](c, req, 4).ErrorCode
}

func addToTxn(c *testConn, partition int32) int16 {
	p, req := identityOf(c, "txn"), kmsg.NewPtrAddPartitionsToTxnRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch = "txn", p.id, p.epoch
	req.Topics = []kmsg.AddPartitionsToTxnRequestTopic{{Topic: "orders", Partitions: []int32{partition}}}
	return request[*kmsg.AddPartitionsToTxnResponse](c, req, 3).Topics[0].Partitions[0].ErrorCode
}

func addGroupToTxn(c *testConn, group string) int16 {
	p, req := identityOf(c, "txn"), kmsg.NewPtrAddOffsetsToTxnRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Group = "txn", p.id, p.epoch, group
	return request[*kmsg.AddOffsetsToTxnResponse](c, req, 3).ErrorCode
}

func stageInTxn(c *testConn) int16 {
	p, req := identityOf(c, "txn"), kmsg.NewPtrTxnOffsetCommitRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Group, req.Generation = "txn", p.id, p.epoch, "empty", -1
	req.Topics = []kmsg.TxnOffsetCommitRequestTopic{{Topic: "orders", Partitions: []kmsg.TxnOffsetCommitRequestTopicPartition{{Partition: 1, Offset: 3}}}}
	return request[*kmsg.TxnOffsetCommitResponse](c, req, 3).Topics[0].Partitions[0].ErrorCode
}

func endTxnOf(c *testConn) int16 {
	p, req := identityOf(c, "txn"), kmsg.NewPtrEndTxnRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Commit = "txn", p.id, p.epoch, true
	return request[*kmsg.EndTxnResponse](c, req, 5).ErrorCode
}

func setTxnVersion(c *testConn) int16 {
	req := kmsg.NewPtrUpdateFeaturesRequest()
	update := kmsg.NewUpdateFeaturesRequestFeatureUpdate()
	update.Feature, update.MaxVersionLevel, update.UpgradeType = transactionVersion, 2, upgradeOnly
	req.FeatureUpdates = append(req.FeatureUpdates, update)
	return request[*kmsg.UpdateFeaturesResponse](c, req, 1).ErrorCode
}
