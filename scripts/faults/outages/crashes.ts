import { setTimeout as sleep } from 'node:timers/promises'
import { startServers } from '../../kit/servers.js'
import { brokenConnection, mildRefusals } from '../world/client-notes.js'
import type { Disturbance, OpenScenario } from '../world/scenario.js'

const longestMs = 4000
const mostKills = 4

/** PostgreSQL crashes, alone and together with processes of the service. */
export const crashes: OpenScenario = async ({ folder, defer }) => {
  const servers = await startServers(folder, defer)
  const crash: Disturbance = {
    name: 'PostgreSQL killed',
    async act(_, draw) {
      await servers.kill()
      await sleep(longestMs * draw.next())
      await servers.start()
    },
  }
  const crashTwice: Disturbance = {
    name: 'PostgreSQL killed, and again while it is used first',
    async act(run, draw) {
      await crash.act(run, draw)
      await run.untilDone(1)
      await crash.act(run, draw)
    },
  }
  const kill: Disturbance = {
    name: 'processes killed',
    async act({ stage }, draw) {
      for (let left = draw.whole(1, mostKills); left > 0; left--) stage.killOne(draw.next())
    },
  }
  const both: Disturbance = {
    name: 'PostgreSQL and processes killed',
    async act(run, draw) {
      await Promise.all([crash.act(run, draw), kill.act(run, draw)])
    },
  }
  return {
    ...servers,
    disturbances: [crash, crashTwice, kill, both],
    mayAnswer: [...mildRefusals, brokenConnection],
  }
}
