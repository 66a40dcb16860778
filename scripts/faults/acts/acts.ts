import type { Act, ActContext, ActResult } from './context.js'
import { crypto, stranger, verify } from './crypto.js'
import { acceptRate, ask, findUncredited, identity, look, operate, suspense } from './operators.js'
import { answerHold, pay, tip, withdraw } from './people.js'
import { day, event, rate, refundEvent, send } from './provider.js'

const acts = {
  withdraw,
  answerHold,
  tip,
  pay,
  crypto,
  stranger,
  verify,
  send,
  event,
  refundEvent,
  rate,
  day,
  operate,
  ask,
  look,
  suspense,
  identity,
  acceptRate,
  findUncredited,
} satisfies Record<string, Act>
export type ActName = keyof typeof acts

const weights: { readonly [name in ActName]: number } = {
  withdraw: 140,
  answerHold: 30,
  tip: 60,
  pay: 90,
  crypto: 40,
  stranger: 10,
  verify: 40,
  send: 140,
  event: 230,
  refundEvent: 5,
  rate: 10,
  day: 5,
  operate: 240,
  ask: 5,
  look: 10,
  suspense: 30,
  identity: 15,
  acceptRate: 8,
  findUncredited: 2,
}

/** One act. A refusal and an error of the provider are ordinary ends of an act. */
export async function act(context: ActContext): Promise<ActResult & { readonly name: ActName }> {
  const name = context.draw.kind<ActName>(weights)
  const result = await acts[name](context)
  return { ...result, name }
}
