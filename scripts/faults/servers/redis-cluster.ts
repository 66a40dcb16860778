import { waitUntil } from '../../dev/wait-until.js'
import { type RedisLogin, RedisProcess } from './redis-process.js'

/** Three masters with a replica each. */
const masterCount = 3
const slotCount = 16_384
const readyMs = 60_000

/** A Redis Cluster of this machine, all of whose nodes have the same user and password. */
export class RedisCluster {
  readonly nodes: readonly RedisProcess[]

  private constructor(nodes: readonly RedisProcess[]) {
    this.nodes = nodes
  }

  static async start(folder: string, login: RedisLogin): Promise<RedisCluster> {
    const nodes: RedisProcess[] = []
    const cluster = new RedisCluster(nodes)
    try {
      for (let n = 0; n < 2 * masterCount; n++)
        nodes.push(await RedisProcess.start({ folder, login, cluster: true }))
      await cluster.#join()
      return cluster
    } catch (error) {
      await cluster.close()
      throw error
    }
  }

  /** The address of one node, which names the others. */
  get oneUrl(): string {
    return this.nodes[0]?.url ?? ''
  }

  /** The master that has the slot of a key. */
  async masterOf(key: string): Promise<RedisProcess> {
    const slot = Number(await this.nodes.at(-1)?.command('CLUSTER', 'KEYSLOT', key))
    for (const node of this.nodes)
      for (const { flags, slots } of await nodesSeenBy(node).catch(() => []))
        if (
          flags.includes('myself') &&
          flags.includes('master') &&
          slots.some(([a, b]) => a <= slot && slot <= b)
        )
          return node
    throw new Error(`no master has slot ${slot}`)
  }

  async masters(): Promise<readonly RedisProcess[]> {
    const roles = await Promise.all(this.nodes.map((node) => roleOf(node)))
    return this.nodes.filter((_, n) => roles[n] === 'master')
  }

  /** Waits until another node is master of the slot of a key, and every slot has one. */
  async untilReplaced(key: string, before: RedisProcess): Promise<void> {
    await wait('the replica is promoted', async () => {
      const master = await this.masterOf(key).catch(() => before)
      return master !== before
    })
    await this.#untilWhole()
  }

  /** Waits until each master has a replica that can replace it. */
  async untilReplicated(): Promise<void> {
    await this.#untilWhole()
    const replicates = async (node: RedisProcess): Promise<boolean> =>
      /master_link_status:up/.test(String(await node.command('INFO', 'replication').catch(() => '')))
    await wait('the replicas are connected', async () => {
      const connected = await Promise.all(this.nodes.map(replicates))
      return connected.filter(Boolean).length === masterCount
    })
  }

  async #untilWhole(): Promise<void> {
    const isWhole = async (node: RedisProcess): Promise<boolean> => {
      const info = String(await node.command('CLUSTER', 'INFO').catch(() => 'away'))
      return info === 'away' || /cluster_state:ok/.test(info)
    }
    await wait('the cluster is whole', async () =>
      (await Promise.all(this.nodes.map(isWhole))).every(Boolean),
    )
  }

  async close(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.close()))
  }

  async #join(): Promise<void> {
    const [first, ...others] = this.nodes
    if (first === undefined) return
    for (const { port, busPort } of others)
      await first.command('CLUSTER', 'MEET', '127.0.0.1', String(port), String(busPort))
    const knowsAll = async (node: RedisProcess): Promise<boolean> =>
      (await nodesSeenBy(node)).filter(({ flags }) => !flags.includes('handshake')).length ===
      this.nodes.length
    await wait('the nodes know each other', async () =>
      (await Promise.all(this.nodes.map(knowsAll))).every(Boolean),
    )
    const perMaster = Math.ceil(slotCount / masterCount)
    const masters = this.nodes.slice(0, masterCount)
    for (const [n, master] of masters.entries()) {
      const range = [n * perMaster, Math.min(slotCount, (n + 1) * perMaster) - 1]
      await master.command('CLUSTER', 'ADDSLOTSRANGE', ...range.map(String))
      await this.nodes[n + masterCount]?.command(
        'CLUSTER',
        'REPLICATE',
        String(await master.command('CLUSTER', 'MYID')),
      )
    }
    await this.untilReplicated()
  }
}

interface SeenNode {
  readonly flags: readonly string[]
  readonly slots: readonly (readonly [first: number, last: number])[]
}

async function roleOf(node: RedisProcess): Promise<string | undefined> {
  const info = String(await node.command('INFO', 'replication').catch(() => ''))
  return /^role:(\w+)/m.exec(info)?.[1]
}

/** `CLUSTER NODES`: a line per node, with its flags in the third column and its slots from the ninth. */
async function nodesSeenBy(node: RedisProcess): Promise<SeenNode[]> {
  const text = String(await node.command('CLUSTER', 'NODES'))
  return text
    .trim()
    .split('\n')
    .map((line) => {
      const [, , flags = '', , , , , , ...slots] = line.split(' ')
      return {
        flags: flags.split(','),
        slots: slots
          .filter((range) => /^\d/.test(range))
          .map((range) => {
            const [first, last = first] = range.split('-').map(Number)
            return [first ?? 0, last ?? 0] as const
          }),
      }
    })
}

async function wait(what: string, condition: () => Promise<boolean>): Promise<void> {
  if (!(await waitUntil(condition, readyMs))) throw new Error(`${what}: not within ${readyMs / 1000} s`)
}
