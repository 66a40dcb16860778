/** What came of an act, by outcome. */
export type Tally = Readonly<Record<string, Readonly<Record<string, number>>>>

type Wanted = readonly (readonly [act: string, outcome?: string])[]

/** What must have happened in a run of any length, so that a run in which nothing happens does not pass. */
const always: Wanted = [
  ['owner login', 'done'],
  ['owner readMail'],
  ['owner withdrawToOwn', 'sent'],
  ['owner recover', 'done'],
  ['thief login', 'done'],
  ['thief withdrawToOwn', 'held for confirmation'],
]
const doneInLongRuns = {
  owner:
    'logInByCode confirm changePassword resetPassword changeEmail confirmEmail addTotp removeTotp endOneSession endOtherSessions cancel removePayees notMe',
  thief: 'changePassword changeEmail confirmEmail addTotp makeApiKey cancel endOtherSessions',
}
/** And what else in a long one. */
const inLongRuns: Wanted = [
  ['thief confirm', '400 invalid_code'],
  ['thief withdrawToOwn', '403 account_frozen'],
  ...Object.entries(doneInLongRuns).flatMap(([who, acts]) =>
    acts.split(' ').map((act) => [`${who} ${act}`, 'done'] as const),
  ),
]

/** Names what should have happened and did not. */
export function missingActs(tally: Tally, long: boolean): string[] {
  return [...always, ...(long ? inLongRuns : [])].flatMap(([act, outcome]) => {
    const outcomes = tally[act] ?? {}
    const happened = outcome === undefined ? Object.keys(outcomes).length > 0 : (outcomes[outcome] ?? 0) > 0
    return happened ? [] : [`nothing was proven: "${act}" never ended with "${outcome ?? 'anything'}"`]
  })
}
