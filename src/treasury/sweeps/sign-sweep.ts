import { packetBytes } from '../../ports/custody-chain.js'
import type { Services } from '../../services.js'
import { paymentOf, type SigningFault } from '../custodian/decide-signing.js'
import {
  type CustodianNeeds,
  readMoveAccounts,
  SigningRefused,
  signMessage,
} from '../custodian/sign-message.js'
import { endSweep, moveToTransit, setSigned } from './steps.js'
import { type DueSweep, lockSweep, readParts, type SweepPart } from './sweep.js'

type Needs = CustodianNeeds & Pick<Services, 'db' | 'transact'>

/** Signs a planned sweep, or refuses it. Throws ProviderError when the chain gives no usable answer: it is tried again. */
export async function signSweep(services: Needs, sweep: DueSweep): Promise<void> {
  try {
    await sign(services, sweep)
  } catch (error) {
    if (!(error instanceof SigningRefused) || error.fault.kind === 'restored') throw error
    const failure = textOf(error.fault)
    await services.transact((uow) => endSweep(uow, sweep.id, { from: 'planned', to: 'dead', failure }))
  }
}

function textOf({ reason, userId }: SigningFault): string {
  return userId === undefined ? reason : `creator ${userId}: ${reason}`
}

async function sign(services: Needs, { id, payer, treasury }: DueSweep): Promise<void> {
  const { config, db, chain, custodyChain, transact } = services
  if (treasury !== config.tips.treasuryWallet)
    throw new SigningRefused({ reason: 'it was planned for another treasury' })
  const parts = await readParts(db, id)
  const { blockhash, lastValidBlockHeight } = await custodyChain.freshBlockhash()
  const payments = parts.map((part) => paymentOf(movesTo(part, treasury)))
  const message = custodyChain.buildMessage({ payer, blockhash, opensAccounts: false, payments })
  if (custodyChain.sizeOf(message) > packetBytes)
    throw new SigningRefused({ reason: 'it does not fit a packet' })
  const accounts = await readMoveAccounts(services, payments)
  // A frozen account, or a payer without SOL.
  const simulated = await chain.simulate(custodyChain.unsigned(message))
  const wouldFail = simulated?.failed !== false
  await transact(async ({ trx, log }) => {
    if ((await lockSweep(trx, id)) !== 'planned') return
    const moves = parts.map(({ userId, mint, amount }) => ({ userId, mint, amount }))
    const request = { kind: 'sweep', payer, message, moves, accounts, wouldFail } as const
    const signatures = await signMessage(trx, services, request)
    await moveToTransit(trx, id, parts)
    await setSigned(trx, id, message, signatures, lastValidBlockHeight)
    log({ sweep: id }, 'a sweep was signed')
  })
}

function movesTo({ wallet, mint, amount }: SweepPart, destination: string) {
  if (wallet === null) throw new SigningRefused({ reason: 'there is no custody wallet' })
  return { wallet, destination, mint, amount }
}
