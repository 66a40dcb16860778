import test from 'ava'
import { addressHash } from '../../../src/mail/queue-email.js'
import { createMailerBatch } from '../../../src/mail/send-emails.js'
import { createSmtp } from '../../../src/providers/smtp/smtp.js'
import { createClient } from '../../helpers/http/client.js'
import { follow } from '../../helpers/http/stream-reader.js'
import { registerCreator, registerPerson } from '../../helpers/make/creators.js'
import {
  createFiatIntent,
  type FiatIntentBody,
  payFiatIntent,
  readFiatStatus,
  settleIntentNow,
} from '../../helpers/make/fiat/fiat-tips.js'
import { registerEmbedder } from '../../helpers/make/sdk.js'
import { monitorRedis } from '../../helpers/servers/private-redis.js'
import { as } from '../../helpers/servers/roles.js'
import { startMs, startWeb, startWorkerProcess } from '../../helpers/servers/service-process.js'
import { runBatch, useWorld, type World } from '../../helpers/servers/world.js'
import { until } from '../../helpers/until.js'

const world = useWorld(test, { fiat: true, mail: true })

/** Texts that occur nowhere else. */
const canaryName = 'Zqxcanaryname'
const canaryEmail = 'zqxcanarymail@example.com'

async function sendEmails({ services, env }: World): Promise<void> {
  const mail = createSmtp({ url: env['SMTP_URL'] ?? '', from: env['MAIL_FROM'] ?? '' })
  await runBatch(createMailerBatch({ ...as('mailer', services), mail }))
}

/** Everything that a creator can read. */
async function readAllAsCreator(
  session: string,
  userId: string,
  wallet: string,
  apiKey: string,
): Promise<string> {
  const seen: string[] = []
  for (const path of [
    '/creators/tips',
    '/creators/tips?format=csv',
    `/creators/tips?q=${canaryName}`,
    `/creators/tips?q=${canaryEmail}`,
    '/creators/tips/daily',
    '/creators/transactions',
    '/creators/transactions?format=csv',
    '/creators/balance',
    '/creators/me',
    '/auth/me',
    `/chain/tips?address=${userId}`,
    `/chain/tips?address=${wallet}`,
  ])
    seen.push(JSON.stringify((await world().request<unknown>('GET', path, { session })).body))
  const events = await world().request<unknown>('GET', `/sdk/events?creatorId=${userId}`, { bearer: apiKey })
  return [...seen, JSON.stringify(events.body)].join('\n')
}

for (const anonymous of [true, 'yes', 1])
  test(`a payer with isAnonymous ${JSON.stringify(anonymous)} leaves neither name nor e-mail where a creator can read`, async (t) => {
    const creator = await registerEmbedder(world())
    const stream = await follow(t, world().url, creator.wallet)
    const { intentId } = await createFiatIntent(world(), {
      creatorId: creator.user.id,
      amount: 10,
      senderName: canaryName,
      payerEmail: canaryEmail,
      memo: 'guess who',
      isAnonymous: anonymous,
    })
    const readAll = () => readAllAsCreator(creator.session, creator.user.id, creator.wallet, creator.apiKey)
    const pending = await readAll()
    payFiatIntent(world(), intentId)
    await settleIntentNow(world(), intentId)
    await sendEmails(world())
    await until('the event is on the stream', () => stream.tips.length === 1)
    const everything = `${pending}\n${await readAll()}\n${stream.body()}`
    t.true(everything.includes('guess who') && everything.includes('Anonymous'), 'the tip is there at all')
    // The service does not store it, and the provider does not get it.
    const { rows } = await world().db.raw(
      `select t::text || f::text as text from tips t join fiat_intents f using (id) where id = ?`,
      [intentId],
    )
    const stored = `${rows[0].text}\n${JSON.stringify(world().fiat.fiatpay.charges.find(intentId))}`
    for (const secret of [canaryName, canaryEmail])
      t.false(`${everything}\n${stored}`.toLowerCase().includes(secret.toLowerCase()))
    t.deepEqual(world().mail.received(canaryEmail), [])
    const email_hash = addressHash(world().services.config.dataKeys, canaryEmail)
    t.is(await world().db('payers').where({ email_hash }).first(), undefined)
  })

test('a payer with an e-mail gets one receipt, and the creator sees the name but never the e-mail', async (t) => {
  const creator = await registerEmbedder(world())
  const payerEmail = 'bola.payer@example.com'
  const { intentId } = await createFiatIntent(world(), {
    creatorId: creator.user.id,
    amount: 10,
    senderName: 'Bola',
    payerEmail: ' Bola.Payer@example.com ',
  })
  await sendEmails(world())
  t.deepEqual(world().mail.received(payerEmail), [])
  payFiatIntent(world(), intentId)
  await settleIntentNow(world(), intentId)
  await settleIntentNow(world(), intentId)
  await sendEmails(world())
  // Another test's mailer may be sending it.
  await until('the receipt arrives', () => world().mail.received(payerEmail).length > 0)
  const mails = world().mail.received(payerEmail)
  t.is(mails.length, 1)
  t.regex(mails[0]?.text ?? '', /₦15,200\.00/)
  t.true(mails[0]?.text.includes(intentId))
  const seen = await readAllAsCreator(creator.session, creator.user.id, creator.wallet, creator.apiKey)
  t.true(seen.includes('Bola'))
  t.false(seen.toLowerCase().includes('bola.payer'))
})

test('a receipt never carries a link in a creator’s name', async (t) => {
  const { user } = await registerEmbedder(world())
  const name = 'Win at https://evil.example/x evil.example/y me@evil.example 123456'
  await world().db('users').where({ id: user.id }).update({ name })
  const payerEmail = 'unlinked@example.com'
  const { intentId } = await createFiatIntent(world(), { creatorId: user.id, amount: 10, payerEmail })
  payFiatIntent(world(), intentId)
  await settleIntentNow(world(), intentId)
  await sendEmails(world())
  await until('the receipt arrives', () => world().mail.received(payerEmail).length > 0)
  const [mail] = world().mail.received(payerEmail)
  t.regex(mail?.text ?? '', /a tip to "Win at \(link\) \(link\) \(link\)/)
  t.false(`${mail?.text} ${mail?.html}`.includes('evil.example'))
})

for (const payerEmail of [
  'bola&co@example.com',
  'q/a#1=x!%~@example.com',
  "o'@example.com",
  'bola@пример.рф',
])
  test(`${payerEmail}, which the provider would refuse, pays under a generated address and gets the receipt`, async (t) => {
    const { user } = await registerCreator(world())
    const { intentId } = await createFiatIntent(world(), {
      creatorId: user.id,
      amount: 10,
      payerEmail,
    })
    t.regex(world().fiat.fiatpay.charges.find(intentId)?.email ?? '', /^guest-[0-9a-f]{24}@tips\.example$/)
    payFiatIntent(world(), intentId)
    await settleIntentNow(world(), intentId)
    await sendEmails(world())
    await until('the receipt arrives', () => world().mail.received(payerEmail).length > 0)
    t.is(world().mail.received(payerEmail).length, 1)
  })

test('a payer’s e-mail stays free for registration, and a generated one is never shown', async (t) => {
  const creator = await registerCreator(world())
  const email = 'future.creator@example.com'
  await createFiatIntent(world(), { creatorId: creator.user.id, amount: 10, payerEmail: email })
  const body = { email, password: 'correct horse', name: 'Future Creator' }
  t.is((await world().request<object>('POST', '/auth/register', { body })).status, 200)
  const person = await registerPerson(world())
  const { intentId } = await createFiatIntent(world(), {
    creatorId: person.user.id,
    amount: 10,
    payerEmail: 'no address',
  })
  const charge = world().fiat.fiatpay.charges.find(intentId)
  t.regex(charge?.email ?? '', /^guest-[0-9a-f]{24}@tips\.example$/)
  t.deepEqual(await world().db('users').where('email', 'like', 'guest-%'), [])
})

// The requests go to separate processes that log at the lowest level. No name and no e-mail may appear anywhere.
test('names and e-mails of payers are in no log line, no Redis command and no error text', async (t) => {
  t.timeout(3 * startMs)
  const creator = await registerEmbedder(world())
  const env: Record<string, string> = { ...world().env, RATE_LIMIT_FACTOR: '20' }
  const commands = await monitorRedis(t, env['REDIS_URL'] ?? '')
  const [web, worker] = await Promise.all([
    startWeb(t, env, 'trace'),
    startWorkerProcess(t, 'settlement', env, 'trace'),
  ])
  const request = await createClient(web.url)
  const answers: string[] = []
  let canaries = 0
  /** Every request has its own name and e-mail. */
  async function requestIntent(change: Record<string, unknown> = {}): Promise<FiatIntentBody> {
    canaries += 1
    const who = { senderName: `Zqxname${canaries}`, payerEmail: `zqxmail${canaries}@example.com` }
    const body = { creatorId: creator.id, amount: 5, ...who, memo: `zqxmemo${canaries}`, ...change }
    const headers = { 'idempotency-key': `zqx-key-${canaries}` }
    const answer = await request<FiatIntentBody>('POST', '/payments/fiat/intent', { body, headers })
    answers.push(JSON.stringify(answer.body))
    return answer.body
  }

  const accepted = [
    await requestIntent({ isAnonymous: true }),
    await requestIntent(),
    await requestIntent({ isAnonymous: 'please' }),
  ]
  for (const { intentId } of accepted) payFiatIntent(world(), intentId)
  await until('all are completed', async () => {
    const statuses = await Promise.all(accepted.map(({ intentId }) => readFiatStatus(world(), intentId)))
    return statuses.every((status) => status === 'completed')
  })
  // The same for requests that are refused, and for internal errors.
  await requestIntent({ amount: 'zqxamount' })
  await requestIntent({ creatorId: 'zqxnobody' })
  await requestIntent({ payerEmail: 'zqxmail@refused.local' })
  world().fiat.fiatpay.faults.setMode({ charges: 'down' })
  await requestIntent()
  world().fiat.fiatpay.faults.setMode({ charges: 'ok' })
  await world().db.raw('alter table fiat_intents add constraint broken check (false) not valid')
  await requestIntent({ isAnonymous: true })
  await requestIntent()
  await world().db.raw('alter table payers add constraint broken check (false) not valid')
  await requestIntent()
  await until('the failures are logged', () => web.logs.filter(({ level }) => level >= 50).length >= 3)

  const logs = JSON.stringify([...web.logs, ...worker.logs])
  t.true(logs.includes('/payments/fiat/intent'), 'the log has the requests')
  t.true(commands().includes('/payments') || commands().includes('settlement'), 'the Redis log has commands')
  for (const [what, text] of Object.entries({ logs, redis: commands(), answers: answers.join('\n') }))
    t.deepEqual(text.match(/zqx(?:name|mail|memo)\w*/gi) ?? [], [], what)
})
