package console

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// usersPage is the dot of the list of users.
type usersPage struct {
	securityHead
	Table table
}

func showUsers(r *request) (answer, error) {
	head, err := r.securityHead("Users", kmsg.DescribeUserSCRAMCredentials)
	if err != nil {
		return nil, err
	}
	view := usersPage{securityHead: head}
	if view.Note == "" {
		users, err := r.scramUsers()
		if err := view.explained(err); err != nil {
			return nil, err
		}
		view.Table = userSheet.show(r, users)
	}
	return securityPage("users", "Users", view), nil
}

// scramUsers are the users with SCRAM credentials, in order.
func (r *request) scramUsers(names ...string) ([]kadm.DescribedUserSCRAM, error) {
	described, err := r.c.kafka.admin.DescribeUserSCRAMs(r.Context(), names...)
	if err != nil {
		return nil, fmt.Errorf("describe users: %w", err)
	}
	return described.Sorted(), nil
}

var userSheet = sheet[kadm.DescribedUserSCRAM]{
	ID: "t", Noun: "user", Sort: "name", Empty: "No user has SCRAM credentials. Make one here, or with Kafka's tool:",
	Command: "kafka-configs.sh --bootstrap-server HOST:PORT --alter --entity-type users --entity-name bob --add-config 'SCRAM-SHA-512=[password=secret]'",
	Find:    func(u kadm.DescribedUserSCRAM) string { return u.User },
	Columns: []column[kadm.DescribedUserSCRAM]{
		{Key: "name", Title: "User", Order: by(func(u kadm.DescribedUserSCRAM) string { return u.User }), Cell: func(u kadm.DescribedUserSCRAM) cell { return textCell(shownName(u.User)) }},
		{Title: "Mechanisms", Cell: func(u kadm.DescribedUserSCRAM) cell {
			var marks []badge
			for _, c := range u.CredInfos {
				marks = append(marks, badge{c.Mechanism.String(), "", plural(c.Iterations, "iteration")})
			}
			return badgeCell(marks...)
		}},
		{Title: "Iterations", Cell: func(u kadm.DescribedUserSCRAM) cell {
			var counts []string
			for _, c := range u.CredInfos {
				counts = append(counts, grouped(c.Iterations))
			}
			return textCell(strings.Join(counts, ", "))
		}},
		{Title: "", Cell: func(u kadm.DescribedUserSCRAM) cell {
			acts := []act{{"New password", withQuery("/security/users/edit", "user", u.User), ""}}
			for _, c := range u.CredInfos {
				acts = append(acts, act{"Delete " + c.Mechanism.String(), withQuery("/security/users/delete", "user", u.User, "mechanism", strconv.Itoa(int(c.Mechanism))), ""})
			}
			return actCell(acts...)
		}},
	},
}

// userView is the dot of the form of a user. The password is never sent back to the browser.
type userView struct {
	User, Mechanism, Iterations string
	Mechanisms                  []choice
	Wrong                       string
}

var scramMechanisms = []choice{{"2", "SCRAM-SHA-512"}, {"1", "SCRAM-SHA-256"}}

func askUser(r *request) (answer, error) {
	view := userView{User: clip(r.query("user"), maxText), Iterations: "8192", Mechanisms: scramMechanisms}
	return securityDialog("user-edit", "Set a password", view, 0), nil
}

func setUser(r *request) (answer, error) {
	f, err := r.form()
	if err != nil {
		return nil, err
	}
	view := userView{User: clip(f.text("user"), maxText), Mechanism: f.text("mechanism"), Iterations: f.text("iterations"), Mechanisms: scramMechanisms}
	if err := r.upsertUser(f); err != nil {
		view.Wrong = asProblem(err).Message
		return securityDialog("user-edit", "Set a password", view, wrongForm), nil
	}
	return done{To: "/security/users", Toast: "Set the password of " + shownName(view.User)}, nil
}

func (r *request) upsertUser(f form) error {
	iterations, err := f.whole("iterations", "Iterations", 1, 1<<31-1)
	if err != nil {
		return err
	}
	mechanism, err := f.whole("mechanism", "The mechanism", 1, 2)
	if err != nil {
		return err
	}
	if f.text("user") == "" || f.text("password") == "" {
		return badRequest("Give a name and a password")
	}
	answered, err := r.c.kafka.admin.AlterUserSCRAMs(r.Context(), nil, []kadm.UpsertSCRAM{{
		User: f.text("user"), Mechanism: kadm.ScramMechanism(mechanism), Iterations: int32(iterations), Password: f.text("password"),
	}})
	return userAnswer(answered, err)
}

// userAnswer is the first error of an answer.
func userAnswer(answered kadm.AlteredUserSCRAMs, err error) error {
	if err != nil {
		return err
	}
	for _, a := range answered.Sorted() {
		if a.Err != nil {
			return withWords(a.Err, a.ErrMessage)
		}
	}
	return nil
}

func askDeleteUser(r *request) (answer, error) {
	user, mechanism := clip(r.query("user"), maxText), r.number("mechanism", 0, 0, 2)
	view := deleteView{
		What: "user", Name: user, Action: "/security/users/delete", Button: "Delete the credential",
		Means:  []string{fmt.Sprintf("%s can then no longer log in by %s. Connections that are open stay.", shownName(user), kadm.ScramMechanism(mechanism))},
		Hidden: []hidden{{"user", user}, {"mechanism", strconv.Itoa(mechanism)}},
	}
	return securityDialog("really-delete", "Delete a credential", view, 0), nil
}

func deleteUser(r *request) (answer, error) {
	f, err := r.form()
	if err != nil {
		return nil, err
	}
	mechanism, err := f.whole("mechanism", "The mechanism", 1, 2)
	if err != nil {
		return nil, err
	}
	answered, err := r.c.kafka.admin.AlterUserSCRAMs(r.Context(), []kadm.DeleteSCRAM{{User: f.text("user"), Mechanism: kadm.ScramMechanism(mechanism)}}, nil)
	err = userAnswer(answered, err)
	if errors.Is(err, kerr.ResourceNotFound) {
		return nil, notFound("There is no such credential any more")
	}
	if err != nil {
		return nil, err
	}
	return done{To: "/security/users", Toast: fmt.Sprintf("Deleted %s of %s", kadm.ScramMechanism(mechanism), clip(shownName(f.text("user")), 200))}, nil
}
