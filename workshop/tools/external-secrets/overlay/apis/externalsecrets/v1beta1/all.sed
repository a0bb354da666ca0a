# The builder of webhooks in the controller-runtime that all operators here are
# built with takes the object as an argument.
/NewWebhookManagedBy(mgr)\.$/ {
	N
	s/(mgr)\.\n\t*For(\(.*\))\.$/(mgr, \1)./
}
s/^\(\t*\)WithValidator(/\1WithCustomValidator(/
