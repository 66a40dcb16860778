import type { JSX } from 'preact'
import { words } from '../../i18n/dashboard.js'
import { ngn, usd } from '../../lib/money.js'
import { Button } from '../../ui/controls/button.js'
import type { Payout, PayoutsPage } from '../answers.js'
import { momentText } from '../dates.js'
import { CsvButton } from '../parts/csv-button.js'
import { FaultNotice } from '../parts/fault-notice.js'
import { Status } from '../parts/status.js'
import { go } from '../route.js'
import { useLoad } from '../use-load.js'
import { useFurtherPages } from '../use-pages.js'
import { lastDigits, promisedMore } from './amounts.js'
import { isCancelled } from './progress/holds.js'

/** The withdrawals, newest first; each links to its progress. A new `version` reads them again. */
export function History({ version }: { readonly version: number }): JSX.Element | null {
  const pathAfter = (cursor?: string): string =>
    `/payouts/history?limit=20${cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`}`
  const { data } = useLoad<PayoutsPage>(pathAfter(), version)
  const further = useFurtherPages(pathAfter, data)
  if (data === undefined || data.payouts.length === 0) return null
  const payouts = [...data.payouts, ...further.pages.flatMap((page) => page.payouts)]
  return (
    <section class="card" aria-labelledby="history-title">
      <header class="row">
        <h2 id="history-title">{words.history.title}</h2>
        <CsvButton path="/payouts/history?limit=100" fileName="withdrawals.csv" />
      </header>
      <ul class="rows">
        {payouts.map((payout) => (
          <li key={payout.reference} class="rows__row">
            <button
              type="button"
              class="tip-row"
              onClick={() => go('withdraw', new URLSearchParams({ reference: payout.reference }))}
            >
              <span class="tip-row__what">
                <span>
                  <span class="number tip-row__sender">{ngn(payout.amountNGN)}</span> {words.history.to}{' '}
                  <bdi>{payout.accountName}</bdi>
                </span>
                <span class="quiet">
                  {payout.bankName ?? payout.bankCode} · {lastDigits(payout.accountNumber)}
                </span>
                <LessThanPromised payout={payout} />
                <Status status={isCancelled(payout) ? 'cancelled' : payout.status} />
              </span>
              <span class="tip-row__right">
                <span class="number tip-row__value">{usd(payout.amountUSDC)}</span>
                <time class="quiet" dateTime={payout.createdAt}>
                  {momentText(payout.createdAt)}
                </time>
              </span>
            </button>
          </li>
        ))}
      </ul>
      <FaultNotice fault={further.fault} tone="warn" />
      {further.next !== undefined && (
        <Button busy={further.busy} onPress={further.more}>
          {words.tips.more}
        </Button>
      )}
    </section>
  )
}

/** Says so when less is sent than was promised. */
export function LessThanPromised({ payout }: { readonly payout: Payout }): JSX.Element | null {
  return promisedMore(payout) ? (
    <span class="quiet">{words.history.less(ngn(payout.promisedNGN))}</span>
  ) : null
}
