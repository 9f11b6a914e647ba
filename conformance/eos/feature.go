package eos

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func changeFeature(ctx context.Context, cl *kgo.Client, level int16) error {
	req := kmsg.NewPtrUpdateFeaturesRequest()
	req.TimeoutMillis = 10_000
	u := kmsg.NewUpdateFeaturesRequestFeatureUpdate()
	const safeDowngrade = 2
	u.Feature, u.MaxVersionLevel, u.UpgradeType = "transaction.version", level, safeDowngrade
	req.FeatureUpdates = append(req.FeatureUpdates, u)
	resp, err := req.RequestWith(ctx, cl)
	if err == nil {
		err = kerr.ErrorForCode(resp.ErrorCode)
	}
	if err != nil {
		return fmt.Errorf("set transaction.version to %d: %w", level, err)
	}
	return nil
}
