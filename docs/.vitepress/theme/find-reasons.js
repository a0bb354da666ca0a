const most = 25

// Reasons and conditions are single words, whatever surrounds them in what somebody pastes.
const wordsOf = (text) => new Set(text.match(/[A-Za-z][A-Za-z0-9]*/g) ?? [])

const needsAction = (entry) => entry.status === 'False' || entry.event === 'Warning'

// What is to be done comes before what is fine.
const byUrgency = (entries) => [...entries.filter(needsAction), ...entries.filter((entry) => !needsAction(entry))]

/** Of one reason in several conditions, those count of which the text speaks, if it does of any. */
function narrowed(found, words) {
  return found.filter((entry) => words.has(entry.condition)
    || !found.some((other) => other.reason === entry.reason && words.has(other.condition)))
}

/**
 * Returns the entries of the vocabulary that a text is about. A text that has reasons in it, such
 * as what kubectl describe prints, is about these; any other is searched for word by word.
 */
export function findReasons(entries, text) {
  const words = wordsOf(text)
  if (words.size === 0) return []
  const exact = narrowed(entries.filter((entry) => words.has(entry.reason)), words)
  if (exact.length > 0) {
    const urgent = exact.filter(needsAction)
    return urgent.length > 0 ? urgent : exact
  }
  const parts = text.toLowerCase().split(/\s+/).filter(Boolean)
  return byUrgency(entries.filter((entry) => {
    const all = `${entry.kind} ${entry.condition ?? ''} ${entry.reason} ${entry.meaning}`.toLowerCase()
    return parts.every((part) => all.includes(part))
  })).slice(0, most)
}
