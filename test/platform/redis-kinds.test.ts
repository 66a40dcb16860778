import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { stopChild } from '../../scripts/bootstrap/child-process.mjs'
import { freePort } from '../../scripts/dev/ports.js'
import { startProgram } from '../../scripts/dev/supervise.js'
import {
  createProducerClient,
  createWorkerClient,
  type RedisServer,
} from '../../src/platform/redis/clients.js'
import { createNotifications } from '../../src/platform/redis/notifications.js'
import { privateRedis } from '../helpers/servers/private-redis.js'
import { temporaryFolder } from '../helpers/temporary-folder.js'
import { until } from '../helpers/until.js'

// The certificates are for localhost and 127.0.0.1, by a CA of these tests alone, until 2126.
const tls = (name: string): string => resolve('test/platform/tls', name)
const ca = readFileSync(tls('ca.pem'), 'utf8')
const stopMs = 5000

/** Starts a Redis that has TLS only, one user with a password, and, if asked, a cluster of itself alone. */
async function startRedis(t: ExecutionContext, { cluster }: { cluster: boolean }): Promise<number> {
  const [folder, port] = [temporaryFolder(t), await freePort()]
  const args = [
    ...['--port', '0', '--tls-port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', ''],
    ...['--logfile', `${folder}/redis.log`, '--tls-auth-clients', 'no', '--tls-ca-cert-file', tls('ca.pem')],
    ...['--tls-cert-file', tls('server.pem'), '--tls-key-file', tls('server.key')],
    ...['--user', 'default', 'off', '--user', 'tips', 'on', '>s3cret@:', '~*', '&*', '+@all'],
    ...(cluster
      ? ['--cluster-enabled', 'yes', '--tls-cluster', 'yes', '--cluster-announce-ip', '127.0.0.1']
      : []),
  ]
  const child = startProgram({ command: 'redis-server', args, signal: 'SIGTERM' })
  t.teardown(() => stopChild(child, stopMs))
  return port
}

/** A client, and what it reported of Redis. */
function connect(t: ExecutionContext, server: RedisServer) {
  const reports: (string | undefined)[] = []
  const client = createProducerClient(server, (reason) => reports.push(reason))
  t.teardown(() => client.disconnect())
  return { client, reports }
}

const login = 'tips:s3cret%40%3A'

/** A command has 250 ms, which a busy machine may need for another test. */
function answers(what: string, client: { ping(): Promise<string> }): Promise<void> {
  return until(`${what} is answered`, () =>
    client.ping().then(
      (answer) => answer === 'PONG',
      () => false,
    ),
  )
}

test('rediss:// trusts the CA of its ca, or with insecure=true any, and otherwise says why once', async (t) => {
  const port = await startRedis(t, { cluster: false })
  const url = `rediss://${login}@127.0.0.1:${port}`
  const trusting = connect(t, { url, tls: { ca } })
  await until('the client with the CA is ready', () => trusting.client.status === 'ready')
  await answers('the client with the CA', trusting.client)
  const careless = connect(t, { url, tls: { insecure: true } })
  const strict = connect(t, { url })
  await until('the insecure client is ready', () => careless.client.status === 'ready')
  await answers('the insecure client', careless.client)
  let closes = 0
  strict.client.on('close', () => closes++)
  await until('it has tried three times', () => closes > 2)
  t.is(strict.reports.length, 1, 'once for one state')
  t.regex(strict.reports[0] ?? '', /certificate/)
  const stranger = connect(t, { url: url.replace('s3cret', 'wrong'), tls: { ca } })
  await until('the password is refused', () => stranger.reports.length > 0)
  t.regex(stranger.reports[0] ?? '', /WRONGPASS/)
  t.notRegex(stranger.reports[0] ?? '', /wrong%40|wrong@/)
})

test('with cluster=true one address finds the cluster, and the nodes it names get user, password and TLS', async (t) => {
  const port = await startRedis(t, { cluster: true })
  const url = `rediss://${login}@localhost:${port}`
  const { client: alone, disconnect } = createWorkerClient({ url, tls: { ca } })
  t.teardown(disconnect)
  await alone.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383')
  await until('the cluster is whole', async () =>
    String(await alone.call('CLUSTER', 'INFO')).includes('cluster_state:ok'),
  )
  const { client } = connect(t, { url, cluster: true, tls: { ca } })
  // Its commands time out on a busy machine.
  await until('the cluster takes it', () => client.set('tips', '1').then(Boolean, () => false))
  t.is(await alone.get('tips'), '1')
  const notifications = createNotifications({ url, cluster: true, tls: { ca } }, 'test')
  t.teardown(() => notifications.close())
  const heard: string[] = []
  let told = 0
  for (const channel of ['one', 'two'])
    notifications.listen(
      channel,
      (message) => heard.push(message),
      () => told++,
    )
  await until('the subscriber listens to both', () => told === 2)
  for (const channel of ['one', 'two'])
    await until('it is published', () =>
      client.publish(`test.${channel}`, channel).then(Boolean, () => false),
    )
  await until('it hears both', () => new Set(heard).size === 2)
})

test('a Redis that stops answering is reported once, its connection is replaced, and it is used again', async (t) => {
  const redis = await privateRedis(t)
  const { client, reports } = connect(t, { url: redis.url })
  await until('the client is ready', () => client.status === 'ready')
  const notifications = createNotifications({ url: redis.url }, 'test')
  t.teardown(() => notifications.close())
  let connects = 0
  notifications.onReconnect(() => connects++)
  await until('the subscriber is ready', () => connects === 1)
  // On a busy machine the first question of a connection may have timed out.
  reports.splice(0)
  redis.freeze()
  let listening = false
  notifications.listen(
    'late',
    () => undefined,
    () => {
      listening = true
    },
  )
  await t.throwsAsync(client.ping())
  await until('it is reported', () => reports.length > 0)
  t.regex(reports[0] ?? '', /Expecting data/)
  redis.thaw()
  // The status is still `ready` between the error and the end of the connection.
  await until('it is used again', () => client.status === 'ready' && reports.length > 1)
  t.deepEqual(reports.slice(1), [undefined])
  await until('the subscriber has a new connection', () => connects === 2)
  await until('what it sent is repeated', () => listening)
})

test('listeners that come and go while Redis is away send nothing, and those that stay are subscribed when it is back', async (t) => {
  const redis = await privateRedis(t)
  await redis.kill()
  const notifications = createNotifications({ url: redis.url }, 'test')
  t.teardown(() => notifications.close())
  const heard: string[] = []
  const told: string[] = []
  const listen = (channel: string) =>
    notifications.listen(
      channel,
      (message) => heard.push(`${channel} ${message}`),
      () => told.push(channel),
    )
  let connects = 0
  notifications.onReconnect(() => connects++)
  for (let guest = 0; guest < 1000; guest++) listen(`guest-${guest}`)()
  listen('stays')
  listen('stays')
  const leave = listen('leaves')
  await redis.startAgain()
  await until('all who stay are told', () => told.includes('leaves'))
  t.deepEqual(told, ['stays', 'stays', 'leaves'])
  const stats = String(await redis.command('INFO', 'commandstats'))
  t.regex(stats, /cmdstat_subscribe:calls=1,/)
  t.notRegex(stats, /cmdstat_unsubscribe/)
  t.is(await redis.command('PUBLISH', 'test.stays', '1'), 1)
  await until('both hear it', () => heard.length === 2)
  await redis.kill()
  leave()
  await redis.startAgain()
  await until('it is connected again', () => connects === 2)
  await until('it is subscribed again', async () => (await redis.command('PUBLISH', 'test.stays', '2')) === 1)
  await until('both hear it again', () => heard.length >= 4)
  t.deepEqual(heard.slice(0, 4), ['stays 1', 'stays 1', 'stays 2', 'stays 2'])
  t.is(await redis.command('PUBLISH', 'test.leaves', '3'), 0)
})

test('a Redis that comes back is reported once as well', async (t) => {
  const { client, reports } = connect(t, { url: 'redis://127.0.0.1:1' })
  let closes = 0
  client.on('close', () => closes++)
  await until('it has tried twice', () => closes > 1)
  t.is(reports.length, 1)
  client.emit('ready')
  client.emit('ready')
  t.deepEqual(reports.slice(1), [undefined])
})
