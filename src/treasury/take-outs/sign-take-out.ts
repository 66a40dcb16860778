import { notifyOwner } from '../../accounts/notify-owner.js'
import { walletNotice } from '../../accounts/payout-wallets/mails.js'
import { verifyMessageSignature } from '../../kernel/ed25519.js'
import type { ErrorCode } from '../../kernel/errors.js'
import { displayText } from '../../kernel/money.js'
import { type Token, tokenByMint } from '../../kernel/tokens.js'
import { firstSignature, messageOf } from '../../kernel/wire-transaction.js'
import { write } from '../../platform/database/database.js'
import type { Services } from '../../services.js'
import { paymentOf, type SigningFault } from '../custodian/decide-signing.js'
import {
  type CustodianNeeds,
  readMoveAccounts,
  SigningRefused,
  signMessage,
} from '../custodian/sign-message.js'
import { readCustodyWallet } from '../custody-move.js'
import { holdTakeOut, setSigned } from './steps.js'
import { hasSigned, lockTakeOut, type TakeOut, takeOutChannel } from './take-out.js'

type Needs = CustodianNeeds & Pick<Services, 'db' | 'transact'>

/** Why nothing is signed: an error of the API, and the fault. */
interface Refusal {
  readonly code: ErrorCode
  readonly problem?: string
}

/** The unique index on signed take-outs of a creator and token. */
const signedConstraint = 'wallet_transfers_signed'
/** The faults of the custodian that are not the transaction's. */
const faults: Readonly<Partial<Record<NonNullable<SigningFault['kind']>, ErrorCode>>> = {
  beyond_book: 'insufficient_balance',
  would_fail: 'transfer_would_fail',
}

/**
 * Signs what the payout wallet has handed in, or records why not. Hold, bytes, signature and height are committed in one
 * transaction, before anybody sees the signature. Throws ProviderError when the chain gives no usable answer: it is tried again.
 */
export async function signTakeOut(services: Needs, takeOut: TakeOut): Promise<void> {
  const refusal = await sign(services, takeOut).catch((error: unknown): Refusal => {
    if (error instanceof SigningRefused) {
      const { reason, kind } = error.fault
      if (kind === 'restored') throw error
      const code = kind && faults[kind]
      return code === undefined ? invalid(reason) : { code, problem: reason }
    }
    if ((error as { constraint?: unknown }).constraint === signedConstraint)
      return { code: 'transfer_in_progress' }
    throw error
  })
  if (refusal !== undefined) await refuse(services, takeOut, refusal)
}

const invalid = (problem: string): Refusal => ({ code: 'invalid_transaction', problem })

async function sign(services: Needs, takeOut: TakeOut): Promise<Refusal | undefined> {
  const { chain, config, custodyChain, db, transact } = services
  const { id, userId, mint, amount, payoutWallet, handedIn, handIns, referenceKey } = takeOut
  const signature = firstSignature(handedIn ?? Buffer.alloc(0))
  if (handedIn === null || signature === undefined)
    return invalid('is no transaction with two signatures, of a legacy or version 0 message')
  const message = messageOf(handedIn)
  const prepared = custodyChain.readMessage(takeOut.message)
  const read = custodyChain.readMessage(message)
  if (read === undefined || read.blockhash !== prepared?.blockhash)
    return invalid('has another blockhash, or looks up addresses in a table')
  if (!(await verifyMessageSignature(payoutWallet, message, signature)))
    return invalid('is not signed by the payout wallet as its fee payer')

  const wallet = await readCustodyWallet(db, userId)
  const move = { userId, mint, amount, referenceKey }
  const accounts = await readMoveAccounts(services, [
    paymentOf({ ...move, wallet, destination: payoutWallet }),
  ])
  const simulation = await chain.simulate(handedIn)
  const wouldFail = simulation?.failed !== false
  if (await hasSigned(db, takeOut)) return { code: 'transfer_in_progress' }
  await transact(async (uow) => {
    const { trx, publish } = uow
    const locked = await lockTakeOut(trx, id)
    if (locked?.state !== 'prepared' || locked.handIns !== handIns) return
    const request = {
      kind: 'takeOut',
      payer: payoutWallet,
      message,
      moves: [move],
      accounts,
      wouldFail,
    } as const
    const signatures = await signMessage(trx, services, request)
    await holdTakeOut(trx, takeOut)
    const transaction = custodyChain.assemble(message, { ...signatures, [payoutWallet]: signature })
    await setSigned(trx, id, { message, transaction, signature })
    const { symbol, decimals } = tokenByMint(mint) as Token
    const notice = walletNotice({
      kind: 'take-out-signed',
      wallet: payoutWallet,
      amount: `${displayText(amount, decimals)} ${symbol}`,
    })
    await notifyOwner(uow, config.http.publicUrl, userId, notice)
    publish(takeOutChannel(id))
    uow.log({ takeOut: id, signature }, 'a take-out was signed')
  })
  return undefined
}

async function refuse({ transact }: Needs, { id, handIns }: TakeOut, refusal: Refusal): Promise<void> {
  await transact(async ({ trx, publish }) => {
    await write(trx, {
      name: 'take-outs.refuse',
      text: /* sql */ `
        update wallet_transfers set refusal_code = $3, refusal = $4
         where id = $1 and hand_ins = $2 and state = 'prepared'`,
      values: [id, handIns, refusal.code, refusal.problem ?? null],
    })
    publish(takeOutChannel(id))
  })
}
