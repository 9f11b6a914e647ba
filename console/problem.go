package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/twmb/franz-go/pkg/kerr"
)

// problem is an error that a person is shown as it is.
type problem struct {
	Status  int
	Message string
	Hint    string // what to do about it
}

func (p problem) Error() string { return p.Message }

func badRequest(format string, args ...any) problem {
	return problem{Status: http.StatusUnprocessableEntity, Message: fmt.Sprintf(format, args...)}
}

func notFound(format string, args ...any) problem {
	return problem{Status: http.StatusNotFound, Message: fmt.Sprintf(format, args...)}
}

// explain is the answer to an error: a page, or for a script the part that it shows.
func (r *request) explain(err error) answer {
	p := asProblem(err)
	if p.Status >= http.StatusInternalServerError {
		r.c.opt.Logger.Warn("console", "path", r.URL.Path, "error", err)
	}
	if r.htmx() {
		return failure{p}
	}
	return page{Title: http.StatusText(p.Status), Name: "problem", Data: p, Status: p.Status}
}

// asProblem says in words what went wrong: a problem as it is, an error of Kafka with its name and description.
func asProblem(err error) problem {
	var p problem
	if errors.As(err, &p) {
		return p
	}
	var ke *kerr.Error
	switch {
	case errors.As(err, &ke):
		return problem{Status: statusOf(ke), Message: fmt.Sprintf("Kafka answered %s (code %d)", ke.Message, ke.Code), Hint: kafkaHint(err, ke)}
	case errors.Is(err, context.DeadlineExceeded):
		return problem{Status: http.StatusGatewayTimeout, Message: "Kafka did not answer in time", Hint: "Is the broker running? " + err.Error()}
	case errors.Is(err, context.Canceled):
		return problem{Status: http.StatusServiceUnavailable, Message: "The request was given up"}
	}
	return problem{Status: http.StatusBadGateway, Message: "Kafka could not be asked", Hint: err.Error()}
}

// kafkaHint is the broker's own words when it has some, else what the code means.
func kafkaHint(err error, ke *kerr.Error) string {
	if said := err.Error(); said != ke.Error() {
		return said
	}
	return ke.Description
}

func statusOf(ke *kerr.Error) int {
	switch ke {
	case kerr.UnknownTopicOrPartition, kerr.UnknownTopicID, kerr.GroupIDNotFound, kerr.ResourceNotFound:
		return http.StatusNotFound
	case kerr.TopicAuthorizationFailed, kerr.GroupAuthorizationFailed, kerr.ClusterAuthorizationFailed, kerr.TransactionalIDAuthorizationFailed:
		return http.StatusForbidden
	case kerr.TopicAlreadyExists, kerr.NonEmptyGroup, kerr.GroupSubscribedToTopic:
		return http.StatusConflict
	}
	return http.StatusUnprocessableEntity
}

// kafkaError is an error code of a response with the words that came with it; nil for code 0.
func kafkaError(code int16, message *string) error {
	return withWords(kerr.ErrorForCode(code), deref(message))
}

// withWords adds the broker's own words to an error of Kafka, or to none.
func withWords(err error, words string) error {
	if err == nil || words == "" {
		return err
	}
	return fmt.Errorf("%s: %w", words, err)
}
