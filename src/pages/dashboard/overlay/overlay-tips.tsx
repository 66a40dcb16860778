import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { shortNgn } from '../../lib/money.js'
import { amountText, cut, senderText } from '../../lib/tip-text.js'
import { Checkbox, Field, Select } from '../../ui/fields.js'
import type { JudgedTip, JudgedTips } from '../answers.js'
import { call } from '../api.js'
import { Card } from '../parts/cards.js'
import { NumberField } from '../parts/fields.js'
import { Question } from '../parts/forms.js'
import { FaultNotice } from '../parts/notices.js'
import { Mark } from '../parts/rows.js'
import { useLoad, usePolling, useSubmit } from '../requests.js'
import { useDrawer } from '../route.js'
import { type EditedOverlay, overlayPath } from './use-overlay.js'

const tipsPath = `${overlayPath}/tips`
const everyMs = 5000
const senderLength = 60
const messageLength = 200
const text = words.overlay.words

type Decision = 'approve' | 'hold' | 'hide'

/** The tips that wait for the creator, and the newest ones. */
export function OverlayTips() {
  const { data, unread, reload } = useLoad<JudgedTips>(tipsPath)
  usePolling(reload, everyMs, true)
  const drawer = useDrawer()
  const decide = async (tip: string, decision: Decision): Promise<void> => {
    await call('POST', tipsPath, { body: { signature: tip, decision } })
    reload()
  }
  const deciding = useSubmit(decide)
  const row = (tip: JudgedTip) => (
    <TipRow
      key={tip.eventId}
      tip={tip}
      onDecide={deciding.run}
      onHide={() => drawer.show(`hide ${tip.eventId}`)}
    />
  )
  const [asked, hiddenId = ''] = (drawer.open ?? '').split(' ')
  return (
    <Card name="judged" title={text.title} lead={text.lead}>
      <FaultNotice fault={unread} tone="warn" onRetry={reload} />
      <FaultNotice fault={deciding.fault} />
      {(data?.waiting.length ?? 0) > 0 && (
        <>
          <h3>{text.waiting}</h3>
          <ul class="rows">{data?.waiting.map(row)}</ul>
        </>
      )}
      <h3>{text.latest}</h3>
      {data?.latest.length === 0 && <p class="empty">{text.none}</p>}
      <ul class="rows">{data?.latest.filter(({ state }) => state !== 'waiting').map(row)}</ul>
      {asked === 'hide' && (
        <Question
          title={text.hideTitle}
          effect={text.hideEffect}
          submit={text.hide}
          act={() => decide(hiddenId, 'hide')}
          onClose={drawer.close}
          onDone={reload}
        />
      )}
    </Card>
  )
}

const marks = {
  shown: ['good', 'tick'],
  without_words: ['warn', 'warn'],
  waiting: ['warn', 'wait'],
  held: ['plain', 'cross'],
  hidden: ['plain', 'cross'],
} as const

type TipRowProps = {
  tip: JudgedTip
  onDecide: (tip: string, decision: Decision) => void
  onHide: () => void
}

function TipRow({ tip, onDecide, onHide }: TipRowProps) {
  const { eventId, state, message, amountNgn } = tip
  const name = senderText(tip.senderName ?? tip.sender, senderLength)
  const amount = amountNgn === undefined ? amountText(tip.amount, tip.tokenSymbol) : shortNgn(amountNgn)
  const [tone, icon] = marks[state]
  const button = (label: string, onPress: () => void) => (
    <button type="button" class="copy" aria-label={text.what(label, name, amount)} onClick={onPress}>
      {label}
    </button>
  )
  return (
    <li class="rows__row">
      <div class="row__what">
        <span>
          <bdi class="strong">{name}</bdi> {words.tips.tipped} <span class="number">{amount}</span>
        </span>
        {message && <bdi class="quiet">“{cut(message, messageLength)}”</bdi>}
        <Mark tone={tone} icon={icon} text={text.states[state]} />
      </div>
      {state !== 'hidden' && (
        <div class="wrap">
          {state !== 'shown' && button(text.approve, () => onDecide(eventId, 'approve'))}
          {state !== 'held' && button(text.hold, () => onDecide(eventId, 'hold'))}
          {button(text.hide, onHide)}
        </div>
      )}
    </li>
  )
}

const approvals = ['none', 'filtered', 'all'] as const
const mostWords = 200

/** The filter, the approval and the speech. */
export function WordsCard({ of: { settings, change } }: { readonly of: EditedOverlay }) {
  const { approval, filter, speech } = settings
  const [typed, setTyped] = useState<string>()
  return (
    <Card name="words" title={text.rules}>
      <form class="stack" onSubmit={(event) => event.preventDefault()}>
        <Field label={text.filter} hint={text.filterHint}>
          <textarea
            class="input"
            rows={4}
            value={typed ?? filter.join('\n')}
            onInput={({ currentTarget }) => setTyped(currentTarget.value)}
            onChange={({ currentTarget }) => {
              setTyped(undefined)
              const lines = currentTarget.value.split(/[\n,]/).map((line) => cut(line.trim(), 40))
              change({ filter: [...new Set(lines.filter((line) => line !== ''))].slice(0, mostWords) })
            }}
          />
        </Field>
        <Select
          label={text.approval}
          choices={approvals}
          texts={text.approvals}
          chosen={approval}
          onChoose={(chosen) => change({ approval: chosen })}
        />
        <Checkbox
          label={text.speech}
          value={speech.enabled}
          onChange={(enabled) => change({ speech: { ...speech, enabled } })}
        />
        {speech.enabled && (
          <NumberField
            label={text.speechFrom}
            value={speech.fromUsd}
            onChange={(value) =>
              change({ speech: { ...speech, fromUsd: Math.min(Math.max(value ?? 0, 0), 1e6) } })
            }
          />
        )}
      </form>
    </Card>
  )
}
