import test from 'ava'
import { sweepMachine } from '../../src/treasury/sweeps/lifecycle.js'
import { takeOutMachine } from '../../src/treasury/take-outs/lifecycle.js'
import { Steps } from './checker.js'
import { type CustodyFix, type CustodySetting, custodyModel } from './custody.js'
import { findsPastBugs, holds, takesEveryStep } from './runs.js'

const steps = new Steps()
const settings: readonly (CustodySetting & { readonly text: string })[] = [
  { text: 'one endpoint', endpoints: 1, liar: false },
  { text: 'one endpoint that has lost its history', endpoints: 1, liar: true },
  { text: 'two endpoints of which one lies', endpoints: 2, liar: true },
]

for (const { text, ...setting } of settings)
  test.serial(`what leaves custody is what was paid for, once, and the rest stays: ${text}`, (t) =>
    holds(t, custodyModel(setting, steps)),
  )

test.serial('the model takes the steps of sweeps and take-outs, and no other', (t) => {
  takesEveryStep(t, steps, sweepMachine)
  takesEveryStep(t, steps, takeOutMachine)
})

const sweep = 'a sweep that is given back never lands'
const takeOut = 'a take-out that is given back never lands'
const bugs: readonly {
  readonly fix: CustodyFix
  readonly rule: string
  readonly endpoints?: CustodySetting['endpoints']
}[] = [
  { fix: 'a signature is committed before the first send', rule: sweep },
  { fix: 'the last valid height is the highest of all endpoints', rule: takeOut },
  { fix: 'with one endpoint a person decides', rule: takeOut, endpoints: 1 },
  { fix: 'the wallet may have signed a second time', rule: takeOut },
  { fix: 'which signature is ours is computed', rule: takeOut },
  { fix: 'nothing is given back while the wallet lacks it', rule: takeOut },
]

findsPastBugs(test, bugs, ({ fix, endpoints = 2 }) => custodyModel({ endpoints, liar: true, without: fix }))
