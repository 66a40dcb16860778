import type { JSX } from 'preact'
import { words } from '../../i18n/dashboard.js'
import { ngn, usd } from '../../lib/money.js'
import type { Payout } from '../answers.js'
import { momentText } from '../dates.js'
import { Status } from '../parts/status.js'
import { go } from '../route.js'
import { useLoad } from '../use-load.js'
import { promisedMore } from './amounts.js'

/** The withdrawals, newest first; each links to its progress. A new `version` reads them again. */
export function History({ version }: { readonly version: number }): JSX.Element | null {
  const { data } = useLoad<{ payouts: readonly Payout[] }>('/payouts/history?limit=20', version)
  if (data === undefined || data.payouts.length === 0) return null
  return (
    <section class="card" aria-labelledby="history-title">
      <h2 id="history-title">{words.history.title}</h2>
      <ul class="rows">
        {data.payouts.map((payout) => (
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
                  {payout.bankName ?? payout.bankCode} · {payout.accountNumber.slice(-4).padStart(8, '•')}
                </span>
                <LessThanPromised payout={payout} />
                <Status status={payout.status} />
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
    </section>
  )
}

/** Says so when less is sent than was promised. */
export function LessThanPromised({ payout }: { readonly payout: Payout }): JSX.Element | null {
  return promisedMore(payout) ? (
    <span class="quiet">{words.history.less(ngn(payout.promisedNGN))}</span>
  ) : null
}
