package metric

// Webhooks are the metrics that every operator with webhooks has, in addition to those of
// its controllers.
func Webhooks(prefix string) []Definition {
	return []Definition{
		{
			Name: prefix + "_webhook_certificate_start_timestamp_seconds", Type: Gauge,
			Help: "When the certificate of the webhooks becomes valid, as Unix time; every replica serves webhooks.",
		},
		{
			Name: prefix + "_webhook_certificate_expiration_timestamp_seconds", Type: Gauge,
			Help: "When the certificate of the webhooks expires, as Unix time; every replica serves webhooks.",
		},
	}
}
