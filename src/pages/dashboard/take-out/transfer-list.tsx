import type { JSX } from 'preact'
import { words } from '../../i18n/dashboard.js'
import { shortAddress } from '../../lib/tip-text.js'
import { FaultNotice } from '../parts/fault-notice.js'
import { MoneyRow } from '../parts/lists/money-row.js'
import { MoreButton } from '../parts/lists/more-button.js'
import { useLoad } from '../use-load.js'
import { useFurtherPages } from '../use-pages.js'
import { transfersPath } from './sign-transfer.js'
import { exactAmount, type Transfer } from './transfer.js'

interface TransfersPage {
  readonly transfers: readonly Transfer[]
  readonly nextCursor: string | null
}

/** The take-outs, newest first; each opens its progress. A new `version` reads them again. */
export function TransferList({
  version,
  onOpen,
}: {
  readonly version: number
  readonly onOpen: (transfer: Transfer) => void
}): JSX.Element | null {
  const pathAfter = (cursor?: string): string =>
    `${transfersPath}?limit=20${cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`}`
  const { data, fault, reload } = useLoad<TransfersPage>(pathAfter(), version)
  const further = useFurtherPages(pathAfter, data)
  if (data === undefined) return <FaultNotice fault={fault} tone="warn" onRetry={reload} />
  if (data.transfers.length === 0) return null
  const transfers = [...data.transfers, ...further.pages.flatMap((page) => page.transfers)]
  return (
    <section class="card" aria-labelledby="transfers-title">
      <h2 id="transfers-title">{words.takeOut.list}</h2>
      <ul class="rows">
        {transfers.map((transfer) => (
          <MoneyRow
            key={transfer.id}
            what={<span class="number tip-row__sender">{exactAmount(transfer)}</span>}
            to={<span class="quiet">{words.takeOut.toShort(shortAddress(transfer.wallet))}</span>}
            status={transfer.status}
            createdAt={transfer.createdAt}
            onOpen={() => onOpen(transfer)}
          />
        ))}
      </ul>
      <MoreButton pages={further} />
    </section>
  )
}
