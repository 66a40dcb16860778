import test from 'ava'
import { createClient } from '../helpers/http/client.js'
import {
  bank,
  countExecutions,
  creatorWithBalance,
  readWithdrawalRow,
  type WithdrawalBody,
} from '../helpers/make/withdrawals.js'
import { startWeb, startWorkerProcess } from '../helpers/servers/service-process.js'
import { useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

const world = useWorld(test, { fiat: true, mail: true, env: { CONFIRM_ACCOUNTS: 'new' } })

/** By the built processes, as they run in production; the world gives the database and the stand-ins. */
test('a stolen cookie: a withdrawal to another account is held, the mail is out within 5 s, its button freezes, and nothing leaves', async (t) => {
  t.timeout(180_000)
  const { env, mail } = world()
  const [web] = await Promise.all([
    startWeb(t, env),
    startWorkerProcess(t, 'mailer', env),
    startWorkerProcess(t, 'payouts', env),
  ])
  const request = await createClient(web.url)
  const withdraw = (session: string, body: object) =>
    request<WithdrawalBody & { error?: string }>('POST', '/payouts/withdraw', {
      session,
      body: { ...bank, ...body },
    })
  const isSent = (reference: string) =>
    until(`${reference} is sent`, () => countExecutions(world(), reference) === 1)
  const ada = await creatorWithBalance(world(), 50)
  await isSent((await withdraw(ada.session, { amountUSDC: 5 })).body.reference)

  const startedAt = performance.now()
  const { body: thiefs } = await withdraw(ada.session, { amountUSDC: 45, accountNumber: '9876543210' })
  t.like(thiefs, { status: 'pending', heldFor: 'confirmation' })
  let tokens: (string | undefined)[] = []
  await until('the mails about it are out', () => {
    const about = mail.received(ada.email).filter(({ text }) => text.includes('******3210'))
    tokens = about.map(({ text }) => /^This was not me:\n\S+#not-me=([\w-]{43})$/m.exec(text)?.[1])
    return about.length === 3
  })
  const ms = Math.round(performance.now() - startedAt)
  t.log(`the mails are out ${ms} ms after the withdrawal was asked for`)
  t.true(ms < 30_000)
  t.false(tokens.includes(undefined), 'each has the button')

  t.is((await request('POST', '/auth/not-me', { body: { token: tokens[0] } })).status, 200)
  t.is((await withdraw(ada.session, { amountUSDC: 1 })).status, 401, 'the stolen session has ended')
  const { email, password } = ada
  const entered = await request('POST', '/auth/login', { body: { email, password } })
  t.is(entered.status, 200)
  const refused = await withdraw(entered.session ?? '', { amountUSDC: 5 })
  t.deepEqual([refused.status, refused.body.error], [403, 'Account frozen'])

  // The payout worker goes on with what others ask for.
  const other = await creatorWithBalance(world(), 10)
  await isSent((await withdraw(other.session, { amountUSDC: 5 })).body.reference)
  t.is(countExecutions(world(), thiefs.reference), 0)
  t.like(await readWithdrawalRow(world(), thiefs.reference), {
    status: 'pending',
    send_state: 'confirmation_hold',
  })
})
