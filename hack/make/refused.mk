# Targets that users of other builds know and that this one has not, with what to use
# instead. One that is added later wins: make comes here for unknown targets only.
.DEFAULT:
	@hack/make/refused.sh '$@'
