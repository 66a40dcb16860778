import type { JSX } from 'preact'
import { words } from '../../i18n/dashboard.js'
import { ngn, usd } from '../../lib/money.js'
import type { Payout, PayoutsPage } from '../answers.js'
import { CsvButton } from '../parts/csv-button.js'
import { MoneyRow } from '../parts/lists/money-row.js'
import { MoreButton } from '../parts/lists/more-button.js'
import { go } from '../route.js'
import { useLoad } from '../use-load.js'
import { useFurtherPages } from '../use-pages.js'
import { lastDigits, promisedMore } from './amounts.js'
import { isCancelled } from './holds.js'

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
          <MoneyRow
            key={payout.reference}
            what={
              <span>
                <span class="number tip-row__sender">{ngn(payout.amountNGN)}</span> {words.history.to}{' '}
                <bdi>{payout.accountName}</bdi>
              </span>
            }
            to={
              <>
                <span class="quiet">
                  {payout.bankName ?? payout.bankCode} · {lastDigits(payout.accountNumber)}
                </span>
                <LessThanPromised payout={payout} />
              </>
            }
            status={isCancelled(payout) ? 'cancelled' : payout.status}
            worth={usd(payout.amountUSDC)}
            createdAt={payout.createdAt}
            onOpen={() => go('withdraw', new URLSearchParams({ reference: payout.reference }))}
          />
        ))}
      </ul>
      <MoreButton pages={further} />
    </section>
  )
}

/** Says so when less is sent than was promised. */
export function LessThanPromised({ payout }: { readonly payout: Payout }): JSX.Element | null {
  return promisedMore(payout) ? (
    <span class="quiet">{words.history.less(ngn(payout.promisedNGN))}</span>
  ) : null
}
