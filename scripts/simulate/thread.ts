import { register } from 'node:module'
import { parentPort, workerData } from 'node:worker_threads'
import { printProgress } from '../bootstrap/progress.mjs'
import { databasesOn } from './database.js'
import { type Plant, plants } from './plants.js'
import type { Outcome, Plan } from './run.js'

export interface ThreadOptions {
  /** Nothing else runs on it. */
  readonly server: string
  /** Empty: none. */
  readonly plant: string
}

// A thread of the run: it has the clocks of its own, and simulates one plan after the other.
const { server, plant } = workerData as ThreadOptions
if (plant !== '')
  register('./plant-hook.js', import.meta.url, { data: (plants as Readonly<Record<string, Plant>>)[plant] })
const { simulate } = await import('./run.js')
const { shorten } = await import('./shorten.js')
const databases = await databasesOn(server, 'simulated_')

parentPort?.on('message', async (plan: Plan) => parentPort?.postMessage(await outcomeOf(plan)))

/** A broken promise comes with its shortest story. */
async function outcomeOf(plan: Plan): Promise<Outcome> {
  const outcome = await simulate(databases, plan)
  if (outcome.faults.length === 0) return outcome
  printProgress(`seed ${plan.seed}: ${outcome.faults[0]}; shortening`)
  return shorten(databases, plan, outcome, printProgress)
}
