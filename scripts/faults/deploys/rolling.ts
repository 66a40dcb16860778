import { hasNginx } from '../../kit/nginx.js'
import { quickCommits, startServers } from '../../kit/servers.js'
import type { Disturbance, OpenScenario, Scenario } from '../world/scenario.js'

/**
 * What a deploy must not disturb: no request fails, and no stream breaks off. The bank and the chain are well. Behind a proxy a process
 * that stops drains.
 */
export const undisturbed = {
  stage: { bank: { settleMs: 300 }, env: () => ({ TRUST_PROXY: 'true' }) },
  acts: { crypto: 20, repeat: 20, naira: 5, withdraw: 10, read: 60 },
  inOrder: true,
  mayAnswer: [],
  keepsStreams: true,
} satisfies Partial<Scenario>

/**
 * Restarts every process of the service, one after the other, as a deploy does: told to stop by a signal, and started again when it has
 * ended. What is before them repeats nothing: the shipped nginx where it is installed, else a proxy that learns from `/ready`.
 */
export function rolling(rounds: number): OpenScenario {
  const restart: Disturbance = {
    name: 'every process restarted',
    async act({ stage, untilReady }) {
      for (const process of stage.processes) {
        await untilReady()
        await process.stop()
        await process.start()
      }
    },
  }
  return async ({ folder, defer }) => ({
    ...(await startServers(folder, defer, quickCommits)),
    ...undisturbed,
    ...(hasNginx() && { router: 'nginx' as const }),
    disturbances: Array.from({ length: rounds }, () => restart),
  })
}
