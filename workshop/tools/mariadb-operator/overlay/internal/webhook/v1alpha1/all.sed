# The builder of webhooks in the controller-runtime that all operators here are
# built with takes the object as an argument.
s/NewWebhookManagedBy(mgr)\.For(\(.*\))\.$/NewWebhookManagedBy(mgr, \1)./
s/^\(\t*\)With\(Validator\|Defaulter\)(/\1WithCustom\2(/
