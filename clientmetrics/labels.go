package clientmetrics

import (
	"slices"
	"strconv"
	"strings"

	common "go.opentelemetry.io/proto/otlp/common/v1"
)

// maxAttributes bounds the attributes of a data point that are told.
const maxAttributes = 16

// labelsOf are the attributes of a data point in a line, by name.
func labelsOf(attributes []*common.KeyValue) string {
	var all []string
	for _, a := range attributes[:min(len(attributes), maxAttributes)] {
		all = append(all, cut(a.GetKey(), 80)+"="+cut(valueOf(a.GetValue()), 120))
	}
	slices.Sort(all)
	return cut(strings.Join(all, ", "), maxLabels)
}

// valueOf is a plain value as text; one that holds others is not told.
func valueOf(v *common.AnyValue) string {
	switch v := v.GetValue().(type) {
	case *common.AnyValue_StringValue:
		return v.StringValue
	case *common.AnyValue_BoolValue:
		return strconv.FormatBool(v.BoolValue)
	case *common.AnyValue_IntValue:
		return strconv.FormatInt(v.IntValue, 10)
	case *common.AnyValue_DoubleValue:
		return strconv.FormatFloat(v.DoubleValue, 'g', -1, 64)
	}
	return "..."
}
