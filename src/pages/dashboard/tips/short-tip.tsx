import { words } from '../../i18n/dashboard.js'
import { ngn } from '../../lib/money.js'
import { Button, Notice } from '../../ui/kit.js'
import type { ListedTip } from '../answers.js'
import { call } from '../api.js'
import { FaultNotice } from '../parts/notices.js'
import { Mark } from '../parts/rows.js'
import { useSubmit } from '../requests.js'

const text = words.short

const marks = {
  waiting: { tone: 'warn', icon: 'wait' },
  going_back: { tone: 'warn', icon: 'wait' },
  given_back: { tone: 'plain', icon: 'tick' },
} as const

type Short = ListedTip & {
  readonly arrivedNgn: number
  readonly shortNgn: number
  readonly arrivedState: NonNullable<ListedTip['arrivedState']>
}

/** Whether something arrived of a naira tip, and too little. */
export function isShort(tip: ListedTip): tip is Short {
  return tip.arrivedState !== undefined
}

export function ShortMark({ tip: { arrivedNgn, arrivedState } }: { readonly tip: Short }) {
  return <Mark {...marks[arrivedState]} text={text.marks[arrivedState](ngn(arrivedNgn))} />
}

/** What arrived of a tip that was paid too little. While it waits, its creator decides. */
export function ShortTip({ tip, onDecided }: { readonly tip: Short; readonly onDecided: () => void }) {
  const { signature, arrivedNgn, shortNgn, arrivedState } = tip
  const path = `/creators/tips/${encodeURIComponent(signature)}`
  const decide = useSubmit(async (how: 'accept-short' | 'give-back') => {
    // Decided meanwhile, the list shows how.
    await call('POST', `${path}/${how}`, {}).finally(onDecided)
  })
  const isWaiting = arrivedState === 'waiting'
  return (
    <section class="stack" aria-label={text.title}>
      <Notice
        tone={isWaiting ? 'warn' : 'plain'}
        icon="wait"
        title={text.marks[arrivedState](ngn(arrivedNgn))}
        text={text.more[arrivedState](ngn(shortNgn))}
      />
      <FaultNotice fault={decide.fault} />
      {isWaiting && (
        <>
          <Button
            kind="primary"
            busy={decide.busy}
            text={text.accept(ngn(arrivedNgn))}
            onPress={() => decide.run('accept-short')}
          />
          <Button busy={decide.busy} text={text.giveBack} onPress={() => decide.run('give-back')} />
        </>
      )}
    </section>
  )
}
