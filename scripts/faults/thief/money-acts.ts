import type { BankAccount, Person } from './person.js'
import { type Act, listOf, removeAll, type Scene, signedIn } from './scene.js'

// Acts that move money, or stop it.

interface HistoryRow {
  readonly reference: string
  readonly status: string
  readonly accountNumber: string
  readonly heldFor?: string | null
}

/** To an account of a person, which is chosen. */
function withdrawTo(accountsOf: (scene: Scene, who: Person) => readonly BankAccount[]): Act {
  return signedIn(async (scene, who, draw) => {
    const account = draw.one(accountsOf(scene, who))
    if (account === undefined) return undefined
    const amountUSDC = draw.whole(100, 400) / 100
    const answer = await who.call('POST', '/payouts/withdraw', { ...account, amountUSDC })
    if (answer.status !== 200) return answer
    const heldFor = answer.body['heldFor'] ?? undefined
    return heldFor === undefined ? 'sent' : `held for ${heldFor}`
  })
}

/** To an account of their own. The first of the owner's has had a withdrawal before. */
export const withdrawToOwn: Act = withdrawTo((_, who) => who.accounts)

/** A thief may send money to the owner's account, to hide another withdrawal among these. */
export const withdrawToOwner: Act = withdrawTo(({ owner }) => owner.accounts.slice(0, 1))

/** Does something to an open withdrawal. */
function toOpen(
  isWanted: (scene: Scene, who: Person) => (row: HistoryRow) => boolean,
  what: string,
  bodyFor: (
    who: Person,
    row: HistoryRow,
    isCode: boolean,
    guess: string,
  ) => Promise<object> = async () => ({}),
): Act {
  return signedIn(async (scene, who, draw) => {
    const rows = await listOf<HistoryRow>(who, '/payouts/history', 'payouts')
    if (typeof rows === 'string') return rows
    const row = draw.one(rows.filter(({ status }) => status === 'pending').filter(isWanted(scene, who)))
    if (row === undefined) return undefined
    const guess = String(draw.whole(0, 999_999)).padStart(6, '0')
    const body = await bodyFor(who, row, draw.happens(0.3), guess)
    return who.call('POST', `/payouts/${row.reference}/${what}`, body)
  })
}

/** Owners confirm what goes to an account of theirs. A thief confirms everything. */
function wouldConfirm({ owner }: Scene, who: Person): (row: HistoryRow) => boolean {
  const own = owner.accounts.map(({ accountNumber }) => accountNumber.slice(-4))
  return ({ heldFor, accountNumber }) =>
    heldFor === 'confirmation' && (who !== owner || own.includes(accountNumber.slice(-4)))
}

/** With the mailed code if they can read it, else an own factor, else a guess. */
export const confirm: Act = toOpen(wouldConfirm, 'confirm', async (who, { reference }, byFactor, guess) => {
  const mails = await who.readMails()
  const mailed = mails.find(
    ({ kind, text }) => kind === 'withdrawal-code' && text.replace(/\s+/g, ' ').includes(reference),
  )
  const { totp } = byFactor || mailed === undefined ? who.factor() : {}
  return totp === undefined ? { code: mailed?.code ?? guess } : { totp }
})

export const resendCode: Act = toOpen(wouldConfirm, 'confirm/resend')
export const cancel: Act = toOpen(() => () => true, 'cancel')
export const removePayees: Act = removeAll('/creators/payees', 'payees')
