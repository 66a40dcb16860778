import type { Tally } from './play-all.js'

/** What must have happened in a run of any length, so that a run in which nothing happens does not pass. */
const always = {
  'owner login': 'done',
  'owner readMail': undefined,
  'owner withdrawToOwn': 'sent',
  'owner recover': 'done',
  'thief login': 'done',
  'thief withdrawToOwn': 'held for confirmation',
} as const
/** And what else in a long one. */
const inLongRuns = {
  'owner logInByCode': 'done',
  'owner confirm': 'done',
  'thief confirm': '400 invalid_code',
  'owner changePassword': 'done',
  'owner resetPassword': 'done',
  'owner changeEmail': 'done',
  'owner confirmEmail': 'done',
  'owner addTotp': 'done',
  'owner removeTotp': 'done',
  'owner endOneSession': 'done',
  'owner endOtherSessions': 'done',
  'owner cancel': 'done',
  'owner removePayees': 'done',
  'owner notMe': 'done',
  'thief changePassword': 'done',
  'thief changeEmail': 'done',
  'thief confirmEmail': 'done',
  'thief addTotp': 'done',
  'thief makeApiKey': 'done',
  'thief cancel': 'done',
  'thief endOtherSessions': 'done',
  'thief withdrawToOwn': '403 account_frozen',
} as const

/** Names what should have happened and did not. */
export function missingActs(tally: Tally, { long = true }: { readonly long?: boolean } = {}): string[] {
  const wanted = [...Object.entries(always), ...(long ? Object.entries(inLongRuns) : [])]
  return wanted.flatMap(([act, outcome]) => {
    const outcomes = tally[act] ?? {}
    const happened = outcome === undefined ? Object.keys(outcomes).length > 0 : (outcomes[outcome] ?? 0) > 0
    return happened ? [] : [`nothing was proven: "${act}" never ended with "${outcome ?? 'anything'}"`]
  })
}
