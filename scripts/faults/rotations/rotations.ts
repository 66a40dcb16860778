import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { Redis } from 'ioredis'
import { DataKeys } from '../../../src/kernel/personal-data.js'
import { addressHash, openAddress } from '../../../src/mail/sealed-address.js'
import { type Secret, secretsOf } from '../../../src/platform/config/process-secrets.js'
import { createDb } from '../../../src/platform/database/database.js'
import { openDataKeys } from '../../../src/privacy/keys/open-data-keys.js'
import { type ProcessName, secretsOfAll } from '../../../workers/registry.js'
import type { Servers } from '../../bench/servers.js'
import { roleOf, rolesSql } from '../../database/roles-sql.js'
import { roleKinds } from '../../database/table-rights.js'
import { freePort } from '../../dev/ports.js'
import { waitUntil } from '../../dev/wait-until.js'
import { type Outcome, openStage, type Stage, type StagePlan } from '../rolling/stage.js'
import { People } from './people.js'

export interface RotationsPlan extends Omit<StagePlan, 'workers' | 'settings'> {
  readonly workers: readonly (readonly ProcessName[])[]
  readonly report: (progress: string) => void
}

export interface RotationsResult extends Outcome {
  readonly restarts: number
  /** The secrets that were changed. */
  readonly changed: readonly string[]
}

const run = promisify(execFile)
const stateMs = 60_000
const startMs = 120_000
const newKey = (): string => randomBytes(32).toString('base64')
const opsLogin = 'operator'
const roles = { old: 'rotation_a', new: 'rotation_b' } as const

/** Changes one secret after the other while requests, streams, naira payers and mailed codes go on. */
export async function runRotations(servers: Servers, plan: RotationsPlan): Promise<RotationsResult> {
  const redisAdmin = new Redis(servers.redisUrl, { maxRetriesPerRequest: 3 })
  const redisPasswords = { old: 'old-password', new: 'new-password' }
  await redisAdmin.call('ACL', 'SETUSER', 'default', 'resetpass', `>${redisPasswords.old}`)
  await servers.sql(rolesSql())
  const member = `login in role ${roleKinds.map(roleOf).join(', ')}`
  for (const role of Object.values(roles)) await servers.sql(`drop role if exists ${role}`)
  await servers.sql(`create role ${roles.old} ${member}`)

  const keys = {
    data: [newKey(), newKey()],
    wallet: [newKey(), newKey()],
    pepper: [newKey(), newKey()],
  } as const
  const passwords = { old: 'the old password of operators', new: 'the new password of operators' }
  const opsPort = await freePort()
  const urlOf = (url: string, user: string, password = ''): string => {
    const changed = new URL(url)
    changed.username = user
    changed.password = password
    return changed.href
  }
  const settings: Record<string, string> = {
    DATABASE_URL: urlOf(servers.databaseUrl, roles.old),
    REDIS_URL: urlOf(servers.redisUrl, '', redisPasswords.old),
    DATA_KEY: keys.data[0],
    WALLET_KEK: keys.wallet[0],
    OTP_PEPPER: keys.pepper[0],
    REPORT_SIGNING_KEY: newKey(),
    OPS_PORT: String(opsPort),
    OPS_USER: opsLogin,
    OPS_PASSWORD: passwords.old,
    FIAT_OPEN_INTENTS: '1000000',
  }
  const namespace = `rotations-${plan.seed}`
  const stage = await openStage(
    { databaseUrl: servers.databaseUrl, redisUrl: settings['REDIS_URL'] ?? '', namespace },
    { ...plan, settings },
  )
  const db = createDb(servers.databaseUrl, 2)
  const people = new People(stage.proxy.url, stage.sandbox)
  const faults: string[] = []
  const changed: string[] = []
  let restarts = 0
  try {
    await people.start()
    const current: Record<string, string> = { ...stage.env }
    const roll = async (secret: Secret, value: string): Promise<void> => {
      current[secret] = value
      for (const { process, reads } of processesOf(stage, plan)) {
        if (!reads.includes(secret)) continue
        await stage.untilReady(stage.webs.length)
        process.change({ [secret]: value })
        await process.stop()
        await process.start(plan.folder)
        restarts += 1
        plan.report(`${secret}: ${process.name}; ${stage.load.count} requests, ${stage.load.failed} failed`)
      }
      await stage.untilReady(stage.webs.length)
    }
    const expect = (what: string, isTrue: boolean): void => {
      if (!isTrue) faults.push(`not so: ${what}`)
    }
    const command = async (name: string): Promise<void> => {
      const env = { PATH: process.env['PATH'], ...current, DATABASE_URL: servers.databaseUrl }
      const program = `dist/scripts/ops/keys/${name}.js`
      const { stdout } = await run(process.execPath, [program, '--apply'], { cwd: plan.folder, env })
      plan.report(`${name}: ${stdout.trim().split('\n').at(-1)}`)
      expect(`${name} ends the old key`, /the old key may be taken|it may be taken out/.test(stdout))
    }
    const refused = async (args: readonly string[], change: Record<string, string>, text: RegExp) => {
      const env = { PATH: process.env['PATH'], ...current, ...change, PORT: '0', WORKER_PORT: '0' }
      const ended = await run(process.execPath, [...args], { cwd: plan.folder, env, timeout: startMs }).then(
        () => 'it started',
        (error: { stderr?: string }) => error.stderr ?? '',
      )
      expect(`${args.join(' ')} is refused with ${text}: ${ended.slice(0, 300)}`, text.test(ended))
    }
    const web = ['dist/src/web.js']

    const [oldData, newData] = keys.data
    await refused(web, { DATA_KEY: newKey() }, /DATA_KEY: is not the key that has sealed/)
    await roll('DATA_KEY', `${oldData},${newData}`)
    await refused(web, { DATA_KEY: oldData }, /DATA_KEY: lacks the key of version 2/)
    await roll('DATA_KEY', `${newData},${oldData}`)
    await command('rotate-data-key')
    await roll('DATA_KEY', newData)
    await refused(web, { DATA_KEY: oldData }, /DATA_KEY: (is not the key|lacks the key)/)
    await refused(web, { DATA_KEY: `${oldData},${newData}` }, /DATA_KEY: has a first value/)
    changed.push('DATA_KEY')

    const provisioner = ['dist/workers/main.js', 'provisioner']
    const [oldKek, newKek] = keys.wallet
    await refused(provisioner, { WALLET_KEK: newKey() }, /WALLET_KEK: is not the key/)
    await roll('WALLET_KEK', `2:${newKek},1:${oldKek}`)
    await command('rotate-wallet-key')
    await roll('WALLET_KEK', `2:${newKek}`)
    await refused(provisioner, { WALLET_KEK: oldKek }, /WALLET_KEK: lacks the key of version 2/)
    changed.push('WALLET_KEK')

    const [oldPepper, newPepper] = keys.pepper
    for (const value of [`${oldPepper},${newPepper}`, `${newPepper},${oldPepper}`, newPepper]) {
      const signIn = value === newPepper ? undefined : await people.mailCode()
      await roll('OTP_PEPPER', value)
      await signIn?.()
    }
    await (await people.mailCode())()
    changed.push('OTP_PEPPER')

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
    changed.push('FIATPAY_SECRET_KEY', 'PAYOUT_SECRET_KEY')

    await servers.sql(`create role ${roles.new} ${member}`)
    await roll('DATABASE_URL', urlOf(servers.databaseUrl, roles.new))
    const sessions = async (): Promise<number> => {
      const { rows } = await db.raw('select count(*)::int as n from pg_stat_activity where usename = ?', [
        roles.old,
      ])
      return (rows as { n: number }[])[0]?.n ?? 0
    }
    expect('no session uses the old role', await waitUntil(async () => (await sessions()) === 0, stateMs))
    await servers.sql(`alter role ${roles.old} nologin password null`)
    const old = createDb(urlOf(servers.databaseUrl, roles.old), 1)
    expect('PostgreSQL refuses the old role', await fails(old.raw('select 1')))
    await old.destroy()
    changed.push('DATABASE_URL')

    await redisAdmin.call('ACL', 'SETUSER', 'default', `>${redisPasswords.new}`)
    await roll('REDIS_URL', urlOf(servers.redisUrl, '', redisPasswords.new))
    await redisAdmin.call('ACL', 'SETUSER', 'default', `<${redisPasswords.old}`)
    expect(
      'Redis refuses the old password',
      await redisRefuses(urlOf(servers.redisUrl, '', redisPasswords.old)),
    )
    changed.push('REDIS_URL')

    const pages = (password: string) =>
      fetch(`http://127.0.0.1:${opsPort}/ops`, {
        headers: { authorization: `Basic ${Buffer.from(`${opsLogin}:${password}`).toString('base64')}` },
      })
    await roll('OPS_PASSWORD', passwords.new)
    expect('the pages refuse the old password', (await pages(passwords.old)).status === 401)
    expect('the pages take the new password', (await pages(passwords.new)).ok)
    await roll('REPORT_SIGNING_KEY', newKey())
    changed.push('OPS_PASSWORD', 'REPORT_SIGNING_KEY')

    await people.stop()
    const outcome = await stage.finish()
    faults.push(...people.faults)
    const dataKeys = new DataKeys([Buffer.from(newData, 'base64')])
    await openDataKeys(db, dataKeys, false)
    for (const email of people.payers) {
      const rows = await db('payers').where({ email_hash: addressHash(dataKeys, email) })
      // Two first tips at the same time may make two rows; one payer pays after the other here.
      const opened = rows.map((row) => openAddress(dataKeys, row.email_sealed))
      expect(`${email} is one payer, sealed with the new key`, opened.length === 1 && opened[0] === email)
    }
    const requests = outcome.requests + people.requests
    const failed = outcome.failed + people.faults.length
    return { ...outcome, requests, failed, restarts, changed, faults: [...faults, ...outcome.faults] }
  } finally {
    await people.stop()
    await stage.close()
    await db.destroy()
    redisAdmin.disconnect()
  }
}

function processesOf(stage: Stage, { workers }: RotationsPlan) {
  return [
    ...stage.webs.map((process) => ({ process, reads: secretsOf.web as readonly Secret[] })),
    ...stage.workers.map((process, index) => ({ process, reads: secretsOfAll(workers[index] ?? []) })),
  ]
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
