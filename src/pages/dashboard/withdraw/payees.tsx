import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Announcer } from '../../ui/messages/announcer.js'
import type { Payee } from '../answers.js'
import { call } from '../api.js'
import { agoText, useNow } from '../dates.js'
import { useDrawer } from '../parts/drawer.js'
import { Question } from '../parts/question.js'
import { useKeptFocus } from '../parts/use-kept-focus.js'
import { useLoad } from '../use-load.js'
import { lastDigits } from './amounts.js'

/** The bank accounts that were withdrawn to. A removed one needs a confirmation again. */
export function Payees({ version }: { readonly version: number }): JSX.Element | null {
  const { data, reload } = useLoad<{ payees: readonly Payee[] }>('/creators/payees', version)
  const [announcement, setAnnouncement] = useState('')
  const drawer = useDrawer()
  const now = useNow()
  const heading = useKeptFocus(announcement !== '', data, drawer.open)
  if (data === undefined || (data.payees.length === 0 && announcement === '')) return null
  const removing = data.payees.find(({ id }) => drawer.open === `payee-${id}`)
  const { payees: text } = words
  return (
    <section class="card" aria-labelledby="payees-title">
      <h2 id="payees-title" ref={heading} tabIndex={-1}>
        {text.title}
      </h2>
      <p class="quiet">{text.lead}</p>
      <Announcer text={announcement} />
      <ul class="rows">
        {data.payees.map((payee) => (
          <li key={payee.id} class="rows__row key">
            <span class="key__what">
              <bdi class="key__label">{payee.accountName}</bdi>
              <span>{accountText(payee)}</span>
              <span class="quiet">
                {text.used(agoText(payee.lastUsedAt, now))}
                {!payee.confirmed && ` · ${text.unconfirmed}`}
              </span>
            </span>
            <button
              type="button"
              class="copy copy--bad"
              aria-label={text.removeWhat(accountText(payee))}
              onClick={() => drawer.show(`payee-${payee.id}`)}
            >
              {text.remove}
            </button>
          </li>
        ))}
      </ul>
      {removing !== undefined && (
        <Question
          title={text.question(accountText(removing))}
          effect={text.effect}
          yes={text.remove}
          no={words.cancel}
          act={() => call('DELETE', `/creators/payees/${removing.id}`)}
          onClose={drawer.close}
          onDone={() => {
            drawer.close()
            setAnnouncement(text.removed(accountText(removing)))
            reload()
          }}
        />
      )}
    </section>
  )
}

function accountText({ bankName, bankCode, accountNumber }: Payee): string {
  return `${bankName ?? bankCode} ${lastDigits(accountNumber)}`
}
