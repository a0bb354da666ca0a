# Twenty looks a second at each awaited object keep an API server busier than
# the cluster under test does.
s/^const PollInterval = .*/const PollInterval = 200 * time.Millisecond/
