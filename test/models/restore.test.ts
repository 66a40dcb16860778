import test from 'ava'
import { outgoingModel } from './outgoing/model.js'
import { alone, type PastBug, type Setting } from './outgoing/state.js'
import { findsPastBugs, holds, takesLong } from './runs.js'

// The model of outgoing money once more: a standby takes over, or a backup is restored (docs/decisions/0072).

const runs: readonly (Partial<Setting> & { readonly text: string; readonly long?: true })[] = [
  { text: 'a provider that may execute a reference twice' },
  { text: 'a provider that deduplicates', deduplicates: true, long: true },
  { text: 'a second worker that takes over meanwhile', senders: 2, long: true },
]

for (const { text, long, ...setting } of runs)
  if (long === undefined || takesLong)
    test.serial(`what a restore has lost is not sent again, nor given back beside: ${text}`, (t) =>
      holds(t, outgoingModel({ ...alone, restores: 1, ...setting })),
    )

const twice = 'the provider executes a reference once'
const both = 'nobody is paid and has the money back'
const bugs: readonly PastBug[] = [
  { fix: 'a restored database sends nothing', rule: twice },
  { fix: 'what is older than a restore is looked up', rule: twice },
  { fix: 'absence after a restore counts after the settle time', rule: both },
  { fix: 'nothing that a restore may have lost is given back', rule: both },
  { fix: 'void waits for the settle time after a restore', rule: both },
  { fix: 'a row that was taken before a restore is taken again', rule: twice, senders: 2 },
]

findsPastBugs(test, bugs, ({ fix, rule: _, ...setting }) =>
  outgoingModel({ ...alone, restores: 1, ...setting, without: fix }),
)
