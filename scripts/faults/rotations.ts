import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { Redis } from 'ioredis'
import { DataKeys } from '../../src/kernel/personal-data.js'
import { addressHash, openAddress } from '../../src/mail/queue-email.js'
import { type Secret, secretsOf } from '../../src/platform/config/process-secrets.js'
import { createDb } from '../../src/platform/database/database.js'
import { openDataKeys } from '../../src/privacy/keys/open-data-keys.js'
import { type ProcessName, secretsOfAll } from '../../workers/registry.js'
import { roleOf, rolesSql } from '../database/roles-sql.js'
import { roleKinds } from '../database/table-rights.js'
import { webProgram, workersProgram } from '../dev/built.js'
import { freePort } from '../dev/ports.js'
import { codeIn, requestOnce } from '../kit/client.js'
import { startServers } from '../kit/servers.js'
import { undisturbed } from './deploys.js'
import type { OpenScenario, Run } from './world/run-scenario.js'

const run = promisify(execFile)
const startMs = 120_000
const newKey = (): string => randomBytes(32).toString('base64')
const opsLogin = 'operator'
const roles = { old: 'rotation_a', new: 'rotation_b' } as const
const groups: readonly (readonly ProcessName[])[] = [
  ['verifier', 'finder', 'settlement', 'reconciler'],
  ['payouts', 'mailer'],
  ['provisioner', 'custodian', 'take-outs'],
  ['clock'],
]
const keys = {
  data: [newKey(), newKey()],
  wallet: [newKey(), newKey()],
  pepper: [newKey(), newKey()],
} as const
const passwords = { old: 'the old password of operators', new: 'the new password of operators' }
const redisPasswords = { old: 'old-password', new: 'new-password' }

/** Changes one secret after the other while tips, streams, naira payers and mailed codes go on. */
export const rotations: OpenScenario = async ({ folder, report, defer }) => {
  const servers = await startServers(folder, defer)
  const redisAdmin = new Redis(servers.redisUrl, { maxRetriesPerRequest: 3 })
  defer(() => redisAdmin.disconnect())
  await redisAdmin.call('ACL', 'SETUSER', 'default', 'resetpass', `>${redisPasswords.old}`)
  await servers.sql(rolesSql())
  const member = `login in role ${roleKinds.map(roleOf).join(', ')}`
  await servers.sql(`create role ${roles.old} ${member}`)
  const opsPort = await freePort()
  const oldUrls = {
    DATABASE_URL: urlOf(servers.databaseUrl, roles.old),
    REDIS_URL: urlOf(servers.redisUrl, '', redisPasswords.old),
  }
  const settings: Record<string, string> = {
    ...undisturbed.stage.env(),
    DATA_KEY: keys.data[0],
    WALLET_KEK: keys.wallet[0],
    OTP_PEPPER: keys.pepper[0],
    REPORT_SIGNING_KEY: newKey(),
    OPS_PORT: String(opsPort),
    OPS_USER: opsLogin,
    OPS_PASSWORD: passwords.old,
  }
  const faults: string[] = []
  const expect = (what: string, isTrue: boolean): void => {
    if (!isTrue) faults.push(`not so: ${what}`)
  }
  return {
    ...undisturbed,
    databaseUrl: servers.databaseUrl,
    redisUrl: oldUrls.REDIS_URL,
    stage: {
      ...undisturbed.stage,
      serviceDatabaseUrl: oldUrls.DATABASE_URL,
      workers: groups.map((names) => ({ names })),
      env: () => settings,
    },
    disturbances: [{ name: 'every secret changed', act: changeAll }],
    check: async ({ stage: { db }, truth }) => {
      const dataKeys = new DataKeys([Buffer.from(keys.data[1], 'base64')])
      await openDataKeys(db, dataKeys, false)
      for (const email of new Set([...truth.naira.values()].map(({ payerEmail }) => payerEmail))) {
        const rows = await db('payers').where({ email_hash: addressHash(dataKeys, email) })
        const opened = rows.map((row) => openAddress(dataKeys, row.email_sealed))
        expect(`${email} is sealed with the new key`, opened[0] === email)
      }
      return faults
    },
  }

  async function changeAll({ stage, untilReady, until }: Run): Promise<void> {
    const current: Record<string, string> = { ...stage.env }
    const roll = async (secret: Secret, value: string): Promise<void> => {
      current[secret] = value
      if (secret !== 'DATABASE_URL') await stage.commands.change({ [secret]: value })
      for (const [n, process] of stage.processes.entries()) {
        const group = groups[n - stage.webUrls.length]
        const reads: readonly Secret[] = group === undefined ? secretsOf.web : secretsOfAll(group)
        if (!reads.includes(secret)) continue
        await untilReady()
        process.change({ [secret]: value })
        await process.stop()
        await process.start()
      }
      await untilReady()
      report(`${secret} changed`)
    }
    const command = async (name: string): Promise<void> => {
      const env = { PATH: process.env['PATH'], ...current, DATABASE_URL: servers.databaseUrl }
      const { stdout } = await run(process.execPath, [`dist/scripts/ops/keys/${name}.js`, '--apply'], { env })
      report(`${name}: ${stdout.trim().split('\n').at(-1)}`)
      expect(`${name} ends the old key`, /the old key may be taken|it may be taken out/.test(stdout))
    }
    const refused = async (args: readonly string[], change: Record<string, string>, text: RegExp) => {
      const env = { PATH: process.env['PATH'], ...current, ...change, PORT: '0', WORKER_PORT: '0' }
      const ended = await run(process.execPath, [...args], { env, timeout: startMs }).then(
        () => 'it started',
        (error: { stderr?: string }) => error.stderr ?? '',
      )
      expect(`${args.join(' ')} is refused with ${text}: ${ended.slice(0, 300)}`, text.test(ended))
    }
    const web = [webProgram]

    const [oldData, newData] = keys.data
    await refused(web, { DATA_KEY: newKey() }, /DATA_KEY: is not the key that has sealed/)
    await roll('DATA_KEY', `${oldData},${newData}`)
    await refused(web, { DATA_KEY: oldData }, /DATA_KEY: lacks the key of version 2/)
    await roll('DATA_KEY', `${newData},${oldData}`)
    await command('rotate-data-key')
    await roll('DATA_KEY', newData)
    await refused(web, { DATA_KEY: oldData }, /DATA_KEY: (is not the key|lacks the key)/)
    await refused(web, { DATA_KEY: `${oldData},${newData}` }, /DATA_KEY: has a first value/)

    const provisioner = [workersProgram, 'provisioner']
    const [oldKek, newKek] = keys.wallet
    await refused(provisioner, { WALLET_KEK: newKey() }, /WALLET_KEK: is not the key/)
    await roll('WALLET_KEK', `2:${newKek},1:${oldKek}`)
    await command('rotate-wallet-key')
    await roll('WALLET_KEK', `2:${newKek}`)
    await refused(provisioner, { WALLET_KEK: oldKek }, /WALLET_KEK: lacks the key of version 2/)

    const [oldPepper, newPepper] = keys.pepper
    for (const value of [`${oldPepper},${newPepper}`, `${newPepper},${oldPepper}`, newPepper]) {
      const signIn = value === newPepper ? undefined : await mailCode()
      await roll('OTP_PEPPER', value)
      await signIn?.()
    }
    await (await mailCode())()

    const { fiatpay, url: sandboxUrl } = stage.sandbox
    const oldKey = fiatpay.secretKey
    fiatpay.changeKey('sk_test_changed')
    await roll('FIATPAY_SECRET_KEY', `${fiatpay.secretKey},${oldKey}`)
    await roll('PAYOUT_SECRET_KEY', fiatpay.secretKey)
    fiatpay.endOldKey()
    await roll('FIATPAY_SECRET_KEY', fiatpay.secretKey)
    const asked = await fetch(`${sandboxUrl}/fiatpay/balance`, {
      headers: { authorization: `Bearer ${oldKey}` },
    })
    expect('the provider refuses the old key', asked.status === 401)

    await servers.sql(`create role ${roles.new} ${member}`)
    await roll('DATABASE_URL', urlOf(servers.databaseUrl, roles.new))
    const sessions = async (): Promise<number> => {
      const { rows } = await stage.db.raw(
        'select count(*)::int as n from pg_stat_activity where usename = ?',
        [roles.old],
      )
      return (rows as { n: number }[])[0]?.n ?? 0
    }
    await until('no session uses the old role', async () => (await sessions()) === 0)
    await servers.sql(`alter role ${roles.old} nologin password null`)
    const old = createDb(oldUrls.DATABASE_URL, 1)
    expect('PostgreSQL refuses the old role', await fails(old.raw('select 1')))
    await old.destroy()

    await redisAdmin.call('ACL', 'SETUSER', 'default', `>${redisPasswords.new}`)
    await roll('REDIS_URL', urlOf(servers.redisUrl, '', redisPasswords.new))
    await redisAdmin.call('ACL', 'SETUSER', 'default', `<${redisPasswords.old}`)
    expect('Redis refuses the old password', await redisRefuses(oldUrls.REDIS_URL))

    const pages = (password: string) =>
      fetch(`http://127.0.0.1:${opsPort}/ops`, {
        headers: { authorization: `Basic ${Buffer.from(`${opsLogin}:${password}`).toString('base64')}` },
      })
    await roll('OPS_PASSWORD', passwords.new)
    expect('the pages refuse the old password', (await pages(passwords.old)).status === 401)
    expect('the pages take the new password', (await pages(passwords.new)).ok)
    await roll('REPORT_SIGNING_KEY', newKey())

    /** Has a code mailed to a new account. Returns how to sign in with it. */
    async function mailCode(): Promise<() => Promise<void>> {
      const email = `${randomBytes(8).toString('hex')}@example.com`
      const ask = async (path: string, body: object): Promise<void> => {
        const { status } = await requestOnce(stage.url, ['POST', path, body])
        expect(`${path} is answered 200: ${status}`, status === 200)
      }
      await ask('/auth/register', { email, password: 'correct horse battery', name: 'Ada Obi' })
      await ask('/auth/otp/start', { email })
      const find = () =>
        stage.sandbox.mail
          .received(email)
          .map(({ text }) => codeIn(text))
          .find((code) => code !== undefined)
      await until(`a code comes to ${email}`, () => find() !== undefined)
      return () => ask('/auth/otp/verify', { email, code: find() })
    }
  }
}

function urlOf(url: string, user: string, password = ''): string {
  const changed = new URL(url)
  changed.username = user
  changed.password = password
  return changed.href
}

const fails = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => false,
    () => true,
  )

async function redisRefuses(url: string): Promise<boolean> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null, maxRetriesPerRequest: 0 })
  client.on('error', () => undefined)
  try {
    return await fails(client.connect().then(() => client.ping()))
  } finally {
    client.disconnect()
  }
}
