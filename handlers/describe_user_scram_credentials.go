package handlers

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"doze/projections"
	"doze/wire"
)

// DescribeUserScramCredentials (key 50), v0 (KIP-554): which users have a credential of SCRAM, and with how many iterations;
// all users when none are named. The credentials themselves are never told.
//
// Kafka asks for DESCRIBE on CLUSTER; refused, the answer as a whole is CLUSTER_AUTHORIZATION_FAILED.
func (b *Broker) describeUserScramCredentials(_ context.Context, r *wire.Request) (wire.Reply, error) {
	req := r.Body.(*kmsg.DescribeUserSCRAMCredentialsRequest)
	resp := respond[*kmsg.DescribeUserSCRAMCredentialsResponse](r)
	resp.ErrorMessage = text("")
	state, _ := b.view()
	names, times := describedUsers(state, req)
	room := answerRoom(maxAnswerBytes)
	for _, name := range names {
		if !room.take(groupAnswerBytes + 2*int64(len(name))) {
			return nil, errAnswerTooLarge
		}
		resp.Results = append(resp.Results, describeUser(state, name, times[name]))
	}
	return resp, nil
}

// describedUsers are the users to describe, each once, and how often each was asked for.
func describedUsers(state *projections.State, req *kmsg.DescribeUserSCRAMCredentialsRequest) (names []string, times map[string]int) {
	times = map[string]int{}
	add := func(name string) {
		if times[name]++; times[name] == 1 {
			names = append(names, name)
		}
	}
	for _, u := range req.Users {
		add(u.Name)
	}
	if len(req.Users) > 0 {
		return names, times
	}
	state.ScramUsers.Each(func(u projections.ScramUser) bool {
		if times[u.User] == 0 {
			add(u.User)
		}
		return true
	})
	return names, times
}

func describeUser(state *projections.State, name string, times int) kmsg.DescribeUserSCRAMCredentialsResponseResult {
	result := kmsg.NewDescribeUserSCRAMCredentialsResponseResult()
	result.User, result.ErrorMessage = name, text("")
	if times > 1 {
		result.ErrorCode = duplicateResource
		result.ErrorMessage = text("Cannot describe SCRAM credentials for the same user twice in a single request: " + name)
		return result
	}
	state.ScramUsers.Of(name, func(u projections.ScramUser) bool {
		info := kmsg.NewDescribeUserSCRAMCredentialsResponseResultCredentialInfo()
		info.Mechanism, info.Iterations = u.Mechanism, u.Iterations
		result.CredentialInfos = append(result.CredentialInfos, info)
		return true
	})
	if len(result.CredentialInfos) == 0 {
		result.ErrorCode = resourceNotFound
		result.ErrorMessage = text("Attempt to describe a user credential that does not exist: " + name)
	}
	return result
}
