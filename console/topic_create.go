package console

import (
	"net/http"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
)

// topicForm is the dot of the template "topic-new": what was typed, and what is wrong with it.
type topicForm struct {
	Name, Partitions, Replicas, Configs string
	Like                                string // the topic that it is a clone of
	Wrong                               string
}

// newTopic shows the form; ?like=TOPIC fills it with that topic's partitions and configs, other values with themselves.
func newTopic(r *request) (answer, error) {
	f := topicForm{Partitions: "1", Replicas: "-1"}
	if like := r.query("like"); like != "" {
		var err error
		if f, err = r.c.kafka.likeTopic(r.Context(), like); err != nil {
			return nil, err
		}
	}
	for name, field := range map[string]*string{"name": &f.Name, "partitions": &f.Partitions, "replicas": &f.Replicas, "configs": &f.Configs} {
		if v := r.query(name); v != "" {
			*field = v
		}
	}
	return f.dialog(0), nil
}

func (f topicForm) dialog(status int) dialog {
	title := "New topic"
	if f.Like != "" {
		title = "A topic like " + f.Like
	}
	return dialog{Title: title, Nav: "topics", Crumbs: []crumb{{"Topics", "/topics"}, {title, ""}}, Name: "topic-new", Data: f, Status: status}
}

// createTopic makes the topic that the form describes; what the broker refuses is said in the form.
func createTopic(r *request) (answer, error) {
	typed, err := r.form()
	if err != nil {
		return nil, err
	}
	f := topicForm{
		Name: typed.trimmed("name"), Partitions: typed.trimmed("partitions"), Replicas: typed.trimmed("replicas"),
		Configs: typed.text("configs"), Like: typed.text("like"),
	}
	if err := f.create(r, typed); err != nil {
		p := asProblem(err)
		if p.Status >= http.StatusInternalServerError {
			return nil, err
		}
		f.Wrong = strings.TrimSpace(p.Message + ". " + p.Hint)
		return f.dialog(http.StatusUnprocessableEntity), nil
	}
	return done{To: path("topics", f.Name), Toast: "Topic " + f.Name + " was created"}, nil
}

func (f topicForm) create(r *request, typed form) error {
	partitions, err := typed.whole("partitions", "Partitions", -1, 1<<20)
	if err != nil {
		return err
	}
	replicas, err := typed.whole("replicas", "Replicas", -1, 1<<14)
	if err != nil {
		return err
	}
	configs, err := parsePairs(f.Configs)
	if err != nil {
		return err
	}
	values := map[string]*string{}
	for _, c := range configs {
		values[c.Name] = kadm.StringPtr(c.Value)
	}
	resp, err := r.c.kafka.admin.CreateTopic(r.Context(), int32(partitions), int16(replicas), values, f.Name)
	if resp.Err != nil {
		return withWords(resp.Err, resp.ErrMessage)
	}
	return err
}

// parsePairs reads NAME=VALUE lines. Empty lines and those that begin with # say nothing.
//
//fuzz:parser class=http FuzzConsoleForms
func parsePairs(text string) ([]hidden, error) {
	var pairs []hidden
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if name = strings.TrimSpace(name); !ok || name == "" {
			return nil, badRequest("The line %q is not NAME=VALUE", clip(line, 80))
		}
		pairs = append(pairs, hidden{name, strings.TrimSpace(value)})
	}
	return pairs, nil
}
