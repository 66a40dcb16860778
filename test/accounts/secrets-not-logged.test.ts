import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import test, { type ExecutionContext } from 'ava'
import { freePort } from '../../scripts/dev/ports.js'
import { codeIn } from '../../scripts/kit/client.js'
import { createClient, type Request } from '../helpers/http/client.js'
import { type EnteredBody, freshEmail, type Person } from '../helpers/make/creators.js'
import { wrongCode } from '../helpers/make/sign-in/emailed-codes.js'
import { monitorRedis } from '../helpers/servers/private-redis.js'
import { startMs } from '../helpers/servers/service-process.js'
import { useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

// Secrets pass through separate processes with trace logging. No secret may appear in their output.
const world = useWorld(test, { mail: true })

interface Running {
  readonly output: () => string
}

function run(t: ExecutionContext, args: readonly string[], env: Record<string, string>): Running {
  const child: ChildProcess = spawn(process.execPath, args, {
    env: { ...process.env, ...world().env, LOG_LEVEL: 'trace', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      output += chunk.toString('utf8')
    })
  const ended = once(child, 'exit')
  t.teardown(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return { output: () => output }
}

async function runWeb(t: ExecutionContext, env: Record<string, string> = {}) {
  const port = await freePort()
  const web = run(t, ['dist/src/web.js'], { PORT: String(port), ...env })
  await until('the web process listens', () => web.output().includes('listening'), startMs)
  return { ...web, request: await createClient(`http://127.0.0.1:${port}`) }
}

/** The code of the newest mail, once so many different codes have arrived. A mail may arrive twice. */
async function newestCode({ email }: Pick<Person, 'email'>, count: number): Promise<string> {
  const codes = () =>
    world()
      .mail.received(email)
      .flatMap(({ text }) => codeIn(text) ?? [])
  await until('the mail arrives', () => new Set(codes()).size === count, startMs)
  return codes()[0] ?? ''
}

async function resetToken(email: string): Promise<string> {
  const found = () =>
    world()
      .mail.received(email)
      .flatMap(({ text }) => /#reset-password=(.*)/.exec(text)?.[1] ?? [])
  await until('the link arrives', () => found().length > 0, startMs)
  return found()[0] ?? ''
}

/** Whether the text has the code on its own, not as a part of a longer number or an id. */
function containsCode(code: string, text: string): boolean {
  return new RegExp(`(?<![\\w.-])${code}(?![\\w.-])`).test(text)
}

async function register(request: Request) {
  const body = { email: freshEmail(), password: `canary-${freshEmail()}`, name: 'Canary Bird' }
  const { body: entered, session = '' } = await request<EnteredBody>('POST', '/auth/register', { body })
  return { ...body, session, accessToken: entered.auth.accessToken }
}

test.serial('one-time codes and other secrets do not appear in logs or in Redis', async (t) => {
  t.timeout(2 * startMs)
  const commands = await monitorRedis(t, world().env['REDIS_URL'] ?? '')
  const web = await runWeb(t)
  const mailer = run(t, ['dist/workers/main.js', 'mailer'], {})
  const person = await register(web.request)
  const { email, password } = person
  const start = () => web.request('POST', '/auth/otp/start', { body: { email } })
  const verify = (code: string) => web.request('POST', '/auth/otp/verify', { body: { email, code } })

  await start()
  const first = await newestCode(person, 1)
  t.is((await verify(wrongCode(first))).status, 400)
  const entered = await verify(first)
  t.is(entered.status, 200)
  await web.request('POST', '/auth/login', { body: { email, password: `${password}!` } })
  await web.request('GET', '/auth/me', { session: person.session, bearer: person.accessToken })
  // The mail server's refusal quotes the e-mail.
  world().mail.faults.set({ code: 451, at: 'content', times: 1 })
  await start()
  await until('the mailer logs the refusal', () => mailer.output().includes('it will be retried'), startMs)
  await world()
    .db('emails')
    .whereNotNull('due_at')
    .update({ due_at: new Date(0) })
  const second = await newestCode(person, 2)
  await web.request('POST', '/auth/password/reset', { body: { email } })
  const link = await resetToken(email)
  const newPassword = `canary-${freshEmail()}`
  const reset = { token: link, newPassword }
  t.is((await web.request('POST', '/auth/password/reset/confirm', { body: reset })).status, 200)
  t.is((await web.request('POST', '/auth/password/reset/confirm', { body: reset })).status, 400)
  await until('the wake-ups have gone through Redis', () => commands().includes('mailer'))

  const everything = `${web.output()}\n${mailer.output()}\n${commands()}`
  t.true(web.output().includes('/auth/otp/verify'), 'the log is there at all')
  for (const code of [first, second, wrongCode(first)]) t.false(containsCode(code, everything), code)
  const secrets = {
    email,
    password,
    session: person.session,
    token: person.accessToken,
    opened: entered.session ?? '',
    link,
    newPassword,
  }
  for (const [what, secret] of Object.entries({ ...secrets, pepper: world().env['OTP_PEPPER'] ?? '' })) {
    t.true(secret.length > 20)
    t.false(everything.includes(secret), what)
  }
})

test.serial('values that a database error quotes do not appear in the log', async (t) => {
  t.timeout(2 * startMs)
  const web = await runWeb(t)
  const { email } = await register(web.request)
  const { db } = world()
  await db.raw('alter table emails add constraint broken check (false) not valid')
  t.teardown(() => db.raw('alter table emails drop constraint if exists broken'))
  await db.raw('alter table users add constraint broken check (false) not valid')
  t.teardown(() => db.raw('alter table users drop constraint if exists broken'))

  const refused = await web.request('POST', '/auth/otp/start', { body: { email } })
  t.is(refused.status, 500)
  t.is(refused.body.error, 'Internal Server Error')
  const body = { email: freshEmail(), password: 'canary password', name: 'Canary Bird' }
  t.is((await web.request('POST', '/auth/register', { body })).status, 500)
  await until('both failures are logged', () => web.output().split('request failed').length === 3)
  t.regex(web.output(), /violates check constraint/)
  t.false(containsCode('[0-9]{6}', web.output().replace(/"(pid|port|line)":"?\d+"?|:\d+:\d+/g, '')))
  for (const secret of [email, body.email, '$argon2id']) t.false(web.output().includes(secret), secret)
})
