package handlers

// Kafka's error codes (org.apache.kafka.common.protocol.Errors), under Kafka's names.
const (
	unknownServerError                 int16 = -1
	none                               int16 = 0
	offsetOutOfRange                   int16 = 1
	corruptMessage                     int16 = 2
	unknownTopicOrPartition            int16 = 3
	leaderNotAvailable                 int16 = 5
	notLeaderOrFollower                int16 = 6
	requestTimedOut                    int16 = 7
	messageTooLarge                    int16 = 10
	offsetMetadataTooLarge             int16 = 12
	coordinatorNotAvailable            int16 = 15
	notCoordinator                     int16 = 16
	invalidTopicException              int16 = 17
	recordListTooLarge                 int16 = 18
	notEnoughReplicas                  int16 = 19
	invalidRequiredAcks                int16 = 21
	illegalGeneration                  int16 = 22
	inconsistentGroupProtocol          int16 = 23
	invalidGroupID                     int16 = 24
	unknownMemberID                    int16 = 25
	invalidSessionTimeout              int16 = 26
	rebalanceInProgress                int16 = 27
	invalidCommitOffsetSize            int16 = 28
	invalidTimestamp                   int16 = 32
	unsupportedVersion                 int16 = 35
	topicAlreadyExists                 int16 = 36
	invalidPartitions                  int16 = 37
	invalidReplicationFactor           int16 = 38
	invalidReplicaAssignment           int16 = 39
	invalidConfig                      int16 = 40
	invalidRequest                     int16 = 42
	unsupportedForMessageFormat        int16 = 43
	policyViolation                    int16 = 44
	outOfOrderSequenceNumber           int16 = 45
	invalidProducerEpoch               int16 = 47
	invalidTxnState                    int16 = 48
	invalidTransactionTimeout          int16 = 50
	concurrentTransactions             int16 = 51
	transactionCoordinatorFenced       int16 = 52
	invalidProducerIDMapping           int16 = 49
	transactionalIDAuthorizationFailed int16 = 53
	topicAuthorizationFailed           int16 = 29
	groupAuthorizationFailed           int16 = 30
	clusterAuthorizationFailed         int16 = 31
	securityDisabled                   int16 = 54
	delegationTokenAuthorizationFailed int16 = 65
	operationNotAttempted              int16 = 55
	kafkaStorageError                  int16 = 56
	logDirNotFound                     int16 = 57
	unknownProducerID                  int16 = 59
	nonEmptyGroup                      int16 = 68
	groupIDNotFound                    int16 = 69
	fetchSessionIDNotFound             int16 = 70
	invalidFetchSessionEpoch           int16 = 71
	topicDeletionDisabled              int16 = 73
	fencedLeaderEpoch                  int16 = 74
	unknownLeaderEpoch                 int16 = 75
	unsupportedCompressionType         int16 = 76
	memberIDRequired                   int16 = 79
	groupMaxSizeReached                int16 = 81
	fencedInstanceID                   int16 = 82
	groupSubscribedToTopic             int16 = 86
	invalidRecord                      int16 = 87
	unstableOffsetCommit               int16 = 88
	producerFenced                     int16 = 90
	invalidUpdateVersion               int16 = 95
	featureUpdateFailed                int16 = 96
	unknownTopicID                     int16 = 100
	transactionalIDNotFound            int16 = 105
	inconsistentTopicID                int16 = 103
	fetchSessionTopicIDError           int16 = 106
	mismatchedEndpointType             int16 = 114
	unsupportedEndpointType            int16 = 115
	transactionAbortable               int16 = 120
	fencedMemberEpoch                  int16 = 110
	unreleasedInstanceID               int16 = 111
	unsupportedAssignor                int16 = 112
	staleMemberEpoch                   int16 = 113
	invalidRecordState                 int16 = 121
	shareSessionNotFound               int16 = 122
	invalidShareSessionEpoch           int16 = 123
	throttlingQuotaExceeded            int16 = 89
	invalidRegularExpression           int16 = 128
	streamsInvalidTopology             int16 = 130
	unknownSubscriptionID              int16 = 117
	telemetryTooLarge                  int16 = 118
	shareSessionLimitReached           int16 = 133
	electionNotNeeded                  int16 = 84
	noReassignmentInProgress           int16 = 85
	brokerIDNotRegistered              int16 = 102
	inconsistentClusterID              int16 = 104
	duplicateVoter                     int16 = 126
	voterNotFound                      int16 = 127
	unsupportedSASLMechanism           int16 = 33
	illegalSASLState                   int16 = 34
	saslAuthenticationFailed           int16 = 58
	delegationTokenAuthDisabled        int16 = 61
	delegationTokenNotFound            int16 = 62
	delegationTokenOwnerMismatch       int16 = 63
	delegationTokenRequestNotAllowed   int16 = 64
	delegationTokenExpired             int16 = 66
	invalidPrincipalType               int16 = 67
	resourceNotFound                   int16 = 91
	duplicateResource                  int16 = 92
	unacceptableCredential             int16 = 93
)

// refusal is what a decision answers instead of its result: Kafka's code and, where the protocol has a place for it, the
// text that Kafka sends (nil where Kafka sends null).
type refusal struct {
	code    int16
	message *string
}

// refuse gives a refusal with a text.
func refuse(code int16, message string) *refusal { return &refusal{code, &message} }

// malformedRequest is Kafka's own text of INVALID_REQUEST, which it sends where it has no better one.
const malformedRequest = "This most likely occurs because of a request being malformed by the client library or the message was sent to an " +
	"incompatible broker. See the broker logs for more details."

// Kafka's own texts of other codes.
const (
	notCoordinatorText = "This is not the correct coordinator."
)

// text is a nullable string that is not null.
func text(s string) *string { return &s }
