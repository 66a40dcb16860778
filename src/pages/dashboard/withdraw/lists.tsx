import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { ngn, usd } from '../../lib/money.js'
import { Announcer } from '../../ui/kit.js'
import type { Payees as PayeesAnswer, Payout, PayoutsPage } from '../answers.js'
import { call } from '../api.js'
import { agoText, useNow } from '../dates.js'
import { Card } from '../parts/cards.js'
import { useKeptFocus } from '../parts/focus.js'
import { Question } from '../parts/forms.js'
import { CsvButton, MoreButton, OpenRow, OwnRow, Status } from '../parts/rows.js'
import { pathsAfter, useLoad, usePages } from '../requests.js'
import { go, useDrawer } from '../route.js'
import { accountText, isCancelled, lastDigits, promisedMore } from './rules.js'

/** The withdrawals, newest first; each links to its progress. A new `version` reads them again. */
export function History({ version }: { readonly version: number }) {
  const list = usePages<PayoutsPage>(pathsAfter('/payouts/history?limit=20'), version)
  const payouts = list.pages.flatMap((page) => page.payouts)
  if (payouts.length === 0) return null
  return (
    <Card
      name="history"
      title={words.history.title}
      beside={<CsvButton path="/payouts/history?limit=100" fileName="withdrawals.csv" />}
    >
      <ul class="rows">
        {payouts.map((payout) => (
          <OpenRow
            key={payout.reference}
            worth={<span class="number strong">{usd(payout.amountUSDC)}</span>}
            createdAt={payout.createdAt}
            onOpen={() => go('withdraw', new URLSearchParams({ reference: payout.reference }))}
          >
            <span>
              <span class="number strong">{ngn(payout.amountNGN)}</span> {words.history.to}{' '}
              <bdi>{payout.accountName}</bdi>
            </span>
            <span class="quiet">
              {payout.bankName ?? payout.bankCode} · {lastDigits(payout.accountNumber)}
            </span>
            <LessThanPromised payout={payout} />
            <Status status={isCancelled(payout) ? 'cancelled' : payout.status} />
          </OpenRow>
        ))}
      </ul>
      <MoreButton of={list} />
    </Card>
  )
}

export function LessThanPromised({ payout }: { readonly payout: Payout }) {
  return promisedMore(payout) ? (
    <span class="quiet">{words.history.less(ngn(payout.promisedNGN))}</span>
  ) : null
}

/** The bank accounts that were withdrawn to. A removed one needs a confirmation again. */
export function Payees({ version }: { readonly version: number }) {
  const { data, reload } = useLoad<PayeesAnswer>('/creators/payees', version)
  const [announcement, setAnnouncement] = useState('')
  const drawer = useDrawer()
  const now = useNow()
  const heading = useKeptFocus(announcement !== '', data, drawer.open)
  if (data === undefined || (data.payees.length === 0 && announcement === '')) return null
  const removing = data.payees.find(({ id }) => drawer.open === `payee-${id}`)
  const { payees: text } = words
  return (
    <Card name="payees" title={text.title} heading={heading} lead={text.lead}>
      <Announcer text={announcement} />
      <ul class="rows">
        {data.payees.map((payee) => (
          <OwnRow
            key={payee.id}
            label={payee.accountName}
            mark={<span>{accountText(payee)}</span>}
            more={
              text.used(agoText(payee.lastUsedAt, now)) + (payee.confirmed ? '' : ` · ${text.unconfirmed}`)
            }
            end={{
              text: text.remove,
              what: text.removeWhat(accountText(payee)),
              onPress: () => drawer.show(`payee-${payee.id}`),
            }}
          />
        ))}
      </ul>
      {removing !== undefined && (
        <Question
          title={text.question(accountText(removing))}
          effect={text.effect}
          submit={text.remove}
          act={() => call('DELETE', `/creators/payees/${removing.id}`)}
          onClose={drawer.close}
          onDone={() => {
            setAnnouncement(text.removed(accountText(removing)))
            reload()
          }}
        />
      )}
    </Card>
  )
}
