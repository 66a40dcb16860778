import type { Knex } from 'knex'
import { maskAddress } from '../kernel/text.js'
import { isSeen, judgeBy } from '../overlay/judge.js'
import { readSettings } from '../overlay/overlay.js'
import { query } from '../platform/database/database.js'
import { type ListedTip, listColumns, presentListItem, withheldName } from '../tips/read/present.js'
import { fiatSymbol, type TipListItem } from '../tips/schemas.js'

/** The wall is made of this many of the newest paid tips. */
const read = 100
const shown = { newest: 6, largest: 3 } as const

/** A tip on the wall. */
export interface Supporter {
  readonly name: string
  readonly amount: string
  readonly words: string | null
  readonly at: string
}

export interface Wall {
  readonly newest: readonly Supporter[]
  readonly largest: readonly Supporter[]
}

/** A name of a site, with or without its scheme. What only looks like one is withheld too. */
const link = /https?:|www[.]|[\p{L}\p{N}-][.]\p{L}{2}/iu
/** As many digits as a bank account has, however they are grouped. */
const accountNumber = /(?:\p{Nd}[\s.,_/-]*){10}/u

/** Whether words of a stranger are kept from a creator's page: they could send its visitors, or their money, elsewhere. */
function isHeld(words: string): boolean {
  const plain = words.normalize('NFKC')
  return link.test(plain) || accountNumber.test(plain)
}

/**
 * The supporters that a creator's page shows: of paid tips that were not given back, and not of payers who stay anonymous. What the
 * creator keeps off the overlay is kept off the page too.
 */
export async function readWall(db: Knex, userId: string): Promise<Wall> {
  const stateOf = judgeBy(await readSettings(db, userId))
  const rows = await query<ListedTip & { readonly decision: 'approved' | 'held' | 'hidden' | null }>(db, {
    name: 'public-page.wall',
    text: /* sql */ `
      with newest as (
        select * from tips where recipient_party = (select id from parties where user_id = $1) and listed and status = 'confirmed'
        order by recorded_at desc, id desc limit ${read})
      select ${listColumns}, p.usd, d.state as decision
      from newest t left join tip_decisions d on d.tip_id = t.id join parties r on r.id = t.recipient_party left join parties s on s.id = t.sender_party
      left join prices p on p.mint = t.mint
      order by t.recorded_at desc, t.id desc`,
    values: [userId],
  })
  const tips = rows
    .flatMap((row) => {
      const state = stateOf(row)
      const isWithheld = state === 'without_words'
      return isSeen(state) ? [{ ...presentListItem(row), senderName: row.senderName, isWithheld }] : []
    })
    .filter(isShown)
  const largest = tips.toSorted((one, other) => other.valueUsd - one.valueUsd).slice(0, shown.largest)
  return { newest: tips.slice(0, shown.newest).map(supporterOf), largest: largest.map(supporterOf) }
}

function isShown({ tokenSymbol, sender, amount, refundedAmount = 0 }: TipListItem): boolean {
  return refundedAmount < amount && !(tokenSymbol === fiatSymbol && sender === withheldName)
}

function supporterOf({
  tokenSymbol,
  sender,
  senderName,
  amount,
  message,
  timestamp,
  fiatDetails,
  isWithheld,
}: TipListItem & Pick<ListedTip, 'senderName'> & { readonly isWithheld: boolean }): Supporter {
  const name = senderName ?? (tokenSymbol === fiatSymbol ? sender : maskAddress(sender))
  const paid =
    fiatDetails === null ? `${amountText(amount)} ${tokenSymbol}` : `₦${amountText(fiatDetails.amountNgn)}`
  return {
    name: isWithheld || isHeld(name) ? 'A supporter' : name,
    amount: paid,
    words: message === null || isWithheld || isHeld(message) ? null : message,
    at: timestamp,
  }
}

function amountText(amount: number): string {
  return amount.toLocaleString('en-NG', { maximumSignificantDigits: 6 })
}
