// Package schedule checks the cron expressions of a resource before they reach
// a CronJob, and computes how often they fire.
package schedule

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// Validate returns an error unless a CronJob would accept the expression: five
// fields or a descriptor such as @daily, without a time zone, which the API server
// rejects in the schedule of a new CronJob. Like a CronJob, it accepts an
// expression that never activates, such as 30 February. The error begins with
// "invalid cron expression: ".
func Validate(expr string) error {
	_, err := parse(expr)
	return err
}

func parse(expr string) (cron.Schedule, error) {
	// The check comes first because the parser panics on a zone that is not
	// followed by a schedule.
	if strings.Contains(expr, "TZ") {
		return nil, errors.New("invalid cron expression: TZ and CRON_TZ are not allowed: remove the time zone")
	}
	parsed, err := cron.ParseStandard(expr)
	if err != nil {
		return nil, fmt.Errorf("invalid cron expression: %w", err)
	}
	return parsed, nil
}

// Next returns the first activation of an expression after a time, in the zone of
// that time. It returns the error of Validate for an invalid expression and
// ErrNeverActivates if there is no activation within five years.
func Next(expr string, after time.Time) (time.Time, error) {
	parsed, err := parse(expr)
	if err != nil {
		return time.Time{}, err
	}
	next := parsed.Next(after)
	if next.IsZero() {
		return time.Time{}, fmt.Errorf("%q: %w", expr, ErrNeverActivates)
	}
	return next, nil
}

// windowStart is a Monday and the beginning of a leap cycle, far enough from a
// century without a leap day.
var windowStart = time.Date(2001, time.January, 1, 0, 0, 0, 0, time.UTC)

const (
	day  = 24 * time.Hour
	week = 7 * day
	// leapCycle is four years, after which dates repeat with the same intervals.
	leapCycle = 1461 * day
	// calendarCycle is 28 years, after which dates fall on the same weekdays.
	calendarCycle = 7 * leapCycle
)

// ErrNeverActivates is returned for a schedule that can never come true.
var ErrNeverActivates = errors.New("the schedule never activates")

// MinInterval returns the shortest time between two activations of an expression,
// in a zone without daylight saving time. It returns the error of Validate for an
// invalid expression and ErrNeverActivates for one that never activates.
//
// The work is bounded for any expression: at most the minutes of one day and the
// active days of the cycle in which the expression repeats, which is a week, four
// years or 28 years. The search stops at the first two consecutive active days.
func MinInterval(expr string) (time.Duration, error) {
	parsed, err := parse(expr)
	if err != nil {
		return 0, err
	}
	if constant, ok := parsed.(cron.ConstantDelaySchedule); ok {
		return constant.Delay, nil
	}
	spec, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return 0, fmt.Errorf("%q: cannot tell the interval of a %T", expr, parsed)
	}
	first := spec.Next(windowStart.Add(-time.Second))
	if first.IsZero() {
		return 0, fmt.Errorf("%q: %w", expr, ErrNeverActivates)
	}
	shortest, last := withinDay(spec, first)
	return min(shortest, acrossDays(spec, first, last)), nil
}

// cycle returns the time, from the first activation on, after which the active
// days of a schedule repeat, or in which at least all their distances occur: for a
// schedule of weekdays in certain months, they occur in the first of these months.
func cycle(s *cron.SpecSchedule) time.Duration {
	const (
		everyDate    = 1<<32 - 1<<1
		everyWeekday = 1<<7 - 1<<0
	)
	switch {
	case s.Dom&everyDate == everyDate:
		return week
	case s.Dow&everyWeekday == everyWeekday:
		return leapCycle
	}
	return calendarCycle
}

// withinDay returns the shortest interval on the day of the first activation,
// which is the same on every active day, and that day's last activation.
func withinDay(s *cron.SpecSchedule, first time.Time) (shortest time.Duration, last time.Time) {
	shortest, last = calendarCycle, first
	midnight := first.Truncate(day).Add(day)
	for {
		next := s.Next(last)
		if next.IsZero() || !next.Before(midnight) {
			return shortest, last
		}
		shortest = min(shortest, next.Sub(last))
		last = next
	}
}

// acrossDays returns the shortest interval between the last activation of a day
// and the first one of the next active day.
func acrossDays(s *cron.SpecSchedule, first, last time.Time) time.Duration {
	timeToMidnight := first.Truncate(day).Add(day).Sub(last)
	shortest := calendarCycle
	for end := first.Add(cycle(s)); first.Before(end); {
		midnight := first.Truncate(day).Add(day)
		next := s.Next(midnight.Add(-time.Second))
		if next.IsZero() {
			break
		}
		shortest = min(shortest, next.Sub(midnight)+timeToMidnight)
		if next.Truncate(day).Equal(midnight) {
			break
		}
		first = next
	}
	return shortest
}
