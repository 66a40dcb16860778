import { DomainError, type ErrorCode, errors, inputError } from '../../kernel/errors.js'
import { query } from '../../platform/database/database.js'
import { waitForRow } from '../../platform/database/wait-for-row.js'
import { packetBytes } from '../../ports/custody-chain.js'
import type { Services } from '../../services.js'
import { findTakeOut, type TakeOut, takeOutChannel } from './take-out.js'

type Needs = Pick<Services, 'config' | 'db' | 'notifications' | 'transact'>

/**
 * Hands the custodian what the payout wallet has signed, and waits for its signature. A take-out that is signed already stays as
 * it is, so a lost answer is asked for again. Throws `transfer_not_found`, `transfer_expired`, `request_in_progress`,
 * `service_unavailable` when the custodian does not answer in time, and what the custodian refuses with.
 */
export async function handIn(services: Needs, userId: string, id: string, text: string): Promise<TakeOut> {
  const transaction = Buffer.from(text, 'base64')
  if (transaction.length === 0 || transaction.length > packetBytes)
    throw inputError('invalid_transaction', 'transaction', `must be base64 of at most ${packetBytes} bytes`)
  const number = await storeHandIn(services, userId, id, transaction)
  const { config, db, notifications } = services
  const read = async (): Promise<TakeOut | undefined> => {
    const takeOut = await findTakeOut(db, userId, id)
    if (takeOut === undefined) throw new DomainError('transfer_not_found')
    if (takeOut.state !== 'prepared') return takeOut
    if (number === undefined || takeOut.handIns !== number) throw new DomainError('request_in_progress')
    return takeOut.refusalCode === null ? undefined : takeOut
  }
  const totalMs = config.withdrawals.waitMs
  const takeOut = await waitForRow(read, { notifications, channel: takeOutChannel(id), totalMs })
  if (takeOut === undefined) throw new DomainError('service_unavailable')
  if (takeOut.state === 'prepared') throw refusalOf(takeOut)
  if (takeOut.state === 'expired' || takeOut.state === 'failed') throw new DomainError('transfer_expired')
  return takeOut
}

/** Undefined: it is not prepared any more. `attempts` breaks the fence of a worker that has not read this. */
async function storeHandIn(
  { transact }: Needs,
  userId: string,
  id: string,
  transaction: Buffer,
): Promise<number | undefined> {
  return transact(async ({ trx, wake }) => {
    const [stored] = await query<{ number: number }>(trx, {
      name: 'take-outs.hand-in',
      text: /* sql */ `
        update wallet_transfers set handed_in = $3, hand_ins = hand_ins + 1, refusal_code = null, refusal = null,
          due_at = clock_timestamp(), attempts = attempts + 1
         where id = $1 and user_id = $2 and state = 'prepared' returning hand_ins as number`,
      values: [id, userId, transaction],
    })
    wake('take-outs')
    return stored?.number
  })
}

function refusalOf({ refusalCode, refusal }: TakeOut): DomainError {
  const code: ErrorCode =
    refusalCode !== null && Object.hasOwn(errors, refusalCode)
      ? (refusalCode as ErrorCode)
      : 'invalid_transaction'
  const field = code === 'invalid_transaction' ? 'transaction' : 'amount'
  return refusal === null ? new DomainError(code) : inputError(code, field, refusal)
}
