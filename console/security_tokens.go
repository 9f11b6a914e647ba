package console

import (
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// tokensPage is the dot of the list of delegation tokens. Their HMACs, which are passwords, are not on it.
type tokensPage struct {
	securityHead
	Table table
}

func showTokens(r *request) (answer, error) {
	head, err := r.securityHead("Tokens", kmsg.DescribeDelegationToken)
	if err != nil {
		return nil, err
	}
	view := tokensPage{securityHead: head}
	if view.Note == "" {
		tokens, err := r.c.kafka.admin.DescribeDelegationTokens(r.Context())
		if err := view.explained(err); err != nil {
			return nil, err
		}
		view.Table = tokenSheet.show(r, tokens)
	}
	return securityPage("tokens", "Tokens", view), nil
}

var tokenSheet = sheet[kadm.DelegationToken]{
	ID: "t", Noun: "token", Sort: "expires", Empty: "There are no delegation tokens that the console may see. Kafka's tool makes one, too:",
	Command: "kafka-delegation-tokens.sh --bootstrap-server HOST:PORT --create --max-life-time-period -1 --command-config client.properties",
	Find:    func(t kadm.DelegationToken) string { return t.TokenID + " " + principalText(t.Owner) },
	Columns: []column[kadm.DelegationToken]{
		{Key: "id", Title: "Token", Order: by(func(t kadm.DelegationToken) string { return t.TokenID }), Cell: func(t kadm.DelegationToken) cell { return codeCell(t.TokenID) }},
		{Key: "owner", Title: "Owner", Order: by(func(t kadm.DelegationToken) string { return principalText(t.Owner) }), Cell: func(t kadm.DelegationToken) cell {
			return textCell(principalText(t.Owner)).hover("Asked for by " + principalText(t.TokenRequesterPrincipal))
		}},
		{Title: "Renewers", Cell: func(t kadm.DelegationToken) cell {
			var names []string
			for _, p := range t.Renewers {
				names = append(names, principalText(p))
			}
			return textCell(strings.Join(names, ", "))
		}},
		{Title: "Made", Cell: func(t kadm.DelegationToken) cell { return timeCell(t.IssueTimestamp) }},
		{Key: "expires", Title: "Expires", Order: by(func(t kadm.DelegationToken) int64 { return t.ExpiryTimestamp.UnixMilli() }), Cell: func(t kadm.DelegationToken) cell { return timeCell(t.ExpiryTimestamp) }},
		{Title: "Renewable until", Cell: func(t kadm.DelegationToken) cell { return timeCell(t.MaxTimestamp) }},
		{Title: "", Cell: func(t kadm.DelegationToken) cell {
			return actCell(act{"Renew", path("security", "tokens", t.TokenID, "renew"), ""}, act{"Expire", path("security", "tokens", t.TokenID, "expire"), ""})
		}},
	},
}

func principalText(p kadm.Principal) string {
	kind := p.Type
	if kind == "" {
		kind = "User"
	}
	return kind + ":" + p.Name
}

// tokenView is the dot of the forms of a token; Secret is shown once, when it is made.
type tokenView struct {
	ID, Do, Action   string
	Owner, Renewers  string
	Hours            string
	Wrong            string
	Secret           string
	Expires, Renewed time.Time
}

// maxTokenHours is a hundred years.
const maxTokenHours = 100 * 366 * 24

func askToken(*request) (answer, error) {
	return securityDialog("token-new", "New token", tokenView{}, 0), nil
}

// makeToken makes a token and shows its secret, this one time.
func makeToken(r *request) (answer, error) {
	f, err := r.form()
	if err != nil {
		return nil, err
	}
	view := tokenView{Owner: clip(f.trimmed("owner"), maxText), Renewers: clip(f.trimmed("renewers"), maxText), Hours: f.trimmed("hours")}
	asked, err := view.create(f)
	var made kadm.DelegationToken
	if err == nil {
		made, err = r.c.kafka.admin.CreateDelegationToken(r.Context(), asked)
	}
	if err != nil {
		var head securityHead
		view.Wrong = asProblem(err).Message
		if head.explained(err) == nil {
			view.Wrong = head.Note + ". " + head.Hint
		}
		return securityDialog("token-new", "New token", view, wrongForm), nil
	}
	view.ID, view.Secret, view.Expires, view.Renewed = made.TokenID, base64.StdEncoding.EncodeToString(made.HMAC), made.ExpiryTimestamp, made.MaxTimestamp
	return securityDialog("token-made", "The token", view, 0), nil
}

func (v tokenView) create(f form) (kadm.CreateDelegationToken, error) {
	out := kadm.CreateDelegationToken{MaxLifetime: -1}
	if v.Hours != "" {
		hours, err := f.whole("hours", "The lifetime in hours", 1, maxTokenHours)
		if err != nil {
			return out, err
		}
		out.MaxLifetime = time.Duration(hours) * time.Hour
	}
	if v.Owner != "" {
		p := parsePrincipal(v.Owner)
		out.Owner = &p
	}
	for name := range strings.SplitSeq(v.Renewers, ",") {
		if name = strings.TrimSpace(name); name != "" {
			out.Renewers = append(out.Renewers, parsePrincipal(name))
		}
	}
	return out, nil
}

// parsePrincipal reads "User:bob" or "bob".
//
//fuzz:parser class=http FuzzPrincipal
func parsePrincipal(text string) kadm.Principal {
	if kind, name, ok := strings.Cut(text, ":"); ok && kind != "" {
		return kadm.Principal{Type: kind, Name: name}
	}
	return kadm.Principal{Type: "User", Name: text}
}

func (r *request) tokenChange() (tokenView, error) {
	id, err := r.named("id")
	if err != nil {
		return tokenView{}, err
	}
	do := r.PathValue("do")
	if do != "renew" && do != "expire" {
		return tokenView{}, notFound("There is no page %s", r.URL.Path)
	}
	return tokenView{ID: id, Do: do, Action: path("security", "tokens", id, do)}, nil
}

func askTokenChange(r *request) (answer, error) {
	view, err := r.tokenChange()
	if err != nil {
		return nil, err
	}
	return tokenDialog(view, 0), nil
}

func tokenDialog(view tokenView, status int) dialog {
	return securityDialog("token-change", map[string]string{"renew": "Renew a token", "expire": "Expire a token"}[view.Do], view, status)
}

// changeToken renews or expires a token. Kafka wants its HMAC for that, which the broker tells whoever may see the token.
func changeToken(r *request) (answer, error) {
	view, err := r.tokenChange()
	if err != nil {
		return nil, err
	}
	f, err := r.form()
	if err != nil {
		return nil, err
	}
	view.Hours = f.trimmed("hours")
	period := time.Duration(-1) // the broker's own when renewed, at once when expired
	if view.Hours != "" {
		hours, err := f.whole("hours", "The hours", 1, maxTokenHours)
		if err != nil {
			view.Wrong = err.Error()
			return tokenDialog(view, wrongForm), nil
		}
		period = time.Duration(hours) * time.Hour
	}
	until, err := r.changeToken(view, period)
	if err != nil {
		return nil, err
	}
	if view.Do == "expire" && period < 0 {
		return done{To: "/security/tokens", Toast: "Expired token " + clip(view.ID, 100)}, nil
	}
	return done{To: "/security/tokens", Toast: fmt.Sprintf("Token %s now expires at %s", clip(view.ID, 100), absolute(until, r.loc))}, nil
}

func (r *request) changeToken(view tokenView, period time.Duration) (time.Time, error) {
	tokens, err := r.c.kafka.admin.DescribeDelegationTokens(r.Context())
	if err != nil {
		return time.Time{}, err
	}
	for _, t := range tokens {
		switch {
		case t.TokenID != view.ID:
		case view.Do == "renew":
			return r.c.kafka.admin.RenewDelegationToken(r.Context(), t.HMAC, period)
		default:
			return r.c.kafka.admin.ExpireDelegationToken(r.Context(), t.HMAC, period)
		}
	}
	return time.Time{}, notFound("There is no token %s that the console may see", clip(view.ID, 100))
}
