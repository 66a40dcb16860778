import type { Draw } from '../acts/draw.js'
import type { BankAccount, Person } from './person.js'
import { type Act, done, type Outcome, outcomeOf, type Scene } from './scene.js'

// Acts that move money, or stop it.

interface HistoryRow {
  readonly reference: string
  readonly status: string
  readonly accountNumber: string
  readonly heldFor?: string | null
}

async function withdrawTo(who: Person, account: BankAccount, draw: Draw): Promise<Outcome> {
  const amountUSDC = draw.whole(100, 400) / 100
  const answer = await who.call('POST', '/payouts/withdraw', { ...account, amountUSDC })
  if (answer.status !== 200) return outcomeOf(answer)
  return answer.body['heldFor'] === null || answer.body['heldFor'] === undefined
    ? 'sent'
    : `held for ${answer.body['heldFor']}`
}

/** To an account of their own. The first of the owner's has had a withdrawal before. */
export const withdrawToOwn: Act = async (_, who, draw) => {
  const account = draw.one(who.accounts)
  if (who.session === undefined || account === undefined) return undefined
  return withdrawTo(who, account, draw)
}

/** A thief may send money to the owner's account, to hide another withdrawal among these. */
export const withdrawToOwner: Act = async ({ owner }, who, draw) => {
  const account = owner.accounts[0]
  if (who.session === undefined || account === undefined) return undefined
  return withdrawTo(who, account, draw)
}

async function findOpen(
  who: Person,
  isWanted: (row: HistoryRow) => boolean,
): Promise<HistoryRow[] | Outcome> {
  const answer = await who.call('GET', '/payouts/history')
  if (answer.status !== 200) return outcomeOf(answer)
  return (answer.body['payouts'] as readonly HistoryRow[]).filter(
    (row) => row.status === 'pending' && isWanted(row),
  )
}

/** Owners confirm what goes to an account of theirs. A thief confirms everything. */
function wouldConfirm({ owner }: Scene, who: Person): (row: HistoryRow) => boolean {
  const own = owner.accounts.map(({ accountNumber }) => accountNumber.slice(-4))
  return ({ heldFor, accountNumber }) =>
    heldFor === 'confirmation' && (who !== owner || own.includes(accountNumber.slice(-4)))
}

export const confirm: Act = async (scene, who, draw) => {
  if (who.session === undefined) return undefined
  const rows = await findOpen(who, wouldConfirm(scene, who))
  if (typeof rows === 'string') return rows
  const row = draw.one(rows)
  if (row === undefined) return undefined
  const credential = await credentialFor(who, row, draw)
  return outcomeOf(await who.call('POST', `/payouts/${row.reference}/confirm`, credential))
}

/** The mailed code if they can read it, else an own factor, else a guess. */
async function credentialFor(
  who: Person,
  { reference }: HistoryRow,
  draw: Draw,
): Promise<Record<string, string>> {
  const mails = await who.readMails()
  const mailed = mails.find(
    ({ kind, text }) => kind === 'withdrawal-code' && text.replace(/\s+/g, ' ').includes(reference),
  )
  const factor = draw.happens(mailed === undefined ? 0.8 : 0.3) ? who.factor() : {}
  if (factor.totp !== undefined) return { totp: factor.totp }
  return { code: mailed?.code ?? String(draw.whole(0, 999_999)).padStart(6, '0') }
}

export const resendCode: Act = async (scene, who, draw) => {
  if (who.session === undefined) return undefined
  const rows = await findOpen(who, wouldConfirm(scene, who))
  if (typeof rows === 'string') return rows
  const row = draw.one(rows)
  if (row === undefined) return undefined
  return outcomeOf(await who.call('POST', `/payouts/${row.reference}/confirm/resend`, {}))
}

export const cancel: Act = async (_, who, draw) => {
  if (who.session === undefined) return undefined
  const rows = await findOpen(who, () => true)
  if (typeof rows === 'string') return rows
  const row = draw.one(rows)
  if (row === undefined) return undefined
  return outcomeOf(await who.call('POST', `/payouts/${row.reference}/cancel`, {}))
}

export const removePayees: Act = async (_, who) => {
  if (who.session === undefined) return undefined
  const answer = await who.call('GET', '/creators/payees')
  if (answer.status !== 200) return outcomeOf(answer)
  for (const { id } of answer.body['payees'] as readonly { readonly id: string }[]) {
    const removed = await who.call('DELETE', `/creators/payees/${id}`)
    if (removed.status !== 200) return outcomeOf(removed)
  }
  return done
}
