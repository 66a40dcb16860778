import type { ComponentChildren, JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { saveFile } from '../../lib/browser.js'
import { Button, Icon, type IconName, TextButton } from '../../ui/kit.js'
import type { ListedTip, Payout, Refund, Transfer } from '../answers.js'
import { request } from '../api.js'
import { momentText } from '../dates.js'
import { type Pages, useSubmit } from '../requests.js'
import { FaultNotice } from './notices.js'

type State = (ListedTip | Payout | Refund | Transfer)['status']

const appearances: Readonly<Record<State, readonly [tone: string, icon: IconName]>> = {
  pending: ['warn', 'wait'],
  submitted: ['warn', 'wait'],
  processing: ['warn', 'wait'],
  confirmed: ['good', 'tick'],
  completed: ['good', 'tick'],
  failed: ['bad', 'cross'],
  cancelled: ['plain', 'cross'],
  paid: ['good', 'tick'],
  prepared: ['plain', 'wait'],
  signed: ['warn', 'wait'],
  final: ['good', 'tick'],
  expired: ['plain', 'cross'],
}

export function Status({ status }: { readonly status: State }) {
  const [tone, icon] = appearances[status]
  return <Mark tone={tone} icon={icon} text={words.status[status]} />
}

interface MarkProps {
  tone: string
  icon: IconName
  text: string
}

/** A state in a few words. */
export function Mark({ tone, icon, text }: MarkProps) {
  return (
    <span class={`status status--${tone}`}>
      <Icon name={icon} size={14} />
      {text}
    </span>
  )
}

/** An entry of a list that opens its details: on the left what it is, on the right what it is worth and when it was. */
export function OpenRow({
  icon,
  worth,
  createdAt,
  ago = momentText(createdAt),
  onOpen,
  children,
}: {
  readonly icon?: JSX.Element
  readonly worth?: ComponentChildren
  readonly createdAt: string
  readonly ago?: string
  readonly onOpen: () => void
  readonly children: ComponentChildren
}) {
  return (
    <li class="rows__row">
      <button type="button" class="tip-row" onClick={onOpen}>
        {icon}
        <span class="row__what">{children}</span>
        <span class="tip-row__right">
          {worth}
          <time class="quiet" dateTime={createdAt} title={momentText(createdAt)}>
            {ago}
          </time>
        </span>
      </button>
    </li>
  )
}

interface OwnRowProps {
  label: string
  mark?: JSX.Element | false
  more: string
  /** Undefined: it can't be ended here. `what`: for screen readers. */
  end: { readonly text: string; readonly what: string; readonly onPress: () => void } | undefined
}

/** Something of the creator's own in a list, with the button that ends it. */
export function OwnRow({ label, mark, more, end }: OwnRowProps) {
  return (
    <li class="rows__row row">
      <span class="row__what">
        <bdi class="strong">{label}</bdi>
        {mark}
        <span class="quiet">{more}</span>
      </span>
      {end && (
        <button type="button" class="copy copy--bad" aria-label={end.what} onClick={end.onPress}>
          {end.text}
        </button>
      )}
    </li>
  )
}

/** Below a list: the button that reads the next page, and what went wrong with the last one. */
export function MoreButton({ of: { more, hasMore } }: { readonly of: Pages<unknown> }) {
  return (
    <>
      <FaultNotice fault={more.fault} tone="warn" />
      {hasMore && <Button does={more} text={words.tips.more} />}
    </>
  )
}

/** At most 10,000 rows in a file, because the page holds all of them in memory. */
const maxPages = 100
const pageSize = 100

export function CsvButton({ path, fileName }: { readonly path: string; readonly fileName: string }) {
  const [rows, setRows] = useState(0)
  const saving = useSubmit(async () => {
    saveFile(fileName, await fetchAllPages(`${path}&format=csv`, setRows), 'text/csv')
  })
  return (
    <span>
      <TextButton
        aria-disabled={saving.busy}
        text={saving.busy ? words.csv.busy(rows) : words.csv.save}
        onPress={saving.run}
      />
      {saving.fault !== undefined && (
        <span class="field__fault" role="alert">
          {' '}
          {words.fault(saving.fault)}
        </span>
      )}
    </span>
  )
}

async function fetchAllPages(path: string, onProgress: (rows: number) => void): Promise<string> {
  let text = ''
  let next: string | undefined = path
  for (let page = 1; next !== undefined && page <= maxPages; page++) {
    const response: Response = await request('GET', next)
    const part = await response.text()
    text += page === 1 ? part : part.slice(part.indexOf('\r\n') + 2)
    next = /^<([^>]+)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1]
    onProgress(page * pageSize)
  }
  return text
}
