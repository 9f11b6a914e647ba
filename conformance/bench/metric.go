//go:build linux

package main

import (
	"fmt"

	"doze/conformance/bench/brokers"
)

// A metric is one line of the table: a figure that every broker of the row gets.
type metric struct {
	key     string // of the sample
	label   string
	unit    string
	targets []target
}

// A target bounds doze's figure: by a number, or by a multiple of a figure of another column or metric.
type target struct {
	of       brokers.Kind // whose figure it is a multiple of; "" for a plain number
	key      string       // which figure; "" for the metric's own
	factor   float64
	atLeast  bool
	freeText string // instead of the factor, in print
}

func atMost(limit float64) target                       { return target{factor: limit} }
func atLeast(limit float64) target                      { return target{factor: limit, atLeast: true} }
func atMostOf(kind brokers.Kind, factor float64) target { return target{of: kind, factor: factor} }
func atLeastOf(kind brokers.Kind, factor float64) target {
	return target{of: kind, factor: factor, atLeast: true}
}

// figure names the metric that the target is a multiple of.
func (t target) figure(key string) target { t.key = key; return t }

// said replaces the factor in print, where it is a fraction that people write otherwise.
func (t target) said(text string) target { t.freeText = text; return t }

func (t target) String() string {
	sign := "<="
	if t.atLeast {
		sign = ">="
	}
	factor := fmt.Sprintf("%g", t.factor)
	if t.freeText != "" {
		factor = t.freeText
	}
	if t.of == "" {
		return sign + " " + factor
	}
	text := fmt.Sprintf("%s %sx %s", sign, factor, t.of)
	if t.key != "" {
		text += "'s " + t.key
	}
	return text
}

// met tells whether doze's value meets the target; known is false where a figure is missing.
func (t target) met(value float64, figureOf func(kind brokers.Kind, key string) (float64, bool), key string) (met, known bool) {
	limit := t.factor
	if t.of != "" {
		if t.key != "" {
			key = t.key
		}
		of, ok := figureOf(t.of, key)
		if !ok {
			return false, false
		}
		limit *= of
	}
	if t.atLeast {
		return value >= limit, true
	}
	return value <= limit, true
}
