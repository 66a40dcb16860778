import type { Act, ActContext, ActResult } from './context.js'
import { crypto, stranger, verify } from './crypto.js'
import { acceptRate, ask, findUncredited, identity, look, operate, suspense } from './operators.js'
import { answerHold, pay, tip, withdraw } from './people.js'
import { day, event, rate, refundEvent, send } from './provider.js'

/** Each act, and how often it is chosen. */
const acts = {
  withdraw: [withdraw, 140],
  answerHold: [answerHold, 30],
  tip: [tip, 60],
  pay: [pay, 90],
  crypto: [crypto, 40],
  stranger: [stranger, 10],
  verify: [verify, 40],
  send: [send, 140],
  event: [event, 230],
  refundEvent: [refundEvent, 5],
  rate: [rate, 10],
  day: [day, 5],
  operate: [operate, 240],
  ask: [ask, 5],
  look: [look, 10],
  suspense: [suspense, 30],
  identity: [identity, 15],
  acceptRate: [acceptRate, 8],
  findUncredited: [findUncredited, 2],
} as const satisfies Record<string, readonly [Act, number]>
export type ActName = keyof typeof acts

const weights = Object.fromEntries(
  Object.entries(acts).map(([name, [, weight]]) => [name, weight]),
) as Readonly<Record<ActName, number>>

/** One act. A refusal and an error of the provider are ordinary ends of an act. */
export async function act(context: ActContext): Promise<ActResult & { readonly name: ActName }> {
  const name = context.draw.kind(weights)
  const result = await acts[name][0](context)
  return { ...result, name }
}
