import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { stopChild } from '../../bootstrap/child-process.mjs'
import { freePort } from '../../dev/ports.js'
import { startProgram } from '../../dev/supervise.js'
import { waitUntil } from '../../dev/wait-until.js'
import type { Certificates } from './certificates.js'

export interface RedisLogin {
  readonly user: string
  readonly password: string
}

/** Replicas and this run use it, so that the service's password can change. */
const operator: RedisLogin = { user: 'operator', password: 'of-this-run' }

export interface RedisOptions {
  /** Its files are in a folder of its own in here. */
  readonly folder: string
  /** The user of the service. Without: everybody may do everything. */
  readonly login?: RedisLogin
  /** With these it speaks TLS only. */
  readonly certificates?: Certificates
  /** A node of a cluster, which does not know the others yet. */
  readonly cluster?: boolean
}

const stopMs = 5000
const startMs = 30_000
/** A killed master is replaced after about this time. */
const nodeTimeoutMs = 2000

/** A Redis server that is killed, and started again empty on the same port. */
export class RedisProcess {
  readonly port: number
  /** The port on which the nodes of a cluster talk to each other. */
  readonly busPort: number
  readonly #options: RedisOptions
  #child: ReturnType<typeof startProgram> | undefined
  #pid = 0

  private constructor(port: number, busPort: number, options: RedisOptions) {
    this.port = port
    this.busPort = busPort
    this.#options = options
  }

  static async start(options: RedisOptions): Promise<RedisProcess> {
    const server = new RedisProcess(await freePort(), await freePort(), options)
    await server.start()
    return server
  }

  /** With the login of the service. */
  get url(): string {
    const { login, certificates } = this.#options
    const who = login === undefined ? '' : `${login.user}:${encodeURIComponent(login.password)}@`
    return `${certificates === undefined ? 'redis' : 'rediss'}://${who}127.0.0.1:${this.port}`
  }

  /** Runs one command on a connection of its own. */
  async command(...[name, ...words]: [string, ...string[]]): Promise<unknown> {
    const { login, certificates } = this.#options
    const client = new Redis({
      host: '127.0.0.1',
      port: this.port,
      ...(login && { username: operator.user, password: operator.password }),
      ...(certificates && { tls: { ca: certificates.ca } }),
      maxRetriesPerRequest: 0,
      retryStrategy: () => null,
      enableReadyCheck: false,
    })
    client.on('error', () => undefined)
    try {
      return await client.call(name, ...words)
    } finally {
      client.disconnect()
    }
  }

  async start(): Promise<void> {
    const folder = join(this.#options.folder, `redis-${this.port}`)
    mkdirSync(folder, { recursive: true })
    const child = startProgram({ command: 'redis-server', args: this.#args(folder), signal: 'SIGTERM' })
    this.#child = child
    const answers = async (): Promise<boolean> =>
      this.command('PING').then(
        (answer) => answer === 'PONG',
        () => false,
      )
    if (!(await waitUntil(answers, startMs, () => child.exitCode === null)))
      throw new Error(`Redis did not start; its log is in ${folder}`)
    // The pid of the server, not of the process around it, which ends the server together with this process.
    this.#pid = Number(/process_id:(\d+)/.exec(String(await this.command('INFO', 'server')))?.[1])
  }

  /** Refuses the service's password, and ends its connections. */
  async refuse(): Promise<void> {
    await this.#setPassword('another')
    // Replicas stay connected.
    for (const type of ['normal', 'pubsub']) await this.command('CLIENT', 'KILL', 'TYPE', type)
  }

  /** Takes the service's password again. */
  async accept(): Promise<void> {
    await this.#setPassword(this.#options.login?.password ?? '')
  }

  async #setPassword(password: string): Promise<void> {
    await this.command('ACL', 'SETUSER', this.#options.login?.user ?? '', 'resetpass', `>${password}`)
  }

  /** SIGKILL. */
  async kill(): Promise<void> {
    const child = this.#child
    if (child === undefined || this.#pid === 0) return
    const ended = once(child, 'exit')
    process.kill(this.#pid, 'SIGKILL')
    this.#pid = 0
    await ended
  }

  async close(): Promise<void> {
    if (this.#child !== undefined) await stopChild(this.#child, stopMs)
  }

  #args(folder: string): string[] {
    const { login, certificates, cluster = false } = this.#options
    const set = (values: Readonly<Record<string, string>>): string[] =>
      Object.entries(values).flatMap(([name, value]) => [`--${name}`, value])
    return [
      ...set({ bind: '127.0.0.1', dir: folder, logfile: join(folder, 'redis.log') }),
      ...set({ save: '', appendonly: 'no', 'maxmemory-policy': 'noeviction' }),
      ...(certificates === undefined
        ? set({ port: String(this.port) })
        : set({
            port: '0',
            'tls-port': String(this.port),
            'tls-auth-clients': 'no',
            'tls-ca-cert-file': certificates.caFile,
            'tls-cert-file': certificates.certificateFile,
            'tls-key-file': certificates.keyFile,
          })),
      ...(login === undefined
        ? []
        : [
            ...['--user', 'default', 'off'],
            ...[login, operator].flatMap(({ user, password }) => [
              ...['--user', user, 'on', `>${password}`, '~*', '&*', '+@all'],
            ]),
            ...set({ masteruser: operator.user, masterauth: operator.password }),
          ]),
      ...(cluster
        ? set({
            'cluster-enabled': 'yes',
            'cluster-port': String(this.busPort),
            'cluster-node-timeout': String(nodeTimeoutMs),
          })
        : []),
    ]
  }
}
