import { codeIn } from '../../kit/client.js'
import { type Act, nothing, post } from './context.js'
import { nairaPerDollar } from './stage.js'

/** Withdraws in dollars or naira. Some amounts are too small or too large, some wait for an identity. */
export const withdraw: Act = async ({ stage, draw, made }) => {
  const creator = draw.oneOf(stage.creators)
  const usdc = draw.happens(0.05) ? 2_000_000 : draw.whole(1, draw.happens(0.2) ? 60 : 20)
  const amount = draw.happens(0.5)
    ? { amountUSDC: usdc }
    : { amountNGN: usdc * nairaPerDollar, currency: 'NGN' }
  const accountNumber = draw.happens(0.1) ? '0000000000' : '0123456789'
  const wanted = { bankCode: '058', accountNumber, accountName: 'Ada Obi', ...amount }
  const { status, body } = await post(stage, '/payouts/withdraw', wanted, creator.cookie)
  const { reference } = body as { reference?: string }
  const text = `withdraw ${JSON.stringify(amount)}: ${status}`
  if (reference === undefined) return { text }
  made.references.push(reference)
  return { text, about: reference }
}

/** Confirms a withdrawal with the code that was mailed for it, or cancels it. */
export const answerHold: Act = async ({ stage, draw, made }) => {
  const { db } = stage.services
  const reference = draw.one(made.references, true)
  if (reference === undefined) return nothing
  const { user_id: userId } = await db('withdrawals').where({ reference }).first('user_id')
  const creator = stage.creators.find((one) => one.userId === userId)
  const how = draw.happens(0.4) ? 'cancel' : 'confirm'
  const mail = await db('emails')
    .where({ kind: 'withdrawal-code' })
    .whereLike('body_text', `%${reference}%`)
    .orderBy('created_at', 'desc')
    .first('body_text')
  const body = how === 'confirm' ? { code: codeIn(mail?.body_text ?? '') ?? '000000' } : {}
  const { status } = await post(stage, `/payouts/${reference}/${how}`, body, creator?.cookie)
  return { text: `${how}: ${status}`, about: reference }
}

/** A naira tip. Some name an amount in naira that does not fit the dollars. */
export const tip: Act = async ({ stage, draw, made }) => {
  const creator = draw.oneOf(stage.creators)
  const amount = draw.whole(1, 20)
  const amountNgn = draw.happens(0.15) ? { amountNgn: draw.whole(1, 20) * 2500 } : {}
  const wanted = { creatorId: creator.userId, amount, ...amountNgn }
  const { status, body } = await post(stage, '/payments/fiat/intent', wanted)
  if (body['intentId'] !== undefined) made.intents.push(String(body['intentId']))
  return { text: `naira tip of ${amount}: ${status}` }
}

/** What each kind of payer pays of the price. */
const shares = { full: 1, twice: 1, short: 0.5, barely: 0.995, more: 1.5, late: 1, failed: 0 }

/** Pays an intent: in full, twice, short, too much, or after its end. The charge may be paid already. */
export const pay: Act = async ({ stage, draw, made }) => {
  const { fiatpay } = stage.sandbox
  const intentId = draw.one(made.intents, true)
  const charge = intentId === undefined ? undefined : fiatpay.charges.find(intentId)
  if (intentId === undefined || charge === undefined) return nothing
  const how = draw.kind({ full: 5, twice: 1, short: 2, barely: 1, more: 1, late: 1, failed: 1 })
  const kobo = Math.round(charge.amountKobo * shares[how])
  if (how === 'late')
    await stage.services.db.raw(
      `update fiat_intents set expires_at = clock_timestamp() - interval '1 second',
         created_at = clock_timestamp() - interval '1801 seconds' where id = ?`,
      [intentId],
    )
  if (how !== 'failed') {
    const paid = fiatpay.pay(charge, kobo)
    if (how === 'twice') fiatpay.pay(paid, kobo)
  } else if (charge.payments.length === 0) fiatpay.failCharge(charge)
  await stage.services
    .db('fiat_intents')
    .where({ id: intentId })
    .update({ due_at: new Date(0) })
  await stage.batches.settlement()
  return { text: `pay ${intentId} ${how}` }
}
