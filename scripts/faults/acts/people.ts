import { type Act, nothing, post } from './context.js'

/** Withdraws in dollars or naira. Some amounts are too small or too large, some wait for an identity. */
export const withdraw: Act = async ({ stage, draw, made }) => {
  const creator = draw.one(stage.creators)
  if (creator === undefined) return nothing
  const usdc = draw.happens(0.05) ? 2_000_000 : draw.whole(1, draw.happens(0.2) ? 60 : 20)
  const amount = draw.happens(0.5) ? { amountUSDC: usdc } : { amountNGN: usdc * 1600, currency: 'NGN' }
  const accountNumber = draw.happens(0.1) ? '0000000000' : '0123456789'
  const body = { bankCode: '058', accountNumber, accountName: 'Ada Obi', ...amount }
  const answer = await post(stage, '/payouts/withdraw', body, { cookie: creator.cookie })
  const { reference } = answer.body
  if (reference === undefined) return { text: `withdraw ${usdc} USDC: ${answer.status}` }
  made.references.push(reference)
  return { text: `withdraw ${JSON.stringify(amount)}: ${answer.status}`, about: reference }
}

/** Confirms a withdrawal with the code that was mailed for it, or cancels it. */
export const answerHold: Act = async ({ stage, draw, made }) => {
  const { db } = stage.services
  const reference = draw.one(made.references, true)
  if (reference === undefined) return nothing
  const { user_id: userId } = await db('withdrawals').where({ reference }).first('user_id')
  const creator = stage.creators.find((one) => one.userId === userId)
  if (creator === undefined) return nothing
  const how = draw.happens(0.4) ? 'cancel' : 'confirm'
  const mail = await db('emails')
    .where({ kind: 'withdrawal-code' })
    .whereLike('body_text', `%${reference}%`)
    .orderBy('created_at', 'desc')
    .first('body_text')
  const code = /^ {4}([0-9]{6})$/m.exec(mail?.body_text ?? '')?.[1] ?? '000000'
  const body = how === 'confirm' ? { code } : {}
  const answer = await post(stage, `/payouts/${reference}/${how}`, body, { cookie: creator.cookie })
  return { text: `${how}: ${answer.status}`, about: reference }
}

/** A naira tip. Some name an amount in naira that does not fit the dollars. */
export const tip: Act = async ({ stage, draw, made }) => {
  const creator = draw.one(stage.creators)
  if (creator === undefined) return nothing
  const amount = draw.whole(1, 20)
  const amountNgn = draw.happens(0.15) ? { amountNgn: draw.whole(1, 20) * 2500 } : {}
  const wanted = { creatorId: creator.userId, amount, ...amountNgn }
  const { status, body } = await post(stage, '/payments/fiat/intent', wanted)
  if (body.intentId !== undefined) made.intents.push(body.intentId)
  return { text: `naira tip of ${amount}: ${status}` }
}

/** Pays an intent: in full, twice, short, too much, or after its end. The charge may be paid already. */
export const pay: Act = async ({ stage, draw, made }) => {
  const { fiatpay } = stage.sandbox
  const intentId = draw.one(made.intents, true)
  const charge = intentId === undefined ? undefined : fiatpay.charges.find(intentId)
  if (intentId === undefined || charge === undefined) return nothing
  const how = draw.kind({ full: 5, twice: 1, short: 2, barely: 1, more: 1, late: 1, failed: 1 })
  const factors = { full: 1, twice: 1, short: 0.5, barely: 0.995, more: 1.5, late: 1, failed: 0 }
  const kobo = Math.round(charge.amountKobo * factors[how])
  if (how === 'late')
    await stage.services.db.raw(
      `update fiat_intents set expires_at = clock_timestamp() - interval '1 second',
         created_at = clock_timestamp() - interval '1801 seconds' where id = ?`,
      [intentId],
    )
  if (how === 'failed') {
    if (charge.payments.length === 0) fiatpay.failCharge(charge)
  } else {
    const paid = fiatpay.pay(charge, kobo)
    if (how === 'twice') fiatpay.pay(paid, kobo)
  }
  await stage.services
    .db('fiat_intents')
    .where({ id: intentId })
    .update({ due_at: new Date(0) })
  await stage.batches.settlement()
  return { text: `pay ${intentId} ${how}` }
}
